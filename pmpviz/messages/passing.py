"""Message passing on a factor graph: parallel, factor by factor, or in two passes; compiled, and mapped over batches.

Two temperatures occur. The target's `beta` multiplies the potentials. The messages' `temperature` says what becomes of
the sums over states (section 2.3 of perturb-and-max-product): 1 is sum-product, 0 max-product, others lie between.
Both are traced: no program is compiled anew when they change.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from jaxtyping import Array, Bool, Float, Int, Int8

from pmpviz.messages.certainty import CERTAIN, IMPOSSIBLE, SURE
from pmpviz.messages.kernels import COLDEST, at_beta, log_partition, normalised, outgoing, scaled
from pmpviz.messages.schedule import Topology
from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.factors import Group
from pmpviz.types import Target, pytree

Messages = tuple[Float[Array, "f k s"], ...]


@pytree
class State:
    """Log messages from the factors, one array a group, [factor, variable of its scope, state], the largest state at 0.

    Impossible states, and those that do not exist, have -1e9. `noise[n, K]` is added to the variables' own potentials
    (a perturbation; beta does not multiply it). Map `sweep` over the states of several perturbations for a batch.
    """

    messages: Messages
    noise: Float[Array, "n k"]


@pytree
class Totals:
    """Sums at the variables of log messages: what is finite, and how many say impossible.

    Kept apart, a message can be taken out of a sum again without losing what stood beside a -1e9.
    """

    finite: Float[Array, "n k"]
    against: Float[Array, "n k"]

    def log(self) -> Float[Array, "n k"]:
        """The sums, impossible states far below."""
        return jnp.where(self.against > 0.5, IMPOSSIBLE, self.finite)


@pytree
class Problem:
    """A target made ready: groups at its beta, the variables' own log potentials with noise and evidence."""

    groups: tuple[Group, ...]
    own: Float[Array, "n k"]


def initial(target: Target, noise: Float[Array, "n k"] | None = None) -> State:
    """Messages of all 0 before the first sweep; no noise where None."""
    graph: FactorGraph = target.model
    exists = jnp.asarray(_exists(graph))
    start = tuple(jnp.where(exists[group.scope], 0.0, IMPOSSIBLE) for group in graph.groups)
    return State(start, jnp.zeros((graph.n, graph.states)) if noise is None else jnp.asarray(noise, jnp.float32))


@jax.jit
def sweep(
    target: Target, state: State, damping: Float[Array, ""], temperature: Float[Array, ""]
) -> tuple[State, Float[Array, ""]]:
    """All messages once, in parallel: m <- damping m + (1 - damping) m', and the residual.

    The residual is the largest change that a message's log-ratio of two states is asked for, before damping, as in
    perturb-and-max-product's kernel.
    """
    messages, residual = _sweep(_ready(target, state.noise), state.messages, damping, temperature)
    return State(messages, state.noise), residual


@jax.jit
def run(
    target: Target, state: State, sweeps: Int[Array, ""], damping: Float[Array, ""], temperature: Float[Array, ""]
) -> tuple[State, Float[Array, ""]]:
    """So many parallel sweeps, and the last one's residual."""
    problem = _ready(target, state.noise)

    def body(_, carry):
        return _sweep(problem, carry[0], damping, temperature)

    messages, residual = jax.lax.fori_loop(0, sweeps, body, (state.messages, jnp.float32(0.0)))
    return State(messages, state.noise), residual


@jax.jit
def sequential(
    target: Target, state: State, damping: Float[Array, ""], temperature: Float[Array, ""]
) -> tuple[State, Float[Array, ""]]:
    """Factor by factor in the graph's order, each from the messages as they are then; the residual as of `sweep`."""
    groups = target.model.groups
    count = sum(group.position.shape[0] for group in groups)
    which, row = jnp.zeros(count, jnp.int32), jnp.zeros(count, jnp.int32)
    for number, group in enumerate(groups):
        which = which.at[group.position].set(number)
        row = row.at[group.position].set(jnp.arange(group.position.shape[0]))
    everyone = jnp.full(count, -1, jnp.int32)
    return _in_order(target, state, (which, row, everyone), damping, temperature)


