"""Drawn scenes and the model that segments them; errors along an outline; what the Frank-Wolfe page makes of 12,000."""

import numpy as np
import plotly.graph_objects as go
import pytest

from pmpviz.capabilities.marginals.lane import InferenceLane
from pmpviz.capabilities.marginals.plan import MANY, check_lane, check_model, solver
from pmpviz.capabilities.marginals.segmented import segmented
from pmpviz.experiments.reproductions import learned_segmentation, segmentation
from pmpviz.experiments.reproductions.base import Request
from pmpviz.marginals.polytope import Cells
from pmpviz.marginals.projection import projection_of
from pmpviz.metrics.boundaries import (
    band,
    band_error,
    expected_band_error,
    outline_distance,
    squared_band_error,
    to_outline,
)
from pmpviz.models import build_spec
from pmpviz.models.scene_field import WEIGHTS
from pmpviz.models.segmentation import ANIMAL, GROUND, PATCHES, drawn_scene
from pmpviz.oracles import Potentials, make_oracle
from pmpviz.player.numbers import configuration
from pmpviz.types import InputError, Refusal, Target

SHAPE = (40, 48)
SPEC = "segmentation:40x48,seed=2"


def potentials_of(spec: str) -> Potentials:
    return Potentials.of_target(Target.of(build_spec(spec)))[0]


# Scenes.


@pytest.mark.parametrize("seed", range(6))
def test_a_scene_is_its_seeds_an_animal_in_one_piece_within_the_picture(seed):
    scene, again = drawn_scene((100, 120), 0.15, seed), drawn_scene.__wrapped__((100, 120), 0.15, seed)
    np.testing.assert_array_equal(scene.colours, again.colours)
    assert (scene.mask != drawn_scene((100, 120), 0.15, seed + 1).mask).any()
    assert 0.1 < scene.mask.mean() < 0.3
    assert not (scene.mask[[0, -1]].any() or scene.mask[:, [0, -1]].any())
    # Legs, tail and ears are thin: much of the animal lies within three pixels of the ground.
    assert (band(scene.mask) & scene.mask).sum() > 0.3 * scene.mask.sum()


def test_noise_has_the_deviation_that_is_asked_for():
    clean, noisy = drawn_scene((100, 120), 1e-9, 3), drawn_scene((100, 120), 0.2, 3)
    np.testing.assert_array_equal(clean.mask, noisy.mask)
    assert (noisy.colours - clean.colours).std((0, 1)) == pytest.approx([0.2] * 3, rel=0.05)


# The model.


def test_fields_and_couplings_are_those_of_the_equation():
    knobs = {"smoothness": 1.3, "contrast": 0.7, "repel": 0.35, "trust": 0.6, "noise": 0.2}
    spec = ",".join(["segmentation:5x6", *(f"{k}={v}" for k, v in knobs.items()), "seed=4"])
    scene = drawn_scene((5, 6), 0.2, 4)
    h, i, j, J, _ = build_spec(spec).to_spin()
    colours = scene.colours.reshape(-1, 3)

    def likelihood(colour, means, shares):
        return sum(p * np.exp(-((colour - m) ** 2).sum() / (2 * 0.2**2)) for m, p in zip(means, shares, strict=True))

    odds = [likelihood(c, ANIMAL, (1 - PATCHES, PATCHES)) / likelihood(c, GROUND, (0.5, 0.5)) for c in colours]
    np.testing.assert_allclose(h, 0.6 * np.log(odds) / 2, atol=1e-4)
    pairs = [(a, b) for a in range(30) for b in range(a + 1, 30) if b - a == 6 or (b - a == 1 and b % 6)]
    apart = {pair: ((colours[pair[0]] - colours[pair[1]]) ** 2).sum() for pair in pairs}
    mean = np.mean(list(apart.values()))
    found = {
        tuple(sorted(pair)): value for pair, value in zip(zip(i.tolist(), j.tolist(), strict=True), J, strict=True)
    }
    assert set(found) == set(pairs)
    for pair, distance in apart.items():
        expected = 1.3 * (0.3 + 0.7 * np.exp(-distance / (2 * mean))) - 0.35
        assert found[pair] == pytest.approx(expected, abs=1e-5)


