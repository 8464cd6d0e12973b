"""Home, Playground and Race in a real Chromium, as a person meets them."""

from __future__ import annotations

import re
import time

import pytest

from pmpviz.capabilities.sampling.presets import PLAYGROUND, RACE
from pmpviz.live.link import query_text
from tests.browser.stage import (
    READ,
    SMALL,
    WATCH,
    frames_at,
    lanes,
    latest,
    link,
    look_back,
    pause,
    play,
    press,
    rest,
    site_at,
    speed,
    steady,
    wait_lanes,
    wait_reference,
    wait_server,
)

FOUR = ("colour_gibbs", "gibbs", "gwg", "swendsen_wang")


def test_home_moves_untouched_once_its_race_is_seen_and_a_picture_of_it_opens_its_page_at_its_preset(
    server, open_page, note
):
    begin = time.perf_counter()
    page = open_page(server, viewport={"width": 1440, "height": 900})
    wait_lanes(page, 2)
    note("cold seconds until both lattices stand", round(time.perf_counter() - begin, 1))
    page.wait_for_timeout(1500)
    assert [lane["sweep"] for lane in lanes(page)] == ["0", "0"]  # They race once they are seen.
    page.locator(".pv-bar").scroll_into_view_if_needed()
    wait_lanes(page, 2, "Number(d.sweep) > 0")
    names = page.locator(".pv-name").all_inner_texts()
    assert [lane["algorithm"] for lane in lanes(page)] == ["colour_gibbs", "swendsen_wang"]
    assert len(set(names)) == 2 and all(names)
    wait_lanes(page, 2, "Number(d.sweep) > 20")
    pause(page)
    page.wait_for_function("() => [...document.querySelectorAll('img')].every((p) => p.complete && p.naturalWidth > 0)")
    # Pictures of any shape have one room: what is written beneath them begins at one height.
    shapes = page.locator("[class*='st-key-card-'] img:visible").evaluate_all(
        "(all) => all.map((each) => each.clientWidth / each.clientHeight)"
    )
    assert len(shapes) >= 20 and shapes == pytest.approx([1] * len(shapes), abs=0.02)
    image = page.locator(".st-key-card-race-stripes img")
    # The whole card is its link, the note beneath it too.
    note_of = page.locator(".st-key-card-race-stripes [data-testid=stCaptionContainer]")
    note_of.scroll_into_view_if_needed()
    assert note_of.evaluate(
        """(note) => {
          const { x, y } = note.getBoundingClientRect();
          return Boolean(document.elementFromPoint(x + 8, y + 6).closest("a"));
        }"""
    )
    picture = image.bounding_box()
    page.mouse.click(picture["x"] + picture["width"] / 2, picture["y"] + picture["height"] / 2)
    page.wait_for_url(lambda url: "/race" in url and "start=stripes" in url)
    wait_lanes(page, 3)
    assert [lane["algorithm"] for lane in lanes(page)] == ["colour_gibbs", "gwg", "swendsen_wang"]
    assert "beta=1.3&" in page.url and "chains=128" in page.url


def test_who_presses_play_while_the_race_of_home_begins_by_itself_does_not_stop_it(server, open_page):
    page = open_page(server)
    wait_lanes(page, 2)
    # In one turn: what comes into view begins, and the press of who came for that is no pause.
    page.evaluate(
        """() => new Promise((done) => {
          const root = document.querySelector(".pv-lane").closest(".pv-root");
          const button = root.querySelector("[data-action=play]");
          button.scrollIntoView({ block: "end" });
          const press = () => (root.dataset.playing === "true" ? done(button.click()) : requestAnimationFrame(press));
          press();
        })"""
    )
    wait_lanes(page, 2, "Number(d.sweep) > 5")
    assert page.evaluate("document.querySelector('.pv-lane').closest('.pv-root').dataset.playing") == "true"


# Pictures and numbers that stand still where all is frozen.
FROZEN = f"""() => [
  ({READ})().map(({{ sweep }}) => sweep),
  ({READ})().map(({{ frameHash }}) => frameHash),
  [...document.querySelectorAll(".pv-counter, .pv-sub, [data-testid=stMarkdown] td")].map((each) => each.innerText),
]"""


# The lanes before and after so many ms, pictures a second that the browser shows meanwhile, and the seconds.
PAINTED = f"""async (ms) => {{
  const [before, begin] = [({READ})(), performance.now()];
  let [count, passed] = [0, 0];
  while (passed < ms) {{
    await new Promise(requestAnimationFrame);
    count += 1;
    passed = performance.now() - begin;
  }}
  return [before, ({READ})(), (1000 * count) / passed, passed / 1000];
}}"""


