"""The Text page without a browser: every preset opens and reads, texts are pasted, words are held."""

from __future__ import annotations

import time

import pytest
from opened import WAIT_SECONDS, go_to, open_page, own_run, run, update  # noqa: F401
from streamlit.testing.v1 import AppTest

from pmpviz.capabilities.text.live import LiveText
from pmpviz.capabilities.text.page import TextStage
from pmpviz.capabilities.text.presets import TEXT
from pmpviz.live.link import from_query, to_query

BAKER = "Dr. Baker talks in Baker Hall . Baker is glad ."


@pytest.fixture(autouse=True)
def playing(monkeypatch):
    """A browser presses Play as it shows the page first; here there is none."""
    monkeypatch.setattr(TextStage, "autoplay", True)


def read(test, lanes=1):
    """Run the page again until every lane has gone on and the exact answer is there; the update."""
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        found = update(test)
        begun = [lane for lane in found.get("lanes", ()) if "p" in lane]
        if len(begun) == lanes and found["exact"]["words"] != "being computed":
            return found
        time.sleep(0.2)
        run(test)
    pytest.fail("nothing was read")


@pytest.mark.parametrize("preset", TEXT, ids=lambda preset: preset.id)
def test_a_preset_opens_and_is_read(preset):
    test = open_page("text", {"preset": preset.id})
    found = read(test, len(preset.plan.lanes))
    assert any(each.value.startswith(f"#### {preset.question}\n\n") for each in test.markdown)
    assert not found["trouble"] and len(found["text"]["words"]) + 1 == len(found["text"]["gaps"])
    assert sum(found["text"]["labels"]) > 1  # Of the page's own texts the truth is known.
    assert ("p" in found["exact"]) == bool(found["traces"]) == (preset.id != "digest")
    assert [knob["name"] for knob in found["knobs"]] == ["skip", "chain"]
    assert from_query(to_query(preset.plan), TEXT[0].plan) == (preset.plan, [])


def test_a_pasted_text_is_read_and_a_bad_one_is_said_and_left_out():
    test = open_page("text", {"text": BAKER, "said": "1.1"})
    found = read(test)
    assert found["text"]["words"][:2] == ["Dr.", "Baker"] and found["text"]["held"] == [[1, 1]]
    test.text_area(key="text_text").set_value("nothing but small letters")
    run(test)
    assert any("no capitalised word" in error.value for error in test.error)
    assert update(test)["text"]["words"][:2] == ["Dr.", "Baker"]


def test_a_link_that_cannot_be_read_says_so():
    test = open_page("text", {"text": "small letters alone", "said": "x"})
    notices = " ".join(each.value for each in (*test.warning, *test.info))
    assert "left out" in notices


def test_a_text_that_is_no_longer_asked_for_is_greyed_and_what_colours_are_the_mean_of_is_said(monkeypatch):
    test = open_page("text", {"preset": "room"})
    found = read(test)
    assert (
        not found["waits"]
        and not found["anew"]
        and "Gibbs averages p given the other words over the last " in found["said"][1]
        and "64 chains" in found["said"][1]
    )
    monkeypatch.setattr(LiveText, "set_plan", lambda job, plan: None)
    go_to(test, "text", skip="0.5")
    found = update(test)
    assert not found["waits"] and found["anew"]
    go_to(test, "text", text=BAKER)
    found = update(test)
    assert found["waits"] and found["said"] == ["Preparing the text …"]


def press_play():
    from pmpviz.app.session import held

    held("text").live.play()


def test_a_reading_begins_when_it_is_seen_and_its_verdict_is_that_of_the_lane(monkeypatch):
    monkeypatch.setattr(TextStage, "autoplay", False)
    test = open_page("text", {"preset": "room", "skip": "1.5"})
    until = time.monotonic() + WAIT_SECONDS
    while not (found := update(test)).get("text"):
        assert time.monotonic() < until
        run(test)
    assert found["opens"] and not found["playing"] and found["said"][0].startswith("Nothing is read yet: press Play")
    AppTest.from_function(press_play, default_timeout=WAIT_SECONDS).run()
    found = read(run(test))
    assert not found["opens"]
    assert "words of the speaker's name" in found["said"][0] and found["said"][0].startswith("With links × 1.5, Gibbs ")
    assert found["announce"] == found["said"][0]
