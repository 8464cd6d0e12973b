"""What a test reads off the stage, and what it does on it."""

from __future__ import annotations

import contextlib
import time
from urllib.parse import urlencode

from playwright.sync_api import TimeoutError

READ = "() => [...document.querySelectorAll('[data-testid=live-canvas]')].map((c) => ({ ...c.dataset }))"
WHEN = "document.querySelector('.pv-when')?.textContent"
# Every frame that reaches a canvas from now on, as [lane, epoch, sweep, hash].
WATCH = """() => {
  window.painted = [];
  const see = () => {
    for (const c of document.querySelectorAll('[data-testid=live-canvas]')) {
      const { lane, epoch, sweep, frameHash } = c.dataset;
      if (frameHash) window.painted.push([Number(lane), Number(epoch), Number(sweep), frameHash]);
    }
    requestAnimationFrame(see);
  };
  see();
}"""
POLL_MS = 50
# What a function gives once it has given the same for so many looks in a row, each of them a moment after the last: by
# looks, not by time, in which a busy page may have done nothing.
STEADY = """async (of, [what, looks]) => {
  const look = () => JSON.stringify(what(of));
  let [found, same] = [look(), 0];
  for (const until = performance.now() + 60000; same < looks; ) {
    if (performance.now() > until) throw new Error(`it does not come to rest: ${found}`);
    await new Promise((done) => setTimeout(done, 50));
    const now = look();
    same = now === found ? same + 1 : 0;
    found = now;
  }
  return JSON.parse(found);
}"""
BOX = "(e) => { const { x, y, width, height } = e.getBoundingClientRect(); return { x, y, width, height }; }"
# Whether it plays before and after each press of Space, and whether the page took the key: seen within the event, since
# what the server answers may come between two questions of a test.
SPACE = """() => {
  if (window.spaces) return (window.spaces = []);
  window.spaces = [];
  const plays = () => document.querySelector(".pv-root").dataset.playing;
  let before;
  addEventListener("keydown", () => (before = plays()), true);
  document.addEventListener("keydown", (event) => {
    if (event.key === " ") window.spaces.push([before, plays(), event.defaultPrevented]);
  }, true);
}"""
SMALL = {"model": "square:16x16", "chains": "32", "budget": "0"}


def link(server: str, page: str, lanes: tuple[str, ...] = (), **settings) -> str:
    """The address of a page with these settings."""
    query = {**settings, **{f"lane{i + 1}": lane for i, lane in enumerate(lanes)}}
    return f"{server}/{page}?{urlencode(query, safe=':;=,')}"


def lanes(page) -> list[dict[str, str]]:
    """The data- attributes of each lane's canvas."""
    return page.evaluate(READ)


def steady(page, what: str, seconds: float = 0.5):
    """What a function of the page gives, once it has given the same for so long."""
    return page.evaluate(f"(looks) => ({STEADY})(null, [{what}, looks])", 20 * seconds)


def at_rest(locator, seconds: float = 0.5) -> dict[str, float]:
    """The box of an element, once it has been the same for so long."""
    return locator.evaluate(f"(each, looks) => ({STEADY})(each, [{BOX}, looks])", 20 * seconds)


def box_of(locator) -> dict[str, float]:
    """The box of an element as it is now."""
    return locator.evaluate(BOX)


def until(page, condition, seconds: float = 60) -> None:
    """Wait until the condition holds, which asks the page."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        page.wait_for_timeout(POLL_MS)


def space(page) -> tuple[bool, bool, bool]:
    """Press Space where the focus is: whether it played before and after it, and whether the page took the key."""
    page.evaluate(SPACE)
    page.keyboard.press("Space")
    ((before, after, taken),) = page.evaluate("window.spaces")
    return before == "true", after == "true", taken


def wait_lanes(page, count: int, condition: str = "true", seconds: float = 120) -> float:
    """Wait until `count` lanes are painted and each `d` (its data- attributes) meets the condition; seconds taken."""
    begin = time.perf_counter()
    met = f"all.length === {count} && all.every((d) => d.frameHash && ({condition}))"
    try:
        page.wait_for_function(
            f"() => {{ const all = ({READ})(); return {met} }}", timeout=1000 * seconds, polling=POLL_MS
        )
    except TimeoutError:
        words = page.locator(".pv-trouble, .pv-status, [data-testid=stAlert]").all_inner_texts()
        raise AssertionError(f"not within {seconds} s: {met}; but {lanes(page)}, which says {words}") from None
    return time.perf_counter() - begin


def press(page, key: str) -> None:
    """A key with the focus on nothing."""
    page.evaluate("document.activeElement?.blur()")
    page.keyboard.press(key)


def play(page) -> None:
    """Play and wait until the server agrees."""
    if page.locator(".pv-root").get_attribute("data-playing") != "true":
        press(page, "Space")
    wait_server(page, "playing")


def pause(page) -> list[dict[str, str]]:
    """Pause, wait until the server agrees; the lanes that are frozen."""
    for wait in (500, 0):
        if page.locator(".pv-root").get_attribute("data-playing") == "true":
            press(page, "Space")
            # In the moment in which a run begins by itself a press means play.
            if page.locator(".pv-root").get_attribute("data-playing") == "true":
                page.wait_for_timeout(wait)
    wait_server(page, "paused")
    # What a slow server was asked for long ago has no hand on it any more: the last pictures come as those that play.
    page.wait_for_function(f"() => !/ computed$/.test({WHEN})", polling=POLL_MS)
    steady(page, f"() => ({READ})().map(({{ sweep, frameHash }}) => [sweep, frameHash])", 0.4)
    return lanes(page)


def wait_server(page, state: str) -> None:
    """Wait until the server says that it is `playing` or `paused`, and the page's script rests."""
    page.wait_for_function(f"document.querySelector('.pv-root')?.dataset.server === '{state}'", polling=POLL_MS)
    if state == "paused":
        rest(page)


