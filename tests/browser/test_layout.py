"""What answers a page's question is on screen at once, and no word is cut off."""

import pytest
from playwright.sync_api import TimeoutError, expect

from tests.browser.stage import at_rest, box_of, link, pause, pick, press, space, steady, until, wait_lanes, wait_server

SIZES = ((1440, 900), (1280, 800))
DAMPINGS = ("pmp;damping=0.1", "pmp;damping=0.5", "pmp;damping=0.9")
PAGES = {
    "race": ("race", DAMPINGS, {"model": "square:16x16", "chains": "16"}, 3),
    "playground": ("playground", ("pmp;damping=0.5",), {"model": "square:16x16", "chains": "16"}, 1),
    "learning": ("learning", (), {}, 1),
}
# What lies below the window's lower edge, and whose words are cut off.
PARTS = [".pv-stage", ".pv-timeline", ".pv-knobs", ".pv-bar", ".pv-said", ".pv-trace"]
FAULTS = """(parts) => {
  const found = [];
  for (const part of parts) {
    for (const each of document.querySelectorAll(part)) {
      const box = each.getBoundingClientRect();
      if (box.height && box.bottom > window.innerHeight + 1) found.push(`${part} ends at ${Math.round(box.bottom)}`);
    }
  }
  const words = 'button, label, th, td, h4, input, .pv-root span, .pv-root p, .pv-root figcaption';
  for (const each of document.querySelectorAll(words)) {
    const style = getComputedStyle(each);
    const hides = style.display !== 'inline' && style.overflowX !== 'visible';
    const cuts = hides && !each.closest('.pv-spoken, [data-collapsed=true]');
    if (cuts && each.clientWidth && each.scrollWidth > each.clientWidth + 1) found.push(`cut: ${each.textContent}`);
  }
  for (const knob of document.querySelectorAll('.pv-knob')) {
    if (knob.scrollWidth > knob.clientWidth + 1) found.push(`runs over: ${knob.textContent}`);
  }
  for (const row of document.querySelectorAll('[data-can-scroll-end]')) found.push(`cut: ${row.textContent}`);
  return found;
}"""


def settled(page, parts=PARTS) -> list[str]:
    """What is wrong, once the stage has been laid out anew for its size."""
    try:
        page.wait_for_function(f"(parts) => !({FAULTS})(parts).length", arg=parts, timeout=30_000)
    except TimeoutError:
        return page.evaluate(FAULTS, parts)
    return []


def traces_in_sight(page, count: int) -> None:
    """Wait until there are so many."""
    expect(page.locator(".pv-trace:visible")).to_have_count(count, timeout=60_000)


@pytest.mark.parametrize("name", PAGES)
def test_what_answers_the_question_is_seen_without_scrolling_and_whole(server, open_page, name):
    identity, algorithms, settings, count = PAGES[name]
    page = open_page(link(server, identity, algorithms, **settings))
    wait_lanes(page, count)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert settled(page) == []
    traces_in_sight(page, 2)
    if name == "learning":
        a_folded_side_bar_leaves_the_question_uncovered(page)
    if name == "playground":
        # Folds come with the lanes, not half a minute later.
        page.get_by_text("What the numbers mean").wait_for(state="attached", timeout=20_000)
        a_question_that_grows_longer_leaves_the_picture_where_it_is(page)
        a_knob_beneath_the_picture_moves_the_run_while_it_is_dragged_and_the_side_bar_follows(page)


def a_folded_side_bar_leaves_the_question_uncovered(page) -> None:
    page.evaluate("document.querySelector('[data-testid=stSidebarCollapseButton] button').click()")
    page.wait_for_selector("[data-testid=stExpandSidebarButton]")
    header = "document.querySelector('[data-testid=stHeader]')"
    title = "document.querySelector('h4').getBoundingClientRect().top"
    clear = f"getComputedStyle({header}).backgroundColor === 'rgba(0, 0, 0, 0)'"
    page.wait_for_function(f"{clear} || {title} >= {header}.getBoundingClientRect().bottom")


def a_question_that_grows_longer_leaves_the_picture_where_it_is(page) -> None:
    where = "() => document.querySelector('.pv-stage').getBoundingClientRect().top"
    before = steady(page, where)
    field = page.get_by_role("spinbutton", name="Inverse temperature β")
    field.fill("0.5")
    field.press("Enter")
    page.locator("h4", has_text="T = 2.00").wait_for()
    assert page.evaluate(where) == before


