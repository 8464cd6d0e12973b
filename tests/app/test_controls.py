"""Controls in a running Streamlit script: the plan is the truth, widgets show it and give it back when changed."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from pmpviz.app import address, echo, widgets
from pmpviz.app.file_controls import FILE
from pmpviz.app.lanes import name_in_box
from pmpviz.app.models import chain_limit, model_of
from pmpviz.app.uploads import STORE
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.live.link import to_query
from pmpviz.live.plan import CHAINS
from pmpviz.models import PRESETS, model_hash
from pmpviz.samplers import SAMPLERS
from pmpviz.types import Param
from tests.compilations import compiled

WAIT = 60


def page():
    import streamlit as st

    from pmpviz.app.address import keep_plan, open_plan
    from pmpviz.app.lanes import lane_control
    from pmpviz.app.model_picker import model_controls
    from pmpviz.app.models import model_of
    from pmpviz.app.words import show_notices
    from pmpviz.capabilities.sampling import controls
    from pmpviz.capabilities.sampling.plan import Plan
    from pmpviz.types import InputError, Target

    first = st.session_state.get("first", Plan())
    plan, notices = open_plan("play", first)
    show_notices(notices)
    with st.sidebar:
        plan, notices = model_controls(plan, adopt=controls.adopt)
        show_notices(notices)
        try:
            target = Target.of(model_of(plan.model))
        except InputError:
            target = None
        lanes = [lane_control(lane, f"lane{i}", st, target) for i, lane in enumerate(plan.lanes)]
        plan = controls.run_controls(plan.replace(lanes=tuple(lanes)), st)
    keep_plan("play", plan)
    st.session_state["result"] = plan


def pages():
    import streamlit as st

    from pmpviz.app.address import keep_plan, open_plan
    from pmpviz.capabilities.sampling import controls
    from pmpviz.capabilities.sampling.plan import Plan

    def play():
        plan, _ = open_plan("play", Plan(model="square:8x8"))
        plan = controls.run_controls(plan)
        keep_plan("play", plan)
        st.session_state["result"] = plan

    def rest():
        st.write("rest")

    choice = st.radio("page", ["play", "rest"], key="page")
    {"play": play, "rest": rest}[choice]()


def page_beside_a_last_run_of_another():
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    from pmpviz.app.address import keep_plan, open_plan
    from pmpviz.capabilities.sampling.plan import Plan

    context = get_script_run_ctx()
    with context.session_state.query_params() as shared:
        shared.populate_from_query_string("v=1&model=square%3A4x4&beta=0.8")
    plan, _ = open_plan("play", Plan(model="square:8x8"))
    keep_plan("play", plan)
    st.session_state["result"] = plan
    st.session_state["written"] = context.query_string


def knob_page():
    import streamlit as st

    from pmpviz.app.widgets import param_control

    st.session_state["value"] = param_control(st.session_state["param"], "knob", st.session_state["value"])


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """These tests change a control and change it back at once, as no person does."""
    monkeypatch.setattr(echo, "ECHO_SECONDS", 0.0)


@pytest.fixture
def app():
    """The page above on an 8x8 lattice."""
    test = AppTest.from_function(page, default_timeout=WAIT)
    test.session_state["first"] = Plan(model="square:8x8", beta=0.37, chains=8)
    return run(test)


def run(test: AppTest) -> AppTest:
    test.run()
    assert not test.exception
    return test


def plan_of(test: AppTest) -> Plan:
    return test.session_state["result"]


def test_the_address_that_a_last_run_of_another_page_leaves_in_the_session_is_not_read():
    test = run(AppTest.from_function(page_beside_a_last_run_of_another, default_timeout=WAIT))
    assert plan_of(test) == Plan(model="square:8x8") and test.session_state["written"] == ""


KNOBS = [
    (Param("damping", "Damping", 0.0, 0.99, 0.5), 0.123456789, "slider", 0.25, 0.25),
    (Param("budget", "Budget", 0.0, 1e9, 0.0), 12.345, "number_input", 7.5, 7.5),
    (Param("seed", "Seed", 0, 2**31 - 1, 0, "int"), 2**31 - 1, "number_input", 5, 5),
    (Param("steps", "Steps", 1, 20, 3, "int"), 17, "slider", 4, 4),
    (Param("size", "Step size", 1e-3, 10.0, 0.1, "log", unit="s"), 0.0312345, "select_slider", 0.0316, 0.0316),
    (Param("periodic", "Periodic", 0, 1, True, "bool"), False, "toggle", True, True),
    (Param("kind", "Kind", 0, 0, "a", "choice", choices=("a", "b", "c")), "b", "button_group", "c", "c"),
    (
        Param("kind", "Kind", 0, 0, "x" * 20, "choice", choices=("x" * 20, "y" * 20)),
        "y" * 20,
        "selectbox",
        "x" * 20,
        "x" * 20,
    ),
]


@pytest.mark.parametrize(("param", "start", "widget", "shown", "value"), KNOBS, ids=lambda v: getattr(v, "label", None))
def test_every_kind_of_knob_gives_back_its_value(param, start, widget, shown, value):
    test = AppTest.from_function(knob_page)
    test.session_state["param"], test.session_state["value"] = param, start
    run(run(test))
    assert test.session_state["value"] == start
    element = getattr(test, widget)[0]
    assert param.label in element.label
    element.set_value(shown)
    run(test)
    assert test.session_state["value"] == value
    test.session_state["value"] = start
    run(test)
    assert test.session_state["value"] == start, "a value set from outside is shown, not overwritten"


def begins_with(element):
    """What a browser shows that hears of the widget for the first time, and sends back as the widget's value."""
    default = element.proto.default
    if element.type == "number_input" or element.type == "toggle":
        return default
    default = default if isinstance(default, int) else default[0]
    if element.type == "slider":
        return default
    return element.options[int(default)]


