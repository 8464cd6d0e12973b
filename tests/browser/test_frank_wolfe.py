"""The Frank-Wolfe page in a real Chromium: a step names a configuration, the gap closes, walks are raced and shared."""

from __future__ import annotations

import itertools
import re
import time

import numpy as np
import pytest

from pmpviz.capabilities.marginals.presets import INFERENCE
from pmpviz.models import build_spec
from tests.browser.stage import lanes, link, look_back, pause, press, rest, steady, wait_lanes

TRIANGLE = {"model": "complete:3,J=-1"}
WALK = "[data-testid=walk-canvas]"
GAP = "canvas.pv-chart[aria-label^='Gap before']"

# Which signs are told, and where their words begin, beside a picture of one walk before its first step, after it, and
# of two in little room.
KEY = """async () => {
  const loaded = performance.getEntriesByType("resource").map((e) => e.name).find((a) => a.endsWith("/key.js"));
  const { drawKey } = await import(loaded);
  const theme = { text: [0, 0, 0], soft: [0, 0, 0], ground: [255, 255, 255] };
  const context = new Proxy({ measureText: (text) => ({ width: 6 * text.length }) }, {
    get: (own, name) => own[name] || (() => {}), set: () => true });
  const lane = { marker: "circle", delta: [0.25], climbs: true };
  const walk = (weights, found) => ({ lane: { ...lane, found: [found] }, last: 0, weights, colour: "#000" });
  const told = (walks, exact, room, marginal) => {
    const written = [];
    const write = (words, x, y) => written.push([words, x, y]);
    drawKey({ context, theme, data: { exact, marginal, means: "marginals" }, scale: 1, write }, walks, room);
    return written;
  };
  return [
    told([walk([], -1)], null, 900), told([walk([1], 3)], [0, 0], 900), told([walk([1], 3), walk([1], 2)], null, 190),
    told([walk([1], 3)], [0, 0], 900, {}), told([walk([1], 3)], [0, 0], 190, {}),
  ];
}"""

# Of which step marginals are drawn: (newest step that the server has told, step on screen) one after another.
HEARD = """async (moments) => {
  const loaded = performance.getEntriesByType("resource").map((e) => e.name).find((a) => a.endsWith("/found.js"));
  const { heardAt } = await import(loaded);
  const lane = {};
  return moments.map(([known, step]) => heardAt(lane, { known }, step).known);
}"""
# What the line beneath a walk says of its steps, of exact MAP calls and of others, and before a class.
LED = """async () => {
  const loaded = performance.getEntriesByType("resource").map((e) => e.name).find((a) => a.endsWith("/lines.js"));
  const { sentence } = await import(loaded);
  const names = ["101", "010", "110"];
  const none = new Float32Array(5).fill(NaN);
  const known = Object.fromEntries(["gap", "low", "high", "error", "maximum", "objective"].map((name) => [name, none]));
  const lane = { ...known, names, steps: [0, 1, 2, 3, 4], found: [-1, 0, 1, 2, 2], changes: [4] };
  Object.assign(lane, { step: "MAP call", label: "BFW", short: "BFW" });
  const say = (last, more, sure = true, large = false, corners = null, ended = {}) =>
    sentence(
      { lane: { ...lane, ...more }, last },
      { metas: [{ sure, short: "BFW" }], large, exact: null, corners, ...ended },
    );
  const gap = new Float32Array(5).fill(0.5);
  return [
    say(1), say(2), say(3), say(4), say(3, { changes: [3] }), say(2, {}, true, true),
    say(2, { names: ["1100100010101010", "1000100010101010"] }), say(3, { steps: [0, 1, 2, 9] }), say(2, {}, false),
    ...[2, 3].map((last) => say(last, {}, true, false, ["101 010", "110 001"])),
    ...[3, 4].map((last) => say(last, { gap }, true, true, null, { done: true, closed: true })),
  ];
}"""
# How far curves go beside a picture of step 1: where none waits, where later ones do, and where such were missed.
HEADS = """async () => {
  const loaded = performance.getEntriesByType("resource").map((e) => e.name).find((a) => a.endsWith("/live.js"));
  const { Live } = await import(loaded);
  const lane = (queue) => ({ queue, shown: { sweep: 1 } });
  const head = (queue, behind) => Live.prototype.headsBy.call({ behind, lanes: [lane(queue)] }, (one) => one.sweep)[0];
  return [head([], false) === Infinity, head([{ sweep: 2 }], false), head([], true)];
}"""


