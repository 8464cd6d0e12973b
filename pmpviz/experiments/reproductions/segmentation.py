"""Segmentations of drawn scenes of 12,000 pixels: Barrier Frank-Wolfe, section 5 (Horses), and averaged samples against
the MAP configuration (Hazan, Maji and Jaakkola).

Neither paper's images are ours to give: drawn animals stand for them, and the weights are set, not learnt. Neither
gives numbers for its images. What averaged samples are for in Hazan, Maji and Jaakkola's picture is to estimate how far
off an annotated boundary is: at every pixel of it the distance to the true outline, which is not known, estimated by
the distance to the MAP's or by its mean over samples. Two annotations stand for theirs: the true outline itself, and
one that leaves out what is thin. Beside it stand the errors of the segmentations themselves: the share of pixels on the
wrong side among those at most 3 pixels from the true outline, and the mean distance between the outlines.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
import scipy
from jaxtyping import Bool, Float

from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, row, rows_of
from pmpviz.experiments.reproductions.figures import lines
from pmpviz.marginals import make_solver, stream
from pmpviz.marginals.perturbation import gumbels, perturbed_maxima
from pmpviz.metrics.boundaries import (
    WIDTH,
    band_error,
    expected_band_error,
    outline,
    outline_distance,
    squared_band_error,
    to_outline,
)
from pmpviz.models import build_spec
from pmpviz.models.segmentation import Scene, drawn_scene
from pmpviz.oracles import Potentials, make_oracle
from pmpviz.runs import sample
from pmpviz.samplers import make_sampler
from pmpviz.types import Target

NOISE, SMOOTHNESS, CONTRAST = 0.15, 0.8, 0.8
# Couplings that are the same everywhere, and those that differences of colour weaken.
CONTRASTS = (0.0, CONTRAST)
COLOUR, MAP, AVERAGED, ONE = "colour alone", "MAP", "averaged samples", "one sample"
WALKED, MESSAGES, GIBBS = "Frank-Wolfe", "TRBP", "Gibbs"
BAND, OUTLINES = "wrong beside the outline", "pixels between outlines"
GAIN = f"{BAND}, {MAP} less {AVERAGED}"
# As probabilities: the mean square of what they miss. The MAP's, of 0 and 1 alone, is its share of wrong pixels.
SQUARED = "squared error beside the outline"
SQUARED_GAIN = f"{SQUARED}, {MAP} less {AVERAGED}"

# How far an annotated boundary is off, estimated: mean |estimate - truth| along it, in pixels.
CAREFUL, HURRIED, THIN = "careful annotation", "hurried annotation", 2
ESTIMATE = "pixels that its error is misjudged by"

ESTIMATES = tuple(f"{CAREFUL}, {ESTIMATE}, {name}" for name in (MAP, AVERAGED))
MEASURES = (f"{BAND}, {MAP}", f"{BAND}, {AVERAGED}", f"{SQUARED}, {AVERAGED}")

Found = Mapping[tuple[float, float], list[dict[str, float]]]


@dataclass(frozen=True)
class Setting:
    """Pixels; MAP calls at each of so many updates of rho, sweeps of TRBP and of Gibbs, and Gibbs's chains; perturbed
    maxima of every scene, at each of these couplings, constant and weakened by contrast."""

    shape: tuple[int, int] = (100, 120)
    calls: int = 25
    updates: int = 1
    sweeps: int = 300
    chains: int = 256
    samples: int = 40
    smoothnesses: tuple[float, ...] = (0.5, 1.0, 2.0)


FULL = Setting()
QUICK = Setting((50, 60), 12, 1, 150, 64, 24, (0.5, 1.5))


@dataclass(frozen=True, eq=False)
class Instance:
    """A scene with its model."""

    scene: Scene
    target: Target
    potentials: Potentials

    @classmethod
    def of(
        cls, shape: tuple[int, int], seed: int, smoothness: float = SMOOTHNESS, contrast: float = CONTRAST
    ) -> Instance:
        """The scene of a seed, segmented with these couplings."""
        size = "x".join(map(str, shape))
        knobs = f"noise={NOISE},smoothness={smoothness},contrast={contrast},seed={seed}"
        target = Target.of(build_spec(f"segmentation:{size},{knobs}"))
        return cls(drawn_scene(shape, NOISE, seed), target, Potentials.of_target(target)[0])

    def errors(self, name: str, p1: Float[np.ndarray, " n"]) -> dict[str, float]:
        """Of the likelier side of every pixel, by what is measured and who says it."""
        truth = self.scene.mask
        found = np.reshape(p1, truth.shape) > 0.5
        return {f"{BAND}, {name}": band_error(found, truth), f"{OUTLINES}, {name}": outline_distance(found, truth)}


# Hazan, Maji and Jaakkola: averaged samples.


def perturbed(instance: Instance, samples: int, seed: int) -> Float[np.ndarray, "m n"]:
    """argmax_x theta(x) + sum_i gamma_i(x_i) under so many draws of the noise, by minimum cuts."""
    noise = gumbels(np.random.default_rng(seed), samples, instance.potentials.structure)
    return perturbed_maxima(instance.potentials, noise, make_oracle("graph_cut")).x.astype(np.float64)


def annotated(truth: Bool[np.ndarray, "h w"]) -> dict[str, Bool[np.ndarray, "h w"]]:
    """The true mask, and it without what no disc of radius 2 fits into: legs, ears, tail."""
    y, x = np.mgrid[-THIN : THIN + 1, -THIN : THIN + 1]
    return {CAREFUL: truth, HURRIED: scipy.ndimage.binary_opening(truth, x * x + y * y <= THIN * THIN)}


def misjudged(truth: Bool[np.ndarray, "h w"], best, samples) -> dict[str, float]:
    """Mean |estimated - true distance to the outline| along each annotation's, by the MAP and by averaged samples."""
    true = to_outline(truth)
    found: dict[str, float] = {}
    estimates = {MAP: to_outline(best), AVERAGED: np.mean([to_outline(one) for one in samples], 0)}
    for words, mask in annotated(truth).items():
        along = outline(mask)
        errors = {
            name: float(np.abs(guess - true)[along].mean()) if along.any() else 0.0 for name, guess in estimates.items()
        }
        found |= {f"{words}, {ESTIMATE}, {name}": error for name, error in errors.items()}
        found[gain_of(words)] = errors[MAP] - errors[AVERAGED]
    return found