def a_knob_beneath_the_picture_moves_the_run_while_it_is_dragged_and_the_side_bar_follows(page) -> None:
    knob = page.locator("[data-knob='lane1.damping']")
    knob.focus()
    for _ in range(20):
        knob.press("ArrowRight")
    value = page.locator(".pv-knob", has=knob).locator(".pv-knob-value")
    shown = float(value.inner_text())
    assert 0.5 < shown < 0.6
    page.wait_for_function(f"() => decodeURIComponent(location.search).includes('damping={shown:g}')")


WALK = [".wk-picture", ".pv-timeline", ".pv-bar", ".wk-lines", ".pv-trace"]


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        # These are laid out before a class every day, in smaller windows and larger letters.
        pytest.param("frank_wolfe?preset=stall", WALK, marks=pytest.mark.thorough),
        pytest.param("frank_wolfe?preset=cube", WALK, marks=pytest.mark.thorough),
        pytest.param("deconvolution?preset=painted", PARTS, marks=pytest.mark.thorough),
        pytest.param("segmentation", [".sg-given", *PARTS], marks=pytest.mark.thorough),
        ("text?preset=digest", [".pv-stage", ".pv-knobs", ".pv-bar", ".pv-said"]),
    ],
)
def test_what_a_preset_is_about_leaves_room_for_what_was_found(server, open_page, address, parts):
    page = open_page(f"{server}/{address}", viewport={"width": 1440, "height": 900})
    for part in parts:
        page.locator(part).first.wait_for()
    assert settled(page, parts) == []
    traces_in_sight(page, 2 * (".pv-trace" in parts))


# Every day the walks have their traces in that window before a class.
@pytest.mark.parametrize(
    "address",
    [("landscape?preset=attractive", 1), pytest.param(("frank_wolfe?preset=grid", 2), marks=pytest.mark.thorough)],
)
def test_in_a_low_window_traces_are_lower(server, open_page, address):
    address, count = address
    page = open_page(f"{server}/{address}", viewport={"width": 1024, "height": 768})
    traces_in_sight(page, count)  # How often states come stands above that of the landscape.
    assert settled(page, [".pv-trace", ".pv-bar"]) == []


# Before a class: what must be in sight of each page, opened by this address.
CLASS_SIZES = ((1024, 768), (1280, 800))
CLASS_PAGES = {
    "": [".fs-stage", ".fs-buttons"],
    "race?preset=clique": PARTS,
    "messages?preset=lattice": [".mm-stage", ".pv-timeline", ".pv-bar", ".mm-side"],
    "learning?preset=ising": PARTS,
    "deconvolution": PARTS,
    "segmentation": [".sg-given", *PARTS],
    "frank_wolfe?preset=cube": [".wk-picture", ".pv-timeline", ".pv-bar", ".wk-lines", ".pv-trace", ".pv-foot"],
    "perturbation_lab": [".at-map", ".at-bars", ".pv-bar", ".st-key-class_mode"],
}


def a_class_is_left_at_the_same_corner_and_beside_the_question(page, address: str) -> None:
    page.set_viewport_size({"width": 1024, "height": 768})
    leave = page.get_by_role("button", name="Leave class mode")
    leave.wait_for()
    band = "() => getComputedStyle(document.querySelector('.stMainBlockContainer'), '::after').opacity"
    assert page.evaluate(band) == "0"
    page.locator("[data-testid=stMain]").evaluate("(main) => main.scrollTo(0, 400)")
    page.wait_for_function(f"() => ({band})() === '1'")  # No words lie beneath it that are seen.
    # Signs of lanes are as much larger as their names.
    heights = page.locator(".pv-key").evaluate_all("(all) => all.map((key) => key.offsetHeight).filter(Boolean)")
    assert all(height == 16 for height in heights)
    box = at_rest(leave, 0.3)
    assert 1000 < box["x"] + box["width"] <= 1024 and 0 <= box["y"] and box["y"] + box["height"] < 50
    words = leave.get_by_text("Leave class mode").last.bounding_box() if address else box
    assert box["y"] <= words["y"] and words["y"] + words["height"] <= box["y"] + box["height"]
    ends = "(heads) => heads[0].getBoundingClientRect().right"
    assert page.locator("h4").evaluate_all(ends) < box["x"]
    if address:
        page.locator("[data-testid=stMain]").evaluate("(main) => main.scrollTo(0, 0)")
        # A list that is opened while its page still scrolls is closed again.
        choice = at_rest(page.locator(".st-key-class-presets"), 0.3)
        assert page.locator("h4").evaluate_all(ends) <= choice["x"] and choice["x"] + choice["width"] <= box["x"]
        options, box = page.get_by_role("option"), page.locator(".st-key-class-presets").get_by_role("combobox")
        before = page.evaluate("location.search")
        pick(page, box, options.nth(2), look=lambda: all_are_whole(options))
        page.wait_for_function("(before) => location.search !== before", arg=before)


