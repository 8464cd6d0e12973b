"""The learning page in a real Chromium: train, change the learning rate, leave, come back, sample what was learned."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from PIL import Image

from tests.browser.stage import (
    at_rest,
    box_of,
    choose,
    lanes,
    latest,
    link,
    pause,
    play,
    rest,
    speed,
    steady,
    wait_lanes,
    wait_server,
)


def iteration(page) -> int:
    """The iteration on the first canvas."""
    return int(lanes(page)[0]["sweep"])


def test_training_goes_on_over_a_new_rate_and_another_page(server, open_page, note):
    page = open_page(link(server, "learning", ("pcd;sweeps=1",), data="digits", hidden="30"))
    wait_lanes(page, 1)
    begin = time.perf_counter()
    play(page)
    wait_lanes(page, 1, "Number(d.sweep) > 20", seconds=120)
    note("seconds from Play until iteration 20, programs compiled", round(time.perf_counter() - begin, 1))
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
    pause(page)
    page.wait_for_function("() => document.querySelectorAll('[data-testid=stImage] img').length === 1")
    page.get_by_text("blue below 0, orange above").wait_for(state="visible")


LIT = """() => {
  const light = document.querySelector('.ln-light');
  if (light.hidden) return null;
  const { data } = light.getContext('2d').getImageData(0, 0, light.width, light.height);
  // The middle of a sample that is not lit is covered, that of a lit one is not.
  return Array.from({ length: 36 }, (_, k) => {
    const at = (i) => Math.floor(((i + 0.5) / 6) * light.width);
    return data[4 * (at(Math.floor(k / 6)) * light.width + at(k % 6)) + 3] === 0;
  }).flatMap((bare, k) => (bare ? [k] : []));
}"""


def lit_by_filters(page) -> dict[int, int]:
    """Of each sample that one of the first five filters lights up, which one does."""
    filters, canvas = page.locator(".ln-filter"), page.locator("[data-testid=live-canvas]").bounding_box()
    assert filters.count() == 30
    users: dict[int, int] = {}
    for place in range(5):
        filter = filters.nth(place).bounding_box()
        assert 50 <= filter["width"] <= 66 and filter["x"] > canvas["x"] + canvas["width"]
        filters.nth(place).hover()
        page.get_by_text(f"hidden unit {place + 1} is on in").wait_for(state="visible")
        said = page.locator(".ln-words").inner_text()
        lit = page.evaluate(LIT)
        assert len(lit) == int(said.split("is on in ")[1].split()[0]), said
        users |= {k: place for k in lit}
    page.mouse.move(5, 5)
    page.wait_for_function(f"() => ({LIT})() === null")
    return users


def test_a_filter_under_the_pointer_lights_up_the_samples_that_use_it(open_page, server):
    address = link(server, "learning", ("pcd;sweeps=1",), data="digits", hidden="30")
    page = open_page(address, viewport={"width": 1440, "height": 900})
    wait_lanes(page, 1)
    play(page)
    wait_lanes(page, 1, "Number(d.sweep) > 100", seconds=120)
    pause(page)
    lit_by_filters(page)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("matchMedia('(prefers-color-scheme: dark)').matches")
    rest(page)
    sample, place = next(iter(lit_by_filters(page).items()))
    canvas = at_rest(page.locator("[data-testid=live-canvas]"))
    side = canvas["width"] / 6
    page.mouse.move(canvas["x"] + (sample % 6 + 0.5) * side, canvas["y"] + (sample // 6 + 0.5) * side)
    page.wait_for_function(f"() => document.querySelectorAll('.ln-filter')[{place}].classList.contains('ln-chosen')")
    # Between two pictures that were kept one looks at the former, and all that stands on the page is of it.
    page.locator(".pv-range").evaluate(
        "(range) => { range.value = 59; range.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    page.locator(".pv-verdict", has_text="Looking back at iteration ").wait_for()
    then = iteration(page)
    assert then <= 59 and page.locator(".pv-when").inner_text() == f"looking back: iteration {then}"
    assert page.locator(".pv-verdict").inner_text().startswith(f"Looking back at iteration {then}")
    # The pointer is on a sample still: what is framed are the filters that it uses in the picture of then.
    page.get_by_text(re.compile(r"Framed: the \d+ of 30 filters that the sample")).wait_for()
    kept = page.locator(".ln-title").inner_text()
    assert 40 <= int(kept.removeprefix("Filters, of iteration ")) <= then
    assert page.locator(".ln-many").inner_text().endswith(" of 30 units ▼")


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


def test_own_pictures_load_and_bad_ones_are_told_while_the_training_plays(open_page, server, tmp_path):
    page = open_page(link(server, "learning", ("pcd;sweeps=1",), data="bars:4x4", hidden="8"))
    wait_lanes(page, 1)
    play(page)
    data = page.locator(".st-key-learning_data [role=combobox], .st-key-learning_data [data-baseweb=select]").first
    choose(page, data, "Your own pictures")
    uploader = page.locator(".st-key-learning_files input[type=file]")
    uploader.wait_for(state="attached")
    page.wait_for_timeout(1500)
    rest(page)
    images = np.random.default_rng(0).integers(0, 2, (12, 5, 4)).astype(np.uint8)
    for place, image in enumerate(images):
        Image.fromarray(image * 255).save(tmp_path / f"{place:02}.png")
    (tmp_path / "bad.png").write_bytes(b"no picture")
    good = sorted(tmp_path.glob("[0-9]*.png"))
    uploader.set_input_files([good[0], tmp_path / "bad.png"])
    page.get_by_text("bad.png is damaged or no picture").wait_for(state="visible")
    assert page.locator("[data-testid=stAlertContentError]").count() == 1
    page.get_by_role("button", name="Remove bad.png").click()
    page.get_by_text("bad.png is damaged or no picture").wait_for(state="detached")
    uploader.set_input_files(good[1:])
    page.get_by_text("12 pictures").first.wait_for(state="visible")
    page.get_by_text("learned from 12 pictures").wait_for(state="visible")
    assert page.locator(".st-key-learning_files").is_visible()
    assert page.locator("[data-testid=stAlertContentError]").count() == 0


def test_a_stop_at_the_best_moves_nothing_when_it_is_offered_and_goes_back(server, open_page):
    settings = {"data": "glyphs:5x5,count=110,noise=0.1", "hidden": "8", "batch": "0", "learning_rate": "0.05"}
    page = open_page(link(server, "learning", ("exact",), **settings))
    wait_lanes(page, 1)
    best, canvas = page.locator(".pv-best"), page.locator("[data-testid=live-canvas]")
    assert not best.is_visible()
    speed(page, 0)
    play(page)
    before = at_rest(canvas)
    best.wait_for(state="visible", timeout=120_000)
    assert "more probable before" in best.get_attribute("title")
    assert box_of(canvas) == before
    far = int(lanes(page)[0]["sweep"])
    best.click()
    page.wait_for_function("document.querySelector('.pv-best').style.visibility === 'hidden'")
    wait_server(page, "paused")
    wait_lanes(page, 1, f"Number(d.sweep) < {far}")


LAID = "() => document.querySelector('.pv-stage').style.gridTemplateColumns"


def test_two_lanes_with_filters_beneath_come_to_rest_in_a_high_window(server, open_page):
    """Side by side and stacked by turns, twice a second, nothing could be clicked: their filters count as height."""
    address = link(server, "learning", ("pmp;sweeps=20", "gibbs_reset;sweeps=20"), data="digits", hidden="64")
    page = open_page(address, viewport={"width": 1440, "height": 1500})
    wait_lanes(page, 2)
    page.wait_for_function("() => document.querySelectorAll('.ln-filter').length === 128", polling=50)
    steady(page, LAID, 3.0)


# How far what the words name is ahead of the pictures on screen, at worst, from now on.
AHEAD = """() => {
  window.ahead = [];
  const see = () => {
    const said = document.querySelector('.pv-verdict')?.textContent ?? '';
    const named = said.match(/^At iteration ([0-9]+)/);
    const shown = [...document.querySelectorAll('[data-testid=live-canvas]')].map((c) => Number(c.dataset.sweep));
    if (named) window.ahead.push([Number(named[1]), ...shown]);
    requestAnimationFrame(see);
  };
  see();
}"""


def test_words_speak_of_no_iteration_that_the_pictures_have_not_reached(server, open_page):
    """Played pictures wait in the browser, and what was found at later ones waits for them."""
    settings = {"data": "bars:4x4", "hidden": "12", "batch": "0", "learning_rate": "0.02"}
    page = open_page(link(server, "learning", ("exact", "pcd;sweeps=1"), **settings))
    wait_lanes(page, 2)
    page.evaluate(AHEAD)
    play(page)
    # Verdicts are found while it plays.
    page.wait_for_function("() => new Set(window.ahead.map(([named]) => named)).size > 3", timeout=120_000)
    found = page.evaluate("() => window.ahead")
    pause(page)
    early = [each[0] > min(each[1:]) for each in found]
    # Both are painted in one frame, in which the words may be read before the pictures are.
    assert not any(first and second for first, second in zip(early, early[1:], strict=False))
