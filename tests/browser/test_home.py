"""Home's five spins in a real Chromium: noise is dragged, draws fall, and meet the exact law or miss it."""

from __future__ import annotations

import math

import pytest

from pmpviz.capabilities.home.hand import expected_distance
from pmpviz.capabilities.home.spins import TIGHT
from tests.browser.stage import SMALL, at_rest, lanes, link, pause, press, rest, wait_lanes, wait_server

RACED = ("colour_gibbs", "swendsen_wang")
ROOT = "document.querySelector('.fs-root').dataset"


def spins(page) -> dict[str, str]:
    """What the five spins show."""
    return page.evaluate(f"() => ({{ ...{ROOT} }})")


def wait_spins(page, condition: str) -> dict[str, str]:
    """Wait until `d`, what they show, meets the condition and is at rest."""
    page.wait_for_function(f"() => {{ const d = {ROOT}; return d.settled === 'true' && ({condition}); }}", polling=50)
    return spins(page)


@pytest.fixture
def home(server, open_page):
    """Home once its first draw has fallen, its race, of small lattices, at rest."""
    page = open_page(link(server, "", RACED, **SMALL))
    page.wait_for_selector(".fs-root[data-total]")
    wait_spins(page, "d.total === '1'")
    wait_lanes(page, 2)
    page.locator(".pv-bar").scroll_into_view_if_needed()  # It begins once it is seen.
    wait_server(page, "playing")
    pause(page)
    return page


def bar(page, spin: int):
    """The middle of a spin's noise bar and its height."""
    found = page.locator(f".fs-bar[data-spin='{spin}']")
    found.scroll_into_view_if_needed()
    box = at_rest(found, 0.2)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, box["height"]


def drag(page, spin: int, share: float) -> None:
    """Drag a spin's noise to a share of the bar's half, 1 at its top; hold it there."""
    x, y, high = bar(page, spin)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - share * high / 2, steps=12)


# The distance of 1,001 draws from their own law exceeds this once in a million times at most. Its mean is at most half
# of the sum over the states of sqrt(p (1 - p) / n), which is largest, sqrt(31 / n) / 2, where all are as likely; one
# draw moves it by 1/n at most, so that McDiarmid's inequality adds sqrt(log(10^6) / (2 n)).
CHANCE = math.sqrt(31 / 1001) / 2 + math.sqrt(math.log(1e6) / (2 * 1001))
# Their law is within this of the exact one on the loose model: tests/unit/test_home_spins.py.
BIAS = 0.05


def test_a_noise_is_dragged_or_moved_by_keys_of_which_none_is_lost_and_space_still_belongs_to_the_race(home):
    a_dragged_noise_changes_the_configuration_and_falls_into_the_histogram(home)
    the_arrow_keys_move_a_noise_and_space_still_belongs_to_the_race(home)
    no_press_of_a_key_is_lost_to_an_answer_that_comes_between(home)


def a_dragged_noise_changes_the_configuration_and_falls_into_the_histogram(home) -> None:
    before = spins(home)
    # Against the spin's own field, 2 h, and all messages to it, 2 |J| each: 6 is more than all of them.
    up = before["state"] and (int(before["state"]) >> 2) & 1
    drag(home, 2, -1.0 if up else 1.0)
    home.wait_for_function(f"{ROOT}.state !== '{before['state']}'", polling=50)
    assert spins(home)["total"] == "1"
    home.mouse.up()
    after = wait_spins(home, "d.total === '2'")
    assert ((int(after["state"]) >> 2) & 1) != up
    assert after["distance"] == before["distance"]
    home.get_by_text("(rings: 1)").wait_for()


def the_arrow_keys_move_a_noise_and_space_still_belongs_to_the_race(home) -> None:
    slider = home.locator(".fs-bar[data-spin='0']")
    slider.focus()
    value = float(slider.get_attribute("aria-valuenow"))
    for _ in range(4):
        home.keyboard.press("ArrowUp")
    wait_spins(home, "d.total === '3'")
    # The first press comes to the next quarter, at most an eighth off.
    assert float(slider.get_attribute("aria-valuenow")) - value == pytest.approx(1.0, abs=0.13)
    for state in ("playing", "paused"):
        press(home, "Space")
        wait_server(home, state)
    assert len(lanes(home)) == 2


