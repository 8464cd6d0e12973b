"""The Text page in a real Chromium: the marginals come to the exact ones, a word is held, and links are drawn."""

from __future__ import annotations

from tests.browser.stage import link, press

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
    page.wait_for_selector(f"{PAGES} .tx-word")
    page.wait_for_function(f"() => {{ const far = ({APART})(); return far !== null && far <= 12; }}")
    word = page.locator(f"{PAGES} .tx-word", has_text="Quillfeather").first
    word.hover()
    page.wait_for_selector(f"{PAGES} .tx-links path.tx-near", state="attached")
    baker = page.locator(f"{PAGES} .tx-word", has_text="Baker").first
    before = int(page.locator(PAGES).last.get_attribute("data-names"))
    baker.click()
    page.wait_for_selector(f"{PAGES} .tx-held")
    page.wait_for_function(
        "(before) => Number([...document.querySelectorAll('[data-testid=text-page]')].pop().dataset.names) > before",
        arg=before,
    )
    page.wait_for_url("**said=*")
    page.get_by_role("button", name="All links").click()
    page.wait_for_function("document.querySelectorAll('.tx-links path').length > 3")
    press(page, "Space")
    page.wait_for_function("document.querySelector('.pv-root').dataset.server === 'paused'")


# How many true names of a column are within its box, and whether the box is within the window.
SEEN = """() => {
  const box = document.querySelector("[data-testid=text-page]");
  const { top, bottom } = box.getBoundingClientRect();
  const rows = [...box.querySelectorAll(".tx-true")].map((word) => word.getBoundingClientRect());
  return [rows.filter((row) => row.top >= top && row.bottom <= bottom).length, bottom <= window.innerHeight];
}"""


def test_a_class_sees_the_repeated_names_without_scrolling(server, open_page):
    page = open_page(link(server, "text", preset="names", **{"class": "1"}), viewport={"width": 1280, "height": 800})
    page.wait_for_selector(f"{PAGES} .tx-true")
    page.wait_for_function(f"() => {{ const [names, whole] = ({SEEN})(); return names >= 6 && whole; }}")
    assert page.locator(PAGES).first.get_attribute("class") == "tx-page tx-more"
    assert "Underlined: the true name" in page.locator(".tx-hint").inner_text()
