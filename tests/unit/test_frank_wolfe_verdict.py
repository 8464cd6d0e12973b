"""What the Frank-Wolfe page says of a moment: the answer to its preset's question, by that moment's numbers."""

import itertools
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from pmpviz.app.presets import preset_of
from pmpviz.capabilities.marginals import averaged, verdict
from pmpviz.capabilities.marginals.lane import InferenceLane
from pmpviz.capabilities.marginals.live import InferenceView
from pmpviz.capabilities.marginals.moments import lane_at, seen_at
from pmpviz.capabilities.marginals.picture import update
from pmpviz.capabilities.marginals.plan import solver
from pmpviz.capabilities.marginals.polytope import gap_of
from pmpviz.capabilities.marginals.presets import INFERENCE
from pmpviz.capabilities.marginals.words import OBJECTIVE, WEIGHTS, climbed, error, estimate
from pmpviz.live.plan import resolve_model
from pmpviz.marginals.frank_wolfe_state import FrankWolfeState
from pmpviz.oracles import Potentials
from pmpviz.player.numbers import integer, significant
from pmpviz.player.update import Cursors, Desk
from pmpviz.player.wire import decode
from tests.unit.walked import moved, view_of

# The lanes of the barrier's race, as pictures and as the verdict have them.
NAMES, KINDS = ["adaptive barrier", "fixed barrier", "no barrier"], ["adaptive", "fixed", "no barrier"]


def answer(name: str, at: int | None = None) -> str:
    return verdict.said(seen_at(view_of(name), at))[0]


def test_every_preset_has_an_answer():
    assert set(verdict.ANSWERS) == {preset.id for preset in INFERENCE}


@pytest.mark.parametrize("name", ["cube", "rbm"])
def test_before_the_first_step_no_method_has_an_answer(name):
    view = view_of(name, 0)
    for lane in view.lanes:
        assert (lane.p1 == 0.5).all() and not lane.shown.any() and estimate(lane) is None
        np.testing.assert_allclose(lane.path, [view.lanes[0].path[0]])


def test_opposites_share_a_corner_and_are_counted_there():
    """Of three spins' correlations there are four corners, of a configuration and its opposite each."""
    view = view_of("triangle", 12)
    (lane,) = view.lanes
    used = lane.configurations[lane.weights > averaged.IN_USE]
    corners = {min(tuple(each), tuple(1 - each)) for each in used}
    told = re.search(r"average of (\d+) configurations at (\d+) corners, after ", verdict.said(view)[0])
    assert [int(number) for number in told.groups()] == [len(used), len(corners)] and len(corners) < len(used)


def test_an_answer_on_several_lanes_has_its_room_from_the_start():
    for preset in INFERENCE:
        lanes = len(preset.plan.lanes)
        if lanes > 1 and preset.id != "segmentation":
            view = view_of(preset.id, 2)
            found, *beneath = verdict.said(view)
            room = verdict.letters(view)
            assert len(found) <= room[0] + 60, preset.id
            assert sum(map(len, beneath)) <= room[1] + 24 and bool(beneath) == bool(room[1]), preset.id
    assert verdict.letters(view_of("triangle", 2))[0] == 0


def test_an_objective_is_said_to_cross_log_z_only_where_it_is_below_and_the_walk_goes_on():
    view = view_of("triangle")
    for step in range(1, view.lanes[0].count + 1):
        then = seen_at(view, step)
        off = estimate(then.lanes[0]) - view.truth.solution.log_z
        assert ("may cross" in climbed(then, then.lanes[0])) == (off < 0)
        assert (" above the exact" in climbed(then, then.lanes[0])) == (off > 0)
    ended = replace(view.lanes[0], objective=view.truth.solution.log_z - 0.1)
    assert ended.done and f"below the exact log Z {WEIGHTS}. With" in climbed(view, ended)


