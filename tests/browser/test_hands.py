"""Hands on the picture, the keyboard, and the way back: what a person does is never lost."""

from __future__ import annotations

import time
from urllib.parse import parse_qs, urlparse

import numpy as np
import pytest

from pmpviz.capabilities.sampling.edits import unpack
from pmpviz.io.uai import write_uai
from pmpviz.models import build_spec
from tests.browser.stage import (
    at_rest,
    choose,
    lanes,
    link,
    look_back,
    pass_frame,
    pause,
    play,
    press,
    rest,
    space,
    steady,
    wait_lanes,
    wait_server,
)

# What is painted makes another model, whose reference is begun anew: the lattice is no larger than strokes need.
SIDE = 16
LATTICE = {"model": f"square:{SIDE}x{SIDE}", "chains": "4", "budget": "0"}
STROKES = {1: 0.3, 3: 1.0, 5: 4.0}
COLUMNS = range(2, SIDE - 2)
HANDS = "() => [...document.querySelectorAll('.pv-root')].map((root) => ({ ...root.dataset }))"
PLACES = """() => [...document.querySelectorAll('[data-testid=live-canvas]')].map((c) => {
  const box = c.getBoundingClientRect(); return [box.x, box.y, box.width, box.height] })"""


def setting(page, name: str) -> str:
    """A setting in the page's address; empty where there is none."""
    return parse_qs(urlparse(page.url).query).get(name, [""])[0]


def painted(page, name: str = "field") -> set[int]:
    """The sites in the page's address."""
    return {site for site, _ in unpack(text)} if (text := setting(page, name)) else set()


