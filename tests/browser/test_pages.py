"""Home, Playground and Race in a real Chromium, as a person meets them."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

from pmpviz.capabilities.sampling.presets import PLAYGROUND, RACE
from pmpviz.live.link import query_text
from tests.browser.stage import (
    READ,
    SMALL,
    WATCH,
    close_dialog,
    frames_at,
    lanes,
    latest,
    link,
    look_back,
    pass_frame,
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
FRAME = 20


@pytest.fixture
def note(record_property, capsys):
    """`note(name, value)` prints a measured figure and keeps it in the report."""

    def say(name: str, value) -> None:
        record_property(name, value)
        with capsys.disabled():
            print(f"\n  {name}: {value}", end="")

    return say


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


def test_a_run_is_exported_whole_and_opens_elsewhere_by_its_link_and_by_its_manifest(server, open_page, note, tmp_path):
    lanes_given = ("pmp;damping=0.3", "colour_gibbs")
    page = open_page(link(server, "race", lanes_given, **SMALL, seed="7", T="1.25"))
    wait_lanes(page, 2)
    here = frames_at(page, 2, FRAME)
    press(page, "s")
    address = page.locator("[role=dialog] code").first.inner_text().strip()
    close_dialog(page)
    # The server is told a moment later that one looks back, and answers.
    page.locator(".pv-said", has_text=f"Looking back at sweep {FRAME}:").wait_for()
    says_of_which_moment(page, back=True)
    page.locator(".pv-live").click()
    page.locator(".pv-said", has_text="Looking back").wait_for(state="detached")
    says_of_which_moment(page, back=False)
    manifest = exported(page, tmp_path)
    begin = time.perf_counter()
    page.goto(address)
    wait_lanes(page, 2)
    pass_frame(page, 2, FRAME)
    note(f"seconds from the link to frame {FRAME}", round(time.perf_counter() - begin, 1))
    pause(page)
    assert look_back(page, FRAME) == here, (address, page.url)
    assert [lane["algorithm"] for lane in lanes(page)] == ["pmp", "colour_gibbs"]
    for setting in ("seed=7", "beta=0.8", "lane1=pmp;damping=0.3", "model=square:16x16"):
        assert setting in page.url.replace("%3B", ";").replace("%3D", "=").replace("%3A", ":"), setting
    brought_back(page, server, manifest, here)


def says_of_which_moment(page, back: bool) -> None:
    """The dialog of an export says that it is not of the moment that one looks back at, where one does."""
    page.locator(".pv-export").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button").nth(1).wait_for()
    assert page.get_by_text("That is where it stands, not the moment that is looked back at.").count() == back
    close_dialog(page)


def exported(page, folder):
    """The manifest, once everything that is exported has opened."""
    page.locator("[data-action=export]").click()
    names = ("manifest.json", "samples.npz", "traces.npz", "traces.csv", "picture2.png", "animation1.gif")
    files = {name: fetch(page, name, folder) for name in names}
    with np.load(files["samples.npz"]) as samples:
        assert {name: samples[name].shape for name in samples.files} == {"lane1": (32, 256), "lane2": (32, 256)}
    with np.load(files["traces.npz"]) as traces:
        assert len(traces["lane1/sweep"]) >= FRAME
    rows = list(csv.DictReader(io.StringIO(files["traces.csv"].read_text())))
    assert {row["algorithm"] for row in rows} == {"pmp", "colour_gibbs"}
    with Image.open(files["picture2.png"]) as picture, Image.open(files["animation1.gif"]) as film:
        picture.load()
        assert film.n_frames > 5
    assert json.loads(files["manifest.json"].read_text())["plan"]["seed"] == 7
    close_dialog(page)
    return files["manifest.json"]


def fetch(page, name: str, folder):
    """The file that the export dialog gives under this name."""
    with page.expect_download() as download:
        page.get_by_role("button", name=name).click()
    path = folder / name
    download.value.save_as(path)
    return path


def brought_back(page, server: str, manifest, frames: list[str]) -> None:
    """In another session the manifest opens the same run."""
    page.goto(f"{server}/race?model=square:4x4&chains=16")
    wait_lanes(page, 2)
    page.get_by_text("Model", exact=True).first.click()
    page.get_by_text("From a file").last.click()
    page.locator("input[type=file]").set_input_files(str(manifest))
    page.wait_for_url(lambda url: "seed=7" in url)
    wait_lanes(page, 2, "Number(d.epoch) > 1")
    assert frames_at(page, 2, FRAME) == frames


def test_a_link_out_of_range_is_clamped_with_a_notice(server, open_page):
    page = open_page(link(server, "race", model="square:4x4", T="-9", n="99999"))
    wait_lanes(page, 2)
    words = page.locator("[data-testid=stAlert]").inner_text()
    assert "T = -9" in words and "n = 99999" in words
    assert page.locator("[data-testid=stException]").count() == 0
    page.wait_for_url(lambda url: "chains=" in url and "99999" not in url)


def test_keyboard_alone_runs_steps_shares_and_exports_and_the_script_gives_the_same_numbers(
    server, open_page, note, tmp_path
):
    page = open_page(
        link(server, "race", ("colour_gibbs", "swendsen_wang"), model="square:8x8", chains="32", budget="24"),
        viewport={"width": 1024, "height": 768},
        color_scheme="dark",
        reduced_motion="reduce",
    )
    wait_lanes(page, 2)
    assert all(lane["sweep"] == "0" for lane in lanes(page))
    press(page, "n")
    wait_lanes(page, 2, "d.sweep === '1'")
    press(page, "Space")
    wait_lanes(page, 2, "d.sweep === '24'")
    wait_reference(page)
    rest(page)
    press(page, "s")
    assert "/race?" in page.locator("[role=dialog] code").first.inner_text()
    close_dialog(page)
    tab_to(page, "code")
    page.keyboard.press("Enter")
    script = page.locator("[role=dialog] code").first.inner_text()
    close_dialog(page)
    tab_to(page, "export")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="traces.csv").focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    close_dialog(page)
    printed = run_script(script, tmp_path)
    note("largest difference of the script's MMD from the screen's", compare(rows, printed))
    for index, name in enumerate(("colour_gibbs", "swendsen_wang")):
        shown = latest(page, "MMD², distance to the law")[index]
        # The chart's axis is logarithmic: what lies below the decade of a third of the noise is drawn at its foot.
        foot = 10.0 ** math.floor(math.log10(max(float(row["noise"]) for row in rows if row["noise"]) / 3))
        assert abs(max(printed[name][24], foot) - shown) <= 0.006 * shown


def tab_to(page, action: str) -> None:
    """Press Tab until the button of that name has the focus."""
    page.evaluate("document.activeElement?.blur()")
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement?.dataset?.action") == action:
            return
    pytest.fail(f"Tab does not reach {action}")


def run_script(script: str, folder) -> dict[str, dict[int, float]]:
    """MMD^2 by algorithm and sweep, as the script prints it."""
    path = folder / "again.py"
    path.write_text(script)
    done = subprocess.run([sys.executable, str(path)], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    printed: dict[str, dict[int, float]] = {}
    for name, sweep, value in re.findall(r"^(\w+): sweep (\d+), .*MMD\^2 (\S+)$", done.stdout, re.M):
        printed.setdefault(name, {})[int(sweep)] = float(value)
    return printed


def compare(rows: list[dict], printed: dict[str, dict[int, float]]) -> float:
    """The largest difference at the sweeps where the page took the metric."""
    taken = [row for row in rows if row["mmd2"]]
    differences = [abs(float(row["mmd2"]) - printed[row["algorithm"]][int(row["sweep"])]) for row in taken if
                   int(row["sweep"]) > 0]  # fmt: skip
    assert len(differences) >= 10 and max(differences) <= 1e-5
    return max(differences)


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


def test_a_missing_model_file_is_asked_for(server, open_page):
    page = open_page(link(server, "playground", ("gibbs",), model="file:" + "a" * 64))
    page.get_by_text("This plan's model is a file").wait_for()
    assert page.locator("[data-testid=stException]").count() == 0


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
