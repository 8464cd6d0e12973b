"""The Landscape page without a browser: every preset opens and walks, knobs are turned, coordinates are chosen."""

from __future__ import annotations

import time

import pytest
from opened import WAIT_SECONDS, open_page, own_run, run, update  # noqa: F401

from pmpviz.capabilities.landscape.presets import LANDSCAPE


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
    assert f"#### {preset.question}" in [each.value for each in test.markdown]
    assert found["scene"]["extra"] == preset.plan.extra and not found["trouble"]
    assert len(found["scene"]["law"]) == len(found["lanes"][0]["walk"]["counts"])
    assert [knob["name"] for knob in found["knobs"]][-1] == ("extra" if preset.id == "failure" else "steps")


def test_another_sampler_has_no_energy_and_says_so():
    test = open_page("landscape", {"preset": "attractive", "sampler": "gaussian_gibbs"})
    found = walked(test)
    assert found["scene"]["gibbs"] and found["lanes"][0]["algorithm"] == "gaussian_gibbs"
    assert [trace["id"] for trace in found["traces"]] == ["error"]
