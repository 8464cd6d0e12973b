"""Martens and Sutskever 2010, Figures 3 and 4: how fast either sampler comes by E[h x'] - E[h] E[x]'.

The error is relative, in Frobenius' norm, against a long run of other chains of both samplers, and the root mean square
over several stretches of the chains: that of one stretch hangs on the few slowest directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pmpviz import keys
from pmpviz.experiments.reproductions import machines
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import lines
from pmpviz.experiments.reproductions.machines import BLOCKS, KINDS, SEQUENTIAL, Learning
from pmpviz.experiments.reproductions.walks import Chains
from pmpviz.models import SRBM
from pmpviz.types import Target, pytree

STEPS = (1, 10, 100, 300)
# Seeds of the chains of either truth lie so far from those of the chains that are judged by them.
APART = 1000
DIFFERENCE = "difference of the two truths"


@dataclass(frozen=True)
class Statistic:
    """Chains and their burn-in; sweeps of the chains of a truth, and before these; how many stretches, of all `STEPS`,
    the chains go on for."""

    chains: int
    burn_in: int
    truth_sweeps: int
    truth_burn_in: int
    stretches: int


# The paper leaves out 2,000 too. After 200 sweeps from random starts neither sampler has come to the law: over the
# first 300 steps that follow both err twice as much as after 500, on the SRBM of 20,000 updates.
FULL = Statistic(256, 2000, 5000, 2000, 8)
QUICK = Statistic(256, 500, 2000, 500, 8)


@pytree
class Sums:
    """Over chains and steps: of h x', h and x."""

    hx: Float[Array, "h v"]
    h: Float[Array, " h"]
    x: Float[Array, " v"]
    count: Int[Array, ""]

    @property
    def statistic(self) -> Float[np.ndarray, "h v"]:
        """E[h x'] - E[h] E[x]'."""
        hx, h, x = (np.asarray(part, np.float64) / int(self.count) for part in (self.hx, self.h, self.x))
        return hx - np.outer(h, x)


@jax.jit
def _gone_on(algorithm, target: Target, words, state, sums: Sums, first, count):
    chain_keys, visible = jax.random.wrap_key_data(words), len(sums.x)

    def one(k, carry):
        state, sums = carry
        state, _ = algorithm.step_tile(keys.fold_in(chain_keys, first + k), target, state)
        at = algorithm.position_tile(target, state).astype(jnp.float32)
        x, h = at[:, :visible], at[:, visible:]
        return state, Sums(sums.hx + h.T @ x, sums.h + h.sum(0), sums.x + x.sum(0), sums.count + len(at))

    return jax.lax.fori_loop(0, count, one, (state, sums))


def statistics(model: SRBM, algorithm, how: tuple[int, int], steps: Sequence[int], seed: int, stretches: int = 1):
    """E[h x'] - E[h] E[x]' by so many chains after a burn-in (both in `how`), from each number of their steps, and of
    each stretch of them: [stretches][steps]."""
    begun = Chains.begun(algorithm, Target.of(model), seed, *how, rao_blackwell=False)
    known = begun.algorithm, begun.target, begun.words
    hx, h, x = (np.zeros(s, np.float32) for s in ((model.hidden, model.visible), model.hidden, model.visible))
    state, at = begun.state, begun.burn_in
    found: list[list[Float[np.ndarray, "h v"]]] = []
    for _ in range(stretches):
        sums = Sums(hx, h, x, np.int32(0))
        found.append([])
        for count in np.diff(steps, prepend=0):
            state, sums = _gone_on(*known, state, sums, np.int32(at), np.int32(count))
            found[-1].append(sums.statistic)
            at += int(count)
    return found


def truth(model: SRBM, algorithm, how: Statistic, seed: int) -> Float[np.ndarray, "h v"]:
    """The statistic of a long run."""
    return statistics(model, algorithm, (how.chains, how.truth_burn_in), (how.truth_sweeps,), APART + seed)[0][0]


