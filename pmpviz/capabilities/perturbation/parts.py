"""What the perturbation lab computes: solutions under one perturbation, tallies over many, a tree of attempts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import jax
import numpy as np
import scipy
from jaxtyping import Float, Int, Int8

from pmpviz import keys
from pmpviz.capabilities.perturbation.scenes import PREFIX, Scene, scene_of
from pmpviz.exact.problem import Problem
from pmpviz.marginals import stream
from pmpviz.marginals.barrier_frank_wolfe import BarrierFrankWolfe
from pmpviz.models import Ising
from pmpviz.oracles import MapOracle, Potentials, Solution, make_oracle
from pmpviz.oracles.perturbed import gumbels, table_of
from pmpviz.samplers.perturb_and_map import noise_of
from pmpviz.samplers.unbiased import Prefixes
from pmpviz.types import Target

LISTED, TREE_SITES, TREE_BANK, ATTEMPTS = 10, 12, 1000, 2000
# Energies closer than this share of their size are the same maximum.
SAME = 1e-6
# A solver that takes longer may have been compiled meanwhile, and is timed again; a quicker one so many times more: the
# least time counts.
COMPILES, AGAIN = 0.2, 2
COMPILED = "max_product"
# Of the noise of each variable where its law is worked out whole, by how many variables there are.
SHARES = {1: 1000, 2: 400, 3: 64}
# Oracles of the walk, the first that can run; most MAP calls, and after how many the marginals are shown.
WALK_ORACLES = ("exact", "best_of")
WALK_CALLS, WALK_SHOWN = 120, 8


@dataclass(frozen=True, eq=False)
class Bench:
    """The problem of a plan: its target, free potentials, and solvers, each with why it cannot run here, or None."""

    target: Target
    potentials: Potentials
    problem: Problem
    scene: Scene | None
    solvers: tuple[MapOracle, ...]
    refusals: tuple[str | None, ...]
    words: np.ndarray

    @classmethod
    def of(cls, model, scene: Scene | None, beta: float, seed: int, solvers: tuple[str, ...], count: int) -> Bench:
        """`count` perturbations are those of that many chains of a run with this seed, each of the chain's draw 0."""
        target = Target.of(model, None if scene is None else scene.evidence, beta)
        potentials, problem = Potentials.of_target(target)
        made = tuple(make_oracle(name) for name in solvers)
        words = keys.words_of(keys.of_chains(keys.role(jax.random.key(seed), keys.NOISE), np.arange(count)))
        reasons = tuple(solver.spec.why_not(potentials) for solver in made)
        return cls(target, potentials, problem, scene, made, reasons, words)

    def noise(self, first: int, count: int) -> Float[np.ndarray, "count n k"]:
        """Perturbations number first, first + 1, ... of the free variables."""
        return noise_of(self.words[first : first + count], self.potentials, self.problem, 0)

    def picture(self, one: Float[np.ndarray, "free k"]) -> Float[np.ndarray, " n"]:
        """p(x_i = 1) of all variables from that of the free ones."""
        found = self.problem.value.astype(np.float64)
        found[self.problem.free] = one[:, 1]
        return found

    @property
    def labels(self) -> tuple[str, ...]:
        """The solvers' labels."""
        return tuple(solver.spec.label for solver in self.solvers)


def resolved(text: str, resolve) -> tuple[Ising, Scene | None]:
    """(model, scene or None) of a plan's text; `resolve` builds what is no scene."""
    if text.startswith(PREFIX):
        scene = scene_of(text)
        return scene.model, scene
    return resolve(text), None


@dataclass(frozen=True, eq=False)
class Walked:
    """Marginals of all variables by barrier Frank-Wolfe, with the MAP calls, the gap and the oracle that gave them."""

    p1: Float[np.ndarray, " n"]
    calls: int
    gap: float
    oracle: str


def walking(bench: Bench) -> Iterator[Walked]:
    """The walk with one rho, after every few MAP calls; by exact maxima where they are tractable, else by the best of
    three approximations."""
    name = next(name for name in WALK_ORACLES if make_oracle(name).spec.why_not(bench.potentials) is None)
    algorithm = BarrierFrankWolfe(oracle=name, rho_updates=0, calls_per_rho=WALK_CALLS)
    for state in stream(algorithm, bench.potentials):
        if state.reason or (state.calls and state.calls % WALK_SHOWN == 0):
            p1 = bench.picture(algorithm.answer(state).unary)
            yield Walked(p1, state.calls, state.trace[-1]["found_gap"], make_oracle(name).spec.label)