def gain_of(annotation: str) -> str:
    """The row that says how much nearer averaged samples estimate an annotation's error."""
    return f"{annotation}, {ESTIMATE}, {MAP} less {AVERAGED}"


def against_map(setting: Setting, seed: int, smoothness: float, contrast: float) -> dict[str, float]:
    """Errors of the maximum and of the average of perturbed maxima, on one scene."""
    instance, begin = Instance.of(setting.shape, seed, smoothness, contrast), time.process_time()
    best = make_oracle("graph_cut").solve(instance.potentials)
    assert best.exact
    cut, begin = time.process_time() - begin, time.process_time()
    found = perturbed(instance, setting.samples, seed)
    sampled, truth = time.process_time() - begin, instance.scene.mask
    average = found.mean(0)
    alone = expected_band_error(average.reshape(truth.shape), truth)
    errors = instance.errors(MAP, best.x) | instance.errors(AVERAGED, average) | {f"{BAND}, {ONE}": alone}
    errors[GAIN] = errors[f"{BAND}, {MAP}"] - errors[f"{BAND}, {AVERAGED}"]
    errors[f"{SQUARED}, {AVERAGED}"] = squared_band_error(average.reshape(truth.shape), truth)
    errors[SQUARED_GAIN] = errors[f"{BAND}, {MAP}"] - errors[f"{SQUARED}, {AVERAGED}"]
    errors |= misjudged(truth, np.reshape(best.x, truth.shape) > 0, found.reshape(-1, *truth.shape) > 0.5)
    return errors | {f"CPU seconds, {MAP}": cut, f"CPU seconds, {AVERAGED}": sampled}


