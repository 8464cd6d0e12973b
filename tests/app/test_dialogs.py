"""Share, code and export in a running Streamlit script."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from pmpviz.app.share import link_to
from pmpviz.capabilities.sampling import code
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.live.link import query_text, to_query

PLAN = Plan(model="square:8x8", lanes=(sampler("pmp"), sampler("gibbs")), field=((1, 0.5),), clamp=((2, 1),), chains=8)


def page():
    import streamlit as st

    from pmpviz.app import export
    from pmpviz.capabilities.sampling import manifest as manifests
    from pmpviz.capabilities.sampling.page import open_stage, share

    plan = st.session_state["plan"]
    if st.session_state["dialog"] == "share":
        stage = open_stage("race")
        stage.page.share(plan, *stage._shared(plan))
    elif st.session_state["dialog"] == "code":
        share.code_dialog(plan, [3, 5])
    else:
        export.export_dialog(manifests.plan_files(plan, 5), "After 5 sweeps.")


def opened(dialog: str, plan: Plan = PLAN) -> AppTest:
    test = AppTest.from_function(page, default_timeout=60)
    test.session_state["plan"], test.session_state["dialog"] = plan, dialog
    test.run()
    assert not test.exception
    return test


def test_share_shows_the_link_and_what_it_leaves_out():
    test = opened("share")
    assert test.code[0].value.endswith("/race?" + query_text(PLAN))
    assert len(test.caption) == 1
    file = PLAN.replace(model="file:" + "a" * 64)
    captions = [caption.value for caption in opened("share", file).caption]
    assert len(captions) == 2 and "asked for the same file" in captions[1]


@pytest.mark.parametrize(
    ("base", "page"),
    [
        ("http://host:8501", "race"),
        ("http://host:8501/", "/race"),
        ("http://host:8501/race", "race"),
    ],
)
def test_a_link_has_one_slash(base, page):
    assert link_to(to_query(PLAN), page, base).startswith("http://host:8501/race?v=1&model=square:8x8&")


def test_a_link_to_the_first_page_names_no_page():
    assert link_to(to_query(PLAN), "home", "http://host:8501/app/").startswith("http://host:8501/app/?v=1&")


def test_code_shows_the_script_and_a_command_a_lane():
    test = opened("code")
    python, first, second = (block.value for block in test.code)
    assert python == code.script(PLAN, [3, 5]).strip()
    assert first == code.command(PLAN, 0, 3, "samples1.npz") and second == code.command(PLAN, 1, 5, "samples2.npz")
    assert "painted field" in test.caption[-1].value


def test_export_offers_every_file():
    test = opened("export")
    assert [button.label for button in test.get("download_button")] == ["manifest.json", "again.py", "clamped.evid"]
    assert test.caption[0].value == "After 5 sweeps."