def test_four_lanes_paint_thirty_times_a_second_and_space_freezes_all(server, open_page, note):
    page = open_page(link(server, "race", FOUR, **SMALL))
    wait_lanes(page, 4)
    play(page)
    wait_lanes(page, 4, "Number(d.sweep) > 2")
    before, after, shown, seconds = page.evaluate(PAINTED, 2000)
    rates = [(int(b["paints"]) - int(a["paints"])) / seconds for a, b in zip(before, after, strict=True)]
    note("paints a second of four lanes, and pictures that the browser showed", [*map(round, rates), round(shown)])
    sweeps = [(int(b["sweep"]) - int(a["sweep"])) / seconds for a, b in zip(before, after, strict=True)]
    note("sweeps a second on the canvases", [round(rate, 1) for rate in sweeps])
    # A browser that has no time for so many shows a new picture of each lane whenever it shows one.
    assert min(rates) >= min(15, 0.8 * shown)
    wait_lanes(page, 4, f"Number(d.sweep) > {[int(lane['sweep']) for lane in before]}[d.lane]")
    begin = time.perf_counter()
    press(page, "Space")
    wait_server(page, "paused")
    note("seconds from Space until the server rests", round(time.perf_counter() - begin, 2))
    wait_reference(page)  # It may come while all is frozen, and enters the table.
    sweeps, _, counters = steady(page, FROZEN, 1.5)  # The table is drawn once a second.
    assert len(counters) > 8
    press(page, "Space")
    wait_lanes(page, 4, f"Number(d.sweep) > {max(map(int, sweeps))}")


def test_a_temperature_changed_in_mid_run_reaches_every_later_frame(server, open_page, note):
    page = open_page(link(server, "race", ("colour_gibbs", "swendsen_wang"), **SMALL))
    wait_lanes(page, 2)
    speed(page, 60)
    play(page)
    wait_lanes(page, 2, "Number(d.sweep) > 20")
    page.evaluate(WATCH)
    slider = page.locator(".st-key-race_run_T input[type=range]")
    slider.focus()
    begin = time.perf_counter()
    page.keyboard.press("ArrowRight")
    wait_lanes(page, 2, "Number(d.epoch) > 1")
    note("seconds until the new temperature shows", round(time.perf_counter() - begin, 2))
    for _ in range(14):
        page.keyboard.press("ArrowRight")
    rest(page)
    rest_epoch = int(lanes(page)[0]["epoch"])
    wait_lanes(page, 2, f"Number(d.epoch) >= {rest_epoch} && Number(d.sweep) > 60")
    pause(page)
    painted = page.evaluate("window.painted")
    for lane in (0, 1):
        epochs = [epoch for index, epoch, *_ in painted if index == lane]
        assert epochs == sorted(epochs) and epochs[-1] > epochs[0] == 1
    page.wait_for_url(lambda url: float(re.search(r"beta=([0-9.]+)", url)[1]) < 0.9)


@pytest.mark.thorough
def test_cold_lattice_has_the_exact_magnetisation(server, open_page, note):
    settings = {"model": "square:64x64,J=1", "T": "1.5", "start": "ones", "chains": "64"}
    page = open_page(link(server, "playground", ("swendsen_wang",), **settings))
    wait_lanes(page, 1)
    begin = time.perf_counter()
    play(page)
    wait_lanes(page, 1, "Number(d.sweep) > 60")
    note("seconds to 60 sweeps of the cold lattice", round(time.perf_counter() - begin, 1))
    pause(page)
    (magnetisation,) = latest(page, "Mean |magnetisation|")
    note("mean |m| at T = 1.5 (Onsager 0.986)", magnetisation)
    assert abs(magnetisation - 0.986) <= 0.01


@pytest.mark.thorough
def test_reset_plays_the_same_frames_and_a_new_seed_others(server, open_page):
    page = open_page(link(server, "race", ("colour_gibbs", "swendsen_wang"), **SMALL))
    wait_lanes(page, 2)
    first = frames_at(page, 2, 100)
    assert len(set(first)) == 2
    page.locator("[data-action=reset]").click()
    wait_lanes(page, 2, "d.sweep === '0'")
    assert frames_at(page, 2, 100) == first
    assert look_back(page, 7) != first and look_back(page, 100) == first
    page.locator("[data-action=seed]").click()
    wait_lanes(page, 2, "d.sweep === '0'")
    assert set(frames_at(page, 2, 100)).isdisjoint(first)
    assert "seed=1&" in page.url