@pytest.mark.parametrize(("param", "start", "widget", "shown", "value"), KNOBS, ids=lambda v: getattr(v, "label", None))
def test_a_browser_that_missed_the_run_that_set_a_knob_begins_with_its_value(param, start, widget, shown, value):
    test = AppTest.from_function(knob_page)
    test.session_state["param"], test.session_state["value"] = param, start
    run(run(test))
    first = begins_with(getattr(test, widget)[0])
    test.session_state["value"] = value
    run(run(test))
    then = begins_with(getattr(test, widget)[0])
    if widget == "select_slider":
        first, then = float(first), float(then)
        assert first == pytest.approx(start, rel=0.02) and then == pytest.approx(value, rel=0.02)
    else:
        assert (first, then) == (start, value)


@pytest.mark.parametrize(
    ("param", "value", "told"),
    [
        (Param("size", "Step size", 1e-3, 10.0, 0.1, "log"), 0.00302, "0.00302"),
        (Param("size", "Step size", 1e-3, 10.0, 0.1, "log"), 0.003, "0.003"),
        (Param("damping", "Damping", 0.0, 0.99, 0.5), 0.271, "%.3g"),
    ],
)
def test_a_slider_shows_the_number_that_stands_at_the_picture(param, value, told):
    test = AppTest.from_function(knob_page)
    test.session_state["param"], test.session_state["value"] = param, value
    run(run(test))
    if param.scale == "log":
        assert begins_with(test.select_slider[0]) == told and param.label == test.select_slider[0].label
    else:
        assert test.slider[0].proto.format == told and test.slider[0].value == value


def test_temperature_is_one_number_whatever_beta_is(app):
    app.number_input("run_beta").set_value(1.3)
    run(app)
    assert begins_with(app.select_slider("run_T")) == "0.769" and plan_of(app).beta == 1.3


def test_nothing_changes_until_something_is_changed(app):
    first = Plan(model="square:8x8", beta=0.37, chains=8)
    assert plan_of(app) == first
    assert plan_of(run(app)) == first


