"""Specs as text: round trips, refusals, identities."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmpviz.models import (
    BUILDERS,
    PRESETS,
    build_spec,
    builder_of,
    format_spec,
    model_hash,
    parse_model_spec,
)
from pmpviz.models.builders import CRITICAL_SQUARE
from pmpviz.types import InputError


def values_of(param):
    if param.scale == "bool":
        return st.booleans()
    if param.scale == "choice":
        return st.sampled_from(param.choices)
    if param.scale == "int":
        return st.integers(int(param.low), int(param.high))
    return st.floats(param.low, param.high)


@st.composite
def specs(draw):
    builder = draw(st.sampled_from(BUILDERS))
    size = tuple(draw(st.lists(st.integers(1, 15), min_size=len(builder.size), max_size=len(builder.size))))
    params = draw(st.fixed_dictionaries({}, optional={p.name: values_of(p) for p in builder.params}))
    return builder, size, params


@given(specs())
@settings(max_examples=300, deadline=None)
def test_text_and_back(spec):
    builder, size, params = spec
    text = format_spec(builder, size, params)
    values = builder.resolve(params)
    assert parse_model_spec(text) == (builder, size, values)
    assert builder.resolve(values) == values
    assert format_spec(*parse_model_spec(text)) == text


def sites(builder, size) -> int:
    """The product of the sides; hidden units come on top of the pixels."""
    if builder.size[-1] == "hidden":
        return int(np.prod(size[:-1])) + size[-1]
    return int(np.prod(size))


@given(specs())
@settings(max_examples=150, deadline=None)
def test_same_text_same_model(spec):
    builder, size, params = spec
    try:
        model = builder.build(size, **params)
    except InputError as refused:
        assert "\n" not in str(refused)
        with pytest.raises(InputError):
            build_spec(format_spec(builder, size, params))
        return
    assert model_hash(build_spec(format_spec(builder, size, params))) == model_hash(model)
    assert model.n == sites(builder, size) and np.isfinite(getattr(model, "bias", model.constant)).all()


SEEDS = [preset.spec for preset in PRESETS] + [
    "tree:31,branching=3,couplings=glass,J=1,field=random,h=0.5,seed=4",
    "random_regular:20,degree=3",
]
LETTERS = st.sampled_from(list("x,:=.-+ e_09aJhNi") + ["nan", "inf", "true", "couplings", "\n", "\0", "\u0663", "'"])


@st.composite
def mutated(draw):
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        at, cut = draw(st.integers(0, len(text))), draw(st.integers(0, 3))
        text = text[:at] + draw(LETTERS) + text[at + cut :]
    return text


@given(st.one_of(mutated(), st.text(max_size=40)))
@settings(max_examples=1500, deadline=None)
def test_mutated_text_is_read_or_refused_in_one_sentence(text):
    try:
        builder, size, values = parse_model_spec(text)
    except InputError as refused:
        assert "\n" not in str(refused) and len(str(refused)) < 400
        return
    assert parse_model_spec(format_spec(builder, size, values)) == (builder, size, values)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "choose one of square"),
        ("cube:3x3x3", "choose one of"),
        ("square:25", "height x width, as in square:64x64"),
        ("square:0x5", "height x width"),
        ("square:-3x5", "height x width"),
        ("square:3x5x2", "height x width"),
        ("square:3*5", "height x width"),
        ("square:4x4,temperature=3", "it has couplings, J"),
        ("square:4x4,J", "name=value"),
        ("square:4x4,", "name=value"),
        ("square:4x4,J=", "name=value"),
        ("square:4x4,J=1,J=1", "given twice"),
        ("square:4x4,J=1,theta=0.5", "J = 2 theta"),
        ("square:4x4,J=nan", "from -10 to 10"),
        ("square:4x4,J=11", "from -10 to 10"),
        ("square:4x4,theta=6", "from -5 to 5"),
        ("square:4x4,J=__import__('os')", "a number from"),
        ("square:4x4,couplings=99", "one of uniform, glass"),
        ("square:4x4,couplings=sk", "one of uniform, glass"),
        ("square:4x4,periodic=maybe", "true or false"),
        ("square:4x4,seed=1.5", "whole number"),
        ("square:4x4,couplings=uniform,sigma=2", "no effect with couplings=uniform"),
        ("square:4x4,couplings=gaussian,theta=2", "no effect with couplings=gaussian"),
        ("square:4x4,field=none,h=2", "no effect with field=none"),
        ("square:4x4,J=1,sigma=1", "no effect"),
        ("clique:10,J=1", "it has theta, seed"),
        ("square:4x4," + "J=1," * 500, "at most 1000"),
    ],
)
def test_refusals_name_the_choices(text, word):
    with pytest.raises(InputError) as refused:
        parse_model_spec(text)
    assert word in str(refused.value)


def test_bad_sizes_from_a_program_are_refused():
    for size in ((3,), (3.5, 3), ("a", "b"), (), (-1, 3)):
        with pytest.raises(InputError):
            builder_of("square").build(size)


def test_defaults_and_short_forms():
    builder, size, values = parse_model_spec("square")
    assert (builder.id, size, values["J"]) == ("square", (64, 64), CRITICAL_SQUARE)
    assert parse_model_spec(" square : 4X5 , J = 0.25 ")[1:] == parse_model_spec("square:4x5,theta=0.125")[1:]
    assert parse_model_spec("square:4x4,h=0.2")[2]["field"] == "uniform"
    assert parse_model_spec("square:4x4,sigma=2")[2]["couplings"] == "gaussian"
    assert parse_model_spec("complete:8,theta=0.25")[2]["couplings"] == "uniform"
    assert parse_model_spec("complete:8,sigma=2")[2]["couplings"] == "sk"
    assert parse_model_spec("square:4x4,seed=5") == parse_model_spec("square:4x4")


def test_knobs_without_effect_do_not_change_the_text():
    square = builder_of("square")
    full = dict(square.resolve({}), sigma=3.0, h=2.0, seed=7)
    assert format_spec(square, (4, 4), full) == "square:4x4"
    assert [p.name for p in square.active({"couplings": "gaussian"})] == [
        "couplings",
        "sigma",
        "field",
        "periodic",
        "seed",
    ]


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.id)
def test_presets_build_and_say_what_to_see(preset):
    builder, size, values = parse_model_spec(preset.spec)
    model = builder.build(size, **values)
    assert model.n == sites(builder, size)
    assert 0 < preset.beta <= 4
    assert "\n" not in preset.lesson and 20 < len(preset.lesson) <= 110


def test_ids_are_unique():
    for entries in (BUILDERS, PRESETS):
        assert len({entry.id for entry in entries}) == len(entries)


def test_hash_sees_every_part():
    model = build_spec("square:4x4,couplings=glass,J=1")
    assert model_hash(model) == model_hash(build_spec("square:4x4,couplings=glass,J=1"))
    shifted = dataclasses.replace(model.couplings, shifts=((0, 1), (2, 0)))
    flat = dataclasses.replace(model.couplings, shape=(2, 8), weight=model.couplings.weight.reshape(2, 2, 8))
    changes = [
        dataclasses.replace(model, bias=model.bias + np.eye(16, dtype=np.float32)[3]),
        dataclasses.replace(model, constant=1.0),
        dataclasses.replace(model, couplings=shifted),
        dataclasses.replace(model, couplings=flat),
        model.as_layout("dense"),
        model.as_layout("sparse"),
        build_spec("square:4x4,couplings=glass,J=1,seed=1"),
    ]
    hashes = {model_hash(changed) for changed in [model, *changes]}
    assert len(hashes) == len(changes) + 1
