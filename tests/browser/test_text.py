"""The Text page in a real Chromium: the marginals come to the exact ones, a word is held, and links are drawn."""

from __future__ import annotations

from tests.browser.stage import at_rest, box_of, link, press, steady
from tests.browser.test_layout import PARTS, list_is_clear_of, settled, traces_in_sight

PAGES = "[data-testid=text-page]"
# How far the colours of the first lane are from the exact ones at most, of 255 levels; nothing before there are two.
APART = """() => {
  const [one, exact] = [...document.querySelectorAll("[data-testid=text-page]")].map((page) => page.dataset.levels);
  if (!one || !exact) return null;
  const [a, b] = [one, exact].map((text) => text.split(",").map(Number));
  return Math.max(...a.map((level, k) => Math.abs(level - b[k])));
}"""


def test_marginals_come_to_the_exact_ones_and_a_word_is_held(server, open_page):
    page = open_page(link(server, "text", preset="room", speed="0"))
    page.wait_for_selector(f"{PAGES} .tx-true")
    page.wait_for_function(f"() => {{ const far = ({APART})(); return far !== null && far <= 12; }}")
    word = page.locator(f"{PAGES} .tx-word", has_text="Quillfeather").first
    # The links of the name that has most are seen before anything is pointed to.
    assert page.locator(f"{PAGES} .tx-links path:not(.tx-near)").count() > 0
    hint = page.locator(".tx-hint").inner_text()
    word.hover()
    page.wait_for_selector(f"{PAGES} .tx-links path.tx-near", state="attached")
    # The one that is pointed to stands out from those that it is linked with.
    assert page.locator(PAGES).first.locator(".tx-point").count() == 1
    assert page.locator(PAGES).first.locator(".tx-near").count() > 1
    # Links run behind the letters and before the colours, which would break them.
    assert word.evaluate("(word) => getComputedStyle(word).backgroundColor") == "rgba(0, 0, 0, 0)"
    assert word.evaluate("(word) => getComputedStyle(word, '::before').backgroundColor") != "rgba(0, 0, 0, 0)"
    assert word.evaluate("(word) => getComputedStyle(word, '::before').zIndex") == "-1"
    tip, box = page.locator(".tx-root > .pv-tip"), page.locator(PAGES).first.bounding_box()
    assert tip.inner_text().endswith("Click: hold it as a name.")
    # It lies over no other lane's words.
    assert tip.bounding_box()["x"] + tip.bounding_box()["width"] <= box["x"] + box["width"] + 1
    assert page.locator(".tx-hint").inner_text() == hint
    baker = page.locator(f"{PAGES} .tx-word", has_text="Baker").first
    before = int(page.locator(PAGES).last.get_attribute("data-names"))
    baker.click()
    page.wait_for_selector(f"{PAGES} .tx-held")
    # Held as a name, it is reversed; its colour takes a moment to change.
    page.wait_for_function(
        """() => {
          const held = document.querySelector("[data-testid=text-page] .tx-held");
          return getComputedStyle(held, "::before").backgroundColor === getComputedStyle(document.body).color;
        }"""
    )
    page.mouse.move(0, 0)
    page.wait_for_function("() => document.querySelector('.tx-hint').innerText.includes('held as a name')")
    page.wait_for_function(
        "(before) => Number([...document.querySelectorAll('[data-testid=text-page]')].pop().dataset.names) > before",
        arg=before,
    )
    page.wait_for_url("**said=*")
    page.get_by_role("button", name="All links").click()
    page.wait_for_function("document.querySelectorAll('.tx-links path').length > 3")
    press(page, "Space")
    page.wait_for_function("document.querySelector('.pv-root').dataset.server === 'paused'")


# How far the first box is scrolled, whether its first word is seen, whether the box is within the window, whether a
# caption is cut, and whether all of the text is read.
SEEN = """() => {
  const box = document.querySelector("[data-testid=text-page]");
  const { top, bottom } = box.getBoundingClientRect();
  const first = box.querySelector(".tx-word").getBoundingClientRect();
  const cut = [...document.querySelectorAll(".tx-status")].some((each) => each.scrollWidth > each.clientWidth);
  // All of the text, in type that a class can read.
  const whole = box.scrollHeight <= box.clientHeight && parseFloat(getComputedStyle(box).fontSize) >= 20;
  return [box.scrollTop, first.top >= top, bottom <= window.innerHeight, cut, whole];
}"""


def test_a_class_sees_the_text_from_its_beginning_with_whole_captions(server, open_page):
    page = open_page(
        link(server, "text", preset="names", skip="1", **{"class": "1"}), viewport={"width": 1024, "height": 768}
    )
    page.wait_for_selector(f"{PAGES} .tx-true")
    list_is_clear_of(page, ".tx-head, .pv-title")
    # Which names are true is left to be guessed until something was read; nothing is framed yet.
    name, hint = page.locator(f"{PAGES} .tx-true").first, page.locator(".tx-hint")
    line = "(name) => getComputedStyle(name).textDecorationLine"
    assert name.evaluate(line) == "none"
    assert hint.inner_text() == "Amber: p(name). Click: hold as a name, as none, let go."
    assert page.locator(".pv-badge:visible").count() == 0
    place = at_rest(page.locator(".pv-bar"), 1.5)
    press(page, "Space")
    page.wait_for_function("() => /from exact/.test(document.querySelector('.tx-status')?.textContent)")
    page.wait_for_function(f"() => `${{({SEEN})()}}` === '0,true,true,false,true'")
    assert name.evaluate(line) == "underline" and box_of(page.locator(".pv-bar")) == place
    # Where that is too high, what is far from all names gives way.
    page.set_viewport_size({"width": 1024, "height": 560})
    page.locator(".tx-cut", has_text="…").first.wait_for()
    assert page.locator(f"{PAGES} .tx-word:not(.tx-true)").locator("visible=false").count() > 0
    assert page.locator(f"{PAGES} >> nth=0").locator(".tx-true").locator("visible=false").count() == 0
    hint = page.locator(".tx-hint").inner_text()
    # What is far off is named while anything is.
    assert hint.replace(" Violet: far off.", "") == "Amber: p(name), a name above ½. Underlined: true."
    # What a click does is told before a class, too; what is linked has no frame as what is far off has.
    name = page.locator(f"{PAGES} .tx-true").first
    at_rest(name)
    name.hover()
    page.locator(".tx-root > .pv-tip", has_text="Click: hold it as a name.").wait_for()
    linked = page.locator(f"{PAGES} .tx-word.tx-near:not(.tx-point)").first
    assert linked.evaluate("(word) => getComputedStyle(word).outlineStyle") == "dotted"


