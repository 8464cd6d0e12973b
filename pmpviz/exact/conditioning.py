"""Variables that are given each of their states in turn, where elimination's tables would be too large to hold.

Cutset conditioning (Pearl 1988, section 4.3): Z is the sum, and each marginal the mixture, over the states of the
variables that are cut out. It takes as long as elimination would, or longer, in a fraction of the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from pmpviz.exact.order import Order, given_order
from pmpviz.types import Exact

# Of the states that the variables cut out have together.
MOST_RUNS = 1024


@dataclass(frozen=True)
class Cut:
    """`variables` to be given each of their states, `runs` of them together, and the `order` of those that are left.

    Variables are numbered as the free ones of the problem, in `order` as those of the problem without the cut ones.
    """

    variables: tuple[int, ...]
    runs: int
    order: Order

    @property
    def entries(self) -> float:
        """Those of all tables of all runs."""
        return self.runs * self.order.entries

    def method(self) -> str:
        """In words."""
        return (
            f"variable elimination, width {self.order.width}, "
            f"for each of the {self.runs} states of {len(self.variables)} variables"
        )


def cut_out(
    card: Sequence[int],
    edges: Int[np.ndarray, "e 2"],
    order: Order,
    fits: Callable[[Order], bool],
    most: float,
) -> Cut | None:
    """The variables whose absence makes an order fit, each the one of the largest table that costs the least entries.

    None where that takes more than `MOST_RUNS` runs, or more than `most` entries in all their tables.
    """
    variables, current, left = [], order, list(range(len(card)))
    runs = 1
    while not fits(current):
        if not current.complete or runs * current.entries > most:
            return None
        # `current` numbers the variables that are left.
        out = _cheapest(current, [card[v] for v in left])
        variables.append(left[out])
        runs *= card[left[out]]
        if runs > MOST_RUNS:
            return None
        remaining = [u - (u > out) for u in current.variables if u != out]
        del left[out]
        number = np.full(len(card), -1)
        number[left] = np.arange(len(left))
        inside = number[edges]
        current = given_order([card[v] for v in left], inside[(inside >= 0).all(1)], remaining)
    return Cut(tuple(sorted(variables)), runs, current) if runs * current.entries <= most else None


def _cheapest(order: Order, card: list[int]) -> int:
    """Of the largest table's variables the one without which all runs together have the fewest entries.

    A table that has the variable is as large over all runs as it was; one that has not is there once a run.
    """
    logs = np.log2(np.array(card, np.float64))
    sizes = np.array([2.0 ** logs[list(scope)].sum() for scope in order.scopes])
    within = np.zeros(len(card))
    for scope, size in zip(order.scopes, sizes, strict=True):
        within[list(scope)] += size
    candidates = order.scopes[int(sizes.argmax())]
    return min(candidates, key=lambda v: (card[v] * (sizes.sum() - within[v]) + within[v], v))


def mixed(parts: Sequence[Exact], method: str) -> Exact:
    """The sum of laws over one set of variables, weighted by their Z."""
    logs = np.array([part.log_z for part in parts])
    log_z = float(np.logaddexp.reduce(logs))
    p = np.exp(logs - log_z)
    p /= p.sum()
    rows = zip(*(part.marginals or () for part in parts), strict=True)

    def pairs(asked: np.ndarray) -> np.ndarray:
        return sum(
            share * part.pair_marginals(asked) for share, part in zip(p, parts, strict=True) if part.pair_marginals
        )

    marginals = tuple(p @ np.stack(row) for row in rows)
    return Exact(log_z, marginals, pairs, lambda seed, count: _drawn(parts, p, seed, count), method)


def _drawn(parts: Sequence[Exact], p: np.ndarray, seed: int, count: int) -> Int[np.ndarray, "count n"]:
    """Of each draw first the part, then the part's next draw; the first rows do not depend on the count."""
    chosen = np.minimum(np.searchsorted(np.cumsum(p), np.random.default_rng(seed).random(count), "right"), len(p) - 1)
    found = np.zeros((count, len(parts[0].marginals or ())), np.int8)
    for k in np.unique(chosen):
        rows, draw = np.flatnonzero(chosen == k), parts[k].sample
        assert draw is not None
        found[rows] = draw(int(np.random.SeedSequence([seed, int(k)]).generate_state(1)[0]), len(rows))
    return found


__all__ = ["MOST_RUNS", "Cut", "cut_out", "mixed"]
