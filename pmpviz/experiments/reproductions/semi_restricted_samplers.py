"""Martens and Sutskever 2010, 5.2: effective draws by sequential and by block Gibbs sampling; what the shift costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pmpviz.experiments.reproductions import hx_statistic, machines
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import bars, lines
from pmpviz.experiments.reproductions.hx_statistic import STEPS, Statistic
from pmpviz.experiments.reproductions.machines import BLOCKS, EQUIVALENT, KINDS, SEMI, SEQUENTIAL, Learning
from pmpviz.experiments.reproductions.walks import Chains, Walk
from pmpviz.metrics.autoregression import site_autoregressive_ess
from pmpviz.models import SRBM
from pmpviz.samplers.gaussian_gibbs import GaussianGibbs
from pmpviz.samplers.gibbs import Gibbs
from pmpviz.types import Target

# Table 1, the rows of MNIST.
PAPER = {(SEMI, SEQUENTIAL): 377.0, (SEMI, BLOCKS): 218.0, (EQUIVALENT, SEQUENTIAL): 401.0, (EQUIVALENT, BLOCKS): 416.0}
# Ratios of its rows of USPS.
USPS = {SEMI: 264 / 153, EQUIVALENT: 188 / 142}
LEAST, MOST = 0.1, 4.0


@dataclass(frozen=True)
class Setting:
    """The machine; chains, their sweeps, and those before the first that counts; what enlarges the shift, and by how
    many chains the covariances are come by."""

    learning: Learning
    chains: int
    sweeps: int
    burn_in: int
    epsilons: tuple[float, ...]
    statistic: Statistic


FULL = Setting(machines.FULL, 4, 15_000, 1000, (0.001, 0.1, 0.5, 1.0, 2.0, 4.0), hx_statistic.FULL)
QUICK = Setting(machines.QUICK, 4, 3000, 500, (0.001, 0.1, 4.0), hx_statistic.QUICK)


def effective(model: SRBM, algorithm, setting: Setting, seed: int) -> tuple[float, Walk]:
    """Effective draws of a chain, the median over the visible sites and over the chains; and the walk."""
    target = Target.of(model)
    begun = Chains.begun(algorithm, target, seed, setting.chains, setting.burn_in, ("x",), rao_blackwell=False)
    walk = begun.walk(setting.sweeps)
    assert walk.x is not None
    found = site_autoregressive_ess(walk.x[..., : model.visible].swapaxes(0, 1)).value
    assert found is not None
    return found, walk


def _ess_of(setting: Setting, seed: int, keep=None) -> dict[str, float]:
    found: dict[str, float] = {}
    for kind in KINDS:
        model = machines.machine(kind, setting.learning, seed, keep)
        for name, algorithm in machines.samplers(model).items():
            ess, walk = effective(model, algorithm, setting, seed)
            found |= {f"effective draws, {kind}, {name}": ess, f"CPU seconds, {kind}, {name}": walk.seconds}
        sequential, blocks = (found[f"effective draws, {kind}, {name}"] for name in (SEQUENTIAL, BLOCKS))
        found[_ratio(kind)] = sequential / blocks
    return found


def _ratio(kind: str) -> str:
    return f"effective draws, sequential over blocks, {kind}"


def run_ess(request: Request, setting: Setting | None = None) -> Outcome:
    """Effective draws of either sampler on either machine."""
    setting = setting or (QUICK if request.quick else FULL)
    found = [_ess_of(setting, seed, request.keep) for seed in range(request.seeds)]
    paper = {f"effective draws, {kind}, {name}": draws for (kind, name), draws in PAPER.items()}
    paper |= {_ratio(kind): PAPER[kind, SEQUENTIAL] / PAPER[kind, BLOCKS] for kind in KINDS}
    rows = rows_of(found, paper)
    ours = {row.quantity: row.ours for row in rows}
    series = {name: [ours[f"effective draws, {kind}, {name}"] for kind in KINDS] for name in (SEQUENTIAL, BLOCKS)}
    figure = bars(tuple(KINDS), series, "Effective draws of a chain", "effective draws")
    notes = (
        f"{setting.chains} chains of {setting.sweeps:,} sweeps after {setting.burn_in:,}, the median over the pixels "
        "and the chains, by autoregressive models as the paper's CODA; its figures are of 15,000 sweeps of MNIST: "
        "compare the ratios, of equal lengths",
        setting.learning.words,
        *(_found(kind, ours[_ratio(kind)]) for kind in KINDS),
    )
    return Outcome(rows, figure, notes)


def _found(kind: str, ratio: float) -> str:
    """Whose order is found: of an equivalent RBM the paper has two."""
    mnist, usps = PAPER[kind, SEQUENTIAL] / PAPER[kind, BLOCKS], USPS[kind]
    return (
        f"{kind}: {ratio:.2f} draws by sequential Gibbs for one by blocks; in the paper {mnist:.2f} on MNIST, whose "
        f"order {_is(ratio, mnist)} found, and {usps:.2f} on USPS, whose order {_is(ratio, usps)}"
    )


def _is(ours: float, papers: float) -> str:
    return "is" if (ours > 1) == (papers > 1) else "is not"


def _by_epsilon(setting: Setting, seed: int, keep=None) -> dict[str, float]:
    model = machines.machine(SEMI, setting.learning, seed, keep)
    known = hx_statistic.truth(model, Gibbs(), setting.statistic, seed)
    found: dict[str, float] = {}
    for eps in setting.epsilons:
        algorithm = GaussianGibbs(eps=eps)
        found[_draws(eps)] = effective(model, algorithm, setting, seed)[0]
        each = hx_statistic.errors(model, algorithm, known, setting.statistic, seed)
        found |= {_error(eps, k): e for k, e in zip(STEPS, each, strict=True)}
    first = setting.epsilons[0]
    found[f"effective draws, eps = {LEAST:g} over {MOST:g}"] = found[_draws(LEAST)] / found[_draws(MOST)]
    found[f"error of Cov(h, x), eps = {MOST:g} over {first:g}"] = (
        found[_error(MOST, STEPS[-1])] / found[_error(first, STEPS[-1])]
    )
    return found


def _draws(eps: float) -> str:
    return f"effective draws, eps = {eps:g}"


def _error(eps: float, steps: int) -> str:
    return f"error of Cov(h, x), eps = {eps:g}, step {steps}"


def run_epsilon(request: Request, setting: Setting | None = None) -> Outcome:
    """Errors of the covariances of hidden and visible units, and effective draws, by how much the shift exceeds the
    least."""
    setting = setting or (QUICK if request.quick else FULL)
    found = [_by_epsilon(setting, seed, request.keep) for seed in range(request.seeds)]
    curves = {
        f"eps = {eps:g}": np.array([[one[_error(eps, k)] for k in STEPS] for one in found]) for eps in setting.epsilons
    }
    figure = lines(STEPS, curves, "The shift and mixing", "steps", "relative error of Cov(h, x)")
    figure.update_yaxes(type="log")
    last = np.mean([[one[_error(eps, STEPS[-1])] for eps in setting.epsilons] for one in found], 0)
    notes = (
        f"{setting.chains} chains of {setting.sweeps:,} sweeps for the effective draws, all of one length; "
        f"{setting.statistic.chains} chains for the errors, the truth by sequential Gibbs",
        setting.learning.words,
        "the paper prints curves, and says that a larger eps mixes ever worse: "
        + (
            "the errors rise with every eps here"
            if (np.diff(last) > 0).all()
            else "the largest eps does here, in between the errors do not rise with every one"
            if last.argmax() == len(last) - 1
            else "not found here at this length"
        ),
    )
    return Outcome(rows_of(found), figure, notes)


_FULL = "MNIST's test digits at 16 x 16, 40 hidden units, 20,000 updates; 4 chains of 15,000 sweeps"
_QUICK = "4,000 of the digits, 4,000 updates; 4 chains of 3,000 sweeps"
ESS = Reproduction(
    "ms-ess",
    "Effective draws on semi-restricted machines",
    _FULL,
    _QUICK,
    1,
    1,
    run_ess,
    keeps=True,
    shown="race?preset=semi-restricted",
)
EPSILON = Reproduction(
    "ms-epsilon",
    "The shift and mixing",
    f"{_FULL}; eps from .001 to 4",
    f"{_QUICK}; eps .001, .1 and 4",
    1,
    1,
    run_epsilon,
    keeps=True,
    shown="race?preset=shift",
)

__all__ = ["EPSILON", "ESS", "effective"]
