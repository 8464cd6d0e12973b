"""Zhang, Sutton, Storkey and Ghahramani, Figures 2 and 3: marginals and log Z of 10 x 10 grids.

Gibbs sampling is compared under three budgets, since the paper does not say what a sample of it is, and Chib's estimate
at two configurations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from jaxtyping import Float, Int
from scipy.special import log_expit

from pmpviz import exact
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, Row
from pmpviz.experiments.reproductions.figures import bars
from pmpviz.experiments.reproductions.walks import Chains, Walk
from pmpviz.marginals.gaussian_log_z import log_landscape
from pmpviz.marginals.log_z_estimates import Estimate, bridge, log_mean, mirrored
from pmpviz.models import Ising
from pmpviz.oracles import Potentials
from pmpviz.oracles.icm import MultiStart
from pmpviz.samplers.gaussian_gibbs import MAPS, GaussianGibbs
from pmpviz.samplers.gaussian_hmc import COORDINATES, OWN_MAPS, GaussianHMC
from pmpviz.samplers.gibbs import Gibbs
from pmpviz.types import Target

SIDE, DEVIATION = 10, 2.0
# Trajectories that tune the step to an acceptance of 80 %.
WARM_UP = 300
STANDARD, PRINTED, NO_FIELD = "standard", "as printed", "no field"
GIBBS, RAO, BLOCKS, PLAIN, WHITENED = "Gibbs", "Rao-Blackwell Gibbs", "block Gibbs", "HMC, A = I", "HMC, whitened"
EIGEN = OWN_MAPS.index("eigen")
SAMPLERS = {
    GIBBS: (Gibbs(), ("x",)),
    BLOCKS: (GaussianGibbs(map=MAPS.index("eigen"), eps=0.0), ()),
    # The default step suits whitened coordinates; along A = I one that is tuned is several times as long.
    PLAIN: (GaussianHMC(map=EIGEN, coordinates=COORDINATES.index("A = I"), warm_up=WARM_UP), ("z",)),
    # As blocks under the least shift itself: a larger one is needed along A = I alone, whose steps its excess limits.
    WHITENED: (GaussianHMC(map=EIGEN, eps=0.0), ("z",)),
}
SAMPLES, SECONDS, UPDATES = "same samples", "same CPU seconds", "a sample of Gibbs one site's update"
# Who is compared with whom under which budget, and whether the paper's standard grids have the first one ahead.
MARGINALS = (
    (PLAIN, GIBBS, SAMPLES, 1.0),
    (PLAIN, GIBBS, SECONDS, 1.0),
    (PLAIN, GIBBS, UPDATES, 1.0),
    (PLAIN, BLOCKS, SAMPLES, None),
    (WHITENED, BLOCKS, SAMPLES, None),
    (WHITENED, PLAIN, SAMPLES, None),
    (RAO, GIBBS, SAMPLES, None),
)
MIRRORED, BRIDGE, CHIB, CHIB_ZERO = "mirrored, A = I", "bridge, whitened", "Chib, best of ICM", "Chib, s* = 0"
LOG_Z = ((MIRRORED, CHIB, 1.0), (MIRRORED, CHIB_ZERO, 1.0), (BRIDGE, CHIB, None))


@dataclass(frozen=True)
class Setting:
    """Scales of fields and of couplings, runs, samples and burn-in of each, and every how many-th is for log Z."""

    fields: tuple[float, ...]
    couplings: tuple[float, ...]
    runs: int
    samples: int
    burn_in: int
    thin: int
    side: int = SIDE


FULL = Setting((0.5, 1.0, 1.5, 2.0, 2.5, 3.0), (0.5, 1.0, 1.5, 2.0, 2.5, 3.0), 10, 10_000, 2000, 1)
# A tenth of the work for the whole grid of cells: fewer and shorter runs.
QUICK = Setting(FULL.fields, FULL.couplings, 2, 5000, 1000, 4)


def grid(law: str, side: int, fields: float, couplings: float, seed: int) -> Ising:
    """A grid over {0, 1}: w ~ c2 N(0, 4), a ~ c1 N(0, 4), about the sum of a site's w as the paper prints its
    frustrated grids, or about minus half of it, which leaves the spins' fields to chance alone."""
    rng, site = np.random.default_rng([seed, round(10 * fields), round(10 * couplings)]), np.arange(side * side)
    site = site.reshape(side, side)
    i = np.concatenate([site[:, :-1].ravel(), site[:-1].ravel()])
    j = np.concatenate([site[:, 1:].ravel(), site[1:].ravel()])
    w = couplings * rng.normal(0, DEVIATION, len(i))
    sums = np.bincount(i, w, side * side) + np.bincount(j, w, side * side)
    noise = fields * rng.normal(0, DEVIATION, side * side)
    middle: dict[str, Float[np.ndarray, " n"]] = {STANDARD: 0 * sums, PRINTED: fields * sums, NO_FIELD: -sums / 2}
    return Ising.from_edges(noise + middle[law], i, j, w)