def rest(page) -> None:
    """Wait until no script runs."""
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")


def choose(page, choice, name: str) -> None:
    """Open a list and take an option, again where a run of the page has closed the list meanwhile."""
    pick(page, choice, page.get_by_role("option", name=name, exact=True))


def pick(page, choice, option, look=lambda: None) -> None:
    """The same of an option that is given, with a look at the open list."""
    for last in (False, False, False, True):
        choice.click()
        try:
            option.wait_for(timeout=None if last else 5000)
            look()
            option.click(timeout=None if last else 5000)
        except TimeoutError:
            page.keyboard.press("Escape")
            continue
        return


def speed(page, sweeps: int) -> None:
    """Sweeps a second of every lane; 0 is as fast as it goes."""
    page.locator(".pv-select").select_option(str(sweeps))


def look_back(page, sweep: int) -> list[str]:
    """Move the slider under the pictures to a sweep; the hashes of the frames there."""
    page.locator(".pv-range").evaluate(
        "(range, sweep) => { range.value = sweep; range.dispatchEvent(new Event('input', { bubbles: true })); }", sweep
    )
    page.wait_for_function(f"() => ({READ})().every((d) => d.sweep == {sweep})", polling=POLL_MS)
    return [lane["frameHash"] for lane in lanes(page)]


def pass_frame(page, count: int, sweep: int) -> None:
    """Play until every lane is past a sweep."""
    speed(page, 240)
    play(page)
    wait_lanes(page, count, f"Number(d.sweep) > {sweep}")


def frames_at(page, count: int, sweep: int) -> list[str]:
    """Play until every lane is past a sweep, pause, and look back at it."""
    pass_frame(page, count, sweep)
    pause(page)
    return look_back(page, sweep)


def latest(page, title: str) -> list[float]:
    """The last value of each line of the chart of that title, as a screen reader says it."""
    label = page.locator(f"canvas.pv-chart[aria-label^='{title}: latest']").first.get_attribute("aria-label")
    return [number(text) for text in label.split("latest ")[1].split(", ")]


def wait_reference(page) -> None:
    """Wait until every lane is compared with the reference, which is made at a low priority, beside other tests too."""
    page.wait_for_function(
        "/^MMD²[^:]*: latest [^n]*\\d[^n]*$/.test(document.querySelector(\"canvas[aria-label^='MMD']\")?.ariaLabel)",
        timeout=180_000,
    )


def number(text: str) -> float:
    """A number as the page writes it."""
    plain = text.replace("\u2212", "-").replace("\u202f", "").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))
    return float(plain.replace("·10", "e")) if plain != "n/a" else float("nan")


def site_at(page, lane: int, row: int, column: int, side: int) -> tuple[float, float]:
    """The middle of a lattice's site on the screen."""
    canvas = page.locator(f"[data-testid=live-canvas][data-lane='{lane}']")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    return box["x"] + (column + 0.5) * box["width"] / side, box["y"] + (row + 0.5) * box["height"] / side


def close_dialog(page) -> None:
    """Close the open dialog by its key; Streamlit takes no key in the moment in which a download begins."""
    for _ in range(20):
        page.keyboard.press("Escape")
        with contextlib.suppress(TimeoutError):
            page.wait_for_selector("[role=dialog]", state="detached", timeout=500)
            return
    raise AssertionError("the dialog does not close")
