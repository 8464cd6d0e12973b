"""The Landscape page in a real Chromium: a dragged shift redraws the hills, and the frequencies come to the law."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.browser.stage import choose, link, press, steady
from tests.browser.test_layout import list_is_clear_of

# Over so many pictures of the page, or more until the ball has moved: those in which the ball stood elsewhere than in
# the one before, those in which the spins were drawn at another place than the ball's, and pictures a second.
MOVING = """async (count) => {
  const land = document.querySelector("[data-testid=landscape-canvas]");
  const spins = document.querySelector("[data-testid=landscape-spins]");
  const begin = performance.now();
  let [moved, apart, last, k] = [0, 0, land.dataset.ball, 0];
  // Between two of its ways it rests, the longer the later the server is.
  for (; k < count || (moved <= 10 && performance.now() - begin < 60000); k++) {
    await new Promise(requestAnimationFrame);
    moved += land.dataset.ball !== last;
    apart += land.dataset.ball !== spins.dataset.ball;
    last = land.dataset.ball;
  }
  return { moved, apart, rate: (1000 * k) / (performance.now() - begin) };
}"""

CANVAS = "[data-testid=landscape-canvas]"
# A tick of the shift's slider, and the ms until the canvas shows the landscape of it.
DRAG = """async (share) => {
  const range = document.querySelector("[data-knob=extra]");
  const canvas = document.querySelector("[data-testid=landscape-canvas]");
  const before = canvas.dataset.extra;
  range.value = Math.round(share * Number(range.max));
  const begin = performance.now();
  range.dispatchEvent(new Event("input", { bubbles: true }));
  while (canvas.dataset.extra === before && performance.now() - begin < 5000) await new Promise(requestAnimationFrame);
  return performance.now() - begin;
}"""


# What stands on screen in the first picture of another shift.
MOVED = """async () => {
  const range = document.querySelector("[data-knob=extra]");
  const canvas = document.querySelector("[data-testid=landscape-canvas]");
  const before = canvas.dataset.extra;
  range.value = Number(range.max);
  range.dispatchEvent(new Event("input", { bubbles: true }));
  while (canvas.dataset.extra === before) await new Promise(requestAnimationFrame);
  await new Promise((done) => setTimeout(done, 150));
  const curve = document.querySelector("canvas.pv-chart[aria-label^='Largest error']");
  return [document.querySelector(".pv-verdict").textContent, curve.getAttribute("aria-label")];
}"""


# Where the names of pictures are written that lie so near each other that on the side where each would have its own it
# would cover another or leave the canvas: boxes (left, top, right, bottom) of all pictures, then of all names.
BESIDE = """async (places) => {
  const loaded = performance.getEntriesByType("resource").map((e) => e.name).find((a) => a.endsWith("/memory.js"));
  const { MemoryPicture } = await import(loaded);
  const names = [];
  const [side, wide] = [30, 60];
  const write = (name, left, base) => names.push([left, base - 13, left + wide, base]);
  const picture = { context: { measureText: () => ({ width: wide }) }, scale: 1, side: 300, write };
  const taken = places.map(([x, y]) => [x - side / 2, y - side / 2, side, side]);
  for (const place of places) MemoryPicture.prototype.nameBeside.call(picture, place, "B and −A", side, taken);
  return [places.map(([x, y]) => [x - 15, y - 15, x + 15, y + 15]), names];
}"""


def test_frequencies_come_to_the_law_and_the_shift_that_is_dragged_is_at_once_that_of_all(
    server, open_page, record_property
):
    page = open_page(link(server, "landscape", preset="attractive", speed="5"))
    page.wait_for_selector(f"{CANVAS}[data-hills='2']")
    assert page.locator(".pv-bar option").all_inner_texts()[:2] == ["0.5 trajectories/s", "1 trajectory/s"]
    page.wait_for_function(
        "() => { const d = document.querySelector('[data-testid=landscape-bars]').dataset;"
        " return Number(d.draws) > 10000 && Number(d.error) < 0.03 }",
        timeout=180_000,
    )
    verdict_and_curves_are_of_the_shift_that_is_seen(page)
    record_property("ms to another landscape", page.evaluate(DRAG, 0.3))
    page.evaluate(DRAG, 0.5)
    page.wait_for_selector(f"{CANVAS}[data-hills='2']")
    page.evaluate("document.querySelector('[data-knob=extra]').dispatchEvent(new Event('change', {bubbles: true}))")
    page.wait_for_url("**extra=3.*")
    page.get_by_role("button", name="Stretched").click()
    page.wait_for_selector(f"{CANVAS}[data-turn='1.00'][data-hills='2']")
    press(page, "Space")
    page.wait_for_function("document.querySelector('.pv-root').dataset.server === 'paused'")


def verdict_and_curves_are_of_the_shift_that_is_seen(page) -> None:
    page.wait_for_function(
        "() => /of exact(, no more than chance)? \\(/.test(document.querySelector('.pv-verdict')?.textContent)"
    )
    verdict = page.locator(".pv-verdict").inner_text()
    # Its question is how states are drawn: that is told first.
    assert verdict.startswith("Where the ball stops a state is drawn by lot, near ones likelier: in ")
    assert "well" not in verdict
    parts = "Two wells, 00 and 11, at shift 2.8; up to about 2 it is one."
    assert page.locator(".pv-said, .pv-note").filter(has_text=parts).count()
    # No answer of the server comes in between.
    page.evaluate("() => { window.speaks = WebSocket.prototype.send; WebSocket.prototype.send = () => {}; }")
    verdict, curve = page.evaluate(MOVED)
    assert verdict == (
        "Four wells, 00, 01, 10 and 11, at shift 6; up to about 2 it is one. Starting again under the new setting …"
    )
    # Of no trajectory no steps are told.
    assert page.locator(".ls-strip", has_text="Energy H").locator(".pv-title > span").first.inner_text() == "Energy H"
    assert not any(letter.isdigit() for letter in curve)
    page.get_by_role("button", name="About the coordinates").focus()
    assert page.locator(".ls-head .pv-tip").is_visible()
    page.evaluate("() => { WebSocket.prototype.send = window.speaks; }")


# On the ball's way: what the spins were where it last stood, and the words of the overlaps' curve.
ON_THE_WAY = """async () => {
  const spins = document.querySelector("[data-testid=landscape-spins]");
  const curve = document.querySelector("canvas.pv-chart[aria-label^='Overlaps']");
  const land = document.querySelector("[data-testid=landscape-canvas]");
  const until = async (landed) => {
    const begin = performance.now();
    const waits = () => spins.dataset.landed !== landed && performance.now() - begin < 20000;
    while (waits()) await new Promise(requestAnimationFrame);
  };
  await until("false");
  for (const begin = performance.now(); ; ) {
    await until("true");
    const stood = spins.getAttribute("aria-label");
    await until("false");
    const { roll } = land.dataset;
    await new Promise((done) => setTimeout(done, 500));
    // A browser that was late may have come to the end of that way.
    const late = land.dataset.roll !== roll || spins.dataset.landed !== "false";
    if (late && performance.now() - begin < 60000) continue;
    return [stood, curve.getAttribute("aria-label"), spins.getAttribute("aria-label")];
  }
}"""


def the_curve_of_overlaps_ends_where_the_ball_last_stood(page) -> None:
    page.locator("canvas.pv-chart[aria-label^='Overlaps']").wait_for()
    stood, curve, now = page.evaluate(ON_THE_WAY)
    assert ": overlap with A " in stood and ": on the way: A " in now
    read = [[float(word.replace("−", "-")) for word in re.findall("−?[0-9.]+[0-9]", text)] for text in (stood, curve)]
    assert read[0][1:] == [round(value, 2) for value in read[1]]


# What is said while the trajectories 0, 2, 3 and all are seen, of words of the first, the third and the fourth; then,
# after a reset, of new ones.
DUE = """async () => {
  const loaded = performance.getEntriesByType("resource").map((e) => e.name).find((a) => a.endsWith("/due.js"));
  const { Due } = await import(loaded);
  const due = new Due();
  [[1, "first"], [3, "third"], [4, "fourth"]].forEach(([number, words], k) => due.take(number, words, null, k === 0));
  const told = [0, 2, 3, Infinity].map((seen) => due.at(seen).words);
  due.take(1, "new", null, true);
  return [...told, due.at(0).words];
}"""


def test_the_ball_of_two_pictures_its_spins_and_the_curve_of_overlaps_move_together(server, open_page, record_property):
    page = open_page(link(server, "landscape", preset="hopfield", speed="0.5"))
    page.wait_for_selector(f"{CANVAS}[data-hills='4']")
    page.wait_for_selector("[data-testid=landscape-spins][data-differs]")
    assert page.evaluate(DUE) == ["first", "first", "third", "fourth", "new"]
    verdict = page.locator(".pv-verdict").inner_text()
    assert verdict.startswith("Four wells at T = 0.8: A, B and their negatives have one each, below T = 0.947. ")
    for places in ([[250, 60], [280, 90], [50, 240], [20, 210]], [[150, 20], [150, 280], [285, 150], [15, 150]]):
        pictures, names = page.evaluate(BESIDE, places)
        for k, (left, top, right, bottom) in enumerate(names):
            assert 0 <= left and right <= 300 and 0 <= top and bottom <= 300
            others = [*pictures, *(other for j, other in enumerate(names) if j != k)]
            assert not any(left < c and a < right and top < d and b < bottom for a, b, c, d in others), (k, names)
    seen = page.evaluate(MOVING, 60)
    record_property("pictures a second", seen["rate"])
    assert seen["moved"] > 10 and not seen["apart"]
    # The engine's spins are those that the page draws at the ball, but for numbers on the very edge.
    assert int(page.locator("[data-testid=landscape-spins]").get_attribute("data-differs")) <= 1
    the_curve_of_overlaps_ends_where_the_ball_last_stood(page)
    page.evaluate(DRAG.replace("extra", "temperature"), 0.5)
    page.wait_for_selector(f"{CANVAS}[data-hills='1']")
    page.evaluate(
        "document.querySelector('[data-knob=temperature]').dispatchEvent(new Event('change', {bubbles: true}))"
    )
    page.wait_for_url("**temperature=1.*")
    page.get_by_role("button", name="Stretched").click()
    page.wait_for_selector(f"{CANVAS}[data-turn='1.00']")
    press(page, "Space")
    page.wait_for_function("document.querySelector('.pv-root').dataset.server === 'paused'")


# Where what is told by a ? is seen; null where nothing is told.
TIP = """() => {
  const tip = [...document.querySelectorAll(".pv-tip")].find((each) => each.getClientRects().length);
  if (!tip || getComputedStyle(tip).visibility === "hidden") return null;
  const { x, y, width, height } = tip.getBoundingClientRect();
  return { x, y, width, height };
}"""


def told_at(page, name: str) -> dict[str, float]:
    """Where the words are that a ? tells; it is pointed at again where a verdict that grew has moved it away."""
    for _ in range(10):
        page.get_by_role("button", name=name).hover()
        page.wait_for_timeout(100)
        if box := page.evaluate(TIP):
            return box
    pytest.fail(f"{name}: nothing is told")


def test_a_class_sees_strips_and_verdict_without_scrolling(server, open_page):
    address = link(server, "landscape", preset="attractive", **{"class": "1"})
    page = open_page(address, viewport={"width": 1280, "height": 800})
    page.locator(".pv-verdict", has_text="Press Play, or Space, and watch the bars: no state is drawn yet.").wait_for()
    press(page, "Space")
    page.wait_for_function(
        """() => {
          const said = document.querySelector(".pv-verdict");
          if (!said || !/are within .* of exact/.test(said.textContent)) return false;
          return said.getBoundingClientRect().bottom <= window.innerHeight;
        }"""
    )
    one, two, (between, four, middle) = page.evaluate(TOPS)
    assert between == [] and four == 4 and np.allclose(middle, [[0.5, 0.5]], atol=0.01)
    assert np.allclose(one, [[0.5, 0.5 - 0.01 / 6]], atol=2e-4)
    assert len(two) == 2 and abs(sum(x for x, _ in two) - 1) < 2e-4
    assert page.locator("[data-testid=landscape-shift]").bounding_box()["y"] < 600
    # What a word means is seen whole, wherever it stands.
    for name in ("Wells by shift", "the coordinates"):
        tip = told_at(page, f"About {name}")
        assert 0 <= tip["x"] <= 1280 - tip["width"] and 0 <= tip["y"] <= 800 - tip["height"]
    assert page.locator(".ls-of").inner_text() == "All 512 chains; the picture shows one."
    assert page.locator("[data-knob=extra]").bounding_box()["width"] > 300
    # Another preset waits to be introduced, whatever played before.
    page.wait_for_function("document.querySelector('.pv-root').dataset.server === 'playing'")
    choose(page, page.locator(".st-key-class-presets").get_by_role("combobox"), "Independent spins")
    page.wait_for_function(
        """() => document.querySelector(".pv-root").dataset.server === "paused"
          && /Press Play, or Space/.test(document.querySelector(".pv-verdict").textContent)"""
    )


# Where the tops of the landscape of two spins lie, whose hills are alike on both sides of the middle; and where it
# dips, of two hills and of four around a place that is lower than all about it.
TOPS = """async () => {
  const loaded = performance.getEntriesByType("resource").map((e) => e.name).find((a) => a.endsWith("/ground.js"));
  const { Ground } = await import(loaded);
  const ground = Object.assign(Object.create(Ground.prototype), { law: [0.5, 0.5], middle: [0, 0], half: 3 });
  const of = (means) => {
    const law = means.map(() => 1 / means.length);
    return Object.assign(ground, { law, means, inverse: [[1, 0], [0, 1]] }).survey();
  };
  const two = [[-0.5, 0.5], [-1.7, 1.7]].map((places) => of(places.map((x) => [x, 0.01])));
  const four = of([[-1.7, 0], [1.7, 0], [0, -1.7], [0, 1.7]]);
  return [...two.map(({ tops }) => tops), [two[1].dips, four.tops.length, four.dips]];
}"""


# How far the dots of two spins stand apart, and the size of what is seen, at some shifts and in both coordinates.
APART = """async () => {
  const loaded = performance.getEntriesByType("resource").map((e) => e.name).find((a) => a.endsWith("/ground.js"));
  const { Ground } = await import(loaded);
  const vectors = [[0.7071, 0.7071], [0.7071, -0.7071]];
  const scene = { values: [2, 0], vectors, states: [[-1, -1], [1, 1]], law: [0.5, 0.5], colours: [], high: 6 };
  return [0, 1].map((turn) => [0.05, 1, 3, 6].map((extra) => {
    const ground = new Ground({ ...scene, extra }, turn);
    const [[a, b], [c, d]] = ground.means.map((mean) => ground.pixel(mean, 1));
    return [Math.hypot(a - c, b - d), ground.half];
  }));
}"""


# The words in the picture's corner of one well and of two, with crosses and without; and whether those of the energy
# keep clear of a path whose peak lies at their line.
WORDS = """async () => {
  const loaded = (name) => performance.getEntriesByType("resource").map((e) => e.name).find((a) => a.endsWith(name));
  const files = [import(loaded("/scene.js")), import(loaded("/strips.js"))];
  const [{ Picture }, { Energy, Shift }] = await Promise.all(files);
  const written = [];
  const fillText = (...at) => written.push(at);
  const context = { measureText: (words) => ({ width: 6 * words.length }), strokeText() {}, fillRect() {}, fillText };
  const write = (words) => written.push([words]);
  const picture = { context, side: 400, scale: 1, theme: {}, heading: (words) => words, write };
  for (const hills of [1, 2]) {
    const own = { ...picture, survey: { hills } };
    for (const crossed of [true, false]) Picture.prototype.axes.call(own, ["x", "y"], crossed);
  }
  Picture.prototype.dips.call({ ...picture, survey: { dips: [[0.5, 0.5]] } });
  const corners = written.splice(0).map(([words]) => words).filter((words) => words.length > 1);
  const energy = { width: 300, height: 120, scale: 1 };
  const theme = { text: [0, 0, 0], soft: [0, 0, 0], rule: [0, 0, 0], ground: [255, 255, 255], paper: [255, 255, 255] };
  const path = Array.from({ length: 11 }, (_, k) => [44 + 24.8 * k, 58 - 46 * Math.sin((Math.PI * k) / 10)]);
  Energy.prototype.name.call(energy, context, ["accepted if it ends below start + 0.05"], 50, path, theme, 1);
  const foot = written.splice(0)[0][2];
  Energy.prototype.axis.call(energy, context, [[-1, "−1"], [0, "0"], [1, "1"]], (h) => 60 - 50 * h, 36, theme, 1);
  const axis = written.splice(0).map(([words]) => words);
  // The marker of the shift at 100, between uprights at 0 and 180, and in a stretch too narrow for words beside it.
  const strip = { width: 400, height: 78, mark: 100, scene: { low: 0.05, high: 6 } };
  Shift.prototype.within.call(strip, context, ["one well, guaranteed", "one well"], [0, 180], 20, theme);
  Shift.prototype.within.call(strip, context, ["four"], [88, 122], 20, theme);
  Shift.prototype.foot.call(strip, context, [[2, "2"]], (value) => 66 * value, theme);
  return [corners, foot, axis, written.map(([words, x]) => [words, x])];
}"""


def test_words_in_the_picture_say_what_a_cross_is_and_keep_clear_of_the_energy(server, open_page):
    page = open_page(link(server, "landscape", preset="attractive"))
    page.wait_for_selector(f"{CANVAS}[data-layer='2']")
    corners, foot, axis, strip = page.evaluate(WORDS)
    assert corners == ["one well, × its bottom", "one well", "two wells, × their bottoms", "two wells", "hill"]
    # The path runs from 12 to 58 pixels down.
    assert foot > 75
    # Energies are counted from the start's.
    assert axis == ["−1", "start", "+1"]
    # Words stand beside the marker of the shift where there is room, and the scale has both of its ends.
    assert strip[:2] == [["one well", 49], ["four", 105]]
    assert [words for words, _ in strip[2:]] == ["2", "0.05", "6"]
    key = page.locator("[data-testid=landscape-key]")
    told = [
        "a state; larger: likelier",
        "the ball, pushed, and its way",
        "to the state drawn there",
        "earlier stops, by state drawn",
        "the sum upside down, darker: deeper",
    ]
    assert key.locator(".ls-entry > span:last-child").all_inner_texts() == told
    # Nothing of the picture runs over what its signs are.
    picture = page.locator(CANVAS).bounding_box()
    assert key.bounding_box()["x"] > picture["x"] + picture["width"]
    # The shift's strip has each value where the knob above it has it, and says what λ₁ is.
    strip = page.locator("[data-testid=landscape-shift]").bounding_box()
    knob = page.locator("[data-knob=extra]").bounding_box()
    assert strip["x"] == pytest.approx(knob["x"] + 8, abs=1.5)
    assert strip["width"] == pytest.approx(knob["width"] - 16, abs=2)
    told = page.locator(".ls-strip", has_text="Wells by shift").locator(".pv-unit")
    assert told.inner_text() == "more wells, more for the ball to cross"
    # Where wells are asked for, also how far one is promised, by λ₁.
    page.goto(link(server, "landscape", preset="fields"))
    promise = "Up to λ₁ = 4 one well is guaranteed; the largest eigenvalue λ₁ = shift + 2 = 5"
    page.wait_for_function(
        "words => [...document.querySelectorAll('.ls-strip .pv-unit')].some((each) => each.innerText === words)",
        arg=promise,
    )


def test_dots_are_seen_to_part_as_the_shift_grows(server, open_page):
    """The picture keeps its scale: however large the shift, what it adds to the way between two dots is seen."""
    page = open_page(link(server, "landscape", preset="attractive"))
    page.wait_for_selector(f"{CANVAS}[data-layer='2']")
    for shifts in page.evaluate(APART):
        apart, halves = np.transpose(shifts)
        assert np.ptp(halves) == 0.0
        assert (np.diff(apart) > 0.02).all() and 0.1 < apart[0] and apart[-1] < 0.9


# The ink along the edge of the picture, away from the corners, when the ball is first beyond it.
BEYOND = """async () => {
  const canvas = document.querySelector("[data-testid=landscape-canvas]");
  const begin = performance.now();
  const seen = () => canvas.dataset.beyond === "true";
  while (!seen() && performance.now() - begin < 60000) await new Promise(requestAnimationFrame);
  const { width, height } = canvas;
  const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  const rim = Math.round(width / 20);
  let ink = 0;
  for (let k = 0; k < width * height; k++) {
    const [x, y] = [k % width, Math.floor(k / width)];
    const [across, along] = [Math.min(x, width - 1 - x), Math.min(y, height - 1 - y)];
    const near = Math.min(across, along) < rim && Math.max(across, along) > 3 * rim;
    ink += near && pixels[4 * k] + pixels[4 * k + 1] + pixels[4 * k + 2] < 150;
  }
  return { beyond: canvas.dataset.beyond, ink: ink / (rim * rim) };
}"""


def test_a_ball_that_leaves_the_picture_is_pointed_to(server, open_page):
    """At the step's limit it swings far beyond the Gaussians: a wedge stands on the edge then."""
    page = open_page(link(server, "landscape", preset="attractive", extra=1.0, step=1.99, steps=9))
    page.wait_for_selector(f"{CANVAS}[data-beyond='']")
    page.wait_for_selector(f"{CANVAS}[data-layer='2']")
    before = page.evaluate(BEYOND.replace('"true"', '""'))
    found = page.evaluate(BEYOND)
    assert found["beyond"] == "true" and found["ink"] > before["ink"] + 0.03


