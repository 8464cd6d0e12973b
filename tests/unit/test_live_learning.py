"""A live training: its best moment by the held-out likelihood is gone back to, and its charts keep their order."""

import io
import time

import jax
import numpy as np
import pytest
from PIL import Image

from pmpviz import exact
from pmpviz.capabilities.learning import picture as learning
from pmpviz.capabilities.learning.lane import mosaic, mosaic_shape
from pmpviz.capabilities.learning.likelihood import Likelihood, LikelihoodJob, best_of, is_past_best
from pmpviz.capabilities.learning.live import LiveLearning
from pmpviz.capabilities.learning.page import _lane_files, _tables
from pmpviz.capabilities.learning.plan import LearningPlan, learner
from pmpviz.capabilities.learning.words import offer
from pmpviz.learning.parameters import log_likelihood
from pmpviz.models import RBM
from pmpviz.player.update import Cursors, Desk
from pmpviz.player.wire import decode
from pmpviz.types import Target

WAIT_SECONDS = 120.0
# So few pictures that they are soon known by heart.
BY_HEART = LearningPlan(
    data="glyphs:5x5,count=110,noise=0.1", hidden=8, batch=0, learning_rate=0.05, lanes=(learner("exact"),)
)


def taken(iteration: int, value: float, bar: float = 0.0) -> Likelihood:
    return Likelihood(iteration, 0.0, value, value - bar, value + bar, bar == 0)


@pytest.mark.parametrize(
    "found, past",
    [
        ([], False),
        ([taken(1, -9.0), taken(2, -8.0)], False),
        ([taken(1, -8.0), taken(2, -9.0)], False),
        ([taken(1, -8.0), taken(2, -9.0), taken(4, -9.5)], False),
        ([taken(1, -8.0), taken(2, -9.0), taken(4, -9.5), taken(8, -9.1)], True),
        ([taken(1, -8.0), taken(2, -9.0), taken(4, -9.5), taken(8, -9.0), taken(16, -7.0)], False),
        ([taken(1, -8.0, 1), taken(2, -9.0, 1), taken(4, -9.5, 1), taken(8, -9.5, 1)], False),
        (
            [taken(1, -8.0, 0.2), taken(2, -8.1, 0.2), taken(4, -9.5, 0.2), taken(8, -9.0, 0.2), taken(16, -9, 0.2)],
            True,
        ),
    ],
)
def test_a_training_is_past_its_best_once_three_in_a_row_are_surely_worse(found, past):
    assert is_past_best(found) == past
    assert best_of(found) == max(found, key=lambda each: each.value, default=None)


@pytest.fixture
def live():
    made = LiveLearning(BY_HEART)
    yield made
    made.close()


def wait(live: LiveLearning, condition) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while not condition(live.view):
        assert time.monotonic() < until, live.view.trouble or "it did not get there in time"
        live.touch()
        time.sleep(0.05)


def at_its_best(lane) -> bool:
    best = best_of(lane.likelihoods)
    return best is not None and lane.iteration == best.iteration


def charts(live: LiveLearning) -> list[str]:
    return [trace["id"] for trace in decode(learning.update(live.view, Cursors(), Desk()))[0]["traces"]]


def test_a_stop_is_offered_at_the_best_held_out_likelihood_and_goes_back_to_it(live):
    wait(live, lambda view: view.lanes)
    order = charts(live)
    assert order[:3] == ["likelihood", "reconstruction", "mmd-iterations"] and offer(live.view) == ""
    live.play()
    wait(live, offer)
    seen = live.view  # The run goes on.
    best = best_of(seen.lanes[0].likelihoods)
    assert f"at iteration {best.iteration}, " in offer(seen).replace("\u202f", "")
    assert charts(live) == order
    live.stop_at_best()
    # On a busy machine a model that had to wait may turn out a better one meanwhile, and a later one.
    wait(live, lambda view: not view.playing and view.lanes and at_its_best(view.lanes[0]))
    view, lane = live.view, live.view.lanes[0]
    assert lane.iteration == best_of(lane.likelihoods).iteration and offer(view) == ""
    assert max(point.iteration for point in lane.points) <= lane.iteration
    held_out = log_likelihood(lane.model, view.test.x, exact.solve(Target.of(lane.model)).log_z)
    assert np.isclose(held_out, best_of(lane.likelihoods).value, rtol=1e-4)
    live.step()
    wait(live, lambda view: view.lanes[0].iteration == lane.iteration + 1)