def averaged(request: Request, setting: Setting | None = None) -> Outcome:
    """Errors against the coupling, and each method at the coupling that is best for it on the other scenes."""
    setting = setting or (QUICK if request.quick else FULL)
    found = {
        (contrast, J): [against_map(setting, seed, J, contrast) for seed in range(request.seeds)]
        for contrast in CONTRASTS
        for J in setting.smoothnesses
    }
    rows = [
        replace(each, quantity=f"{_named(where)}: {each.quantity}")
        for where, scenes in found.items()
        for each in rows_of(scenes)
    ]
    chosen = {name: _held_out(_errors(found.values(), name)) for name in (*MEASURES, *ESTIMATES)}
    rows += [row(f"J by the other scenes: {name}", values) for name, values in chosen.items()]
    curves = {
        f"{name}, contrast {contrast:g}": _errors((found[contrast, J] for J in setting.smoothnesses), name)
        for contrast in CONTRASTS
        for name in MEASURES
    }
    figure = lines(setting.smoothnesses, curves, "Boundary error of drawn scenes", "coupling J", "error", False)
    return Outcome(tuple(rows), figure, _said(setting, found, chosen))


def _named(where: tuple[float, float]) -> str:
    return f"contrast {where[0]:g}, J = {where[1]:g}"


def _errors(found: Iterable[list[dict[str, float]]], name: str) -> Float[np.ndarray, "seeds couplings"]:
    return np.array([[each[name] for each in scenes] for scenes in found]).T


def _held_out(errors: Float[np.ndarray, "seeds couplings"]) -> Float[np.ndarray, " seeds"]:
    """Of each scene the error at the coupling whose mean over all other scenes is least."""
    count = len(errors)
    others = errors if count == 1 else (errors.sum(0) - errors) / (count - 1)
    return errors[np.arange(count), others.argmin(1)]