def wait_for(page, condition, seconds: float = 120) -> None:
    """Wait until the condition holds."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, (page.url, page.evaluate(HANDS), lanes(page))
        page.wait_for_timeout(100)


def stroke(page, points, seconds: float) -> None:
    """Press, move along the points in that time, and let go."""
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point)
        page.wait_for_timeout(1000 * seconds / len(points))
    page.mouse.up()


def row_of(page, row: int, points: int, lane: int = 0, side: int = SIDE) -> list[tuple[float, float]]:
    """Points along a row of a lattice, over its columns but the two at either end."""
    x, y, width, _ = page.evaluate(PLACES)[lane]
    return [(x + at * width / side, y + (row + 0.5) * width / side) for at in np.linspace(2.5, side - 2.5, points)]


def sites_of(*rows: int, side: int = SIDE) -> set[int]:
    """The sites of such rows."""
    return {row * side + column for row in rows for column in range(2, side - 2)}


def take(page, name: str, tool: str) -> None:
    """Take a tool in hand."""
    page.get_by_role("radio", name=name).click()
    page.wait_for_selector(f".pv-root[data-tool='{tool}']")
    rest(page)


def serpentine(box: dict, rows: int, columns: int) -> list[tuple[float, float]]:
    """The way over every pixel of a grid in this box."""
    ends = [(row, at) for row in range(rows) for at in ((0.5, columns - 0.5) if row % 2 else (columns - 0.5, 0.5))]
    wide, high = box["width"] / columns, box["height"] / rows
    return [(box["x"] + at * wide, box["y"] + (row + 0.5) * high) for row, at in ends]


@pytest.mark.thorough
def test_strokes_of_up_to_ten_seconds_paint_sixty_sites_each(server, open_page):
    page = open_page(link(server, "playground", ("gibbs",), **{**LATTICE, "model": "square:64x64"}))
    wait_lanes(page, 1)
    play(page)
    take(page, "Field +", "field+")
    strokes = {5: 0.3, 15: 1.0, 25: 4.0, 35: 10.0}
    for row, seconds in strokes.items():
        stroke(page, row_of(page, row, max(4, int(6 * seconds)), side=64), seconds)
    wait_for(page, lambda: painted(page) == sites_of(*strokes, side=64))


def test_every_stroke_paints_every_site_whatever_the_server_has_heard_and_is_undone(server, open_page):
    page = open_page(link(server, "playground", ("gibbs",), **LATTICE))
    wait_lanes(page, 1)
    take(page, "Field +", "field+")
    before = steady(page, PLACES)
    stroke(page, row_of(page, 14, 8), 0.3)
    wait_for(page, lambda: painted(page) == sites_of(14))
    rest(page)
    assert page.evaluate(PLACES) == before  # What a stroke brings beneath the picture had its room.
    press(page, "Control+z")
    wait_for(page, lambda: not painted(page))
    play(page)
    for row, seconds in STROKES.items():
        stroke(page, row_of(page, row, max(4, int(6 * seconds))), seconds)
    assert page.evaluate(PLACES) == before  # Nor did the verdict take any, which has grown since.
    rows = sites_of(*STROKES)
    wait_for(page, lambda: painted(page) == rows)
    # A wide brush paints seven sites across.
    page.locator("[data-brush='7']").click()
    stroke(page, row_of(page, 10, 8), 0.3)
    wide = {row * SIDE + column for row in range(7, 14) for column in range(SIDE)}
    wait_for(page, lambda: painted(page) - wide == rows and len(painted(page) & wide) >= 7 * len(COLUMNS))
    for left in (rows, sites_of(*list(STROKES)[:-1])):
        press(page, "Control+z")
        wait_for(page, lambda left=left: painted(page) == left)
    pause(page)
    page.locator("[data-action=clear]").click()
    wait_for(page, lambda: not painted(page))
    page.locator("[data-brush='1']").click()
    one_that_the_server_never_heard_of_comes_with_the_next_one(page)
    page.locator("[data-action=clear]").click()
    wait_for(page, lambda: not painted(page))
    one_begun_before_the_server_has_heard_of_the_tool_is_one_of_that_tool(page)


def one_that_the_server_never_heard_of_comes_with_the_next_one(page) -> None:
    page.evaluate("() => { window.speaks = WebSocket.prototype.send; WebSocket.prototype.send = () => {}; }")
    stroke(page, row_of(page, 2, 8), 0.3)
    page.wait_for_timeout(9000)
    stroke(page, row_of(page, 8, 8), 0.3)
    page.evaluate("() => { WebSocket.prototype.send = window.speaks; }")
    stroke(page, row_of(page, 14, 8), 0.3)
    wait_for(page, lambda: painted(page) == sites_of(2, 8, 14))


def one_begun_before_the_server_has_heard_of_the_tool_is_one_of_that_tool(page) -> None:
    take(page, "Look", "none")
    page.get_by_role("radio", name="Field +").evaluate("(radio) => radio.click()")
    stroke(page, row_of(page, 9, 8), 0.5)
    wait_for(page, lambda: painted(page) == sites_of(9))


def test_strokes_on_the_other_surfaces_are_whole(server, open_page):
    page = open_page(link(server, "race", ("gibbs", "colour_gibbs"), **LATTICE))
    wait_lanes(page, 2)
    play(page)
    take(page, "Field −", "field-")
    stroke(page, row_of(page, 9, 10, lane=1), 1.0)
    wait_for(page, lambda: painted(page) == sites_of(9))
    pause(page)
    page.goto(f"{server}/playground?preset=bars")
    wait_lanes(page, 1)
    take(page, "Clamp 1", "clamp1")
    x, y, _, high = steady(page, PLACES)[0]
    cell = (high - 18) // 8
    stroke(page, serpentine({"x": x, "y": y + 18, "width": 8 * cell, "height": 8 * cell}, 8, 8), 1.0)
    wait_for(page, lambda: painted(page, "clamp") == set(range(64)))
    page.goto(f"{server}/deconvolution?preset=painted")
    canvas = page.locator("[data-testid=glyph-canvas]").first
    canvas.wait_for()
    page.wait_for_selector("[data-testid=images-canvas]")
    rest(page)
    # All pixels become what the first one was not.
    stroke(page, serpentine(at_rest(canvas), 5, 5), 1.0)
    wait_for(page, lambda: setting(page, "painted").split(":")[-1][:8] in ("ffffff80", "00000000"))


def test_a_grid_of_a_file_is_one_and_its_nodes_are_dragged_into_the_link(server, open_page, tmp_path):
    file = tmp_path / "grid.uai"
    file.write_text(write_uai(build_spec("square:5x5,periodic=false")))
    page = open_page(link(server, "playground", ("gibbs",), model="square:4x4", chains="4"))
    wait_lanes(page, 1)
    page.get_by_text("From a file").first.click()
    page.locator("input[type=file]").first.set_input_files(file)
    wait_for(page, lambda: setting(page, "model").startswith("file:"))
    wait_lanes(page, 1)
    rest(page)
    wait_for(page, lambda: middle(page)[1].startswith("site 13"))
    (x, y, width, _), _ = middle(page)
    stroke(page, [(x + width / 2 + k, y + width / 2 + 2 * k) for k in (0, 10, 20, 30)], 0.5)
    wait_for(page, lambda: setting(page, "places").startswith("12."))
    press(page, "Control+z")
    wait_for(page, lambda: not setting(page, "places"))


def middle(page) -> tuple[list[float], str]:
    """Where the picture is, and what the page says of the node in its middle, after it was pointed at."""
    x, y, width, high = page.evaluate(PLACES)[0]
    page.mouse.move(x + 5, y + 5)
    page.mouse.move(x + width / 2, y + high / 2)
    return [x, y, width, high], page.locator(".pv-root > .pv-tip").text_content()


# Of which sweep the verdict speaks, and which one is shown, at the next 90 pictures of the screen, and at those that
# come until it has spoken of two.
TOLD = """async () => {
  const told = [];
  const seen = () => new Set(told.map(([found]) => found)).size;
  for (const until = performance.now() + 60000; told.length < 90 || (seen() < 2 && performance.now() < until); ) {
    await new Promise(requestAnimationFrame);
    const found = /.*after (\\d+) sweeps/.exec(document.querySelector(".pv-verdict").textContent);
    if (found) told.push([Number(found[1]), Number(document.querySelector("[data-testid=live-canvas]").dataset.sweep)]);
  }
  return told;
}"""


def test_space_plays_from_anywhere_and_a_step_goes_on_from_where_one_looks_back(server, open_page):
    page = open_page(link(server, "playground", ("colour_gibbs",), **LATTICE))
    wait_lanes(page, 1)
    side = page.locator("[data-testid=stSidebarContent]")
    # A list keeps the focus once something was chosen from it.
    model = page.get_by_role("combobox", name="Model")
    for element in (page.get_by_text("Temperature T").first, page.locator("[data-action=reset]"), model):
        choose(page, model, model.input_value()) if element is model else element.click()
        scrolled = side.evaluate("(e) => e.scrollTop")
        before, after, taken = space(page)
        assert before != after and taken and side.evaluate("(e) => e.scrollTop") == scrolled
        wait_server(page, "playing" if after else "paused")
    # Also one from which keys alone have chosen.
    for key, opened in (("ArrowDown", "true"), ("Enter", "false")):
        model.press(key)
        wait_for(page, lambda opened=opened: model.get_attribute("aria-expanded") == opened)
    before, after, taken = space(page)
    assert before != after and taken and model.get_attribute("aria-expanded") == "false"
    wait_server(page, "playing" if after else "paused")
    field = page.get_by_role("spinbutton", name="Inverse temperature β")
    field.click()
    assert space(page)[:2] == (after, after)
    pass_frame(page, 1, 40)
    told = page.evaluate(TOLD)
    assert all(found <= shown for found, shown in told) and len({found for found, _ in told}) > 1
    pause(page)
    look_back(page, 20)
    press(page, "n")
    page.wait_for_function("document.querySelector('[data-testid=live-canvas]').dataset.sweep === '21'")
    assert "looking back" in page.locator(".pv-when").inner_text() and int(lanes(page)[0]["sweep"]) == 21


@pytest.mark.thorough
def test_back_and_forward_find_every_page_as_it_was_left(server, open_page):
    page = open_page(server)
    wait_lanes(page, 2)
    seen = [state(page)]
    for name in (
        "Playground",
        "Race",
        "Messages",
        "Learning",
        "Deconvolution",
        "Frank-Wolfe",
        "Perturbation lab",
        "Race",
    ):
        page.get_by_role("link", name=name).click()
        settled(page)
        if len(seen) < 3:
            field = page.get_by_role("spinbutton", name="Inverse temperature β")
            field.fill("0.8")
            field.press("Enter")
            wait_for(page, lambda: setting(page, "beta") == "0.8")
            settled(page)
        seen.append(state(page))
    page.get_by_role("link", name="Playground").click()
    settled(page)
    seen.append(state(page))
    order = [*range(len(seen) - 2, -1, -1), *range(1, len(seen))]
    for place, kept in enumerate(order):
        (page.go_back if place < len(seen) - 1 else page.go_forward)(wait_until="commit")
        wait_for(page, lambda kept=kept: state(page) == seen[kept])
        settled(page)
        assert state(page) == seen[kept]
        assert not page.locator("[data-testid=stAlert]").count()


def settled(page) -> None:
    """Wait until the page has its question and no script runs."""
    page.wait_for_timeout(500)
    page.locator("h4").first.wait_for()
    rest(page)


def state(page) -> tuple[str, str]:
    """The address, and the question of the page."""
    return page.url, page.evaluate("document.querySelector('h4')?.innerText ?? ''")
