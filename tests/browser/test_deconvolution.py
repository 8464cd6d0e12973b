"""The deconvolution page in a real Chromium: painted glyphs are recovered while their features sharpen."""

from __future__ import annotations

import io
import time

import numpy as np

from tests.browser.stage import POLL_MS, WHEN, at_rest, choose, link, play, press, rest, speed, steady

READ = "() => [...document.querySelectorAll('[data-testid=deconvolution-canvas]')].map((c) => ({ ...c.dataset }))"
# Every frame that reaches the first canvas from now on, as [frame, sharpness, wrong].
WATCH = """() => {
  window.seen = new Map();
  const see = () => {
    const c = document.querySelector('[data-testid=deconvolution-canvas]');
    const { frame, sharpness, wrong } = c ? c.dataset : {};
    if (frame) window.seen.set(Number(frame), [sharpness, wrong].map(Number));
    requestAnimationFrame(see);
  };
  see();
}"""
CORNER = [(row, 0) for row in range(5)] + [(4, column) for column in range(1, 5)]
CROSS = [(k, k) for k in range(5)] + [(k, 4 - k) for k in range(5) if k != 2]


def paint(page, glyph: int, pixels: list[tuple[int, int]]) -> None:
    """Click on the pixels of a glyph."""
    canvas = page.locator(f"[data-testid=glyph-canvas][data-glyph='{glyph}']")
    side = canvas.bounding_box()["width"] / 5
    for row, column in pixels:
        # Each where the canvas is then: with the first stroke a stage comes into the page.
        canvas.click(position={"x": (column + 0.5) * side, "y": (row + 0.5) * side})


def wait(page, condition: str, seconds: float = 120) -> None:
    """Wait until the lanes are shown and the first one's data- attributes `d` meet the condition."""
    page.wait_for_function(
        f"() => {{ const all = ({READ})(); const d = all[0]; return d && d.frame && ({condition}); }}",
        timeout=1000 * seconds,
        polling=POLL_MS,
    )