def test_without_repulsion_a_cut_is_exact_and_beats_the_colours():
    potentials, truth = potentials_of("segmentation:100x120"), drawn_scene((100, 120), 0.15, 0).mask
    best = make_oracle("graph_cut").solve(potentials)
    assert best.exact and best.value >= float(potentials.value(truth.reshape(-1)))
    bias = build_spec("segmentation:100x120").to_spin()[0]
    assert band_error(best.x.reshape(truth.shape), truth) < band_error(bias.reshape(truth.shape) > 0, truth)


def test_with_repulsion_most_couplings_still_attract_and_roof_duality_decides():
    potentials = potentials_of(f"{SPEC},repel=0.3")
    w = potentials.quadratic()[1]
    assert 0 < (w < 0).mean() < 0.5
    with pytest.raises(Refusal, match="attractive"):
        make_oracle("graph_cut").solve(potentials)
    found = make_oracle("qpbo").solve(potentials)
    assert found.notes["labelled"] > 0.99 and found.upper >= found.value


# Errors along an outline.


def test_the_band_of_a_straight_outline_is_as_wide_as_it_says():
    truth = np.zeros((12, 20), bool)
    truth[:, 10:] = True
    assert band(truth).any(0).nonzero()[0].tolist() == [7, 8, 9, 10, 11, 12]
    moved = np.roll(truth, -1, 1)
    moved[:, -1] = True
    assert band_error(moved, truth) == pytest.approx(1 / 6) and band_error(truth, truth) == 0
    assert outline_distance(moved[1:-1], truth[1:-1]) <= 1
    assert squared_band_error(moved, truth) == band_error(moved, truth)
    assert to_outline(np.zeros((3, 4), bool)).tolist() == [[5.0] * 4] * 3
    assert squared_band_error(np.mean([moved, truth], 0), truth) == pytest.approx(1 / 24)
    assert expected_band_error(np.mean([moved, truth], 0), truth) == pytest.approx(1 / 12)


def test_what_lies_far_from_the_outline_is_no_boundary_error_but_an_outline_of_its_own():
    truth = np.zeros((40, 40), bool)
    truth[5:15, 5:15] = True
    found = truth.copy()
    found[33:36, 33:36] = True
    assert band_error(found, truth) == 0 and outline_distance(found, truth) > 1
    assert outline_distance(truth, truth) == 0
    assert outline_distance(np.zeros_like(truth), truth) == pytest.approx(np.hypot(40, 40))


# The page.


def test_twelve_thousand_variables_are_taken_with_algorithms_that_keep_pace():
    check_model("segmentation:100x120")
    check_lane(solver("barrier_frank_wolfe"), 12_000)
    check_lane(solver("gaussian_log_z"), MANY)
    with pytest.raises(InputError, match="up to 1,024 variables, not 12,000"):
        check_lane(solver("gaussian_log_z"), 12_000)


def test_a_lane_projects_each_vertex_once_and_all_of_them():
    potentials = potentials_of(SPEC)
    projection = projection_of(potentials)
    lane = InferenceLane(solver("barrier_frank_wolfe", oracle="qpbo", local_search=True), potentials, projection, 0)
    for _ in range(3):
        lane.advance()
        view = lane.view()
        vertices = lane.state.active.vertices
        assert len(view.corners) == len(vertices) == len(view.weights) > 0
        np.testing.assert_allclose(view.corners, projection.of(vertices))
        np.testing.assert_array_equal([Cells(potentials.structure).vertex(x) for x in view.configurations], vertices)


def test_what_stands_beside_the_marginals_is_the_scene_of_the_link():
    found = segmented(SPEC, potentials_of(SPEC))
    assert found.exact and found.scene is drawn_scene(SHAPE, 0.15, 2)
    assert found.error(found.scene.mask.reshape(-1).astype(float)) == 0 < found.error(np.zeros(40 * 48))
    assert [image.size for _, image in found.pictures(False)] == [(240, 200)] * 3
    assert segmented("square:4x4", potentials_of("square:4x4,periodic=false")) is None


def test_a_long_configuration_is_shortened_as_before():
    x = np.random.default_rng(0).integers(0, 2, 12_000)
    whole = "".join(map(str, x))
    assert configuration(x) == f"{whole[:11]}…{whole[-11:]}"
    assert configuration(x[:24]) == whole[:24] and configuration(x[:25]) == f"{whole[:11]}…{whole[14:25]}"


# Reproductions, small.

