"""What is said of a training: from the likelihood with its error, and from MMD with what it cannot see."""

import math
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from pmpviz.capabilities.learning import picture
from pmpviz.capabilities.learning.likelihood import Likelihood, LikelihoodJob, is_small
from pmpviz.capabilities.learning.picture import verdict
from pmpviz.models import RBM
from pmpviz.player.update import Cursors, Envelope


def lane(label, *likelihoods, mmd2=0.001, iteration=64):
    point = SimpleNamespace(mmd2=mmd2, noise=0.01)
    found = {"likelihoods": likelihoods, "independent": -206.0, "points": (point,)}
    return SimpleNamespace(label=label, iteration=iteration, **found)


def said(*lanes):
    return verdict(SimpleNamespace(lanes=lanes))


def annealed(value, low, high):
    return Likelihood(64, 1.0, value, low, high, False)


def test_nothing_is_said_before_anything_is_learned():
    assert said(lane("CD", iteration=0)) == "Nothing is learned yet: press Play."


def test_blobs_with_the_right_means_are_not_called_good():
    """MMD sees means: a model that is worse than independent pixels is said to be, whatever its MMD is."""
    words = said(lane("CD", annealed(-350.0, -352.0, -348.0)))
    assert "no better than pixels that know nothing of each other (−206.0)" in words
    assert "−350" in words and "annealed, between −352.0 and −348.0" in words
    assert "noise alone may give: it mostly sees means" in words and "within the noise of held-out data" not in words


def test_one_is_ahead_only_where_the_errors_allow_it():
    apart = said(lane("CD", annealed(-120.0, -122, -118)), lane("PCD", annealed(-95.0, -97, -94)))
    assert apart.startswith("PCD is ahead by the likelihood.")
    near = said(lane("CD", annealed(-96.0, -98, -94)), lane("PCD", annealed(-95.0, -97, math.inf)))
    assert near.startswith("The errors of the likelihoods overlap: neither is ahead.")
    assert "no upper bound" in near
    assert said(lane("CD"), lane("PCD")).startswith("CD: The likelihood of held-out data is not worked out yet.")


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_independent_pixels_are_given_what_their_rates_say(rate):
    x = (np.random.default_rng(0).random((5000, 3)) < rate).astype(np.int8)
    found = LikelihoodJob(jax.random.key(0), x, x).independent
    entropy = -3 * (rate * math.log(rate) + (1 - rate) * math.log(1 - rate))
    assert found == pytest.approx(-entropy, rel=0.05)


def drawn(*lanes):
    """The lines of the chart of the likelihood: their columns by name."""
    lanes = [SimpleNamespace(**vars(lane), algorithm="pcd") for lane in lanes]
    view = SimpleNamespace(lanes=lanes, plan=SimpleNamespace())
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