def test_what_is_measured_does_not_depend_on_how_busy_the_machine_is(live):
    """Also models that had to wait are measured, those of a training that rests too."""
    wait(live, lambda view: view.lanes)
    live.play()
    wait(live, lambda view: view.lanes[0].iteration > 40)
    live.pause()

    def measured(view) -> bool:
        (lane,) = view.lanes
        return sorted(each.iteration for each in lane.likelihoods) == [point.iteration for point in lane.points]

    wait(live, lambda view: not view.playing and measured(view))
    assert 40 in {point.iteration for point in live.view.lanes[0].points}


def test_the_last_model_is_measured_first_and_those_that_had_to_wait_after_it():
    x = np.zeros((2, 3), np.int8)
    job = LikelihoodJob(jax.random.key(0), x, x)
    job._queued = True  # No worker is to serve it.
    for iteration in (1, 2, 3):
        job.ask(RBM.of_layers(np.zeros((2, 3))), iteration, 0.0)
    while job.unfinished:
        job.work(0.0)
    assert [each.iteration for each in job.found] == [3, 2, 1]


def test_a_model_whose_weights_few_chains_carry_is_annealed_again_more_slowly(monkeypatch):
    monkeypatch.setattr("pmpviz.capabilities.learning.likelihood.is_small", lambda model: False)
    rng = np.random.default_rng(1)
    weight = 3 * rng.choice([-1.0, 1.0], (6, 60))
    model = RBM.of_layers(weight, -weight.sum(0) / 2, -weight.sum(1) / 2)
    x = rng.integers(0, 2, (40, 60)).astype(np.int8)
    job = LikelihoodJob(jax.random.key(1), x, x)
    job._queued = True  # No worker is to serve it.
    job.ask(model, 7, 0.0)
    job.work(0.0)
    found = job.found[0]
    assert found.low < log_likelihood(model, x, exact.solve(Target.of(model)).log_z) < found.high
    assert found.high - found.low < 1  # Three nats, where it is annealed once.


def test_the_export_has_the_samples_and_how_they_came_to_be(live):
    wait(live, lambda view: view.lanes)
    for iteration in range(1, 4):
        live.step()
        wait(live, lambda view, iteration=iteration: view.lanes[0].iteration == iteration)
    files = {file.name: file.make for file in _lane_files(live.view, 0, live.view.lanes[0])[2:]}
    still = np.asarray(Image.open(io.BytesIO(files["samples1.png"]())).convert("L"))
    _, _, high, wide = mosaic_shape(36, (5, 5))
    unit = still.shape[0] // high
    samples = live.ask(lambda job: job.lanes[0].training.fantasies[:36, :25], WAIT_SECONDS)
    ink = still[unit // 2 :: unit, unit // 2 :: unit][:high, :wide] < 128
    assert np.array_equal(ink, mosaic(samples, (5, 5)))
    assert Image.open(io.BytesIO(files["learning1.gif"]())).n_frames >= 2


def test_traces_end_at_the_moment_that_the_export_is_of(live):
    wait(live, lambda view: view.lanes)
    live.step()
    wait(live, lambda view: view.lanes[0].iteration == 1)
    asked = live.view
    live.step()
    wait(live, lambda view: view.lanes[0].iteration == 2)
    assert [_tables(view)[0].columns["sweep"].tolist() for view in (asked, live.view)] == [[1], [1, 2]]
