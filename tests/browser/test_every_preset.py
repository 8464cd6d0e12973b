"""Whichever preset is opened: no word is cut off, and what answers its question is in sight without scrolling."""

import contextlib

import pytest
from playwright.sync_api import TimeoutError

from pmpviz.capabilities import shown_on_home
from tests.browser.stage import link, press
from tests.browser.test_layout import FAULTS, PARTS, WALK

PRESETS = {page: [preset.id for preset in presets] for _, page, presets in shown_on_home()}
WIDE, CLASS = (1440, 900), (1280, 800)
SIZES = ((1280, 800), (1024, 768))
# Of many sites their picture comes before the walk; of a scene its pictures, or bars, come before the map.
WALKED = ".wk-picture:not(.pv-stage ~ *), .pv-main > .pv-stage"
ASKED = ".at-scene .at-panels, .at-asked .at-rows, .at-root:not(.at-scene, .at-asked) :is(.at-map, .at-panels)"
# What must be in sight where it is shown at all, of the pages that have other parts than most.
OWN_PARTS = {
    "frank_wolfe": [WALKED, *(each for each in WALK if each != ".wk-picture"), ".pv-knobs", ".pv-said"],
    "landscape": [".ls-strip", *PARTS],
    "messages": [".mm-stage", ".pv-timeline", ".pv-bar", ".mm-side", ".mm-verdict"],
    "perturbation_lab": [ASKED, ".at-rows", ".at-bars", ".pv-bar", ".at-verdict"],
    "segmentation": [".sg-given", *PARTS],
}
# What must be shown: how many of each at least.
LEAST = {".pv-stage": 1, ".pv-bar": 1, ".pv-verdict": 1, ".pv-trace": 2}
OWN_LEAST = {
    "frank_wolfe": {WALKED: 1, ".pv-bar": 1, ".pv-verdict": 1, ".pv-trace": 2},
    "landscape": LEAST | {".pv-trace": 1},  # Its strips are curves, too.
    "messages": {".mm-stage": 1, ".pv-bar": 1, ".mm-verdict": 1, ".mm-side": 1},
    "perturbation_lab": {ASKED: 1, ".at-verdict": 1},
}
# Where the exact answer is out of reach no curve can tell how far one is from it.
TRACELESS = {("text", "digest")}
# Whatever of the parts is in sight in smaller numbers than it should be.
MISSING = """(least) => Object.entries(least).map(([part, count]) => {
  const seen = [...document.querySelectorAll(part)].filter((each) => {
    const { top, bottom, width } = each.getBoundingClientRect();
    return width && top >= 0 && bottom <= window.innerHeight + 1;
  });
  return seen.length < count ? `${part}: ${seen.length} of ${count} in sight` : "";
}).filter(Boolean)"""
WRONG = f"([parts, least]) => [...({FAULTS})(parts), ...({MISSING})(least)]"
PLAYS = "document.querySelector('.pv-play')?.textContent.startsWith('Pause')"
WAITS = "document.querySelector('.pv-verdict, .at-verdict, .mm-status')?.textContent.includes('Press Play')"


def wrong(page, size: tuple[int, int], parts=(), least=None) -> list[str]:
    """What is wrong in a window of that size still, once the page has had time to be laid out anew."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.wait_for_timeout(400)
    arg = [list(parts), least or {}]
    try:
        page.wait_for_function(f"(arg) => !({WRONG})(arg).length", arg=arg, timeout=10_000)
    except TimeoutError:
        return page.evaluate(WRONG, arg)
    return []


def run(page) -> None:
    """Let it play, if there is anything to be played, until there is something to tell."""
    page.locator(".pv-play").first.wait_for(state="attached")
    with contextlib.suppress(TimeoutError):
        page.wait_for_function(f"() => {PLAYS} || {WAITS}", timeout=2000)
    if not page.evaluate(f"() => {PLAYS}"):
        press(page, "Space")
    page.wait_for_function(f"() => !{WAITS}")
    page.wait_for_timeout(1000)


def faults(page, name: str, preset: str) -> list[str]:
    """What is wrong with a preset that is opened before a class, and once class mode is left, at each size."""
    page.set_default_timeout(30_000)
    leave = page.get_by_role("button", name="Leave class mode")
    leave.wait_for()
    run(page)
    found = {"in class mode": wrong(page, CLASS)}
    leave.click()
    page.locator(".stSidebar").wait_for(state="visible")
    least = {"h4": 1} | OWN_LEAST.get(name, LEAST) | ({".pv-trace": 0} if (name, preset) in TRACELESS else {})
    found |= {str(WIDE): wrong(page, WIDE, OWN_PARTS.get(name, PARTS), least)}
    found |= {str(size): wrong(page, size) for size in SIZES}
    return [f"{size}: {each}" for size, them in found.items() for each in them]


@pytest.mark.thorough
@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_whole_and_shows_what_answers_its_question(server, open_page, name):
    found = []
    for preset in PRESETS[name]:
        address = link(server, name, preset=preset, **{"class": "1"})
        page = open_page(address, viewport={"width": CLASS[0], "height": CLASS[1]})
        found += [f"{preset} {each}" for each in faults(page, name, preset)]
        # A side bar that was folded in a low window is none that the next page begins with.
        page.evaluate("localStorage.clear(); sessionStorage.clear()")
        page.close()
    assert not found, "\n".join(found)