def test_temperature_and_beta_move_each_other(app):
    app.number_input("run_beta").set_value(0.5)
    run(app)
    assert plan_of(app).beta == 0.5 and app.select_slider("run_T").value == 2.0
    app.select_slider("run_T").set_value(0.501)
    run(app)
    assert plan_of(app).beta == 1 / 0.501
    assert app.number_input("run_beta").value == 1 / 0.501
    app.number_input("run_beta").set_value(0.0)
    assert plan_of(run(app)).beta == 0.0
    assert "∞" in app.select_slider("run_T").label


def test_every_preset_opens_with_its_beta(app):
    for preset in PRESETS:
        app.selectbox("model_preset").set_value(preset.id)
        plan = plan_of(run(app))
        assert (plan.model, plan.beta) == (preset.spec, preset.beta)
        assert app.selectbox("model_preset").value == preset.id
        assert plan_of(run(app)) == plan
        assert not app.error


def test_a_knob_leaves_the_preset(app):
    app.selectbox("model_preset").set_value("critical")
    run(app)
    app.select_slider("run_T").set_value(1.26)
    assert plan_of(run(app)).beta == 1 / 1.26
    assert app.selectbox("model_preset").value == ""
    app.selectbox("model_preset").set_value("critical")
    assert plan_of(run(app)).beta == 1.0 and app.select_slider("run_T").value == 1.0
    app.number_input("model_square_J").set_value(0.2)
    assert plan_of(run(app)).model == "square:64x64,J=0.2"
    assert app.selectbox("model_preset").value == ""


def test_size_topology_and_kind_make_the_model(app):
    app.selectbox("model_builder").set_value("chain")
    assert plan_of(run(app)).model == "chain:64"
    app.number_input("model_chain_sites").set_value(12)
    app.button_group("model_chain_couplings").set_value("gaussian")
    run(app)
    assert plan_of(app).model == "chain:12,couplings=gaussian"
    assert app.number_input("model_chain_sigma").value == 1.0
    with pytest.raises(KeyError):
        app.number_input("model_chain_J")


def test_a_model_that_cannot_be_built_is_a_draft(app):
    app.number_input("model_square_width").set_value(7)
    run(app)
    app.selectbox("model_square_couplings").set_value("frustrated")
    run(app)
    assert plan_of(app).model == "square:8x7"
    assert "even width" in app.error[0].value
    app.number_input("model_square_width").set_value(6)
    run(app)
    assert plan_of(app).model == "square:8x6,couplings=frustrated" and not app.error


def test_a_lattice_too_large_is_cut_with_a_notice(app):
    app.number_input("model_square_height").set_value(200_000)
    run(app)
    assert plan_of(app).model == "square:512x8"
    assert "262,144" in app.warning[0].value.replace("\\", "")


def test_chains_shrink_with_a_large_model(app):
    app.number_input("run_chains").set_value(4096)
    run(app)
    app.number_input("model_square_height").set_value(256)
    app.number_input("model_square_width").set_value(256)
    run(app)
    assert plan_of(app).chains == chain_limit(model_of("square:256x256")) < 400


def test_another_algorithm_brings_its_own_knobs(app):
    app.slider("lane0_pmp_damping").set_value(0.75)
    assert plan_of(run(app)).lanes == (sampler("pmp", damping=0.75),)
    app.selectbox("lane0_algorithm").set_value("gibbs")
    assert plan_of(run(app)).lanes == (sampler("gibbs"),)
    assert not [slider for slider in app.slider if "Damping" in slider.label]


def test_every_algorithm_can_be_chosen_and_says_what_it_guarantees(app):
    offered = app.selectbox("lane0_algorithm").options
    refused = [e for e in app.expander if e.label == "Not on this model"]
    named = "".join(offered) + "".join(m.value for e in refused for m in e.markdown)
    for cls in SAMPLERS:
        assert name_in_box(cls.spec) in named or cls.spec.label in named
        if name_in_box(cls.spec) in offered:
            app.selectbox("lane0_algorithm").set_value(cls.spec.id)
            assert plan_of(run(app)).lanes == (sampler(cls.spec.id),)
            assert any(caption.value.startswith(f"**{cls.spec.guarantee.capitalize()}.**") for caption in app.caption)


