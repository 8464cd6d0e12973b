"""One lane of the Segmentation page: a training, its scenes' marginals, and what its weights are worth elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import jax
import numpy as np
from jaxtyping import Bool, Float
from scipy.special import expit

from pmpviz.capabilities.segmentation.plan import ScenePlan
from pmpviz.live.plan import Choice
from pmpviz.live.store import FrameRing
from pmpviz.marginals import make_solver
from pmpviz.metrics.boundaries import band, band_error
from pmpviz.models.segmentation import drawn_scene, log_odds
from pmpviz.oracles import make_oracle
from pmpviz.runs.field_expectations import BySolver, Expected
from pmpviz.runs.field_training import Example, FieldTraining, advance, evaluate, start, stepped_again

GAP = 1
# Of a picture of states, what stands between scenes.
BETWEEN = 2
JUDGE = BySolver(make_solver("trbp", tolerance=1e-3, sweeps=40), 40)


@dataclass(frozen=True)
class Point:
    """One iteration: the weights, root mean square of the gradient, log-likelihood a pixel that the lane's own bound
    proves for the scenes learned from and TRBP's for those held out, wrong pixels beside the outline of these, the
    seconds that learning has taken, and the wrong pixels by marginals of each of these scenes."""

    iteration: int
    theta: Float[np.ndarray, " p"]
    gradient: float
    own_bound: float | None
    held_bound: float
    wrong_map: float
    wrong_likelier: float
    seconds: float = 0.0
    wrong_each: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class SceneLaneView:
    """An immutable picture of a lane; `p1` is p(animal) of all scenes in one picture, those learned from above."""

    algorithm: str
    label: str
    guarantee: str
    count: int
    seconds: float
    done: bool
    theta: Float[np.ndarray, " p"]
    points: tuple[Point, ...]
    p1: Float[np.ndarray, "h w"]
    ring: FrameRing


class SceneLane:
    """Worker-side state; a step is one learning iteration, which is seen once `reveal` has been called."""

    warmed = True

    def __init__(self, choice: Choice, plan: ScenePlan, train: list[Example], held: list[Example], epoch: int):
        self.choice, self.plan, self.held, self.seconds = choice, plan, held, 0.0
        self.training: FieldTraining = start(
            train, plan.method(choice), jax.random.key(plan.seed), plan.optimiser, plan.start, plan.decay
        )
        # Before and after the last step, and by which choice it was found.
        self._last: tuple[FieldTraining, FieldTraining, Choice] | None = None
        self._judged: tuple[Expected, ...] | None = None
        self.points: list[Point] = []
        self._learned: list[Point] = []
        self.p1 = self._newest = mosaic(self._at_first(train), self._at_first(held))
        self.ring = FrameRing(-(-self.p1.size // 8))
        self.show(epoch)

    @property
    def algorithm(self) -> str:
        """The algorithm's id."""
        return self.choice.algorithm

    @property
    def count(self) -> int:
        """How many steps the weights have made that were looked at; one more is made."""
        return self._learned[-1].iteration if self._learned else 0

    @property
    def shown(self) -> int:
        """The one that picture and numbers are of."""
        return self.points[-1].iteration if self.points else 0

    def show(self, epoch: int) -> None:
        """The picture of this moment, the first of an epoch."""
        self.epoch = epoch
        self._append()

    def change(self, choice: Choice, plan: ScenePlan) -> None:
        """Other knobs, rate, decay or penalty from here on, the step that is not looked at yet included; what was
        learned stays."""
        rule = plan.optimiser, plan.decay
        if self._last is None:
            training, same = replace(self.training, optimiser=rule[0], decay=rule[1]), choice == self.choice
        else:
            before, after, found_by = self._last
            training, same = stepped_again(before, after, *rule), choice == found_by
        # What an algorithm with other knobs has prepared and reached is not this one's to go on from.
        expected = training.expected if same else ()
        self.training = replace(training, expected=expected, method=plan.method(choice))
        self.choice, self.plan = choice, plan

    def advance(self) -> None:
        """One iteration; before the first one also what the weights at the start are worth."""
        if not self._learned:
            self._learn()
        self._learn()

    def reveal(self) -> None:
        """Show what has been learned by now."""
        self.points, self.p1 = list(self._learned), self._newest
        self._append()

    def _learn(self) -> None:
        """Expectations at the weights, what these are worth on the scenes that were held out, and a step."""
        begin = time.perf_counter()
        theta = self.training.theta
        before, self.training = self.training, advance(self.training)
        self._last = before, self.training, self.choice
        self.seconds += time.perf_counter() - begin
        held, self._judged = evaluate(self.held, theta, JUDGE, self.training.key, self._judged)
        record, held_p1 = self.training.trace[-1], self._pictures(self._judged)
        self._newest = mosaic(self._pictures(self.training.expected), held_p1)
        truths = [each.x.reshape(each_p1.shape) > 0 for each, each_p1 in zip(self.held, held_p1, strict=True)]
        shape = self.plan.height, self.plan.width
        best = [make_oracle("qpbo").solve(each.shared.potentials(theta)).x for each in self.held]
        self._learned.append(
            Point(
                record.iteration,
                theta,
                float(np.sqrt((record.gradient**2).mean())),
                record.lower,
                float("nan") if held.lower is None else held.lower,
                float(np.mean(errors([x.reshape(shape) > 0 for x in best], truths))),
                float(np.mean(each := errors([p1 > 0.5 for p1 in held_p1], truths))),
                self.seconds,
                each,
            )
        )

    def view(self, label: str, done: bool) -> SceneLaneView:
        """What pages see, called `label`."""
        guarantee = self.choice.spec.guarantee
        # Those that the picture and the numbers are of, before the step that followed from them.
        theta = self.points[-1].theta if self.points else self.training.theta
        seconds = self.points[-1].seconds if self.points else 0.0
        now = self.shown, seconds, done, theta, tuple(self.points), self.p1, self.ring
        return SceneLaneView(self.algorithm, label, guarantee, *now)

    def _pictures(self, expected: Sequence[Expected]) -> list[Float[np.ndarray, "h w"]]:
        shape = self.plan.height, self.plan.width
        return [np.array([row[1] for row in each.marginals]).reshape(shape) for each in expected]

    def _at_first(self, examples: Sequence[Example]) -> list[Float[np.ndarray, "h w"]]:
        """The marginals at the weights of the start, under which no pixel hears of another."""
        unary = [each.shared.potentials(self.plan.start).unary for each in examples]
        return [expit(each[:, 1] - each[:, 0]).reshape(self.plan.height, self.plan.width) for each in unary]

    def _append(self) -> None:
        self.ring.append(np.array([self.shown]), np.packbits((self.p1 > 0.5).reshape(1, -1), axis=1), self.epoch)


