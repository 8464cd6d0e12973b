"""The Landscape page without a browser: every preset opens and walks, knobs are turned, coordinates are chosen."""

from __future__ import annotations

import re
import time
from collections import Counter

import pytest
from opened import WAIT_SECONDS, go_to, open_page, own_run, run, update  # noqa: F401

from pmpviz.capabilities.landscape.live import LiveLandscape
from pmpviz.capabilities.landscape.presets import LANDSCAPE

# How the verdict on two pictures begins.
BALL = "The ball (one of 64 chains) "
STOPS = (f"{BALL}stopped once, nearest to ", f"{BALL}stays: all its ", "Of the ")


def walked(test):
    """Run the page again until its chains have walked; the update."""
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        found = update(test)
        if found.get("lanes") and sum(found["lanes"][0]["walk"]["counts"]):
            return found
        time.sleep(0.2)
        run(test)
    pytest.fail("the chains did not walk")


@pytest.mark.parametrize("preset", LANDSCAPE, ids=lambda preset: preset.id)
def test_a_preset_opens_and_its_chains_walk(preset):
    test = open_page("landscape", {"preset": preset.id})
    found = walked(test)
    assert any(each.value.startswith(f"#### {preset.question}\n\n") for each in test.markdown)
    # The line above says what stands beneath it.
    (head,) = [each.value for each in test.markdown if each.value.startswith("#### ")]
    two = preset.id in ("hopfield", "alike")
    assert ("wells (×) are where spins settle" in head) == two and (
        "state of the spins (a dot) becomes a Gaussian" in head
    ) == (not two)
    assert ("Play: block Gibbs draws" in head) == (preset.id == "failure")
    assert ("Play pushes a ball through them" in head) == (preset.id != "failure")
    assert found["scene"].get("extra", preset.plan.extra) == preset.plan.extra and not found["trouble"]
    begun = {
        "attractive": "Where the ball stops a state is drawn by lot, near ones likelier: in ",
        "failure": "A stay in 10 lasts ",
        "hopfield": STOPS,
        "alike": STOPS,
    }
    assert found["said"][0].startswith(begun.get(preset.id, "In ")) and found["announce"] == found["said"][0]
    # Of pictures, too, it is said how far off chance alone is.
    bars = r"(Chains stay where they fell|Chains that stay are one draw each): the bars are off by ([\d.]+) "
    moves = r"|^Of the .*\. The bars are off by [\d.]+ at most\.$"
    assert not two or re.search(bars + r"\(chance alone: mostly within 0\.11\)\.$" + moves, found["said"][0])
    assert found["scene"].get("product", False) == (preset.id == "independent")
    assert len(found["scene"]["law"]) == len(found["lanes"][0]["walk"]["counts"])
    # Beneath the picture is what the question is of; how the ball is pushed stands with its sampler.
    last = {"hopfield": "cue", "alike": "cue"}.get(preset.id, "extra")
    assert [knob["name"] for knob in found["knobs"]][-1] == last
    assert ("Mean steps" in [slider.label for slider in test.sidebar.slider]) == (preset.id != "failure")


@pytest.mark.parametrize("sampler", ["gaussian_hmc", "gaussian_gibbs"])
def test_two_pictures_tell_their_spins_overlaps_and_log_z(sampler):
    test = open_page("landscape", {"preset": "hopfield", "sampler": sampler, "side": "12"})
    found = walked(test)
    rolls = found["lanes"][0]["walk"]["rolls"]
    assert found["scene"]["names"] == ["A", "B", "−A", "−B"] and len(found["scene"]["memory"][0]) == 144 // 8
    assert all(len(roll["bits"]) == 144 // 8 and len(roll["words"]) == 2 for roll in rolls)
    assert found["traces"][0]["id"] == "overlaps" and len(found["traces"][0]["lines"]) == 2
    # All of its stops are told of, each at the picture that it was nearest to.
    stops = Counter(found["scene"]["names"][code] for *_, code in found["lanes"][0]["walk"]["landings"])
    assert found["said"][0].startswith(STOPS) and found["said"][0].endswith(".")
    told = dict(re.findall(r"(?:(\d+) nearest|stops were nearest|stopped once, nearest) to (−?[AB])", found["said"][0]))
    assert sorted(told.values()) == sorted(stops)
    assert all(int(count) == stops[name] for count, name in told.items() if count)
    assert "144 spins, a load of 0.0139); log Z = " in found["said"][1] and "λ₁ = " in found["said"][1]
    labels = [slider.label for slider in test.sidebar.slider]
    assert "Shift (dots apart)" not in labels and ("Mean steps" in labels) == (sampler == "gaussian_hmc")


def test_another_sampler_has_no_energy_and_says_so():
    test = open_page("landscape", {"preset": "attractive", "sampler": "gaussian_gibbs"})
    found = walked(test)
    assert found["scene"]["gibbs"] and found["lanes"][0]["algorithm"] == "gaussian_gibbs"
    assert [trace["id"] for trace in found["traces"]] == ["error"]
    assert [count for _, count in found["scene"]["stretches"]] == [1, 2, 4]
    assert found["scene"]["stretches"][1][0] == pytest.approx(2.0, abs=0.1)


def test_a_landscape_that_is_no_longer_asked_for_is_greyed_until_the_other_is_there(monkeypatch):
    test = open_page("landscape", {"preset": "attractive"})
    assert not walked(test)["waits"]
    with monkeypatch.context() as patch:
        # The worker is busy, say with compiling.
        patch.setattr(LiveLandscape, "set_plan", lambda job, plan: None)
        go_to(test, "landscape", extra="2")
        found = update(test)
        assert not found["waits"] and found["anew"] and found["scene"]["extra"] == 2.8
        go_to(test, "landscape", w="-1")
        found = update(test)
        assert found["waits"] and found["said"] == ["Preparing the landscape …"]
    go_to(test, "landscape", w="-2")
    until = time.monotonic() + WAIT_SECONDS
    while update(test)["waits"]:
        assert time.monotonic() < until
        run(test)
    assert not update(test)["anew"]
