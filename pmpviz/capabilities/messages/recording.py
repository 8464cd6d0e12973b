"""Every message of a run on a tiny factor graph, in float64: what a page plays one message at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from pmpviz.capabilities.messages.bethe import bethe_log_z, log_partitions, states_of
from pmpviz.capabilities.messages.truth import Truth, truth
from pmpviz.messages.certainty import CERTAIN, IMPOSSIBLE, SURE
from pmpviz.messages.host import Kernel, check_evidence, normalised, scaled
from pmpviz.messages.schedule import SCHEDULES, Event, Topology
from pmpviz.metrics.oscillation import HISTORY, find_period
from pmpviz.models.factor_graph import FactorGraph, as_graph
from pmpviz.models.factors import Factor
from pmpviz.types import Evidence, InputError, Target

MAX_SWEEPS, MAX_NUMBERS = 200, 1 << 24
# A run has converged once no message is asked to change by so much in a sweep, and repeats itself to this precision.
TOLERANCE = 1e-6
# A run of at most so many sweeps has Bethe's log Z after every message, where these are not too many numbers.
MOST_SHORT, MOST_CELLS = 24, 1 << 20
# Cells of factor tables, over all sweeps, that Bethe's log Z is worked out on at once.
CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class Settings:
    """How messages are sent.

    `schedule` is parallel, sequential or two_pass (see `Topology.events`); `damping` the share of the old message to
    a variable that is kept, n <- damping n + (1 - damping) n'; `temperature` that of the messages, 1 for sum-product
    and 0 for max-product (the target's beta is another one: it multiplies potentials); `sweeps` 0 to 200.
    """

    schedule: str = "parallel"
    damping: float = 0.0
    temperature: float = 1.0
    sweeps: int = 60

    def check(self) -> None:
        """Raise InputError for a setting out of range."""
        if self.schedule not in SCHEDULES:
            raise InputError(f"there is no schedule {self.schedule[:40]!r}; choose one of {', '.join(SCHEDULES)}")
        if not 0.0 <= self.damping < 1.0:
            raise InputError(f"damping is {self.damping:g}; give a number from 0 to below 1")
        if not 0.0 <= self.temperature <= 100.0:
            raise InputError(f"the messages' temperature is {self.temperature:g}; give a number from 0 to 100")
        if not 0 <= self.sweeps <= MAX_SWEEPS:
            raise InputError(f"{self.sweeps} sweeps cannot be recorded; give 0 to {MAX_SWEEPS}")


@dataclass(frozen=True, eq=False)
class Recording:
    """A run, message by message. E edges, one for each (factor, variable); T events; K the largest cardinality.

    Messages are log numbers shifted to a largest one of 0; an impossible state has -1e9, one that does not exist nan.
    Those to factors are not damped: there `undamped` and `after` agree.
    """

    target: Target
    settings: Settings
    factor_kind: tuple[str, ...]
    """table, or, and, cardinality: one a factor. The variables' own potentials are no factors."""
    factor_scope: tuple[tuple[int, ...], ...]
    """Of OR and AND the tops, then the bottom."""
    edge_factor: Int[np.ndarray, " e"]
    edge_variable: Int[np.ndarray, " e"]
    sweep: Int[np.ndarray, " t"]
    """0 for the first sweep."""
    edge: Int[np.ndarray, " t"]
    to_variable: Bool[np.ndarray, " t"]
    before: Float[np.ndarray, "t k"]
    undamped: Float[np.ndarray, "t k"]
    after: Float[np.ndarray, "t k"]
    residual: Float[np.ndarray, " sweeps"]
    """Largest |undamped - before| of messages to variables: of the log-ratio, or of the widest pair of states' one.

    It is what they are asked to change by, of which damping does a share: by it the run has converged or has not."""
    beliefs: Float[np.ndarray, "sweeps1 n k"]
    """Before the first sweep and after each: exp(belief / temperature), at 0 exp(belief); sums to 1."""
    bethe: Float[np.ndarray, " sweeps1"]
    """Bethe's log Z at temperature 1, constant and evidence included; nan at others. It means something at rest."""
    bethe_sent: Float[np.ndarray, " t1"] | None
    """The same before the first message and after each, of a short run; None of a longer one."""
    converged: int | None
    """Sweeps after which messages are at rest: sweep number `converged`, counted from 0, and those after it ask no
    message to change by 1e-6 or more, undamped, and `beliefs[converged]` are final. None where that is not seen."""
    period: int | None
    """Sweeps after which the messages repeat, of a run that does not converge (`metrics.oscillation.find_period`)."""
    is_tree: bool
    """Whether messages are exact: no loops but through clamped variables."""
    loop: tuple[int, ...] | None
    """The variables of a loop."""
    diameter: int
    """Largest number of factors between two variables: the parallel undamped sweeps that a tree needs."""

    @cached_property
    def events_per_sweep(self) -> int:
        """T / sweeps."""
        return 2 * len(self.edge_factor)


def record(target: Target, settings: Settings) -> Recording:
    """The run of these settings from messages of all 0, in float64.

    Raises InputError for settings out of range, for a graph or run too large to record and where the messages find no
    state possible, Refusal for two passes over a graph with a loop.
    """
    settings.check()
    graph = as_graph(target.model)
    _check_size(graph, settings.sweeps)
    network = _Network.of(graph, target)
    events = network.topology.events(settings.schedule)
    run = _Run(network, events, settings)
    return run.recording(target)


def _check_size(graph: FactorGraph, sweeps: int) -> None:
    """Raise InputError where the messages of all sweeps, or those that all variables sum, are too many numbers."""
    scopes = [np.zeros(0, np.int64), *(np.asarray(group.scope).reshape(-1) for group in graph.groups)]
    degree = np.bincount(np.concatenate(scopes), minlength=graph.n)
    edges, most = int(degree.sum()), int(degree.max(initial=1))
    numbers = 6 * max(sweeps, 1) * edges * graph.states
    if numbers > MAX_NUMBERS:
        raise InputError(f"this run has {numbers:,} numbers to record, at most {MAX_NUMBERS:,} are; give fewer sweeps")
    summed = (sweeps + 1) * (edges + graph.n) * most * graph.states
    if summed > MAX_NUMBERS:
        raise InputError(
            f"this run sums {summed:,} numbers, as one variable is in {most:,} factors, and at most {MAX_NUMBERS:,} "
            "are; give fewer sweeps or a smaller graph"
        )


@dataclass(frozen=True, eq=False)
class _Network:
    """The graph of a target in the shape that batches of messages are worked out in."""

    graph: FactorGraph
    topology: Topology
    factors: tuple[Factor, ...]
    own: Float[np.ndarray, "n k"]
    kernels: tuple[Kernel, ...]
    kernel_of: Int[np.ndarray, " f"]
    row_of: Int[np.ndarray, " f"]
    slot: Int[np.ndarray, " e"]
    others: Int[np.ndarray, "e d"]
    members: Int[np.ndarray, "n d1"]
    constant: float

    @classmethod
    def of(cls, graph: FactorGraph, target: Target) -> _Network:
        """The graph with the target's beta and evidence: kernels, own fields, and which messages go into which."""
        beta = float(target.beta)
        factors = tuple(graph.factors())
        topology = Topology.of(graph, target.evidence.mask)
        kernels = tuple(Kernel(group, graph.states, beta) for group in graph.groups)
        kernel_of, row_of = np.zeros((2, len(factors)), np.int64)
        for number, group in enumerate(graph.groups):
            kernel_of[group.position], row_of[group.position] = number, np.arange(len(group.position))
        slot = np.array([s for scope in topology.scopes for s in range(len(scope))], np.int64)
        own = _own_fields(graph, target.evidence, beta)
        lists = topology.edges_of_variable
        others = [[e for e in lists[v] if e != edge] for edge, v in enumerate(topology.edge_variable.tolist())]
        fill = len(slot)
        padded = _padded(others, fill), _padded(lists, fill)
        constant = float(scaled(np.asarray(graph.constant), beta))
        return cls(graph, topology, factors, own, kernels, kernel_of, row_of, slot, *padded, constant)

    def to_factors(self, into: Float[np.ndarray, "... e1 k"], edges: np.ndarray) -> np.ndarray:
        """m_i->f = theta_i + the messages of all factors but f, normalised; the last row of `into` is 0."""
        own = self.own[self.topology.edge_variable[edges]]
        return normalised(own + into[..., self.others[edges], :].sum(-2))

    def totals(self, into: Float[np.ndarray, "... e1 k"]) -> np.ndarray:
        """theta_i + the messages of all factors."""
        return self.own + into[..., self.members, :].sum(-2)


def _own_fields(graph: FactorGraph, evidence: Evidence, beta: float) -> Float[np.ndarray, "n k"]:
    check_evidence(graph.card, evidence)
    own = scaled(np.asarray(graph.unary, np.float64), beta)
    mask, value = np.asarray(evidence.mask, bool), np.asarray(evidence.value, np.int64)
    ruled_out = mask[:, None] & (np.arange(own.shape[1]) != value[:, None])
    return np.where(ruled_out, IMPOSSIBLE, own)


def _padded(lists, fill: int) -> np.ndarray:
    width = max(map(len, lists), default=0)
    return np.array([[*row, *[fill] * (width - len(row))] for row in lists], np.int64).reshape(len(lists), width)


@dataclass(frozen=True, eq=False)
class _Batch:
    """Messages that wait for none of one another: `place` are their events' places in the sweep."""

    place: Int[np.ndarray, " b"]
    edge: Int[np.ndarray, " b"]
    kernel: int | None
    rows: Int[np.ndarray, " f"] | None = None
    edges_in: Int[np.ndarray, "f k"] | None = None
    pick: Int[np.ndarray, " b"] | None = None


def _levels(topology: Topology, events: list[Event]) -> list[list[int]]:
    """The places of a sweep's events in as few levels as there can be: what is worked out at once, reading what was
    there before, is the same as one after another."""
    count = len(topology.edge_factor)
    # Of the messages to factors and of those to variables: the level that wrote last, and that read last.
    wrote, read = np.full((2, count), -1), np.full((2, count), -1)
    levels: list[list[int]] = []
    for place, (edge, to_variable) in enumerate(events):
        near = (
            topology.edges_of_factor[topology.edge_factor[edge]]
            if to_variable
            else topology.edges_of_variable[topology.edge_variable[edge]]
        )
        kind, sources = int(to_variable), [e for e in near if e != edge]
        level = max([wrote[kind, edge] + 1, read[kind, edge], *(wrote[1 - kind, e] + 1 for e in sources)])
        wrote[kind, edge] = level
        read[1 - kind, sources] = np.maximum(read[1 - kind, sources], level)
        levels += [[] for _ in range(level + 1 - len(levels))]
        levels[level].append(place)
    return levels


def _batches(network: _Network, events: list[Event]) -> Iterator[list[_Batch]]:
    edge = np.array([e for e, _ in events], np.int64)
    to_variable = np.array([to for _, to in events], bool)
    t = network.topology
    for level in _levels(t, events):
        at, batches = np.array(level, np.int64), []
        if len(inward := at[~to_variable[at]]):
            batches.append(_Batch(inward, edge[inward], None))
        outward = at[to_variable[at]]
        kernel = network.kernel_of[t.edge_factor[edge[outward]]]
        for number in np.unique(kernel):
            place = outward[kernel == number]
            factor, back = np.unique(t.edge_factor[edge[place]], return_inverse=True)
            edges_in = np.array([t.edges_of_factor[f] for f in factor], np.int64)
            pick = back * edges_in.shape[1] + network.slot[edge[place]]
            batches.append(_Batch(place, edge[place], int(number), network.row_of[factor], edges_in, pick))
        yield batches


class _Run:
    """The messages of a run: `into[e]` from factor to variable with a last row of zeros, `out[e]` the other way."""

    def __init__(self, network: _Network, events: list[Event], settings: Settings):
        self.network, self.events, self.settings = network, events, settings
        self.levels = list(_batches(network, events))
        edges, states = len(network.slot), network.graph.states
        exists = np.arange(states) < np.array(network.graph.card, np.int64)[:, None]
        self.exists = exists
        start = np.where(exists[network.topology.edge_variable], 0.0, IMPOSSIBLE)
        self.into, self.out = np.concatenate([start, np.zeros((1, states))]), start.copy()
        shape = (settings.sweeps, len(events), states)
        self.before, self.undamped, self.after = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.history = np.zeros((settings.sweeps + 1, edges + 1, states))
        self.history[0] = self.into

    def play(self) -> None:
        """All sweeps; once one changes nothing at all, the others are the same as it."""
        for sweep in range(self.settings.sweeps):
            for level in self.levels:
                self._send(sweep, level)
            self.history[sweep + 1] = self.into
            if (self.before[sweep] == self.after[sweep]).all():
                for kept in (self.before, self.undamped, self.after):
                    kept[sweep + 1 :] = kept[sweep]
                self.history[sweep + 1 :] = self.into
                return

    def _send(self, sweep: int, level: list[_Batch]) -> None:
        fresh = [self._worked_out(batch) for batch in level]
        for batch, undamped in zip(level, fresh, strict=True):
            held = self.out if batch.kernel is None else self.into
            before = held[batch.edge]
            after = undamped if batch.kernel is None else damped(before, undamped, self.settings.damping)
            held[batch.edge] = after
            for kept, rows in ((self.before, before), (self.undamped, undamped), (self.after, after)):
                kept[sweep, batch.place] = rows

    def _worked_out(self, batch: _Batch) -> Float[np.ndarray, "b k"]:
        if batch.kernel is None:
            return self.network.to_factors(self.into, batch.edge)
        kernel = self.network.kernels[batch.kernel]
        found = kernel.outgoing(batch.rows, self.out[batch.edges_in], self.settings.temperature)
        return found.reshape(-1, found.shape[-1])[batch.pick]

    def recording(self, target: Target) -> Recording:
        """Play the run to its end; all that was sent in it, and what it came to."""
        self.play()
        s, t = self.settings, self.network.topology
        edge = np.array([e for e, _ in self.events], np.int64)
        to_variable = np.array([to for _, to in self.events], bool)
        asked = change(self.before[:, to_variable], self.undamped[:, to_variable]).max(1, initial=0.0)
        missing = ~self.exists[t.edge_variable[np.tile(edge, s.sweeps)]]
        rows = [np.where(missing, np.nan, kept.reshape(missing.shape)) for kept in self._messages()]
        return Recording(
            target=target,
            settings=s,
            factor_kind=tuple(factor.kind for factor in self.network.factors),
            factor_scope=t.scopes,
            edge_factor=t.edge_factor,
            edge_variable=t.edge_variable,
            sweep=np.repeat(np.arange(s.sweeps), len(edge)),
            edge=np.tile(edge, s.sweeps),
            to_variable=np.tile(to_variable, s.sweeps),
            before=rows[0],
            undamped=rows[1],
            after=rows[2],
            residual=asked,
            beliefs=self._beliefs(),
            bethe=self._bethe(self.history),
            bethe_sent=self._bethe_sent(edge, to_variable),
            converged=_settled(asked),
            period=self._period(asked),
            is_tree=t.is_tree,
            loop=t.loop,
            diameter=t.diameter,
        )

    def _messages(self):
        return self.before, self.undamped, self.after

    def _beliefs(self) -> Float[np.ndarray, "s n k"]:
        totals = self.network.totals(self.history)
        self._check_possible(totals)
        totals = totals / (self.settings.temperature or 1.0)
        mass = np.exp(totals - totals.max(-1, keepdims=True)) * self.exists
        return mass / mass.sum(-1, keepdims=True)

    def _check_possible(self, totals: Float[np.ndarray, "s n k"]) -> None:
        """Raise InputError where the messages leave a variable, or at the end a factor, no state: there is none."""
        dead = (np.where(self.exists, totals, -np.inf).max(-1) <= CERTAIN).any()
        last = self.history[-1:]
        if dead or any((mass <= CERTAIN).any() for mass in log_partitions(self.network, last)):
            raise InputError("every state has probability 0; change the evidence or the zeros of the tables")

    def _bethe(self, history: Float[np.ndarray, "s e1 k"]) -> Float[np.ndarray, " s"]:
        if self.settings.temperature != 1.0:
            return np.full(len(history), np.nan)
        largest = max((states_of(kernel) for kernel in self.network.kernels), default=1)
        rows = max(1, CELLS // (largest * (len(self.network.factors) or 1)))
        parts = [history[at : at + rows] for at in range(0, len(history), rows)]
        return np.concatenate([bethe_log_z(self.network, part) for part in parts])

    def _bethe_sent(self, edge: np.ndarray, to_variable: np.ndarray) -> Float[np.ndarray, " t1"] | None:
        sent = self.after.reshape(-1, self.after.shape[-1])
        cells = (len(sent) + 1) * self.history[0].size
        if self.settings.temperature != 1.0 or self.settings.sweeps > MOST_SHORT or cells > MOST_CELLS:
            return None
        history = np.repeat(self.history[:1], len(sent) + 1, 0)
        for t, after in enumerate(sent):
            history[t + 1] = history[t]
            if to_variable[t % len(edge)]:
                history[t + 1, edge[t % len(edge)]] = after
        return self._bethe(history)

    def _period(self, asked: Float[np.ndarray, " sweeps"]) -> int | None:
        if not len(asked):
            return None
        rows = np.maximum(self.history[-HISTORY:, :-1], -SURE).reshape(min(HISTORY, len(self.history)), -1)
        return find_period(rows, TOLERANCE, float(asked[-1]))


def damped(old: Float[np.ndarray, "b k"], new: Float[np.ndarray, "b k"], damping: float) -> Float[np.ndarray, "b k"]:
    """damping old + (1 - damping) new, normalised; what is certain is not damped: it would take long to be said."""
    mixed = normalised(damping * old + (1.0 - damping) * new)
    return np.where((new <= IMPOSSIBLE) | (old <= IMPOSSIBLE), new, mixed)


def change(old: Float[np.ndarray, "... k"], new: Float[np.ndarray, "... k"]) -> Float[np.ndarray, "..."]:
    """How far the log-ratio of two states moves, at most over all pairs of states; certain odds count as 10^4."""
    step = np.maximum(new, -SURE) - np.maximum(old, -SURE)
    return step.max(-1) - step.min(-1)


def _settled(asked: Float[np.ndarray, " sweeps"]) -> int | None:
    """How many sweeps there are before no message is asked to change by TOLERANCE any more."""
    moving = np.flatnonzero(asked >= TOLERANCE)
    first = int(moving[-1]) + 1 if len(moving) else 0
    return first if first < len(asked) else None


__all__ = ["TOLERANCE", "Recording", "Settings", "Truth", "change", "damped", "record", "truth"]