def errors(found: Sequence[np.ndarray], truths: Sequence[np.ndarray]) -> tuple[float, ...]:
    """Wrong beside the outline of each scene."""
    return tuple(band_error(each, truth) for each, truth in zip(found, truths, strict=True))


@dataclass(frozen=True)
class ColourAlone:
    """Scenes in which each pixel is called by its own colour, whichever it is likelier to come from: the share that is
    wrong beside each outline, and how many pixels lie there in all."""

    each: tuple[float, ...]
    pixels: int

    @property
    def wrong(self) -> float:
        """The mean over scenes."""
        return float(np.mean(self.each))


@lru_cache(maxsize=16)
def colour_alone(height: int, width: int, noise: float, seeds: range) -> ColourAlone:
    """What colour alone makes of the scenes of these seeds."""
    masks = [drawn_scene((height, width), noise, seed).mask for seed in seeds]
    called = called_by_colour(height, width, noise, seeds)
    return ColourAlone(errors(called, masks), sum(int(band(mask).sum()) for mask in masks))


@lru_cache(maxsize=16)
def called_by_colour(height: int, width: int, noise: float, seeds: range) -> list[Bool[np.ndarray, "h w"]]:
    """Where colour alone sees an animal in the scenes of these seeds."""
    return [log_odds(drawn_scene((height, width), noise, seed), noise) > 0 for seed in seeds]


def mosaic(
    above: Sequence[np.ndarray], below: Sequence[np.ndarray], between: float = 0.5
) -> Float[np.ndarray, "h w *channels"]:
    """Pictures side by side in two rows, with a pixel of one value between them."""
    rows = []
    for pictures in (above, below):
        gap = np.full((len(pictures[0]), GAP, *pictures[0].shape[2:]), between)
        rows.append(np.concatenate([part for each in pictures for part in (each, gap)][:-1], 1))
    return np.concatenate([rows[0], np.full((GAP, *rows[0].shape[1:]), between), rows[1]])


def given(plan: ScenePlan) -> dict[str, np.ndarray]:
    """What is `seen` of all scenes, what colour `alone` calls, and what was `drawn`, as the lanes' pictures lie."""
    drawn, count = plan.drawn(), plan.scenes
    colours, masks = [scene.colours for scene in drawn], [scene.mask.astype(np.uint8) for scene in drawn]
    called = [each.astype(np.uint8) for each in called_by_colour(plan.height, plan.width, plan.noise, plan.seeds)]
    seen = mosaic(colours[:count], colours[count:], 1.0)
    alone, truth = (mosaic(each[:count], each[count:], BETWEEN) for each in (called, masks))
    return {"seen": (255 * np.clip(seen, 0, 1)).round(), "alone": alone, "drawn": truth}


__all__ = ["ColourAlone", "Point", "SceneLane", "SceneLaneView", "called_by_colour", "colour_alone", "given", "mosaic"]