@pytest.mark.thorough
@pytest.mark.parametrize("preset", RACE, ids=lambda preset: preset.id)
def test_every_race_begins_with_the_algorithms_asked_for(server, open_page, note, preset):
    begins(server, open_page, note, "race", preset)


@pytest.mark.thorough
@pytest.mark.parametrize("preset", PLAYGROUND, ids=lambda preset: preset.id)
def test_every_model_of_the_playground_begins_with_the_algorithm_asked_for(server, open_page, note, preset):
    begins(server, open_page, note, "playground", preset)


def begins(server, open_page, note, name, preset) -> None:
    """The preset's page shows its lanes, then moves."""
    begin = time.perf_counter()
    page = open_page(f"{server}/{name}?{query_text(preset.plan)}")
    asked = [lane.algorithm for lane in preset.plan.lanes]
    wait_lanes(page, len(asked))
    first = time.perf_counter() - begin
    assert [lane["algorithm"] for lane in lanes(page)] == asked
    play(page)
    wait_lanes(page, len(asked), "Number(d.sweep) > 0")
    note(f"{name} {preset.id}, seconds to the first frame and to all moving",
         (round(first, 1), round(time.perf_counter() - begin, 1)))  # fmt: skip
    assert page.locator("[data-testid=stException], [data-testid=stAlert]").count() == 0
    assert page.locator(".pv-trouble").inner_text() == ""


@pytest.mark.thorough
def test_settings_and_run_are_kept_when_the_page_is_left(server, open_page):
    page = open_page(link(server, "playground", ("gwg",), **SMALL, seed="11"))
    wait_lanes(page, 1)
    there = frames_at(page, 1, 50)
    address = page.url
    page.get_by_role("link", name="Race").click()
    wait_lanes(page, 2)
    page.get_by_role("link", name="Playground").click()
    wait_lanes(page, 1, "d.algorithm === 'gwg' && Number(d.sweep) > 50")
    rest(page)
    assert page.url == address
    assert page.locator(".pv-root").get_attribute("data-playing") == "false"
    assert look_back(page, 50) == there


@pytest.mark.thorough
def test_painting_a_field_and_clamping_change_the_run_and_the_link(server, open_page):
    page = open_page(link(server, "playground", ("colour_gibbs",), **SMALL))
    wait_lanes(page, 1)
    for tool, id, word in (("Field +", "field+", "field="), ("Clamp 1", "clamp1", "clamp=")):
        before = int(lanes(page)[0]["epoch"])
        page.get_by_role("radio", name=tool).click()
        page.wait_for_selector(f".pv-root[data-tool='{id}']")
        rest(page)
        row = 3 if word == "field=" else 8
        page.mouse.move(*site_at(page, 0, row, 2, 16))
        page.mouse.down()
        page.mouse.move(*site_at(page, 0, row, 12, 16), steps=4)
        page.mouse.up()
        wait_lanes(page, 1, f"Number(d.epoch) > {before}")
        page.wait_for_timeout(1000)
        rest(page)
        assert word in page.url
    # The clamped sites stand at once, before the next sweep, and stay.
    assert lanes(page)[0]["sweep"] == "0"
    assert [ink(page, 8, column) for column in range(2, 13)] == [True] * 11
    frames_at(page, 1, 30)
    assert [ink(page, 8, column) for column in range(2, 13)] == [True] * 11
    # They, and no others, have a grey corner; the legend says what it means.
    found = [shade(page, row, column, 0.9) for row in (3, 8) for column in range(1, 14)]
    assert [grey(colour) for colour in found] == [False] * 14 + [True] * 11 + [False], found
    assert "clamped" in page.locator(".pv-signs").inner_text()


GREY = range(120, 152)


def grey(colour: list[int]) -> bool:
    """Whether it is the grey of a clamped site's corner, and not a dark site's tint of a painted field."""
    return min(colour) in GREY and max(colour) - min(colour) < 12


def shade(page, row: int, column: int, place: float, side: int = 16) -> list[int]:
    """The colour of a site of lane 0, so far down and to the right within it."""
    return page.evaluate(
        """([row, column, place, side]) => {
        const c = document.querySelector('[data-lane="0"]'); const k = c.width / side;
        const { data } = c.getContext('2d').getImageData((column + place) * k, (row + place) * k, 1, 1);
        return [...data.slice(0, 3)] }""",
        [row, column, place, side],
    )


