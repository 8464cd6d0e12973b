"""Variable elimination in log space: log Z, marginals, pair marginals and exact samples of any small treewidth.

Each variable has a bucket: the product of the factors that it is the first of to go, and of the messages of earlier
buckets. Summing the variable out of its bucket gives the message to the next (Dechter 1999, bucket elimination). Going
back, the bucket divided by its message is p(variable | those it is joined to), from which marginals are multiplied
out and samples drawn, variable by variable.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
from jaxtyping import Float, Int

from pmpviz.exact.order import MAX_VARIABLES, Order
from pmpviz.exact.problem import Problem
from pmpviz.exact.segments import Held, Messages, Pieces
from pmpviz.models.tables import Factor

# log2 of the entries of the largest table that is made at once; of messages that are held at once; of all tables, for
# the time, and where the one who asks is patient.
MAX_TABLE, MAX_KEPT, MAX_ENTRIES, PATIENT_ENTRIES = 24, 27, 28, 31
# A larger one is made piece by piece, up to this, where messages that are held are at most so many.
MAX_PIECED, PIECED_KEPT = 30, 26
SAMPLE_CELLS = 1 << 23

Given = Mapping[int, int]
Visit = Callable[[int, np.ndarray, Given], None]
NOTHING_GIVEN: Given = MappingProxyType({})


@dataclass(frozen=True)
class Buckets:
    """Buckets of the free variables, numbered by the order of their elimination.

    `scope[k]` begins with k and rises, `factors[k]` are those of bucket k with rising scopes, `children[k]` the
    buckets that send it a message, `variable[k]` is the free variable that k stands for.
    """

    card: tuple[int, ...]
    scope: tuple[tuple[int, ...], ...]
    factors: tuple[tuple[Factor, ...], ...]
    children: tuple[tuple[int, ...], ...]
    variable: Int[np.ndarray, " free"]
    constant: float

    @classmethod
    def of(cls, problem: Problem, order: Order) -> Buckets:
        """Sort the factors into buckets by `order`."""
        place = {v: k for k, v in enumerate(order.variables)}
        scopes = tuple(tuple(place[v] for v in scope) for scope in order.scopes)
        factors: list[list[Factor]] = [[] for _ in scopes]
        for scope, table in problem.factors:
            places = [place[v] for v in scope]
            axes = np.argsort(places)
            factors[min(places)].append((tuple(places[a] for a in axes), np.transpose(table, axes)))
        children: list[list[int]] = [[] for _ in scopes]
        for k, scope in enumerate(scopes):
            if len(scope) > 1:
                children[scope[1]].append(k)
        variable = np.array(order.variables, np.int64)
        card = tuple(problem.card[v] for v in problem.free[variable])
        return cls(card, scopes, tuple(map(tuple, factors)), tuple(map(tuple, children)), variable, problem.constant)

    @cached_property
    def parents(self) -> Int[np.ndarray, " free"]:
        """The bucket that each sends its message to; their number where it sends none."""
        return np.array([scope[1] if len(scope) > 1 else len(self.scope) for scope in self.scope], np.int64)

    def parts(self, k: int, messages: Held) -> list[Factor]:
        """What is multiplied in bucket k: its factors and the messages to it."""
        return [*self.factors[k], *((self.scope[child][1:], messages[child]) for child in self.children[k])]

    def pieces(self, k: int) -> Iterator[Given]:
        """States of the first of the later variables of bucket k, as many as leave 2^`MAX_TABLE` entries at once."""
        entries, fixed = math.prod([self.card[v] for v in self.scope[k]]), []
        for v in self.scope[k][1:]:
            if entries <= 1 << MAX_TABLE:
                break
            fixed.append(v)
            entries //= self.card[v]
        for states in itertools.product(*(range(self.card[v]) for v in fixed)):
            yield dict(zip(fixed, states, strict=True))

    def table(self, k: int, messages: Held, given: Given = NOTHING_GIVEN) -> np.ndarray:
        """Log table of bucket k over `scope[k]`, newly made; of what is `given` one state only.

        Parts that reach far are multiplied first, so that the table grows at its front and stays contiguous.
        """
        parts = sorted(self.parts(k, messages), key=lambda part: (-min(part[0][1:], default=len(self.card)), part[0]))
        scope, total = (k,), np.zeros(self.card[k])
        for other, table in parts:
            union = scope if set(other) <= set(scope) else tuple(sorted({*scope, *other}))
            table = _spread(other, table[_at(other, given)], union)
            if union == scope:
                total += table
            else:
                total = _spread(scope, total, union) + table
                scope = union
        if scope == self.scope[k]:
            return total
        sizes = [1 if v in given else self.card[v] for v in self.scope[k]]
        return _spread(scope, total, self.scope[k]) + np.zeros(sizes)

    def collect(self) -> tuple[float, Messages]:
        """(log Z, messages of the buckets): all variables summed out in their order; a root's message is a number."""
        sizes = np.array([np.prod([float(self.card[v]) for v in scope[1:]]) for scope in self.scope])
        messages = Messages(Pieces.of(sizes, self.parents), self.parents, self._run)
        roots = messages.collect()
        return self.constant + sum(float(message) for message in roots.values()), messages

    def _run(self, buckets: range, held: Held) -> None:
        for k in buckets:
            message = np.empty([self.card[v] for v in self.scope[k][1:]])
            for given in self.pieces(k):
                message[_at(self.scope[k][1:], given)] = log_sum_first(self.table(k, held, given))
            held[k] = message

    def distribute(self, messages: Messages, visit: Visit) -> None:
        """Call `visit(k, p, given)` with the joint probabilities p over `scope[k]` of every bucket, last bucket first.

        A large bucket comes in pieces, of what is `given` one state at a time.
        """
        known: dict[int, np.ndarray] = {}
        for k in reversed(range(len(self.card))):
            held, later = messages.at(k), known.pop(k, np.ones(()))
            known |= {child: np.zeros([self.card[v] for v in self.scope[child][1:]]) for child in self.children[k]}
            for given in self.pieces(k):
                here, message = _at(self.scope[k][1:], given), held[k]
                p = self.table(k, held, given)
                p -= np.where(np.isneginf(message[here]), 0.0, message[here])
                np.exp(p, out=p)
                p *= later[here]
                visit(k, p, given)
                for child in self.children[k]:
                    kept = self.scope[child][1:]
                    out = tuple(a for a, v in enumerate(self.scope[k]) if v not in kept)
                    known[child][_at(kept, given)] += sum_out(p, out)

    def marginals(self, messages: Messages) -> list[np.ndarray]:
        """p(x_v) of every free variable v."""
        found: list[np.ndarray] = [np.zeros(0)] * len(self.card)
        for k, v in enumerate(self.variable):
            found[v] = np.zeros(self.card[k])

        def visit(k: int, p: np.ndarray, _: Given) -> None:
            found[self.variable[k]] += p.reshape(self.card[k], -1).sum(1)

        self.distribute(messages, visit)
        return [row / row.sum() for row in found]

    def joined(self, pairs: Int[np.ndarray, "p 2"]) -> np.ndarray:
        """Which pairs of free variables lie in one bucket together."""
        low, high = np.sort(self._place(pairs), axis=1).T
        return np.array([b in self.scope[a] for a, b in zip(low.tolist(), high.tolist(), strict=True)], bool)

    def _place(self, pairs: np.ndarray) -> np.ndarray:
        return np.argsort(self.variable)[pairs]

    def joined_marginals(self, messages: Messages, pairs: Int[np.ndarray, "p 2"]) -> Float[np.ndarray, "p k k"]:
        """p(x_i, x_j) of pairs that are `joined`, padded with zeros to the largest cardinality."""
        wanted: dict[int, list[int]] = {}
        places, most = self._place(pairs), max(self.card)
        for p, k in enumerate(places.min(1).tolist()):
            wanted.setdefault(k, []).append(p)
        found = np.zeros((len(pairs), most, most))

        def visit(k: int, joint: np.ndarray, given: Given) -> None:
            for p in wanted.get(k, ()):
                i, j = places[p].tolist()
                axis = self.scope[k].index(max(i, j))
                table = sum_out(joint, tuple(a for a in range(joint.ndim) if a not in (0, axis)))
                first = given.get(self.scope[k][axis], 0)
                block = found[p] if i < j else found[p].T
                block[: table.shape[0], first : first + table.shape[1]] += table

        self.distribute(messages, visit)
        return found

    def sample(self, messages: Messages, u: Float[np.ndarray, "s free"]) -> Int[np.ndarray, "s free"]:
        """One exact draw a row of uniform numbers `u`: each variable given those that went after it."""
        x = np.zeros((len(self.card), len(u)), np.int64)
        for k in reversed(range(len(self.card))):
            logits = np.zeros((self.card[k], len(u)))
            for scope, table in self.parts(k, messages.at(k)):
                logits += self._slice(table, scope, x)
            x[k] = choose(logits, u[:, k])
        states = np.zeros(u.shape, np.int8)
        states[:, self.variable] = x.T
        return states

    def _slice(self, table: np.ndarray, scope: tuple[int, ...], x: np.ndarray) -> np.ndarray:
        """The table at the states x of all variables of its scope but the first."""
        if len(scope) == 1:
            return table[:, None]
        place = np.zeros(x.shape[1], np.int64)
        for v in scope[1:]:
            place = place * self.card[v] + x[v]
        return table.reshape(len(table), -1)[:, place]


