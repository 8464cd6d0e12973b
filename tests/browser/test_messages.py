"""The Messages page in a real Chromium: messages in flight, oscillation, exact trees, held variables, keys."""

from __future__ import annotations

import re
import time

import pytest

from tests.browser.stage import at_rest, box_of, close_dialog, link, press, rest

CANVAS = "[data-testid=messages-canvas]"
READ = f"() => ({{ ...document.querySelector('{CANVAS}').dataset }})"
TRIANGLE = {"graph": "triangle", "schedule": "parallel", "rule": "max", "sweeps": "88", "play": "run"}
GAPS = """() => [...document.querySelectorAll('.mm-bar-row .pv-group')].flatMap((group) => {
  const boxes = [...group.children].map((child) => child.getBoundingClientRect());
  const apart = (a, b) => Math.max(b.left - a.right, b.top - a.bottom);
  return boxes.slice(1).map((box, k) => apart(boxes[k], box));
})"""
TREE = {"graph": "tree", "schedule": "two_pass", "rule": "sum"}


def data(page) -> dict[str, str]:
    return page.evaluate(READ)


def wait(page, condition: str, seconds: float = 120) -> float:
    """Wait until `d`, the canvas's data- attributes, meets the condition; seconds taken."""
    begin = time.perf_counter()
    page.wait_for_selector(f"{CANVAS}[data-sweep]")
    page.wait_for_function(f"() => {{ const d = ({READ})(); return {condition} }}", timeout=1000 * seconds, polling=20)
    return time.perf_counter() - begin


def still(page) -> None:
    """Stop playing, and go to the start."""
    wait(page, "true")
    page.locator("[data-action=reset]").click()
    wait(page, "d.event === '0' && d.playing === 'false'")


def place_of(page, variable: int) -> tuple[float, float]:
    """A place well within a variable's circle, found by moving the pointer over the canvas from its top left."""
    box = page.locator(CANVAS).bounding_box()
    for row in range(2, 20):
        for column in range(2, 20):
            x, y = box["x"] + column * box["width"] / 22, box["y"] + row * box["height"] / 22
            page.mouse.move(x, y)
            tip = page.locator(".mm-root .pv-tip")
            if tip.is_visible() and tip.inner_text().startswith(f"x{variable + 1}:"):
                return x, y + 12
    raise AssertionError(f"variable {variable} is not on the canvas")


def test_the_undamped_triangle_is_called_oscillating_and_half_damping_brings_it_to_rest(server, open_page, note):
    begin = time.perf_counter()
    page = open_page(link(server, "messages", **TRIANGLE))
    page.wait_for_selector(f"{CANVAS}[data-sweep]")
    drawn = time.perf_counter()
    wait(page, "d.status === 'oscillating'")
    note("seconds from opening to the picture", round(drawn - begin, 2))
    note("and from there until it is called oscillating", round(time.perf_counter() - drawn, 2))
    assert data(page)["period"] == "6"
    # The error is that of a period: each time round the messages cross the fixed point, where it is 0 for a moment.
    page.locator(".mm-side", has_text="error, most in 6 sweeps 0.062").wait_for()
    # A phase in which it is exact is none to call it so.
    page.wait_for_function(
        """() => [...document.querySelectorAll('.mm-sign')].every((sign) => sign.textContent === '⇄')
          && document.querySelector('.mm-error').textContent === '⇄ equal now, then not'"""
    )
    assert (
        "Squares prefer equal neighbours, violet ones different; framed: its neighbours lean otherwise."
        in page.locator(".mm-legend").inner_text()
    )
    assert "period 6" in page.locator("[data-testid=messages-status]").inner_text()
    # The curves tell how large the oscillation is; the map beside them shows it.
    assert page.locator(".mm-side [data-testid=messages-heat]").is_visible()
    before = data(page)["run"]
    page.locator(".st-key-messages_damping input[type=range]").focus()
    for _ in range(50):
        page.keyboard.press("ArrowRight")
    rest(page)
    page.wait_for_function("() => /damping=0.5(&|$)/.test(location.search)")
    drawn = time.perf_counter()
    wait(page, f"d.run !== '{before}' && d.residual !== '' && Number(d.residual) < 1e-4")
    note("seconds from damping 0.5 until the largest change is below 1e-4", round(time.perf_counter() - drawn, 2))
    wait(page, "d.status === 'converged' && d.playing === 'false'")
    assert float(data(page)["residual"]) < 1e-5
    # The knob beneath the picture is the same one.
    page.locator("[data-knob=damping]").press("Home")
    wait(page, "d.status === 'oscillating'")
    page.wait_for_url("**damping=0.0*")