def test_the_verdict_names_the_hills_and_the_shift_that_is_seen(server, open_page):
    """Of a shift of .2 it does not say that it is the least, nor of three states on a line that they have a hill."""
    page = open_page(link(server, "landscape", preset="strong"))
    begins = "Two wells, 00 and 11, at shift 0.2: more than one "
    page.wait_for_function(f"() => document.querySelector('.pv-verdict')?.innerText.startsWith('{begins}')")
    assert " more than one at any shift of the slider." in page.locator(".pv-verdict").inner_text()
    page.goto(link(server, "landscape", preset="fields"))
    page.wait_for_function(
        "() => document.querySelector('.pv-verdict')?.innerText.startsWith('One well at shift 3: nothing')"
    )
    parting = "Drag the shift: it parts at about 3.6; one well is guaranteed up to 2 only."
    assert parting in page.locator(".pv-verdict").inner_text()
    # Just beyond the shift where they part both tops are still nearer to the middle of 01 than to those of 00 and 11.
    page.goto(link(server, "landscape", preset="attractive", extra=2.07))
    begins = "Two wells, 00 and 11, at shift 2.07; up to about 2 it is one."
    # Of the first preset what is drawn stands before them.
    page.wait_for_function(f"() => document.querySelector('.pv-said')?.innerText.includes('{begins}')")
    page.goto(link(server, "landscape", preset="alike"))
    page.wait_for_function(
        "() => document.querySelector('.pv-verdict')?.innerText.startsWith('Two wells at T = 0.75: ')"
    )
    shared = "A and B share one, their negatives the other. Only below T = 0.51 has each its own."
    assert shared in page.locator(".pv-verdict").inner_text()


