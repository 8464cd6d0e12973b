"""What is said of a training: from the likelihood with its error, and from MMD with what it cannot see."""

import math
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from pmpviz.capabilities.learning import picture
from pmpviz.capabilities.learning.likelihood import Likelihood, LikelihoodJob, is_small
from pmpviz.capabilities.learning.live import LearningView
from pmpviz.capabilities.learning.picture import offer, scored, verdict
from pmpviz.capabilities.learning.plan import LearningPlan, split
from pmpviz.io.datasets import parse_dataset
from pmpviz.models import RBM
from pmpviz.player.update import Cursors, Envelope

WIDE = RBM.of_layers(np.zeros((64, 4)))


def lane(label, *likelihoods, mmd2=(0.001,) * 4, iteration=64):
    start = SimpleNamespace(mmd2=0.5, noise=0.01, iteration=0, used=32.2)
    looks = [SimpleNamespace(mmd2=each, noise=0.01, iteration=iteration - k, used=20.6) for k, each in enumerate(mmd2)]
    found = {"likelihoods": likelihoods, "independent": -206.0, "points": (start, *reversed(looks))}
    return SimpleNamespace(label=label, iteration=iteration, model=WIDE, **found)


def said(*lanes, held_out=True, train=None):
    return verdict(SimpleNamespace(lanes=lanes, held_out=held_out, status="", trouble=None, train=train))


def annealed(value, low, high):
    return Likelihood(64, 1.0, value, low, high, False)


def test_nothing_is_said_before_anything_is_learned():
    assert said(lane("CD", iteration=0)) == "Nothing is learned yet: press Play."


def test_blobs_with_the_right_means_are_not_called_good():
    """MMD sees means: a model that is worse than independent pixels is said to be, whatever its MMD is."""
    words = said(lane("CD", annealed(-350.0, -352.0, -348.0)))
    assert "no better than pixels that know nothing of each other (−206.0)" in words
    assert "−350" in words and "estimated between −352.0 and −348.0" in words
    assert "On average its samples look like the pictures (MMD² 0.00100 at iteration 64, no more than noise)" in words
    assert "differ from the pictures" in said(lane("CD", annealed(-350.0, -352.0, -348.0), mmd2=(0.1,) * 4))


def test_one_is_ahead_only_where_the_errors_allow_it():
    apart = said(lane("CD", annealed(-120.0, -122, -118)), lane("PCD", annealed(-95.0, -97, -94)))
    assert apart.startswith("PCD makes the pictures more probable.")
    far = Likelihood(512, 9.0, -90.0, -91.0, -89.0, False)
    ahead = "PCD makes the pictures more probable so far, −90.00 at iteration 512; CD is at −120.0 at iteration 64."
    assert said(lane("CD", annealed(-120.0, -122, -118)), lane("PCD", far)).startswith(ahead)
    near = said(lane("CD", annealed(-96.0, -98, -94)), lane("PCD", annealed(-95.0, -97, math.inf)))
    assert near.startswith("Which one makes the pictures more probable is within the errors of the estimates.")
    assert "no upper bound" in near and near.count("Independent pixels give −206.0.") == 1
    blobs = said(lane("CD", annealed(-350.0, -352.0, -348.0)), lane("PCD", annealed(-95.0, -97, -94)))
    assert "CD: log probability of a picture −350.0 (between −352.0 and −348.0) at iteration 64, no better" in blobs
    assert said(lane("CD"), lane("PCD")).startswith("CD: The likelihood of held-out data is not worked out yet: ")


def test_samples_are_judged_by_several_looks_and_not_by_one():
    early = said(lane("CD", mmd2=(0.1, 0.001, 0.001), iteration=3))
    assert "MMD² 0.100 at iteration 3, above noise: too early to say more" in early and "differ" not in early
    torn = said(lane("CD", mmd2=(0.1, 0.001, 0.1, 0.001)))
    assert "above noise in 2 of the last 4 looks" in torn and "Even on average" not in torn


def test_a_likelihood_that_is_to_come_says_when():
    annealed, begun, small = lane("CD", iteration=63), lane("CD", iteration=64), lane("CD", iteration=3)
    annealed.model = begun.model = RBM.of_layers(np.zeros((64, 64)))
    assert "not worked out yet: that of iteration 64 comes first, then four in every doubling." in said(annealed)
    for each in (begun, small):
        assert "not worked out yet: the first one is being computed" in said(each)