# The contrast to a light and to a dark ground of what is drawn of a pale walk's colour, lilac and amber.
CLEAR = """async () => {
  const loaded = performance.getEntriesByType("resource").map((e) => e.name).find((a) => a.endsWith("/theme.js"));
  const { clearOf, contrast, mix } = await import(loaded);
  const grounds = [[[252, 251, 247], [30, 30, 30]], [[20, 20, 18], [235, 235, 230]]];
  return grounds.flatMap(([ground, text]) => [[200, 180, 235], [230, 159, 0], [90, 60, 140]].map((colour) => {
    const full = clearOf(ground, colour, text, 3.3);
    return contrast(clearOf(ground, mix(ground, full, 0.35), full, 3.3), ground);
  }));
}"""
# Whether a title has lost what it asks since this was called, as of an update that is laid out meanwhile: the ? takes
# room.
LOST = """() => {
  window.lost = false;
  const watch = new MutationObserver((all) => { window.lost ||= all.some(({ oldValue }) => oldValue === ""); });
  for (const title of document.querySelectorAll(".pv-title[title]:not([title=''])"))
    watch.observe(title, { attributeFilter: ["title"], attributeOldValue: true });
}"""

# Corners in use that are one place, of corners at two places.
TOGETHER = """async () => {
  const loaded = performance.getEntriesByType("resource").map((e) => e.name).find((a) => a.endsWith("/scene.js"));
  const { together } = await import(loaded);
  const corners = Float32Array.of(1, -1, -1, -1, -1, 1, 1, -1, -1, 1, -1, -1);
  return [...together(corners, [0, 1, 2])].map(({ point, own }) => [[...point], own]);
}"""


