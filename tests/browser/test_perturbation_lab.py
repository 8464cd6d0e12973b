"""The perturbation lab in a real Chromium: three solvers on one perturbation with their energies, then another one."""

from __future__ import annotations

import time

import pytest

ENERGIES = """() => [...document.querySelectorAll('.stMainBlockContainer table tbody tr')]
  .map((row) => [...row.cells].map((cell) => cell.innerText)).filter((cells) => cells.length === 5)"""
SOLVED = f"() => ({ENERGIES})().filter((row) => row[1] !== '…').length === 3"


@pytest.fixture
def note(record_property, capsys):
    """`note(name, value)` prints a measured figure and keeps it in the report."""

    def say(name: str, value) -> None:
        record_property(name, value)
        with capsys.disabled():
            print(f"\n  {name}: {value}", end="")

    return say


def test_three_solvers_on_one_perturbation(server, open_page, note):
    begin = time.perf_counter()
    page = open_page(f"{server}/perturbation_lab")
    page.wait_for_function(SOLVED)
    page.locator(".st-key-lab_panels img").nth(4).wait_for()
    note("seconds from opening to three energies, the process being new", round(time.perf_counter() - begin, 1))
    begin = time.perf_counter()
    other = open_page(f"{server}/perturbation_lab?seed=1")
    other.wait_for_function(SOLVED)
    other.locator(".st-key-lab_panels img").nth(4).wait_for()
    note("and of another session", round(time.perf_counter() - begin, 1))
    other.close()
    first = page.evaluate(ENERGIES)
    assert "proved" in first[2][4] and all(row[1] != "n/a" for row in first)
    page.locator(".st-key-lab_next button").click()
    page.wait_for_function(f"() => ({SOLVED})() && ({ENERGIES})()[2][1] !== '{first[2][1]}'")
    assert "draw=1" in page.url
    page.locator(".st-key-lab_atlas .js-plotly-plot").wait_for()
    page.locator(".st-key-lab_averages img").nth(3).wait_for()
    page.get_by_text("Bounds on log Z").wait_for()