def test_what_hidden_units_do_is_said_first():
    assert said(lane("PCD")).startswith(
        "A picture switches on 21 of the 64 hidden units, on average (32 before learning)."
    )


def test_what_hidden_units_stand_for_is_read_off_their_weights():
    """Noise is called noise, whose neighbouring weights agree by chance; strokes and patches of any sign are found."""
    noise = np.random.default_rng(0).normal(size=(40, 64))
    stroke = np.zeros((4, 8, 8))
    stroke[0, 2:4], stroke[1, :, 5:7], stroke[2, 3:6, 3:6], stroke[3, :2] = 1, -1, 1, -1
    assert abs(picture.agreement(noise, (8, 8))) < 0.05 < 0.5 < picture.agreement(stroke.reshape(4, 64), (8, 8))
    shown = SimpleNamespace(shape=(8, 8))
    for weight, words in ((noise, "The filters are still noise: "), (stroke, "Hidden units have come to stand for ")):
        learned = lane("PCD")
        learned.model = RBM.of_layers(weight.reshape(-1, 64))
        assert said(learned, train=shown).startswith(words)
    assert said(lane("PCD"), train=SimpleNamespace(shape=(2, 2))).startswith("The filters are still noise")


def test_what_is_scored_is_named_by_the_datas_own_split():
    """Of few pictures none are held out; of many some are."""
    for text, held_out in (("bars:4x4", False), ("bars:6x6", True)):
        train, test = split(parse_dataset(text))
        view = LearningView(run=0, plan=LearningPlan(data=text), train=train, test=test)
        assert view.held_out == held_out and scored(view) == ("held-out data" if held_out else "all the data")
    words = said(lane("PCD", annealed(-9.0, -9.1, -8.9)), held_out=False)
    assert "A picture has log probability −9.000" in words and "held-out" not in words


def test_a_lane_at_its_best_within_its_steps_is_not_told_to_go_back():
    exact = [Likelihood(k, 0.0, -3.528 - 1e-4 * k, -3.528 - 1e-4 * k, -3.528 - 1e-4 * k, True) for k in range(5)]
    worse = [Likelihood(k, 0.0, -7.3 - 0.2 * k, -7.3 - 0.2 * k, -7.3 - 0.2 * k, True) for k in range(5)]
    view = SimpleNamespace(lanes=(lane("Exact", *exact), lane("PCD", *worse)), held_out=False)
    expected = "PCD: log probability of a picture −7.300 at iteration 0, −8.100 at iteration 4."
    assert offer(view) == f"All the data were more probable before. {expected}"
    assert offer(SimpleNamespace(lanes=view.lanes[:1], held_out=False)) == ""


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_independent_pixels_are_given_what_their_rates_say(rate):
    x = (np.random.default_rng(0).random((5000, 3)) < rate).astype(np.int8)
    found = LikelihoodJob(jax.random.key(0), x, x).independent
    entropy = -3 * (rate * math.log(rate) + (1 - rate) * math.log(1 - rate))
    assert found == pytest.approx(-entropy, rel=0.05)


def drawn(*lanes):
    """The lines of the chart of the likelihood: their columns by name."""
    lanes = [SimpleNamespace(**vars(lane), algorithm="pcd") for lane in lanes]
    view = SimpleNamespace(lanes=lanes, plan=SimpleNamespace(), held_out=True)
    envelope = Envelope(view, Cursors())
    card = picture._likelihood(envelope, view)
    names = ("y", "low", "high")
    blobs = envelope.payload.blobs
    return [{name: np.frombuffer(blobs[line[name]], "<f4") for name in names} for line in card["lines"]]


@pytest.mark.parametrize("units", [4, 24])
def test_the_band_of_the_likelihood_holds_its_line(units):
    """Exact and annealed: a great log Z is a small likelihood, so that the ends of its bar change places."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2, (20, units)).astype(np.int8)
    job = LikelihoodJob(jax.random.key(1), x, x)
    for iteration, spread in enumerate((0.1, 0.5, 1.5)):
        model = RBM.of_layers(rng.normal(0, spread, (units, units)), np.zeros(units), np.zeros(units))
        job.found.append(Likelihood(iteration, 0.0, *job._bar(model, iteration), is_small(model)))
    (line,) = drawn(SimpleNamespace(label="PCD", likelihoods=tuple(job.found), model=model))
    assert len(line["y"]) == 3 and np.all((line["low"] <= line["y"]) & (line["y"] <= line["high"]))
    assert np.all(line["low"] == line["high"]) == (units == 4)
