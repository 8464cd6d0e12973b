"""The Messages page without a browser: presets, controls, held variables, bad links, files."""

from __future__ import annotations

import pytest
from opened import open_page, own_run, run, update  # noqa: F401
from streamlit.testing.v1 import AppTest

from pmpviz.capabilities.messages.presets import MESSAGES
from pmpviz.io.json_model import model_to_json
from pmpviz.io.uai import write_uai
from pmpviz.models.small_graphs import build_small_graph
from pmpviz.models.spec import build_spec

TRIANGLE = {"graph": "triangle", "schedule": "parallel", "rule": "max", "sweeps": "60", "play": "run"}
UAI_PAIR = "MARKOV\n2\n2 3\n1\n2 0 1\n6\n1 2 3 4 5 6\n"


def opened(**query: str) -> AppTest:
    return open_page("messages", query)


def last(test: AppTest) -> list:
    """[sweep, status, words] of the last thing that can be said of the run on the page."""
    return update(test)["milestones"][-1]


def plain(boxes) -> str:
    return " ".join(box.value for box in boxes).replace("\\", "")


@pytest.mark.parametrize("preset", MESSAGES, ids=lambda preset: preset.id)
def test_every_preset_opens_with_its_question(preset):
    test = opened()
    test.selectbox(key="messages_preset").set_value(preset.id)
    run(test)
    assert any(preset.question in m.value for m in test.markdown)
    assert update(test)["play"] == preset.plan.play and not test.error and not test.warning
    assert test.selectbox(key="messages_preset").value == preset.id
    # The address of the first one says nothing: it is what the page opens with.
    assert test.query_params.get("graph", MESSAGES[0].plan.graph) in (preset.plan.graph, [preset.plan.graph])


def test_damping_stops_the_triangles_oscillation():
    test = opened(**TRIANGLE)
    assert last(test)[1] == "oscillating" and "period 6" in last(test)[2]
    before = update(test)["run"]
    test.number_input(key="messages_sweeps").set_value(88)
    test.slider(key="messages_damping").set_value(0.5)
    run(test)
    assert last(test)[1] == "converged" and update(test)["run"] != before
    assert "damping=0.5" in f"damping={test.query_params['damping'][0]}" or test.query_params["damping"] == "0.5"


def test_a_tree_is_told_that_a_sweep_is_both_passes_and_of_its_end_as_its_end():
    head = update(opened())
    assert "of 24 messages to the root and back" in head["milestones"][0][2]
    assert (
        head["verdict"] == "At its end the run is exact, to rounding: nothing changes any more."
        and len(head["ends"]) == 1
    )


def test_sum_max_and_what_lies_between():
    test = opened(graph="chain", schedule="parallel", sweeps="12")
    assert update(test)["temperature"] == 1 and "At the run's end Bethe's" in plain(test.markdown)
    test.get("button_group")[0].set_value("max")
    run(test)
    assert update(test)["temperature"] == 0 and "At its end each variable's best state gives x =" in plain(
        test.markdown
    )
    test.get("button_group")[0].set_value("between")
    run(test)
    assert update(test)["temperature"] == pytest.approx(1 / 3)


def test_a_held_variable_and_the_link_to_it():
    test = opened(graph="or_factor", schedule="two_pass")
    test.selectbox(key="messages_hold_3_2").set_value("1")
    run(test)
    assert [v["evidence"] for v in update(test)["variables"]] == [-1, -1, -1, 1]
    assert test.query_params["evidence"] in ("3:1", ["3:1"])
    test.selectbox(key="messages_graph").set_value("triangle")
    run(test)
    assert "evidence" not in test.query_params and update(test)["schedule"] == "parallel"
    assert "without a loop" in plain(test.warning)


def test_knobs_of_the_graph_reach_the_run():
    test = opened(graph="chain", schedule="parallel", sweeps="12")
    test.slider(key="messages_chain_length").set_value(9)
    run(test)
    assert len(update(test)["variables"]) == 9 and last(test)[:2] == [8, "exact"]
    assert test.query_params["graph"] in ("chain:length=9", ["chain:length=9"])


def test_evidence_that_no_state_allows_is_one_sentence():
    test = opened(graph="cardinality", schedule="parallel", evidence="0:1,1:1,2:1")
    assert not test.get("bidi_component")
    (box,) = test.error
    assert box.value.endswith(".")
    test.button(key="messages_free").click()
    run(test)
    assert not test.error and [v["evidence"] for v in update(test)["variables"]] == [-1] * 4


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"graph": "nothing"}, "there is no graph"),
        ({"damping": "-3"}, "outside 0 to 0.95"),
        ({"evidence": "7:1"}, "names no variable"),
        ({"graph": "file:" + "a" * 64}, ""),
    ],
)
def test_a_bad_link_is_mended_with_a_notice(query, words):
    test = opened(**query)
    assert words in plain(test.warning)
    if not words:
        assert "bring the file" in plain(test.error) and not test.get("bidi_component")


def test_a_file_of_ones_own_and_one_that_is_too_large():
    test = opened(**TRIANGLE)
    test.file_uploader("messages_file").set_value(("pair.uai", UAI_PAIR.encode(), "text/plain"))
    run(test)
    assert [v["card"] for v in update(test)["variables"]] == [2, 3]
    large = "MARKOV\n65\n" + "2 " * 65 + "\n0\n"
    test.file_uploader("messages_file").set_value(("large.uai", large.encode(), "text/plain"))
    run(test)
    assert "up to 64 variables, and this one has 65" in plain(test.error)
    assert [v["card"] for v in update(test)["variables"]] == [2, 3]


def test_a_larger_file_and_its_evidence():
    test = opened(**TRIANGLE)
    grid = write_uai(build_spec("square:5x5,periodic=false"))
    test.file_uploader("messages_file").set_value(("grid.uai", grid.encode(), "text/plain"))
    run(test)
    assert len(update(test)["variables"]) == 25 and not test.error
    test.file_uploader("messages_evidence").set_value(("grid.uai.evid", b"2 3 1 24 0", "text/plain"))
    run(test)
    held = {k: v["evidence"] for k, v in enumerate(update(test)["variables"]) if v["evidence"] >= 0}
    assert held == {3: 1, 24: 0} and "evidence" in test.query_params
    test.multiselect(key="messages_held_25").set_value([3, 7])
    run(test)
    held = {k: v["evidence"] for k, v in enumerate(update(test)["variables"]) if v["evidence"] >= 0}
    assert held == {3: 1, 7: 0}
    test.file_uploader("messages_evidence").set_value(("bad.evid", b"1 99 0", "text/plain"))
    run(test)
    assert "variable 99 does not exist" in plain(test.error)


def test_a_graph_without_factors_says_that_nothing_is_sent():
    test = opened(**TRIANGLE)
    test.file_uploader("messages_file").set_value(("alone.uai", b"MARKOV\n3\n2 2 2\n1\n1 0\n2\n1 3\n", "text/plain"))
    run(test)
    assert "nothing is sent" in update(test)["verdict"] and not test.error


def test_a_brought_graph_keeps_its_logical_factors():
    test = opened(**TRIANGLE)
    text = model_to_json(build_small_graph("and_or"))
    test.file_uploader("messages_file").set_value(("graph.json", text.encode(), "application/json"))
    run(test)
    assert [factor["label"] for factor in update(test)["factors"]] == ["AND", "AND", "OR"]


def test_class_mode_is_entered_and_left_by_a_button():
    test = opened(**TRIANGLE)
    assert test.button("class_mode").label == "Class mode"
    test.button("class_mode").click()
    run(test)
    assert test.button("class_mode").label == "Leave class mode"