def test_what_repeats_itself_says_so_and_the_heat_map_leads_out_of_it_and_the_timeline_back(
    server, open_page, tmp_path
):
    page = open_page(link(server, "messages", **TRIANGLE))
    wait(page, "d.looping === 'true'")
    gaps = page.evaluate(GAPS)
    assert len(gaps) >= 5 and min(gaps) >= 3  # The buttons of the bar stand apart.
    # The words name the sweep that is shown: of a whole period, picture by picture.
    seen = page.evaluate(
        """async () => {
          const pairs = new Set();
          for (const until = performance.now() + 30000; pairs.size < 6 && performance.now() < until; ) {
            await new Promise(requestAnimationFrame);
            const { sweep } = document.querySelector(".mm-canvas").dataset;
            pairs.add(`${document.querySelector(".mm-when").innerText} ${sweep}`);
          }
          return [...pairs];
        }"""
    )
    assert {"sweep 83", "sweep 88"} <= {words.split(":")[0] for words in seen}
    assert all(re.fullmatch(r"sweep (8[3-8]): the last 6 replayed \1", words) for words in seen)
    the_heat_map_goes_to_the_message_that_is_clicked_and_the_timeline_back(page)
    a_graph_of_ones_own_without_factors_is_drawn(page, tmp_path)


def a_graph_of_ones_own_without_factors_is_drawn(page, tmp_path) -> None:
    assert data(page)["total"] != "0"
    file = tmp_path / "alone.uai"
    file.write_text("MARKOV\n3\n2 2 2\n1\n1 0\n2\n1 3\n")
    page.locator("input[type=file]").first.set_input_files(file)
    wait(page, "d.total === '0' && d.playing === 'false'")
    assert "nothing is sent" in page.locator(".mm-verdict").inner_text()
    assert page.locator(".mm-number").first.inner_text() == "0.75000"


