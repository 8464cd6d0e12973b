"""The perturbation lab in a real Chromium: three solvers on one perturbation with their energies, then another one."""

from __future__ import annotations

import time

from tests.browser.stage import at_rest, choose, press

ENERGIES = """() => [...document.querySelectorAll('.stMainBlockContainer table tbody tr')]
  .map((row) => [...row.cells].map((cell) => cell.innerText)).filter((cells) => cells.length === 5)"""
MAP = "[data-testid=atlas-canvas]"
BARS = "[data-testid=atlas-bars]"
# Share of the canvas that is drawn in a colour.
COLOURED = f"""() => {{
  const canvas = document.querySelector('{BARS}');
  const {{ data }} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let drawn = 0;
  for (let i = 0; i < data.length; i += 4) {{
    const [r, g, b, a] = data.slice(i, i + 4);
    drawn += a > 200 && Math.max(r, g, b) - Math.min(r, g, b) > 40;
  }}
  return (4 * drawn) / data.length;
}}"""
PANELS = "() => document.querySelectorAll('canvas[data-panel]').length >= 6"
VALUES = """() => Object.fromEntries(
  [...document.querySelectorAll('canvas[data-panel]')].map((c) => [c.dataset.panel, c.dataset.values]))"""
SOLVED = f"() => ({ENERGIES})().filter((row) => row[1] !== '…').length === 3"


def test_three_solvers_on_one_perturbation(server, open_page, note):
    begin = time.perf_counter()
    page = open_page(f"{server}/perturbation_lab?preset=glass")
    page.wait_for_function(SOLVED)
    page.wait_for_function(PANELS)
    note("seconds from opening to three energies, the process being new", round(time.perf_counter() - begin, 1))
    first = page.evaluate(ENERGIES)
    assert "proved" in first[2][4] and all(row[1] != "n/a" for row in first)
    page.locator(".st-key-lab_next button").click()
    page.wait_for_function(f"() => ({SOLVED})() && ({ENERGIES})()[2][1] !== '{first[2][1]}'")
    page.wait_for_url("**draw=1*")
    page.wait_for_selector(f"{MAP}[data-x]")
    page.locator(".st-key-lab_averages img").nth(3).wait_for()
    page.get_by_role("heading", name="Bounds on log Z").wait_for()


def on_map(page, across: float, up: float) -> tuple[float, float]:
    """The place on the screen of a noise, as the axes have it."""
    box = at_rest(page.locator(MAP), 0.2)
    room, edge = box["width"] - 46, 6 * (1 + 1 / 31)
    return box["x"] + 38 + room * (across + edge) / (2 * edge), box["y"] + 8 + room * (1 - (up + edge) / (2 * edge))


def test_samples_land_the_cross_is_dragged_and_another_model_is_chosen(server, open_page):
    page = open_page(f"{server}/perturbation_lab")
    page.wait_for_selector(f"{MAP}[data-x]")
    page.wait_for_selector(f"{BARS}[data-samples]")
    a_sample_has_the_colour_of_its_state_and_is_counted_once_it_has_landed(page)
    page.locator("[data-action=reset]").click()
    the_cross_is_dragged_and_the_answers_follow_before_and_after_it_is_let_go(page)
    no_name_of_a_bound_lies_on_the_line_of_log_z_or_on_a_mark(page)
    a_scene_has_its_pictures_before_its_map_and_no_legend_of_the_model_before(page)


# Of each picture of a second sample's fall: how many are counted, and whether a dot has the colour of a state, which no
# region has. The cross covers the first. Time goes on by 60 ms a picture at most: a slow browser shows the fall, too.
FALL = """async () => {
  const [next, real] = [window.requestAnimationFrame.bind(window), performance.now.bind(performance)];
  let [ms, last] = [real(), real()];
  performance.now = () => ms;
  window.requestAnimationFrame = (draw) => next(() => draw(ms));
  const map = document.querySelector("[data-testid=atlas-canvas]");
  const bars = document.querySelector("[data-testid=atlas-bars]");
  const inks = [[0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167]];
  const seen = [];
  const begin = ms;
  document.querySelector("[data-action=one]").click();
  while (ms - begin < 3000 && bars.dataset.samples !== "2") {
    await new Promise(next);
    const now = real();
    [ms, last] = [ms + Math.min(60, now - last), now];
    const { data } = map.getContext("2d").getImageData(0, 0, map.width, map.height);
    let coloured = 0;
    for (let k = 0; k < data.length; k += 4) coloured += inks.some((ink) => ink.every((v, c) => data[k + c] === v));
    seen.push([Number(bars.dataset.samples), coloured > 0]);
  }
  window.requestAnimationFrame = next;
  delete performance.now;
  return seen;
}"""
# What is said and how many samples are drawn in the first picture of more than so many.
BOTH = """async (count) => {
  const bars = document.querySelector("[data-testid=atlas-bars]");
  const until = performance.now() + 60000;
  while (Number(bars.dataset.samples) <= count && performance.now() < until) await new Promise(requestAnimationFrame);
  return [document.querySelector(".at-verdict").innerText, bars.dataset.samples];
}"""