TINY = segmentation.Setting((30, 36), 4, 1, 60, 32, 6, (0.3, 2.0))


def values(outcome) -> dict[str, float]:
    assert isinstance(outcome.figure, go.Figure) and outcome.figure.data
    found = {row.quantity: row.ours for row in outcome.rows}
    assert len(found) == len(outcome.rows) and all(np.isfinite(value) for value in found.values())
    return found


def test_marginals_of_a_tiny_scene():
    found = values(segmentation.horses(Request(True, 1), TINY))
    last = f"{segmentation.WALKED}, rho optimised"
    assert found[f"mean |p - Gibbs|, {last}"] < 0.2 and found[f"MAP calls, {last}"] <= 2 * TINY.calls
    assert found[f"{segmentation.BAND}, {segmentation.MAP}"] < 0.5


def test_averages_of_a_tiny_scene_say_who_is_ahead():
    outcome = segmentation.averaged(Request(True, 3), TINY)
    found = values(outcome)
    for where in ("contrast 0, J = 0.3", "contrast 0, J = 2", "contrast 0.8, J = 0.3", "contrast 0.8, J = 2"):
        gain = found[f"{where}: {segmentation.GAIN}"]
        one, other = (found[f"{where}: {segmentation.BAND}, {name}"] for name in ("MAP", "averaged samples"))
        assert gain == pytest.approx(one - other)
        assert (where in outcome.notes[3].partition("and not at")[0]) == (gain > 0)
        gain = found[f"{where}: {segmentation.SQUARED_GAIN}"]
        assert (where in outcome.notes[4].partition("and not at")[0]) == (gain > 0)
        for note, words in enumerate((segmentation.CAREFUL, segmentation.HURRIED), 1):
            gain = found[f"{where}: {segmentation.gain_of(words)}"]
            assert (where in outcome.notes[note].partition("and not at")[0]) == (gain > 0)


def test_what_an_annotations_error_is_taken_for():
    """A thin leg that the MAP loses and half of the samples have: its annotation is half as badly misjudged."""
    truth = np.zeros((20, 20), bool)
    truth[2:9, 4:16] = True
    lost = truth.copy()
    truth[9:17, 6] = True
    hurried = segmentation.annotated(truth)[segmentation.HURRIED]
    assert (hurried <= truth).all() and hurried[4:7, 6:14].all() and not hurried[10:].any()
    found = segmentation.misjudged(truth, lost, [lost, truth])
    careful = (f"{segmentation.CAREFUL}, {segmentation.ESTIMATE}, {name}" for name in ("MAP", "averaged samples"))
    one, other = (found[name] for name in careful)
    assert one > 0 and other == pytest.approx(one / 2)
    assert found[segmentation.gain_of(segmentation.CAREFUL)] == pytest.approx(one - other)


def test_the_coupling_of_a_scene_is_chosen_on_the_others():
    errors = np.array([[0.1, 0.5], [0.4, 0.2], [0.4, 0.2]])
    np.testing.assert_allclose(segmentation._held_out(errors), [0.5, 0.4, 0.4])


# Learned weights.


def test_learned_weights_are_compared_on_scenes_that_were_held_out():
    tiny = learned_segmentation.Setting((8, 10), 2, 2, 4, 2, 10, 8, 2)
    outcome = learned_segmentation.crf(Request(True, 1), tiny)
    found = {row.quantity: row.ours for row in outcome.rows}
    assert isinstance(outcome.figure, go.Figure) and len(outcome.figure.data) == 3 * len(WEIGHTS)
    learned, fixed = ("Gibbs", "Frank-Wolfe", "TRBP"), (learned_segmentation.CHOSEN, learned_segmentation.COLOUR)
    for name in (*learned, *fixed):
        bound, likelihood = (
            found[f"{name}: held out, {what}"] for what in (learned_segmentation.BOUND, learned_segmentation.LIKELIHOOD)
        )
        assert bound <= likelihood < 0
    for name in learned:
        # Whoever gives the expectations: colours speak for the animal, and neighbours are alike.
        assert found[f"{name}: trust"] > 0 and found[f"{name}: contrast"] > 0
    train, held = learned_segmentation.scenes(tiny, 0, 2), learned_segmentation.scenes(tiny, 2, 2)
    assert all((a.x != b.x).any() for a in train for b in held)
