"""The player in a real Chromium: what is painted, when it stands still, and what it tells the server."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pmpviz.player.wire import frame_hash, pack

SIDE = 64
NODES = 24
DEMO = str(Path(__file__).with_name("player_demo.py"))
# Every frame that reaches a canvas, as [lane, epoch, sweep, hash].
WATCH = """() => {
  window.painted = [];
  const seen = (canvas) => {
    const { lane, epoch, sweep, frameHash } = canvas.dataset;
    if (frameHash) window.painted.push([Number(lane), Number(epoch), Number(sweep), frameHash]);
  };
  const watch = new MutationObserver((changes) => new Set(changes.map((c) => c.target)).forEach(seen));
  for (const canvas of document.querySelectorAll("[data-testid=live-canvas]")) {
    seen(canvas);
    watch.observe(canvas, { attributes: true, attributeFilter: ["data-frame-hash"] });
  }
}"""
STATE = """() => [...document.querySelectorAll("[data-testid=live-canvas]")]
  .map((c) => [Number(c.dataset.sweep), Number(c.dataset.paints), c.dataset.frameHash, Number(c.dataset.epoch)])"""

pytestmark = pytest.mark.thorough


def truth(lane: int, sweep: int, n: int = SIDE * SIDE, epoch: int = 1) -> str:
    """Hash of the frame that the demo made."""
    return frame_hash(pack(np.roll(np.random.default_rng((lane, epoch)).integers(0, 2, n), sweep)).tobytes())


@pytest.fixture
def demo(app_server, open_page):
    """`demo(query, lanes)` is the demo's page when all lanes have begun to move."""

    def start(query: str = "", lanes: int = 2, **options):
        page = open_page(f"{app_server(DEMO)}/?{query}", **options)
        page.wait_for_function(
            "count => { const all = [...document.querySelectorAll('[data-testid=live-canvas]')];"
            " return all.length === count && all.every((c) => Number(c.dataset.sweep) > 5) }",
            arg=lanes,
        )
        return page

    return start


def echo(page) -> list[dict]:
    """The events that reached the server."""
    return json.loads(page.locator(".st-key-echo code").inner_text())


def wait_for_event(page, kind: str) -> dict:
    """The last event of a type, once there is one."""
    page.wait_for_function(
        "kind => (document.querySelector('.st-key-echo code')?.innerText ?? '').includes(`\"type\": \"${kind}\"`)",
        arg=kind,
    )
    return [event for event in echo(page) if event["type"] == kind][-1]


def pause(page) -> list:
    """Press Space with the focus nowhere, wait for the server to agree; the lanes' state then."""
    page.evaluate("document.activeElement?.blur()")
    page.keyboard.press("Space")
    wait_for_event(page, "pause")
    return page.evaluate(STATE)


def at_site(page, lane: int, row: int, column: int) -> tuple[float, float]:
    """The middle of a lattice's site on the screen."""
    canvas = page.locator(f"[data-testid=live-canvas][data-lane='{lane}']")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    return box["x"] + (column + 0.5) * box["width"] / SIDE, box["y"] + (row + 0.5) * box["height"] / SIDE


def test_four_lattices_move_and_every_frame_is_the_one_that_was_sent(demo, record_property):
    page = demo("lanes=4", lanes=4)
    page.evaluate(WATCH)
    before = page.evaluate(STATE)
    page.wait_for_timeout(5000)
    after = page.evaluate(STATE)
    rates = [(b[1] - a[1]) / 5 for a, b in zip(before, after, strict=True)]
    record_property("paints_a_second", rates)
    print(f"paints a second of four {SIDE}x{SIDE} lanes: {rates}")
    # Ten batches of thirty come in that time; an idle machine shows them all, a busy one most.
    assert all(b[0] - a[0] >= 60 for a, b in zip(before, after, strict=True))
    painted = page.evaluate("window.painted")
    assert {lane for lane, *_ in painted} == {0, 1, 2, 3}
    assert all(digest == truth(lane, sweep) for lane, _, sweep, digest in painted)


def test_frames_come_in_order_and_many_are_shown(demo):
    page = demo()
    page.evaluate(WATCH)
    page.wait_for_function("window.painted.length > 100")
    for lane in (0, 1):
        sweeps = [entry[2] for entry in page.evaluate("window.painted") if entry[0] == lane]
        assert sweeps == sorted(set(sweeps))


def test_space_freezes_picture_and_counters_and_plays_on(demo):
    page = demo()
    frozen = pause(page)
    counters = page.locator(".pv-counter").all_inner_texts()
    page.wait_for_timeout(1500)
    # The same frame may be painted again; what is seen must not change.
    assert [(s[0], s[2]) for s in page.evaluate(STATE)] == [(s[0], s[2]) for s in frozen]
    assert page.locator(".pv-counter").all_inner_texts() == counters
    assert page.locator("[data-action=play]").inner_text().startswith("Play")
    page.keyboard.press("Space")
    page.wait_for_function("sweep => Number(document.querySelector('[data-lane=\"0\"]').dataset.sweep) > sweep",
                           arg=frozen[0][0])  # fmt: skip
    wait_for_event(page, "play")


