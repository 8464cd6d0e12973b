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
from pmpviz.messages.host import check_evidence
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
        """The sums, impossible states far below, the farther the more say so: where evidence leaves a variable no state
        at all, those that do not exist are still out."""
        return jnp.where(self.against > 0.5, IMPOSSIBLE * self.against, self.finite)


@pytree
class Problem:
    """A target made ready: groups at its beta, the variables' own log potentials with noise and evidence.

    Within a sweep the messages of all groups are the rows of one array; `variable[e]` says whose each is.
    """

    groups: tuple[Group, ...]
    own: Float[Array, "n k"]
    variable: Int[Array, " e"]


def initial(target: Target, noise: Float[Array, "n k"] | None = None) -> State:
    """Messages of all 0 before the first sweep; no noise where None.

    Raises InputError where evidence, unless it is traced, names a state that does not exist.
    """
    graph: FactorGraph = target.model
    if not any(isinstance(part, jax.core.Tracer) for part in (target.evidence.mask, target.evidence.value)):
        check_evidence(graph.card, target.evidence)
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
    problem = _ready(target, state.noise)
    rows, residual = _sweep(problem, _rows(state.messages), damping, temperature)
    return State(_of_groups(problem.groups, rows), state.noise), residual


@jax.jit
def run(
    target: Target, state: State, sweeps: Int[Array, ""], damping: Float[Array, ""], temperature: Float[Array, ""]
) -> tuple[State, Float[Array, ""]]:
    """So many parallel sweeps, and the last one's residual."""
    problem = _ready(target, state.noise)

    def body(_, carry):
        return _sweep(problem, carry[0], damping, temperature)

    start = _rows(state.messages), jnp.float32(0.0)
    rows, residual = jax.lax.fori_loop(0, sweeps, body, start)
    return State(_of_groups(problem.groups, rows), state.noise), residual


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
    return normalised(_totals(_ready(target, state.noise), _rows(state.messages)).log())


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
    problem, into = _ready(target, state.noise), _rows(state.messages)
    totals = _totals(problem, into)
    out = _cavity(totals, problem.variable, into)
    found = logsumexp(totals.log() / scale, axis=-1).sum() - logsumexp((out + into) / scale, axis=-1).sum()
    for group, incoming in zip(problem.groups, _of_groups(problem.groups, out / scale), strict=True):
        found += log_partition(at_beta(group, 1.0 / scale), incoming).sum()
    return scale * found + scaled(target.model.constant, target.beta)


def _exists(graph: FactorGraph) -> Bool[np.ndarray, "n k"]:
    return np.arange(graph.states) < np.array(graph.card, np.int64).reshape(-1, 1)


def _ready(target: Target, noise: Float[Array, "n k"]) -> Problem:
    graph: FactorGraph = target.model
    own = scaled(graph.unary, target.beta)
    own = jnp.where(own <= CERTAIN, IMPOSSIBLE, own + noise)
    ruled_out = target.evidence.mask[:, None] & (jnp.arange(graph.states) != target.evidence.value[:, None])
    own = jnp.where(ruled_out, IMPOSSIBLE, own)
    variable = jnp.concatenate([jnp.zeros(0, jnp.int32), *(group.scope.reshape(-1) for group in graph.groups)])
    return Problem(tuple(at_beta(group, target.beta) for group in graph.groups), own, variable)


def _rows(messages: Messages) -> Float[Array, "e k"]:
    if not messages:
        return jnp.zeros((0, 1))
    return jnp.concatenate([table.reshape(-1, table.shape[-1]) for table in messages])


def _of_groups(groups: tuple[Group, ...], rows: Float[Array, "e k"]) -> Messages:
    found, start = [], 0
    for group in groups:
        stop = start + group.scope.size
        found.append(rows[start:stop].reshape(*group.scope.shape, -1))
        start = stop
    return tuple(found)


def _split(rows: Float[Array, "... k"]) -> tuple[Float[Array, "... k"], Float[Array, "... k"]]:
    """What is finite, and 1 where a state is impossible."""
    against = rows <= CERTAIN
    return jnp.where(against, 0.0, rows), against.astype(jnp.float32)


def _totals(problem: Problem, rows: Float[Array, "e k"]) -> Totals:
    (finite, against), (part, no) = _split(problem.own), _split(rows)
    if not problem.groups:
        return Totals(finite, against)
    return Totals(finite.at[problem.variable].add(part), against.at[problem.variable].add(no))


def _cavity(totals: Totals, variable: Int[Array, " e"], into: Float[Array, "e k"]) -> Float[Array, "e k"]:
    """Messages from variables: their totals without what the factor itself said."""
    part, no = _split(into)
    return normalised(Totals(totals.finite[variable] - part, totals.against[variable] - no).log())


def _sweep(problem: Problem, rows: Float[Array, "e k"], damping, temperature):
    if not problem.groups:
        return rows, jnp.float32(0.0)
    out = _cavity(_totals(problem, rows), problem.variable, rows)
    fresh = outgoing(problem.groups, _of_groups(problem.groups, out), temperature)
    return _damped(rows, fresh, damping), _change(rows, fresh)


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
    branches, first = [], 0
    for group in problem.groups:
        branches.append(_one_factor(group, first, damping, temperature))
        first += group.scope.size

    def body(step, carry):
        return jax.lax.switch(which[step], branches, (row[step], slot[step]), carry)

    rows = _rows(state.messages)
    start = rows, _totals(problem, rows), jnp.float32(0.0)
    rows, _, residual = jax.lax.fori_loop(0, which.shape[0], body, start)
    return State(_of_groups(problem.groups, rows), state.noise), residual


def _one_factor(group: Group, first: int, damping, temperature):
    """Renews the messages of one factor of a group, whose rows begin at `first`, and the totals that they go into."""
    arity = group.scope.shape[1]

    def update(place, carry):
        """Renew the messages of factor `number` to its variable in `slot`, to all where that is -1, and the totals."""
        (number, slot), (rows, totals, residual) = place, carry
        one = jax.tree.map(lambda leaf: jax.lax.dynamic_slice_in_dim(jnp.asarray(leaf), number, 1), group)
        at, variable = first + number * arity, one.scope[0]
        old = jax.lax.dynamic_slice_in_dim(rows, at, arity)
        fresh = outgoing((one,), (_cavity(totals, variable, old)[None],), temperature)
        sent = ((slot < 0) | (jnp.arange(arity) == slot))[:, None]
        fresh = jnp.where(sent, fresh, old)
        new = jnp.where(sent, _damped(old, fresh, damping), old)
        (part, no), (old_part, old_no) = _split(new), _split(old)
        finite = totals.finite.at[variable].add(part - old_part)
        against = totals.against.at[variable].add(no - old_no)
        rows = jax.lax.dynamic_update_slice_in_dim(rows, new, at, 0)
        return rows, Totals(finite, against), jnp.maximum(residual, _change(old, fresh))

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
