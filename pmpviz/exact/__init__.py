"""Ground truth in float64: enumeration, variable elimination, Kaufman's closed form, behind one `solve`."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
from jaxtyping import Float, Int

from pmpviz.exact import elimination
from pmpviz.exact.conditioning import Cut, cut_out, mixed
from pmpviz.exact.elimination import Buckets
from pmpviz.exact.enumeration import MAX_FREE, MAX_LOG_STATES, Halves, Joint
from pmpviz.exact.kaufman import kaufman_energy, kaufman_log_z, target_log_z
from pmpviz.exact.layers import MAX_ENUMERATED, Layers
from pmpviz.exact.narrowed import Narrowed
from pmpviz.exact.order import Order, best_order, given_order
from pmpviz.exact.possible import NOTHING_POSSIBLE, domains, forbids, insist_possible
from pmpviz.exact.problem import Problem
from pmpviz.exact.segments import Messages
from pmpviz.models.rbm import LayeredModel
from pmpviz.models.tables import TableModel
from pmpviz.types import Evidence, Exact, InputError, Refusal, Target

# Entries of messages that a solution holds on to; larger ones are computed anew when samples or pairs are asked for.
KEEP = 1 << 22
# log2 of the entries of a table up to which orders of less evidence are tried, and how many of them.
NEARLY, MOST_RELAXED = elimination.MAX_TABLE + 6, 32


def solve(target: Target, tables: TableModel | None = None, patient: bool = False) -> Exact:
    """log Z, marginals, pair marginals and samples of a target: log Z is of the sum over states that agree with the
    evidence, clamped variables' marginals are deltas.

    `tables` are the file's own values in float64, otherwise the model's arrays are used. Pair marginals are [p, K, K],
    K the largest cardinality; `sample(seed, count)` is int8 [count, n] and its first rows do not depend on the count.
    Where only Kaufman's form applies, pairs and samples are None. `patient` takes what lasts for minutes too. Raises
    Refusal with the reason and the width found, and InputError where evidence and model forbid every state.
    """
    problem = Problem.of(target, tables)
    if _layered(target, problem):
        return _by_layers(target.model, problem)
    order = _order(target, tables, problem, patient)
    if _enumerable(problem) and order.entries > 2.0 ** (len(problem.free) - 2):
        return _by_halves(problem)
    log_states = float(np.log2(np.array(problem.free_card, np.float64)).sum())
    if problem.quadratic is None and log_states <= MAX_LOG_STATES and order.entries > 2.0 ** (log_states - 2):
        return _by_joint(problem)
    if (inner := _fewer_states(problem, patient)) is not None:
        return inner.lifted(problem, solve(inner.target(), None, patient))
    reason = _refusal(order, problem, patient)
    if reason is None:
        return _by_elimination(target, tables, problem, order)
    if (cut := _cut(order, problem, patient)) is not None:
        return _by_conditioning(target, tables, problem, cut)
    if _enumerable(problem):
        return _by_halves(problem)
    if (log_z := target_log_z(target)) is not None:
        half = tuple(np.full(2, 0.5) for _ in range(target.n))
        return Exact(log_z, half, None, None, "Kaufman's closed form")
    raise Refusal(reason)


def why_not(target: Target, tables: TableModel | None = None, patient: bool = False) -> str | None:
    """Why marginals and samples of this target are not tractable, with the width found; None where they are.

    `patient` allows for what lasts for minutes. Cheap: only the elimination order is searched, and remembered.
    """
    try:
        problem = Problem.of(target, tables)
    except Refusal as refused:
        return str(refused)
    if _enumerable(problem):
        return None
    if _layered(target, problem):
        return None if Layers.of(target.model, problem) is not None else _layers_refusal(target.model, problem)
    return _why_not_eliminate(target, tables, problem, patient)


def log_z_only(target: Target, tables: TableModel | None = None) -> float | None:
    """log Z by Kaufman's form where it applies, else by `solve`; None where it is not tractable."""
    if (log_z := target_log_z(target)) is not None:
        return log_z
    if why_not(target, tables) is not None:
        return None
    return solve(target, tables).log_z


def _enumerable(problem: Problem) -> bool:
    return problem.quadratic is not None and len(problem.free) <= MAX_FREE


def _layered(target: Target, problem: Problem) -> bool:
    """Whether the model's layers are to be used: elimination would search for an order in vain, and long."""
    return isinstance(target.model, LayeredModel) and problem.quadratic is not None and not _enumerable(problem)


