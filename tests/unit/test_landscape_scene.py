"""The Landscape page's numbers: the mixture that browsers draw, settings by hand, rolls, and what the chains say."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from pmpviz import exact
from pmpviz.capabilities.landscape.hills import hills, stretches
from pmpviz.capabilities.landscape.lane import STUCK, LandscapeLane, prepared
from pmpviz.capabilities.landscape.live import LandscapeView
from pmpviz.capabilities.landscape.page import gap_words
from pmpviz.capabilities.landscape.picture import FIRST_DRAW, _against_chance, _walk, found, scene_words
from pmpviz.capabilities.landscape.plan import COLOURS, FORCED, GIBBS, HMC, KINDS, MEMORY, LandscapePlan
from pmpviz.capabilities.landscape.presets import LANDSCAPE
from pmpviz.capabilities.landscape.scene import scene_of
from pmpviz.live.link import from_query, to_query
from pmpviz.player.numbers import at_most, integer, significant
from pmpviz.samplers import sampler_class

BY_ID = {preset.id: preset.plan for preset in LANDSCAPE if preset.plan.kind != MEMORY}


@pytest.mark.parametrize("name", BY_ID)
def test_the_mixture_is_the_density_of_the_relaxation(name):
    """log sum_s p(s) N(z; B's, I) and -z'z/2 + sum softplus((B z)_i + c_i) differ by a constant, with B made as in
    browsers: of the eigenvectors, with the shift added to the eigenvalues."""
    plan = BY_ID[name]
    scene = scene_of(plan)
    words = scene_words(plan, scene)
    weight = np.array(words["vectors"]) * np.sqrt(np.array(words["values"]) + words["extra"])
    z = np.random.default_rng(1).normal(size=(50, scene.n)) * 2
    means = np.array(words["states"]) @ weight
    mixture = np.log(np.exp(-0.5 * ((z[:, None] - means) ** 2).sum(2)) @ np.array(words["law"]))
    relaxation = scene.relaxation()
    field = np.asarray(relaxation.field(z.T.astype(np.float32)))
    density = -0.5 * (z * z).sum(1) + np.logaddexp(0.0, field).sum(0)
    assert np.ptp(mixture - density) < 1e-3


@pytest.mark.parametrize("name", BY_ID)
def test_law_and_couplings_are_those_of_the_model(name):
    scene = scene_of(BY_ID[name])
    marginals = exact.solve(scene.target).marginals
    np.testing.assert_allclose(scene.law @ scene.states, [row[1] for row in marginals], atol=1e-6)
    np.testing.assert_allclose(scene.weight @ scene.weight.T, scene.matrix + np.diag(scene.shift), atol=1e-9)


@pytest.mark.parametrize(("name", "exactly"), [("attractive", 4.0), ("repulsive", 4.0), ("fields", None)])
def test_what_is_to_be_noticed_names_the_shifts_of_the_knob(name, exactly):
    preset = next(preset for preset in LANDSCAPE if preset.id == name)
    scene = scene_of(preset.plan)
    largest = scene.largest - preset.plan.extra
    assert f"shift {4 - largest:g}" in preset.notice
    at = stretches(scene, 0.05, 6.0)[1][0]
    assert at + largest == pytest.approx(exactly or 5.6, abs=0.05)
    assert exactly or f"a shift of about {at:.1f}, where λ₁ is {at + largest:.1f}" in preset.notice


@pytest.mark.parametrize(("t", "forced", "uniform"), [(2, 0.1596, 0.249), (3, 0.0295, 0.0997), (4, 0.00371, 0.0343)])
def test_the_failure_mode_is_left_as_rarely_as_its_quadrature_says(t, forced, uniform):
    plan = BY_ID["failure"].replace(t=float(t), extra=0.0)
    assert scene_of(plan).leaving(STUCK) == pytest.approx(forced, rel=5e-3)
    assert scene_of(plan.replace(diagonal="uniform")).leaving(STUCK) == pytest.approx(uniform, rel=5e-3)


def test_the_count_of_leavings_agrees_with_its_expectation():
    plan = BY_ID["failure"]
    lane, expected = LandscapeLane(plan, scene_of(plan)), scene_of(plan).leaving(STUCK)
    seen = LandscapeView(run=0, plan=plan, scene=lane.scene, lanes=(lane.view(),))
    assert lane.state is None, "the landscape is seen before anything is compiled"
    ought = "A stay in 10 ought to last 6.31 sweeps on average: "
    assert found(seen).startswith(f"{ought}a sweep leaves it with probability 0.1")
    assert found(seen).endswith(" No state is drawn yet: press Play, and watch the bars.")
    # Of a run that plays nobody has to press it: so a shift that is dragged keeps its verdict.
    assert found(dataclasses.replace(seen, playing=True)).endswith(f" {FIRST_DRAW}")
    for _ in range(40):
        lane.advance()
    view = lane.view()
    assert view.trials > 5000
    # Of state 10, as the picture has it: how long, how often and how often it ought to be, and how often it was left.
    said = found(LandscapeView(run=0, plan=plan, scene=lane.scene, lanes=(view,)))
    often = f"{view.counts[STUCK] / view.counts.sum():.1%} of their draws so far are 10, where 10.5% ought to be"
    # What is said to have lasted is what was measured: the sweeps in it for each leaving.
    lasts = significant(view.trials / view.left, 3)
    stay = f"A stay in 10 lasts {lasts} sweeps by the rate of leaving of all chains (6.31 expected): "
    assert said.startswith(f"{stay}{often}. It was left in ")
    assert f" {integer(view.left)} of {integer(view.trials)} sweeps begun there, 0.1" in said
    assert "; expected 0.1585 ± 0.00" in said and said.endswith(" (two standard errors).")
    assert abs(view.left / view.trials - expected) < 5 * np.sqrt(expected * (1 - expected) / view.trials)


def test_the_verdict_and_the_bars_give_one_bound_that_holds():
    """11.5 thousandths are within .012, not .011."""
    plan = BY_ID["frustrated"]
    scene = scene_of(plan)
    lane = LandscapeLane(plan, scene)
    law = np.full(8, 1000)
    law[:2] += [92, -92]
    scene = dataclasses.replace(scene, law=np.full(8, 1 / 8))
    seen = dataclasses.replace(lane.view(), counts=law, count=10, changed=4000)
    view = LandscapeView(run=0, plan=plan, scene=scene, lanes=(seen,))
    often = "In 10 trajectories of 512 chains the state changes 50% of the time, 88% if draws were independent; "
    assert found(view).startswith(
        f"{often}all frequencies are within 0.012 of exact (further off: 8\u202f000 independent draws mostly are "
    )
    assert _walk(seen, scene)["far"] == "0.012" and _walk(lane.view(), scene)["far"] == ""


@pytest.mark.parametrize(
    ("off", "noise", "told"),
    [
        (0.0151, 0.0152, "as 3\u202f584 independent draws mostly are within 0.016"),
        (0.0152, 0.0151, "as 3\u202f584 independent draws mostly are within 0.016"),
        (0.0161, 0.0152, "a little further off: 3\u202f584 independent draws mostly are within 0.016"),
        (7.1e-6, 8.05e-6, "as 3\u202f584 independent draws mostly are within 8.1·10⁻⁶"),
        (0.0300, 0.0152, "further off: 3\u202f584 independent draws mostly are within 0.016"),
    ],
)
def test_what_is_said_as_independent_draws_is_within_their_number(off, noise, told):
    assert _against_chance(off, noise, 3584) == told


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.011, "0.011"), (0.0111, "0.012"), (0.0995, "0.10"), (1.001, "1.1"), (120.0, "120"), (121.0, "130"), (0, "0.0")],
)
def test_a_bound_is_rounded_upward(value, text):
    assert at_most(value) == text


@pytest.mark.parametrize("sampler", [HMC, GIBBS])
@pytest.mark.parametrize("coordinates", ["whitened", "A = I"])
def test_frequencies_come_within_a_hundredth_and_rolls_hang_together(sampler, coordinates):
    plan = BY_ID["attractive"].replace(extra=1.0, sampler=sampler, coordinates=coordinates)
    lane = LandscapeLane(plan, scene_of(plan))
    lane.advance()
    # The first moves, from where chains began, tell nothing of how often the state changes.
    once = found(LandscapeView(run=0, plan=plan, scene=lane.scene, lanes=(lane.view(),)))
    assert "the state changes" not in once and "all frequencies are within " in once
    for _ in range(149):
        lane.advance()
    view = lane.view()
    assert view.counts.sum() == 150 * view.chains
    said = found(LandscapeView(run=0, plan=plan, scene=lane.scene, lanes=(view,)))
    steps = "trajectories" if sampler == HMC else "sweeps"
    # The ball's state changes about as often as it can, which is not worth a word; that of block Gibbs does not.
    often = "all frequencies are within " if sampler == HMC else "the state changes 5"
    # The page's first question is how states are drawn.
    first = plan.replace(extra=BY_ID["attractive"].extra) == BY_ID["attractive"]
    how = "Where the ball stops a state is drawn by lot, near ones likelier: in" if first else "In"
    assert said.startswith(f"{how} 150 {steps} of 512 chains {often}")
    assert "76\u202f800 independent draws mostly are " in said
    assert np.abs(view.counts / view.counts.sum() - lane.scene.law).max() < 0.01
    # At a small shift nearly as often as independent draws do, and more rarely once the hills have parted widely.
    changes = view.changed / view.counts.sum()
    assert 0.5 < changes < 1 - (lane.scene.law**2).sum() + 0.02
    lane.change(far := plan.replace(extra=8.0), scene_of(far))
    for _ in range(50):
        lane.advance()
    assert lane.view().changed / lane.view().counts.sum() < changes - 0.1
    for one, two in zip(view.rolls, view.rolls[1:], strict=False):
        assert (two.number, two.before) == (one.number + 1, one.after)
        if sampler == HMC:
            np.testing.assert_allclose(two.points[0], one.points[-1] if one.accepted else one.points[0], atol=1e-4)
            assert one.accepted == (one.energy[-1] - one.energy[0] < one.line)


@pytest.mark.parametrize(
    ("name", "low", "high"), [("attractive", 3.95, 4.1), ("repulsive", 3.95, 4.1), ("fields", 5.0, 6.0)]
)
def test_the_hill_parts_where_the_largest_eigenvalue_is_four_and_later_under_fields(name, low, high):
    scene = scene_of(BY_ID[name])
    assert low < scene.values[0] + stretches(scene, 0.05, 6.0)[1][0] < high


@pytest.mark.parametrize(("extra", "count"), [(1.0, 1), (3.0, 2), (6.0, 4)])
def test_hills_are_counted_without_the_saddles_between_them(extra, count):
    scene = scene_of(BY_ID["attractive"].replace(extra=extra))
    assert hills(scene.law, (scene.states @ scene.weight)[None]) == [count]


def test_hills_are_told_for_every_shift_of_the_knob():
    attractive, strong = (scene_of(BY_ID[name]) for name in ("attractive", "strong"))
    (_, one), (first, two), (second, four) = stretches(attractive, 0.05, 6.0)
    assert (one, two, four) == (1, 2, 4) and first == pytest.approx(2.0, abs=0.03)
    for shift, count in ((second - 0.05, 2), (second + 0.05, 4)):
        scene = scene_of(BY_ID["attractive"].replace(extra=shift))
        assert hills(scene.law, (scene.states @ scene.weight)[None]) == [count]
    assert stretches(strong, 0.05, 5.0) == ((0.05, 2),)
    assert stretches(attractive, 0.05, 1.5) == ((0.05, 1),) and stretches(attractive, 3.0, 4.0) == ((3.0, 2),)


def test_the_gap_of_gibbs_sampling_is_told_beside_what_the_same_theorem_promises():
    """Of two free spins with w = 1 the second eigenvalue of a step is that of the odd functions, by enumeration."""
    plan = BY_ID["attractive"].replace(extra=1.0)
    flip = 1 / (1 + np.exp(0.5))  # The chance that a spin is drawn against the other.
    step = np.zeros((4, 4))
    for state, other in itertools.product(range(4), range(4)):
        if (state ^ other) in (1, 2):
            step[state, other] = 0.5 * (flip if state in (0, 3) else 1 - flip)
    step += np.diag(1 - step.sum(1))
    gap = 1 - np.sort(np.linalg.eigvals(step).real)[-2]
    assert f"it is {gap:.3g}, whatever the shift; at this shift λ₁ promises at least 0.125." in gap_words(plan)
    assert "λ₁ promises nothing" in gap_words(plan.replace(extra=2.5))


def test_no_state_has_the_colour_of_a_sampler():
    assert not {sampler_class(name).spec.style.colour for name in (HMC, GIBBS)} & set(COLOURS)


def test_another_shift_keeps_the_states_and_begins_the_statistics_anew():
    plan = BY_ID["attractive"]
    lane = LandscapeLane(plan, scene_of(plan))
    for _ in range(5):
        lane.advance()
    before = np.asarray(lane.state.x)
    lane.change(plan.replace(extra=3.0), scene_of(plan.replace(extra=3.0)))
    np.testing.assert_array_equal(lane.state.x, before)
    assert lane.view().counts.sum() == 0


def test_a_step_of_the_ball_is_shorter_along_the_long_axis_under_the_identity():
    plan = BY_ID["attractive"].replace(coordinates="A = I")
    scene = scene_of(plan)
    units = prepared(plan, scene)[1].prepared.unit
    np.testing.assert_allclose(units[0] / units[1], scene.roots[1] / scene.roots[0], rtol=1e-5)


@pytest.mark.parametrize("preset", LANDSCAPE, ids=lambda preset: preset.id)
def test_a_link_brings_the_plan_back(preset):
    assert from_query(to_query(preset.plan), LandscapePlan()) == (preset.plan, [])


def test_a_diagonal_of_another_model_is_mended_with_a_notice():
    plan, notices = from_query({"kind": KINDS[0], "diagonal": FORCED}, LandscapePlan())
    assert plan.diagonal == "uniform" and len(notices) == 1