# Where the picture and what stands under the verdict are, and how long the verdict is.
PLACED = """() => {
  const { width } = document.querySelector("[data-testid=landscape-canvas]").getBoundingClientRect();
  const said = document.querySelector(".pv-said");
  const words = [...said.children].reduce((sum, each) => sum + each.offsetHeight, 0);
  return [width, said.getBoundingClientRect().bottom, words];
}"""


def test_the_picture_keeps_its_size_while_the_verdict_grows(server, open_page):
    page = open_page(link(server, "landscape", preset="repulsive"), viewport={"width": 1280, "height": 800})
    page.wait_for_function(
        "() => /of exact(, no more than chance)? \\(/.test(document.querySelector('.pv-verdict')?.textContent)"
    )
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Reset").click()
    page.wait_for_function("() => /press Play/i.test(document.querySelector('.pv-verdict')?.textContent)")
    # The stage looks at its own room less than twice a second.
    width, bottom, words = steady(page, PLACED, 1.0)
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("() => /In \\d.* trajectories of/.test(document.querySelector('.pv-verdict')?.textContent)")
    after = steady(page, f"() => ({PLACED})().slice(0, 2).concat(({PLACED})()[2] > {words})")
    assert after == [width, bottom, True]


def test_before_a_class_block_gibbs_has_its_curve_where_the_ball_has_its_energy(server, open_page):
    address = link(server, "landscape", preset="failure", **{"class": "1"})
    page = open_page(address, viewport={"width": 1024, "height": 768})
    page.locator(".pv-verdict", has_text="Press Play, or Space, and watch the bars: no state is drawn yet.").wait_for()
    list_is_clear_of(page, ".ls-head, .pv-title")
    press(page, "Space")
    page.wait_for_function("() => /ought to be/.test(document.querySelector('.pv-verdict')?.textContent)")
    page.locator(".pv-traces canvas").first.wait_for(state="visible")
    # The words are new ones with every update, and the curve above them is drawn a moment later.
    page.wait_for_function("() => document.querySelector('.pv-verdict').getBoundingClientRect().bottom <= 768")
