"""The Segmentation page in a real Chromium: what is learned comes to what was drawn, and obeys Pause and the knob."""

from __future__ import annotations

import re

from tests.browser.stage import lanes, latest, link, look_back, number, pause, play, press, rest, wait_lanes

SMALL = {"preset": "crf", "height": "16", "width": "20", "scenes": "2", "chains": "16", "budget": "0"}
LEARNED = 6
# Of each lane's picture: how many pixels of the scenes learned from, and of those held out, are not on the side of the
# answer that is drawn above it, how many are animals, which all would be missed if nothing were learned, and how many
# shades there are. Between the scenes is a cross that is neither.
PIXELS = """() => {
  const [seen, answer] = document.querySelectorAll(".sg-picture");
  const { width, height } = answer;
  const read = (canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const light = ({ data }, k) => data[4 * k] + data[4 * k + 1] + data[4 * k + 2];
  const drawn = read(answer);
  return [...document.querySelectorAll("[data-testid=live-canvas]")].map((canvas) => {
    const [image, scale] = [read(canvas), canvas.width / width];
    const at = (x, y) => light(image, Math.floor((y + 0.17) * scale) * canvas.width + Math.floor((x + 0.17) * scale));
    const [row, column] = [(height - 1) / 2, (width - 1) / 2];
    const [wrong, animals, shades, half] = [[0, 0], [0, 0], new Set(), at(0, row)];
    for (let k = 0; k < width * height; k++) {
      const [x, y] = [k % width, Math.floor(k / width)];
      if (x === column || y === row) continue;
      shades.add(at(x, y));
      const animal = light(drawn, k) < 384;
      animals[Number(y > row)] += animal;
      wrong[Number(y > row)] += at(x, y) > half !== animal;
    }
    return { wrong, animals, shades: shades.size, colours: new Set(read(seen).data).size };
  });
}"""


def learning(server, open_page, rate: str):
    """The page of a small preset that plays by itself, on a light ground: what is drawn there is dark."""
    page = open_page(link(server, "segmentation", **SMALL, learning_rate=rate), color_scheme="light")
    page.locator(".sg-picture").nth(1).wait_for()
    wait_lanes(page, 2)
    return page


def shown(page) -> list[tuple[str, str]]:
    """Iteration and picture of each lane."""
    return [(lane["sweep"], lane["frameHash"]) for lane in lanes(page)]


def wrong(page) -> list[float]:
    """Percent that are called wrong: of each lane by marginals, by colour alone, and of each lane by MAP."""
    said = page.locator(".pv-said").inner_text()
    percents = [*re.findall(r"([\d.]+)%", page.locator(".pv-verdict").inner_text()), *_by_map(said)]
    return [number(each) for each in percents]


def _by_map(said: str) -> list[str]:
    return re.findall(r"([\d.]+)%", said.split("(MAP) of each has ")[1])[:2]


# Over so many pictures of the page: whether verdict, both pictures and the timeline were ever of different iterations,
# and how many of them were seen.
APART = """async (count) => {
  const seen = new Set();
  for (let k = 0; seen.size < count; k++) {
    await new Promise(requestAnimationFrame);
    const [, told] = /fter (\\d+) iteration/.exec(document.querySelector(".pv-verdict").textContent) || [];
    if (!told) continue;
    const shown = [...document.querySelectorAll("[data-testid=live-canvas]")].map((canvas) => canvas.dataset.sweep);
    const when = document.querySelector(".pv-when").textContent;
    if (shown.some((sweep) => sweep !== told) || when !== `iteration ${told}`) return [told, when, ...shown];
    seen.add(told);
  }
  return [];
}"""


def test_pictures_come_to_what_was_drawn_and_hold_still_when_paused(server, open_page):
    page = learning(server, open_page, "0.2")
    wait_lanes(page, 2, "Number(d.sweep) >= 1", seconds=120)
    assert page.evaluate(APART, 3) == []
    wait_lanes(page, 2, f"Number(d.sweep) >= {LEARNED}", seconds=120)
    pause(page)
    frozen = shown(page)
    after = page.evaluate(PIXELS)
    for each in after:
        assert all(0 <= missed < 0.7 * all_ for missed, all_ in zip(each["wrong"], each["animals"], strict=True)), after
        assert each["shades"] > 20 and each["colours"] > 100
    told = wrong(page)
    for first, title in ((0, "pixels wrong near outlines"), (3, "wrong by the single best")):
        ends = [round(each, 1) for each in latest(page, f"Held out: {title}")]
        assert told[first : first + 2] == ends, (told, ends)
    page.wait_for_timeout(1500)
    assert shown(page) == frozen and page.evaluate(PIXELS) == after and wrong(page) == told
    # What is said of another moment than the one on screen is dimmed until the server has told of that one.
    assert page.evaluate(DIMMED)
    look_back(page, 1)
    page.locator(".pv-verdict", has_text="after 1 iteration ").wait_for()
    assert not page.locator(".pv-said.pv-late").count()
    canvas = page.locator("[data-testid=live-canvas]").first
    canvas.hover(position={"x": 5, "y": 5})
    page.locator(".pv-root > .pv-tip", has_text=re.compile(r"p\(animal\) 0\.\d+, drawn as ground")).wait_for()
    then = wrong(page)
    assert then[2] == told[2] and all(then[k] > told[k] for k in (0, 1, 3, 4))
    page.get_by_role("button", name="Live").click()
    page.wait_for_function(f"() => JSON.stringify(({PIXELS})()) === '{_plain(after)}'")


def _plain(found: list) -> str:
    return str(found).replace("'", '"').replace(" ", "")


def test_a_rate_that_is_dragged_in_mid_run_makes_the_steps_longer_and_keeps_what_was_learned(server, open_page):
    page = learning(server, open_page, "0.05")
    wait_lanes(page, 2, "Number(d.sweep) >= 2")
    pause(page)
    trust = _steps(page, 2)
    knob = page.locator("[data-knob=learning_rate]")
    knob.evaluate("(range) => { range.value = range.max; range.dispatchEvent(new Event('input', { bubbles: true })); }")
    knob.evaluate("(range) => range.dispatchEvent(new Event('change', { bubbles: true }))")
    page.wait_for_url("**learning_rate=1.0**")
    rest(page)
    trust += _steps(page, 2)
    first, later = abs(trust[1] - trust[0]), abs(trust[3] - trust[2])
    assert later > 5 * first > 0, trust
    play(page)
    wait_lanes(page, 2, f"Number(d.sweep) > {max(int(lane['sweep']) for lane in lanes(page))}")
    # Told at once, and of what the server has not left yet until it has.
    assert page.evaluate(RESET).startswith("Back to the start")
    page.wait_for_function("() => !document.querySelector('.pv-verdict').textContent.startsWith('Back to the start')")


DIMMED = """() => {
  const range = document.querySelector(".pv-timeline input[type=range]");
  range.value = 1;
  range.dispatchEvent(new Event("input", { bubbles: true }));
  return document.querySelector(".pv-said").classList.contains("pv-late");
}"""
RESET = """() => {
  document.querySelector("[data-action=reset]").click();
  return document.querySelector(".pv-verdict").textContent;
}"""


def _steps(page, count: int) -> list[float]:
    """The second lane's weight of colour after each of so many steps by hand."""
    found = []
    for _ in range(count):
        sweeps = [int(lane["sweep"]) for lane in lanes(page)]
        press(page, "n")
        wait_lanes(page, 2, f"Number(d.sweep) === [{sweeps[0] + 1}, {sweeps[1] + 1}][d.lane]")
        rest(page)
        found.append(latest(page, "Trust in colour")[1])
    return found
