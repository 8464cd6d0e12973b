"""Perturb-and-max-product on any factor graph: K states, n-ary tables, OR, AND and cardinality factors.

Gumbel noise is added to every state of every variable (perturb-and-max-product, section 3, footnote 2); what
max-product then does is `pmpviz.messages`. Every array carries the chains of a tile on its first axis.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8

from pmpviz import messages, numerals
from pmpviz.messages.certainty import SURE
from pmpviz.models.factor_graph import FactorGraph, as_graph
from pmpviz.models.factors import MAX_PADDED, Group
from pmpviz.models.pairwise import Pairwise
from pmpviz.models.tables import TableModel
from pmpviz.types import Target

Incoming = tuple[Float[Array, "t f k s"], ...]


def why_not(target: Target) -> str | None:
    """Why the model is no factor graph of tables that can be held; None where it is one."""
    model = target.model
    if isinstance(model, (FactorGraph, Pairwise)):
        return None
    if not isinstance(model, TableModel):
        return "perturb-and-max-product needs a factor graph; this model is none"
    entries = float((float(model.space.states) ** np.asarray(model.arity, np.float64)).sum())
    if entries > MAX_PADDED:
        return (
            f"tables padded to {model.space.states} states hold 2^{np.log2(entries):.1f} entries; at most 2^24 are kept"
        )
    return None


def prepare(target: Target) -> FactorGraph:
    """The graph of the target's model (on the host)."""
    return as_graph(target.model)


def updates(model: FactorGraph | Pairwise | TableModel) -> int:
    """Messages of a sweep, two for every variable of a factor."""
    if isinstance(model, Pairwise):
        return 4 * len(model.pairs())
    sizes = model.arity if isinstance(model, TableModel) else [group.scope.size for group in model.groups]
    return 2 * int(np.sum(sizes))


def noise(chain_keys: Array, target: Target, draw: Int[Array, ""]) -> Float[Array, "t n s"]:
    """Gumbel noise of one draw, from the chains' NOISE keys."""
    states = max(target.model.card, default=1)
    return jax.vmap(lambda key: messages.perturbation(key, target.n, states, draw))(chain_keys)


def first(target: Target, chains: int) -> Incoming:
    """Messages of all 0 from the factors."""
    start = messages.initial(_of(target)).messages
    return tuple(jnp.broadcast_to(part, (chains, *part.shape)) for part in start)


def update(target: Target, noise: Float[Array, "t n s"], incoming: Incoming, damping: Float[Array, ""]):
    """One parallel update of all messages and the residual of every chain."""

    def one(noise, incoming):
        state = messages.State(incoming, noise)
        state, residual = messages.sweep(_of(target), state, damping, jnp.float32(0.0))
        return state.messages, residual

    return jax.vmap(one)(noise, incoming)


def decoded(target: Target, noise: Float[Array, "t n s"], incoming: Incoming) -> Int8[Array, "t n"]:
    """The best state of every variable's belief."""
    return jax.vmap(lambda *state: messages.decode(_of(target), messages.State(state[1], state[0])))(noise, incoming)


def magnitude(target: Target, incoming: Incoming) -> Float[np.ndarray, " n"]:
    """Of the first chain the sum of the spans of the messages into each variable; what is certain counts 10^4."""
    total = np.zeros(target.n)
    for group, part in zip(_of(target).model.groups, incoming, strict=True):
        said = np.asarray(part[0])
        said = np.where(_exists(target, group), np.maximum(said, -SURE), 0.0)
        np.add.at(total, np.asarray(group.scope), -said.min(-1))
    return total


def _exists(target: Target, group: Group) -> Bool[np.ndarray, "f k s"]:
    mask = np.arange(_of(target).model.states) < np.array(target.model.card)[:, None]
    return mask[np.asarray(group.scope)]


def equation(damping: float) -> str:
    """The update of a message from a factor to a variable."""
    return (
        rf"m_{{f\to i}}(x_i) \leftarrow {numerals.katex(damping)}\, m_{{f\to i}} + {numerals.katex(1 - damping)}\,"
        r"\max_{x_{f \setminus i}} \Big[\beta \log \psi_f(x_f) + \sum_{j \ne i} m_{j\to f}(x_j)\Big],\quad "
        r"m_{j\to f} = \beta\theta_j + \gamma_j + \sum_{g \ne f} m_{g\to j},\quad \gamma_j(k) \sim \mathrm{Gumbel}"
    )


def _of(target: Target) -> Target:
    """The target of the prepared graph."""
    graph = as_graph(target.model) if target.prepared is None else target.prepared
    return dataclasses.replace(target, model=graph, prepared=None)