def _layers_refusal(model: LayeredModel, problem: Problem) -> str:
    hidden = int((problem.free >= model.visible).sum())
    visible = len(problem.free) - hidden
    if model.couplings.lateral is not None:
        return f"the exact answer sums over 2^{visible} visible states; it is tractable up to {MAX_ENUMERATED} units"
    return (
        f"the exact answer sums over all states of the smaller layer, here 2^{min(hidden, visible)}; "
        f"it is tractable up to about {MAX_ENUMERATED} units"
    )


def _by_layers(model: LayeredModel, problem: Problem) -> Exact:
    layers = Layers.of(model, problem)
    if layers is None:
        raise Refusal(_layers_refusal(model, problem))
    return _assemble(problem, layers, layers.method)


def _refusal(order: Order, problem: Problem, patient: bool = False) -> str | None:
    return elimination.refusal(order, len(problem.free), patient, anew=True)


def _why_not_eliminate(
    target: Target, tables: TableModel | None, problem: Problem, patient: bool = False
) -> str | None:
    order = _order(target, tables, problem, patient)
    reason = _refusal(order, problem, patient)
    if reason is None or _cut(order, problem, patient) is not None or _fewer_states(problem, patient) is not None:
        return None
    return reason


def _fewer_states(problem: Problem, patient: bool) -> Narrowed | None:
    """What zeros leave, where they take states out and leave what is tractable; raises InputError where nothing is."""
    if not forbids(problem):
        return None
    inner = Narrowed.of_problem(problem)
    if inner.card == problem.free_card:
        return None
    target = inner.target()
    return inner if _why_not_eliminate(target, None, Problem.of(target), patient) is None else None


def _cut(order: Order, problem: Problem, patient: bool) -> Cut | None:
    """Variables to be given each of their states, where only the size of tables or messages is in the way."""
    most = 2.0 ** (elimination.PATIENT_ENTRIES if patient else elimination.MAX_ENTRIES)
    return cut_out(
        problem.free_card, problem.edges, order, lambda found: _refusal(found, problem, patient) is None, most
    )


def _order(target: Target, tables: TableModel | None, problem: Problem, patient: bool = False) -> Order:
    """The best order found; where that is too large, one of less evidence without what is clamped, if that is not.

    Searches are no exact science: without this, one more clamped variable may make them fail.
    """
    order = best_order(problem.free_card, problem.edges, _row_major(target, problem))
    clamped = np.flatnonzero(target.evidence.mask)
    if not len(clamped) or _refusal(order, problem, patient) is None or order.largest > NEARLY:
        return order
    less = [[], *([v for v in clamped if v != out] for out in clamped[:MOST_RELAXED])]
    rivals = (_restricted(target, tables, problem, kept) for kept in less)
    return next((rival for rival in rivals if rival and _refusal(rival, problem, patient) is None), order)


def _restricted(target: Target, tables: TableModel | None, problem: Problem, clamped: list) -> Order | None:
    """The order of the model with only some of the evidence, for the variables that are free with all of it."""
    mask, value = np.zeros(target.n, bool), np.array(target.evidence.value)
    mask[clamped] = True
    fewer = dataclasses.replace(target, evidence=Evidence(mask, np.where(mask, value, 0)))
    larger = Problem.of(fewer, tables)
    found = best_order(larger.free_card, larger.edges, _row_major(fewer, larger))
    if not found.complete:
        return None
    number = np.full(target.n, -1)
    number[problem.free] = np.arange(len(problem.free))
    variables = [int(number[larger.free[v]]) for v in found.variables]
    return given_order(problem.free_card, problem.edges, [v for v in variables if v >= 0])


def _row_major(target: Target, problem: Problem) -> Int[np.ndarray, " free"] | None:
    """The free sites of a lattice, the longest side outermost; None for other models."""
    shape = getattr(target.model, "shape", None)
    if shape is None:
        return None
    axes = np.argsort([-side for side in shape], kind="stable")
    sites = np.arange(target.n).reshape(shape).transpose(axes).reshape(-1)
    number = np.full(target.n, -1)
    number[problem.free] = np.arange(len(problem.free))
    return number[sites][number[sites] >= 0]


def _by_halves(problem: Problem) -> Exact:
    assert problem.quadratic is not None
    halves = Halves.of(problem.quadratic)
    return _assemble(problem, halves, f"enumeration of 2^{len(problem.free)} states")


def _by_joint(problem: Problem) -> Exact:
    joint = Joint.of(problem)
    _check_possible(joint.log_z)
    return _assemble(problem, joint, f"enumeration of {joint.p.size:,} states")