def a_sample_has_the_colour_of_its_state_and_is_counted_once_it_has_landed(page) -> None:
    page.wait_for_function("() => !document.querySelector('.at-words').innerText.includes('Rough')")
    page.locator("[data-action=reset]").click()
    page.wait_for_selector(f"{BARS}[data-samples='0']")
    page.locator("[data-action=one]").click()
    page.wait_for_selector(f"{BARS}[data-samples='1']")
    *falling, landed = page.evaluate(FALL)
    assert len(falling) > 1 and set(map(tuple, falling)) == {(1, False)} and landed == [2, True]
    # What is said and what is drawn are of as many samples, whenever one stops.
    page.locator("[data-action=play]").click()
    both = page.evaluate(BOTH, 30)
    assert int(both[1]) > 30 and both[0].startswith(f"{both[1]} samples: too few to judge")


def the_cross_is_dragged_and_the_answers_follow_before_and_after_it_is_let_go(page) -> None:
    page.wait_for_function(PANELS)
    page.wait_for_function(
        "() => document.querySelector('.at-words').innerText.includes('4 states are best somewhere.')"
    )
    page.wait_for_function(f"() => !document.querySelector('.at-words').innerText.includes('Row') && ({SOLVED})()")
    canvas = page.query_selector(MAP)
    page.mouse.move(*on_map(page, 0, 0))
    page.mouse.down()
    page.mouse.move(*on_map(page, 4, -4), steps=5)
    page.wait_for_function(f"() => ({VALUES})().Exact === '1.00,0.00'")
    across, up = (float(page.get_attribute(MAP, f"data-{axis}")) for axis in "xy")
    assert abs(across - 4) < 0.25 and abs(up + 4) < 0.25 and "cross" not in page.url
    assert [float(v) for v in page.evaluate(VALUES)["noise"].split(",")] == [round(across, 2), round(up, 2)]
    page.mouse.move(*on_map(page, -4, -4), steps=5)
    page.wait_for_function(f"() => ({VALUES})().Exact === '0.00,0.00'")
    page.mouse.up()
    page.wait_for_url("**cross=-*")
    page.wait_for_function(f"() => ({SOLVED})() && ({VALUES})().Exact === '0.00,0.00'")
    assert canvas.evaluate("(canvas) => canvas.isConnected")


# (length of a name, ends of its mark, the line of log Z, width of the chart).
ROWS = [(100, (300, 320), 250, 400), (260, (20, 60), 350, 440), (100, (60, 90), 150, 400)]


def no_name_of_a_bound_lies_on_the_line_of_log_z_or_on_a_mark(page) -> None:
    starts = page.evaluate(
        """async (rows) => {
          const own = performance.getEntriesByType("resource").map((entry) => entry.name);
          const { nameAt } = await import(own.find((name) => name.includes("bounds.js")));
          const { named, outside } = await import(own.find((name) => name.includes("map.js")));
          const beyond = [[0, 6], [-7, 0], [7, 7]].map((noise) => outside(...noise, 6.2));
          const axis = [60, 50, 40, 10].map((room) => named("noise of spin 1", (words) => words.length < room, true));
          return [axis, beyond.join(" "), ...rows.map((row) => nameAt(...row))];
        }""",
        ROWS,
    )
    # Before a class the axis says what its signs are, as far as there is room.
    first = "noise of spin 1"
    signs = ["+: one noise, drag it; ▲: beyond the map", "+: drag it; ▲: off the map", "▲: off the map"]
    assert starts.pop(0) == [*(f"{first}; {sign}" for sign in signs), first]
    # A sample beyond the map's edge points outwards: up is less on screen.
    assert starts.pop(0) == "0,0 -1,0 1,-1"
    for start, (long, (low, high), line, width) in zip(starts, ROWS, strict=True):
        assert start + long <= low or start >= high
        assert not start <= line <= start + long and 0 <= start <= width - long


def a_scene_has_its_pictures_before_its_map_and_no_legend_of_the_model_before(page) -> None:
    page.wait_for_function("() => document.querySelector('.at-legend')?.innerText.includes('01')")
    assert page.locator(".at-root > :not(.pv-trouble, .at-above)").first.get_attribute("class") == "at-left"
    choose(page, page.locator(".stSidebar").get_by_role("combobox").first, "A hidden stroke")
    page.wait_for_selector(".at-scene canvas[data-panel='single MAP']")
    assert page.locator(".at-root > :not(.pv-trouble, .at-above)").first.get_attribute("class") == "at-right"
    assert "01" not in page.locator(".at-legend").inner_text()


