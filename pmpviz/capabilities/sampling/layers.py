"""What can be laid over the picture of chain 0: a number for each site."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np

from pmpviz.metrics.marginals import marginal_table
from pmpviz.oracles import max_product
from pmpviz.runs import run as running
from pmpviz.runs.truth import Truth
from pmpviz.types import Target

LARGEST_LEAD = 30.0
LAYERS = ("none", "local field", "message magnitude", "marginal error", "clusters")


def layer(name: str, run: running.Run, truth: Truth | None) -> np.ndarray | None:
    """float32[n] of the named layer for chain 0, or None where it does not apply (see `why_no_layer`)."""
    if name == "none" or why_no_layer(name, run, truth):
        return None
    if name == "local field":
        return _lead(run.target, running.positions(run)[0])
    if name == "message magnitude":
        return np.abs(np.asarray(_to_site(run.target.model.couplings, _first(run.state).incoming))).sum(1)
    if name == "marginal error":
        assert truth is not None
        return _error(run, truth)
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
def _conditionals(target, x):
    return target.conditional_logits(x)


def _field(target, x) -> np.ndarray:
    logits = np.asarray(_conditionals(target, x))
    return logits[:, 1] - logits[:, 0]