def test_a_step_goes_to_a_named_configuration_and_the_gap_closes(server, open_page, record_property):
    page = open_page(link(server, "frank_wolfe", ("barrier_frank_wolfe;tolerance=0.01",), **TRIANGLE))
    wait_lanes(page, 1)
    pause(page)
    assert page.evaluate(HEARD, [[1, 1], [3, 1], [3, 3], [5, 4], [0, 0]]) == [1, 1, 3, 3, 0]
    assert page.evaluate(HEADS) == [True, 1, 1]
    assert page.evaluate(TOGETHER) == [[[1, -1, -1], [0, 2]], [[-1, -1, 1], [1]]]
    unmoved, moved, narrow, drawn, full = page.evaluate(KEY)
    signs = ["μ: marginals so far", "named by this MAP call", "averaged; larger: heavier"]
    assert [words for words, *_ in moved] == [words for words, *_ in unmoved] == signs
    assert len({y for *_, y in moved}) == 1 and [x for _, x, _ in moved] == sorted({x for _, x, _ in moved})
    assert [words for words, *_ in narrow] == signs
    # The polytope that is drawn towards its centre is told where that takes no third row.
    dotted = "dotted: barrier, μ stays inside"
    assert [words for words, *_ in drawn][-1] == dotted and dotted not in [words for words, *_ in full]
    assert all(x + 6 * len(words) <= 190 for words, x, _ in narrow) and len({y for *_, y in narrow}) == 3
    assert min(page.evaluate(CLEAR)) >= 3
    # Why a step leads elsewhere than the one before is said of exact MAP calls.
    assert page.evaluate(LED) == [
        "MAP call 1: from the start the best corner is 101",
        "MAP call 2: μ moved, so the best corner turned from 101 to its opposite 010",
        "MAP call 3: μ moved, so the best corner turned from 010 to 110",
        "MAP call 4: ρ changed, the best corner is still 110",
        "MAP call 3: ρ changed, so the best corner turned from 010 to 110",
        "MAP call 2: μ moved, so the best turned from 101 to 010",
        "MAP call 2: μ moved, so another configuration is the best",
        "MAP call 9: from μ the best corner is 110",
        "BFW: 2 MAP calls, found corner 010",
        "MAP call 2: the best corner is still 101 · 010",
        "MAP call 3: μ moved, so the best corner turned from 101 · 010 to 110 · 001",
        # Why a walk has ended, at its end.
        "MAP call 3: μ moved, so the best turned from 010 to 110, gap before the step 0.5",
        "MAP call 4: ρ changed, the best corner is still 110, gap 0.5, small enough after the last ρ: done",
    ]
    # What a word means is told until Escape, wherever the focus is.
    page.locator(".pv-title", has_text="log Z lies").click(position={"x": 20, "y": 6})
    page.locator(".pv-told").wait_for()
    page.evaluate("document.activeElement?.blur()")
    page.keyboard.press("Escape")
    page.locator(".pv-told").wait_for(state="detached")
    page.get_by_role("button", name="Reset").click()
    wait_lanes(page, 1, "Number(d.sweep) === 0")
    rest(page)
    page.get_by_text("none found yet").wait_for()  # And no state of all 0 in its place.
    page.evaluate(LOST)
    press(page, "n")
    wait_lanes(page, 1, "Number(d.sweep) === 1")
    first = "/MAP call 1: from the start the best corner is [01]{3} · [01]{3},/"
    page.wait_for_function(f"() => {first}.test(document.querySelector('.pv-root').innerText)")
    assert page.evaluate("window.lost") is False
    page.locator(".pv-bar select").select_option("0")
    begin = time.perf_counter()
    page.get_by_role("button", name="Run to small gap").click()
    page.wait_for_function(
        r"() => /MAP call \d+: .*[01]{3}, gap (before the step )?0\.00\d+/"
        ".test(document.body.innerText)",
        timeout=120_000,
    )
    record_property("seconds to the gap", round(time.perf_counter() - begin, 1))
    page.get_by_role("button", name="Run to end").click()
    page.wait_for_function("() => document.querySelector('.pv-root').innerText.includes('done')", timeout=120_000)
    page.wait_for_selector(GAP)
    verdict = "document.querySelector('.pv-verdict').textContent"
    beneath = "document.querySelector('.pv-verdict + .pv-soft')?.textContent"
    ended = r"/^The objective \(.*\) is .* above the exact log Z \(.*\)\. .*Ended at MAP call \d+: the gap is within/"
    page.wait_for_function(f"() => {ended}.test({beneath})")
    assert not page.locator(".pv-waits").count()  # Nothing is waited for.
    between = r"≤ log Z ≤ ([\d.]+); exactly ([\d.]+)"
    page.wait_for_function(f"() => /{between}/.test(document.body.innerText)")
    bound, exact = re.search(between, page.inner_text("body")).groups()
    assert float(bound) >= float(exact)
    page.locator("table", has_text="log Z at most").first.wait_for()
    end = int(lanes(page)[0]["sweep"])
    look_back(page, 1)
    first = "/^Looking back: After 1 MAP call /"
    page.wait_for_function(
        f"() => {first}.test({verdict}) && /which it may cross/.test({beneath}) && !/Ended/.test({beneath})"
    )
    # What stands beneath the stage is of that moment, too.
    page.wait_for_function(
        "() => /Barrier Frank-Wolfe\\s+1\\s/.test(document.querySelector('.st-key-inference_found').innerText)"
    )
    page.get_by_role("button", name="Live").click()
    page.locator(".pv-bar select").select_option("2")
    page.get_by_role("button", name="Again").click()
    # A browser that is late may pass over a step, and not over the walk.
    wait_lanes(page, 1, f"Number(d.sweep) > 0 && Number(d.sweep) < {end}")
    page.get_by_role("button", name="Pause").wait_for()


def test_a_class_reads_the_number_of_a_method_that_bounds_nothing(server, open_page):
    page = open_page(f"{server}/frank_wolfe?preset=tree-theorem&class=1", viewport={"width": 1024, "height": 768})
    wait_lanes(page, 3)
    pause(page)
    page.get_by_role("button", name="Step").click()
    page.wait_for_function(
        """() => {
          const lines = [...document.querySelectorAll(".wk-line")];
          return lines.length === 3 && lines.every((line) => /steps?; mean maximum 1?[0-9.]+$/.test(line.innerText)
            && line.getBoundingClientRect().bottom <= innerHeight);
        }"""
    )
    # The preset's settings, which the page writes into its address, are no step of their own: Back leaves the page.
    page.wait_for_url("**lane3=*")
    page.go_back()
    assert page.url == "about:blank"
    page.go_forward()  # What a narrow window leaves in the browser, the folded side bar, is cleared from the page.


