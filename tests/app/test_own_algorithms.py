"""An algorithm of one's own in the app: offered, run and raced; one that cannot be used is one sentence."""

import pytest
from opened import ROOT, WAIT_SECONDS, let_go, open_page, own_run, run  # noqa: F401
from streamlit.testing.v1 import AppTest
from test_pages import SMALL, algorithms, own_cache, wait  # noqa: F401

from pmpviz import plugins
from tests.guide import GUIDE, STUMBLES, UNUSABLE


@pytest.fixture(autouse=True)
def none_left():
    plugins.forget()
    yield
    # The run goes first: it asks for its algorithm by name.
    AppTest.from_function(let_go, default_timeout=WAIT_SECONDS).run()
    plugins.forget()


@pytest.fixture
def named(tmp_path, monkeypatch):
    """Name a file of this code in the environment, as the app's start does."""

    def name(code: str) -> None:
        path = tmp_path / "own.py"
        path.write_text(code)
        monkeypatch.setenv(plugins.ENVIRONMENT, str(path))

    return name


def test_the_playground_offers_and_runs_it(named):
    named(GUIDE)
    test = open_page("playground", {**SMALL, "lane1": "metropolis"})
    wait(test, lambda u: algorithms(u) == ["metropolis"])
    assert "Metropolis (yours)" in test.selectbox("playground_lane_algorithm").options
    found = wait(test, lambda u: u["lanes"] and u["lanes"][0]["label"] == "Metropolis (yours)")
    assert found["trouble"] == "" and {"acceptance"} <= {trace["id"] for trace in found["traces"]}
    assert any("x \\sim p(x)" in block.value for block in test.latex)


def test_the_race_runs_it_beside_another(named):
    named(GUIDE)
    test = open_page("race", {**SMALL, "lane1": "gibbs", "lane2": "metropolis"})
    found = wait(test, lambda u: algorithms(u) == ["gibbs", "metropolis"])
    assert found["lanes"][0]["colour"] != found["lanes"][1]["colour"]


def test_the_app_goes_on_without_what_cannot_be_used(named):
    named(UNUSABLE["raises"][0])
    test = run(AppTest.from_file(str(ROOT / "app.py"), default_timeout=WAIT_SECONDS))
    assert [box.value.replace("\\", "") for box in test.warning] == ["own.py is left out: ValueError: no luck."]
    assert algorithms(wait(test, lambda u: u["lanes"])) == ["colour_gibbs", "swendsen_wang"]


def test_one_that_stumbles_is_a_sentence_on_its_page(named):
    named(STUMBLES)
    test = open_page("playground", {**SMALL, "lane1": "metropolis"})
    wait(test, lambda u: u["trouble"])
    assert any("division by zero" in box.value for box in test.error)
