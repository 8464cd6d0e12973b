"""What the Messages page says and sends: links, layout, sentences, the blob for the browser."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from pmpviz.app.presets import preset_of
from pmpviz.capabilities.messages import picture as messages
from pmpviz.capabilities.messages.layout import layout
from pmpviz.capabilities.messages.page import _same_question, correlation_of, story_of, table
from pmpviz.capabilities.messages.plan import MessagePlan, knobs_of, next_value, with_knob
from pmpviz.capabilities.messages.presets import MESSAGES
from pmpviz.capabilities.messages.recording import TOLERANCE
from pmpviz.capabilities.messages.settings import checked, graph_of, target_of
from pmpviz.capabilities.messages.thumbnail import graph_picture
from pmpviz.capabilities.messages.words import (
    _decoded_in_turn,
    bethe_words,
    decoded_words,
    messages_by_sweep,
    repeats_from,
    thresholds_words,
    ties,
    verdict,
)
from pmpviz.live.link import from_query, to_query
from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.factors import TableFactor
from pmpviz.models.small_graphs import SMALL_GRAPHS, build_small_graph
from pmpviz.models.spec import build_spec
from pmpviz.player.numbers import significant
from pmpviz.player.wire import decode
from pmpviz.types import Evidence, InputError, Refusal, Target

OWN = MessagePlan("potts:J=0.4", "sequential", 0.35, "between", 7.5, 33, "sweep", ((0, 2), (5, 1)))
WEB = MessagePlan("triangle:J=1.5", schedule="parallel", rule="max")


def status(plan: MessagePlan) -> str:
    return story_of(plan).steps[-1].status


# Links.


@pytest.mark.parametrize("plan", [*(p.plan for p in MESSAGES), OWN, WEB], ids=lambda plan: plan.graph)
def test_a_plan_is_the_same_after_a_link(plan):
    assert from_query(to_query(plan), MESSAGES[0].plan) == (plan, [])


@pytest.mark.parametrize(
    ("query", "said", "kept"),
    [
        ({"graph": "square:9x9"}, "no graph 'square'", {"graph": "tree"}),
        ({"graph": "triangle:J=99"}, "J is 99", {"graph": "tree"}),
        ({"damping": "2"}, "outside 0 to 0.95", {"damping": 0.95}),
        ({"sweeps": "9999"}, "outside 1 to 200", {"sweeps": 200}),
        ({"rule": "min"}, "sum, max, between", {"rule": "sum"}),
        ({"evidence": "99:1,0:1,0:x"}, "left out", {"evidence": ((0, 1),)}),
        ({"graph": "triangle", "schedule": "two_pass"}, "without a loop", {"schedule": "parallel"}),
        ({"colour": "red"}, "do not exist", {}),
    ],
)
def test_a_bad_link_is_mended_with_a_notice(query, said, kept):
    plan, notices = from_query(query, MESSAGES[0].plan)
    assert any(said in notice for notice in notices), notices
    assert {name: getattr(plan, name) for name in kept} == kept


def test_a_loop_through_a_held_variable_leaves_two_passes_possible():
    plan, notices = from_query({"graph": "triangle", "schedule": "two_pass", "evidence": "0:1"}, MESSAGES[0].plan)
    assert plan.schedule == "two_pass" and not notices
    assert status(plan) == "exact"


def test_clicks_hold_a_variable_at_each_state_and_free_it_again():
    held: tuple = ((1, 0),)
    seen = []
    for _ in range(4):
        held = next_value(held, 0, 3)
        seen.append(dict(held).get(0))
    assert seen == [0, 1, 2, None] and held == ((1, 0),)


def test_a_graph_too_large_is_refused_with_its_size():
    with pytest.raises(Refusal, match="up to 64 variables, and this one has 65"):
        checked(FactorGraph.of((2,) * 65))
    assert checked(FactorGraph.of((2,) * 64)).n == 64
    assert checked(build_spec("square:8x8,periodic=false")).n == 64
    with pytest.raises(Refusal, match="up to 600 edges of more than 16 variables, and this graph has 1,560"):
        checked(build_spec("complete:40"))


def test_a_file_that_is_not_here_is_asked_for():
    with pytest.raises(InputError, match="bring the file"):
        graph_of("file:" + "a" * 64)


# Layout.


@pytest.mark.parametrize("graph", SMALL_GRAPHS, ids=lambda graph: graph.id)
def test_no_two_nodes_are_drawn_over_one_another(graph):
    model = graph.build()
    scopes = [factor.scope for factor in model.factors()]
    for given in (np.array(graph.places()), None):
        variables, factors = layout(model.n, scopes, given)
        nodes = np.concatenate([variables, factors])
        away = np.linalg.norm(nodes[:, None] - nodes[None], axis=-1)[~np.eye(len(nodes), dtype=bool)]
        between = np.linalg.norm(variables[:, None] - variables[None], axis=-1)[~np.eye(model.n, dtype=bool)]
        assert len(factors) == len(scopes) and away.min() > 0.1 * between.min()


def test_factors_of_one_variable_and_of_crossing_edges_have_places_of_their_own():
    corners = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
    _, factors = layout(4, [(0, 2), (1, 3), (0,), (0,)], corners)
    assert np.linalg.norm(factors[0] - factors[1]) > 0.1
    assert np.linalg.norm(factors[2:] - corners[0], axis=1).min() > 0.3
    assert np.linalg.norm(factors[2] - factors[3]) > 0.2


# Sentences.


def test_the_undamped_triangle_oscillates_with_period_six_from_the_sweep_that_is_told():
    plan = preset_of(MESSAGES, "triangle").plan
    story = story_of(plan)
    last = story.steps[-1]
    rows = messages_by_sweep(story.record)
    assert last.status == "oscillating" and "period 6" in last.words and story.record.period == 6
    at = repeats_from(story.record)
    assert at == last.sweep
    np.testing.assert_allclose(rows[at - 7 : at + 1], rows[at - 13 : at - 5], atol=1e-6)
    for shorter in range(1, 6):
        assert np.abs(rows[at - 5 : at + 1] - rows[at - 5 - shorter : at + 1 - shorter]).max() > 1e-3
    said = verdict(story.record, story.errors, story.steps)
    assert "oscillates with period 6" in said
    why = "messages go round the loop, whose negative couplings are odd in number, and come back reversed"
    assert said.endswith(f": without damping {why}.")
    # The large line answers the page's question.
    assert last.words == "Oscillates with period 6: round this loop messages come back reversed."


def test_beliefs_that_are_right_before_any_message_are_told_to_be_spoilt_by_what_goes_round():
    spoilt = "Beliefs are right before any message here"
    triangle = story_of(preset_of(MESSAGES, "triangle").plan)
    assert triangle.errors[0] < 1e-5 < triangle.errors.max() and spoilt in triangle.steps[0].words
    for other in ("cycle", "lattice", "chain", "wrong_model"):
        assert spoilt not in story_of(preset_of(MESSAGES, other).plan).steps[0].words


@pytest.mark.parametrize(
    "plan",
    [
        preset_of(MESSAGES, "tree").plan,
        preset_of(MESSAGES, "or").plan,
        MessagePlan("tree", schedule="sequential", sweeps=5),
        MessagePlan("chain", schedule="parallel", sweeps=8),
        MessagePlan("and_or", schedule="parallel", sweeps=5),
    ],
)
def test_bethe_is_exact_on_a_tree_as_soon_as_all_messages_towards_some_node_are_what_they_will_be(plan):
    story = story_of(plan)
    right = np.abs(np.asarray(story.record.bethe_sent) - story.log_z) < 1e-9
    came = first_with_all_news(story.record)
    assert right[came:].all() and not right[:came].any()
    assert came < len(right) - 1 or not came


def first_with_all_news(record) -> int:
    """After how many messages all those to variables that lead to some one node are what they are at the end."""
    edges = list(zip(record.edge_factor.tolist(), record.edge_variable.tolist(), strict=True))
    down = np.flatnonzero(record.to_variable)
    final = {edge: record.after[down[record.edge[down] == edge][-1]] for edge in range(len(edges))}
    flat = np.zeros(record.after.shape[1])
    right_from = {}
    for edge in range(len(edges)):
        own = down[record.edge[down] == edge]
        said = [flat, *record.after[own]]
        wrong = [k for k, each in enumerate(said) if not np.allclose(each, final[edge], atol=1e-9)]
        right_from[edge] = 0 if not wrong else int(own[wrong[-1]]) + 1

    def news(factor: int | None, variable: int | None, via: int) -> int:
        if factor is not None:
            near = [(e, v) for e, (f, v) in enumerate(edges) if f == factor and e != via]
            return max((news(None, v, e) for e, v in near), default=0)
        near = [(e, f) for e, (f, v) in enumerate(edges) if v == variable and e != via]
        return max((max(right_from[e], news(f, None, e)) for e, f in near), default=0)

    nodes = {(f, None) for f, _ in edges} | {(None, v) for _, v in edges}
    return min(news(*node, -1) for node in nodes)


@pytest.mark.parametrize("couplings", [{"h": 3.0}, {"rule": "sum"}])
def test_a_frustrated_loop_with_strong_fields_or_by_sum_product_comes_to_rest(couplings):
    """What the verdict and the notice call the cause of the oscillation is needed for it."""
    plan = preset_of(MESSAGES, "triangle").plan
    plan = plan.replace(graph=f"triangle:h={couplings['h']}") if "h" in couplings else plan.replace(**couplings)
    story = story_of(plan.replace(sweeps=200))
    assert story.steps[-1].status == "converged"
    assert "odd in number" not in verdict(story.record, story.errors, story.steps)


def test_half_damping_brings_the_triangle_to_rest():
    plan = preset_of(MESSAGES, "triangle").plan.replace(damping=0.5)
    story = story_of(plan)
    assert plan.computed == preset_of(MESSAGES, "damped").plan.computed
    assert story.steps[-1].status == "converged" and story.record.residual[-1] < 1e-4
    # Words and curve, which has a sweep's change at its end, come below the line in the same sweep.
    first = 1 + int(np.argmax(story.record.residual < TOLERANCE))
    change = significant(story.record.residual[first - 1])
    assert story.steps[-1].sweep == first < 88
    assert story.steps[-1].words.startswith(f"Messages converged at sweep {first} (largest change {change})")
    off = significant(float(story.errors[first]), 2)
    assert f"; beliefs are off by up to {off}." in story.steps[-1].words
    assert f"converged, at sweep {first};" in verdict(story.record, story.errors, story.steps)
    assert "approximate" in verdict(story.record, story.errors, story.steps)


def test_two_passes_are_exact_on_a_tree_after_one_message_each_way():
    story = story_of(preset_of(MESSAGES, "tree").plan)
    assert [(m.sweep, m.status) for m in story.steps] == [(0, "running"), (1, "exact")]
    assert story.errors[0] > 0.01 and story.errors[1] < 1e-12
    assert "two passes" in story.steps[-1].words
    count = f"after {2 * len(story.record.edge_factor)} messages, one each way over each of the"
    assert f"Exact {count}" in story.steps[-1].words
    assert "exact, to rounding: nothing" in verdict(story.record, story.errors, story.steps)
    assert len(story.record.residual) == 1, "nothing is played that changes nothing"
    # While it plays it is said how many messages have made how many beliefs exact.
    sent = f"After {{sent}} of {2 * len(story.record.edge_factor)} messages to the root and back, "
    assert story.steps[0].words == sent + f"{{right}} of {story.target.n} beliefs are exact."
    chain = story_of(MessagePlan("chain", schedule="parallel", sweeps=12)).steps[1]
    assert "{right} of " in chain.words and "{residual}" in chain.words
    assert "{right}" not in story_of(WEB).steps[1].words


@pytest.mark.parametrize(
    ("held", "words"),
    [
        ({3: 1}, "The effect makes causes likelier, x1 0.20 → 0.41. Hold x1 by a click."),
        ({3: 1, 0: 1}, "x1 explains the effect away: x2 is back from 0.41 to 0.20, exactly."),
        ({3: 1, 0: 0}, "Not x1: the others must explain the effect, x2 0.41 → 0.56, exactly."),
        ({3: 0}, "Exact after "),
        ({}, "Exact after "),
    ],
)
def test_what_an_effect_says_of_its_causes_and_they_of_one_another(held, words):
    """1 / 0.488 of the prior 0.2, 0.488 = 1 - 0.8 ** 3 being that of the effect; of two causes 0.2 / 0.36."""
    preset = preset_of(MESSAGES, "or").plan
    assert story_of(preset.replace(evidence=tuple(sorted(held.items())))).steps[-1].words.startswith(words)


def test_the_knob_beneath_the_picture_leads_from_the_sum_towards_the_maximum():
    cycle = preset_of(MESSAGES, "cycle").plan
    ((name, value),) = [(handle.name, handle.value) for handle in knobs_of(cycle, False)]
    assert (name, value) == ("beta", 1.0)
    turned = with_knob(cycle, "beta", 20.0)
    assert (turned.rule, turned.beta) == ("between", 20.0) and with_knob(turned, "beta", 1.0).rule == "sum"
    for plan, is_tree in ((WEB, False), (preset_of(MESSAGES, "chain").plan, True)):
        assert [(handle.name, handle.value) for handle in knobs_of(plan, is_tree)] == [("damping", 0.0)]
    assert with_knob(WEB, "damping", 0.5).damping == 0.5
    for wrong in (("beta", math.nan), ("graph", 1.0), ("sweeps", 3.0)):
        assert with_knob(cycle, *wrong) == cycle
    assert knobs_of(preset_of(MESSAGES, "tree").plan, True) == []


@pytest.mark.parametrize("length", [2, 5, 9])
def test_news_crosses_a_chain_in_as_many_sweeps_as_its_diameter(length):
    plan = MessagePlan(f"chain:length={length}", schedule="parallel", sweeps=20)
    story = story_of(plan)
    last = story.steps[-1]
    assert (last.status, last.sweep) == ("exact", length - 1)
    assert f"diameter is {length - 1}" in last.words
    assert story.errors[length - 1] < 1e-12
    assert length == 2 or story.errors[length - 2] > 1e-5


def test_a_damped_tree_comes_to_the_exact_beliefs_only_in_the_limit():
    story = story_of(MessagePlan("chain", schedule="parallel", damping=0.5, sweeps=80))
    assert story.steps[-1].status == "exact" and "limit" in story.steps[-1].words
    short = story_of(MessagePlan("chain", schedule="parallel", damping=0.9, sweeps=8))
    assert short.steps[-1].status == "running"
    assert "still settling" in verdict(short.record, short.errors, short.steps) or "neither" in verdict(
        short.record, short.errors, short.steps
    )


def test_a_run_that_ends_too_early_says_how_to_go_on():
    plan = preset_of(MESSAGES, "triangle").plan.replace(damping=0.271)
    last = story_of(plan).steps[-1]
    assert (last.sweep, last.status) == (88, "running")
    assert last.words.endswith("and falls: give more sweeps in the side bar.")
    assert story_of(plan.replace(sweeps=200)).steps[-1].status == "converged"
    slow = story_of(plan.replace(sweeps=200, damping=0.9)).steps[-1]
    assert slow.words.endswith("no more sweeps are recorded; less damping may be quicker.")


def test_what_damping_does_is_said_once_the_damped_run_has_converged():
    damped, tree = (preset_of(MESSAGES, name).plan for name in ("damped", "chain"))
    assert story_of(damped).steps[-1].words.endswith(" Undamped these messages oscillate with period 6.")
    assert "Undamped" not in story_of(tree.replace(damping=0.3)).steps[-1].words
    assert "Undamped" not in story_of(preset_of(MESSAGES, "lattice").plan).steps[-1].words


def test_bethe_is_exact_on_the_tree_and_off_on_four_joined_variables():
    tree, four = story_of(preset_of(MESSAGES, "tree").plan), story_of(preset_of(MESSAGES, "wrong_model").plan)
    assert "to rounding" in bethe_words(tree.record, tree.log_z)
    assert "difference of −0.4" in bethe_words(four.record, four.log_z)
    assert bethe_words(story_of(WEB).record, 1.0) == ""


def test_what_max_product_decodes_is_compared_to_the_maximum():
    story = story_of(preset_of(MESSAGES, "lattice").plan.replace(rule="max"))
    model = story.target.model

    def weigh(x):
        return float(model.log_weight(x.astype(np.int8)))

    assert "is a maximum" in decoded_words(story.record, weigh, story.truth.maximum)
    assert "1.00 below the maximum" in decoded_words(
        story.record, weigh, 1.0 + weigh(story.record.beliefs[-1].argmax(1))
    )
    assert "forbid" in decoded_words(story.record, lambda x: -math.inf, 0.0)


def test_of_an_oscillation_the_answers_of_its_whole_cycle_are_told():
    record = story_of(preset_of(MESSAGES, "triangle").plan).record
    said = decoded_words(record, lambda x: 0.0, 0.0)
    assert said.startswith("In its cycle of 6 sweeps each variable's best state gives x = ")
    told = said.partition("x = ")[2].partition(", and so on")[0].split(", ")
    for states, beliefs in zip(told, record.beliefs[-6:], strict=False):
        for state, (low, high) in zip(states.split(), beliefs, strict=True):
            assert state == "?" or int(state) == (high > low), (states, beliefs)
    for several in ({"0 0", "1 1"}, {str(k) for k in range(9)}):
        assert all(words in _decoded_in_turn(2 * len(several), sorted(several) * 2) for words in sorted(several)[:2])
    # What a sum that oscillates says of log Z, too.
    two = SimpleNamespace(bethe=np.array([7.0, 1.25, 1.5]), period=2)
    between = "In its cycle Bethe's estimate of log Z goes between 1.2500 and 1.5000"
    assert bethe_words(two, 1.3) == f"{between}, exactly 1.3000."


def test_beliefs_that_tie_as_far_as_the_last_change_can_tell_decide_nothing():
    damped = preset_of(MESSAGES, "damped").plan
    for plan in (damped, damped.replace(damping=0.142)):
        story = story_of(plan)
        beliefs = story.record.beliefs[-1]
        # They are not equal, and would be if the run went on.
        assert 1e-9 < np.abs(beliefs - 0.5).max() < 1e-4 and ties(story.record).all()
        said = decoded_words(story.record, lambda x: 0.0, 0.0)
        assert said == "At its end the beliefs tie: they prefer no state of any variable, and decide nothing."
    # Of a run without end nothing is still to come.
    assert not ties(story_of(preset_of(MESSAGES, "triangle").plan).record).any()
    cause = story_of(preset_of(MESSAGES, "or").plan.replace(rule="max"))
    said = decoded_words(cause.record, lambda x: 0.0, 0.0)
    assert said.startswith("At its end each variable's best state gives x = ? ? ? 1; at a ? beliefs tie")


def test_no_message_of_a_run_is_stronger_than_the_full_colour_unless_it_is_said():
    for preset in MESSAGES:
        story = story_of(preset.plan)
        rows = story.record.after
        with np.errstate(invalid="ignore"):
            ratios = np.abs(rows[:, 1:] - rows[:, :1])
        most = ratios[np.isfinite(ratios) & (ratios < 1e6)].max(initial=0)
        head, _ = decode(messages.blob(story))
        assert (most > head["limit"]) == head["beyond"]


def test_a_damped_triangle_is_asked_what_damping_does():
    def asked(plan):
        return next(each.id for each in MESSAGES if _same_question(each.plan, plan))

    damped, wild = (preset_of(MESSAGES, name).plan for name in ("damped", "triangle"))
    assert asked(damped.replace(damping=0.142)) == asked(wild.replace(damping=0.1)) == "damped"
    assert asked(damped.replace(damping=0.0)) == asked(wild.replace(sweeps=20)) == "triangle"
    for preset in MESSAGES:
        assert asked(preset.plan) == preset.id
    lattice = preset_of(MESSAGES, "lattice").plan
    assert asked(lattice.replace(damping=0.0)) == "lattice"


def test_the_three_thresholds_of_four_joined_variables_are_kept_apart():
    assert correlation_of(0.315) < 0.5 < correlation_of(0.317)
    answers = {t: [w.split("**")[1] for w in thresholds_words(t, correlation_of(t), -0.1)] for t in (0.2, 0.45, 0.6)}
    assert ["Yes" in answers[t][0] for t in (0.2, 0.45, 0.6)] == [True, False, False]
    assert ["Yes" in answers[t][1] for t in (0.2, 0.45, 0.6)] == [True, True, False]
    assert all("No" in answers[t][2] for t in answers)


@pytest.mark.parametrize("theta", [0.5, 0.6])
def test_the_symmetric_fixed_point_is_stable_below_artanh_one_half_and_not_above(theta):
    """A field of 1e-4 stays small where the fixed point is stable, and is blown up beyond the threshold."""
    plan = MessagePlan(f"wrong_model:theta={theta},h=0.0001", schedule="parallel", sweeps=200)
    beliefs = story_of(plan).record.beliefs[-1, :, 1]
    assert (abs(beliefs - 0.5).max() < 0.01) == (theta < math.atanh(0.5))


# The blob.


@pytest.mark.parametrize("preset", MESSAGES, ids=lambda preset: preset.id)
def test_the_browser_is_sent_the_recording_itself(preset):
    story = story_of(preset.plan)
    words, blobs = decode(messages.blob(story))
    record = story.record
    edge = np.frombuffer(blobs[words["edge"]], "<i4")
    after = np.frombuffer(blobs[words["after"]], "<f8").reshape(len(edge), words["states"])
    np.testing.assert_array_equal(edge, record.edge)
    shown = np.isfinite(record.after)
    np.testing.assert_array_equal(after[shown], record.after[shown])
    assert (after[~shown] < -1e20).all() and np.isfinite(after).all()
    assert words["ends"][-1] == len(edge) and len(words["ends"]) == len(record.residual)
    assert words["limit"] > 0 and words["milestones"][0][0] == 0
    np.testing.assert_array_equal(np.frombuffer(blobs[words["errors"]], "<f8"), story.errors)
    assert len(words["variables"]) == story.target.n and len(words["factors"]) == len(record.factor_scope)


def test_a_factor_says_what_it_is_and_a_held_variable_what_it_is_held_at():
    plan = MessagePlan("cardinality:low=0,high=2", schedule="parallel", evidence=((2, 1),), sweeps=4)
    words, blobs = decode(messages.blob(story_of(plan)))
    (factor,) = words["factors"]
    assert factor["label"] == "≤ 2" and factor["joint"] == 16
    table_of_factor = np.frombuffer(blobs[factor["table"]], "<f8").reshape(2, 2, 2, 2)
    assert table_of_factor[1, 1, 0, 0] == 0 and table_of_factor[1, 1, 1, 0] < -1e20
    assert [v["evidence"] for v in words["variables"]] == [-1, -1, 1, -1]
    assert "x3 at 1" in words["alt"] and "1 cardinality" in words["alt"]
    own = np.frombuffer(blobs[words["unary"]], "<f8").reshape(4, 2)
    assert own[2, 0] < -1e20 and np.isfinite(own[2, 1])


def test_another_setting_is_another_run_but_another_way_of_playing_is_not():
    plan = preset_of(MESSAGES, "triangle").plan
    names = {messages.run_of(p) for p in (plan, plan.replace(damping=0.1), plan.replace(evidence=((0, 1),)))}
    assert len(names) == 3
    assert messages.run_of(plan) == messages.run_of(plan.replace(play="message"))


def test_a_table_too_large_to_list_is_left_out():
    model = FactorGraph.of((2,) * 13, None, [TableFactor(tuple(range(13)), np.zeros((2,) * 13))])
    plan = MessagePlan("own", schedule="parallel", sweeps=2)
    words, _ = decode(messages.blob(messages.tell(plan, Target.of(model, Evidence.none(13)))))
    assert words["factors"][0]["table"] is None and words["factors"][0]["joint"] == 8192


def test_between_sum_and_max_beliefs_are_compared_to_the_model_at_that_temperature():
    plan = MessagePlan("chain:length=4", schedule="parallel", rule="between", beta=4.0, sweeps=8)
    story = story_of(plan)
    assert story.errors[-1] < 1e-12
    assert abs(story.exact - story_of(plan.replace(rule="sum")).exact).max() > 0.01


def test_the_table_has_a_row_a_message_and_the_engines_numbers():
    story = story_of(preset_of(MESSAGES, "tree").plan)
    rows = [line.split(",") for line in table(story).splitlines()]
    assert len(rows) == 1 + len(story.record.edge)
    assert rows[0][:4] == ["sweep", "factor", "variable", "direction"]
    assert [float(v) for v in rows[5][-2:]] == story.record.after[4].tolist()


def test_the_picture_of_a_run_shows_its_beliefs():
    story = story_of(preset_of(MESSAGES, "cardinality").plan.replace(evidence=((0, 1), (1, 1))))
    pixels = np.asarray(graph_picture(story, side=200)).reshape(-1, 3)
    for colour in ((213, 94, 0), (0, 114, 178)):
        assert (np.abs(pixels.astype(int) - colour).max(1) < 8).sum() > 100
    with pytest.raises(InputError):
        target_of(MessagePlan("nothing"))
    assert build_small_graph("triangle").n == 3
