"""Models of more than two states, brought as files: every state's colour on the canvas, a clamp to a chosen state."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.browser.stage import choose, lanes, link, pause, press, rest, wait_lanes, wait_reference
from tests.browser.test_layers import hover

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from few_states import FILES, SEVENTEEN  # noqa: E402

from pmpviz.io import load_model_bytes  # noqa: E402
from pmpviz.models.space import PALETTE  # noqa: E402
from pmpviz.player.graph import force_directed  # noqa: E402

# Room for the curves beneath the pictures.
TALL = {"width": 1500, "height": 1400}
LANES = {"playground": ("exact",), "race": ("exact", "gumbel_table")}
# The colours of all pixels of a lane's canvas that more than a few pixels have, as hex.
COLOURS = """(lane) => {
  const canvas = document.querySelector(`[data-testid=live-canvas][data-lane='${lane}']`);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const counts = {};
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] < 255) continue;
    const hex = "#" + [0, 1, 2].map((k) => data[i + k].toString(16).padStart(2, "0")).join("").toUpperCase();
    counts[hex] = (counts[hex] || 0) + 1;
  }
  return Object.keys(counts).filter((hex) => counts[hex] > 60);
}"""


def bring(page, name: str, text: str) -> None:
    """Upload a model's file in the side bar."""
    file = {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
    page.locator("input[type=file]").first.set_input_files(file)


def opened(open_page, server: str, page: str, text: str, **context):
    view = open_page(link(server, page, LANES[page], model="square:4x4", chains="64", budget="0"), **context)
    wait_lanes(view, len(LANES[page]))
    bring(view, "model.uai", text)
    view.wait_for_selector(".pv-state")
    wait_lanes(view, len(LANES[page]))
    rest(view)
    return view


def shoot(page, name: str) -> None:
    """A picture for the eye where a folder for it is given."""
    if folder := os.environ.get("PMPVIZ_SCREENSHOTS"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


# Each page and each scheme once, with three states and with four: the same canvas draws all of them on either page.
SHOWN = [
    ("three", "race", "light"),
    ("mixed", "playground", "dark"),
    pytest.param("sixteen", "playground", "light", marks=pytest.mark.thorough),
    pytest.param("sixteen", "race", "dark", marks=pytest.mark.thorough),
    pytest.param("mixed", "playground", "light", marks=pytest.mark.thorough),
]
# What is clamped or refused of three states each is of the mixed ones, too.
BOTH = [pytest.param("three", 1, marks=pytest.mark.thorough), ("mixed", 2)]


@pytest.mark.parametrize(("name", "page", "scheme"), SHOWN)
def test_an_uploaded_model_shows_its_states(open_page, server, name, page, scheme):
    view = opened(open_page, server, page, FILES[name], color_scheme=scheme, viewport=TALL)
    states = {"three": 3, "mixed": 4, "sixteen": 16}[name]
    press(view, "Space")
    wait_lanes(view, len(LANES[page]), "Number(d.sweep) > 20")
    wait_reference(view)
    seen: set[str] = set()
    for _ in range(100):
        seen |= {colour for lane in range(len(LANES[page])) for colour in view.evaluate(COLOURS, lane)}
        if set(PALETTE[:states]) <= seen:
            break
        view.wait_for_timeout(100)
    pause(view)
    assert set(PALETTE[:states]) <= seen and not set(PALETTE[states:]) & seen
    first = view.locator(".pv-lane").first
    named = [str(k) for k in range(states)] + (["each picture: one of 64 chains"] if len(LANES[page]) > 1 else [])
    assert view.locator(".pv-signs .pv-state").all_inner_texts() == named
    assert first.locator(".pv-thumb").count() == 8
    assert not view.locator(".pv-trouble").inner_text()
    shoot(view, f"{page}-{name}-{scheme}")


def node_at(page, text: str, site: int) -> tuple[float, float]:
    """The middle of a site's disc on the screen."""
    model = load_model_bytes("model.uai", text.encode()).model
    nodes = force_directed(model.n, *model.pairs().T)
    box = page.locator("[data-testid=live-canvas]").bounding_box()
    radius = min(1 / 28, 0.24 / model.n**0.5)
    return tuple(
        box[edge] + (radius + at * (1 - 2 * radius)) * box["width"] for edge, at in zip("xy", nodes[site], strict=True)
    )


def choose_tool(page, label: str) -> None:
    """Take a tool from the list."""
    choose(page, page.locator("[data-testid=stSelectbox]:has-text('Click or drag to') input"), label)


AT = """([x, y]) => {
  const canvas = document.querySelector("[data-testid=live-canvas]");
  const box = canvas.getBoundingClientRect();
  const place = [(x - box.left) / box.width * canvas.width, (y - box.top) / box.height * canvas.height].map(Math.round);
  const pixel = canvas.getContext("2d").getImageData(...place, 1, 1).data;
  return "#" + [0, 1, 2].map((k) => pixel[k].toString(16).padStart(2, "0")).join("").toUpperCase();
}"""


@pytest.mark.parametrize(("name", "site"), BOTH)
def test_a_site_is_clamped_to_state_two_and_let_go(open_page, server, name, site):
    view = opened(open_page, server, "playground", FILES[name])
    choose_tool(view, "Clamp 2")
    view.wait_for_selector(".pv-root[data-tool=clamp2]")
    view.locator("[data-testid=live-canvas]").scroll_into_view_if_needed()
    view.mouse.click(*node_at(view, FILES[name], site))
    view.wait_for_function("location.search.includes('clamp=')")
    view.wait_for_selector(".pv-held")
    rest(view)
    before = int(lanes(view)[0]["sweep"])
    for step in range(6):
        press(view, "n")
        wait_lanes(view, 1, f"Number(d.sweep) > {before + step}")
        assert view.evaluate(AT, list(node_at(view, FILES[name], site))) == PALETTE[2]
    # What is known of a site is of the moment in which it is pointed at.
    hover(view, node_at(view, FILES[name], site), "state 2")
    shoot(view, f"clamped-{name}")
    choose_tool(view, "Clear")
    view.wait_for_selector(".pv-root[data-tool=free]")
    view.mouse.click(*node_at(view, FILES[name], site))
    view.wait_for_function("!location.search.includes('clamp=')")


def test_layers_lie_over_the_states(open_page, server):
    view = opened(open_page, server, "playground", FILES["three"])
    press(view, "n")
    wait_lanes(view, 1, "Number(d.sweep) > 0")
    wait_reference(view)
    for label, words in (("local field", "log-odds of the state shown"), ("marginal error", "error")):
        view.get_by_role("radio", name=label).or_(view.get_by_role("button", name=label)).first.click()
        view.wait_for_selector(f".pv-legend:has-text('{words}')")
        shoot(view, f"layer-{label.replace(' ', '-')}")


def test_too_many_states_are_refused_in_one_sentence(open_page, server):
    view = open_page(link(server, "playground", ("exact",), model="square:4x4", chains="64", budget="0"))
    wait_lanes(view, 1)
    bring(view, "model.uai", SEVENTEEN)
    view.wait_for_selector(".pv-trouble:has-text('up to 16 states, and variable 0 has 17')")
    shoot(view, "refused-seventeen")


@pytest.mark.parametrize("name", [pytest.param("three", marks=pytest.mark.thorough), "mixed"])
def test_messages_shows_it_and_the_lab_refuses(open_page, server, name):
    view = open_page(link(server, "messages", schedule="parallel"))
    view.wait_for_selector("canvas")
    bring(view, "model.uai", FILES[name])
    view.wait_for_function("location.search.includes('graph=file')")
    rest(view)
    assert not view.locator("[data-testid=stAlert]").count()
    shoot(view, f"messages-{name}")
    lab = view
    lab.goto(link(server, "perturbation_lab"))
    lab.wait_for_selector("canvas, img")
    lab.locator("[data-testid=stSidebar]").get_by_text("Model", exact=True).first.click()
    bring(lab, "model.uai", FILES[name])
    lab.locator("[data-testid=stAlert]:visible", has_text="two-state").first.wait_for()
    shoot(lab, f"lab-{name}")
