"""Martens and Sutskever, section 6: a state that Gaussian block Gibbs sampling leaves ever more rarely.

log p(x) = x_1 t^2 / 2 + x_2 t^2 - x_1 x_2 t^2, begun at (1, 0). Under the shift D = (t^2, 2 t^2) the typical Gaussians
give it back with probability sigmoid(t^2)^2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import jax
import numpy as np
from jaxtyping import Float
from scipy.special import expit

from pmpviz import keys
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import lines
from pmpviz.models import Ising
from pmpviz.models.gaussian import relax_by, uniform_shift
from pmpviz.samplers.gaussian_gibbs import GaussianGibbs
from pmpviz.types import Target

START = np.array([1, 0], np.int8)
NODES = 120
PAPERS, UNIFORM = "D = (t^2, 2 t^2)", "least uniform D"


@dataclass(frozen=True)
class Setting:
    """The t's, how many chains make one sweep each, and how many trials a call computes."""

    ts: tuple[float, ...]
    trials: int
    most: int = 100_000


FULL = Setting((2.0, 3.0, 4.0, 5.0), 1_000_000)
QUICK = Setting((2.0, 3.0, 4.0), 100_000)


def model(t: float) -> Ising:
    """The two variables of the section."""
    return Ising.from_edges(np.array([t**2 / 2, t**2]), np.array([0]), np.array([1]), np.array([-(t**2)]))


def _parts(t: float) -> tuple[Float[np.ndarray, "2 2"], Float[np.ndarray, " 2"]]:
    return np.array([[0.0, -(t**2)], [-(t**2), 0.0]]), np.array([t**2 / 2, t**2])


def shifts(t: float) -> dict[str, Float[np.ndarray, " 2"]]:
    """The shift of the section, and the least one that is the same for both variables."""
    return {PAPERS: np.array([t**2, 2 * t**2]), UNIFORM: uniform_shift(_parts(t)[0])}


def expected(t: float, d: Float[np.ndarray, " 2"]) -> float:
    """P(the next state is another), by Gauss and Hermite's quadrature over z ~ N(B's, I)."""
    matrix, bias = _parts(t)
    root = np.linalg.cholesky(matrix + np.diag(d) + 1e-12 * np.eye(2))
    node, weight = np.polynomial.hermite_e.hermegauss(NODES)
    weight = weight / weight.sum()
    z = root.T @ START + np.stack(np.meshgrid(node, node, indexing="ij"), -1)
    stay = expit(np.where(START, 1, -1) * (z @ root.T + bias - d / 2)).prod(-1)
    return float(1 - weight @ stay @ weight)


@jax.jit
def _left(target: Target, words):
    """Which chains one sweep takes away from (1, 0)."""
    own, algorithm = jax.random.wrap_key_data(words), GaussianGibbs()
    x0 = np.tile(START, (len(words), 1))
    state, _ = algorithm.step_tile(keys.fold_in(own, 1), target, algorithm.init_tile(own, target, x0))
    return (algorithm.position_tile(target, state) != x0).any(1).sum()


def frequency(t: float, d: Float[np.ndarray, " 2"], trials: int, seed: int, most: int = 100_000) -> float:
    """The share of trials, each one sweep of the sampler begun at (1, 0), that end elsewhere."""
    target = Target.of(model(t))
    target = replace(target, prepared=relax_by(*_parts(t), d))
    root = keys.fold_words(keys.words_of(jax.random.key(seed)), keys.STEP)
    parts = [np.arange(first, min(first + most, trials)) for first in range(0, trials, most)]
    return sum(int(_left(target, keys.fold_words(root, part))) for part in parts) / trials


def _one_seed(setting: Setting, seed: int) -> dict[str, float]:
    found: dict[str, float] = {}
    for t in setting.ts:
        for name, d in shifts(t).items():
            p, ours = expected(t, d), frequency(t, d, setting.trials, seed, setting.most)
            found[f"leaves (1, 0), t = {t:g}, {name}"] = ours
            found[f"its expectation, t = {t:g}, {name}"] = p
            found[f"away from it in standard errors, t = {t:g}, {name}"] = (ours - p) / np.sqrt(
                p * (1 - p) / setting.trials
            )
        found[f"at the typical Gaussians, t = {t:g}, {PAPERS}"] = typical(t)
    return found


def typical(t: float) -> float:
    """1 - sigmoid(t^2)^2: P(another state) where z is at its mean, under the section's shift."""
    return float(1 - expit(t**2) ** 2)


def run(request: Request, setting: Setting | None = None) -> Outcome:
    """How often one sweep leaves (1, 0), under both shifts."""
    setting = setting or (QUICK if request.quick else FULL)
    found = [_one_seed(setting, seed) for seed in range(request.seeds)]
    heads = {name: f"leaves (1, 0), t = {{t:g}}, {name}" for name in (PAPERS, UNIFORM)}
    heads |= {f"expected, {name}": f"its expectation, t = {{t:g}}, {name}" for name in (PAPERS, UNIFORM)}
    heads["at the typical Gaussians"] = f"at the typical Gaussians, t = {{t:g}}, {PAPERS}"
    curves = {
        label: np.array([[one[head.format(t=t)] for t in setting.ts] for one in found]) for label, head in heads.items()
    }
    figure = lines(setting.ts, curves, "Leaving the state (1, 0)", "t", "share of sweeps", log_x=False)
    figure.update_yaxes(type="log")
    notes = (
        f"{setting.trials:,} sweeps of Gaussian block Gibbs for each t and shift; the expectation is by quadrature",
        "the paper says that the chain stays, and prints no frequency: it does, ever longer as t grows",
        "the paper's reading is that of the typical Gaussians; the rare ones leave far more often than they do",
        "the least uniform shift leaves more often at every t, so D is a matter of choice here",
    )
    return Outcome(rows_of(found), figure, notes)


REPRODUCTION = Reproduction(
    "ms-failure",
    "A state that the Gaussian sampler hardly leaves",
    "two variables, t = 2, 3, 4, 5, 1,000,000 sweeps from (1, 0), the paper's shift and the least uniform one",
    "t = 2, 3, 4, 100,000 sweeps",
    1,
    1,
    run,
    shown="landscape?preset=failure",
)

__all__ = ["REPRODUCTION", "expected", "frequency", "shifts", "typical"]
