"""Inference plans as links and command lines; lanes and goals of a live inference; projections and pictures."""

import random
import shlex
import time

import numpy as np
import pytest
from pairwise import all_states, random_pairwise

from pmpviz.__main__ import _parser
from pmpviz.capabilities.marginals import picture as frank_wolfe
from pmpviz.capabilities.marginals import polytope
from pmpviz.capabilities.marginals.live import LiveInference
from pmpviz.capabilities.marginals.moments import seen_at
from pmpviz.capabilities.marginals.page import command
from pmpviz.capabilities.marginals.plan import InferencePlan, solver
from pmpviz.capabilities.marginals.presets import INFERENCE
from pmpviz.capabilities.marginals.words import error
from pmpviz.live.link import from_query, to_query
from pmpviz.marginals import SOLVERS
from pmpviz.marginals.polytope import Cells
from pmpviz.marginals.projection import projection_of
from pmpviz.models import build_spec
from pmpviz.oracles import Potentials
from pmpviz.player.update import Cursors, Desk
from pmpviz.player.wire import Payload, decode
from pmpviz.types import Target

WAIT_SECONDS = 60.0


# Links and command lines.


@pytest.mark.parametrize("preset", INFERENCE, ids=lambda preset: preset.id)
def test_a_link_gives_the_plan_back(preset):
    default = InferencePlan("complete:4,J=2", 0.5, (solver("bp"),))
    assert from_query(to_query(preset.plan), default) == (preset.plan, [])


@pytest.mark.parametrize("cls", SOLVERS, ids=lambda cls: cls.spec.id)
def test_the_command_line_takes_what_the_page_says(cls):
    knobs = tuple((p.name, p.choices[-1] if p.choices else p.scale == "bool" or p.high) for p in cls.spec.params)
    plan = InferencePlan("complete:3", 0.44068679350977147, (solver(cls.spec.id, **dict(knobs)),))
    args = _parser().parse_args(shlex.split(command(plan, plan.lanes[0]))[3:])
    assert (args.model, args.algorithm, float(args.beta)) == ("complete:3", cls.spec.id, plan.beta)
    assert {name: getattr(args, f"knob_{name}") for name, _ in knobs} == {name: str(v) for name, v in knobs}


@pytest.mark.parametrize("seed", range(10))
def test_no_link_raises(seed):
    rng = random.Random(seed)
    letters = "abcxyz0123456789.,;:=+-_ %/\\\u00e9\n"
    for _ in range(20):
        names = rng.sample(["model", "beta", "lane1", "lane2", "x", "v"], 4)
        query = {key: "".join(rng.choice(letters) for _ in range(rng.randrange(30))) for key in names}
        plan, notices = from_query(query, INFERENCE[0].plan)
        assert isinstance(plan, InferencePlan) and all(isinstance(notice, str) for notice in notices)


def test_what_cannot_be_walked_in_is_told():
    query = {"model": "complete:400", "lane1": "bp;damping=7;nothing=1", "beta": "99"}
    plan, notices = from_query(query, INFERENCE[0].plan)
    assert plan.model == INFERENCE[0].plan.model and plan.beta == 20 and plan.lanes[0].full_knobs["damping"] == 0.99
    assert any("79,800 edges" in notice for notice in notices) and len(notices) == 4


# Projections.


def test_corners_of_the_known_polytopes_are_their_configurations():
    for spec, size in (("chain:2,periodic=false", 4), ("complete:3,J=-1", 4)):
        potentials, _ = Potentials.of_target(Target.of(build_spec(spec)))
        shown = projection_of(potentials)
        cells = Cells(potentials.structure)
        found = shown.of(np.stack([cells.vertex(x) for x in all_states(potentials.structure)]))
        assert shown.marginal is not None
        assert {tuple(np.round(row, 9)) for row in found} == {tuple(row) for row in shown.marginal[0]}
        assert len(shown.marginal[0]) == size


def test_the_first_axis_of_other_models_is_the_score():
    potentials = random_pairwise(0, n=6)
    shown, cells = projection_of(potentials), Cells(potentials.structure)
    for x in all_states(potentials.structure)[:9]:
        assert shown.of(cells.vertex(x))[0] == pytest.approx(float(potentials.value(x)))
    assert not np.allclose(shown.axes[1:], 0)


def test_beside_a_method_without_pairs_of_its_own_the_picture_is_of_single_spins_as_the_verdict_is(watched):
    ratios = next(preset.plan for preset in INFERENCE if preset.id == "ratios")
    shown = until(watched(ratios), lambda view: view.projection is not None).projection
    split = Cells(Potentials.of_target(Target.of(build_spec(ratios.model)))[0].structure).split
    assert not shown.axes[:, split:].any() and np.abs(shown.axes[:, :split]).sum(1).min() > 0.1
    assert "pairs" not in shown.words and "single spins" in shown.words
    counts = ratios.replace(lanes=ratios.lanes[:1])
    assert until(watched(counts), lambda view: view.projection is not None).projection.axes[:, split:].any()


