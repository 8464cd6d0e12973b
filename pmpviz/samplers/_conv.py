"""What samplers of the binary convolution share."""

from __future__ import annotations

from typing import Any

from jaxtyping import Array, Float

from pmpviz.types import Algorithm, Target


class ConvAlgorithm(Algorithm):
    """Base of the samplers of the binary convolution: what they may bring besides."""

    def belief(self, target: Target, state: Any) -> Float[Array, "c f a b"] | None:
        """Log-ratios of the features' pixels, 1 against 0; None where a chain has states alone."""
        return None