def no_press_of_a_key_is_lost_to_an_answer_that_comes_between(home) -> None:
    slider = home.locator(".fs-bar[data-spin='1']")
    slider.focus()
    for _ in range(12):
        home.keyboard.press("PageDown")
    lowest = float(slider.get_attribute("aria-valuemin"))
    assert float(slider.get_attribute("aria-valuenow")) == lowest
    for _ in range(24):
        home.keyboard.press("ArrowUp")
        home.wait_for_timeout(40)
    wait_spins(home, "d.total === '4'")
    assert float(slider.get_attribute("aria-valuenow")) == lowest + 24 * 0.25


def test_a_thousand_more_meet_the_loose_law_and_miss_the_tight_one_and_are_there_after_another_page(home):
    home.get_by_role("button", name="Draw noise").click()
    wait_spins(home, "d.total === '2'")
    home.get_by_role("button", name="Start over").click()
    wait_spins(home, "d.total === '1'")
    home.get_by_role("button", name="1\u202f000 more").click()
    loose = wait_spins(home, "d.total === '1001'")
    home.get_by_text("Each spin mostly goes its own way").wait_for()
    assert float(loose["distance"]) < CHANCE + BIAS
    home.locator("[data-model=tight]").click()
    # Nothing is said of the draws that were emptied, and the chosen button's name can be read under the pointer.
    said = "getComputedStyle(document.querySelector('.fs-said')).visibility"
    home.wait_for_function(f"() => {ROOT}.model === 'tight' && {said} === 'hidden'", polling=20)
    # That a button which has come under the pointer is pointed at is known with the browser's next look.
    home.wait_for_function(
        """() => {
          const chosen = document.querySelector("[data-model=tight][aria-checked=true]");
          const [own, other] = [chosen, document.querySelector("[data-model=loose]")].map((e) => getComputedStyle(e));
          const swapped = own.color === other.backgroundColor && own.backgroundColor === other.color;
          return chosen.matches(":hover") && swapped;
        }"""
    )
    wait_spins(home, "d.model === 'tight' && d.total === '1'")
    assert home.evaluate(said) == "visible"
    home.get_by_role("button", name="1\u202f000 more").click()
    tight = wait_spins(home, "d.total === '1001'")
    home.get_by_text("moved by all five at once").wait_for()
    # No more than once in a million times would as many exact draws be so far away.
    chance = expected_distance(TIGHT.law, 1001) + math.sqrt(math.log(1e6) / (2 * 1001))
    assert float(tight["distance"]) > chance
    home.get_by_role("link", name="Messages", exact=True).first.click()
    home.wait_for_selector("[data-testid=messages-canvas][data-sweep]")
    rest(home)
    home.get_by_role("link", name="Home").click()
    home.wait_for_selector(".fs-root[data-total]")
    assert wait_spins(home, "d.total === '1001'")["model"] == "tight"


def test_in_reduced_motion_draws_are_shown_at_rest_and_a_class_sees_all_that_is_said_of_them(server, open_page):
    size = {"width": 1024, "height": 768}
    page = open_page(link(server, "", RACED, **SMALL, **{"class": "1"}), viewport=size, reduced_motion="reduce")
    page.wait_for_selector(".fs-root[data-total='1']")
    page.get_by_role("button", name="Draw noise").click()
    wait_spins(page, "d.total === '2'")
    page.locator("[data-model=tight]").click()
    wait_spins(page, "d.model === 'tight'")
    page.get_by_role("button", name="1\u202f000 more").click()
    wait_spins(page, "d.total === '1001'")
    page.get_by_text("moved by all five at once").wait_for()
    for part in (".fs-said", ".fs-brief", ".fs-tip"):
        box = at_rest(page.locator(part), 0.2)
        assert box["y"] + box["height"] <= 768, part
    assert "filled is up" in page.locator(".fs-tip").inner_text()
