"""Links: a plan survives them exactly, and nothing that stands in one raises."""

from __future__ import annotations

import math
import string
from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmpviz.app.models import model_of
from pmpviz.app.uploads import STORE, UploadStore, uploaded
from pmpviz.app.words import as_text
from pmpviz.capabilities.sampling import edits
from pmpviz.capabilities.sampling.plan import LANES, UNITS, Plan, sampler
from pmpviz.capabilities.sampling.settings import share_limits
from pmpviz.live.link import from_query, query_text, to_query
from pmpviz.live.plan import BETA, CHAINS, SEED
from pmpviz.models import BUILDERS, PRESETS, format_spec
from pmpviz.runs.plan import STARTS
from pmpviz.samplers import SAMPLERS
from pmpviz.types import InputError

SMALL = Plan(model="square:4x4", chains=8)


def finite(low: float, high: float):
    return st.floats(low, high, allow_nan=False)


@st.composite
def lane_plans(draw):
    spec = draw(st.sampled_from(SAMPLERS)).spec
    values = {
        "linear": lambda p: finite(p.low, p.high),
        "log": lambda p: finite(p.low, p.high),
        "int": lambda p: st.integers(int(p.low), int(p.high)),
        "bool": lambda p: st.booleans(),
        "choice": lambda p: st.sampled_from(p.choices),
    }
    chosen = draw(st.lists(st.sampled_from(spec.params), unique_by=lambda p: p.name)) if spec.params else []
    return sampler(spec.id, **{p.name: draw(values[p.scale](p)) for p in chosen})


# Fields are painted on two states alone.
SPECS = [p.spec for p in PRESETS] + [format_spec(builder) for builder in BUILDERS if builder.param("q") is None]

plans = st.builds(
    Plan,
    model=st.sampled_from(SPECS),
    beta=finite(BETA.low, BETA.high),
    chains=st.integers(1, 64),
    seed=st.integers(0, int(SEED.high)),
    start=st.sampled_from(STARTS),
    unit=st.sampled_from(UNITS),
    budget=finite(Plan.params()["budget"].low, Plan.params()["budget"].high),
    lanes=st.lists(lane_plans(), min_size=1, max_size=4).map(tuple),
    field=st.lists(st.tuples(st.integers(0, 3), finite(-1e8, 1e8)), max_size=20).map(tuple),
    clamp=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=20).map(tuple),
)


@settings(max_examples=300, deadline=None)
@given(plans)
def test_plan_survives_its_link(plan):
    link = dict(parse_qsl(query_text(plan), keep_blank_values=True))
    assert from_query(link, SMALL) == (plan, [])


foreign = st.text(st.characters(codec="utf-8"), max_size=30)
numbers = st.one_of(st.floats().map(repr), st.integers().map(str), st.just("9" * 5000), st.just("1e999"))
near_specs = st.one_of(
    st.sampled_from(SPECS),
    st.builds(
        lambda id, size, knobs: ",".join([f"{id}:{size}", *knobs]),
        st.sampled_from([b.id for b in BUILDERS] + ["cube", ""]),
        st.lists(st.integers(-1, 40).map(str), max_size=3).map("x".join),
        st.lists(
            st.builds(
                lambda name, value: f"{name}={value}",
                st.sampled_from(["J", "theta", "h", "couplings", "field", "periodic", "seed", "sigma", "degree", "q"]),
                st.one_of(numbers, st.sampled_from(["glass", "frustrated", "true", "random", "sk", ""])),
            ),
            max_size=4,
        ),
    ),
)
near_lanes = st.builds(
    lambda id, knobs: ";".join([id, *knobs]),
    st.sampled_from([cls.spec.id for cls in SAMPLERS] + ["", "PMP"]),
    st.lists(st.builds("{}={}".format, st.sampled_from(["damping", "sweeps_per_draw", "x"]), numbers), max_size=4),
)
values_of = {
    "model": st.one_of(near_specs, foreign, foreign.map("file:{}".format)),
    "lane": st.one_of(near_lanes, foreign),
    "edit": st.one_of(foreign, st.text(string.ascii_letters + string.digits + "-_", max_size=60)),
    "plain": st.one_of(numbers, foreign, st.sampled_from(["random", "sweeps", "true"])),
}
queries = st.fixed_dictionaries(
    {},
    optional={
        "v": values_of["plain"],
        "model": values_of["model"],
        **{name: values_of["plain"] for name in ("beta", "T", "chains", "n", "seed", "start", "unit", "budget")},
        **{name: values_of["lane"] for name in LANES.keys},
        "field": values_of["edit"],
        "clamp": values_of["edit"],
        "lane9": foreign,
    },
)


