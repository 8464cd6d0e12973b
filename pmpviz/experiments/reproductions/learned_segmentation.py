"""A conditional random field of drawn scenes, trained: Barrier Frank-Wolfe, section 5, where the weights of its images
are learned ones (Domke 2013), and the claim that its marginals serve for learning.

Neither the paper's images nor their weights are ours to give: four weights, shared by all pixels, are learned from
drawn scenes by maximum likelihood, with the expectations of Gibbs chains, of Frank-Wolfe's marginals and of
tree-reweighted messages, whose bound on the likelihood rises. Errors are of scenes held out; of small scenes the
likelihood is exact.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Float

from pmpviz import exact
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import lines
from pmpviz.learning.optimiser import Optimiser
from pmpviz.marginals import make_solver
from pmpviz.marginals.shared import SharedPotentials
from pmpviz.metrics.boundaries import WIDTH, band_error, squared_band_error
from pmpviz.models.scene_field import SET, WEIGHTS, SceneField, scene_field
from pmpviz.oracles import make_oracle
from pmpviz.runs.field_expectations import BySampler, BySolver, Expectation
from pmpviz.runs.field_training import Example, FieldTraining, evaluate, start, stream
from pmpviz.samplers import make_sampler
from pmpviz.types import Target

NOISE = 0.15
GIBBS, WALK, MESSAGES = "Gibbs", "Frank-Wolfe", "TRBP"
CHOSEN, COLOUR = "set by hand", "colour alone"
PIXELS, BAND, SQUARED = "wrong pixels", "wrong beside the outline", "squared error beside the outline"
BOUND, LIKELIHOOD = "log-likelihood a pixel is at least", "log-likelihood a pixel, exactly"
# Colour alone: the log-odds as they are, and no couplings.
ALONE = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Setting:
    """Pixels of every scene, scenes to learn from and held out, iterations, and what a method may do in one of them:
    MAP calls, sweeps of messages, and sweeps of so many chains; up to so many rows the likelihood is exact."""

    shape: tuple[int, int] = (24, 30)
    train: int = 6
    held: int = 12
    iterations: int = 60
    calls: int = 4
    messages: int = 40
    chains: int = 64
    sweeps: int = 5
    rows: int = 14


FULL = Setting()
QUICK = Setting((14, 18), 4, 8, 30, 3, 30, 32, 4)


def methods(setting: Setting) -> dict[str, Expectation]:
    """Who gives the expectations, by name."""
    pixels = setting.shape[0] * setting.shape[1]
    knobs = {"oracle": "qpbo", "local_search": True, "local_steps": 8, "rho_updates": 0, "tolerance": pixels / 2400}
    return {
        GIBBS: BySampler(make_sampler("colour_gibbs"), setting.chains, setting.sweeps),
        WALK: BySolver(make_solver("barrier_frank_wolfe", **knobs), setting.calls),
        MESSAGES: messages(setting),
    }


def messages(setting: Setting) -> BySolver:
    """Tree-reweighted messages: what all weights are measured by, as well as one of the methods."""
    return BySolver(make_solver("trbp", tolerance=1e-3, sweeps=setting.messages), setting.messages)


def scenes(setting: Setting, first: int, count: int) -> list[Example]:
    """Scenes of consecutive seeds with what was drawn."""
    fields = [scene_field(setting.shape, NOISE, first + k) for k in range(count)]
    return [Example.of(field, field.truth) for field in fields]


def learned(setting: Setting, examples: Sequence[Example], method: Expectation, seed: int) -> FieldTraining:
    """All iterations, from weights that are 0."""
    begun = start(examples, method, jax.random.key(seed), Optimiser(learning_rate=0.05), decay=0.02)
    *_, training = stream(begun, setting.iterations)
    return training


def errors(setting: Setting, examples: Sequence[Example], theta: Float[np.ndarray, " p"]) -> dict[str, float]:
    """Of some weights on held-out scenes: MAP, the likelier side of every pixel, probabilities as such, likelihood."""
    measured, expected = evaluate(examples, theta, messages(setting), jax.random.key(0))
    found: dict[str, list[float]] = {}
    for example, said in zip(examples, expected, strict=True):
        truth = truth_of(example.shared)
        p1 = np.array([row[1] for row in said.marginals]).reshape(truth.shape)
        best = make_oracle("qpbo").solve(example.shared.potentials(theta)).x.reshape(truth.shape) > 0
        for who, side in (("MAP", best), ("marginals", p1 > 0.5)):
            found.setdefault(f"{PIXELS}, {who}", []).append(float((side != truth).mean()))
            found.setdefault(f"{BAND}, {who}", []).append(band_error(side, truth))
        found.setdefault(f"{SQUARED}, marginals", []).append(squared_band_error(p1, truth))
    assert measured.lower is not None
    known = {BOUND: measured.lower}
    if setting.shape[0] <= setting.rows:
        log_z = sum(_exact_log_z(example.shared, theta) for example in examples)
        weight = sum(float(theta @ example.statistics) for example in examples)
        known[LIKELIHOOD] = (weight - log_z) / sum(example.shared.field.n for example in examples)
    return {name: float(np.mean(values)) for name, values in found.items()} | known


def _exact_log_z(shared: SharedPotentials, theta: Float[np.ndarray, " p"]) -> float:
    return exact.solve(Target.of(shared.field.model(theta)), shared.field.tables(theta)).log_z


def truth_of(shared: SharedPotentials) -> np.ndarray:
    """Which pixels are the animal."""
    assert isinstance(shared.field, SceneField)
    return shared.field.scene.mask


def compared(setting: Setting, seed: int) -> tuple[dict[str, float], dict[str, FieldTraining]]:
    """Weights and held-out errors by every method and by those who learn nothing, on other scenes for every seed."""
    both = setting.train + setting.held
    train = scenes(setting, seed * both, setting.train)
    held = scenes(setting, seed * both + setting.train, setting.held)
    trainings: dict[str, FieldTraining] = {}
    found: dict[str, float] = {}
    chosen: dict[str, np.ndarray] = {}
    for name, method in methods(setting).items():
        begin = time.process_time()
        trainings[name] = training = learned(setting, train, method, seed)
        chosen[name] = training.averaged
        found |= {f"{name}: {weight}": float(v) for weight, v in zip(WEIGHTS, chosen[name], strict=True)}
        found[f"{name}: CPU seconds"] = time.process_time() - begin
    chosen |= {CHOSEN: np.array(SET), COLOUR: np.array(ALONE)}
    for name, theta in chosen.items():
        found |= {f"{name}: held out, {what}": value for what, value in errors(setting, held, theta).items()}
    return found, trainings


def crf(request: Request, setting: Setting | None = None) -> Outcome:
    """Rows of all, and the weights over the iterations."""
    setting = setting or (QUICK if request.quick else FULL)
    runs = [compared(setting, seed) for seed in range(request.seeds)]
    names = list(runs[0][1])
    curves = {
        f"{weight}, {name}": np.array([[each.theta[k] for each in trainings[name].trace] for _, trainings in runs])
        for k, weight in enumerate(WEIGHTS)
        for name in names
    }
    span = range(setting.iterations)
    figure = lines(span, curves, "Weights of a segmentation, learned", "iteration", "weight", False)
    return Outcome(rows_of(found for found, _ in runs), figure, _said(setting, [found for found, _ in runs], names))


def _said(setting: Setting, found: Sequence[Mapping[str, float]], names: Sequence[str]) -> tuple[str, ...]:
    def mean(who: str, what: str) -> float:
        return float(np.mean([each[f"{who}: held out, {what}"] for each in found]))

    everyone = (*names, CHOSEN, COLOUR)
    shares = {name: [mean(name, f"{BAND}, {who}") for who in ("MAP", "marginals")] for name in everyone}
    beside = "; ".join(f"{name} {best:.3f} / {likelier:.3f}" for name, (best, likelier) in shares.items())
    return (
        f"{setting.shape[0]} x {setting.shape[1]} pixels, {setting.train} scenes to learn from and {setting.held} held "
        f"out, {setting.iterations} iterations of Adam from 0, weights averaged over the later half",
        f"wrong within {WIDTH:g} pixels of the outline, MAP / likelier side by TRBP's marginals: {beside}",
        "held-out marginals and the bound on the likelihood are TRBP's for all weights, so that they can be compared",
        "the paper takes its weights from Domke (2013) and gives no numbers for its images",
    )


REPRODUCTION = Reproduction(
    "bfw-crf",
    "Barrier Frank-Wolfe, section 5: the weights of a segmentation, learned by marginals and by samples",
    "6 drawn scenes of 24 x 30 pixels to learn from, 12 held out, 60 iterations",
    "4 drawn scenes of 14 x 18 pixels to learn from, 8 held out, 30 iterations",
    2,
    1,
    crf,
    shown="segmentation?preset=crf",
)

__all__ = ["REPRODUCTION", "Setting", "compared", "crf", "errors", "learned", "methods", "scenes"]
