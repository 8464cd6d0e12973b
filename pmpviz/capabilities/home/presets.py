"""What Home opens with: the race that runs once it is seen."""

from __future__ import annotations

from pmpviz.capabilities.sampling.hand_over import HOME

__all__ = ["HOME"]