def check_valid(plan: Plan, notices: list[str]) -> None:
    again = Plan.from_dict(plan.to_dict())
    assert again.replace(lanes=plan.lanes) == plan
    assert all(lane.build().spec.id == lane.algorithm for lane in plan.lanes)
    assert all(isinstance(notice, str) and "\n" not in notice and len(notice) < 400 for notice in notices)
    if not plan.model.startswith("file:"):
        plan.target(model_of(plan.model))


@settings(max_examples=700, deadline=None)
@given(queries)
def test_no_query_raises(query):
    check_valid(*from_query(query, SMALL))


@st.composite
def mutated(draw):
    query = to_query(draw(plans))
    for _ in range(draw(st.integers(1, 4))):
        key = draw(st.sampled_from(sorted(query)))
        text = query[key]
        at = draw(st.integers(0, len(text)))
        query[key] = text[:at] + draw(foreign) + text[at + draw(st.integers(0, 4)) :]
    return query


@settings(max_examples=700, deadline=None)
@given(mutated())
def test_no_mutated_link_raises(query):
    check_valid(*from_query(query, SMALL))


@pytest.mark.parametrize(
    ("query", "change", "notice"),
    [
        ({"T": "-9"}, {"beta": 20.0}, "T = -9 is outside 0.05 to 100 and was set to 0.05"),
        ({"n": "99999"}, {"chains": 4096}, "n = 99999 is outside 1 to 4,096 and was set to 4,096"),
        ({"T": "4"}, {"beta": 0.25}, None),
        ({"beta": "1e999"}, {"beta": 20.0}, "beta = 1e999 is outside 0 to 20 and was set to 20"),
        ({"beta": "nan"}, {"beta": 1.0}, "beta = nan is not a number from 0 to 20 and was set to 1.0"),
        ({"seed": "2.5"}, {"seed": 2}, "seed = 2.5 is no whole number and was set to 2"),
        ({"beta": "2", "T": "9"}, {"beta": 2.0}, "beta and T = 1/beta are both given; beta was used"),
        ({"colour": "red"}, {}, "settings that do not exist were left out: colour"),
        ({"v": "7"}, {}, "this link is of version 7, and this is version 1: check the settings"),
        (
            {"lane1": "pmp;damping=7"},
            {"lanes": (sampler("pmp", damping=0.99),)},
            "lane1's damping = 7 is outside 0 to 0.99 and was set to 0.99",
        ),
        (
            {"model": "square:4x4,J=99"},
            {"model": "square:4x4,J=10.0"},
            "square's J = 99 is outside -10 to 10 and was set to 10",
        ),
        (
            {"model": "square:99999x7", "chains": "1"},
            {"model": "square:512x7", "chains": 1},
            "square of 99999x7 has more than 262,144 sites and was set to 512x7",
        ),
    ],
)
def test_each_fault_has_its_sentence(query, change, notice):
    assert from_query(query, SMALL) == (SMALL.replace(**change), [notice] if notice else [])


def test_chains_are_capped_by_the_size_of_the_model():
    plan, notices = from_query({"model": "square:512x512", "chains": "4096"}, SMALL)
    assert plan.chains == 64
    assert notices == [f"chains = 4096 is too many for 262,144 sites and was set to {plan.chains}"]
    assert from_query({"model": "square:64x64", "chains": "4096"}, SMALL)[1] == []