def _said(setting: Setting, found: Found, chosen: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    best, likelier, squared, by_map, by_average = (float(values.mean()) for values in chosen.values())
    return (
        f"{setting.shape[0]} x {setting.shape[1]} pixels, {setting.samples} perturbed maxima a scene, all exact cuts; "
        f"errors within {WIDTH:g} pixels of the true outline; {ONE}: their mean error one by one",
        *(f"error of the {words}, as the poster: {_ahead(found, gain_of(words))}" for words in (CAREFUL, HURRIED)),
        f"each pixel on its likelier side: {_ahead(found, GAIN)}",
        f"as probabilities, by their squared error: {_ahead(found, SQUARED_GAIN)}",
        f"at the couplings that the other scenes choose: MAP {best:.3f}, {AVERAGED} {likelier:.3f} by the likelier "
        f"side and {squared:.3f} as probabilities; the error of the {CAREFUL} is misjudged by {by_map:.2f} pixels "
        f"and by {by_average:.2f}",
        "the poster shows pictures and gives no number: thin parts that the MAP loses come back in the average, and "
        "lead to better estimates of an annotated boundary's error; it does not say that the average segments better",
    )


def _ahead(found: Found, gain: str) -> str:
    """Where the averaged samples beat the MAP on average over the scenes, and where not."""
    means = {_named(where): float(np.mean([each[gain] for each in scenes])) for where, scenes in found.items()}
    ahead, behind = ("; ".join(name for name, each in means.items() if (each > 0) == sign) for sign in (True, False))
    return f"{AVERAGED} beat the MAP at {ahead or 'no coupling'}" + (f", and not at {behind}" if behind else "")


# Barrier Frank-Wolfe: marginals.


def _walk(setting: Setting, updates: int) -> Any:
    knobs = {"oracle": "qpbo", "local_search": True, "tolerance": setting.shape[0] * setting.shape[1] / 1200}
    return make_solver("barrier_frank_wolfe", rho_updates=updates, calls_per_rho=setting.calls, **knobs)


def marginals(setting: Setting, seed: int) -> dict[str, float]:
    """Errors of MAP, Frank-Wolfe at its first and last rho, TRBP and Gibbs on one scene, and what the walk cost."""
    instance = Instance.of(setting.shape, seed)
    best = make_oracle("graph_cut").solve(instance.potentials)
    field = instance.target.model.to_spin()[0]
    found = instance.errors(COLOUR, field > 0) | instance.errors(MAP, best.x)
    chains = sample(make_sampler("colour_gibbs"), instance.target, jax.random.key(seed), setting.chains, setting.sweeps)
    gibbs = np.asarray(chains).mean(0)
    found |= instance.errors(GIBBS, gibbs)
    answers = {}
    for name, solver in {
        f"{WALKED}, first rho": _walk(setting, 0),
        f"{WALKED}, rho optimised": _walk(setting, setting.updates),
        MESSAGES: make_solver("trbp", sweeps=setting.sweeps, tolerance=1e-3),
    }.items():
        begin = time.process_time()
        *_, state = stream(solver, instance.potentials)
        answers[name] = answer = solver.answer(state)
        p1 = answer.unary[:, 1]
        found |= instance.errors(name, p1)
        found[f"mean |p - Gibbs|, {name}"] = float(np.abs(p1 - gibbs).mean())
        found[f"bound on log Z less the walk's, {name}"] = float(answer.bound or np.nan)
        found[f"CPU seconds, {name}"] = time.process_time() - begin
        if answer.oracle_calls:
            found[f"MAP calls, {name}"] = float(answer.oracle_calls)
            found[f"gap, {name}"] = float(answer.gap or np.nan)
    last = answers[f"{WALKED}, rho optimised"]
    for name in answers:
        found[f"bound on log Z less the walk's, {name}"] -= float(last.bound or np.nan)
    found[f"mean |p - {MESSAGES}|, {WALKED}"] = float(np.abs(last.unary - answers[MESSAGES].unary).mean())
    return found


def horses(request: Request, setting: Setting | None = None) -> Outcome:
    """Marginals of all scenes, with a picture of the first."""
    setting = setting or (QUICK if request.quick else FULL)
    found = [marginals(setting, seed) for seed in range(request.seeds)]
    names = (COLOUR, MAP, f"{WALKED}, first rho", f"{WALKED}, rho optimised", MESSAGES, GIBBS)
    values = np.array([[each[f"{BAND}, {name}"] for name in names] for each in found])
    figure = lines(names, {BAND: values}, "Segmentations by marginals", "", BAND, False)
    figure.update_xaxes(type="category")
    notes = (
        f"{setting.shape[0]} x {setting.shape[1]} pixels, J = {SMOOTHNESS:g}; oracle QPBO with ICM, local search, at "
        f"most {setting.calls} MAP calls a rho, {setting.updates} updates; roof duality proves the bound",
        f"Gibbs: {setting.chains} chains after {setting.sweeps} sweeps from random starts; it has noise of its own",
        "the paper shows its marginals beside TRBP's and calls them visually similar; it gives no number",
    )
    return Outcome(rows_of(found), figure, notes)


HORSES = Reproduction(
    "bfw-segmentation",
    "Barrier Frank-Wolfe, section 5: marginals of a segmentation against its MAP",
    "drawn scenes of 100 x 120 pixels, 25 MAP calls at each of two rho",
    "scenes of 50 x 60 pixels, 12 MAP calls at each of two rho",
    3,
    2,
    horses,
    shown="frank_wolfe?preset=segmentation",
)
SAMPLES = Reproduction(
    "hmj-segmentation",
    "Hazan, Maji and Jaakkola: averaged samples against the MAP on segmentations",
    "drawn scenes of 100 x 120 pixels, 40 perturbed maxima each, six couplings",
    "scenes of 50 x 60 pixels, 24 perturbed maxima each, four couplings",
    4,
    3,
    averaged,
    shown="perturbation_lab?preset=denoise",
)

__all__ = ["HORSES", "SAMPLES", "Setting", "against_map", "averaged", "horses", "marginals", "perturbed"]
