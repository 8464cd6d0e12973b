"""The RBM of bars in a real Chromium: both layers are drawn, move, and answer to the pointer."""

from __future__ import annotations

import numpy as np

from pmpviz.app.presets import preset_of
from pmpviz.capabilities.sampling.presets import PLAYGROUND
from pmpviz.live.link import query_text
from pmpviz.models import build_spec
from tests.browser.stage import lanes, link, pause, play, rest, speed, wait_lanes

TIP = "document.querySelector('.pv-root > .pv-tip').textContent"
# The middle of each site on the screen, by what the tip says at every fifth pixel of the canvas.
PLACES = """() => {
  const c = document.querySelector('[data-testid=live-canvas]');
  c.scrollIntoView({ block: 'center' });
  const box = c.getBoundingClientRect(), tip = document.querySelector('.pv-root > .pv-tip'), found = {};
  for (let clientY = box.top; clientY < box.bottom; clientY += 5) {
    for (let clientX = box.left; clientX < box.right; clientX += 5) {
      c.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY }));
      if (tip.hidden) continue;
      const name = tip.firstChild.textContent.split(' · ')[1];
      found[name] = [...(found[name] || []), [clientX, clientY]];
    }
  }
  const middle = (points, k) => points.reduce((sum, point) => sum + point[k], 0) / points.length;
  return Object.fromEntries(Object.entries(found).map(([name, p]) => [name, [middle(p, 0), middle(p, 1)]]));
}"""
DARK = """([x, y]) => {
  const c = document.querySelector('[data-testid=live-canvas]'), b = c.getBoundingClientRect();
  const [u, v] = [(x - b.left) * c.width / b.width, (y - b.top) * c.height / b.height];
  return c.getContext('2d').getImageData(Math.round(u), Math.round(v), 1, 1).data[0] < 128 }"""


def hover(page, point: tuple[float, float], words: str) -> None:
    """Rest the pointer at a point until the server's words come; the first answer may come too late to be shown."""
    for _ in range(20):
        page.mouse.move(point[0], 1)
        page.mouse.move(*point)
        for _ in range(12):
            page.wait_for_timeout(250)
            if words in page.locator(".pv-root > .pv-tip").inner_text():
                return
    raise AssertionError(page.locator(".pv-root > .pv-tip").inner_text())


def test_both_layers_move_and_a_hidden_unit_is_told_and_flipped(server, open_page):
    page = open_page(f"{server}/playground?{query_text(preset_of(PLAYGROUND, 'bars').plan)}")
    wait_lanes(page, 1)
    first = lanes(page)[0]["frameHash"]
    speed(page, 240)
    play(page)
    wait_lanes(page, 1, f"Number(d.sweep) > 10 && d.frameHash !== '{first}'")
    pause(page)
    assert page.locator(".pv-strip canvas").count() == 8
    page.get_by_role("radio", name="Flip").click()
    page.wait_for_function("document.querySelector('[data-testid=live-canvas]').style.cursor === 'crosshair'")
    rest(page)
    places = page.evaluate(PLACES)
    assert sum(name.startswith("visible pixel") for name in places) == 64
    assert sum(name.startswith("hidden unit") for name in places) == 16
    assert len({tuple(point) for point in places.values()}) == 80
    point = places["hidden unit 14"]
    hover(page, point, "site 78: x = ")
    before, epoch = page.evaluate(DARK, point), int(lanes(page)[0]["epoch"])
    assert f"x = {int(before)}" in page.locator(".pv-root > .pv-tip").inner_text()
    page.mouse.click(*point)
    wait_lanes(page, 1, f"Number(d.epoch) > {epoch}")
    page.wait_for_timeout(300)
    assert page.evaluate(DARK, point) is not before


# Whether the line between each site and the one on its right, and the one below, is red: -1 across the rim.
RED = """(size) => {
  const c = document.querySelector('[data-testid=live-canvas]'), cell = c.width / size;
  const at = (x, y) => c.getContext('2d').getImageData(x, y, 1, 1).data;
  const red = (x, y) => at(x, y)[0] > Math.max(at(x, y)[1], at(x, y)[2]) + 60;
  return Array.from({ length: size * size }, (_, site) => {
    const [x, y] = [site % size, Math.floor(site / size)];
    const [right, down] = [x + 1 < size, y + 1 < size];
    return [right ? red((x + 1) * cell, (y + 0.5) * cell) : red(c.width - 1, (y + 0.5) * cell),
      down ? red((x + 0.5) * cell, (y + 1) * cell) : red((x + 0.5) * cell, c.height - 1)];
  });
}"""


def test_of_a_graph_the_share_of_couplings_that_are_not_met_is_told_of_the_moment_on_screen(server, open_page):
    spec = "complete:12,couplings=glass,J=0.3"
    page = open_page(link(server, "playground", ("colour_gibbs",), model=spec, chains="4", start="ones"))
    wait_lanes(page, 1)
    _, _, _, w = build_spec(spec).pairwise()
    share = page.locator(".pv-scale").first
    share.filter(has_text="not met").wait_for()
    rest(page)
    assert share.inner_text() == f"{100 * (w < 0).mean():.0f} % not met" and 0.2 < (w < 0).mean() < 0.8


def test_bonds_that_a_lattice_does_not_meet_are_red_and_counted(server, open_page):
    spec = "square:12x12,couplings=glass,J=1"
    page = open_page(link(server, "playground", ("colour_gibbs",), model=spec, chains="4", start="ones"))
    wait_lanes(page, 1)
    page.get_by_role("radio", name="bonds").click()
    page.locator(".pv-scale", has_text="not met").wait_for()
    _, i, j, w = build_spec(spec).pairwise()  # Of equal states those that pull apart.
    expected = np.zeros((144, 2), bool)
    for a, b, weight in zip(np.r_[i, j], np.r_[j, i], np.r_[w, w], strict=True):
        across, down = (b % 12 - a % 12) % 12, (b // 12 - a // 12) % 12
        if (across, down) in ((1, 0), (0, 1)):
            expected[a, down] = weight < 0
    rest(page)
    assert np.array_equal(page.evaluate(RED, 12), expected) and 0.3 < expected.mean() < 0.7
    assert page.locator(".pv-scale").first.inner_text() == f"{100 * expected.mean():.0f} % not met"
    assert page.locator(".pv-signs", has_text="red: a coupling not met").is_visible()
