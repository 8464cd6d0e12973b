"""The Landscape page in a real Chromium: a dragged shift redraws the hills, and the frequencies come to the law."""

from __future__ import annotations

from tests.browser.stage import link, press

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


def test_frequencies_come_to_the_law_and_the_dragged_shift_parts_the_hills(server, open_page, record_property):
    page = open_page(link(server, "landscape", preset="attractive"))
    page.wait_for_selector(f"{CANVAS}[data-hills='1']")
    page.wait_for_function(
        "() => { const d = document.querySelector('[data-testid=landscape-bars]').dataset;"
        " return Number(d.draws) > 10000 && Number(d.error) < 0.03 }"
    )
    record_property("ms to another landscape", page.evaluate(DRAG, 0.3))
    page.evaluate(DRAG, 0.5)
    page.wait_for_selector(f"{CANVAS}[data-hills='2']")
    page.evaluate("document.querySelector('[data-knob=extra]').dispatchEvent(new Event('change', {bubbles: true}))")
    page.wait_for_url("**extra=3.*")
    page.get_by_role("button", name="A = I").click()
    page.wait_for_selector(f"{CANVAS}[data-turn='1.00'][data-hills='2']")
    press(page, "Space")
    page.wait_for_function("document.querySelector('.pv-root').dataset.server === 'paused'")