def log_reach(target: Target, x: Int[np.ndarray, "k n"], goal: Int[np.ndarray, " n"]) -> Float[np.ndarray, " k"]:
    """log of the probability that a Gibbs sweep from each x ends in `goal`: sites before the one drawn are there."""
    w = np.asarray(target.model.couplings.matrix(), np.float64)
    field = np.asarray(target.model.bias, np.float64) + x @ np.tril(w, -1) + goal @ np.triu(w, 1)
    return log_expit(np.where(goal, field, -field)).sum(1)


def chib(target: Target, x: Int[np.ndarray, "k n"], goal: Int[np.ndarray, " n"]) -> float:
    """log Z = log weight(s*) - log mean T(s* <- x)."""
    bias, i, j, w = target.model.pairwise()
    return float(goal @ bias + (goal[i] * goal[j]) @ w) - log_mean(log_reach(target, x, goal)).log


def _log_zs(target: Target, walked: dict[str, Walk], prepared: dict, thin: int) -> dict[str, list[float]]:
    """log Z of every run by each estimator."""
    best = np.asarray(MultiStart(20).solve(Potentials.of_target(target)[0]).x, np.int64)
    goals = {CHIB: best, CHIB_ZERO: np.zeros_like(best)}
    x = walked[GIBBS].x
    assert x is not None
    found = {name: [chib(target, row, goal) for row in x[::thin].swapaxes(0, 1)] for name, goal in goals.items()}
    fits: dict[str, tuple[str, Callable[..., Estimate]]] = {
        MIRRORED: (PLAIN, mirrored),
        BRIDGE: (WHITENED, partial(bridge, rng=np.random.default_rng(0))),
    }
    for name, (sampler, estimator) in fits.items():
        z = walked[sampler].z
        assert z is not None
        shift = float(target.model.constant) - 0.5 * z.shape[2] * np.log(2 * np.pi)
        landscape = partial(log_landscape, prepared[sampler])
        rows = z[::thin].swapaxes(0, 1).astype(np.float64)
        found[name] = [estimator(row, landscape).log + shift for row in rows]
    return found


def few_updates(target: Target, setting: Setting, seed: int) -> Float[np.ndarray, "t n"]:
    """Gibbs' frequencies where a sample, also of those before the first that counts, is one site's update."""
    skipped, sweeps = (max(round(count / target.n), 1) for count in (setting.burn_in, setting.samples))
    x = Chains.begun(Gibbs(), target, seed, setting.runs, 0, ("x",)).walk(skipped + sweeps).x
    assert x is not None
    return x[skipped : skipped + sweeps].mean(0)


def cell(law: str, setting: Setting, fields: float, couplings: float, seed: int) -> dict[tuple[str, str], float]:
    """Of one grid: MSE of the marginals by (method, budget), RMSE of log Z and CPU seconds by (method, word)."""
    target = Target.of(grid(law, setting.side, fields, couplings, seed))
    truth, walked, prepared = exact.solve(target), {}, {}
    for name, (algorithm, kept) in SAMPLERS.items():
        chains = Chains.begun(algorithm, target, seed, setting.runs, setting.burn_in, kept)
        prepared[name] = getattr(chains.target.prepared, "relaxation", None)
        walked[name] = chains.walk(setting.samples)
    found = {("CPU seconds", name): walk.seconds for name, walk in walked.items()}
    means = {name: walk.counted if name == GIBBS else walk.expected for name, walk in walked.items()}
    means[RAO] = walked[GIBBS].expected

    def mse(name: str, blocks: int | None = None) -> float:
        return float(((means[name][:blocks].mean(0) - truth.p1) ** 2).mean())

    for name in means:
        found[name, SAMPLES] = mse(name)
        pace = walked[GIBBS].seconds / walked.get(name, walked[GIBBS]).seconds
        found[name, SECONDS] = mse(name, min(max(round(pace * len(means[name])), 1), len(means[name])))
        found[name, UPDATES] = found[name, SAMPLES]
    found[GIBBS, UPDATES] = float(((few_updates(target, setting, seed) - truth.p1) ** 2).mean())
    for name, values in _log_zs(target, walked, prepared, setting.thin).items():
        found[name, "log Z"] = float(np.sqrt(((np.array(values) - truth.log_z) ** 2).mean()))
    return found


def _compared(cells: list[dict], one: tuple[str, str], other: tuple[str, str]) -> tuple[float, float]:
    """(share of the cells in which the first errs less, geometric mean of the ratio of errors)."""
    ratio = np.array([each[one] / each[other] for each in cells])
    return float((ratio < 1).mean()), float(np.exp(np.log(ratio).mean()))


