"""What can be laid over the picture of chain 0: a number for each site."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from pmpviz.metrics.marginals import marginal_table
from pmpviz.player.graph import lattice_bonds
from pmpviz.runs import run as running
from pmpviz.runs.truth import Truth
from pmpviz.samplers import sampler_class
from pmpviz.types import Overlay, Target

LARGEST_LEAD = 30.0
# Of any run: what they are called, and how they are coloured.
GENERAL = (Overlay("local field", "diverging"), Overlay("marginal error", "diverging"))
UNMET = Overlay("bonds", "bonds")


def layers_of(algorithms: Iterable[str], model: Any = None) -> tuple[str, ...]:
    """Names of the layers of runs of these algorithms on a model, `none` first."""
    own = [overlay.name for name in algorithms for overlay in sampler_class(name).spec.overlays]
    bonds = () if model is None or lattice_bonds(model) is None else (UNMET.name,)
    return tuple(dict.fromkeys(("none", *bonds, *(overlay.name for overlay in GENERAL), *own)))


def kind_of(name: str, algorithm: str) -> str:
    """How a layer of this algorithm is coloured: see `Overlay`."""
    known = (UNMET, *GENERAL, *sampler_class(algorithm).spec.overlays)
    return next((overlay.kind for overlay in known if overlay.name == name), "sequential")


def layer(name: str, run: running.Run, truth: Truth | None) -> np.ndarray | None:
    """float32[n] of the named layer for chain 0, or None where it does not apply (see `why_no_layer`); of bonds
    float32[2 n]."""
    if name == UNMET.name:
        return lattice_bonds(run.target.model)
    if name == "none" or why_no_layer(name, run, truth):
        return None
    if name == "local field":
        return _lead(run.target, running.positions(run)[0])
    if name == "marginal error":
        assert truth is not None
        return _error(run, truth)
    state = running.first_state(run.algorithm, run.state)
    return np.asarray(run.algorithm.overlay(run.target, state, name), np.float32)


def why_no_layer(name: str, run: running.Run, truth: Truth | None) -> str | None:
    """The sentence why this layer does not apply to this run, or None."""
    if name not in (overlay.name for overlay in (*GENERAL, *run.algorithm.spec.overlays)):
        return f"{run.algorithm.spec.label} has no {name}"
    if name == "marginal error" and truth is None:
        return "the marginal error needs the reference, which is not there yet"
    if name == "marginal error" and not running.countable(run):
        return "the marginal error is of finished draws, and the first one is not done"
    return None


def _lead(target: Target, x: np.ndarray) -> np.ndarray:
    """Of two states the log-odds of 1; of more those of the state that is shown against the best other, within 30."""
    if target.model.space.binary:
        return np.asarray(_field(target, x))
    logits, here = np.array(_conditionals(target, x)), np.asarray(x, int)[:, None]
    own = np.take_along_axis(logits, here, 1)[:, 0]
    np.put_along_axis(logits, here, -np.inf, 1)
    with np.errstate(invalid="ignore"):  # No state is possible, whatever this site does.
        return np.clip(np.nan_to_num(own - logits.max(1)), -LARGEST_LEAD, LARGEST_LEAD)


def _error(run: running.Run, truth: Truth) -> np.ndarray:
    """Of two states how far p(x = 1) is off, with its sign; of more half the sum over the states."""
    x = running.counted(run)
    if truth.p1 is not None:
        return (x.mean(0) - truth.p1).astype(np.float32)
    found = run.target.model.space.frequencies(x)
    return (np.abs(found - marginal_table(truth.marginals)[:, : found.shape[1]]).sum(1) / 2).astype(np.float32)


@dataclass(frozen=True)
class SiteReport:
    """What is known of one site: its state in chain 0, the share of chains in each state, the reference's marginals,
    what the rest of chain 0 makes of it (its states' probabilities, and of two states the log-odds), messages."""

    site: int
    value: int
    shares: tuple[float, ...]
    marginals: tuple[float, ...] | None
    exact: bool
    conditional: tuple[float, ...]
    field: float | None
    messages: tuple[tuple[int, float], ...]


def site_report(site: int, run: running.Run, truth: Truth | None) -> SiteReport:
    """Report on a site; `messages` are (neighbour, log-ratio) of chain 0, at most eight, the largest first."""
    space, shown = run.target.model.space, running.positions(run)[0]
    x, states = running.counted(run)[:, site], space.card_at(site)
    row = None if truth is None else marginal_table(truth.marginals)[site, :states]
    logits = np.asarray(_conditionals(run.target, shown))[site, :states].astype(np.float64)
    with np.errstate(invalid="ignore"):
        weights = np.exp(logits - logits.max())
    return SiteReport(
        site,
        int(shown[site]),
        tuple(float((x == state).mean()) for state in range(states)),
        None if row is None else tuple(row.tolist()),
        truth is not None and truth.exact,
        tuple((weights / weights.sum()).tolist()),
        float(_field(run.target, shown)[site]) if space.binary else None,
        run.algorithm.heard(run.target, running.first_state(run.algorithm, run.state), site),
    )


@jax.jit
def _conditionals(target, x):
    return target.conditional_logits(x)


def _field(target, x) -> np.ndarray:
    logits = np.asarray(_conditionals(target, x))
    return logits[:, 1] - logits[:, 0]
