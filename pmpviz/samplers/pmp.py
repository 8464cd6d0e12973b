"""Perturb-and-max-product (Lazaro-Gredilla, Dedieu and George 2021, Algorithm 1)."""

from __future__ import annotations

import dataclasses
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Int8

from pmpviz import keys, numerals
from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.ising import Ising
from pmpviz.oracles import max_product
from pmpviz.samplers import _pmp_graph, _pmp_pairs
from pmpviz.samplers._draws import RefinedDraws, sweeps_a_draw
from pmpviz.types import Info, Overlay, Param, Spec, Style, Target, pytree

MOST_HEARD = 8
GRAPH_TILE = 16

# A knob of the learners too: what is learned suits the sampler that it is learned with.
MESSAGES = Param(
    "messages",
    "First messages",
    0,
    1,
    "zero",
    "choice",
    "zero: 0 in the 0/1 form, as if all neighbours were 0 (Appendix C.1); balanced: half the weight, 0 in the spin "
    "form, as if they were 0 or 1 at even odds. With more states, or factors of more variables, always 0.",
    choices=max_product.STARTS,
)


def _binary(target: Target) -> bool:
    """Whether messages are log-ratios in the layout of the couplings; otherwise they have K numbers."""
    return isinstance(target.model, Ising)


def _of_states(target: Target) -> ModuleType:
    """The kernels of messages of K numbers."""
    return _pmp_pairs if _pmp_pairs.serves(target.model) else _pmp_graph


def _why_not(target: Target) -> str | None:
    return None if _binary(target) else _pmp_graph.why_not(target)


def _updates_per_sweep(model: Any) -> int:
    return 2 * len(model.couplings.edges()[0]) if isinstance(model, Ising) else _pmp_graph.updates(model)


def _tile(model: Any) -> int:
    return model.couplings.message_tile if isinstance(model, Ising) else GRAPH_TILE


SPEC = Spec(
    id="pmp",
    label="Perturb-and-max-product",
    kind="draw",
    guarantee="approximate",
    reversible=False,
    summary="Adds logistic noise to every unary (Gumbel noise to every state) and decodes the maximum by damped "
    "parallel max-product.",
    paper="Perturb-and-max-product, Algorithm 1 and Appendix C.1",
    metrics=("residual",),
    update="edge-message update",
    updates_per_sweep=_updates_per_sweep,
    tile=_tile,
    why_not=_why_not,
    params=(
        Param(
            "damping",
            "Damping",
            0.0,
            0.99,
            0.5,
            help="Share of the old message that is kept: n <- damping n + (1 - damping) n'.",
        ),
        sweeps_a_draw(64, "After this many message updates a new perturbation starts, and the messages start anew."),
        MESSAGES,
    ),
    style=Style("#D55E00", "solid", "circle"),
    short="PMP",
    overlays=(Overlay("message magnitude"),),
    remedy="more damping",
    trials={"draws_law": {"sweeps_per_draw": 2}, "seeds": {"sweeps_per_draw": 1}, "tree_map": {"damping": 0.0}},
)


@pytree
class PmpState:
    """Messages of one tile: `perturbation[n, t]`, `incoming` as `max_product` stores them, the last completed draw
    `completed[n, t]`, sweeps spent on this draw, the draw's index, the chains' NOISE keys, and the index of the first
    draw that is wholly of the present target and knobs. On graphs `perturbation[t, n, K]`, and of each group of factors
    the messages `[t, factor, variable, K]`; of pairs of K states `[K, slot, t]`.
    """

    perturbation: Float[Array, "..."]
    incoming: max_product.Messages
    completed: Int8[Array, "n t"]
    age: Int[Array, ""]
    draw: Int[Array, ""]
    key: Array
    first: Int[Array, ""]


