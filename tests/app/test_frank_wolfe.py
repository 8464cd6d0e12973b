"""The Frank-Wolfe page without a browser: its controls reach the walk, its tables and words say what was found."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from opened import WAIT_SECONDS, open_page, own_run, run, update  # noqa: F401
from streamlit.testing.v1 import AppTest

from pmpviz.app.presets import preset_of
from pmpviz.capabilities.marginals.live import names_of
from pmpviz.capabilities.marginals.page import InferenceStage
from pmpviz.capabilities.marginals.presets import INFERENCE
from pmpviz.player.wire import decode
from tests.thorough import case


@pytest.fixture(autouse=True)
def playing(monkeypatch):
    """A browser presses Play as it shows the page first; here there is none."""
    monkeypatch.setattr(InferenceStage, "autoplay", True)


def opened(**query: str) -> AppTest:
    return open_page("frank_wolfe", query)


def hurried(**query: str) -> AppTest:
    """The page with its walks at many steps a second, whatever its preset's pace."""
    test = opened(**query)
    test.session_state["speed:frank_wolfe"] = 50.0
    return run(test)


def words(test: AppTest) -> str:
    return "\n".join(element.value for element in test.markdown)


def wait(test: AppTest, condition) -> AppTest:
    """Run the page again until the condition holds."""
    until = time.monotonic() + WAIT_SECONDS
    while not condition(test):
        assert time.monotonic() < until, words(test)
        time.sleep(0.1)
        run(test)
    return test


def ended(found: dict) -> bool:
    """Whether all lanes are done and the exact answer, which comes beside them, is there."""
    lanes = found["lanes"]
    return bool(lanes) and found["exact"] is not None and all(lane["status"] == "done" for lane in lanes)


def test_the_page_walks_untouched_and_ends_with_a_certificate():
    test = hurried(preset="triangle")
    wait(test, lambda t: "**exact**" in words(t) and "found as" in words(t))
    wait(test, lambda t: all(lane["status"] == "done" for lane in update(t)["lanes"]))
    assert any(lane["badge"] == "certified" for lane in update(test)["lanes"])
    found, beneath = update(test)["said"]
    assert "| objective: near log Z |" in words(test)
    (row,) = [line for line in words(test).splitlines() if line.startswith("| Barrier")]
    cells = [cell.strip() for cell in row.split("|")]
    assert found.startswith("The average of 6 configurations at 3 corners, after 11 MAP calls, is ")
    assert float(cells[-2]) > 0
    assert "The walk ends: the graph has a loop, so it is near exact, not at it. Single spins are " in found
    # One number for one thing: the sentence's objective is the table's.
    told = (
        r"The objective \([^)]*\) is ([\d.]+), [\d.]+ above the exact log Z \(the [^)]*\)\. With loops its maximum is "
    )
    objective = re.match(told, beneath)[1]
    assert float(objective) == pytest.approx(float(cells[4]), abs=1e-3) and "may cross" not in beneath
    assert beneath.endswith(" is within 0.001, the “Gap to reach”; then μ was made the best average of what was found.")
    # What is said of a step is sent for the last ones, and each names its own.
    assert [step for step, _ in update(test)["said_at"]] == list(range(12))
    assert update(test)["said_at"][3][1][0].startswith("The average of 3 configurations and the centre, after 3 ")
    assert "Barrier Frank-Wolfe" in words(test) and "Triangle" in test.selectbox(key="inference_preset").options


# Three others have tests of their own below, and the scene is opened in a browser.
OPENED_ELSEWHERE = {"edge", "stall", "error-bars", "segmentation"}
PRESETS = [
    case(name, name=name, everyday=name not in OPENED_ELSEWHERE)
    for name in ("cube", "edge", "grid", "stall", "clique", "rbm", "error-bars", "segmentation")
]


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_shows_its_lanes(preset):
    test = opened()
    test.selectbox(key="inference_preset").select(preset)
    run(test)
    preset = preset_of(INFERENCE, preset)
    plan = preset.plan
    wait(test, lambda t: len(update(t)["lanes"]) == len(plan.lanes) and not update(t)["trouble"])
    assert [lane["label"] for lane in update(test)["lanes"]] == names_of(plan.lanes)
    assert preset.question in words(test)


def test_several_lanes_are_compared_in_a_sentence():
    test = hurried(preset="stall")
    wait(test, lambda t: ended(update(t)))
    found, beneath = update(test)["said"]
    assert found.startswith("The barrier saves MAP calls: adaptive ") and found.endswith(" to a gap of 0.5.")
    ends = {lane["step"] for lane in update(test)["lanes"]}
    told = re.findall(r"(?:adaptive|fixed|no barrier) \d+", found)
    assert ends == {"MAP call"} and len(told) == len(update(test)["lanes"])
    assert re.search(r"log Z ≤ [\d.]+ after \d+ MAP calls, [\d.]+ nats above the exact [\d.]+ \(", beneath)
    off = [float(each) for each in re.findall(r"([\d.]+) \(", beneath.split("off by")[1])]
    rows = [line for line in words(test).splitlines() if line.startswith("| Barrier")]
    assert len(off) == len(update(test)["lanes"]) == len(rows) and off == sorted(off)
    assert sorted(float(row.split("|")[-2]) for row in rows) == pytest.approx(off, rel=0.06)


