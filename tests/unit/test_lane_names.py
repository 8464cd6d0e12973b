"""Lanes that can be told apart: by name, in grey, and by those who do not see red and green apart."""

import itertools

import numpy as np
import pytest

from pmpviz.capabilities.learning.plan import learner
from pmpviz.capabilities.marginals.plan import solver
from pmpviz.capabilities.sampling.plan import sampler
from pmpviz.live.lane_names import lane_names, lane_ranks
from pmpviz.player.style import LIGHTEST, lightness_of, styles_of

# A dichromat's picture of linear RGB: Viénot, Brettel and Mollon 1999, deuteranopia.
DEUTERANOPIA = np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]])
SEEN_APART = 12.0  # Of lightness or of colour in CIE Lab: some five times what is just seen.

RACES = (
    ("pmp;0.1", "pmp;0.5", "pmp;0.9"),
    ("pmp;0.9", "gibbs", "pmp;0.1", "gwg"),
    ("pmp;0.2", "pmp;0.4", "pmp;0.6", "pmp;0.8"),
    ("gibbs", "gibbs", "colour_gibbs", "swendsen_wang"),
)


def lanes(race):
    parts = (text.partition(";") for text in race)
    return [sampler(name, **({"damping": float(knob)} if knob else {})) for name, _, knob in parts]


def linear(colour: str) -> np.ndarray:
    values = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ np.clip(rgb, 0, 1)
    x, y, z = np.cbrt(xyz / (0.9505, 1.0, 1.089))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_a_lane_is_called_by_what_differs():
    assert lane_names(lanes(RACES[0])) == ["PMP · damping 0.1", "PMP · damping 0.5", "PMP · damping 0.9"]
    assert lane_names(lanes(("gibbs",))) == ["Gibbs"]
    assert lane_names(lanes(RACES[3]))[:2] == ["Gibbs · no. 1", "Gibbs · no. 2"]
    two = [sampler("pmp", damping=0.1, sweeps_per_draw=8), sampler("pmp")]
    assert lane_names(two) == ["PMP · damping 0.1 · 8 sweeps a draw", "PMP · damping 0.5 · 64 sweeps a draw"]


@pytest.mark.parametrize("catalogue", [learner, solver, sampler], ids=["learner", "solver", "sampler"])
def test_two_lanes_of_whatever_there_is_are_told_apart(catalogue):
    """The learning page stopped with an error where both its lanes had one learner, of other settings."""
    for name in (cls.spec.id for cls in catalogue.classes):
        first, second = lane_names([catalogue(name)] * 2)
        assert first != second and first.endswith("no. 1")
    assert lane_names([learner("descent", sweeps=1), learner("descent")])[0].endswith(" 1 sweep an iteration")


def test_lanes_of_one_algorithm_go_from_light_to_dark_with_the_knob_whatever_their_order():
    race = lanes(("pmp;0.9", "pmp;0.1", "pmp;0.5"))
    shades = [lightness_of(style.colour) for style in styles_of([lane.spec for lane in race], lane_ranks(race))]
    assert shades[1] == pytest.approx(LIGHTEST, abs=1) and shades[1] > shades[2] > shades[0]


@pytest.mark.parametrize("race", RACES)
@pytest.mark.parametrize("eyes", ["grey", "deuteranopia"])
def test_no_two_lanes_look_alike(race, eyes):
    """Where the colours do not differ enough the dashes or the markers do; of one algorithm all three differ."""
    made = lanes(race)
    styles = styles_of([lane.spec for lane in made], lane_ranks(made))
    for (one, first), (other, second) in itertools.combinations(zip(made, styles, strict=True), 2):
        a, b = (linear(style.colour) for style in (first, second))
        seen = [lab(DEUTERANOPIA @ each) if eyes == "deuteranopia" else lab(each) * (1, 0, 0) for each in (a, b)]
        apart = float(np.linalg.norm(seen[0] - seen[1]))
        assert apart > SEEN_APART or first.dash != second.dash or first.marker != second.marker
        if one.algorithm == other.algorithm:
            assert first.dash != second.dash and first.marker != second.marker
            assert apart > SEEN_APART - 1
