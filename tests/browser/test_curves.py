"""The charts under a person's hands: values, a box, everything again; kept curves; words that do not overlap."""

from pmpviz.capabilities.sampling.edits import pack
from tests.browser import stage

LANES = ("pmp;damping=0.1", "pmp;damping=0.5", "pmp;damping=0.9")


CLAMPED = pack([(0, 1)])


CARRIED = "damping=0.3", "J=0.2", CLAMPED
SMALL = {"model": "square:4x4,J=0.2", "chains": "16", "budget": "2000"}


CHART = "canvas.pv-chart[aria-label^='Energy']"


# Pixels of a chart in another colour than a grey.
COLOURED = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    const rgb = data.slice(i, i + 3);
    count += Math.max(...rgb) > 60 + Math.min(...rgb);
  }
  return count;
}"""


def ran(page, count, budget):
    """Play to the end of the budget."""
    stage.wait_lanes(page, count)
    stage.speed(page, 0)
    stage.press(page, "Space")
    stage.wait_lanes(page, count, f"d.sweep === '{budget}'", seconds=180)
    stage.wait_server(page, "paused")


def test_a_chart_gives_values_and_zooms_and_a_kept_curve_stays_through_a_reset(open_page, server):
    page = open_page(stage.link(server, "playground", ("gibbs",), **SMALL))
    ran(page, 1, 2000)
    # What the ? beside a title says is told where it is clicked or touched, until the next click.
    sign = page.locator(".pv-title[title]:not([title=''])").first
    sign.locator("span").first.click()
    told = page.locator(".pv-told")
    assert told.bounding_box()["width"] > 200
    # In one look, since the page itself writes the title where what it tells of has changed.
    assert sign.evaluate("(e) => document.querySelector('.pv-told').textContent === e.title")
    said = sign.evaluate("""async (e) => {
        e.title += ' And more.';
        await null;
        return document.querySelector('.pv-told').textContent;
    }""")
    assert said.endswith(" And more.")
    page.locator(".pv-verdict").click()
    assert told.count() == 0
    chart = page.locator(CHART).first
    chart.scroll_into_view_if_needed()
    box = stage.at_rest(chart)
    page.mouse.move(box["x"] + 150, box["y"] + 60)
    tip = page.locator(".pv-trace", has=chart).locator(".pv-tip")
    tip.wait_for(state="visible")
    assert "sweeps" in tip.inner_text() and " to " in tip.inner_text()

    def pointed(*places):
        """The sweeps at these places of the chart, as said when they are pointed at."""
        found = []
        for place in places:
            page.mouse.move(box["x"] + place, box["y"] + 60)
            found.append(stage.number(tip.inner_text().split("\n")[0].removeprefix("sweeps ")))
        return found

    def until(met):
        for _ in range(100):
            if met(pointed(*range(55, 65))):
                return
            page.wait_for_timeout(100)
        raise AssertionError(pointed(*range(55, 65)))

    # A box without a point of the curve spans sweeps alone: nothing of it is off the chart, and the way back is said.
    back, ink = page.get_by_text("double click: everything").first, chart.evaluate(COLOURED)
    assert not back.is_visible()
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 9, steps=4)
    page.mouse.up()
    back.wait_for(state="visible")
    assert chart.evaluate(COLOURED) > ink / 4
    page.mouse.dblclick(box["x"] + 55, box["y"] + 60)
    back.wait_for(state="hidden")
    until(lambda sweeps: sweeps[0] < 100)
    [whole] = pointed(150)
    page.mouse.down()
    page.mouse.move(box["x"] + 190, box["y"] + 62, steps=4)
    page.mouse.up()
    # A pixel is a sweep now, and the server has sent finer bins, where a few were under ten pixels.
    until(lambda sweeps: whole <= sweeps[0] < sweeps[-1] < whole + 100 and len(set(sweeps)) > 6)
    page.mouse.dblclick(box["x"] + 55, box["y"] + 60)
    # The bins of the box are all there is until the server has sent the others.
    until(lambda sweeps: sweeps[0] < 100 < whole)
    a_kept_curve_stays_through_a_reset_and_can_be_taken_away(page)


def a_kept_curve_stays_through_a_reset_and_can_be_taken_away(page) -> None:
    page.locator("[data-action=keep]").click()
    kept = page.locator(".pv-line", has_text="kept at sweep 2")
    kept.wait_for()
    page.locator("[data-action=reset]").click()
    stage.wait_lanes(page, 1, "d.sweep === '0'")
    assert kept.count() == 1
    kept.locator("button").click()
    kept.wait_for(state="detached")


def test_three_dampings_have_three_names_keys_and_rows_which_looking_back_takes_along(open_page, server):
    page = open_page(stage.link(server, "race", LANES, **{**SMALL, "budget": "100"}))
    ran(page, 3, 100)
    names = [f"PMP · damping {damping}" for damping in ("0.1", "0.5", "0.9")]
    heads = page.locator(".pv-name").evaluate_all("(all) => all.map((name) => [name.title, name.innerText])")
    assert [title for title, _ in heads] == names
    # Where there is no room for the whole of it, a head says what differs.
    assert all(text in (name, name.removeprefix("PMP · ")) for (_, text), name in zip(heads, names, strict=True))
    assert page.locator(".pv-line > span").all_inner_texts() == names
    looks = page.locator(".pv-line canvas").evaluate_all("(all) => all.map((c) => c.toDataURL())")
    assert len(set(looks)) == 3
    page.wait_for_function("document.querySelectorAll('table tbody tr').length === 3")
    rows = page.locator("table tbody tr td:first-child").all_inner_texts()
    assert rows == [f"{name} (approximate)" for name in names]
    looking_back_takes_words_strip_and_numbers_along(page)


def looking_back_takes_words_strip_and_numbers_along(page) -> None:
    stage.look_back(page, 28)
    page.locator(".pv-said", has_text="Looking back at sweep 28:").wait_for()
    every = "(e) => /looking back at sweep 28/.test(e.textContent)"
    page.wait_for_function(f"[...document.querySelectorAll('.pv-sub')].every({every})")
    shown = page.locator(".pv-strip").evaluate_all("(all) => all.map((e) => Number(e.dataset.sweep))")
    assert all(sweep <= 28 for sweep in shown)
    cells = "[...document.querySelectorAll('table tbody tr td:nth-child(2)')].map((e) => e.textContent).join()"
    page.wait_for_function(f"() => {cells} === '28,28,28'")
    page.locator(".pv-live").click()
    page.locator(".pv-said", has_text="Looking back").wait_for(state="detached")


def test_a_plan_goes_to_the_race_and_back(open_page, server):
    page = open_page(stage.link(server, "playground", ("pmp;damping=0.3",), **{**SMALL, "clamp": CLAMPED}))
    stage.wait_lanes(page, 1)
    page.locator("[class*=st-key-playground_carry_go] button").click()
    stage.wait_lanes(page, 2)
    page.wait_for_url(lambda url: "/race" in url and all(part in url.replace("%3D", "=") for part in CARRIED))
    page.locator("[class*=st-key-race_carry_go] button").click()
    stage.wait_lanes(page, 1)
    page.wait_for_url(lambda url: "/playground" in url and all(part in url.replace("%3D", "=") for part in CARRIED))