def test_error_bars_of_log_z_are_drawn_and_said():
    test = hurried(preset="error-bars")
    wait(test, lambda t: ended(update(t)))
    # No lane walks: nothing is said of corners.
    assert not update(test)["walks"] and "a corner" not in words(test)
    trace, errors = update(test)["traces"]
    assert errors["title"] == "Mean error of p(xᵢ = 1)"
    assert "error bars" in trace["title"] and len(trace["lines"]) == 2
    assert all({"low", "high"} <= set(line) for line in trace["lines"])
    assert words(test).count("±") >= 2 and "| log Z estimate (± 95 %) |" in words(test)
    said = re.findall(r"± ([\d.]+) \(95 %\)", update(test)["announce"])
    assert len(said) == 2 and said == re.findall(r"± ([\d.]+) \|", words(test))
    exact = float(re.search(r"; exactly ([\d.]+)\.", update(test)["announce"])[1])
    for value, bar, missed in re.findall(r"([\d.]+) ± ([\d.]+) \(95 %\)(, which misses it)?", update(test)["announce"]):
        assert bool(missed) == (abs(float(value) - exact) > float(bar))
    # An estimate stands until the next one, so that its bar is seen; it is counted in the steps of all else.
    sent, blobs = decode(test.get("bidi_component")[0].proto.bytes)
    steps = np.frombuffer(blobs[sent["traces"][0]["lines"][0]["x"]], "<f4")
    assert sent["traces"][0]["x"] == "steps" and steps.tolist() == list(range(2, 11))


@pytest.mark.parametrize("large", ["0", "1"])
def test_the_walk_waits_at_its_beginning_to_be_seen_and_before_a_class_for_play(monkeypatch, large):
    monkeypatch.setattr(InferenceStage, "autoplay", False)
    test = opened(**{"class": large})
    wait(test, lambda t: update(t)["lanes"] and update(t)["exact"] is not None)
    assert not update(test)["playing"] and "Nothing is computed yet" in update(test)["announce"]
    assert update(test)["opens"] == (large == "0") and not update(test)["over"]


def test_the_weights_of_the_configurations_found_come_to_one_with_the_centres():
    test = hurried(preset="edge", lane1="barrier_frank_wolfe;tolerance=0.001")
    wait(test, lambda t: ended(update(t)))
    wait(test, lambda t: "u₀" in words(t))
    (found,) = [m.value for m in test.markdown if m.value.startswith("| found as")]
    weights = [float(row.split("|")[3]) for row in found.split("\n")[2:]]
    assert sum(weights) == pytest.approx(1, abs=2e-3) and weights[-1] > 0.1
    assert " added weights). Without a loop its maximum is log Z itself" in update(test)["said"][1]


def test_the_first_walks_marginals_differ():
    test = opened()
    wait(test, lambda t: update(t)["lanes"] and update(t)["exact_p1"] is not None)
    sent, blobs = decode(test.get("bidi_component")[0].proto.bytes)
    p1 = np.sort(np.frombuffer(blobs[sent["exact_p1"]], "<f4"))
    assert np.diff(p1).min() > 0.05


def test_lanes_are_added_and_their_knobs_reach_the_walk():
    test = opened(model="complete:4,J=0.5", lane1="barrier_frank_wolfe")
    test.button(key="inference_add").click()
    run(test)
    wait(test, lambda t: len(update(t)["lanes"]) == 2)
    assert "trbp" in test.query_params["lane2"]
    test.number_input(key="inference_lane0_barrier_frank_wolfe_rho_updates").set_value(0)
    run(test)
    assert "rho_updates=0" in "".join(test.query_params["lane1"])
    wait(test, lambda t: not update(t)["trouble"])


def test_a_link_out_of_range_is_clamped_with_a_notice():
    test = opened(model="complete:9999", beta="-3", lane1="barrier_frank_wolfe;tolerance=-1")
    said = "\n".join(element.value for element in [*test.warning, *test.info])
    assert "beta" in said and "model" in said and "tolerance" in said


def test_an_oracle_that_cannot_run_is_told_on_the_page():
    test = opened(model="square:9x9,periodic=false", lane1="barrier_frank_wolfe;oracle=enumeration")
    wait(test, lambda t: bool(t.error))
    assert "enumeration would list" in test.error[0].value
