"""What a few held-out scenes say of whether fewer pixels are wrong: by how many, and how far chance goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t

SIDES = 0.975  # Of a range that holds the mean 95 times in 100, what lies below its upper end.


@dataclass(frozen=True)
class Apart:
    """By how much fewer are wrong on average over scenes, as a share of pixels; half of its 95 % range, as wide as
    scenes differ (Student's t of the scenes' own differences); in how many scenes fewer are."""

    fewer: float
    width: float
    better: int

    @classmethod
    def of(cls, before: Sequence[float], after: Sequence[float]) -> Apart:
        """Of each scene's share before and after, of the same scenes."""
        off = np.subtract(before, after)
        error = off.std(ddof=1) / np.sqrt(len(off)) if len(off) > 1 else np.inf
        return cls(float(off.mean()), float(t.ppf(SIDES, max(1, len(off) - 1)) * error), int((off > 0).sum()))

    @property
    def sure(self) -> bool:
        """Whether fewer are wrong by more than chance between scenes."""
        return self.fewer > self.width

    @property
    def told(self) -> str:
        """`2.0 ± 1.1`, in points."""
        return f"{100 * self.fewer:.1f} ± {100 * self.width:.1f}".replace("-", "−")


__all__ = ["Apart"]
