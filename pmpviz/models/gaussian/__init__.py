"""Gaussian relaxations of discrete models: diagonal shifts, maps from Gaussians to variables, and their spectrum."""

from pmpviz.models.gaussian.relaxation import (
    MAPS,
    SHIFTS,
    Relaxation,
    StateRelaxation,
    ThreeLayers,
    clamped_choice,
    clamped_mean,
    own_layers,
    relax,
    relax_by,
)
from pmpviz.models.gaussian.shifts import least_trace_shift, row_shift, shift_by_hand, uniform_shift
from pmpviz.models.gaussian.spectrum import ONE_HILL, gap_bound, gibbs_gap, has_one_hill, largest_eigenvalue

__all__ = [
    "MAPS",
    "ONE_HILL",
    "SHIFTS",
    "Relaxation",
    "StateRelaxation",
    "ThreeLayers",
    "clamped_choice",
    "clamped_mean",
    "gap_bound",
    "gibbs_gap",
    "has_one_hill",
    "largest_eigenvalue",
    "own_layers",
    "least_trace_shift",
    "relax",
    "relax_by",
    "row_shift",
    "shift_by_hand",
    "uniform_shift",
]
