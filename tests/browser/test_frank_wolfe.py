"""The Frank-Wolfe page in a real Chromium: a step names a configuration, the gap closes, walks are raced and shared."""

from __future__ import annotations

import re
import time

from tests.browser.stage import link, pause, press, rest, wait_lanes

TRIANGLE = {"model": "complete:3,J=-1"}
GAP = "canvas.pv-chart[aria-label^='Duality gap']"


def test_a_step_goes_to_a_named_configuration_and_the_gap_closes(server, open_page, record_property):
    page = open_page(link(server, "frank_wolfe", ("barrier_frank_wolfe;tolerance=0.01",), **TRIANGLE))
    wait_lanes(page, 1)
    pause(page)
    page.get_by_role("button", name="Reset").click()
    wait_lanes(page, 1, "Number(d.sweep) === 0")
    rest(page)
    press(page, "n")
    wait_lanes(page, 1, "Number(d.sweep) === 1")
    page.wait_for_function("() => /found [01]{3} /.test(document.querySelector('.pv-root').innerText)")
    page.locator(".pv-root select").select_option("0")
    begin = time.perf_counter()
    page.get_by_role("button", name="Run to gap").click()
    page.wait_for_function(r"() => /MAP calls, gap 0\.00\d+/.test(document.body.innerText)", timeout=60_000)
    record_property("seconds to the gap", round(time.perf_counter() - begin, 1))
    page.get_by_role("button", name="Run to end").click()
    page.wait_for_function("() => document.querySelector('.pv-root').innerText.includes('done')", timeout=60_000)
    page.wait_for_selector(".st-key-inference_walk .js-plotly-plot")
    page.wait_for_selector(GAP)
    bound, exact = re.search(r"≤ log Z ≤ ([\d.]+); exactly ([\d.]+)", page.inner_text("body")).groups()
    assert float(bound) >= float(exact)
    assert any("log Z at most" in text for text in page.locator("table").all_inner_texts())


def test_raced_walks_keep_their_settings_over_another_page(server, open_page):
    raced = ("barrier_frank_wolfe;rho_updates=0", "barrier_frank_wolfe;rho_updates=0;polytope=local", "trbp")
    page = open_page(link(server, "frank_wolfe", raced, **TRIANGLE))
    wait_lanes(page, 3)
    page.get_by_role("button", name="Run to end").click()
    wait_lanes(page, 3, "Number(d.sweep) > 1")
    page.get_by_role("link", name="Learning").click()
    wait_lanes(page, 1)
    page.get_by_role("link", name="Frank-Wolfe").click()
    wait_lanes(page, 3, "Number(d.sweep) > 1")
    page.wait_for_selector(".st-key-inference_walk .js-plotly-plot")
    assert "polytope%3Dlocal" in page.url