@pytest.mark.parametrize("preset", INFERENCE[:8], ids=lambda preset: preset.id)
def test_the_picture_holds_all_that_is_drawn_in_it_before_the_first_step(watched, preset):
    live = watched(preset.plan)
    view = until(live, lambda view: view.truth is not None)
    walk = decode(frank_wolfe.update(view, Cursors(), Desk(("play",)), layer="marginals"))[0]["walk"]
    low, high = (np.array(side) for side in walk["box"])
    assert (high - low > 1e-3).all()
    # A place outside would be drawn at the picture's edge, or beyond it.
    for place in (walk["centre"], walk["exact"]):
        assert (low - 1e-9 <= place).all() and (place <= high + 1e-9).all()


# A live inference.


@pytest.fixture
def watched():
    """`watched(plan, speed)`: a live inference whose lease is kept, closed at the end."""
    begun = []

    def start(plan, speed=0.0):
        live = LiveInference(plan, None, speed)
        begun.append(live)
        until(live, lambda view: view.lanes)
        return live

    yield start
    for live in begun:
        live.close()


def until(live, condition):
    """The first view that meets the condition."""
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        live.touch()
        if condition(live.view):
            return live.view
        time.sleep(0.02)
    raise AssertionError(f"never so: {live.view.status}, {live.view.trouble}")


TRIANGLE = InferencePlan("complete:3,J=-1", 1.0, (solver("barrier_frank_wolfe", tolerance=0.01),))


def test_a_step_is_one_map_call_that_names_a_configuration(watched):
    live = watched(TRIANGLE)
    for count in (1, 2, 3):
        live.step()
        lane = until(live, lambda view, count=count: view.lanes[0].count == count).lanes[0]
        assert len(lane.path) == count + 1 and lane.shown.shape == (3,)
        assert any((lane.configurations == lane.shown).all(1))


def test_goals_are_the_gap_then_another_rho_then_the_end(watched):
    live = watched(TRIANGLE)
    live.run_to("gap")
    lane = until(live, lambda view: view.lanes[0].count and not view.playing).lanes[0]
    assert lane.trace[-1]["gap"] <= 0.01 and {r["rho_update"] for r in lane.trace} == {0} and not lane.done
    live.run_to("rho")
    before, lane = lane, until(live, lambda view: view.lanes[0].count > lane.count and not view.playing).lanes[0]
    assert not np.allclose(before.rho, lane.rho) or lane.count == before.count + 1
    live.run_to("end")
    lane = until(live, lambda view: view.lanes[0].done).lanes[0]
    assert lane.trace[-1]["rho_update"] == 10
    assert min(record["gap"] for record in lane.trace) >= -1e-6


def test_a_goal_is_run_to_without_the_pace_of_play(watched):
    live = watched(TRIANGLE, 0.01)
    live.run_to("end")
    until(live, lambda view: view.lanes[0].done)
    live.reset()
    live.play()
    time.sleep(0.5)
    assert live.view.lanes[0].count <= 1


def test_play_begins_a_walk_that_has_ended_again_and_goes_on_with_another(watched):
    live = watched(TRIANGLE)
    live.run_to("end")
    ended = until(live, lambda view: view.lanes[0].done and not view.playing)
    live.set_speed(2.0)
    live.play()
    view = until(live, lambda view: view.playing and 0 < view.lanes[0].count < ended.lanes[0].count)
    live.pause()
    count = until(live, lambda view: not view.playing).lanes[0].count
    live.play()
    assert until(live, lambda view: view.playing).lanes[0].count >= count >= view.lanes[0].count


def test_reset_and_another_setting_begin_anew(watched):
    live = watched(TRIANGLE)
    live.run_to("end")
    until(live, lambda view: view.lanes[0].done)
    live.reset()
    until(live, lambda view: view.lanes[0].count == 0)
    live.set_plan(TRIANGLE.replace(beta=2.0))
    view = until(live, lambda view: view.plan.beta == 2.0 and view.lanes)
    np.testing.assert_allclose(view.potentials.table, 2 * build_table("complete:3,J=-1"))


def build_table(spec):
    return Potentials.of_target(Target.of(build_spec(spec)))[0].table


