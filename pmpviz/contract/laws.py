"""Truth by enumeration in float64, and the two statistics that the contract suite decides by."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from pmpviz.models.pairwise import Pairwise
from pmpviz.models.tables import TableModel

POOL_BELOW = 20.0
FIRST_LOOK, ALPHA, BEYOND_DOUBT = 1e-3, 1e-6, 1e-15
SECOND_LOOK_FACTOR = 8


@dataclass(frozen=True)
class Law:
    """Exact law of a target: `states[m, n]` consistent with the evidence, `p[m]`, `log_weight[m]` (times beta).

    `card[n]` are the variables' numbers of states.
    """

    states: np.ndarray
    p: np.ndarray
    log_weight: np.ndarray
    card: tuple[int, ...]

    def index(self, x: np.ndarray) -> np.ndarray:
        """Row of `states` of each configuration; -1 for one that the evidence forbids, or that does not exist."""
        place = np.full(np.prod(self.card), -1)
        place[codes(self.states, self.card)] = np.arange(len(self.states))
        exists = np.all((x >= 0) & (x < np.array(self.card)), axis=1)
        return np.where(exists, place[codes(np.where(exists[:, None], x, 0), self.card)], -1)

    def draws(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Independent exact draws, int8 [count, n]."""
        return self.states[rng.choice(len(self.p), count, p=self.p)]


def codes(x: np.ndarray, card: tuple[int, ...] | None = None) -> np.ndarray:
    """Configurations as whole numbers of mixed radix, site 0 the lowest digit; bits where `card` is None."""
    radix = (2,) * x.shape[1] if card is None else card
    return x.astype(np.int64) @ np.cumprod([1, *radix[:-1]])


def all_states(n: int, card: tuple[int, ...] | None = None) -> np.ndarray:
    """All configurations of n variables of these cardinalities (of two states where None), int8 [m, n]."""
    return np.array(list(itertools.product(*map(range, card or (2,) * n))), np.int8)


def edge_sum(model, states: np.ndarray) -> np.ndarray:
    """b.x + sum_{i<j} w_ij x_i x_j + constant of each state in float64, from the edge list."""
    bias, i, j, w = model.pairwise()
    x = states.astype(np.float64)
    return x @ bias + (x[:, i] * x[:, j]) @ w + float(model.constant)


def table_sum(model, states: np.ndarray) -> np.ndarray:
    """log_weight of each state of a table model in float64, table by table."""
    entries = [table[tuple(states[:, v] for v in scope)] for scope, table in model.factors]
    return np.sum(entries, axis=0) + float(model.constant)


def law_of(target) -> Law:
    """The law of a binary pairwise target, or one of tables, by enumeration."""
    states = all_states(target.n, target.model.card)
    mask, value = np.asarray(target.evidence.mask), np.asarray(target.evidence.value)
    states = states[(states[:, mask] == value[mask]).all(1)]
    model = target.model.to_tables() if isinstance(target.model, Pairwise) else target.model
    weigh = table_sum if isinstance(model, TableModel) else edge_sum
    log_weight = float(target.beta) * weigh(model, states)
    p = np.exp(log_weight - log_weight.max())
    return Law(states, p / p.sum(), log_weight, tuple(target.model.card))


def chi_square(counts: np.ndarray, p: np.ndarray) -> float:
    """p-value of Pearson's test; the rarest cells are pooled until their expected count reaches POOL_BELOW.

    A count where p is 0 gives 0.
    """
    if counts[p == 0].sum():
        return 0.0
    expected = p * counts.sum()
    order = np.argsort(expected)
    rare = int((expected < POOL_BELOW).sum())
    while 0 < rare < len(p) and expected[order[:rare]].sum() < POOL_BELOW:
        rare += 1
    counts = np.append(counts[order[rare:]], counts[order[:rare]].sum())
    expected = np.append(expected[order[rare:]], expected[order[:rare]].sum())
    counts, expected = counts[expected > 0], expected[expected > 0]
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), max(len(counts) - 1, 1)))


def bowker(pairs: np.ndarray) -> float:
    """p-value of Bowker's test that a table of transitions `pairs[from, to]` is symmetric.

    Pairs of cells seen fewer than POOL_BELOW times together are left out: given their sum, either is binomial(1/2).
    """
    upper = np.triu_indices(len(pairs), 1)
    forth, back = pairs[upper].astype(float), pairs.T[upper].astype(float)
    seen = forth + back >= POOL_BELOW
    statistic = ((forth - back)[seen] ** 2 / (forth + back)[seen]).sum()
    return float(chi2.sf(statistic, max(int(seen.sum()), 1)))


def table(rows: np.ndarray, columns: np.ndarray, size: int) -> np.ndarray:
    """Counts of pairs of indices, [size, size]."""
    return np.bincount(rows * size + columns, minlength=size * size).reshape(size, size)


def two_stages(p_value) -> float:
    """`p_value(stage, factor)` at stage 0; where it is below 1e-3, that of stage 1 at 8 times the draws decides.

    Below 1e-15 no second look is taken, which adds that much to the share of false alarms.
    """
    first = p_value(0, 1)
    return p_value(1, SECOND_LOOK_FACTOR) if BEYOND_DOUBT <= first < FIRST_LOOK else first