def test_an_algorithm_that_cannot_run_says_why(app, monkeypatch):
    import dataclasses

    cls = SAMPLERS[1]
    monkeypatch.setattr(cls, "spec", dataclasses.replace(cls.spec, why_not=lambda target: "it needs *another* model"))
    run(app)
    assert cls.spec.label not in app.selectbox("lane0_algorithm").options
    assert (
        "it needs \\*another\\* model"
        in next(e for e in app.expander if e.label == "Not on this model").markdown[0].value
    )


def test_values_survive_a_page_switch():
    test = run(AppTest.from_function(pages, default_timeout=WAIT))
    test.number_input("run_seed").set_value(77)
    test.number_input("run_beta").set_value(0.123456789)
    run(test)
    test.radio("page").set_value("rest")
    run(test)
    test.radio("page").set_value("play")
    plan = plan_of(run(test))
    assert (plan.seed, plan.beta) == (77, 0.123456789)
    assert test.number_input("run_seed").value == 77


def test_the_address_carries_the_plan_and_opens_it_elsewhere(app):
    app.slider("lane0_pmp_damping").set_value(0.3)
    plan = plan_of(run(app))
    query = dict(app.query_params)
    assert query == to_query(plan)
    other = AppTest.from_function(page, default_timeout=WAIT)
    for key, value in query.items():
        other.query_params[key] = value
    assert plan_of(run(other)) == plan
    assert other.slider("lane0_pmp_damping").value == 0.3


def test_a_wild_address_gives_notices_that_stay_until_a_change():
    test = AppTest.from_function(page, default_timeout=WAIT)
    test.session_state["first"] = Plan(model="square:8x8", chains=8)
    test.query_params["T"], test.query_params["n"], test.query_params["![x](http://y)"] = "-9", "99999", "1"
    plan = plan_of(run(test))
    assert plan.beta == 20.0 and plan.chains == CHAINS.high
    said = test.warning[0].value.replace("\\", "")
    assert "T = -9 is outside 0.05 to 100 and was set to 0.05" in said and "n = 99999" in said
    assert "![x](" not in test.warning[0].value
    assert run(test).warning
    test.number_input("run_seed").set_value(3)
    run(test)
    assert not run(test).warning


def test_knobs_compile_nothing(app):
    run(app)
    with compiled() as meanwhile:
        app.slider("lane0_pmp_damping").set_value(0.9)
        app.number_input("run_beta").set_value(1.5)
        app.number_input("run_seed").set_value(9)
        run(app)
    assert not meanwhile


def test_an_uploaded_model_is_used_and_its_link_asks_for_it(app):
    content = b"MARKOV\n2\n2 2\n1\n2 0 1\n4\n1.0 2.0 2.0 1.0\n"
    app.file_uploader("model_file").set_value(("pair.uai", content, "text/plain"))
    plan = plan_of(run(app))
    assert plan.model.startswith("file:") and model_of(plan.model).n == 2
    assert app.selectbox("model_builder").value == FILE, "the side bar shows it in the run that takes it up"
    assert r"pair\.uai: 2 variables" in [caption.value for caption in app.caption]
    assert plan_of(run(app)) == plan
    digest = model_hash(model_of(plan.model))
    app.selectbox("model_preset").set_value("paper_four")
    assert plan_of(run(app)).model == "complete:4,theta=0.25", "the file is not taken again"
    STORE._held.clear()
    other = AppTest.from_function(page, default_timeout=WAIT)
    for key, value in to_query(plan).items():
        other.query_params[key] = value
    run(other)
    assert "bring the file" in "".join(w.value for w in other.warning)
    other.file_uploader("model_file").set_value(("pair.uai", content, "text/plain"))
    run(other)
    assert plan_of(other).model == plan.model and model_hash(model_of(plan.model)) == digest