def ink(page, row: int, column: int) -> bool:
    """Whether a site of lane 0 is drawn dark."""
    return shade(page, row, column, 0.2)[0] < 128


@pytest.mark.thorough
def test_a_flip_shows_at_once_while_the_run_pauses(server, open_page):
    page = open_page(link(server, "playground", ("colour_gibbs",), **SMALL))
    wait_lanes(page, 1)
    page.get_by_role("radio", name="Flip").click()
    page.wait_for_function("document.querySelector('[data-testid=live-canvas]').style.cursor === 'crosshair'")
    rest(page)
    before = ink(page, 5, 5)
    page.mouse.click(*site_at(page, 0, 5, 5, 16))
    wait_lanes(page, 1, "Number(d.epoch) > 1 && d.sweep === '0'")
    page.wait_for_timeout(200)
    assert ink(page, 5, 5) is not before
    # A stroke flips all that it goes over, once.
    row = [ink(page, 8, column) for column in range(16)]
    page.mouse.move(*site_at(page, 0, 8, 2, 16))
    page.mouse.down()
    page.mouse.move(*site_at(page, 0, 8, 12, 16), steps=4)
    page.mouse.up()
    wait_lanes(page, 1, "Number(d.epoch) > 2 && d.sweep === '0'")
    page.wait_for_timeout(500)
    assert [ink(page, 8, column) is not before for column, before in enumerate(row)] == [
        2 <= c <= 12 for c in range(16)
    ]


@pytest.mark.thorough
def test_hover_tells_what_is_known_of_a_site(server, open_page):
    page = open_page(link(server, "playground", ("colour_gibbs",), **SMALL))
    wait_lanes(page, 1)
    page.mouse.move(*site_at(page, 0, 4, 6, 16))
    page.wait_for_function("document.querySelector('.pv-root > .pv-tip').textContent.includes('local field')")
    words = page.locator(".pv-root > .pv-tip").inner_text()
    assert "site 71" in words and "row 5, column 7" in words and "x = " in words


@pytest.mark.thorough
def test_a_dialog_stays_open_while_the_run_goes_on(server, open_page):
    page = open_page(link(server, "race", ("colour_gibbs", "swendsen_wang"), **SMALL))
    wait_lanes(page, 2)
    speed(page, 20)
    play(page)
    wait_lanes(page, 2, "Number(d.sweep) > 3")
    press(page, "s")
    page.wait_for_selector("[role=dialog] code")
    now = int(lanes(page)[0]["sweep"])
    wait_lanes(page, 2, f"Number(d.sweep) > {now + 40}")
    assert page.locator("[role=dialog] code").first.is_visible()


def test_a_large_lattice_moves_and_still_answers(server, open_page, note):
    page = open_page(link(server, "playground", ("colour_gibbs",), model="square:160x160", chains="4"))
    wait_lanes(page, 1)
    speed(page, 0)
    play(page)
    wait_lanes(page, 1, "Number(d.sweep) > 20")
    begin = time.perf_counter()
    press(page, "Space")
    wait_server(page, "paused")
    note("seconds from Space until the server rests, 25,600 sites", round(time.perf_counter() - begin, 2))


# Streamlit lets go of what a session holds as soon as its connection is lost, and takes the session up again after.
KEEP_SOCKETS = """() => {
  const Socket = window.WebSocket;
  window.sockets = [];
  window.WebSocket = class extends Socket { constructor(...given) { super(...given); window.sockets.push(this); } };
}"""


def test_a_run_goes_on_after_a_lost_connection(server, context):
    page = context.new_page()  # Streamlit's client calls it an error that nothing can be sent meanwhile.
    page.set_default_timeout(120_000)
    page.add_init_script(f"({KEEP_SOCKETS})()")
    page.goto(link(server, "playground", ("gibbs",), **SMALL))
    wait_lanes(page, 1)
    play(page)
    wait_lanes(page, 1, "Number(d.sweep) > 200")
    pause(page)
    rest(page)
    page.wait_for_timeout(3000)  # Until nothing is sent any more.
    before = int(lanes(page)[0]["sweep"])
    page.evaluate("() => window.sockets.forEach((socket) => socket.close())")
    page.wait_for_function("() => window.sockets.filter((socket) => socket.readyState === 1).length === 1")
    page.wait_for_timeout(3000)
    page.evaluate(WATCH)
    play(page)
    page.wait_for_function(f"() => window.painted.some(([, , sweep]) => sweep > {before} + 20)")
    assert min(sweep for _, _, sweep, _ in page.evaluate("window.painted")) >= before
    page.close()
