"""What a model has that an Ising model, or any of pairs, has not, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.tables import TableModel


def beyond_ising(model: Any) -> str:
    """What keeps a model from being one of two-state variables and finite factors of pairs: `a factor of 3 variables`.

    For a sentence of the kind "... needs two-state variables with pairwise factors; this model has ...".
    """
    space = getattr(model, "space", None)
    if space is not None and not space.binary:
        return f"variables of {space.words}"
    return beyond_pairs(model)


def beyond_pairs(model: Any) -> str:
    """What keeps a model of any states from being one of finite factors of pairs."""
    sizes, finite = _factors(model)
    if sizes.max(initial=0) > 2:
        return f"a factor of {sizes.max()} variables"
    return "factors of other kinds" if finite else "a factor that forbids states (probability 0)"


def _factors(model: Any) -> tuple[np.ndarray, bool]:
    """(numbers of variables of the factors, whether all their entries are finite)."""
    if isinstance(model, TableModel):
        return np.asarray(model.arity), bool(np.isfinite(model.values).all() and np.isfinite(model.constant))
    if isinstance(model, FactorGraph):
        return np.array([group.scope.shape[1] for group in model.groups], int), False
    return np.zeros(0, int), True


__all__ = ["beyond_ising", "beyond_pairs"]