def _assemble(problem: Problem, solved: Halves | Joint | Layers, method: str) -> Exact:
    marginals = problem.all_marginals(solved.marginals())
    return Exact(
        solved.log_z,
        marginals,
        lambda pairs: problem.all_pairs(marginals, solved.pair_marginals, pairs),
        lambda seed, count: problem.all_states(solved.sample(seed, count)),
        method,
    )


def _by_conditioning(target: Target, tables: TableModel | None, problem: Problem, cut: Cut) -> Exact:
    sites = problem.free[list(cut.variables)]
    parts = []
    for states in itertools.product(*(range(problem.card[site]) for site in sites)):
        given = _given(target, dict(zip(sites.tolist(), states, strict=True)))
        try:
            clamped = Problem.of(given, tables)
            parts.append(_by_elimination(given, tables, clamped, cut.order, KEEP // cut.runs))
        except InputError:
            # Zeros forbid these states.
            continue
    if not parts:
        raise InputError(NOTHING_POSSIBLE)
    return mixed(parts, cut.method())


def _given(target: Target, states: dict[int, int]) -> Target:
    """The target with some more variables clamped."""
    mask, value = np.array(target.evidence.mask), np.array(target.evidence.value)
    for site, state in states.items():
        mask[site], value[site] = True, state
    return dataclasses.replace(target, evidence=Evidence(mask, value))


def _by_elimination(
    target: Target, tables: TableModel | None, problem: Problem, order: Order, keep: int = KEEP
) -> Exact:
    buckets = Buckets.of(problem, order)
    log_z, messages = buckets.collect()
    _check_possible(log_z)
    marginals = problem.all_marginals(buckets.marginals(messages))
    held = messages if order.kept <= keep else None
    del messages

    def recall() -> Messages:
        return held or buckets.collect()[1]

    def inner(pairs: np.ndarray) -> np.ndarray:
        return _pairs(target, tables, problem, buckets, recall(), pairs)

    def sample(seed: int, count: int) -> np.ndarray:
        return problem.all_states(elimination.sample_rows(buckets, recall(), seed, count))

    method = f"variable elimination, width {order.width}"
    return Exact(log_z, marginals, lambda pairs: problem.all_pairs(marginals, inner, pairs), sample, method)


def _check_possible(log_z: float) -> None:
    if np.isneginf(log_z):
        raise InputError(NOTHING_POSSIBLE)


def _pairs(
    target: Target, tables: TableModel | None, problem: Problem, buckets: Buckets, messages, pairs
) -> Float[np.ndarray, "p k k"]:
    """Pairs of one bucket by marginalising it, the others by clamping one of the two to each of its states."""
    most = max(problem.free_card)
    found, joined = np.zeros((len(pairs), most, most)), buckets.joined(pairs)
    if joined.any():
        found[joined] = buckets.joined_marginals(messages, pairs[joined])
    apart = np.flatnonzero(~joined)
    for v in np.unique(pairs[apart, 0]):
        rows = apart[pairs[apart, 0] == v]
        tables_of_v = _clamped_pairs(target, tables, problem, buckets, int(v))
        for row in rows:
            table = tables_of_v[int(pairs[row, 1])]
            found[row, : table.shape[0], : table.shape[1]] = table
    return found


def _clamped_pairs(target: Target, tables: TableModel | None, problem: Problem, buckets: Buckets, v: int) -> list:
    """p(x_v, x_u) for every free u: weights of the clamped problems, in the same order of elimination."""
    site, states = int(problem.free[v]), problem.free_card[v]
    log_z, rows = np.full(states, -np.inf), []
    for state in range(states):
        clamped = Problem.of(_given(target, {site: state}), tables)
        variables = [int(u) - (u > v) for u in buckets.variable if u != v]
        smaller = Buckets.of(clamped, given_order(clamped.free_card, clamped.edges, variables))
        log_z[state], messages = smaller.collect()
        row = smaller.marginals(messages) if np.isfinite(log_z[state]) else [np.zeros(c) for c in clamped.free_card]
        rows.append([*row[:v], np.eye(states)[state], *row[v:]])
    p = np.exp(log_z - log_z.max())
    p /= p.sum()
    return [np.stack([p[s] * rows[s][u] for s in range(states)]) for u in range(len(problem.free))]


__all__ = [
    "domains",
    "forbids",
    "insist_possible",
    "kaufman_energy",
    "kaufman_log_z",
    "log_z_only",
    "solve",
    "why_not",
]
