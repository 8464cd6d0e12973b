"""A page opened without a browser, what it has sent to its player, and its run given up afterwards."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from pmpviz.player.wire import decode

ROOT = Path(__file__).resolve().parents[2]
WAIT_SECONDS = 120
# Every tester reads the metadata of all installed packages, which takes longer than to run a page: once is enough.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)


@pytest.fixture(autouse=True)
def own_run():
    """What a page holds is given up after each test: to Streamlit all testers are one session."""
    yield
    AppTest.from_function(let_go, default_timeout=WAIT_SECONDS).run()


def let_go():
    from pmpviz.app.session import held

    held.clear()


def open_page(page: str, query: dict[str, str]) -> AppTest:
    """The page under this query, after its first run: its own script, since the tester stays where the app begins."""
    script = "app.py" if page == "home" else f"pages/{page}.py"
    test = AppTest.from_file(str(ROOT / script), default_timeout=WAIT_SECONDS)
    for name, value in query.items():
        test.query_params[name] = value
    return run(test)


def run(test: AppTest) -> AppTest:
    """Once more, without an exception."""
    test.run()
    assert not test.exception, [error.value for error in test.exception]
    return test


def update(test: AppTest) -> dict:
    """What the page has just sent to the player of its lanes, else to its first component; nothing where none is."""
    sent = [decode(each.proto.bytes)[0] for each in test.get("bidi_component") if each.proto.bytes]
    return next((found for found in sent if "lanes" in found), sent[0] if sent else {})


def go_to(test: AppTest, page: str, **query: str) -> AppTest:
    """The page under another address, as Back, Forward or a link of the app leads to it."""
    for name, value in query.items():
        test.query_params[name] = value
    test.session_state[f"opened:{page}"] = None
    return run(test)
