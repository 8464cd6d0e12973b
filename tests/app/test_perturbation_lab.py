"""The perturbation lab without a browser: three solvers on one perturbation, another one, bad links."""

from __future__ import annotations

import time

import pytest
from opened import WAIT_SECONDS, open_page, own_run, run  # noqa: F401
from streamlit.testing.v1 import AppTest

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
    assert "proved to be the maximum" in rows[2]
    wait(test, lambda t: said(t, "Total variation") and said(t, "attempts accepted"))


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


def test_a_preset_and_the_layers_of_its_atlas():
    test = opened(**SMALL)
    test.selectbox(key="lab_preset").set_value("two-spins")
    run(test)
    wait(test, lambda t: said(t, "the plane is the whole noise"))
    assert any("whole sampler" in m.value for m in test.markdown)
    for layer in test.selectbox(key="lab_layer").options:
        test.selectbox(key="lab_layer").set_value(layer)
        run(test)


@pytest.mark.parametrize(
    "query, words",
    [
        ({"model": "scene:nothing"}, "there is no scene"),
        ({"model": "square:50x50"}, "up to 1,024"),
        ({"solvers": "magic"}, "there is no solver"),
        ({"draw": "-3"}, "outside 0 to 511"),
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