@dataclass(frozen=True, eq=False)
class Shown:
    """One perturbation: the noise of state 1 less that of state 0, the field that it makes, and what each solver says.

    `draw` is the perturbation's number, `cross` the noise of two sites where a hand has put it. `pictures[s]` is
    p(x_i = 1) of solver s (fractional where an LP is), None where it cannot run or is `pending`. `best` is the proved
    maximum, `alone` that of theta itself, where they are known.
    """

    noise: Float[np.ndarray, " n"]
    field: Float[np.ndarray, " n"]
    solutions: tuple[Solution | None, ...]
    pictures: tuple[Float[np.ndarray, " n"] | None, ...]
    seconds: tuple[float, ...]
    pending: tuple[bool, ...]
    draw: int
    alone: Int8[np.ndarray, " n"] | None
    best: float | None
    cross: tuple[float, float] | None = None


def show(bench: Bench, draw: int) -> Shown:
    """All solvers on one perturbation."""
    return list(showing(bench, draw))[-1]


def showing(bench: Bench, draw: int, noise: Float[np.ndarray, "n k"] | None = None) -> Iterator[Shown]:
    """The same after each solver, those first that need no compiling; of another noise where it is given."""
    noise = bench.noise(draw, 1)[0] if noise is None else noise
    perturbed = bench.potentials.with_values(bench.potentials.unary + noise)
    spread, bias = np.zeros(bench.target.n), np.zeros(bench.target.n)
    spread[bench.problem.free] = noise[:, 1]
    bias[bench.problem.free] = bench.potentials.quadratic()[0] + noise[:, 1]
    count = len(bench.solvers)
    shown = Shown(spread, bias, (None,) * count, (None,) * count, (0.0,) * count, (True,) * count, draw, None, None)
    order = sorted(range(count), key=lambda s: bench.solvers[s].spec.id == COMPILED)
    for s in order:
        shown = _with(bench, perturbed, shown, s)
        if s != order[-1]:
            yield shown
    known = next((one for one in shown.solutions if one is not None and one.exact), None)
    best = known if known is not None else solved(bench, perturbed.unary[None])[1][0]
    alone = solved(bench, bench.potentials.unary[None])[1][0]
    at_rest = None if alone is None else bench.problem.all_states(alone.x[None])[0]
    yield replace(shown, alone=at_rest, best=None if best is None else best.value)


def _with(bench: Bench, perturbed: Potentials, shown: Shown, s: int) -> Shown:
    """What is shown with one more solver's answer and its time."""
    solution, took = None, 0.0
    if not bench.refusals[s]:
        solution, took = _timed(bench.solvers[s], perturbed)
        if took > COMPILES:
            took = _timed(bench.solvers[s], perturbed)[1]
        if took < COMPILES:  # Of so short times the first one is mostly of what is done once.
            took = min(took, *(_timed(bench.solvers[s], perturbed)[1] for _ in range(AGAIN)))
    pictures = None if solution is None else picture_of(bench, solution)
    return replace(
        shown,
        solutions=_put(shown.solutions, s, solution),
        pictures=_put(shown.pictures, s, pictures),
        seconds=_put(shown.seconds, s, took),
        pending=_put(shown.pending, s, False),
    )


def _timed(solver: MapOracle, perturbed: Potentials) -> tuple[Solution, float]:
    """A solver's answer and its seconds."""
    begin = time.perf_counter()
    return solver.solve(perturbed), time.perf_counter() - begin


def _put(row: tuple, place: int, value) -> tuple:
    return (*row[:place], value, *row[place + 1 :])


def picture_of(bench: Bench, solution: Solution) -> Float[np.ndarray, " n"]:
    """p(x_i = 1) of all variables in a solver's answer: fractional where a linear program is."""
    return bench.picture(np.eye(2)[solution.x] if solution.relaxed is None else solution.relaxed[0])