def all_are_whole(options) -> None:
    whole = "(all) => all.every(({ firstElementChild: name }) => name.scrollWidth <= name.clientWidth)"
    assert options.evaluate_all(whole)


def list_is_clear_of(page, beneath: str) -> None:
    """Before a class the list of presets is clear of what stands beneath it."""
    page.locator(beneath).first.wait_for()
    page.locator(".st-key-class-presets").wait_for()
    page.wait_for_function(
        """(names) => {
          const list = document.querySelector(".st-key-class-presets").getBoundingClientRect();
          const boxes = [...document.querySelectorAll(names)].map((each) => each.getBoundingClientRect());
          const seen = boxes.filter(({ width }) => width);
          return list.height > 20 && seen.length && seen.every(({ top }) => top >= list.bottom + 5);
        }""",
        arg=beneath,
    )


def words_that_come_after_the_layout_take_their_room_from_the_trace(page, parts: list[str]) -> None:
    page.set_viewport_size({"width": 1024, "height": 768})
    for state in ("playing", "paused"):
        press(page, "Space")
        wait_server(page, state)
        page.wait_for_timeout(2500)  # Two steps of the walk; an update that was on its way lays all out anew, too.
    for grown in (10, 20, 30):
        assert settled(page, parts) == []
        page.locator(".wk-lines").evaluate("(lines, by) => { lines.style.paddingBottom = `${by}px`; }", grown)
        page.wait_for_timeout(500)
    assert settled(page, parts) == []


# A race has the parts of the playground and of Learning, which are looked at every day.
RARE = "race?preset=clique"


@pytest.mark.parametrize(
    "address", [pytest.param(each, marks=[pytest.mark.thorough] * (each == RARE)) for each in CLASS_PAGES]
)
def test_a_class_sees_what_answers_the_question_without_scrolling_and_whole(server, open_page, address):
    page = open_page(f"{server}/{address}{'&' if '?' in address else '?'}class=1")
    for part in CLASS_PAGES[address]:
        page.locator(part).first.wait_for()
    for width, height in CLASS_SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert settled(page, CLASS_PAGES[address]) == []
    if address == "perturbation_lab":
        # Six pictures that have no room side by side: what the solvers make of the noise in a row of its own.
        page.wait_for_function(
            """() => {
              const panels = [...document.querySelector(".at-panels").querySelectorAll(".at-panel")];
              const [field, noise, both, ...solvers] = panels.map((panel) => panel.getBoundingClientRect().top);
              const [top] = solvers;
              const one = (tops) => tops.length === 3 && new Set(tops).size === 1;
              return one([field, noise, both]) && one(solvers) && top > noise;
            }"""
        )
    if address.startswith("messages"):
        # The question comes before its answer: the run waits for Play, and nothing is told of its end.
        page.wait_for_selector("[data-testid=messages-canvas][data-event]")
        assert page.locator("[data-testid=messages-canvas]").get_attribute("data-event") == "0"
        assert not page.locator(".mm-verdict").is_visible()
    if address.startswith("frank_wolfe"):
        words_that_come_after_the_layout_take_their_room_from_the_trace(page, CLASS_PAGES[address])
    if address == "perturbation_lab":
        page.set_viewport_size({"width": 1024, "height": 768})
        list_is_clear_of(page, ".st-key-lab_bar")
        # What is said of samples has its room before the first one falls: the bar stays where it is.
        bar = page.locator(".at-root .pv-bar")
        before = at_rest(bar, 1.0)
        page.locator("[data-action=one]").click()
        page.wait_for_selector("[data-testid=atlas-bars][data-samples='1']")
        assert box_of(bar) == before
    if address in ("", "perturbation_lab", "deconvolution"):
        a_class_is_left_at_the_same_corner_and_beside_the_question(page, address)