def _at(scope: tuple[int, ...], given: Given) -> tuple[slice, ...]:
    """Where the states that are given lie in a table over `scope`."""
    return tuple(slice(given[v], given[v] + 1) if v in given else slice(None) for v in scope)


def _spread(scope: tuple[int, ...], table: np.ndarray, union: tuple[int, ...]) -> np.ndarray:
    if scope == union:
        return table
    sizes = dict(zip(scope, table.shape, strict=True))
    return table.reshape([sizes.get(v, 1) for v in union])


def log_sum_first(table: np.ndarray) -> np.ndarray:
    """log sum exp over the first axis; -inf where all is forbidden. Overwrites `table`."""
    top = np.asarray(table.max(0))
    shift = np.where(np.isneginf(top), 0.0, top)
    table -= shift
    np.exp(table, out=table)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(table.sum(0)) + shift)


def sum_out(p: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """p summed over `axes`; p itself where there are none."""
    return p.sum(axes) if axes else p


def choose(logits: Float[np.ndarray, "k s"], u: Float[np.ndarray, " s"]) -> Int[np.ndarray, " s"]:
    """A state of each column with probability proportional to exp(logits), by inversion of u in [0, 1)."""
    p = np.exp(logits - logits.max(0))
    below = np.cumsum(p, axis=0)
    # Divided by the last sum itself, a forbidden last state ends up above every u.
    return (u >= below[:-1] / below[-1]).sum(0)


def refusal(order: Order, n: int, patient: bool = False, anew: bool = False) -> str | None:
    """Why elimination by this order is too large, or None; `patient`: it may take minutes, `anew`: messages need not
    be kept, and tables may be made in pieces."""
    advice = "use a smaller model, a sampler's long run as reference, or `infer --algorithm bp` for an approximation"
    least = "" if order.complete else "at least "
    if n > MAX_VARIABLES:
        return f"elimination takes at most {MAX_VARIABLES} variables, and {n} are free: {advice}"
    table = max(MAX_TABLE, MAX_PIECED) if anew and order.peak <= 2.0**PIECED_KEPT else MAX_TABLE
    if order.largest > table or not order.complete:
        size = f"{least}2^{order.largest:.0f} entries (width {least}{order.width})"
        return f"elimination needs tables of {size}; the limit is 2^{table}: {advice}"
    most = PATIENT_ENTRIES if patient else MAX_ENTRIES
    messages = ("messages", order.peak if anew else order.kept, MAX_KEPT)
    for name, entries, limit in (messages, ("tables", order.entries, most)):
        if entries > 2.0**limit:
            size = f"{np.log2(entries):.1f} entries in all its {name} (width {order.width})"
            return f"elimination needs 2^{size}; the limit is 2^{limit}: {advice}"
    return None


def sample_rows(buckets: Buckets, messages: Messages, seed: int, count: int) -> Int[np.ndarray, "count free"]:
    """`count` exact draws; the first of them do not depend on `count`."""
    rng, free = np.random.default_rng(seed), len(buckets.card)
    rows = max(1, SAMPLE_CELLS // max(free, 1))
    sizes = [min(rows, count - start) for start in range(0, count, rows)]
    parts = [buckets.sample(messages, rng.random((size, free))) for size in sizes]
    return np.concatenate(parts) if parts else np.zeros((0, free), np.int8)
