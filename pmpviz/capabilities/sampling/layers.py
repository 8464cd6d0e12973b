"""What can be laid over the picture of chain 0: a number for each site."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import jax
import numpy as np

from pmpviz.runs import run as running
from pmpviz.runs.truth import Truth
from pmpviz.samplers import sampler_class
from pmpviz.types import Overlay

# Of any run: what they are called, and how they are coloured.
GENERAL = (Overlay("local field", "diverging"), Overlay("marginal error", "diverging"))


def layers_of(algorithms: Iterable[str]) -> tuple[str, ...]:
    """Names of the layers of runs of these algorithms, `none` first."""
    own = [overlay.name for name in algorithms for overlay in sampler_class(name).spec.overlays]
    return tuple(dict.fromkeys(("none", *(overlay.name for overlay in GENERAL), *own)))


def kind_of(name: str, algorithm: str) -> str:
    """How a layer of this algorithm is coloured: see `Overlay`."""
    known = (*GENERAL, *sampler_class(algorithm).spec.overlays)
    return next((overlay.kind for overlay in known if overlay.name == name), "sequential")


def layer(name: str, run: running.Run, truth: Truth | None) -> np.ndarray | None:
    """float32[n] of the named layer for chain 0, or None where it does not apply (see `why_no_layer`)."""
    if name == "none" or why_no_layer(name, run, truth):
        return None
    if name == "local field":
        return np.asarray(_field(run.target, running.positions(run)[0]))
    if name == "marginal error":
        assert truth is not None
        return (running.counted(run).mean(0) - truth.p1).astype(np.float32)
    state = running.first_state(run.algorithm, run.state)
    return np.asarray(run.algorithm.overlay(run.target, state, name), np.float32)


def why_no_layer(name: str, run: running.Run, truth: Truth | None) -> str | None:
    """The sentence why this layer does not apply to this run, or None."""
    if name not in (overlay.name for overlay in (*GENERAL, *run.algorithm.spec.overlays)):
        return f"{run.algorithm.spec.label} has no {name}"
    if name == "marginal error" and truth is None:
        return "the marginal error needs the reference, which is not there yet"
    return None


@dataclass(frozen=True)
class SiteReport:
    """What is known of one site: value in chain 0, share of chains at 1, reference marginal, field, messages."""

    site: int
    value: int
    share: float
    marginal: float | None
    exact: bool
    field: float
    messages: tuple[tuple[int, float], ...]


def site_report(site: int, run: running.Run, truth: Truth | None) -> SiteReport:
    """Report on a site; `messages` are (neighbour, log-ratio) of chain 0, at most eight, the largest first."""
    x = running.counted(run)
    shown = running.positions(run)[0]
    return SiteReport(
        site,
        int(shown[site]),
        float(x[:, site].mean()),
        float(truth.p1[site]) if truth is not None else None,
        truth is not None and truth.exact,
        float(_field(run.target, shown)[site]),
        run.algorithm.heard(run.target, running.first_state(run.algorithm, run.state), site),
    )


@jax.jit
def _field(target, x):
    return target.local_field(x)