def test_curves_stand_beside_the_text_and_all_is_within_a_small_window(server, open_page):
    page = open_page(link(server, "text", preset="continuous"), viewport={"width": 1280, "height": 800})
    page.wait_for_function("() => /from exact/.test(document.querySelector('.tx-status')?.textContent)")
    for width, height in ((1280, 800), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        assert settled(page, PARTS) == []
    traces_in_sight(page, 2)
    # A text that is seen in part says so, and the keys reach the rest of it.
    first, mark = page.locator(PAGES).first, page.locator(".tx-below").first
    mark.wait_for()
    assert mark.inner_text() == "▾ more"
    first.focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_function("() => document.querySelector('.tx-page').scrollTop > 0")


def test_all_names_are_seen_and_the_rest_when_it_is_asked_for(server, open_page):
    page = open_page(link(server, "text", preset="names", skip="1"), viewport={"width": 1280, "height": 700})
    page.wait_for_function("() => /from exact/.test(document.querySelector('.tx-status')?.textContent)")
    first = page.locator(PAGES).first
    hidden = first.locator(".tx-word").locator("visible=false")
    assert hidden.count() > 0 and page.locator(f"{PAGES} .tx-true").locator("visible=false").count() == 0
    assert first.evaluate("(box) => box.scrollHeight <= box.clientHeight")
    first.locator(".tx-cut", has_text="…").first.click()
    page.wait_for_function("() => !document.querySelector('[data-testid=text-page] .tx-word').parentElement.hidden")
    assert hidden.count() == 0


# Pictures, of as many different counts as these, in which the count beneath one sample is not that of its colours.
MISCOUNTED = """async (counts) => {
  const seen = new Map();
  const lane = document.querySelector(".tx-lane");
  const marked = (word) => !/, 0(\\.[0-4]\\d*)?\\)$/.test(getComputedStyle(word, "::before").backgroundColor);
  while (seen.size < counts) {
    await new Promise(requestAnimationFrame);
    const told = lane.querySelector(".tx-status").textContent.match(/sweeps · this sample: (\\d+) of/);
    const words = [...lane.querySelectorAll(".tx-word")];
    const right = words.filter((word) => marked(word) === word.classList.contains("tx-true")).length;
    if (told) seen.set(told.input, (seen.get(told.input) || 0) + (right !== Number(told[1])));
  }
  return Math.max(...seen.values());
}"""


def what_is_counted_of_a_sample_is_what_is_marked(page) -> None:
    page.locator(".tx-head button", has_text="One sample").click()
    assert page.evaluate(MISCOUNTED, 8) == 0
    page.locator(".tx-head button", has_text="Marginals").click()


def test_a_text_is_greyed_and_of_the_setting_before_at_once_where_something_was_changed_and_never_else(
    server, open_page
):
    page = open_page(link(server, "text", preset="room"))
    page.wait_for_function("() => /from exact/.test(document.querySelector('.tx-status')?.textContent)")
    page.evaluate(
        """() => {
          const [root] = document.querySelectorAll(".tx-root");
          window.greyed = root.classList.contains("tx-waits");
          const look = () => { window.greyed = window.greyed || root.classList.contains("tx-waits"); };
          new MutationObserver(look).observe(root, { attributes: true });
        }"""
    )
    sweeps = "() => parseInt(document.querySelector('.tx-status').textContent)"
    before = page.evaluate(sweeps)
    page.wait_for_function(f"(before) => ({sweeps})() >= before + 4", arg=before)
    assert page.evaluate("() => window.greyed") is False
    what_is_counted_of_a_sample_is_what_is_marked(page)
    # No answer of the server comes in between.
    page.evaluate("WebSocket.prototype.send = () => {}")
    page.evaluate(
        """() => {
          const range = document.querySelector("[data-knob=skip]");
          range.value = Number(range.max);
          range.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
    )
    assert page.locator(".pv-verdict").inner_text().startswith("Being read again under the new setting")
    assert set(page.locator(".tx-status").all_inner_texts()) == {"of the setting before"}


def test_a_knob_stays_under_the_hand_that_turns_it(server, open_page):
    page = open_page(f"{server}/text?skip=1", viewport={"width": 1280, "height": 800})
    page.wait_for_function("() => /finds all/.test(document.querySelector('.pv-verdict')?.textContent)")
    top = "() => Math.round(document.querySelector('[data-knob=skip]').getBoundingClientRect().top)"
    before = steady(page, top)
    page.evaluate(
        f"""() => {{
          window.tops = [];
          const look = () => {{ window.tops.push(({top})()); requestAnimationFrame(look); }};
          look();
        }}"""
    )
    page.locator("[data-knob=skip]").press("Home")
    page.wait_for_function("() => /misses \\d/.test(document.querySelector('.pv-verdict').textContent)")
    assert max(abs(each - before) for each in page.evaluate("window.tops")) <= 2
