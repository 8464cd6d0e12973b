"""What Home runs, compiled before anybody has asked for it."""

from __future__ import annotations

from typing import Any

from pmpviz.capabilities.home.hand import Hand
from pmpviz.capabilities.sampling import hand_over


def compile_ahead(plan: Any) -> None:
    """Compile the race of this plan, and the draws of the five spins: one, and a thousand."""
    hand_over.compile_race(plan)
    Hand.begun().draw_more()
