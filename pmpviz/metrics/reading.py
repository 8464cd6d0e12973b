"""A number, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """A metric's value, or None with the sentence that says why it does not apply."""

    value: float | None
    reason: str | None = None

    @classmethod
    def none(cls, reason: str) -> Reading:
        """No value, for this reason."""
        return cls(None, reason)

    @property
    def number(self) -> float:
        """The value, or nan: for arrays and plots."""
        return math.nan if self.value is None else self.value

    def __str__(self) -> str:
        return "n/a" if self.value is None else f"{self.value:.4g}"