def test_uploaded_evidence_clamps_the_model_on_screen(app):
    before = plan_of(app)
    app.file_uploader("model_file").set_value(("seen.evid", b"2 7 1 3 0\n", "text/plain"))
    plan = plan_of(run(app))
    assert plan == before.replace(clamp=((3, 0), (7, 1)))
    assert plan_of(run(app)) == plan


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.uai", b"MARKOV\n-1"),
        ("a.npz", b"PK"),
        ("a.json", json.dumps([1]).encode()),
        ("a.uai", b""),
        ("a.evid", b"1 999999 0"),
        ("a.evid", b"\xff"),
    ],
)
def test_a_bad_file_gives_one_sentence(app, name, content):
    before = plan_of(app)
    app.file_uploader("model_file").set_value((name, content, "application/octet-stream"))
    run(app)
    assert len(app.error) == 1 and "\n" not in app.error[0].value
    assert plan_of(app) == before


def test_the_box_of_a_file_stays_open_with_what_came_of_it_and_names_stay_as_they_are(app):
    app.file_uploader("model_file").set_value(("bad.uai", b"MARKOV\n-1", "application/octet-stream"))
    run(run(app))
    assert file_box(app).proto.expanded and app.error[0].value.startswith("bad")
    app.file_uploader("model_file").set_value(
        ("good.uai", b"MARKOV\n1\n2\n1\n1 0\n\n2\n1 2\n", "application/octet-stream")
    )
    run(run(app))
    assert file_box(app).proto.expanded
    assert any("1 variables" in caption.value for caption in file_box(app).caption)


def file_box(app):
    return next(box for box in app.expander if box.label == "From a file")


def test_the_address_is_read_where_a_person_has_gone_there_alone(app, monkeypatch):
    app.number_input(key="run_seed").set_value(4)
    before = to_query(plan_of(run(app)))
    app.number_input(key="run_seed").set_value(9)
    run(app)
    # A run that the browser asked for before it heard of the new address.
    went_to(app, before)
    assert plan_of(app).seed == 9
    # The same address when Back was pressed.
    monkeypatch.setattr(address, "navigated", lambda page: True)
    went_to(app, before)
    assert plan_of(app).seed == 4
    # What another page has written reaches a browser that has already gone on.
    app.session_state["query:other"] = {**before, "seed": "3", "graph": "tree"}
    went_to(app, app.session_state["query:other"])
    assert plan_of(app).seed == 4 and not app.warning
    # So does what it had written before its last change.
    older = {**before, "seed": "5", "chains": "512"}
    app.session_state[address.WRITTEN] = {"query:other": [older]}
    went_to(app, older)
    assert plan_of(app).seed == 4 and plan_of(app).chains != 512


def went_to(app, query) -> None:
    """Run with this address."""
    app.query_params.clear()
    for name, values in query.items():
        app.query_params[name] = values
    run(app)


def history():
    import streamlit as st

    from pmpviz.app.address import kept_plan, note_plan, turn_back

    for seed in (*range(61), 60):
        note_plan("play", seed)
    back = [turn_back("play") for _ in range(52)]
    on = [turn_back("play", forward=True) for _ in range(3)]
    note_plan("play", -1)
    st.session_state["found"] = back, on, turn_back("play", forward=True), turn_back("play"), kept_plan("play", None)


def test_fifty_changes_are_undone_and_done_again():
    test = run(AppTest.from_function(history, default_timeout=WAIT))
    assert test.session_state["found"] == ([*range(59, 9, -1), None, None], [11, 12, 13], None, 13, 13)