# Every day a training that is left goes on, and the spins of Home are as they were left.
@pytest.mark.thorough
def test_raced_walks_keep_their_settings_over_another_page(server, open_page):
    raced = ("barrier_frank_wolfe;rho_updates=0", "barrier_frank_wolfe;rho_updates=0;polytope=local", "trbp")
    page = open_page(link(server, "frank_wolfe", raced, **TRIANGLE))
    wait_lanes(page, 3)
    page.get_by_role("button", name="Run to end").click()
    wait_lanes(page, 3, "Number(d.sweep) > 1")
    # Messages, which make no MAP calls, go on for longest.
    page.wait_for_function("() => /^sweep \\d+$/.test(document.querySelector('.pv-when').textContent)", timeout=120_000)
    page.get_by_role("link", name="Learning").click()
    wait_lanes(page, 1)
    page.get_by_role("link", name="Frank-Wolfe").click()
    wait_lanes(page, 3, "Number(d.sweep) > 1")
    page.wait_for_selector(f"{WALK}[data-paints]")
    assert "polytope%3Dlocal" in page.url


# What is said at once, and how many pixels of a name or a number stick out of the lane that they are of.
RESET = """() => {
  document.querySelector("[data-action=reset]").click();
  return document.querySelector(".pv-verdict").textContent;
}"""
LAID = """() => {
  const lanes = [...document.querySelectorAll(".pv-lane")];
  const out = lanes.map((lane) => Math.max(...[...lane.querySelectorAll(".pv-sub span")]
    .map((span) => span.getBoundingClientRect().right - lane.getBoundingClientRect().right)));
  const tops = lanes.map((lane) => lane.querySelector("canvas.pv-canvas").getBoundingClientRect().top);
  return [Math.max(...out), Math.max(...tops) - Math.min(...tops)];
}"""


def test_a_scene_is_answered_for_where_one_looks_back_and_says_that_a_reset_waits(server, open_page):
    page = open_page(f"{server}/frank_wolfe?preset=segmentation", viewport={"width": 1280, "height": 800})
    wait_lanes(page, 2, "Number(d.sweep) >= 4", seconds=200)
    pause(page)
    out, apart = page.evaluate(LAID)
    assert out <= 0 and apart < 1
    look_back(page, 1)
    verdict = "document.querySelector('.pv-verdict').textContent"
    page.wait_for_function(f"() => /^Looking back: Uncertain, with p .* after 1 MAP call/.test({verdict})")
    page.wait_for_function("() => !document.querySelector('.pv-main .pv-stage').innerText.includes('not kept')")
    assert page.evaluate(RESET) == "Back to the start, as soon as the step in hand is done."
    page.wait_for_function(f"() => /: nothing is computed yet/.test({verdict})")


# From now on, every 40 ms: how much of the walk's canvas is drawn on, and whether it is the same element.
PROBE = f"""() => {{
  const first = document.querySelector("{WALK}");
  window.probe = {{ looks: 0, least: Infinity, other: 0 }};
  setInterval(() => {{
    const canvas = document.querySelector("{WALK}");
    window.probe.looks += 1;
    if (canvas !== first) return (window.probe.other += 1);
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let drawn = 0;
    for (let k = 3; k < pixels.length; k += 64) drawn += pixels[k] > 0;
    window.probe.least = Math.min(window.probe.least, drawn);
  }}, 40);
}}"""
# Contexts for WebGL that the page asks for, from its very beginning.
COUNT_WEBGL = """
window.webgl = 0;
const get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
  if (String(kind).includes("webgl")) window.webgl += 1;
  return get.call(this, kind, ...more);
};"""