def test_lanes_keep_their_order_over_gaps():
    plan, notices = from_query({"lane4": "gibbs", "lane2": "pmp"}, SMALL)
    assert [lane.algorithm for lane in plan.lanes] == ["pmp", "gibbs"] and notices == []


def test_large_paintings_stay_out_of_the_link_and_are_named():
    rng = np.random.default_rng(0)
    field = tuple((int(i), float(h)) for i, h in enumerate(rng.normal(size=2000)))
    plan = SMALL.replace(model="square:64x64", field=field, clamp=((5, 1),))
    query = to_query(plan)
    assert "field" not in query and "clamp" in query
    assert share_limits(plan) == [
        "The field painted on 2,000 sites is too large for a link; export the manifest to keep it."
    ]
    assert from_query(query, SMALL)[0] == plan.replace(field=())


def test_a_stroke_of_a_thousand_equal_sites_fits():
    plan = SMALL.replace(model="square:64x64", field=tuple((i, 0.5) for i in range(1000, 2000)))
    assert share_limits(plan) == []
    assert len(query_text(plan)) < 300


@pytest.mark.parametrize(
    "model, kept",
    [
        ("cycle:40", False),
        ("square:0x4", False),
        ("square :4 x 4", True),
        ("square:4x4,J=9999", True),
        ("square", True),
    ],
)
def test_edits_stay_where_the_model_has_the_sites_they_are_of(model, kept):
    edited = SMALL.replace(clamp=((3, 1),), field=((4, 0.5),))
    plan, notices = from_query(to_query(edited) | {"model": model}, SMALL)
    assert (plan.clamp, plan.field) == ((edited.clamp, edited.field) if kept else ((), ()))
    assert any("painted or clamped" in notice for notice in notices) is not kept


def test_edits_outside_the_model_are_left_out():
    query = to_query(SMALL) | {"clamp": edits.pack([(3, 1), (16, 1), (4, 2)])}
    plan, notices = from_query(query, SMALL)
    assert plan.clamp == ((3, 1),)
    assert notices == ["2 of the painted or clamped sites do not fit the model and were left out"]


def test_a_bomb_is_not_unpacked():
    bomb = edits.pack([(0, 0)] * 700_000)
    assert len(bomb) < 2 * edits.MOST_TEXT
    with pytest.raises(InputError, match="cannot be read"):
        edits.unpack(bomb)


def test_a_file_is_asked_for_by_its_hash():
    plan = SMALL.replace(model="file:" + "0" * 64)
    again, notices = from_query(to_query(plan), SMALL)
    assert again == plan and "bring the file" in notices[0]
    assert share_limits(plan) != []


def test_an_uploaded_file_is_found_again():
    model = model_of("square:4x4")
    upload = STORE.add("a.json", b"some bytes", lambda name, data: model)
    assert uploaded(upload.sha256) is model
    plan = SMALL.replace(model=f"file:{upload.sha256}", clamp=((15, 1),))
    assert from_query(to_query(plan), SMALL) == (plan, [])


def test_the_store_keeps_the_uploads_last_used():
    store = UploadStore(most=2)
    first, second = (store.add("f", data, lambda name, data: data) for data in (b"1", b"2"))
    store.find(first.sha256)
    store.add("f", b"3", lambda name, data: data)
    assert store.find(first.sha256) is not None and store.find(second.sha256) is None


def test_a_model_that_is_too_large_is_refused():
    with pytest.raises(InputError, match="bring one of at most"):
        UploadStore(most_bytes=100).add("f", b"1", lambda name, data: np.zeros(1000))


def test_foreign_text_is_shown_as_it_is():
    shown = as_text("[click](http://x) **b**\n# h")
    assert shown.startswith("\\[click\\]\\(http") and "\n" not in shown and "\\*\\*b" in shown


def test_temperature_is_the_inverse_of_beta():
    plan, _ = from_query({"T": "2.27"}, SMALL)
    assert math.isclose(plan.beta, 1 / 2.27, rel_tol=1e-12)
    assert CHAINS.low <= plan.chains <= CHAINS.high
