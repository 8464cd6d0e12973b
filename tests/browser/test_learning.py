"""The learning page in a real Chromium: train, change the learning rate, leave, come back, sample what was learned."""

from __future__ import annotations

import time

import pytest

from tests.browser.stage import lanes, latest, link, play, rest, speed, wait_lanes, wait_server


@pytest.fixture
def note(record_property, capsys):
    """`note(name, value)` prints a measured figure and keeps it in the report."""

    def say(name: str, value) -> None:
        record_property(name, value)
        with capsys.disabled():
            print(f"\n  {name}: {value}", end="")

    return say


def iteration(page) -> int:
    """The iteration on the first canvas."""
    return int(lanes(page)[0]["sweep"])


def test_training_goes_on_over_a_new_rate_and_another_page(server, open_page, note):
    page = open_page(link(server, "learning", ("pcd;sweeps=5",), data="digits", hidden="32"))
    wait_lanes(page, 1)
    begin = time.perf_counter()
    play(page)
    wait_lanes(page, 1, "Number(d.sweep) > 50", seconds=120)
    note("seconds from Play until iteration 50, programs compiled", round(time.perf_counter() - begin, 1))
    slider = page.locator(".st-key-learning_learning_rate input[type=range]")
    slider.focus()
    epoch = int(lanes(page)[0]["epoch"])
    page.keyboard.press("ArrowRight")
    wait_lanes(page, 1, f"Number(d.epoch) > {epoch}")
    rest(page)
    before = iteration(page)
    page.get_by_role("link", name="Race").click()
    page.wait_for_selector("[data-testid=live-canvas][data-lane='1']")
    page.get_by_role("link", name="Learning").click()
    wait_lanes(page, 1, f"Number(d.sweep) >= {before}", seconds=120)
    page.wait_for_function("() => document.querySelectorAll('[data-testid=stImage] img').length === 2")
    page.get_by_text("filters (blue below 0, orange above)").wait_for(state="visible")


@pytest.mark.thorough
def test_digits_are_learned_within_a_minute_and_open_in_the_playground(server, open_page, note):
    page = open_page(f"{server}/learning")
    wait_lanes(page, 1)
    speed(page, 0)
    begin = time.perf_counter()
    play(page)
    wait_lanes(page, 1, "Number(d.sweep) > 256", seconds=120)
    page.wait_for_function("document.querySelector(\"canvas.pv-chart[aria-label^='Log-likelihood']\")", timeout=60_000)
    while time.perf_counter() - begin < 60:
        page.wait_for_timeout(500)
    note("iterations after a minute", iteration(page))
    likelihood = latest(page, "Log-likelihood of held-out data")[0]
    note("annealed log-likelihood of held-out digits after a minute, nats", likelihood)
    assert likelihood > -21
    page.locator(".pv-play").click()
    wait_server(page, "paused")
    page.get_by_role("button", name="Sample it in the Playground").click()
    page.wait_for_url("**/playground**")
    wait_lanes(page, 1)
    play(page)
    wait_lanes(page, 1, "Number(d.sweep) > 5", seconds=120)