GROW = "(each, by) => { each.style.paddingBottom = `${by}px`; }"


@pytest.mark.parametrize(
    ("address", "grown"), [("playground?preset=paper_graph", (0, 30, 60)), ("deconvolution?preset=gwg", (0,))]
)
def test_before_a_class_growing_words_cut_neither_the_trace_nor_the_button_of_the_others(
    server, open_page, address, grown
):
    page = open_page(f"{server}/{address}&class=1", viewport={"width": 1024, "height": 768})
    page.locator(".pv-verdict", has_text="Press Play, or Space").wait_for()
    press(page, "Space")
    page.locator(".pv-verdict", has_text="Press Play, or Space").wait_for(state="detached")
    pause(page)
    if address.startswith("deconvolution"):
        # Of three lanes, too, all that is found is in sight, and the rows are high enough for their names.
        press(page, "n")
        page.wait_for_function(
            """() => {
              const lanes = [...document.querySelectorAll("[data-testid=deconvolution-canvas]")];
              const said = document.querySelector(".pv-verdict");
              return lanes.length === 3 && / Gibbs: /.test(said?.textContent) && lanes[2].clientHeight > 50
                && [said, ...lanes].every((one) => one.getBoundingClientRect().bottom <= window.innerHeight);
            }"""
        )
    # A title that takes another line, above words that take more of them.
    page.locator(".pv-trace .pv-title:visible").evaluate(GROW, max(grown))
    for by in grown:
        page.locator(".pv-said").evaluate(GROW, by)
        page.wait_for_timeout(500)
        assert settled(page, [*PARTS, ".pv-more"]) == []
    # Where nothing is left for the button it goes, and comes back with the room.
    page.locator(".pv-said").evaluate(GROW, 400)
    page.locator(".pv-more").wait_for(state="hidden")
    for part in (".pv-said", ".pv-trace .pv-title:visible"):
        page.locator(part).evaluate(GROW, 0)
    if len(grown) > 1:
        page.locator(".pv-more").wait_for(state="visible")
    if address.startswith("playground"):
        a_class_is_left_at_the_same_corner_and_beside_the_question(page, "playground")


def test_class_mode_begins_with_the_question_in_sight(server, open_page):
    page = open_page(f"{server}/deconvolution", viewport={"width": 1024, "height": 768})
    page.locator("[data-testid=stMain]").evaluate("(main) => main.scrollTo(0, 300)")
    page.get_by_role("button", name="Class mode").click()
    page.locator(".dc-root.pv-large").wait_for()
    page.wait_for_function("() => document.querySelector('h4').getBoundingClientRect().top >= 0")
    page.wait_for_timeout(1500)
    assert page.locator("h4").first.bounding_box()["y"] >= 0


def test_in_a_small_window_the_side_bar_folds_and_a_click_beside_everything_draws_no_frame(server, open_page):
    page = open_page(link(server, "playground", ("gibbs",), model="square:16x16", chains="16"))
    wait_lanes(page, 1)
    the_side_bar_folds_in_a_narrow_window_and_can_be_opened(page)
    a_click_beside_everything_draws_no_frame_and_space_plays_on(page)
    what_waits_for_a_script_stays_readable(page)


def the_side_bar_folds_in_a_narrow_window_and_can_be_opened(page) -> None:
    page.locator(".stSidebar[data-collapsed=false]").wait_for()
    page.set_viewport_size({"width": 1024, "height": 768})
    page.locator(".stSidebar[data-collapsed=true]").wait_for(state="attached")
    assert settled(page) == []
    page.locator("[data-testid=stExpandSidebarButton]").click()
    page.locator(".stSidebar[data-collapsed=false]").wait_for()


def what_waits_for_a_script_stays_readable(page) -> None:
    # As Streamlit marks and dims whatever the script that runs has not drawn yet.
    page.add_style_tag(content=".stElementContainer { opacity: 0.33; }")
    # Of those that are still there: a script may be taking some away.
    every = """(all) => all.filter((each) => each.isConnected).map((each) => {
      each.dataset.stale = "true";
      return getComputedStyle(each).opacity;
    })"""
    assert set(page.locator(".stElementContainer").evaluate_all(every)) == {"1"}


