"""The learning page without a browser: plans reach the training, settings change in mid-run, bad links are mended."""

from __future__ import annotations

import time

import pytest
from opened import WAIT_SECONDS, go_to, open_page, own_run, run, update  # noqa: F401
from streamlit.testing.v1 import AppTest

SMALL = {"data": "bars:3x3", "hidden": "4", "chains": "20", "batch": "0", "lane1": "exact"}


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    """What these tests keep stays in their own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PMPVIZ_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def opened(**query: str) -> AppTest:
    return open_page("learning", query)


def wait(test: AppTest, condition) -> dict:
    """Run the page again until its player's update meets the condition; the update."""
    until = time.monotonic() + WAIT_SECONDS
    while not condition(found := update(test)):
        assert time.monotonic() < until, "the training did not get there in time"
        time.sleep(0.2)
        run(test)
    return found


def live(test: AppTest):
    from pmpviz.app.session import held

    return held("learning").live


def playing() -> None:
    from pmpviz.app.session import held

    held("learning").live.play()


def test_a_training_learns_and_says_its_exact_likelihood():
    test = opened(**SMALL)
    wait(test, lambda found: found["lanes"])
    AppTest.from_function(playing, default_timeout=WAIT_SECONDS).run()
    found = wait(test, lambda found: any(t["id"] == "likelihood" and t["lines"] for t in found["traces"]))
    assert found["unit"] == "iterations"
    trace = next(t for t in found["traces"] if t["id"] == "likelihood")
    assert "exact" in trace["unit"]
    assert found["lanes"][0]["geometry"] == {"kind": "grid", "rows": 17, "cols": 21}
    assert any("RBM of 9 pixels and 4 hidden units" in line for line in found["said"])


def test_the_learning_rate_changes_in_mid_run_and_nothing_is_lost():
    test = opened(**SMALL)
    wait(test, lambda found: found["lanes"])
    AppTest.from_function(playing, default_timeout=WAIT_SECONDS).run()
    wait(test, lambda found: found["lanes"][0]["frames"]["sweeps"][-1:] > [2])
    before = update(test)
    go_to(test, "learning", learning_rate="0.05")
    found = wait(test, lambda found: found["marks"])
    assert "learning rate 0.003 → 0.05" in found["marks"][0][1]
    assert found["begun"] == before["begun"]
    assert found["marks"][0][0] >= before["lanes"][0]["frames"]["sweeps"][-1]


@pytest.mark.parametrize(
    "query, words",
    [
        ({"data": "nothing:1"}, "there is no dataset"),
        ({"data": "mnist:folder=elsewhere"}, "names no folder"),
        ({"hidden": "1e9"}, "outside 1 to 1"),
        ({"lane1": "magic"}, "there is no learner"),
        ({"lane1": "pcd;sweeps=many"}, "sweeps"),
        ({"learning_rate": "-3"}, "learning"),
        ({"colour": "red"}, "do not exist"),
    ],
)
def test_a_bad_link_is_mended_with_a_notice(query, words):
    test = opened(**(SMALL | query))
    assert any(words in notice.value.replace("\\", "") for notice in test.warning), [w.value for w in test.warning]


def test_a_learner_that_cannot_says_so_and_the_page_goes_on():
    test = opened(**(SMALL | {"lane1": "pseudo_likelihood"}))
    until = time.monotonic() + WAIT_SECONDS
    while not test.error:
        assert time.monotonic() < until
        time.sleep(0.2)
        run(test)
    assert "needs every variable observed" in test.error[0].value
    go_to(test, "learning", kind="ising")
    wait(test, lambda found: found["lanes"])


def test_what_was_learned_opens_in_the_playground(monkeypatch):
    import streamlit as st

    went = []
    monkeypatch.setattr(st, "switch_page", went.append)
    test = opened(**SMALL)
    wait(test, lambda found: found["lanes"])
    test.button(key="learning_to_playground").click()
    run(test)
    assert went == ["pages/playground.py"]
    plan = test.session_state["plan:playground"][0]
    from pmpviz.app.models import model_of
    from pmpviz.models import RBM

    model = model_of(plan.model)
    assert isinstance(model, RBM) and (model.visible, model.hidden) == (9, 4)