def the_heat_map_goes_to_the_message_that_is_clicked_and_the_timeline_back(page) -> None:
    # What oscillates goes round its last period, of 6 sweeps, as long as one looks.
    wait(page, "d.looping === 'true' && d.playing === 'true' && Number(d.sweep) >= 82")
    wait(page, "d.sweep === '87'")
    wait(page, "d.sweep === '83'")
    press(page, "Space")
    wait(page, "d.playing === 'false'")
    page.locator(".mm-root .pv-range").evaluate(
        "(range) => { range.value = range.max; range.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    wait(page, "d.sweep === '88' && d.looping === 'false'")
    heat = page.locator("[data-testid=messages-heat]")
    heat.scroll_into_view_if_needed()
    box = heat.bounding_box()
    page.mouse.click(box["x"] + 84 + (box["width"] - 96) * 20.5 / 88, box["y"] + 10)
    wait(page, "Number(d.event) > 20 * 12 && Number(d.event) <= 21 * 12")
    assert "sweep 21" in page.locator("[data-testid=messages-equation]").inner_text()
    page.locator(".mm-root .pv-range").evaluate(
        "(range) => { range.value = 30; range.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    wait(page, "d.event === '30' && d.sweep === '2' && d.status === 'running'")


def held_up(page):
    """The script of the picture is held up until what is given back is called."""
    held, free = [], []
    page.route("**/messages.js*", lambda route: route.continue_() if free else held.append(route))

    def let_go() -> None:
        free.append(True)
        for route in held:
            route.continue_()

    return let_go


# The picture comes late.
def test_space_before_there_is_a_picture_plays_before_a_class(server, open_page):
    page = open_page("about:blank")
    let_go = held_up(page)
    page.goto(link(server, "messages", preset="triangle", **{"class": "1"}), wait_until="domcontentloaded")
    # The run is worked out: a Space of long ago is not kept.
    page.get_by_text("the browser loads what draws the graph").wait_for(state="attached")
    assert not page.locator(CANVAS).count()
    page.keyboard.press("Space")
    let_go()
    page.wait_for_selector(f"{CANVAS}[data-sweep]")
    wait(page, "d.playing === 'true' && Number(d.sweep) > 0")


def test_beliefs_on_a_tree_are_the_exact_ones_after_two_passes(server, open_page):
    page = open_page(link(server, "messages", **TREE, play="sweep"))
    still(page)
    place = at_rest(page.locator(CANVAS))
    assert float(data(page)["error"]) > 0.01
    assert set(page.locator(".mm-sign").all_inner_texts()) == {""}
    press(page, "n")
    wait(page, "d.status === 'exact' && d.sweep === '1'")
    assert float(data(page)["error"]) < 1e-5
    numbers = page.locator(".mm-number").all_inner_texts()
    beliefs, exact = [float(t) for t in numbers[::2]], [float(t) for t in numbers[1::2]]
    assert len(beliefs) == 7 and max(abs(a - b) for a, b in zip(beliefs, exact, strict=True)) <= 1e-5
    assert set(page.locator(".mm-sign").all_inner_texts()) == {"="}
    # One count of messages is on screen, the run ends where nothing changes, and the graph stays where it was.
    assert page.locator(".mm-when").inner_text() == "message 24 of 24" and data(page)["playing"] == "false"
    assert box_of(page.locator(CANVAS)) == place
    assert "two passes" in page.locator("[data-testid=messages-status]").inner_text()
    # While it is played once more nothing stands there of its end, until it is there again.
    end = page.locator(".mm-verdict")
    assert end.is_visible()
    press(page, " ")
    wait(page, "d.playing === 'true' && Number(d.event) > 0 && d.sweep === '0'")
    beneath = page.locator(".st-key-messages_end")
    assert not end.is_visible() and not beneath.is_visible()
    wait(page, "d.status === 'exact'")
    end.wait_for(state="visible")
    beneath.wait_for(state="visible")


def test_before_the_graph_is_there_its_place_says_what_is_waited_for_and_nothing_how_it_ends(server, open_page):
    page = open_page("about:blank")
    let_go = held_up(page)
    page.goto(link(server, "messages", **TREE))
    page.get_by_text("the browser loads what draws the graph").wait_for()
    page.locator(".st-key-messages_below").wait_for(state="attached")
    assert not page.locator(".st-key-messages_below").is_visible()
    let_go()
    page.locator(".st-key-messages_below").wait_for()
    page.locator(".st-key-messages_waits").wait_for(state="hidden")


@pytest.mark.parametrize(
    ("graph", "more"),
    [
        ("potts", {"damping": "0.3", "rule": "between", "beta": "4"}),
        ("and_or", {"rule": "max", "damping": "0.2"}),
        ("cardinality", {"evidence": "1:1"}),
    ],
)
def test_the_numbers_in_the_equation_come_to_the_message_that_is_sent(server, open_page, graph, more):
    page = open_page(link(server, "messages", graph=graph, schedule="parallel", sweeps="4", play="message", **more),
                     reduced_motion="reduce")  # fmt: skip
    wait(page, "d.event === '0' && d.playing === 'false'")
    equation = page.locator("[data-testid=messages-equation]")
    total = int(data(page)["total"])
    for event in range(1, min(total, 48) + 1):
        press(page, "n")
        wait(page, f"d.event === '{event}'")
        assert int(equation.get_attribute("data-event")) == event - 1
        assert float(equation.get_attribute("data-difference")) < 1e-9, equation.inner_text()


def s_shares_and_a_key_that_is_held_down_steps_on(page) -> None:
    still(page)
    assert "S" in page.locator("[data-action=share]").inner_text()
    press(page, "s")
    shared = page.locator("[role=dialog] code").first
    shared.wait_for()
    assert "/messages?" in shared.inner_text() and "graph=tree" in shared.inner_text()
    page.keyboard.press("n")
    close_dialog(page)
    assert data(page)["event"] == "0"
    page.keyboard.down("n")
    page.keyboard.down("n")
    wait(page, "d.event === '2'")
    page.keyboard.up("n")


def test_keys_share_step_on_while_held_down_and_take_back_a_message_that_has_flown(server, open_page):
    page = open_page(link(server, "messages", **TREE, play="message"))
    s_shares_and_a_key_that_is_held_down_steps_on(page)
    press(page, "Space")
    wait(page, "d.flying === '1'")
    press(page, "Space")
    wait(page, "d.playing === 'false'")
    frozen = data(page)
    page.wait_for_timeout(500)
    assert data(page) == frozen
    at = int(frozen["event"])
    # What has come is counted; what is on its way is the next one.
    assert f"After {at} of 24" in page.locator("[data-testid=messages-status]").inner_text()
    assert page.locator(".mm-when").inner_text() == f"message {at + 1} of 24, on its way"
    assert page.locator("[data-testid=messages-equation]").inner_text().split("\n")[0].endswith("on its way")
    press(page, "n")
    wait(page, f"d.event === '{at + 1}' && d.flying === '0'")
    lit = data(page)["lit"]
    press(page, "n")
    wait(page, f"d.event === '{at + 2}' && d.flying === '0' && d.lit !== '{lit}'")
    press(page, "b")
    # The edge that is lit is that of the message which is told.
    wait(page, f"d.event === '{at + 1}' && d.lit === '{lit}'")
    page.locator("[data-mode=sweep]").click()
    press(page, "b")
    wait(page, "d.event === '0'")
    rest(page)
    page.wait_for_function("() => location.search.includes('play=sweep')")


# Of a run of 12 sweeps that is exact from sweep 5 on, held after 4, 5 and 12: what stands beside the timeline.
HELD = """async () => {
  const loaded = (name) => performance.getEntriesByType("resource").map((e) => e.name).find((a) => a.endsWith(name));
  const [{ Timeline }, { Playhead }] = await Promise.all([import(loaded("/bar.js")), import(loaded("/playhead.js"))]);
  const milestones = [[0, "running", ""], [5, "exact", ""]];
  const replay = { done: (head) => head / 10, startOf: (sweep) => 10 * sweep, sweeps: 12, total: 120 };
  const [player, line] = [new Playhead(true), new Timeline(() => {})];
  player.take({ ...replay, record: { milestones, period: null } });
  return [4, 5, 12].map((sweep) => {
    player.moveTo(10 * sweep);
    line.show(player.head, player.head, { ...player.replay, done: (head) => Math.floor(head / 10) }, player);
    return line.text.textContent;
  });
}"""


def test_a_run_that_holds_where_nothing_changes_any_more_says_so(server, open_page):
    page = open_page(link(server, "messages", **TREE))
    still(page)
    assert page.evaluate(HELD) == [
        "sweep 4 of 12, message 10 of 10",
        "sweep 5 of 12: nothing changes any more",
        "sweep 12 of 12, message 10 of 10",
    ]


def test_pointing_at_a_factor_shows_its_table_and_what_is_frustrated_is_framed(server, open_page):
    page = open_page(
        link(server, "messages", graph="cycle", rule="sum", schedule="parallel", damping="0.5", play="run")
    )
    wait(page, "d.playing === 'false' && d.sweep === '60'")
    # Three edges want their ends alike and one does not: whatever is decided, an odd number is left out.
    assert int(data(page)["frustrated"]) % 2 == 1
    box = page.locator(CANVAS).bounding_box()
    tip, seen = page.locator(".mm-root .pv-tip"), set()
    for row in range(1, 20):
        for column in range(1, 40):
            page.mouse.move(box["x"] + column * box["width"] / 40, box["y"] + row * box["height"] / 20)
            if tip.is_visible() and "table of" in (words := tip.inner_text()):
                seen.add(words.split("\n")[0])
                assert tip.locator("td").count() == 4 and "rather have them" in words
            if len(seen) > 1:
                return
    assert seen


def test_a_click_holds_a_variable_and_beliefs_follow(server, open_page):
    page = open_page(link(server, "messages", graph="or_factor", schedule="two_pass", play="sweep"))
    still(page)
    before = data(page)["run"]
    x, y = place_of(page, 3)
    for value, then in (("0", "hold it at 1"), ("1", "free it")):
        page.mouse.click(x, y)
        page.wait_for_function(f"() => location.search.replace('%3A', ':').includes('evidence=3:{value}')")
        wait(page, f"d.run !== '{before}'")
        before = data(page)["run"]
        # What is pointed at is told anew, though the pointer rests.
        page.wait_for_function(f"() => document.querySelector('.mm-root > .pv-tip').innerText.includes('{then}')")
    still(page)
    press(page, "n")
    wait(page, "d.status === 'exact'")
    numbers = [float(text) for text in page.locator(".mm-number").all_inner_texts()[::2]]
    # One of three causes of probability 0.2 at least: each is then as probable as 0.2 / (1 - 0.8^3).
    assert numbers[:3] == pytest.approx([0.2 / (1 - 0.8**3)] * 3, abs=1e-5) and numbers[3] == 1


# How many messages fly at most while so many come.
FLOWN = f"""async (count) => {{
  const {{ dataset }} = document.querySelector("{CANVAS}");
  let most = 0;
  for (const until = performance.now() + 60000; Number(dataset.event) < count; ) {{
    if (performance.now() > until) throw new Error("no message comes");
    await new Promise(requestAnimationFrame);
    most = Math.max(most, Number(dataset.flying));
  }}
  return most;
}}"""


def test_nothing_flies_where_motion_is_not_wanted_and_it_is_said(server, open_page):
    page = open_page(link(server, "messages", **TREE, play="message"), reduced_motion="reduce", color_scheme="dark")
    wait(page, "d.event === '0' && d.playing === 'false'")
    assert "Motion is reduced" in page.locator(".mm-root .pv-spoken").text_content()
    press(page, "Space")
    assert page.evaluate(FLOWN, 3) == 0
    label = page.locator(CANVAS).get_attribute("aria-label")
    assert re.search(r"7 variables and 6 factors", label)


def test_nothing_moves_while_messages_fly(server, open_page):
    page = open_page(link(server, "messages", graph="lattice", schedule="parallel", damping="0.3", play="message"))
    wait(page, "d.flying === '1'")
    parts = ".mm-root > *, .mm-left > *, .mm-side > *"
    places = f"() => [...document.querySelectorAll('{parts}')].map((e) => Math.round(e.getBoundingClientRect().top))"
    page.locator(".mm-root .pv-select").select_option("16")
    wait(page, "Number(d.event) >= 4")
    first = page.evaluate(places)
    seen = set()
    for _ in range(25):
        seen.add(tuple(page.evaluate(places)))
        page.wait_for_timeout(100)
    assert seen == {tuple(first)}


# What two boxes have in common, in pixels; the first is the tip's, the second a part of the picture.
COVERED = """([left, top, right, bottom]) => {
  const tip = document.querySelector('.mm-root > .pv-tip').getBoundingClientRect();
  const picture = document.querySelector('.mm-canvas').getBoundingClientRect();
  const wide = Math.min(tip.right - picture.left, right) - Math.max(tip.left - picture.left, left);
  const high = Math.min(tip.bottom - picture.top, bottom) - Math.max(tip.top - picture.top, top);
  return wide > 0 && high > 0; }"""


def test_words_on_a_variable_stand_neither_over_it_nor_over_its_factors(server, open_page):
    page = open_page(f"{server}/messages?preset=lattice")
    page.wait_for_selector(".mm-canvas[data-run]")
    # Its many sweeps are played within half a minute: it has converged at sweep 60.
    assert page.get_by_label("Speed").input_value() == "2"
    canvas = page.locator(".mm-canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    x, y = box["width"] / 2, box["height"] / 2
    page.mouse.move(box["x"] + x, box["y"] + y)
    page.get_by_text("x5: own log-odds").wait_for()
    # Neither over the variable itself, in the middle, nor over the factors above, below and beside it.
    across, up = x / 2, y / 2
    for wide, high in ((20, 20), (11, up), (across, 11)):
        assert not page.evaluate(COVERED, [x - wide, y - high, x + wide, y + high])


def test_before_a_class_the_map_of_a_free_run_and_its_verdict_are_seen_with_the_picture(server, open_page):
    page = open_page(f"{server}/messages?preset=triangle&class=1")
    page.set_viewport_size({"width": 1024, "height": 768})
    page.wait_for_selector(".mm-canvas[data-run]")
    press(page, "Space")
    page.wait_for_function("() => getComputedStyle(document.querySelector('.mm-verdict')).visibility === 'visible'")
    for part in ("[data-testid=messages-heat]", ".mm-verdict", ".mm-canvas"):
        box = at_rest(page.locator(part), 0.2)
        assert box["y"] > 0 and box["y"] + box["height"] <= 768, part
    # Each of its six rows has a name beside it, of 11 pixels on a page that is not enlarged.
    assert page.locator("[data-testid=messages-heat]").bounding_box()["height"] > 1.6 * 6 * 11