def a_click_beside_everything_draws_no_frame_and_space_plays_on(page) -> None:
    page.set_viewport_size({"width": 1280, "height": 500})
    page.mouse.click(900, 15)
    before, after, _ = space(page)
    assert before != after
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate(
        "(m) => [m === document.activeElement, getComputedStyle(m, '::before').content, m.scrollTop]"
    ) == [
        True,
        "none",
        0,
    ]
    # With keys on a slider, too, which has no use for Space.
    page.locator("[data-knob]").first.focus()
    page.keyboard.press("ArrowRight")
    # The page may scroll by itself meanwhile, to its knob and with what comes above: the key itself is asked.
    before, after, taken = space(page)
    assert before != after and taken


def test_a_class_sees_one_trace_large_letters_and_no_side_bar(server, open_page):
    page = open_page(link(server, "playground", ("gibbs",), model="square:16x16", chains="16", **{"class": "1"}))
    wait_lanes(page, 1)
    page.locator(".pv-large").wait_for()
    assert not page.locator(".stSidebar").is_visible()
    traces_in_sight(page, 1)
    assert page.evaluate("() => parseFloat(getComputedStyle(document.documentElement).fontSize)") > 24
    # Where the tools are hidden it is said how one comes to draw.
    page.locator("[data-testid=live-canvas]").hover()
    page.locator(".pv-root > .pv-tip", has_text="To draw here, leave class mode.").wait_for()
    # Of more traces none lies half beneath the button, which stands on a band of ground once one scrolls.
    band = "() => getComputedStyle(document.querySelector('.stMainBlockContainer'), '::after').opacity"
    assert page.evaluate(band) == "0"
    page.locator(".pv-more").click()
    page.locator("[data-testid=stMain]").evaluate("(main) => main.scrollTo(0, 400)")
    page.wait_for_function(f"() => ({band})() === '1'")
    page.get_by_role("button", name="Leave class mode").click()
    page.locator(".stSidebar").wait_for(state="visible")


def test_a_notice_that_goes_leaves_the_stage_in_its_place(server, open_page):
    page = open_page(f"{server}/text?number=1000&skip=1&nonsense=3")
    page.locator("[data-testid=stAlert]", has_text="nonsense").wait_for()
    page.locator("[data-testid=text-page] .tx-word:visible").first.wait_for()
    root = page.locator(".tx-root").element_handle()
    page.locator("[data-knob=skip]").press("ArrowRight")
    page.locator("[data-testid=stAlert]").wait_for(state="detached")
    page.locator(".pv-verdict", has_text="1.01").wait_for()
    assert root.evaluate("(root) => root.isConnected")


def test_a_tool_in_hand_leaves_the_picture_as_large_as_it_is(server, open_page):
    page = open_page(link(server, "playground", ("gibbs",), model="square:16x16", chains="16"))
    wait_lanes(page, 1)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        wide = "document.querySelector('[data-testid=live-canvas]').width"
        before = steady(page, f"() => {wide}", 1.0)
        for tool in ("Field +", "Clamp 1", "Look"):
            page.get_by_role("radio", name=tool).click()
            page.locator(".pv-tools").wait_for(state="hidden" if tool == "Look" else "visible")
            page.wait_for_timeout(1000)
            assert page.evaluate(wide) == before
    # So does a layer, whose scale takes the place of the other chains; what stands beneath it does not move.
    bar = "() => document.querySelector('.pv-bar').getBoundingClientRect().top"
    there = steady(page, bar, 1.0)
    page.get_by_role("radio", name="local field").click()
    page.locator(".pv-scale:not(:empty)").wait_for()
    assert steady(page, bar, 1.0) == pytest.approx(there, abs=3) and page.evaluate(wide) == before


def test_a_class_sees_all_of_a_painted_preset_and_paints_beneath_it(server, open_page):
    page = open_page(f"{server}/deconvolution?preset=painted&class=1")
    page.set_viewport_size({"width": 1024, "height": 768})
    page.get_by_text("Press Play, or Space").first.wait_for(timeout=60_000)
    assert settled(page, [*PARTS, ".pv-more"]) == []
    painter, stage = page.get_by_text("Glyphs to be stamped"), page.locator(".pv-root")
    until(page, lambda: painter.bounding_box()["y"] > (box := stage.bounding_box())["y"] + box["height"] - 1)