def two_pass(
    target: Target, state: State, damping: Float[Array, ""], temperature: Float[Array, ""]
) -> tuple[State, Float[Array, ""]]:
    """Every message once, from the leaves to the roots and back: exact where nothing is damped.

    Raises Refusal naming the loop where the graph has one that no clamped variable interrupts. The order is found on
    the host from the target's evidence, which is not traced here.
    """
    return _passes(target, state, two_pass_order(target), damping, temperature)


def two_pass_order(target: Target) -> tuple[Int[np.ndarray, " e"], ...]:
    """(group, factor in it, variable in its scope) of the messages of two passes, in their order."""
    graph: FactorGraph = target.model
    topology = Topology.of(graph, target.evidence.mask)
    edges = np.array([edge for edge, to_variable in topology.events("two_pass") if to_variable], np.int64)
    which, row = np.zeros((2, len(topology.scopes)), np.int32)
    for number, group in enumerate(graph.groups):
        which[group.position], row[group.position] = number, np.arange(len(group.position))
    factor = topology.edge_factor[edges] if len(edges) else edges
    first = np.array([edges_of.start for edges_of in topology.edges_of_factor], np.int64)
    return which[factor], row[factor], (edges - first[factor]).astype(np.int32)


@jax.jit
def log_beliefs(target: Target, state: State) -> Float[Array, "n k"]:
    """theta_i + the messages of all factors, the largest 0: at temperature 0 these are the log max-marginals."""
    return normalised(_totals(_ready(target, state.noise), state.messages).log())


def max_marginals(target: Target, state: State) -> Float[Array, "n k"]:
    """max over the other variables of the log weight, as max-product has it, the best state's 0: exact on trees."""
    return log_beliefs(target, state)


@jax.jit
def beliefs(target: Target, state: State, temperature: Float[Array, ""]) -> Float[Array, "n k"]:
    """b_i(x_i) = exp(log belief / temperature), scaled to sum to 1: marginals on trees.

    At temperature 0 exp(log max-marginal), scaled to sum to 1.
    """
    temperature = jnp.asarray(temperature, jnp.float32)
    scale = jnp.where(temperature > 0, jnp.maximum(temperature, COLDEST), 1.0)
    return jax.nn.softmax(log_beliefs(target, state) / scale, axis=-1)


@jax.jit
def decode(target: Target, state: State) -> Int8[Array, " n"]:
    """The best state of every variable's belief, the lowest of several."""
    return log_beliefs(target, state).argmax(-1).astype(jnp.int8)


@jax.jit
def bethe_log_z(target: Target, state: State, temperature: Float[Array, ""] = 1.0) -> Float[Array, ""]:
    """t (sum_f log Z_f + sum_i log Z_i - sum_fi log Z_fi) + beta constant: minus Bethe's free energy at a fixed point.

    Z_f sums psi_f times the messages into f, Z_i those into i with its own potentials, Z_fi the product of the two
    messages of an edge, all to the power 1 / t (Yedidia, Freeman and Weiss 2005). Exact on trees; t above 0.
    """
    scale = jnp.maximum(jnp.asarray(temperature, jnp.float32), COLDEST)
    problem = _ready(target, state.noise)
    totals = _totals(problem, state.messages)
    found = logsumexp(totals.log() / scale, axis=-1).sum()
    for group, into in zip(problem.groups, state.messages, strict=True):
        out = _cavity(totals, group.scope, into)
        warm = at_beta(group, 1.0 / scale)
        found += log_partition(warm, out / scale).sum() - logsumexp((out + into) / scale, axis=-1).sum()
    return scale * found + scaled(target.model.constant, target.beta)


def _exists(graph: FactorGraph) -> Bool[np.ndarray, "n k"]:
    return np.arange(graph.states) < np.array(graph.card, np.int64).reshape(-1, 1)


def _ready(target: Target, noise: Float[Array, "n k"]) -> Problem:
    graph: FactorGraph = target.model
    own = scaled(graph.unary, target.beta)
    own = jnp.where(own <= CERTAIN, IMPOSSIBLE, own + noise)
    ruled_out = target.evidence.mask[:, None] & (jnp.arange(graph.states) != target.evidence.value[:, None])
    own = jnp.where(ruled_out, IMPOSSIBLE, own)
    return Problem(tuple(at_beta(group, target.beta) for group in graph.groups), own)