def test_a_value_that_a_control_has_just_lost_is_not_taken_for_a_choice(app, monkeypatch):
    monkeypatch.setattr(echo, "ECHO_SECONDS", 60.0)
    app.selectbox("model_preset").set_value("critical")
    run(app)
    assert app.number_input("run_beta").value == 1.0
    # A run that the browser asked for before it heard of the new value.
    app.number_input("run_beta").set_value(0.37)
    assert plan_of(run(app)).beta == 1.0 and app.number_input("run_beta").value == 1.0
    app.number_input("run_beta").set_value(0.38)
    assert plan_of(run(app)).beta == 0.38


def test_a_run_that_takes_long_leaves_the_time_for_echoes_whole(monkeypatch):
    """On a busy machine a preset's temperature was undone by the one before it, asked for before the browser knew."""

    def script():
        import streamlit as st

        from pmpviz.app.echo import sent
        from pmpviz.app.widgets import bind

        clock = st.session_state["clock"]
        st.session_state["shown"] = bind("letter", st.session_state["plan"])
        st.radio("Letter", ["a", "b", "c"], key="letter")
        clock[0] += st.session_state["takes"]
        sent()

    clock = [0.0]
    monkeypatch.setattr(echo, "ECHO_SECONDS", 1.5)
    monkeypatch.setattr(echo, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    app = AppTest.from_function(script, default_timeout=WAIT)
    for name, value in (("clock", clock), ("plan", "a"), ("takes", 0.0)):
        app.session_state[name] = value
    run(app)
    app.session_state["plan"], app.session_state["takes"] = "b", 2.0
    run(app)
    app.session_state["takes"] = 0.0
    clock[0] += 1.0
    app.radio("letter").set_value("a")
    run(app)
    assert app.session_state["shown"] == "b"
    # Asked for when the browser has known for long, it is a choice.
    clock[0] += 1.0
    app.radio("letter").set_value("a")
    run(app)
    assert app.session_state["shown"] == "a"


def test_a_choice_outlives_a_run_that_was_cut_short():
    def script():
        import streamlit as st

        from pmpviz.app.widgets import bind, kept, select, take_again

        take_again()
        plan = st.session_state.setdefault("plan", "a")
        chosen = bind("letter", plan)
        select(st, "Letter", ("a", "b", "c"), "letter")
        if chosen != plan and st.session_state.pop("cut", False):
            st.rerun()
        st.session_state["plan"] = chosen
        kept()

    app = AppTest.from_function(script, default_timeout=WAIT).run()
    app.session_state["cut"] = True
    app.selectbox(key="letter").select("b").run()
    assert app.session_state["plan"] == app.selectbox(key="letter").value == "b"
    # What the plan has is not taken for a choice again.
    app.session_state["plan"] = "c"
    app.run()
    assert app.session_state["plan"] == app.selectbox(key="letter").value == "c"


def test_a_press_outlives_a_run_that_was_cut_short_and_is_taken_once():
    def script():
        import streamlit as st

        from pmpviz.app.widgets import pressed

        if st.session_state.pop("cut", False):
            st.rerun()
        if pressed(st, "Go", "go"):
            st.session_state["gone"] = st.session_state.get("gone", 0) + 1

    app = AppTest.from_function(script, default_timeout=WAIT).run()
    app.session_state["cut"] = True
    app.button(key="go").click().run()
    app.run()
    assert app.session_state["gone"] == 1
    app.button(key="go").click().run()
    assert app.session_state["gone"] == 2


def test_a_press_of_long_ago_is_not_taken(monkeypatch):
    """Of a page that was left before its run came to the button, and is opened again."""

    def script():
        import streamlit as st

        from pmpviz.app.widgets import pressed

        if st.session_state.pop("cut", False):
            st.stop()
        if pressed(st, "Go", "go"):
            st.session_state["gone"] = True

    clock = [1e6]
    monkeypatch.setattr(widgets, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    app = AppTest.from_function(script, default_timeout=WAIT).run()
    app.session_state["cut"] = True
    app.button(key="go").click().run()
    clock[0] += widgets.PRESS_SECONDS + 1
    app.run()
    assert "gone" not in app.session_state