def test_a_long_walk_is_one_canvas_that_keeps_its_camera(server, open_page, record_property):
    long = "barrier_frank_wolfe;tolerance=0.0001;rho_updates=100;calls_per_rho=1000"
    glass = {"model": "square:5x5,periodic=false,couplings=gaussian,sigma=2,field=random,h=1"}
    page = open_page("about:blank")
    page.add_init_script(COUNT_WEBGL)
    page.goto(link(server, "frank_wolfe", (long,), **glass))
    wait_lanes(page, 1)
    page.get_by_role("button", name="Show the walk").click()
    page.wait_for_selector(f"{WALK}[data-paints]")
    box = page.locator(WALK).bounding_box()
    before = page.get_attribute(WALK, "data-camera")
    page.mouse.move(box["x"] + 200, box["y"] + 150)
    # The wheel is the page's until the picture has been clicked.
    page.mouse.wheel(0, -200)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.get_attribute(WALK, "data-camera") == before
    page.mouse.down()
    page.mouse.move(box["x"] + 320, box["y"] + 190, steps=6)
    page.mouse.up()
    page.wait_for_function(f"(before) => document.querySelector('{WALK}').dataset.camera !== before", arg=before)
    # Of the last one of its moves, which may be drawn a moment later.
    turned = steady(page, f"() => document.querySelector('{WALK}').dataset.camera")
    page.evaluate(PROBE)
    page.locator(".pv-bar select").select_option("0")
    wait_lanes(page, 1, "Number(d.sweep) >= 100", seconds=120)
    found = page.evaluate("window.probe")
    record_property("looks at the canvas", found["looks"])
    assert found["looks"] > 20 and not found["other"] and found["least"] > 50
    assert page.get_attribute(WALK, "data-camera") == turned and page.evaluate("window.webgl") == 0
    pause(page)
    look_back(page, 7)
    page.wait_for_selector(f"{WALK}[data-step='7']")
    page.wait_for_function(
        "() => /^Looking back: After 7 MAP calls /.test(document.querySelector('.pv-verdict').textContent)"
    )