@pytree
class PerturbAndMaxProduct(RefinedDraws):
    """x = argmax_x log_weight(x) + sum_i e_i x_i with e_i ~ Logistic(0, 1), by damped parallel max-product.

    The difference of two Gumbel perturbations of a binary unary is logistic. beta multiplies the potentials, never
    the perturbations. Every draw starts from the same first messages; its noise depends on (key, chain, draw) alone,
    so that other solvers can be given the same perturbation. On any other factor graph a Gumbel number is added to
    every state, and messages have K numbers (section 3, footnote 2).
    """

    damping: Float[Array, ""] = 0.5
    sweeps_per_draw: Int[Array, ""] = 64
    messages: Int[Array, ""] = 0
    spec = SPEC

    def prepare(self, target: Target) -> FactorGraph | None:
        """The factor graph, where the couplings do not hold the messages."""
        return None if _binary(target) or _pmp_pairs.serves(target.model) else _pmp_graph.prepare(target)

    def init_tile(self, chain_keys: Array, target: Target, x0: Int8[Array, "t n"]) -> PmpState:
        """First perturbation and messages of each chain; x0 is not used."""
        chains = chain_keys.shape[0]
        return PmpState(
            noise_of(chain_keys, target, jnp.int32(0)),
            self._first_messages(target, chains),
            jnp.zeros((target.n, chains), jnp.int8),
            jnp.int32(0),
            jnp.int32(0),
            chain_keys,
            jnp.int32(0),
        )

    def step_tile(self, chain_keys: Array, target: Target, state: PmpState) -> tuple[PmpState, Info]:
        """One update of all messages; a new draw starts first where the last one has had its sweeps."""
        due = state.age >= self.sweeps_per_draw
        # A loop of one turn or none: unlike a conditional it works in place, without a copy of the messages.
        state = jax.lax.fori_loop(0, due.astype(jnp.int32), lambda _, s: self._next_draw(target, s), state)
        if _binary(target):
            couplings, field = _perturbed(target, state.perturbation)
            incoming, residual = max_product.update(couplings, field, state.incoming, self.damping)
        else:
            incoming, residual = _of_states(target).update(target, state.perturbation, state.incoming, self.damping)
        fresh = dataclasses.replace(state, incoming=incoming, age=state.age + 1)
        return fresh, {"residual": residual}

    def _next_draw(self, target: Target, state: PmpState) -> PmpState:
        draw = state.draw + 1
        first = self._first_messages(target, state.key.shape[0])
        return PmpState(
            noise_of(state.key, target, draw),
            # Always the new ones; the choice makes XLA keep the old ones' layout, or it copies all in every sweep.
            jax.tree.map(lambda old, new: jnp.where(draw > 0, new, old), state.incoming, first),
            self.position_tile(target, state).T,
            jnp.int32(0),
            draw,
            state.key,
            state.first,
        )

    def _first_messages(self, target: Target, chains: int) -> max_product.Messages:
        if not _binary(target):
            return _of_states(target).first(target, chains)
        return max_product.first_messages(target.model.couplings.scaled(target.beta), chains, self.messages)

    def position_tile(self, target: Target, state: PmpState) -> Int8[Array, "t n"]:
        """The configuration decoded from the messages as they are now."""
        if not _binary(target):
            return _of_states(target).decoded(target, state.perturbation, state.incoming)
        couplings, field = _perturbed(target, state.perturbation)
        return (max_product.belief(couplings, field, state.incoming) > 0).astype(jnp.int8).T

    def completed_tile(self, target: Target, state: PmpState) -> Int8[Array, "t n"]:
        """The last completed draw."""
        return state.completed.T

    def fingerprint(self, state: PmpState) -> Float[Array, " 4"]:
        """Four fixed projections of the first chain's messages: they repeat exactly when the messages do."""
        # On graphs the chains are on the first axis, otherwise on the last.
        place = 0 if state.perturbation.ndim == 3 and isinstance(state.incoming, tuple) else (..., 0)
        return sum((_projections(leaf[place]) for leaf in jax.tree.leaves(state.incoming)), jnp.zeros(4))

    def overlay(self, target: Target, state: PmpState, name: str) -> Float[np.ndarray, " n"]:
        """Sum of the sizes of the messages into each site."""
        if not _binary(target):
            return _of_states(target).magnitude(target, state.incoming)
        return np.abs(np.asarray(_to_site(target.model.couplings, state.incoming))).sum(1)

    def heard(self, target: Target, state: PmpState, site: int) -> tuple[tuple[int, float], ...]:
        """The messages into a site, at most eight; of log-ratios alone."""
        if not _binary(target):
            return ()
        couplings = target.model.couplings
        values = np.asarray(_to_site(couplings, state.incoming))[site].tolist()
        senders, weights = (np.asarray(table)[site] for table in couplings.neighbour_lists())
        pairs = [(int(i), v) for i, v, w in zip(senders, values, weights, strict=True) if w != 0]
        return tuple(sorted(pairs, key=lambda pair: -abs(pair[1]))[:MOST_HEARD])

    def equation(self, target: Target) -> str:
        """The update of a message (Appendix C.1)."""
        damping = float(self.damping)
        if not _binary(target):
            return _of_states(target).equation(damping)
        return (
            rf"n_{{i\to j}} \leftarrow {numerals.katex(damping)}\, n_{{i\to j}} + {numerals.katex(1 - damping)}\,"
            r"\big[\max(0, P + \beta w_{ij}) - \max(0, P)\big],\quad "
            r"P = \beta b_i + \varepsilon_i + \sum_{k\ne j} n_{k\to i},\quad \varepsilon_i \sim \mathrm{Logistic}(0, 1)"
        )


def noise_of(chain_keys: Array, target: Target, draw: Int[Array, ""]) -> Float[Array, "..."]:
    """The perturbations of a draw: of two-state targets one a site, of others one a state."""
    return (
        perturbations(chain_keys, target.n, draw)
        if _binary(target)
        else _of_states(target).noise(chain_keys, target, draw)
    )


def perturbations(chain_keys: Array, n: int, draw: Int[Array, ""]) -> Float[Array, "n t"]:
    """Logistic noise of one draw, one column a chain, from the chains' NOISE keys."""
    draw_keys = keys.fold_in(chain_keys, draw)
    return keys.logistic_threshold(keys.uniform_at(draw_keys, jnp.arange(n)[:, None]))


@jax.jit
def _to_site(couplings, incoming: max_product.Messages) -> Float[Array, "n k"]:
    """The first chain's messages."""
    return max_product.to_site(couplings, jax.tree.map(lambda leaf: leaf[..., :1], incoming))[..., 0]


def _projections(messages: Float[Array, "r ..."]) -> Float[Array, " 4"]:
    """u' M v for four fixed pairs of vectors, which takes one pass over the messages and no table of their size."""
    table = messages.reshape(messages.shape[0], -1)
    return (_saw(table.shape[0]) @ table * _saw(table.shape[1])).sum(1)


def _saw(size: int) -> Float[Array, "4 s"]:
    """Multiples of four odd numbers, wrapped to [-1, 1): as good as four waves, and far cheaper than their cosines."""
    steps = jnp.array([[0x9E3779B1], [0x85EBCA77], [0xC2B2AE3D], [0x27D4EB2F]], jnp.uint32)
    multiples = jnp.arange(1, size + 1, dtype=jnp.uint32) * steps
    return multiples.astype(jnp.int32).astype(jnp.float32) * jnp.float32(2.0**-31)


def _perturbed(target: Target, perturbation: Float[Array, "n t"]):
    field = target.beta * target.model.bias[:, None] + perturbation
    field = max_product.clamp_field(field, target.evidence.mask, target.evidence.value)
    return target.model.couplings.scaled(target.beta), field
