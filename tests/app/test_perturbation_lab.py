"""The perturbation lab without a browser: three solvers on one perturbation, another one, bad links."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from opened import WAIT_SECONDS, open_page, own_run, run, update  # noqa: F401
from streamlit.testing.v1 import AppTest

from pmpviz.player.wire import decode

SMALL = {"model": "clique:5,theta=2", "solvers": "icm,linear_program,exact"}


def opened(**query: str) -> AppTest:
    return open_page("perturbation_lab", query)


def wait(test: AppTest, condition) -> None:
    """Run the page again until it meets the condition."""
    until = time.monotonic() + WAIT_SECONDS
    while not condition(test):
        assert time.monotonic() < until, "the lab did not get there in time"
        time.sleep(0.2)
        run(test)


def table(test: AppTest) -> list[str]:
    """Rows of the solvers' table once every solver has come to an end, else nothing."""
    found = [m.value for m in test.markdown if m.value.startswith("| solver")]
    rows = found[0].split("\n")[2:] if found else []
    return [] if any("compiling and solving" in row for row in rows) else rows


def said(test: AppTest, words: str) -> bool:
    return any(words in caption.value.replace("\\", "") for caption in test.caption)


def test_three_solvers_and_their_energies_on_one_perturbation():
    test = opened(**SMALL)
    wait(test, table)
    rows = table(test)
    assert [row.split("|")[1].strip() for row in rows] == ["ICM", "LP relaxation", "Exact"]
    assert "none has less energy" in rows[2]
    wait(test, lambda t: update(t)["samples"] and said(t, "attempts came through"))
    assert [solver["label"] for solver in update(test)["shown"]["solvers"]] == ["ICM", "LP relaxation", "Exact"]


def test_a_scenes_pictures_come_with_their_averages_and_bars_are_of_95_percent():
    test = opened(preset="denoise")
    wait(test, lambda t: "averages" in update(t) and update(t)["averages"])
    head, blobs = decode(test.get("bidi_component")[0].proto.bytes)
    assert [row["title"] for row in head["averages"]][:3] == ["drawn", "single MAP", "Max-product"]
    assert len(np.frombuffer(blobs[head["averages"][1]["values"]], "<f4")) == 196
    assert "map" in head["progress"]  # What it waits for next may be over by now.
    test = opened(**SMALL)
    wait(test, lambda t: said(t, "attempts came through"))
    (words,) = [c.value.replace("\\", "") for c in test.caption if "attempts came through" in c.value]
    accepted, width = (float(found) for found in re.search(r"through: ([\d.]+) ± ([\d.]+) \(95", words).groups())
    assert width == pytest.approx(1.96 * np.sqrt(accepted * (1 - accepted) / 2000), rel=0.05)
    assert update(test)["averages"] is None


def test_before_a_class_what_the_bounds_say_stands_on_the_board_and_no_table_is_cut():
    test = opened(**SMALL, **{"class": "1"})
    wait(test, lambda t: update(t).get("bounds", {}).get("words"))
    assert re.match(
        r"Best values under all \d+ noises are [\d.−]+ ± [\d.]+ on average: log Z is at most that",
        update(test)["bounds"]["words"],
    )
    bounds = update(test)["bounds"]
    assert {"exact maxima: a bound", "ICM's answers: no bound"} <= {each["name"] for each in bounds["estimates"]}
    assert bounds["exact"] < max(each["mean"] + each["error"] for each in bounds["estimates"])
    assert not table(test)


def test_another_perturbation_and_back():
    test = opened(**SMALL)
    wait(test, table)
    first = [row.rsplit("|", 3)[0] for row in table(test)]
    test.button(key="lab_next").click()
    run(test)
    assert test.query_params["draw"] in ("1", ["1"])
    wait(test, lambda t: table(t) and table(t)[2].split("|")[2] != first[2].split("|")[2])
    test.button(key="lab_before").click()
    run(test)
    wait(test, lambda t: table(t) and table(t)[2].split("|")[2] == first[2].split("|")[2])


def test_share_gives_the_link_to_the_perturbation_that_is_shown():
    test = opened(**SMALL, draw="3")
    test.button(key="lab_share").click()
    run(test)
    assert "/perturbation_lab?" in test.code[0].value and "draw=3" in test.code[0].value
    assert said(test, "the same noise, bit for bit")


def test_a_new_seed_is_other_noise_and_leaves_the_question_and_spins_are_counted_from_one():
    test = opened(preset="glass")
    assert [test.slider(key=f"lab_{name}").value for name in ("first", "second")] == [15, 16]
    test.number_input(key="lab_seed").set_value(7)
    run(test)
    assert test.query_params["seed"] in ("7", ["7"]) and test.selectbox(key="lab_preset").value == "glass"
    assert any("the same best state under the same noise?" in m.value for m in test.markdown)
    test.slider(key="lab_second").set_value(36)
    run(test)
    assert test.query_params["second"] in ("35", ["35"]) and test.selectbox(key="lab_preset").value == ""


def test_the_page_opens_on_the_atlas_of_two_spins_and_goes_on_to_36():
    test = opened()
    wait(test, lambda t: update(t)["atlas"] and "plane is all the noise there is" in update(t)["atlas"]["words"])
    assert any("as often as it should" in m.value for m in test.markdown)
    test.button(key="lab_more").click()
    run(test)
    assert "6x6" in "".join(test.query_params["model"])
    assert not [button for button in test.button if button.key == "lab_more"]


def test_the_ring_opens_on_rest_or_not_and_a_link_brings_any_layer():
    test = opened(preset="triangle")
    wait(test, lambda t: update(t)["atlas"])
    head = update(test)
    assert head["layer"] == "rest" and "rest" in [layer["id"] for layer in head["layers"]]
    test = opened(**SMALL, layer="energy2")
    wait(test, lambda t: update(t)["atlas"])
    assert update(test)["layer"] == "energy2"


def test_a_cross_put_by_hand_is_the_noise_that_is_solved():
    test = opened(**SMALL, first="1", second="3", cross="0.5,-2")
    wait(test, table)
    head, blobs = decode(test.get("bidi_component")[0].proto.bytes)
    assert np.frombuffer(blobs[head["shown"]["noise"]], "<f4")[[1, 3]].tolist() == [0.5, -2.0]
    test.button(key="lab_next").click()
    run(test)
    assert "cross" not in test.query_params


def test_export_offers_what_there_is():
    test = opened(**SMALL)
    wait(test, lambda t: table(t) and update(t)["samples"])
    test.button(key="lab_export").click()
    run(test)
    assert len(test.get("download_button")) == 3


@pytest.mark.parametrize(
    "query, words",
    [
        ({"model": "scene:nothing"}, "there is no scene"),
        ({"model": "square:50x50"}, "up to 1,024"),
        ({"solvers": "magic"}, "there is no solver"),
        ({"draw": "-3"}, "outside 0 to 511"),
        ({"cross": "9,nowhere"}, "no place of the map"),
        ({"cross": "1,99"}, "no place of the map"),
        ({"colour": "red"}, "do not exist"),
    ],
)
def test_a_bad_link_is_mended_with_a_notice(query, words):
    test = opened(**(SMALL | query))
    assert any(words in notice.value.replace("\\", "") for notice in test.warning), [w.value for w in test.warning]


def test_a_solver_that_cannot_says_so():
    test = opened(model="square:25x25", solvers="icm,exact")
    wait(test, table)
    assert "cannot run" in table(test)[1] and "elimination" in table(test)[1]