@dataclass(eq=False)
class Tally:
    """What the solvers did under the perturbations so far. A line of `lost` is a solver's energy above the least.

    Of few variables `counts` says how often each state was the maximum, and `codes` which one each time. `answers[s]`
    are a solver's, each in bits as `np.packbits` has them; `totals[s]` is their sum."""

    draws: int = 0
    lost: list[list[float]] = field(default_factory=list)
    uppers: list[list[float]] = field(default_factory=list)
    fractional: list[list[float]] = field(default_factory=list)
    totals: list[np.ndarray] = field(default_factory=list)
    maxima: list[float] = field(default_factory=list)
    counts: np.ndarray | None = None
    codes: list[int] = field(default_factory=list)
    answers: list[list[np.ndarray]] = field(default_factory=list)

    @classmethod
    def of(cls, bench: Bench) -> Tally:
        """Nothing yet."""
        empty: list[list[list[float]]] = [[[] for _ in bench.solvers] for _ in range(3)]
        totals = [np.zeros(bench.target.n) for _ in bench.solvers]
        states = np.zeros(2 ** len(bench.problem.free), np.int64) if len(bench.problem.free) <= LISTED else None
        return cls(0, empty[0], empty[1], empty[2], totals, [], states, answers=[[] for _ in bench.solvers])

    def add(self, bench: Bench, count: int) -> None:
        """The next `count` perturbations."""
        by_solver, known = solved(bench, bench.potentials.unary + bench.noise(self.draws, count))
        for s, solutions in enumerate(by_solver):
            for found, best in zip(solutions, known, strict=False):
                x = bench.problem.all_states(found.x[None])[0]
                self.totals[s] += x
                self.answers[s].append(np.packbits(x.astype(bool)))
                self.uppers[s].append(np.nan if found.upper is None else found.upper)
                self.fractional[s].append(float(found.notes.get("fractional", 0.0)))
                self.lost[s].append(np.nan if best is None else max(0.0, best.value - found.value))
        for best in known:
            self.maxima.append(np.nan if best is None else best.value)
            if self.counts is not None and best is not None:
                self.codes.append(int(best.x @ (1 << np.arange(len(best.x))[::-1])))
                self.counts[self.codes[-1]] += 1
        self.draws += count

    def frozen(self) -> Tally:
        """A copy that later additions leave alone."""
        lost, uppers, fractional = ([list(one) for one in part] for part in (self.lost, self.uppers, self.fractional))
        totals, counts = [one.copy() for one in self.totals], None if self.counts is None else self.counts.copy()
        answers, maxima, codes = [list(one) for one in self.answers], list(self.maxima), list(self.codes)
        return Tally(self.draws, lost, uppers, fractional, totals, maxima, counts, codes, answers)


def solved(bench: Bench, unary: Float[np.ndarray, "b n k"]) -> tuple[list[list[Solution]], list[Solution | None]]:
    """(each solver's solutions, none of those that cannot run; a proved maximum for every unary, None without).

    The exact oracle is asked only for those that no solver proves.
    """
    runs = zip(bench.solvers, bench.refusals, strict=True)
    by_solver = [[] if reason else solver.solve_batch(bench.potentials, unary) for solver, reason in runs]
    known = [next((one[k] for one in by_solver if one and one[k].exact), None) for k in range(len(unary))]
    open_ones, exact = [k for k, best in enumerate(known) if best is None], make_oracle("exact")
    if open_ones and exact.spec.why_not(bench.potentials) is None:
        for k, best in zip(open_ones, exact.solve_batch(bench.potentials, unary[open_ones]), strict=True):
            known[k] = best
    return by_solver, known


# The tree of the unbiased sampler.


@dataclass(frozen=True, eq=False)
class AttemptTree:
    """Attempts of the unbiased sampler: `passed[j]` counts those that fixed each prefix of j variables, `rejected[j]`
    those rejected there, `left[j]` all that have j variables fixed; what the bounds foretell, `shares[j]` of all that
    fix j variables in the bound of the whole, and what was violated before the repair."""

    passed: tuple[Int[np.ndarray, " prefixes"], ...]
    rejected: tuple[Int[np.ndarray, " prefixes"], ...]
    left: tuple[int, ...]
    attempts: int
    accepted: int
    acceptance: float
    log_z: float
    bound: float
    margin: float
    violations: int
    total: int
    shares: tuple[float, ...]

    @property
    def error(self) -> float:
        """Standard error of the share that was accepted."""
        return float(np.sqrt(self.acceptance * (1 - self.acceptance) / self.attempts))


