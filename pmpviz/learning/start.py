"""The model that learning starts from."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int8

from pmpviz.models import RBM, SRBM, GaussianRBM, Ising
from pmpviz.models.couplings import DenseCouplings
from pmpviz.types import InputError

KINDS = ("rbm", "srbm", "gaussian_rbm", "ising")
STARTS = ("base rate", "paper", "zero")
WEIGHT_DEVIATION = 0.01
MOST_PARAMETERS = 1 << 22
# Frequencies of 0 and 1 would be infinite biases: counts start from this many of either value.
PSEUDO_COUNT = 0.5


def fresh_model(kind: str, data: Int8[np.ndarray, "m v"], hidden: int, start: str, seed: int) -> Ising:
    """An RBM, SRBM or GaussianRBM with `hidden` binary hidden units, or a fully connected Ising model, over the data's
    sites. A GaussianRBM has as many Gaussians as sites, F = I, and is then the SRBM without lateral weights.

    Start `base rate`: visible biases at the log-odds of the data's frequencies, weights N(0, 0.01^2); `paper`: weights
    as these and biases N(0, 1) (section 5.5; its Ising models start from 0); `zero`: everything 0 but the weights to
    hidden units, which would never part. Raises InputError for an unknown kind or start, or too many parameters.
    """
    if kind not in KINDS:
        raise InputError(f"there is no model {kind[:40]!r} to learn; choose one of {', '.join(KINDS)}")
    if start not in STARTS:
        raise InputError(f"there is no start {start[:40]!r}; choose one of {', '.join(STARTS)}")
    visible = data.shape[1]
    count = visible * (visible if kind == "ising" else hidden + (visible if kind in ("srbm", "gaussian_rbm") else 0))
    if count > MOST_PARAMETERS:
        raise InputError(f"this model has {count:,} weights; give fewer units, for at most {MOST_PARAMETERS:,}")
    rng = np.random.default_rng(seed)
    base = _log_odds(data) if start == "base rate" else np.zeros(visible)
    if kind == "ising":
        # Every pair will interact: a colouring of the start's empty graph would not be one of what is learned.
        colour = np.arange(visible)
        return Ising.of(base, DenseCouplings(np.zeros((visible, visible), np.float32)), colour=colour)
    weight = WEIGHT_DEVIATION * rng.standard_normal((hidden, visible))
    hidden_bias = np.zeros(hidden)
    if start == "paper":
        base, hidden_bias = rng.standard_normal(visible), rng.standard_normal(hidden)
    if kind == "srbm":
        return SRBM.of_layers(weight, np.zeros((visible, visible)), base, hidden_bias)
    if kind == "gaussian_rbm":
        return GaussianRBM.of_factor(weight, np.eye(visible), base - 0.5, hidden_bias)
    return RBM.of_layers(weight, base, hidden_bias)


def _log_odds(data: Int8[np.ndarray, "m v"]) -> np.ndarray:
    on = np.asarray(data, np.float64).sum(0) + PSEUDO_COUNT
    return np.log(on / (len(data) + 2 * PSEUDO_COUNT - on))
