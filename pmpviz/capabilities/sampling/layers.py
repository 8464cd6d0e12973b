"""What can be laid over the picture of chain 0: a number for each site."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np

from pmpviz.oracles import max_product
from pmpviz.runs import run as running
from pmpviz.runs.truth import Truth

LAYERS = ("none", "local field", "message magnitude", "marginal error", "clusters")


def layer(name: str, run: running.Run, truth: Truth | None) -> np.ndarray | None:
    """float32[n] of the named layer for chain 0, or None where it does not apply (see `why_no_layer`)."""
    if name == "none" or why_no_layer(name, run, truth):
        return None
    if name == "local field":
        return np.asarray(_field(run.target, running.positions(run)[0]))
    if name == "message magnitude":
        return np.abs(np.asarray(_to_site(run.target.model.couplings, _first(run.state).incoming))).sum(1)
    if name == "marginal error":
        assert truth is not None
        return (running.counted(run).mean(0) - truth.p1).astype(np.float32)
    return np.asarray(run.algorithm.clusters(run.target, _first(run.state)), np.float32)


def why_no_layer(name: str, run: running.Run, truth: Truth | None) -> str | None:
    """The sentence why this layer does not apply to this run, or None."""
    if name == "message magnitude" and not hasattr(run.state, "incoming"):
        return f"{run.algorithm.spec.label} passes no messages"
    if name == "clusters" and not hasattr(run.algorithm, "clusters"):
        return f"{run.algorithm.spec.label} builds no clusters"
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
        _messages_at(site, run),
    )


def _messages_at(site: int, run: running.Run) -> tuple[tuple[int, float], ...]:
    if not hasattr(run.state, "incoming"):
        return ()
    couplings = run.target.model.couplings
    values = np.asarray(_to_site(couplings, _first(run.state).incoming))[site].tolist()
    senders, weights = (np.asarray(table)[site] for table in couplings.neighbour_lists())
    pairs = [(int(i), v) for i, v, w in zip(senders, values, weights, strict=True) if w != 0]
    return tuple(sorted(pairs, key=lambda pair: -abs(pair[1]))[:8])


@jax.jit
def _to_site(couplings, incoming):
    first = jax.tree.map(lambda leaf: leaf[..., :1], incoming)
    return max_product.to_site(couplings, first)[..., 0]


def _first(state):
    return jax.tree.map(lambda leaf: leaf[0], state)


@jax.jit
def _field(target, x):
    return target.local_field(x)