def attempt_tree(bench: Bench, seed: int, levels: int = 5) -> AttemptTree | None:
    """2,000 attempts, their first `levels` variables; None beyond 12 free variables."""
    n = bench.potentials.n
    if not 1 <= n <= TREE_SITES:
        return None
    rng = np.random.default_rng(seed)
    found = Prefixes.of(bench.potentials, gumbels(rng, TREE_BANK, bench.potentials.structure))
    depth, path = found.walk(rng.random((ATTEMPTS, n)))
    passed, rejected = [], []
    for j in range(min(levels, n) + 1):
        here = path[depth >= j, j]
        passed.append(np.bincount(here, minlength=2**j))
        rejected.append(np.bincount(path[depth == j, j], minlength=2**j) if j < n else np.zeros(2**j, np.int64))
    return AttemptTree(
        tuple(passed),
        tuple(rejected),
        tuple(int((depth >= j).sum()) for j in range(n + 1)),
        ATTEMPTS,
        int((depth == n).sum()),
        found.acceptance,
        found.log_z,
        float(found.bound[0]),
        found.margin,
        found.violations,
        found.total,
        tuple(found.shares.tolist()),
    )


def state_law(bench: Bench) -> Float[np.ndarray, " states"] | None:
    """p of every state of up to 10 free variables, the first varying slowest; None beyond."""
    if len(bench.problem.free) > LISTED:
        return None
    theta = np.asarray(table_of(bench.potentials)).ravel()
    return np.exp(theta - np.logaddexp.reduce(theta))


def maxima_law(bench: Bench) -> Float[np.ndarray, " states"]:
    """How often each state of up to three free variables is the maximum under noise, which is logistic: by the middles
    of equal shares of it."""
    table = np.asarray(table_of(bench.potentials))
    share = (np.arange(SHARES[table.ndim]) + 0.5) / SHARES[table.ndim]
    noise = np.stack(np.meshgrid(*[np.log(share / (1 - share))] * table.ndim)).reshape(table.ndim, -1)
    states = np.indices(table.shape).reshape(table.ndim, -1).T
    best = (table.reshape(-1, 1) + states @ noise).argmax(0)
    return np.bincount(best, minlength=table.size) / len(best)


def total_variation(counts: Int[np.ndarray, " m"], p: Float[np.ndarray, " m"]) -> tuple[float, float]:
    """(1/2 sum |share - p|, the mean of the same for as many exact draws)."""
    draws = max(int(counts.sum()), 1)
    return float(np.abs(counts / draws - p).sum() / 2), expected_variation(draws, p)


def expected_variation(draws: int, p: Float[np.ndarray, " m"]) -> float:
    """The mean total variation of so many exact draws."""
    return float(_mean_deviation(draws, p).sum() / (2 * draws))


def _mean_deviation(draws: int, p: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
    """E|X - N p| = 2 (1 - p)^(N - k) p^(k + 1) (k + 1) C(N, k + 1), k = floor(N p), of a binomial X (De Moivre).

    Exact at any N, where the normal law's sqrt(2 N p (1 - p) / pi) is far too large for states that are hardly drawn.
    """
    p = np.clip(p, 0.0, 1.0)
    k = np.floor(draws * p)
    ways = scipy.special.gammaln(draws + 1) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(draws - k)
    return 2 * np.exp(scipy.special.xlog1py(draws - k, -p) + scipy.special.xlogy(k + 1, p) + ways)


def lost_share(lost: list[float], scale: float) -> float:
    """Share of the perturbations under which the solver missed the maximum."""
    known = np.array(lost)[~np.isnan(lost)]
    return float((known > SAME * max(1.0, abs(scale))).mean()) if len(known) else float("nan")


__all__ = [
    "AttemptTree",
    "Bench",
    "Shown",
    "Tally",
    "attempt_tree",
    "expected_variation",
    "lost_share",
    "maxima_law",
    "picture_of",
    "resolved",
    "show",
    "solved",
    "state_law",
    "total_variation",
]
