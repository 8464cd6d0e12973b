"""Experiments of the papers, anew: adding one is a file and a line here."""

from __future__ import annotations

from pmpviz.experiments.reproductions import (
    acceptance,
    barrier,
    barrier_rates,
    blind_deconvolution,
    characters,
    clusters,
    coverage,
    descended,
    digits,
    erdos,
    failure_mode,
    grids,
    hopfield,
    hx_statistic,
    inflated,
    lattice,
    learned_segmentation,
    perturbation_theorems,
    perturbed_maxima,
    potts,
    relaxed,
    segmentation,
    semi_restricted,
    semi_restricted_samplers,
    skip_chain,
    spin_glass,
    twos,
    uai_kinds,
    wrong_model,
    zeros,
)
from pmpviz.experiments.reproductions.base import Reproduction
from pmpviz.types import InputError

REPRODUCTIONS: tuple[Reproduction, ...] = (
    wrong_model.REPRODUCTION,
    perturbed_maxima.REPRODUCTION,
    zeros.REPRODUCTION,
    lattice.REPRODUCTION,
    erdos.REPRODUCTION,
    digits.REPRODUCTION,
    digits.PICTURES,
    twos.REPRODUCTION,
    relaxed.REPRODUCTION,
    descended.REPRODUCTION,
    blind_deconvolution.REPRODUCTION,
    blind_deconvolution.FRESH,
    semi_restricted.REPRODUCTION,
    barrier.CONTRACTIONS,
    barrier.HEURISTICS,
    barrier.BOLTZMANN,
    barrier.STRENGTHS,
    barrier_rates.RATES,
    barrier_rates.TRUNCATED,
    characters.REPRODUCTION,
    segmentation.HORSES,
    segmentation.SAMPLES,
    learned_segmentation.REPRODUCTION,
    uai_kinds.REPRODUCTION,
    spin_glass.REPRODUCTION,
    acceptance.REPRODUCTION,
    perturbation_theorems.REPRODUCTION,
    inflated.REPRODUCTION,
    failure_mode.REPRODUCTION,
    hopfield.REPRODUCTION,
    grids.STANDARD_GRIDS,
    grids.FRUSTRATED,
    coverage.REPRODUCTION,
    potts.REPRODUCTION,
    semi_restricted_samplers.ESS,
    semi_restricted_samplers.EPSILON,
    hx_statistic.REPRODUCTION,
    clusters.REPRODUCTION,
    skip_chain.REPRODUCTION,
)


def find(name: str) -> Reproduction:
    """The reproduction of that name; raises InputError naming the choices."""
    for known in REPRODUCTIONS:
        if name and name in (known.id, known.alias):
            return known
    names = ", ".join(known.id for known in REPRODUCTIONS)
    raise InputError(f"there is no reproduction {name[:40]!r}; choose one of {names}")
