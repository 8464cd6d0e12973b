"""A lattice of K states in the browser: drawn as squares in its colours, a stroke clamps sites to a chosen state."""

from __future__ import annotations

from pmpviz.models.space import PALETTE
from tests.browser.stage import lanes, link, pause, press, rest, wait_lanes
from tests.browser.test_states import AT, COLOURS, choose_tool, shoot

SIDE = 8


def middle_of(page, row: int, column: int) -> tuple[float, float]:
    """The middle of a site's square on the screen."""
    box = page.locator("[data-testid=live-canvas]").bounding_box()
    return box["x"] + (column + 0.5) / SIDE * box["width"], box["y"] + (row + 0.5) / SIDE * box["height"]


def test_a_potts_lattice_is_drawn_and_clamped_by_a_stroke(open_page, server):
    view = open_page(
        link(server, "playground", ("colour_gibbs",), model=f"potts:{SIDE}x{SIDE}", chains="16", budget="0")
    )
    wait_lanes(view, 1)
    rest(view)
    assert view.locator(".pv-state").all_inner_texts() == ["0", "1", "2"]
    choose_tool(view, "Clamp 2")
    view.wait_for_selector(".pv-root[data-tool=clamp2]")
    view.locator("[data-testid=live-canvas]").scroll_into_view_if_needed()
    view.mouse.move(*middle_of(view, 5, 1))
    view.mouse.down()
    view.mouse.move(*middle_of(view, 5, 6), steps=10)
    view.mouse.up()
    view.wait_for_function("location.search.includes('clamp=')")
    rest(view)
    before = int(lanes(view)[0]["sweep"])
    for step in range(4):
        press(view, "n")
        wait_lanes(view, 1, f"Number(d.sweep) > {before + step}")
        assert {view.evaluate(AT, list(middle_of(view, 5, column))) for column in range(1, 7)} == {PALETTE[2]}
    assert {"#0072B2", "#E69F00", "#009E73"} <= set(view.evaluate(COLOURS, 0))
    shoot(view, "potts-clamped")
    choose_tool(view, "Look")
    press(view, "Space")
    wait_lanes(view, 1, f"Number(d.sweep) > {before + 40}")
    pause(view)
    assert view.evaluate(AT, list(middle_of(view, 5, 4))) == PALETTE[2]
    assert not view.locator(".pv-trouble").inner_text()