def errors(model: SRBM, algorithm, known: Float[np.ndarray, "h v"], how: Statistic, seed: int) -> list[float]:
    """Relative errors of the statistic after each number of `STEPS`, root mean squares over the stretches."""
    found = statistics(model, algorithm, (how.chains, how.burn_in), STEPS, seed, how.stretches)
    each = np.array([[relative(one, known) for one in stretch] for stretch in found])
    return np.sqrt((each**2).mean(0)).tolist()


def relative(found: Float[np.ndarray, "h v"], known: Float[np.ndarray, "h v"]) -> float:
    """|found - known| / |known|, in Frobenius' norm."""
    return float(np.linalg.norm(found - known) / np.linalg.norm(known))


def _one_seed(learning: Learning, how: Statistic, seed: int, keep=None) -> dict[str, float]:
    found: dict[str, float] = {}
    for kind in KINDS:
        model = machines.machine(kind, learning, seed, keep)
        samplers = machines.samplers(model)
        known = {name: truth(model, algorithm, how, seed) for name, algorithm in samplers.items()}
        middle = (known[BLOCKS] + known[SEQUENTIAL]) / 2
        for name, algorithm in samplers.items():
            each = errors(model, algorithm, middle, how, seed)
            found |= {f"error, {kind}, {name}, step {k}": e for k, e in zip(STEPS, each, strict=True)}
        ends = (found[f"error, {kind}, {name}, step {STEPS[-1]}"] for name in (BLOCKS, SEQUENTIAL))
        found[_ratio(kind)] = next(ends) / next(ends)
        found[f"{DIFFERENCE}, {kind}"] = relative(known[BLOCKS], known[SEQUENTIAL])
    return found


def run(request: Request, setting: tuple[Learning, Statistic] | None = None) -> Outcome:
    """Errors of both samplers on both machines."""
    learning, how = setting or ((machines.QUICK, QUICK) if request.quick else (machines.FULL, FULL))
    found = [_one_seed(learning, how, seed, request.keep) for seed in range(request.seeds)]
    curves = {
        f"{kind}, {name}": np.array([[one[f"error, {kind}, {name}, step {k}"] for k in STEPS] for one in found])
        for kind in KINDS
        for name in (BLOCKS, SEQUENTIAL)
    }
    figure = lines(STEPS, curves, "Cov(h, x) by two samplers", "steps", "relative error")
    figure.update_yaxes(type="log")
    rows = rows_of(found, {f"{DIFFERENCE}, {kind}": 0.03 for kind in KINDS})
    ours = {row.quantity: row.ours for row in rows}
    notes = (
        f"{how.chains} chains, {how.burn_in} sweeps before the first step; truths by {how.chains} other chains of "
        f"{how.truth_sweeps:,} sweeps after {how.truth_burn_in:,}, by either sampler: errors are against the mean of "
        f"the two, and root mean squares over {how.stretches} stretches of {STEPS[-1]} steps, one after another",
        learning.words,
        "the paper prints curves and says that sequential Gibbs is moderately faster a step in some cases, and that "
        "its two truths are less than 3 % apart; its own have 1,024 chains of 10,000 sweeps",
        *(_verdict(kind, ours[_ratio(kind)]) for kind in KINDS),
    )
    return Outcome(rows, figure, notes)


def _ratio(kind: str) -> str:
    return f"error of blocks over sequential, {kind}, step {STEPS[-1]}"


def _verdict(kind: str, ratio: float) -> str:
    order = "is" if ratio > 1 else "is not"
    return (
        f"{kind}: blocks err {ratio:.2g} times as much as sequential Gibbs at the end; the paper's order {order} found"
    )


REPRODUCTION = Reproduction(
    "ms-hx",
    "Covariances of hidden and visible units by two samplers",
    "MNIST's test digits at 16 x 16, 40 hidden units, 20,000 updates; 256 chains, truths of 5,000 sweeps, 8 stretches "
    "of 300 steps",
    "4,000 of the digits, 4,000 updates; 256 chains, truths of 2,000 sweeps, 8 stretches of 300 steps",
    1,
    1,
    run,
    keeps=True,
    shown="race?preset=covariances",
)

__all__ = ["REPRODUCTION", "STEPS", "Statistic", "errors", "relative", "statistics", "truth"]