def test_the_truth_arrives_and_pictures_hold_what_was_computed(watched):
    lanes = (*TRIANGLE.lanes, solver("barrier_frank_wolfe", polytope="local"), solver("trbp"))
    live = watched(TRIANGLE.replace(lanes=lanes))
    live.run_to("end")
    view = until(live, lambda view: view.truth is not None and all(lane.done for lane in view.lanes))
    meta, blobs = decode(frank_wolfe.update(view, Cursors(), Desk(("play",)), layer="marginals"))
    assert [lane["id"] for lane in meta["lanes"]] == ["0", "1", "2"]
    assert len({(lane["colour"], lane["dash"]) for lane in meta["lanes"]}) == 3
    walk = meta["walk"]
    assert walk["local"] and len(walk["marginal"]["edges"]) == 6 and "000 111" in walk["marginal"]["names"]
    np.testing.assert_allclose(walk["exact"], view.truth.place)
    for lane, sent in zip(view.lanes, walk["lanes"], strict=True):
        path = np.frombuffer(blobs[sent["path"]], "<f4").reshape(-1, 3)
        np.testing.assert_allclose(path, lane.path, atol=1e-6)
        assert sent["changes"] == [call for call in sent["changes"] if lane.trace[call - 1]["rho_update"]]
    assert error(view, view.lanes[0]) < 0.01
    # The relaxation leaves the tetrahedron: the correlations of a distribution sum to at least -1 here.
    assert view.lanes[0].path[-1].sum() >= -1 - 1e-9 > view.lanes[1].path[-1].sum()


def test_a_model_that_does_not_fit_is_told_in_the_view(watched):
    live = LiveInference(
        InferencePlan("square:9x9,periodic=false", 1.0, (solver("barrier_frank_wolfe", oracle="enumeration"),))
    )
    view = until(live, lambda view: view.trouble)
    assert "enumeration would list" in view.trouble
    live.close()


@pytest.mark.parametrize("name", [cls.spec.id for cls in SOLVERS])
def test_every_algorithm_can_be_a_lane_and_reach_every_goal(watched, name):
    live = watched(TRIANGLE.replace(lanes=(*TRIANGLE.lanes, solver(name))))
    for goal in ("gap", "rho", "end"):
        live.run_to(goal)
        until(live, lambda view: not live.busy and not view.playing and all(lane.count for lane in view.lanes))
        assert live.view.trouble is None
    until(live, lambda view: all(lane.done for lane in view.lanes))


def test_a_step_moves_every_lane_once(watched):
    live = watched(TRIANGLE.replace(lanes=(*TRIANGLE.lanes, solver("trbp"))))
    live.run_to("gap")
    before = until(live, lambda view: not view.playing and all(lane.count for lane in view.lanes))
    counts = [lane.count + (not lane.done) for lane in before.lanes]
    live.step()
    until(live, lambda view: [lane.count for lane in view.lanes] == counts)


def test_a_long_walk_keeps_its_steps_and_ends_with_the_present(monkeypatch):
    from pmpviz.capabilities.marginals import lane as lanes

    monkeypatch.setattr(lanes, "MOST_PATH", 8)
    potentials = random_pairwise(0, n=6, density=1.0, strength=3.0)
    plan = solver("barrier_frank_wolfe", tolerance=1e-4, calls_per_rho=60)
    lane, whole = lanes.InferenceLane(plan, potentials, projection_of(potentials), 0), {}
    while not lane.state.reason:
        lane.advance()
        step = lane.count
        view = lane.view()
        whole[step] = view.path[-1]
        assert view.steps[-1] == step and len(view.steps) <= 10 and (np.diff(view.steps) > 0).all()
        for at, point in zip(view.steps[1:], view.path[1:], strict=True):
            np.testing.assert_array_equal(point, whole[at])
    assert lane.count > 20


def test_a_step_of_a_long_path_that_is_looked_back_at_is_sent_with_what_was_known_then(monkeypatch, watched):
    from pmpviz.capabilities.marginals import lane as lanes

    monkeypatch.setattr(lanes, "MOST_PATH", 8)
    live = watched(TRIANGLE.replace(lanes=(solver("trbp"),)))
    live.run_to("end")
    view = until(live, lambda view: view.lanes and view.lanes[0].done)
    (lane,) = view.lanes
    thinned = next(step for step in range(1, lane.count) if step not in lane.steps)
    payload = Payload()

    def sent(index, dtype="<f4"):
        return np.frombuffer(payload.blobs[index], dtype)

    (walk,) = polytope.scene(payload, view, seen_at(view, thinned))["lanes"]
    place = sent(walk["steps"], "<i4").tolist().index(thinned)
    assert sent(walk["objective"])[place] == np.float32(lane.trace[thinned - 1]["objective"])
    p1 = dict(walk["averages"])[thinned]
    np.testing.assert_allclose(sent(p1), lane.kept[thinned].answer.unary[:, 1], atol=1e-6)
    assert len(sent(walk["path"])) == 3 * len(sent(walk["steps"], "<i4"))


def test_a_badge_says_what_was_certified():
    from pmpviz.capabilities.marginals.lane import promise

    potentials = random_pairwise(0, n=6, density=1.0, strength=3.0)
    words = {}
    for oracle in ("exact", "icm", "linear_program"):
        algorithm = solver("barrier_frank_wolfe", oracle=oracle, calls_per_rho=5).build()
        words[oracle] = promise(algorithm, algorithm.step(algorithm.start(potentials)))
    assert words == {"exact": "certified", "icm": "no bound", "linear_program": "oracle's bound"}