def test_no_objective_is_above_its_own_maximum_by_rounding():
    view = view_of("edge")
    (lane,), exactly = view.lanes, view.truth.solution.log_z
    for off in (2.5e-8, -2.5e-8):
        said = climbed(view, replace(lane, objective=exactly + off))
        known = f"The objective {OBJECTIVE} is 1.628, as is the exact log Z {WEIGHTS}."
        assert said.startswith(f"{known} Without a loop its maximum is")
    assert answer("edge").endswith("0.553: the exact answer, to three digits.") and "; exactly 0.731" in answer(
        "edge", 1
    )


def test_of_a_walk_that_has_come_to_the_exact_answer_in_mid_run_the_next_call_is_said_to_tell_whether_it_is_the_top():
    view = view_of("edge")
    lane = replace(view.lanes[0], reason="")
    assert verdict.said(replace(view, lanes=(lane,)))[0].endswith(
        "0.553: the exact answer, to three digits." + verdict.NEXT
    )


def test_the_triangle_s_verdict_is_of_what_its_axes_show():
    """Correlations off the exact ones as on screen, by summing over all configurations, and of no coupling: 0."""
    view = view_of("triangle")
    spins = np.array(list(itertools.product((-1, 1), repeat=3)))
    weights = np.exp([view.model.log_weight((spin + 1) // 2) for spin in spins])
    pairs = np.stack([spins[:, i] * spins[:, j] for i, j in ((0, 1), (0, 2), (1, 2))], 1)
    exact = weights @ pairs / weights.sum()
    singles = weights @ (spins > 0) / weights.sum()
    number = r"([\d.]+)"
    told = rf"is {number} off exact correlations \(on average; {number} at the start\).*"
    told += rf"Single spins are {number} off \({number} at the start\)"
    offs = [view.lanes[0].path[-1] - exact, exact, view.lanes[0].p1 - singles, 0.5 - singles]
    assert [float(off) for off in re.search(told, answer("triangle")).groups()] == [
        float(f"{np.abs(off).mean():.2g}") for off in offs
    ]


def test_the_barriers_verdict_names_all_lanes_with_the_call_that_each_ended_at_or_its_gap():
    view = view_of("stall")
    counts = [lane.count for lane in view.lanes]
    assert [lane.label for lane in view.lanes] == [f"Barrier Frank-Wolfe, {name}" for name in NAMES]
    told = f"adaptive {counts[0]}, fixed {counts[1]}, no barrier {counts[2]} to a gap of 0.5"
    # Short enough for a class to be told all of it.
    assert answer("stall") == f"The barrier saves MAP calls: {told}." and counts == sorted(counts)
    early = answer("stall", 6)
    assert ": gaps after 6 MAP calls: " in early
    for lane, kind in zip(view.lanes, KINDS, strict=True):
        assert f"{kind} {gap_of(lane.trace[5]):.3g}" in early
    # Beneath it lanes are named by what tells them apart.
    beneath = verdict.said(view)[1]
    assert all(f"({name})" in beneath for name in NAMES) and "Barrier Frank-Wolfe" not in beneath


def test_pictures_of_the_barriers_race_come_nearer_to_exact_while_gaps_fall():
    """Else the largest part of the stage would tell another story than the verdict."""
    for lane in view_of("stall").lanes:
        start, *_, end = lane.errors.values()
        assert end < start / 10 and end < 1.1 * min(lane.errors.values())


def test_what_plain_frank_wolfe_takes_is_as_the_barriers_notice_has_it():
    view = view_of("stall")
    plain = solver("barrier_frank_wolfe", rho_updates=0, contraction="none", correction="never")
    lane = InferenceLane(plain, view.potentials, view.projection, 0, "")
    while not lane.state.reason:
        lane.advance()
    assert f"plain Frank-Wolfe takes {lane.count} MAP calls here" in preset_of(INFERENCE, "stall").notice


def test_the_barrier_is_held_to_the_walk_without_one_at_every_moment():
    view, said = view_of("stall"), set()
    for step in range(1, view.lanes[-1].count + 1):
        claims = re.match("The (.*?): ", answer("stall", step))[1]
        done = [step >= lane.count for lane in view.lanes]
        gaps = [float(f"{gap_of(lane_at(lane, min(step, lane.count)).trace[-1]):.3g}") for lane in view.lanes]
        # Which contractions are named as ahead of none: all of them where none is named.
        bare = view.lanes[2]
        ahead = [done[k] and view.lanes[k].count < bare.count if any(done) else gaps[k] < gaps[2] for k in (0, 1)]
        head = "saves MAP calls" if any(done) else "makes the gap smaller so far"
        who, rest = ("adaptive", "fixed") if ahead[0] else ("fixed", "adaptive")
        told = f"barrier {head}" if all(ahead) else f"{who} barrier {head}, the {rest} one not yet"
        assert claims == (told if any(ahead) else "barrier has not saved a MAP call yet")
        said.add(claims)
    assert len(said) > 2


def test_lanes_with_the_same_draws_are_said_to_have_them():
    view = view_of("error-bars", 6)
    assert np.array_equal(view.lanes[0].p1, view.lanes[1].p1)
    assert verdict.said(view)[1].endswith(verdict.SHARED)
    moved = replace(view.lanes[1].answer, unary=view.lanes[1].answer.unary[:, ::-1])
    apart = replace(view, lanes=(view.lanes[0], replace(view.lanes[1], answer=moved)))
    assert verdict.SHARED not in verdict.said(apart)[1]


def test_points_outside_the_polytope_are_told_by_their_correlations():
    view = view_of("cube")
    sums = [lane.path[-1].sum() for lane in view.lanes]
    found = [float(each.replace("−", "-")) for each in re.findall(r"(−[\d.]+) for ", answer("cube"))]
    assert answer("cube").startswith("Correlations that add up to less than −1: after ")
    assert found == pytest.approx(sums[1:], abs=0.01) and sums[0] > -1 > sums[1]
    bounds = [lane.answer.bound for lane in view.lanes]
    stays = f"the walk that stays inside proves log Z ≤ {bounds[0]:.3g}, those outside only {min(bounds[1:]):.3g}."
    assert stays in answer("cube")


def test_few_map_calls_are_those_since_which_marginals_have_been_good():
    view = view_of("grid")
    errors = [error(view, lane_at(view.lanes[0], step)) for step in range(1, view.lanes[0].count + 1)]
    since = max(k for k, off in enumerate(errors, 1) if off > 0.05) + 1
    assert answer("grid").startswith(
        f"{since} MAP calls: from then on marginals have stayed within 0.05 of the exact ones on average"
    )
    assert answer("grid", 3).startswith("More than 3 MAP calls: ")
    # What is so since the last step alone has not stayed so.
    for step in range(since + 1, view.lanes[0].count + 1):
        assert f"from {step} within" not in answer("grid", step)


def test_messages_and_walks_are_compared_by_bound_and_cost():
    view = view_of("clique")
    said = answer("clique")
    assert said.startswith("The one by MAP calls, with couplings so strong: the walk's is ") and "no bound" in said
    assert f"after {view.lanes[0].count} MAP calls (" in said and f"after {view.lanes[1].count} sweeps (" in said


def test_estimates_are_held_to_their_bars_and_copies_to_log_z():
    view = view_of("error-bars")
    held = [
        abs(lane.answer.log_z - view.truth.solution.log_z) <= 1.96 * lane.answer.standard_error for lane in view.lanes
    ]
    does = ["does" if good else "does not" for good in held]
    said = f"In this run bridge sampling's {does[0]}; the mirrored estimate's {does[1]}: "
    assert answer("error-bars").startswith(said)
    assert answer("error-bars", 1).startswith("No estimate yet")
    copies = verdict.said(view_of("inflated", 8))[0]
    assert copies.startswith("No, they break it: the mean maximum is ")
    assert "below log Z with 12 copies" in copies


def test_uncertain_pixels_of_a_scene_are_counted_for_every_lane():
    view = view_of("segmentation", 2)
    said = verdict.said(view)[0]
    for lane in view.lanes:
        assert f"{integer(((lane.p1 > 0.1) & (lane.p1 < 0.9)).sum())} by " in said
    assert said.startswith("Uncertain, with p between 0.1 and 0.9, are ") and "after 2 MAP calls and " in said
    assert f"after 2 sweeps, of {integer(12_000)} pixels; " in said
    # Before a class, which does not scroll, what is seen and what was drawn come with the walk.
    given = decode(update(view, Cursors(), Desk(large=True), ""))[0]["given"]
    assert [words for words, _ in given] == ["what is seen", "what was drawn"]
    assert all(address.startswith("data:image/") for _, address in given)
    assert decode(update(view, Cursors(), Desk(), ""))[0]["given"] is None
    assert decode(update(view_of("triangle"), Cursors(), Desk(large=True), ""))[0]["given"] is None


def test_corners_of_the_local_polytope_alone_are_called_fractional():
    walk, local, _ = view_of("cube").lanes
    assert all(re.fullmatch("[01]{3}", name) for name in walk.names)
    fractional = [name for name in local.names if not re.fullmatch("[01]{3}", name)]
    assert fractional and all(name == "fractional ½½½" for name in fractional), local.names


def test_a_model_of_ones_own_has_the_walks_words_and_several_lanes_their_bound():
    triangle, cube = view_of("triangle"), view_of("cube")
    own = InferenceView(**{**vars(triangle), "plan": triangle.plan.replace(beta=0.999)})
    average = "the weighted average of 6 configurations"
    assert verdict.said(own)[0].startswith(f"After 11 MAP calls μ is {average}; its marginals are ")
    several = InferenceView(**{**vars(cube), "plan": cube.plan.replace(beta=0.999)})
    found, beneath = verdict.said(several)
    assert re.match(r"[\d.]+ ≤ log Z ≤ [\d.]+ after \d+ MAP calls, [\d.]+ nats above the exact ", found)
    assert beneath.startswith("Marginals are off by ")


def test_corners_of_the_local_polytope_are_not_called_configurations_and_bound_log_z_from_above_alone():
    cube = view_of("cube")
    plan = cube.plan.replace(lanes=cube.plan.lanes[1:2], beta=1.0)
    view = InferenceView(**{**vars(cube), "plan": plan, "lanes": cube.lanes[1:2]})
    (lane,) = view.lanes
    assert any(name.startswith("fractional") for name in lane.names)
    count = int((lane.weights > 1e-9).sum())
    assert f"μ is the weighted average of {count} corners, some fractional" in verdict.said(view)[0]
    head, blobs = decode(update(view, Cursors(), Desk(), ""))
    line = next(card for card in head["traces"] if card["id"] == "log_z")["lines"][0]
    low, high = (np.frombuffer(blobs[line[key]], "<f4") for key in ("low", "high"))
    assert np.isnan(low[0]) and (low[1:] == -np.inf).all() and high[-1] == np.float32(lane.answer.bound)


def test_messages_alone_are_no_average_of_configurations():
    cube = view_of("cube")
    plan = cube.plan.replace(lanes=cube.plan.lanes[2:], beta=1.0)
    view = InferenceView(**{**vars(cube), "plan": plan, "lanes": cube.lanes[2:]})
    assert view.lanes[0].algorithm == "trbp" and view.lanes[0].done
    for step in (1, view.lanes[0].count):
        found, beneath = verdict.said(seen_at(view, step))
        assert re.match(rf"log Z ≤ [\d.]+ after {step} sweeps?, [\d.]+ nats above the exact ", found)
        assert beneath.startswith("Marginals are off by ") and "configurations" not in beneath
        head, _ = decode(update(seen_at(view, step), Cursors(), Desk(), ""))
        assert "low" not in next(card for card in head["traces"] if card["id"] == "log_z")["lines"][0]


def test_what_the_end_mends_without_a_call_is_told():
    """On the glass it takes the marginals from 0.020 off, which no call had come below, to 0.0074."""
    (lane,) = view_of("grid").lanes
    off = [error(view_of("grid"), lane_at(lane, step)) for step in (lane.count - 1, lane.count)]
    assert lane.done and off[1] < off[0] / 2 and lane.trace[-1]["gamma"] == 0
    last = "; then μ was made the best average of what was found."
    assert beneath("grid").endswith(last) and last not in beneath("grid", lane.count - 1)


def test_marginals_of_a_machine_differ_and_are_held_to_a_guess_that_knows_nothing():
    view = view_of("rbm")
    p1, off = view.truth.solution.p1, error(view, view.lanes[0])
    blank = np.abs(p1 - 0.5).mean()
    # What symmetry gives away is no answer.
    assert np.ptp(p1) > 0.5 and 0.05 < off < blank / 2
    assert answer("rbm").startswith(f"In part: marginals of single units are {off:.2g} off on average after ")
    assert f"p = 1/2 for all would be {blank:.2g} off" in answer("rbm")
    assert answer("rbm", 1).startswith("Not yet: ")


def test_errors_are_said_to_be_of_single_spins_where_the_picture_counts_pairs_too():
    told = verdict.said(view_of("ratios", 2))[0]
    assert ": of single spins they are " in told and ": marginals of single units are " in answer("rbm", 1)
    for name in ("rbm", "grid"):
        assert "All three count pairs of neighbours as well as single spins: " in view_of(name).projection.words


def test_the_centres_share_of_a_mixture_is_told_where_it_has_one():
    for name in ("edge", "triangle"):
        view = view_of(name)
        for step in range(1, view.lanes[0].count + 1):
            then = seen_at(view, step)
            rest = 1 - float(then.lanes[0].weights.sum())
            told = f"centre {rest:.2f}"
            sub = decode(update(then, Cursors(), Desk(), ""))[0]["lanes"][0]["sub"]
            assert (told in sub) is (rest >= 0.005)
            assert ("and the centre" in verdict.said(then)[0]) is (rest >= 0.005)


def test_a_climb_that_leads_away_from_the_exact_marginals_is_told_with_the_nearest_step():
    whole = moved()
    (lane,) = whole.lanes
    offs = {step: error(whole, lane_at(lane, step)) for step in range(1, lane.count + 1)}
    told = 0
    for step in range(2, lane.count + 1):
        nearest = min(range(1, step), key=offs.__getitem__)
        strayed = offs[nearest] <= verdict.STRAYED * offs[step]
        beneath = verdict.said(seen_at(whole, step))[1]
        assert (f"At MAP call {nearest} marginals were " in beneath) is strayed
        told += strayed
    assert 0 < told < lane.count


def test_before_a_class_too_the_top_that_is_found_is_said_to_be_near_exact():
    (lane,) = view_of("triangle").lanes
    for step in range(1, lane.count + 1):
        said = answer("triangle", step)
        spoken = re.sub(r" \([^()]*\)", "", said)
        # An average of few configurations would be a corner: a class, too, hears of the centre's share.
        assert (" and the centre, after " in spoken) is (float(lane_at(lane, step).weights.sum()) < 0.995)
        assert len(spoken.partition(" Single spins are ")[0]) <= 170
        there = "The walk ends: the graph has a loop, so it is near exact, not at it." in spoken
        assert there is (step == lane.count)


def test_the_triangle_walks_nearer_to_exact_up_to_its_end():
    """Its question is how a walk becomes marginals: what is left at its end is the objective's, not the walk's."""
    view = view_of("triangle")
    offs = np.abs(view.lanes[0].path - np.asarray(view.truth.place)).mean(1)
    assert offs[-1] < 0.1 * offs[0] and offs[-1] < 1.1 * offs.min()


def beneath(name: str, at: int | None = None) -> str:
    return " ".join(verdict.said(seen_at(view_of(name), at))[1:])


def test_the_objective_s_maximum_is_said_to_be_log_z_on_a_tree_and_an_upper_bound_elsewhere():
    view = view_of("triangle")
    exactly = view.truth.solution.log_z
    for step in range(1, view.lanes[0].count + 1):
        then = lane_at(view.lanes[0], step)
        side = "above" if then.objective > exactly else "below"
        off = f", {significant(abs(then.objective - exactly))} {side} the exact log Z {WEIGHTS}"
        known = beneath("triangle", step)
        assert off in known and "With loops its maximum is an upper bound of log Z, and not log Z itself." in known
    assert "maximum is log Z itself: no gap means solved" in beneath("edge", 1)


def test_a_best_bound_is_drawn_as_it_stands_up_to_now_and_no_later_one_changes_what_was_drawn():
    drawn = []
    for at in (40, 90, 150):  # A better one is proved at sweep 96.
        view = seen_at(view_of("clique", at), at)
        head, blobs = decode(update(view, Cursors(), Desk(), ""))
        (card,) = [card for card in head["traces"] if card["id"] == "excess"]
        lines = [[np.frombuffer(blobs[line[key]], "<f4") for key in ("x", "y")] for line in card["lines"]]
        assert [line[0][-1] for line in lines] == [lane.count for lane in view.lanes[: len(lines)]]
        drawn.append(lines[1])
    assert len(drawn[-1][0]) < drawn[-1][0][-1], "of each stretch its ends are enough"
    for (x, y), (more, later) in itertools.pairwise(drawn):
        assert np.array_equal(y, np.interp(x, more, later).astype(np.float32))
        assert np.array_equal(np.interp(np.arange(1, x[-1]), x, y), np.interp(np.arange(1, x[-1]), more, later))


@pytest.mark.parametrize("name", ["edge", "triangle", "grid"])
def test_verdict_objective_and_curve_are_of_the_point_to_which_the_step_led(name):
    whole = view_of(name)
    for step in (1, 2, whole.lanes[0].count):
        then = seen_at(whole, step)
        (lane,), (was,) = then.lanes, view_of(name, step).lanes
        state = stepped(name, step)
        objective = state.objective.value(state.mu)
        assert lane.objective == was.objective == estimate(lane) == objective and lane.rho_update == state.rho_update
        assert verdict.said(then)[1].startswith(f"The objective {OBJECTIVE} is {objective:.4g}")
        head, blobs = decode(update(then, Cursors(), Desk(), ""))
        (card,) = [card for card in head["traces"] if card["id"] == "log_z"]
        x, y, low, high = (np.frombuffer(blobs[card["lines"][0][key]], "<f4") for key in ("x", "y", "low", "high"))
        # Of a climb that is seen whole the start is seen, of which no MAP call has told anything.
        assert x.tolist() == list(range(int(name == "grid"), step + 1)) and y[-1] == np.float32(objective)
        assert np.isnan(low).sum() == np.isnan(high).sum() == int(name != "grid")
        assert high[-1] == np.float32(lane.answer.bound) and (name != "edge" or low[-1] == y[-1])


@cache
def stepped(name: str, steps: int) -> FrankWolfeState:
    """The engine's own state after so many steps."""
    plan = preset_of(INFERENCE, name).plan
    algorithm = plan.lanes[0].build()
    state = algorithm.start(Potentials.of_target(plan.target(resolve_model(plan.model, None)))[0])
    for _ in range(steps):
        state = algorithm.step(state)
    return state


def test_the_first_verdict_says_that_the_marginals_are_a_weighted_average_of_so_many_configurations():
    view = view_of("edge")
    for step in range(1, view.lanes[0].count + 1):
        then = seen_at(view, step).lanes[0]
        count = int((then.weights > 1e-9).sum())
        average = f"the weighted average of {count} configuration{'s' * (count > 1)} and the centre"
        assert f": μ, {average} (after {step} MAP call{'s' * (step > 1)}), has p(x" in answer("edge", step)
