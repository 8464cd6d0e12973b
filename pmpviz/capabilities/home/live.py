"""What Home runs, compiled before anybody has asked for it."""

from __future__ import annotations

from typing import Any

from pmpviz.capabilities.home.hand import Hand
from pmpviz.capabilities.sampling import hand_over

# The race's reference takes a second or two; whoever came before it was there would wait for it at every step.
REFERENCE_SECONDS = 10.0


def compile_ahead(plan: Any) -> None:
    """Compile the race of this plan with its reference, and the draws of the five spins: one, and a thousand."""
    hand_over.compile_race(plan, REFERENCE_SECONDS)
    Hand.begun().draw_more()
