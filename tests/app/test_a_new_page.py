"""A page is one folder, one thin file and one line: a slice that is not there yet is added as its author would."""

from __future__ import annotations

import shutil
import sys
import time

import pytest
import streamlit as st
from opened import ROOT, WAIT_SECONDS, own_run, run, update  # noqa: F401
from streamlit.testing.v1 import AppTest

from pmpviz import capabilities
from pmpviz.capabilities import Capability

LINE = Capability("coin", "Coin", ":material/paid:", "coin", "COINS", row=0)
PLAN = """
from dataclasses import dataclass

from pmpviz.live.plan import Settings, knob


@dataclass(frozen=True)
class CoinPlan(Settings):
    sides: int = knob("Sides", 2, 100, 2, "int")
"""
PRESETS = """
from pmpviz.capabilities.coin.plan import CoinPlan
from pmpviz.live.plan import Preset

COINS = (
    Preset("fair", "A fair coin", "Heads or tails?", CoinPlan(), "Both are as likely."),
    Preset("die", "A die", "Which number?", CoinPlan(sides=6), "All are as likely."),
)
"""
LIVE = """
from types import SimpleNamespace

from pmpviz.live.job import LiveJob


class Toss:
    algorithm, label, guarantee, warmed, done = "exact", "Toss", "exact", True, False
    count, seconds = 0, 0.0


class LiveCoin(LiveJob):
    def __init__(self, plan, files=None, speed=0.0):
        super().__init__(plan, files, speed)
        self.begin()

    def _make_lanes(self):
        return [Toss()]

    def _over(self, lane):
        return False

    def _advance(self, lane, most):
        lane.count += 1
        return True

    def _lanes_view(self):
        names = ("algorithm", "label", "guarantee", "count", "done")
        return tuple(SimpleNamespace(**{name: getattr(lane, name) for name in names}) for lane in self._lanes)
"""
PAGE = """
import streamlit as st

from pmpviz.app.page import Page
from pmpviz.app.stage import Stage
from pmpviz.capabilities.coin.live import LiveCoin
from pmpviz.capabilities.coin.presets import COINS
from pmpviz.player.update import Envelope

PAGE = Page("coin", COINS)


class CoinStage(Stage):
    job = LiveCoin
    bar = ("play", "step")

    def _update(self, turn):
        envelope = Envelope(turn.view, turn.sent)
        lanes = [envelope.lane(k, f"{lane.count} tosses", "") for k, lane in enumerate(turn.view.lanes)]
        return envelope.seal(turn.desk, (1, 0), lanes, [], f"{turn.view.plan.sides} sides")


STAGE = CoinStage(PAGE)


def draw():
    plan, notices = PAGE.open()
    PAGE.keep(plan)
    PAGE.ask(plan, "What comes up?")
    STAGE.draw(plan)
"""
FOLDER = {"__init__": '"""Coins."""\n', "plan": PLAN, "presets": PRESETS, "live": LIVE, "page": PAGE}


@pytest.fixture
def app(tmp_path, monkeypatch):
    """The app's folder with one more slice, one more file in `pages/` and one more line; the pages of its navigation
    are appended to the list that comes with it."""
    shutil.copy(ROOT / "app.py", tmp_path)
    shutil.copytree(ROOT / "pages", tmp_path / "pages")
    shutil.copytree(ROOT / "assets", tmp_path / "assets")
    (tmp_path / "pages" / "coin.py").write_text("from pmpviz.capabilities.coin.page import draw\n\ndraw()\n")
    slices = tmp_path / "slices"
    (slices / "coin").mkdir(parents=True)
    for name, text in FOLDER.items():
        (slices / "coin" / f"{name}.py").write_text(text)
    monkeypatch.setattr(capabilities, "__path__", [*capabilities.__path__, str(slices)])
    monkeypatch.setattr(capabilities, "PAGES", (*capabilities.PAGES, LINE))
    shown, navigation = [], st.navigation
    monkeypatch.setattr(st, "navigation", lambda pages: shown.extend(pages) or navigation(pages))
    yield tmp_path, shown
    for module in [name for name in sys.modules if name.startswith("pmpviz.capabilities.coin")]:
        del sys.modules[module]


def test_a_new_page_is_in_the_navigation_and_on_home_and_opens(app):
    folder, shown = app
    home = AppTest.from_file(str(folder / "app.py"), default_timeout=WAIT_SECONDS)
    home.session_state["more"] = True
    run(home)
    assert [(page.title, page.url_path) for page in shown if page.title == LINE.title] == [("Coin", "coin")]
    assert len(shown) == len(capabilities.PAGES)
    links = [(link.proto.page, link.proto.query_string) for link in home.get("page_link")]
    assert [link for link in links if link[0] == "coin"] == [("coin", "preset=fair"), ("coin", "preset=die")]
    assert "##### Coin" in [each.value for each in home.markdown]
    assert set(FOLDER) - {"__init__"} == {
        name.rsplit(".", 1)[1] for name in capabilities.modules() if name.startswith("pmpviz.capabilities.coin.")
    }

    page = AppTest.from_file(str(folder / "pages" / "coin.py"), default_timeout=WAIT_SECONDS)
    page.query_params["preset"] = "die"
    run(page)
    assert "#### Which number?" in [each.value for each in page.markdown]
    until = time.monotonic() + WAIT_SECONDS
    while not (found := update(page))["lanes"] and time.monotonic() < until:
        run(page)
    assert found["announce"] == "6 sides"
    assert [(lane["label"], lane["sub"]) for lane in found["lanes"]] == [("Toss", "0 tosses")]