def _rows(law: str, cells: list[dict]) -> list[Row]:
    rows = []
    for one, other, budget, rank in MARGINALS:
        share, ratio = _compared(cells, (one, budget), (other, budget))
        words = f"{one} over {other}, {budget}, {law}"
        rows.append(Row(f"marginals, cells won: {words}", _rank(law, rank, False), share))
        rows.append(Row(f"marginals, ratio of MSE: {words}", None, ratio))
    for first, second, rank in LOG_Z:
        share, _ = _compared(cells, (first, "log Z"), (second, "log Z"))
        rows.append(Row(f"log Z, cells won: {first} over {second}, {law}", _rank(law, rank, True), share))
    for name in (MIRRORED, BRIDGE, CHIB, CHIB_ZERO):
        rows.append(
            Row(f"log Z, median RMSE: {name}, {law}", None, float(np.median([c[name, "log Z"] for c in cells])))
        )
    for name in (GIBBS, PLAIN, WHITENED):
        rows.append(Row(f"median MSE, {name}, {law}", None, float(np.median([c[name, SAMPLES] for c in cells]))))
    for name in SAMPLERS:
        rows.append(Row(f"CPU seconds, {name}, {law}", None, sum(c["CPU seconds", name] for c in cells)))
    return rows


def _rank(law: str, rank: float | None, of_log_z: bool) -> float | None:
    """Of the frustrated grids the paper has HMC's marginals somewhat behind, and its log Z still ahead."""
    return rank if rank is None or law == STANDARD or of_log_z else 0.0


def _reading(law: str, cells: list[dict]) -> str:
    """Under which reading the paper's ranking is found."""
    shares = [_compared(cells, (PLAIN, b), (GIBBS, b))[0] for b in (SAMPLES, SECONDS, UPDATES)]
    icm, zero = (_compared(cells, (MIRRORED, "log Z"), (other, "log Z"))[0] for other in (CHIB, CHIB_ZERO))
    return (
        f"{law}: {PLAIN} is ahead of Gibbs in {shares[0]:.0%} of the cells at the same samples, {shares[1]:.0%} at the "
        f"same CPU seconds, {shares[2]:.0%} if a sample of Gibbs is one site's update; its mirrored log Z is ahead of "
        f"Chib's in {icm:.0%} at a good s*, {zero:.0%} at s* = 0"
    )


def run(laws: tuple[str, ...], request: Request, setting: Setting | None = None) -> Outcome:
    """All cells of each law; a model a cell and seed."""
    setting = setting or (QUICK if request.quick else FULL)
    cells = {
        law: [
            cell(law, setting, c1, c2, seed)
            for c1, c2 in product(setting.fields, setting.couplings)
            for seed in range(request.seeds)
        ]
        for law in laws
    }
    rows = tuple(row for law in laws for row in _rows(law, cells[law]))
    won = [f"{one} over {other}, {budget}" for one, other, budget, _ in MARGINALS]
    shares = {law: [_compared(cells[law], (one, b), (other, b))[0] for one, other, b, _ in MARGINALS] for law in laws}
    figure = bars(won, shares, "Marginals of 10 x 10 grids", "share of the cells won")
    notes = (
        "the paper prints colours, not numbers: 1 in its column says that it ranks the first one ahead, 0 behind",
        f"{len(setting.fields) * len(setting.couplings)} cells, {setting.runs} runs of {setting.samples:,} samples, "
        f"{setting.burn_in:,} before; Gibbs by frequencies, as in the paper; log Z by every {setting.thin}th sample",
        f"the step of {PLAIN} is tuned by {WARM_UP} trajectories to an acceptance of 80 %; the paper has about 90 %",
        "equal seconds are the whole walk of Gibbs against the first samples of the other that took as long",
        *(_reading(law, cells[law]) for law in laws),
    )
    if PRINTED in laws:
        medians = [float(np.median([each[GIBBS, SAMPLES] for each in cells[law]])) for law in laws]
        said = ", ".join(f"{law} {median:.2g}" for law, median in zip(laws, medians, strict=True))
        notes += (f"how hard a law is, by the median MSE of Gibbs: {said}",)
    return Outcome(rows, figure, notes)


_FULL = "10 x 10 grids, c1 and c2 from .5 to 3, 36 cells, 10 runs of 10,000 samples after 2,000, 5 leapfrog steps"
_QUICK = "all 36 cells, 2 runs of 5,000 samples after 1,000, the rest as above"
STANDARD_GRIDS = Reproduction(
    "dhmc-2",
    "Hamiltonian Monte Carlo on grids",
    _FULL,
    _QUICK,
    1,
    1,
    partial(run, (STANDARD,)),
    shown="race?preset=gaussians",
)
FRUSTRATED = Reproduction(
    "dhmc-3",
    "Hamiltonian Monte Carlo on frustrated grids, as printed and without a field",
    _FULL,
    _QUICK,
    1,
    1,
    partial(run, (PRINTED, NO_FIELD)),
    shown="race?preset=gaussian-coordinates",
)

__all__ = ["FRUSTRATED", "STANDARD_GRIDS", "chib", "grid"]