def _split(rows: Float[Array, "... k"]) -> tuple[Float[Array, "... k"], Float[Array, "... k"]]:
    """What is finite, and 1 where a state is impossible."""
    against = rows <= CERTAIN
    return jnp.where(against, 0.0, rows), against.astype(jnp.float32)


def _totals(problem: Problem, messages: Messages) -> Totals:
    finite, against = _split(problem.own)
    for group, into in zip(problem.groups, messages, strict=True):
        part, no = _split(into)
        finite, against = finite.at[group.scope].add(part), against.at[group.scope].add(no)
    return Totals(finite, against)


def _cavity(totals: Totals, scope: Int[Array, "f k"], into: Float[Array, "f k s"]) -> Float[Array, "f k s"]:
    """Messages from the variables of a scope: their totals without what the factor itself said."""
    part, no = _split(into)
    return normalised(Totals(totals.finite[scope] - part, totals.against[scope] - no).log())


def _sweep(problem: Problem, messages: Messages, damping, temperature) -> tuple[Messages, Float[Array, ""]]:
    totals = _totals(problem, messages)
    fresh, changes = [], [jnp.float32(0.0)]
    for group, into in zip(problem.groups, messages, strict=True):
        update = outgoing(group, _cavity(totals, group.scope, into), temperature)
        changes.append(_change(into, update))
        fresh.append(_damped(into, update, damping))
    return tuple(fresh), jnp.stack(changes).max()


def _damped(old: Float[Array, "... k"], new: Float[Array, "... k"], damping) -> Float[Array, "... k"]:
    # What is certain is not damped: -1e9 would take many sweeps to be said.
    mixed = normalised(damping * old + (1.0 - damping) * new)
    return jnp.where((new <= CERTAIN) | (old <= CERTAIN), new, mixed)


def _change(old: Float[Array, "... k"], new: Float[Array, "... k"]) -> Float[Array, ""]:
    """How far the log-ratio of two states moves, at most; certain odds count as 10^4."""
    step = jnp.maximum(new, -SURE) - jnp.maximum(old, -SURE)
    return (step.max(-1) - step.min(-1)).max(initial=0.0)


@jax.jit
def _passes(target, state, order, damping, temperature):
    return _in_order(target, state, order, damping, temperature)


def _in_order(target: Target, state: State, order, damping, temperature) -> tuple[State, Float[Array, ""]]:
    """The messages of one factor after another, all of it where the variable's number is -1."""
    problem, (which, row, slot) = _ready(target, state.noise), order
    if not problem.groups:
        return state, jnp.float32(0.0)
    branches = [_one_factor(number, group, damping, temperature) for number, group in enumerate(problem.groups)]

    def body(step, carry):
        return jax.lax.switch(which[step], branches, (row[step], slot[step]), carry)

    start = state.messages, _totals(problem, state.messages), jnp.float32(0.0)
    messages, _, residual = jax.lax.fori_loop(0, which.shape[0], body, start)
    return State(messages, state.noise), residual


def _one_factor(number: int, group: Group, damping, temperature):
    def update(place, carry):
        (row, slot), (messages, totals, residual) = place, carry
        one = jax.tree.map(lambda leaf: jax.lax.dynamic_slice_in_dim(jnp.asarray(leaf), row, 1), group)
        old = jax.lax.dynamic_slice_in_dim(messages[number], row, 1)
        fresh = outgoing(one, _cavity(totals, one.scope, old), temperature)
        sent = ((slot < 0) | (jnp.arange(old.shape[1]) == slot))[:, None]
        fresh = jnp.where(sent, fresh, old)
        new = jnp.where(sent, _damped(old, fresh, damping), old)
        (part, no), (old_part, old_no) = _split(new), _split(old)
        finite = totals.finite.at[one.scope].add(part - old_part)
        against = totals.against.at[one.scope].add(no - old_no)
        put = jax.lax.dynamic_update_slice_in_dim(messages[number], new, row, 0)
        messages = (*messages[:number], put, *messages[number + 1 :])
        return messages, Totals(finite, against), jnp.maximum(residual, _change(old, fresh))

    return update


__all__ = [
    "State",
    "beliefs",
    "bethe_log_z",
    "decode",
    "initial",
    "log_beliefs",
    "max_marginals",
    "run",
    "sequential",
    "sweep",
    "two_pass",
    "two_pass_order",
]
