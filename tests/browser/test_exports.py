"""A run in a real Chromium is exported whole, and opens elsewhere by its link and by its manifest."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

from tests.browser.stage import (
    SMALL,
    close_dialog,
    frames_at,
    lanes,
    latest,
    link,
    look_back,
    pass_frame,
    pause,
    press,
    rest,
    wait_lanes,
    wait_reference,
)

FRAME = 20


def test_a_run_is_exported_whole_and_opens_elsewhere_by_its_link_and_by_its_manifest(server, open_page, note, tmp_path):
    lanes_given = ("pmp;damping=0.3", "colour_gibbs")
    page = open_page(link(server, "race", lanes_given, **SMALL, seed="7", T="1.25"))
    wait_lanes(page, 2)
    here = frames_at(page, 2, FRAME)
    press(page, "s")
    address = page.locator("[role=dialog] code").first.inner_text().strip()
    close_dialog(page)
    # The server is told a moment later that one looks back, and answers.
    page.locator(".pv-said", has_text=f"Looking back at sweep {FRAME}:").wait_for()
    says_of_which_moment(page, back=True)
    page.locator(".pv-live").click()
    page.locator(".pv-said", has_text="Looking back").wait_for(state="detached")
    says_of_which_moment(page, back=False)
    manifest = exported(page, tmp_path)
    begin = time.perf_counter()
    page.goto(address)
    wait_lanes(page, 2)
    pass_frame(page, 2, FRAME)
    note(f"seconds from the link to frame {FRAME}", round(time.perf_counter() - begin, 1))
    pause(page)
    assert look_back(page, FRAME) == here, (address, page.url)
    assert [lane["algorithm"] for lane in lanes(page)] == ["pmp", "colour_gibbs"]
    for setting in ("seed=7", "beta=0.8", "lane1=pmp;damping=0.3", "model=square:16x16"):
        assert setting in page.url.replace("%3B", ";").replace("%3D", "=").replace("%3A", ":"), setting
    brought_back(page, server, manifest, here)


def says_of_which_moment(page, back: bool) -> None:
    """The dialog of an export says that it is not of the moment that one looks back at, where one does."""
    page.locator(".pv-export").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button").nth(1).wait_for()
    assert page.get_by_text("That is where it stands, not the moment that is looked back at.").count() == back
    close_dialog(page)


def exported(page, folder):
    """The manifest, once everything that is exported has opened."""
    page.locator("[data-action=export]").click()
    names = ("manifest.json", "samples.npz", "traces.npz", "traces.csv", "picture2.png", "animation1.gif")
    files = {name: fetch(page, name, folder) for name in names}
    with np.load(files["samples.npz"]) as samples:
        assert {name: samples[name].shape for name in samples.files} == {"lane1": (32, 256), "lane2": (32, 256)}
    with np.load(files["traces.npz"]) as traces:
        assert len(traces["lane1/sweep"]) >= FRAME
    rows = list(csv.DictReader(io.StringIO(files["traces.csv"].read_text())))
    assert {row["algorithm"] for row in rows} == {"pmp", "colour_gibbs"}
    with Image.open(files["picture2.png"]) as picture, Image.open(files["animation1.gif"]) as film:
        picture.load()
        assert film.n_frames > 5
    assert json.loads(files["manifest.json"].read_text())["plan"]["seed"] == 7
    close_dialog(page)
    return files["manifest.json"]


def fetch(page, name: str, folder):
    """The file that the export dialog gives under this name."""
    with page.expect_download() as download:
        page.get_by_role("button", name=name).click()
    path = folder / name
    download.value.save_as(path)
    return path


def brought_back(page, server: str, manifest, frames: list[str]) -> None:
    """In another session the manifest opens the same run."""
    page.goto(f"{server}/race?model=square:4x4&chains=16")
    wait_lanes(page, 2)
    page.get_by_text("Model", exact=True).first.click()
    page.get_by_text("From a file").last.click()
    page.locator("input[type=file]").set_input_files(str(manifest))
    page.wait_for_url(lambda url: "seed=7" in url)
    wait_lanes(page, 2, "Number(d.epoch) > 1")
    assert frames_at(page, 2, FRAME) == frames


def test_a_link_out_of_range_is_clamped_with_a_notice(server, open_page):
    page = open_page(link(server, "race", model="square:4x4", T="-9", n="99999"))
    wait_lanes(page, 2)
    words = page.locator("[data-testid=stAlert]").inner_text()
    assert "T = -9" in words and "n = 99999" in words
    assert page.locator("[data-testid=stException]").count() == 0
    page.wait_for_url(lambda url: "chains=" in url and "99999" not in url)


def test_keyboard_alone_runs_steps_shares_and_exports_and_the_script_gives_the_same_numbers(
    server, open_page, note, tmp_path
):
    page = open_page(
        link(server, "race", ("colour_gibbs", "swendsen_wang"), model="square:8x8", chains="32", budget="24"),
        viewport={"width": 1024, "height": 768},
        color_scheme="dark",
        reduced_motion="reduce",
    )
    wait_lanes(page, 2)
    assert all(lane["sweep"] == "0" for lane in lanes(page))
    press(page, "n")
    wait_lanes(page, 2, "d.sweep === '1'")
    press(page, "Space")
    wait_lanes(page, 2, "d.sweep === '24'")
    wait_reference(page)
    rest(page)
    press(page, "s")
    assert "/race?" in page.locator("[role=dialog] code").first.inner_text()
    close_dialog(page)
    tab_to(page, "code")
    page.keyboard.press("Enter")
    script = page.locator("[role=dialog] code").first.inner_text()
    close_dialog(page)
    tab_to(page, "export")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="traces.csv").focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    close_dialog(page)
    printed = run_script(script, tmp_path)
    note("largest difference of the script's MMD from the screen's", compare(rows, printed))
    for index, name in enumerate(("colour_gibbs", "swendsen_wang")):
        shown = latest(page, "MMD², distance to the law")[index]
        # The chart's axis is logarithmic: what lies below the decade of a third of the noise is drawn at its foot.
        foot = 10.0 ** math.floor(math.log10(max(float(row["noise"]) for row in rows if row["noise"]) / 3))
        assert abs(max(printed[name][24], foot) - shown) <= 0.006 * shown


def tab_to(page, action: str) -> None:
    """Press Tab until the button of that name has the focus."""
    page.evaluate("document.activeElement?.blur()")
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement?.dataset?.action") == action:
            return
    pytest.fail(f"Tab does not reach {action}")


def run_script(script: str, folder) -> dict[str, dict[int, float]]:
    """MMD^2 by algorithm and sweep, as the script prints it."""
    path = folder / "again.py"
    path.write_text(script)
    done = subprocess.run([sys.executable, str(path)], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    printed: dict[str, dict[int, float]] = {}
    for name, sweep, value in re.findall(r"^(\w+): sweep (\d+), .*MMD\^2 (\S+)$", done.stdout, re.M):
        printed.setdefault(name, {})[int(sweep)] = float(value)
    return printed


def compare(rows: list[dict], printed: dict[str, dict[int, float]]) -> float:
    """The largest difference at the sweeps where the page took the metric."""
    taken = [row for row in rows if row["mmd2"]]
    differences = [abs(float(row["mmd2"]) - printed[row["algorithm"]][int(row["sweep"])]) for row in taken if
                   int(row["sweep"]) > 0]  # fmt: skip
    assert len(differences) >= 10 and max(differences) <= 1e-5
    return max(differences)


def test_a_missing_model_file_is_asked_for(server, open_page):
    page = open_page(link(server, "playground", ("gibbs",), model="file:" + "a" * 64))
    page.get_by_text("This plan's model is a file").wait_for()
    assert page.locator("[data-testid=stException]").count() == 0