# From now on, at every picture: what verdict, legend, counters and words beneath the pictures say, where they differ.
MOMENTS = """() => {
  window.moments = { seen: {}, apart: [], early: [], sites: [] };
  const look = () => {
    const at = (selector, pattern) => [...document.querySelectorAll(selector)]
      .map((each) => pattern.exec(each.textContent)?.[1]).filter(Boolean);
    const over = [...document.querySelectorAll(".pv-status")].some((each) => each.textContent === "done");
    const told = [
      ...at(".pv-verdict", /[Aa]fter (\\d+) MAP calls?\\)? (?:μ|the gap|correlations)/),
      ...at(".wk-line", /(?:: |^MAP call )(\\d+)/),
      ...at(".pv-counter", /MAP call (\\d+)/),
      ...at(".pv-sub", /at MAP call (\\d+)/),
    ];
    // All is of the step to which μ has come, on the way to the next one, too.
    const there = document.querySelector("canvas.wk-canvas").dataset.still === "true";
    const beside = document.querySelector(".wk-beside:not([hidden])")?.dataset.steps;
    if (!over && there && beside) told.push(...beside.split(" "));
    const sites = [...document.querySelectorAll(".pv-lane canvas.pv-canvas")].map(({ dataset }) => dataset.sweep);
    if (!over && told.length > 3) window.moments.sites.push(sites.some((step) => step !== told[0]));
    if (!over && told.length > 3) window.moments.seen[told[0]] = true;
    if (!over && there && new Set(told).size > 1) window.moments.apart.push(told.join(" "));
    if (!over && !there && told.length === 4 && new Set(told).size > 1) window.moments.early.push(told.join(" "));
    // A walk that the picture is still on is not begun anew.
    if (!over && document.querySelector(".pv-bar button").textContent === "Again") window.moments.early.push("Again");
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


# From now on, at every picture at rest: of how many configurations the words say that μ is a mean, and whether the
# centre is in it, and how many corners have a circle, and whether the centre has.
MIXED = """() => {
  window.mixed = [];
  const look = () => {
    const { still, mixed, centred } = document.querySelector("canvas.wk-canvas").dataset;
    const words = document.querySelector(".pv-verdict")?.textContent;
    const told = /averag(?:e of|ing) (\\d+) conf/.exec(words)?.[1];
    const [named, circled] = [/ the centre[, ]/.test(words), centred === "true"];
    if (told && still === "true") window.mixed.push([[Number(told), named], [Number(mixed), circled]]);
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


def test_all_parts_of_the_page_are_of_one_moment_while_walks_go_on(server, open_page):
    walk = {"model": "complete:3,J=-1,field=random,h=1", "lane1": "barrier_frank_wolfe;tolerance=0.01"}
    page = open_page(link(server, "frank_wolfe", speed="5", **walk))
    wait_lanes(page, 1)
    page.evaluate(MIXED)
    rest(page)
    top = walked_to_its_end(page)
    # ρ has changed, and its marks have moved nothing.
    assert page.locator("canvas.wk-ticks[aria-label^='rho changed']").count()
    assert page.evaluate("document.querySelector('.pv-bar').getBoundingClientRect().top") == top
    as_many_corners_have_a_circle_as_the_words_say_that_are_mixed(page)
    page.goto(f"{server}/frank_wolfe?preset=stall&speed=5")
    wait_lanes(page, 3)
    walked_to_its_end(page)


def walked_to_its_end(page) -> float:
    """Where the bar stood as the walk began, once it is over and all was of one moment all the while."""
    page.evaluate(MOMENTS)
    top = page.evaluate("document.querySelector('.pv-bar').getBoundingClientRect().top")
    page.wait_for_function("() => document.querySelector('.pv-status').textContent === 'done'", timeout=180_000)
    found = page.evaluate("window.moments")
    assert len(found["seen"]) > 10 and not found["apart"] and not found["early"]
    # The sites beside the walk are of the call that is told, on the way to the next one, too.
    sites = found["sites"]
    assert not any(first and second for first, second in zip(sites, sites[1:], strict=False))
    return top


def as_many_corners_have_a_circle_as_the_words_say_that_are_mixed(page) -> None:
    found = page.evaluate("window.mixed")
    apart = [told != drawn for told, drawn in found]
    # Words may be read a picture before the canvas is drawn.
    assert len({tuple(told) for told, _ in found}) > 1
    assert not any(first and second for first, second in zip(apart, apart[1:], strict=False))


# Of the pictures of marginals, 4x4: their names, what is beneath them, how large they are, how many greys they have.
PICTURES = """() => [...document.querySelectorAll(".wk-beside:not([hidden]) .wk-one")].map((one) => {
  const last = [...one.querySelectorAll("canvas:not(.pv-key)")].at(-1);
  const pixels = last.getContext("2d").getImageData(0, 0, last.width, last.height).data;
  const cell = last.width / 4, seen = new Set();
  for (let site = 0; site < 16; site++) {
    const [row, column] = [Math.floor(site / 4), site % 4].map((place) => Math.floor((place + 0.1) * cell));
    seen.add(pixels[4 * (row * last.width + column)]);
  }
  const [name, foot] = [".wk-one-head", ".wk-one-foot"].map((each) => one.querySelector(each).innerText.trim());
  return [name, foot, `${last.width} ${last.height}`, seen.size];
})"""


def test_where_the_polytope_is_not_seen_whole_marginals_stand_beside_the_exact_ones(server, open_page):
    page = open_page(f"{server}/frank_wolfe?preset=grid&speed=0")
    wait_lanes(page, 1)
    page.wait_for_function("() => document.querySelector('.pv-status').textContent === 'done'", timeout=120_000)
    off = r"/ MAP calls, averaged anew at the end, they are ([\d.]+) off\.$/"
    page.wait_for_function(f"() => {off}.test(document.querySelector('.pv-verdict').textContent)")
    told = page.evaluate(f"{off}.exec(document.querySelector('.pv-verdict').textContent)[1]")
    (average, foot, size, shades), exact = page.evaluate(PICTURES)
    assert (average, exact[0]) == ("μ: average so far", "exact") and size == exact[2]
    assert foot.endswith(" off on average") and float(foot.split()[0]) == pytest.approx(float(told), rel=0.05)
    assert shades > 2 and exact[3] > 2  # Neither is a configuration.
    look_back(page, 2)
    page.wait_for_selector(".wk-beside[data-steps='2']")
    # Until the server has answered none are told, and not those of now.
    page.wait_for_function("() => / off on average$/.test(document.querySelector('.wk-one-foot').innerText)")
    assert float(page.evaluate(PICTURES)[0][1].split()[0]) > float(told)
    # The walk is a click away, and what is said of its projection is said with it.
    projected = page.get_by_text("two principal directions", exact=False).first
    assert not projected.is_visible()
    page.get_by_role("button", name="Show the walk").click()
    page.wait_for_selector(f"{WALK}[data-paints]")
    assert projected.is_visible() and not page.evaluate(PICTURES)
    page.get_by_role("button", name="Show marginals").click()
    page.wait_for_function("() => document.querySelector('.wk-beside:not([hidden])')")


# Of each picture of columns: across how many a line of the key's colour stands at these heights of the axis.
SHARES = """(heights) => {
  const [left, right, bottom, top, full] = [32, 2, 18, 8, 1.06];
  const key = getComputedStyle(document.querySelector(".wk-exact")).backgroundColor;
  const canvases = [...document.querySelectorAll(".wk-beside:not([hidden]) .wk-one canvas:not(.pv-key)")];
  return canvases.map((one) => heights.filter((p, site) => {
    const [step, foot] = [(one.width - left - right) / heights.length, one.height - bottom];
    const [x, y] = [left + (site + 0.5) * step, foot - (p / full) * (foot - top)].map(Math.floor);
    const [red, green, blue] = one.getContext("2d").getImageData(x, y, 1, 1).data;
    return `rgb(${red}, ${green}, ${blue})` === key;
  }).length);
}"""


def test_on_a_small_graph_marginals_of_several_are_columns_with_the_exact_ones_across(server, open_page):
    # Slowly: a walk that has come to its end would never be at the others' step.
    page = open_page(f"{server}/frank_wolfe?preset=clique&speed=0.5", viewport={"width": 1280, "height": 900})
    wait_lanes(page, 3)
    for _ in range(3):
        page.get_by_role("button", name="Step").click()
    # It runs by itself until the first Step: so many steps and three are there.
    page.wait_for_function(
        """() => {
          const steps = document.querySelector(".wk-beside").dataset.steps.split(" ").map(Number);
          return steps.length === 3 && steps.every((each) => each >= 3 && each === steps[0]);
        }"""
    )
    model = build_spec(next(preset.plan.model for preset in INFERENCE if preset.id == "clique"))
    states = np.array(list(itertools.product((0, 1), repeat=model.n)))
    weights = np.exp([model.log_weight(state) for state in states])
    exact = weights @ states / weights.sum()
    assert page.evaluate(SHARES, exact.tolist()) == [model.n] * 3
    assert page.evaluate(SHARES, (exact / 2 + 0.2).tolist()) == [0] * 3


def test_before_a_class_what_was_found_stands_before_its_average(server, open_page):
    page = open_page(f"{server}/frank_wolfe?preset=grid&class=1", viewport={"width": 1280, "height": 800})
    wait_lanes(page, 1)
    page.get_by_role("button", name="Step").click()
    page.wait_for_selector(".wk-beside[data-steps='1']")
    found, average, exact = page.evaluate(PICTURES)
    assert [found[0], average[0], exact[0]] == ["MAP call 1's", "μ: average so far", "exact"]
    assert found[3] == 2 and found[2] == average[2] == exact[2]


def test_before_a_class_a_curve_keeps_its_height_while_what_is_said_grows_and_all_lanes_are_seen(server, open_page):
    page = open_page(f"{server}/frank_wolfe?preset=stall&class=1", viewport={"width": 1024, "height": 768})
    wait_lanes(page, 3)
    heights = """() => ["canvas.pv-chart", ".pv-verdict"]
      .map((each) => document.querySelector(`.pv-side ${each}`).getBoundingClientRect().height)"""
    page.wait_for_selector(".pv-side canvas.pv-chart")
    rest(page)
    curve, said = steady(page, heights)
    page.get_by_role("button", name="Run to end").click()
    page.wait_for_function(
        "() => /saves MAP calls/.test(document.querySelector('.pv-verdict').textContent)",
        timeout=120_000,
    )
    after = page.evaluate(heights)
    assert after[1] > said and abs(after[0] - curve) <= 2
    # Heads without their pictures are not shown.
    assert not page.locator(".wk-below").is_visible()
    for width, height in ((1024, 768), (1280, 800)):
        page.set_viewport_size({"width": width, "height": height})
        rest(page)
        page.wait_for_function(
            f"document.querySelector('.wk-line:nth-child(3)').getBoundingClientRect().bottom <= {height}"
        )
