"""The RBM of bars in a real Chromium: both layers are drawn, move, and answer to the pointer."""

from __future__ import annotations

from pmpviz.app.presets import preset_of
from pmpviz.capabilities.sampling.presets import PLAYGROUND
from pmpviz.live.link import query_text
from tests.browser.stage import lanes, pause, play, rest, speed, wait_lanes

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