def test_keys_belong_to_a_field_that_has_the_focus(demo):
    page = demo()
    page.evaluate(
        "() => { const field = document.createElement('input'); field.id = 'typed';"
        " document.body.append(field); field.focus(); }"
    )
    page.keyboard.type("n s")
    assert page.locator("#typed").input_value() == "n s"
    page.keyboard.press("Tab")
    page.evaluate("document.activeElement?.blur()")
    page.keyboard.press("s")
    wait_for_event(page, "share")
    assert [event["type"] for event in echo(page)] == ["share"]


def test_step_moves_one_sweep(demo):
    page = demo()
    pause(page)
    page.keyboard.press("n")
    wait_for_event(page, "step")
    # The first step also shows what was on its way when the picture froze.
    page.wait_for_timeout(1200)
    first = page.evaluate(STATE)
    page.keyboard.press("n")
    page.wait_for_function("sweep => Number(document.querySelector('[data-lane=\"0\"]').dataset.sweep) > sweep",
                           arg=first[0][0])  # fmt: skip
    second = page.evaluate(STATE)
    assert [s[0] for s in second] == [s[0] + 1 for s in first]
    assert [s[2] for s in second] == [truth(lane, second[lane][0]) for lane in (0, 1)]


def test_frames_of_an_older_epoch_are_never_painted(demo):
    page = demo()
    page.locator("[data-action=reset]").click()
    page.wait_for_function("document.querySelector('[data-lane=\"0\"]').dataset.epoch === '2'")
    page.evaluate(WATCH)
    page.locator(".st-key-stale button").click()
    wait_for_event(page, "stale")
    now = page.evaluate(STATE)[0][0]
    page.wait_for_function("sweep => Number(document.querySelector('[data-lane=\"0\"]').dataset.sweep) > sweep + 60",
                           arg=now)  # fmt: skip
    painted = page.evaluate("window.painted")
    assert painted and {entry[1] for entry in painted} == {2}
    assert max(entry[2] for entry in painted) < now + 900


def test_damaged_bytes_keep_the_picture_and_say_so_until_the_next_update(demo):
    page = demo()
    before = pause(page)
    said = page.evaluate_handle(
        """() => { const said = []; const target = document.querySelector('.pv-trouble');
        new MutationObserver(() => said.push(target.textContent)).observe(target, { childList: true }); return said }"""
    )
    page.locator(".st-key-damaged button").click()
    wait_for_event(page, "damaged")
    page.wait_for_function("said => said.length >= 2", arg=said)
    assert "damaged" in said.json_value()[0] and said.json_value()[-1] == ""
    assert [(s[0], s[2]) for s in page.evaluate(STATE)] == [(s[0], s[2]) for s in before]


def test_reset_goes_back_and_shows_the_new_frames(demo):
    page = demo()
    page.wait_for_function("Number(document.querySelector('[data-lane=\"0\"]').dataset.sweep) > 300")
    page.evaluate(WATCH)
    page.locator("[data-action=reset]").click()
    page.wait_for_function("window.painted.filter((p) => p[1] === 2).length > 40")
    painted = page.evaluate("window.painted")
    before = max(sweep for _, epoch, sweep, _ in painted if epoch == 1)
    fresh = [entry for entry in painted if entry[1] == 2]
    assert fresh[0][2] < before
    assert all(digest == truth(lane, sweep, epoch=2) for lane, _, sweep, digest in fresh)


def test_looking_back_shows_the_same_frame_in_all_lanes(demo):
    page = demo()
    frozen = pause(page)
    back = frozen[0][0] // 2
    box = page.locator(".pv-range").bounding_box()
    page.locator(".pv-range").evaluate(
        "(range, sweep) => { range.value = sweep; range.dispatchEvent(new Event('input', { bubbles: true })); }", back
    )
    page.wait_for_function(
        "sweep => [...document.querySelectorAll('[data-testid=live-canvas]')].every((c) => c.dataset.sweep == sweep)",
        arg=back,
    )
    assert [s[2] for s in page.evaluate(STATE)] == [truth(lane, back) for lane in (0, 1)]
    # The handle has not moved away from under the hand.
    assert page.locator(".pv-when").inner_text().startswith("looking back")
    assert page.locator(".pv-range").bounding_box() == box
    page.locator(".pv-live").click()
    page.wait_for_function("sweep => Number(document.querySelector('[data-lane=\"0\"]').dataset.sweep) >= sweep",
                           arg=frozen[0][0])  # fmt: skip
    assert page.evaluate(STATE)[0][2] == frozen[0][2]


# The words that a timeline has room for while its picture is behind, and when it is no more.
ROOM = """async () => {
  const loaded = performance.getEntriesByType("resource").map((e) => e.name).find((a) => a.endsWith("/bar.js"));
  const { Timeline } = await import(loaded);
  const timeline = new Timeline(() => {});
  return [1240, 1280].map((last) => {
    timeline.show(0, last, null, "sweep", 1280);
    return timeline.text.dataset.widest;
  });
}"""