def test_samples_fall_and_fill_the_bars(server, open_page):
    page = open_page(f"{server}/perturbation_lab", reduced_motion="reduce")
    page.wait_for_selector(f"{MAP}[data-x]")
    page.wait_for_selector(f"{BARS}[data-samples]")
    for count in (1, 2):
        page.locator("[data-action=one]").click()
        page.wait_for_selector(f"{BARS}[data-samples='{count}']")
    # The verdict is of the samples that have fallen.
    assert page.locator(".at-verdict").inner_text().startswith("2 samples: too few to judge whether ")
    assert "; as many exact draws would be " in page.locator(".at-bars").inner_text()
    page.locator("[data-action=play]").click()
    page.wait_for_function(f"() => Number(document.querySelector('{BARS}').dataset.samples) > 5")
    # Those that are solved later, too.
    page.locator("[data-action=all]").click()
    page.wait_for_selector(f"{BARS}[data-samples='512']")
    page.locator(".at-verdict", has_text="does not explain these 512 samples. In").wait_for()
    assert "; as many exact draws would be " in page.locator(".at-bars").inner_text()
    assert page.evaluate(COLOURED) > 0.02  # The exact lines and the axis alone are grey.


def test_a_long_legend_stays_beneath_its_map(server, open_page):
    page = open_page(f"{server}/perturbation_lab?preset=prefixes")
    page.wait_for_function("() => document.querySelector('.at-legend')?.innerText.includes('commonest')")
    page.wait_for_selector(".at-rows:not([hidden])")
    page.wait_for_function("() => document.querySelectorAll('.at-row-name').length === 13")
    # What the question is about has more of the stage than the map, and stands before it.
    asked, beside = (at_rest(page.locator(name)) for name in (".at-right", ".at-left"))
    assert asked["width"] > 1.4 * beside["width"] and asked["x"] + asked["width"] < beside["x"]
    for name in (".at-head", ".at-legend"):
        assert page.locator(name).bounding_box()["x"] >= beside["x"]
        assert (
            page.locator(name).evaluate("(one) => one.getBoundingClientRect().right") <= beside["x"] + beside["width"]
        )


def test_another_layer_is_drawn_at_once_and_kept_in_the_link(server, open_page):
    page = open_page(f"{server}/perturbation_lab?preset=triangle")
    page.wait_for_selector(".at-root[data-layer=rest]")
    page.wait_for_function("() => document.querySelector('.at-legend').innerText.includes('never settles')")
    page.get_by_label("Map coloured by").select_option("period")
    page.wait_for_selector(".at-root[data-layer=period]")
    page.wait_for_url("**layer=period*")
    page.locator(".st-key-lab_export button").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="perturbation.npz").click()
    assert download.value.suggested_filename == "perturbation.npz"


def test_a_class_reads_what_was_found_beneath_the_pictures_of_a_scene(server, open_page):
    page = open_page(f"{server}/perturbation_lab?preset=complete&class=1", viewport={"width": 1024, "height": 768})
    page.wait_for_selector(".at-averages canvas[data-panel='uncertainty']")
    page.wait_for_function(
        """() => {
          const words = document.querySelector(".at-averages + .at-words");
          const captions = [...document.querySelectorAll(".at-averages figcaption")];
          const found = words?.innerText.startsWith("Of its 12 pixels of ink the single best answer draws 3, ");
          return found && words.getBoundingClientRect().bottom <= innerHeight
            && captions.length === 8 && captions.every((each) => each.scrollWidth <= each.clientWidth);
        }"""
    )


def test_before_a_class_bars_have_the_column_once_samples_fall_until_the_cross_is_moved(server, open_page):
    page = open_page(f"{server}/perturbation_lab?preset=two-spins&class=1", viewport={"width": 1280, "height": 800})
    page.wait_for_function(PANELS)
    page.wait_for_selector(f"{MAP}[data-x]")
    answers, play = page.locator(".at-panels").first, page.get_by_role("button", name="Play")
    assert answers.is_visible()
    before, low = at_rest(play), at_rest(page.locator(BARS))["height"]
    page.get_by_role("button", name="One sample").click()
    # Two spins' solvers all agree: what they found gives way.
    answers.wait_for(state="hidden")
    tall = at_rest(page.locator(BARS))
    assert tall["height"] > 1.5 * low and tall["y"] + tall["height"] <= 800 and at_rest(play) == before
    page.mouse.click(*on_map(page, 0.3, 0.3))
    answers.wait_for(state="visible")
    assert at_rest(page.locator(BARS))["height"] == low


def test_the_names_of_eight_spins_stand_in_full_beneath_bars_that_space_does_not_empty(server, open_page):
    page = open_page(f"{server}/perturbation_lab?preset=clique")
    page.wait_for_selector(f"{BARS}[data-samples]")
    # Eight digits of 5 px at least stand on their ends, where one row of names has 22 of the 170 px.
    page.wait_for_function(f"() => document.querySelector('{BARS}').clientHeight >= 170 - 22 + 8 * 5")
    # No plane shows the noise of eight spins: samples do not fall on one, and are all counted once they are solved.
    page.wait_for_selector(f"{BARS}[data-samples='512']")
    press(page, "Space")
    frames = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
    page.evaluate(frames)
    assert page.locator(BARS).get_attribute("data-samples") == "512"
