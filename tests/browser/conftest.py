"""A server and a real Chromium for the browser tests; whatever the page logs as an error fails the test.

Waits are bounded generously: the tests are of what happens, not of how fast this machine is. What was measured is
printed (`-s`), and kept as a property of the test's report.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.compiling import QUICKLY, flags

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120
WAIT_SECONDS = 120
PAUSE_MS = 3000
BLANK = "about:blank"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Streamlit's own client asks for these beside the address of a page that is opened by a link, and is refused.
# A picture that a later run of the page took away before the browser had fetched it is gone, too.
PROBES = re.compile(r"/_stcore/(host-config|health)$|/media/[0-9a-f]+\.(jpg|png)$")
# What the client says of such a picture in its own words, which name the picture's address.
GONE = re.compile(r"^Client Error: Image source error - \S+/media/[0-9a-f]+\.(jpg|png)$")
HOW = "there is no Chromium: install the package `chromium`, or run `python -m playwright install chromium`"


def pytest_collection_modifyitems(items):
    """One `browser` mark for the folder, so that it can be left out with `-m 'not browser'`."""
    for item in items:
        if Path(item.fspath).is_relative_to(ROOT / "tests" / "browser"):
            item.add_marker("browser")


def pytest_configure(config):
    config.addinivalue_line("markers", "browser: needs a Chromium")


def _give_up(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="package")
def context(tmp_path_factory) -> Iterator:
    """A headless Chromium: the one on the PATH, else Playwright's own.

    It has one profile for all pages: what a page of Streamlit loads and compiles takes longer than most of what is done
    on it, and only a profile on the disk keeps what was compiled.
    """
    api = pytest.importorskip("playwright.sync_api", reason="playwright is missing: pip install -e '.[dev]'")
    with api.sync_playwright() as playwright:
        path = next((found for name in NAMES if (found := shutil.which(name))), None)
        path = path or playwright.chromium.executable_path
        if not os.path.exists(path):
            _give_up(HOW)
        profile = str(tmp_path_factory.mktemp("profile"))
        found = playwright.chromium.launch_persistent_context(profile, executable_path=path, args=list(FLAGS))
        yield found
        found.close()


@pytest.fixture(scope="package")
def cache_folder(tmp_path_factory) -> str:
    """The folder of these tests for references and compiled programs, so that the first page opens cold."""
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="package")
def app_server(cache_folder) -> Iterator[Callable[[str], str]]:
    """`app_server(script)` is the address of a server that runs the script: one each, until these tests end."""
    servers: dict[str, tuple[subprocess.Popen, str]] = {}

    def start(script: str) -> str:
        if script not in servers:
            servers[script] = _serve(script, cache_folder)
        return servers[script][1]

    yield start
    for process, _ in servers.values():
        _end(process)


@pytest.fixture(scope="package")
def server(app_server) -> str:
    """The address of the app."""
    return app_server("app.py")


def _serve(script: str, cache: str) -> tuple[subprocess.Popen, str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = {"address": "127.0.0.1", "port": port, "headless": "true", "fileWatcherType": "none"}
    words = [word for name, value in options.items() for word in (f"--server.{name}", str(value))]
    command = [sys.executable, "-m", "tests.browser.served", "run", script, *words]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    # The programs that other tests compiled are not the server's: its first page opens cold.
    environment = {name: value for name, value in os.environ.items() if name != "JAX_COMPILATION_CACHE_DIR"}
    environment |= {"PMPVIZ_CACHE": cache, "XLA_FLAGS": flags(QUICKLY)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, **quiet)
    address = f"http://127.0.0.1:{port}"
    until = time.monotonic() + START_SECONDS
    while not _healthy(address):
        if process.poll() is not None or time.monotonic() > until:
            _end(process)
            pytest.fail(f"the server of {script} did not start within {START_SECONDS} s")
        time.sleep(0.1)
    return process, address


def _healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


def _end(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _told(message) -> str:
    return f"{message.text} ({(message.location or {}).get('url', 'no address')})"


def _is_fault(message) -> bool:
    probe = "404" in message.text and PROBES.search((message.location or {}).get("url", ""))
    return message.type == "error" and not probe and not GONE.search(message.text)


@pytest.fixture(scope="package")
def tab(context) -> list:
    """The tab that one test leaves to the next, or none: in one that has shown the app before, a page of it takes a
    third less to load."""
    return []


@pytest.fixture
def open_page(context, tab) -> Iterator[Callable]:
    """`open_page(address, viewport=..., color_scheme=..., reduced_motion=...)` is a page that nothing is left on.

    One of `about:blank` is in a tab of its own, on which more than what is shown may be changed. Console errors and
    exceptions fail the test at its end.
    """
    pages, errors = [], []
    listeners = {
        "console": lambda message: errors.append(_told(message)) if _is_fault(message) else None,
        "pageerror": lambda error: errors.append(str(error)),
    }

    def start(address: str, viewport: dict | None = None, color_scheme="light", reduced_motion="no-preference"):
        left = tab and address != BLANK
        page = tab.pop() if left else context.new_page()
        pages.append((page, address != BLANK))
        page.set_viewport_size(viewport or {"width": 1280, "height": 900})
        page.emulate_media(color_scheme=color_scheme, reduced_motion=reduced_motion)
        page.set_default_timeout(1000 * WAIT_SECONDS)
        for event, listener in listeners.items():
            page.on(event, listener)
        page.goto(address)
        return page

    yield start
    for page, clean in pages:
        if page.is_closed():
            continue
        _pause(page)
        if page.url.startswith("http"):
            page.evaluate("localStorage.clear(); sessionStorage.clear()")
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
        if clean and not tab:
            page.mouse.move(0, 0)
            page.goto(BLANK)
            tab.append(page)
        else:
            page.close()
    assert not errors


def _pause(page) -> None:
    """What plays still would go on for seconds after its last look, beside the next test."""
    with contextlib.suppress(importlib.import_module("playwright.sync_api").Error):
        if page.locator("[data-server=playing]").count() and not page.locator("[role=dialog]").count():
            page.evaluate("document.activeElement?.blur()")
            page.keyboard.press("Space")
            page.wait_for_selector("[data-server=paused]", state="attached", timeout=PAUSE_MS)


@pytest.fixture
def note(record_property, capsys):
    """`note(name, value)` prints a measured figure and keeps it in the report."""

    def say(name: str, value) -> None:
        record_property(name, value)
        with capsys.disabled():
            print(f"\n  {name}: {value}", end="")

    return say