def test_a_picture_behind_what_is_computed_says_so(demo):
    page = demo()
    page.wait_for_function("() => / of .* computed$/.test(document.querySelector('.pv-when').textContent)")
    pause(page)
    page.wait_for_function("() => /^sweep [0-9\u202f]+$/.test(document.querySelector('.pv-when').textContent)")
    behind, level = page.evaluate(ROOM)
    # Nor does the handle at the end move away from under the hand that reaches for it.
    assert behind == level == "sweep 1 280 of 1 280 computed".replace("1 ", "1\u202f")


def test_from_the_press_on_play_the_words_say_that_it_starts(app_server, open_page):
    page = open_page(f"{app_server(DEMO)}/?silent=1&unit=trajectories")
    verdict = page.locator(".pv-verdict")
    verdict.wait_for()
    # A page that waits says what to do before what is not there, and shows which button it waits for.
    colour = "() => getComputedStyle(document.querySelector('.pv-play')).backgroundColor"
    assert verdict.inner_text() == "Press Play, or Space: nothing has run yet."
    asking = page.evaluate(colour)
    page.keyboard.press("Space")
    assert verdict.inner_text().startswith("Starting: ")
    assert page.evaluate(colour) != asking
    page.keyboard.press("Space")
    assert verdict.inner_text() == "Press Play, or Space: nothing has run yet."
    assert page.evaluate(colour) == asking
    assert page.locator(".pv-step").get_attribute("title").startswith("One trajectory of every lane")
    assert page.locator(".pv-select option").all_inner_texts() == ["1 trajectory/s", "5 trajectories/s"]


def test_a_click_tells_the_site(demo):
    page = demo()
    page.mouse.click(*at_site(page, 1, 10, 37))
    event = wait_for_event(page, "click")
    assert (event["lane"], event["site"]) == (1, 10 * SIDE + 37)


def test_a_stroke_names_every_site_under_it_once(demo):
    page = demo("tool=field%2B")
    page.mouse.move(*at_site(page, 0, 20, 8))
    page.mouse.down()
    page.mouse.move(*at_site(page, 0, 20, 30), steps=4)
    page.mouse.up()
    wait_for_event(page, "paint")
    page.wait_for_timeout(600)
    strokes = [event for event in echo(page) if event["type"] == "paint"]
    sites = [site for event in strokes for site in event["sites"]]
    assert {event["tool"] for event in strokes} == {"field+"}
    assert sorted(sites) == [20 * SIDE + column for column in range(8, 31)]


def test_hover_shows_the_answer_of_the_server_as_text(demo):
    page = demo()
    page.mouse.move(*at_site(page, 0, 3, 5))
    page.wait_for_function("document.querySelector('.pv-root > .pv-tip').textContent.includes('answered')")
    tip = page.locator(".pv-root > .pv-tip")
    assert f"<b>site {3 * SIDE + 5}</b> answered" in tip.inner_text()
    assert tip.locator("b").count() == 0


def test_nodes_of_a_graph_are_painted_and_found(demo):
    page = demo("lanes=1&graph=1")
    page.evaluate(WATCH)
    page.wait_for_function("window.painted.some((p) => p[0] === 1)")
    assert all(d == truth(1, sweep, NODES) for lane, _, sweep, d in page.evaluate("window.painted") if lane == 1)
    canvas = page.locator("[data-testid=live-canvas][data-lane='1']")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    # Node 6 of 24 lies a quarter round, at the bottom.
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 0.93 * box["height"])
    event = wait_for_event(page, "click")
    assert (event["lane"], event["site"]) == (1, 6)


def test_reduced_motion_begins_in_steps(demo, app_server, open_page):
    page = open_page(f"{app_server(DEMO)}/", reduced_motion="reduce")
    wait_for_event(page, "pause")
    assert page.locator("[data-action=play]").inner_text().startswith("Play")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_spins_are_ink_on_paper_and_swapped_in_the_dark(demo, scheme):
    page = demo(color_scheme=scheme)
    pause(page)
    pixels, sweep = page.evaluate(
        """() => { const c = document.querySelector('[data-lane="0"]'); const k = c.width / 64;
        const context = c.getContext('2d');
        const at = (i) => context.getImageData((i % 64 + 0.5) * k, (Math.floor(i / 64) + 0.5) * k, 1, 1).data[0];
        return [Array.from({ length: 512 }, (_, i) => at(i)), Number(c.dataset.sweep)] }"""
    )
    up = np.roll(np.random.default_rng((0, 1)).integers(0, 2, SIDE * SIDE), sweep)[:512] == 1
    dark = np.array(pixels) < 128
    assert np.array_equal(up, dark if scheme == "light" else ~dark)


def test_every_control_says_its_key_and_can_be_reached(demo):
    page = demo()
    for name, key in {"play": "Space", "step": "N", "share": "S"}.items():
        button = page.locator(f"[data-action={name}]")
        assert button.get_attribute("aria-keyshortcuts") == key
        assert button.get_attribute("title").endswith(f" ({key})")
    page.locator("[data-action=play]").focus()
    for name in ("step", "reset", "seed"):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.dataset.action") == name
    assert page.locator("[data-testid=live-canvas]").first.get_attribute("aria-label")