def test_painted_glyphs_are_recovered_and_features_sharpen(server, open_page, note):
    # So high that beside each row there is room for three lines, however long the verdict once was.
    room = {"width": 1280, "height": 1000}
    page = open_page(link(server, "deconvolution", data="painted", painted="5x5:00000000"), viewport=room)
    page.get_by_text("Nothing is painted yet").wait_for()
    page.evaluate(WATCH)
    begin = time.perf_counter()
    paint(page, 0, CORNER)
    wait(page, "d.frame", 180)
    speed(page, 10)
    play(page)
    page.locator(".gp-add").click()
    page.locator("[data-testid=glyph-canvas][data-glyph='1']").wait_for()
    paint(page, 1, CROSS)
    wait(page, "d.found.includes('2') && d.wrongs.split(',').includes('0')", 120)
    counts = page.locator("[data-testid=deconvolution-canvas]").evaluate(
        "(canvas) => [canvas.dataset.rows, canvas.dataset.found]"
    )
    assert counts[0] == "; ".join(f"{count} of 2 found" for count in counts[1].split(",")), "each row tells its own"
    note(
        "seconds from the first stroke until a sample holds both glyphs and explains every pixel",
        round(time.perf_counter() - begin, 1),
    )
    frames = page.evaluate("[...window.seen].sort((a, b) => a[0] - b[0])")
    sharpness = [values[0] for _, values in frames]
    note("certainty of the features at the frames seen", [round(value, 2) for value in sharpness[:12]])
    quarter = max(1, len(sharpness) // 4)
    assert len(frames) > 8 and np.mean(sharpness[:quarter]) < np.mean(sharpness[-quarter:])
    assert sharpness[0] < 0.2 < 0.4 < sharpness[-1]
    assert "painted=" in page.url


def test_space_pauses_n_steps_the_timeline_looks_back_and_reset_begins_again(server, open_page):
    page = open_page(link(server, "deconvolution", data="bars", images="20", samples="1", budget="0"))
    wait(page, "d.sweep === '0'", 120)
    play(page)
    wait(page, "Number(d.sweep) >= 2", 120)
    press(page, " ")
    page.wait_for_function("document.querySelector('.dc-root').dataset.server === 'paused'")
    rest(page)
    # Pictures that wait in the browser come as those that play.
    page.wait_for_function(f"() => !/ computed$/.test({WHEN})")
    before = steady(page, f"() => ({READ})().map(({{ sweep, wrong }}) => ({{ sweep, wrong }}))")[0]
    press(page, "n")
    wait(page, f"Number(d.sweep) === {int(before['sweep']) + 1}")
    page.locator(".pv-range").evaluate(
        "(range) => { range.value = 1; range.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    wait(page, "d.sweep === '1'")
    first = page.evaluate(READ)[0]
    assert page.locator(".pv-verdict").inner_text().startswith("Looking back at sweep 1. PMP: ")
    assert "after 1 sweep" in page.locator(".pv-verdict").inner_text()
    page.locator(".pv-live").click()
    wait(page, f"Number(d.sweep) === {int(before['sweep']) + 1}")
    page.locator("[data-action=reset]").click()
    wait(page, "d.sweep === '0'")
    press(page, "n")
    wait(page, "d.sweep === '1'")
    assert page.evaluate(READ)[0]["wrong"] == first["wrong"]


def test_a_glyph_is_painted_by_keys_and_a_feature_is_clamped(server, open_page):
    page = open_page(link(server, "deconvolution", data="bars", images="20", samples="1", budget="40"))
    wait(page, "d.sweep === '0'", 120)
    play(page)
    page.get_by_text("Paint a feature yourself, to hold it").click()
    canvas = page.locator("[data-testid=clamp-canvas][data-glyph='0']")
    canvas.focus()
    # It is the keys that brought one here that make Space the painter's.
    for key in ("ArrowRight", "ArrowLeft", "Space", "ArrowRight", "Space", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.wait_for_function("document.querySelector(\"[data-testid=clamp-canvas][data-glyph='0']\").dataset.ink === '3'")
    page.wait_for_url("**clamped=0*")
    # Space went to the painter: the run was not paused by it, and begins again.
    wait(page, "Number(d.sweep) >= 1")


def test_pointing_at_a_feature_or_an_image_outlines_its_stamps(server, open_page):
    settings = {"data": "bars", "images": "20", "samples": "1", "known_locations": "given", "known_features": "given"}
    page = open_page(link(server, "deconvolution", **settings))
    wait(page, "d.sweep === '0'", 120)
    images = page.locator("[data-testid=images-canvas]")
    images.scroll_into_view_if_needed()
    assert images.get_attribute("data-outlined") == "0" and int(images.get_attribute("data-painted")) > 100
    box = at_rest(page.locator("[data-testid=deconvolution-canvas]"))
    page.mouse.move(box["x"] + 90, box["y"] + box["height"] - 10)
    page.wait_for_function("Number(document.querySelector('[data-testid=images-canvas]').dataset.outlined) > 3")
    assert "Feature 1" in page.locator(".dc-lane .pv-tip").inner_text()
    box = at_rest(images)
    page.mouse.move(box["x"] + 90, box["y"] + 20)
    page.wait_for_function(
        "['3', '4', '5', '6'].includes(document.querySelector('[data-testid=images-canvas]').dataset.outlined)"
    )


# What is said of images that are none.
BAD = {
    "is empty": np.zeros((0, 8, 8), np.int8),
    "0 or 1": np.full((4, 14, 14), 7),
    "at least 6 x 6": np.zeros((4, 3, 14), np.int8),
    "give at most": np.zeros((300, 64, 64), np.int8),
}


def test_bad_images_are_told_in_one_sentence(server, open_page):
    page = open_page(f"{server}/deconvolution?data=bars&images=20&samples=1")
    wait(page, "d.sweep === '0'", 120)
    rest(page)
    data = page.locator(".st-key-deconvolution_data [role=combobox], .st-key-deconvolution_data input").first
    choose(page, data, "Your own images")
    uploader = page.locator(".st-key-deconvolution_files input[type=file]")
    uploader.wait_for(state="attached")
    for words, images in BAD.items():
        buffer = io.BytesIO()
        np.savez(buffer, X=images)
        rest(page)
        uploader.set_input_files({"name": "own.npz", "mimeType": "application/zip", "buffer": buffer.getvalue()})
        error = page.locator(".stSidebar [data-testid=stAlert]").filter(has_text=words)
        error.wait_for()
        assert error.inner_text().strip().count(". ") == 0
        page.get_by_role("button", name="Remove own.npz").click()
        error.wait_for(state="detached")


def test_what_is_counted_of_given_pixels_alone_says_so_where_others_are_hidden(open_page, server):
    page = open_page(link(server, "deconvolution", preset="complete"))
    wait(page, "/^\\d[\\d\u202f]* given and \\d[\\d\u202f]* hidden wrong$/.test(d.said)", 120)
    page.wait_for_selector("canvas.pv-chart[aria-label^='Given pixels wrong: latest']")
    assert page.locator(".dc-numbers").inner_text().count("given, wrong") == 1


# As where the server is still at other settings than those that the page asks for.
LATE = """
const adopt = Deconvolution.prototype.adopt;
Deconvolution.prototype.adopt = function (meta) {
  return adopt.call(this, { ...meta, waits: Boolean(window.late) });
};
"""


def test_while_other_settings_are_waited_for_nothing_of_those_before_is_told_as_found(open_page, server):
    page = open_page("about:blank")

    def with_late(route):
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text() + LATE)

    page.route("**/deconvolution*.js*", with_late)
    page.goto(link(server, "deconvolution", preset="paper"))
    page.wait_for_selector("[data-testid=images-canvas][data-painted]")
    press(page, "Space")
    page.locator(".pv-verdict", has_text="glyphs").wait_for()
    opacity = "(numbers) => getComputedStyle(numbers).opacity"
    numbers = page.locator(".dc-numbers")
    assert numbers.evaluate(opacity) == "1"
    page.evaluate("() => { window.late = true; }")
    page.locator(".pv-verdict", has_text="Starting again under the new settings").wait_for()
    assert numbers.evaluate(opacity) == "0.3" and page.locator(".pv-verdict").count() == 1
    page.evaluate("() => { window.late = false; }")
    page.locator(".pv-verdict", has_text="glyphs").wait_for()


def test_a_class_sees_images_beside_the_features(open_page, server):
    address = link(server, "deconvolution", preset="paper", **{"class": "1"})
    page = open_page(address, viewport={"width": 1280, "height": 800})
    page.wait_for_selector("[data-testid=images-canvas][data-painted]")
    page.wait_for_function(
        """() => ["images-canvas", "deconvolution-canvas"].every((id) => {
          const box = document.querySelector(`[data-testid=${id}]`).getBoundingClientRect();
          return box.height > 50 && box.bottom <= window.innerHeight;
        })"""
    )
    assert page.locator(".dc-images .dc-legend").inner_text().split("\n") == ["missing", "too much"]
    assert page.locator(".dc-pale").inner_text() == "pale pixels: unsure"
