"""The registry is complete and says enough of every algorithm; knowledge flows one way."""

import dataclasses
import importlib
import inspect
import itertools
import pkgutil

import jax
import numpy as np
import pytest

import pmpviz.samplers
from pmpviz.contract import said, suite
from pmpviz.contract.fixtures import EVERYDAY, FIXTURES, REFUSALS, case_id, fixtures_of
from pmpviz.learning import LEARNERS
from pmpviz.marginals import SOLVERS
from pmpviz.oracles import ORACLES
from pmpviz.player.style import SPARE, style_of
from pmpviz.samplers import CONV_SAMPLERS, SAMPLERS, make_sampler
from pmpviz.samplers.gibbs import Gibbs
from pmpviz.types import Overlay, Param, Spec, Style, pytree
from tests.contract.imports import back_edges

SAYINGS = (said.said, said.traced, said.refuses_in_a_sentence)
MODULES = [m.name for m in pkgutil.iter_modules(pmpviz.samplers.__path__) if not m.name.startswith("_")]


def unregistered(module, registered) -> list[str]:
    """Algorithms that a module defines without their being registered; the module itself if it defines none."""
    own = [
        cls
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if cls.__module__ == module.__name__ and isinstance(getattr(cls, "spec", None), Spec)
    ]
    return [module.__name__] if not own else [cls.__name__ for cls in own if cls not in registered]


@pytest.mark.parametrize("name", MODULES)
def test_every_module_defines_registered_algorithms(name):
    assert unregistered(importlib.import_module(f"pmpviz.samplers.{name}"), (*SAMPLERS, *CONV_SAMPLERS)) == []


def test_an_unregistered_algorithm_is_found():
    module = importlib.import_module("pmpviz.samplers.gibbs")
    assert unregistered(module, ()) == ["Gibbs"]
    assert unregistered(pmpviz.types, SAMPLERS) == ["pmpviz.types"]


def test_ids_are_unique_words():
    for registry in (SAMPLERS, CONV_SAMPLERS):
        ids = [cls.spec.id for cls in registry]
        assert len(set(ids)) == len(ids)
        assert all(id.replace("_", "").isalnum() and id == id.lower() for id in ids)


@pytest.mark.parametrize(
    "check", [said.said, said.traced, said.refuses_in_a_sentence], ids=lambda check: check.__name__
)
@pytest.mark.parametrize("cls", SAMPLERS, ids=case_id)
def test_an_algorithm_says_what_it_is(cls, check):
    verdict = check(cls)
    assert verdict.passed, verdict.found


MISSAID = {
    "summary": ({"summary": " "}, "its summary is empty"),
    "kind": ({"kind": "solver"}, "a sampler's kind is chain or draw"),
    "guarantee": ({"guarantee": "bound"}, "its guarantee is bound"),
    "reversible": ({"kind": "draw", "reversible": True}, "only a chain can be reversible"),
    "style": ({"style": Style("red")}, "no colour #rrggbb"),
    "knobs": ({"params": make_sampler("pmp").spec.params[:1]}, "its fields are"),
    "trials": ({"trials": {"seeds": {"damping": 0.5}}}, "its trials name an unknown knob"),
    "overlay": ({"overlays": (Overlay("field", "loud"),)}, "an overlay's kind is one of"),
    "quanta": ({"quanta": lambda model: 0}, "its quanta is below 1"),
    "models": ({"why_not": lambda target: "not today"}, "it runs on none of the small binary models"),
}


@pytest.mark.parametrize("name", MISSAID)
def test_what_is_missaid_is_found(name):
    changes, reason = MISSAID[name]
    cls = type("Missaid", (Gibbs,), {"spec": dataclasses.replace(Gibbs.spec, **changes), "__doc__": "Gibbs."})
    verdict = said.said(cls)
    assert not verdict.passed and reason in verdict.found


def test_a_knob_that_is_not_traced_and_a_refusal_that_raises_are_found():
    hashed = pytree(static=("knob",))(type("Hashed", (Gibbs,), {"__annotations__": {"knob": float}, "knob": 0.5}))
    hashed.spec = dataclasses.replace(Gibbs.spec, params=(Param("knob", "Knob", 0, 1, 0.5, help="Of no use."),))
    assert not said.traced(hashed).passed
    fussy = type("Fussy", (Gibbs,), {"spec": dataclasses.replace(Gibbs.spec, why_not=lambda target: "No")})
    assert not said.refuses_in_a_sentence(fussy).passed


def test_every_algorithm_has_a_style_and_no_two_samplers_look_alike():
    for registry in (SAMPLERS, LEARNERS, ORACLES, SOLVERS):
        assert all(cls.spec.style is not None for cls in registry.own)
    styles = [style_of(cls.spec) for cls in SAMPLERS]
    assert len(set(styles)) == len(styles) and not set(styles) & set(SPARE)


@pytest.mark.parametrize("cls", (*SAMPLERS, *CONV_SAMPLERS), ids=lambda cls: cls.__name__)
def test_params_are_the_knobs_and_hold_their_defaults(cls):
    names = [param.name for param in cls.spec.params]
    fields = {field.name: field.default for field in dataclasses.fields(cls)}
    assert sorted(names) == sorted(fields)
    for param in cls.spec.params:
        assert param.label.strip() and param.help.strip() and param.scale in ("linear", "log", "int", "bool", "choice")
        assert param.check(param.default) == param.default
        assert param.parse(str(param.default)) == param.default
        if param.scale in ("linear", "log", "int"):
            assert param.low < param.high and (param.scale != "log" or param.low > 0)
        default = param.choices.index(param.default) if param.scale == "choice" else param.default
        assert np.float32(fields[param.name]) == np.float32(default)


@pytest.mark.parametrize("cls", SAMPLERS, ids=case_id)
def test_every_algorithm_has_fixtures_that_it_runs_on(cls):
    refused = {fixture.name for fixture in FIXTURES if cls.spec.why_not(fixture.target) is not None}
    assert refused == REFUSALS.get(cls.spec.id, frozenset())
    for _, purpose in suite.law_checks(cls.spec):
        found = {fixture.name for fixture in fixtures_of(cls, purpose)}
        assert found, f"{cls.spec.id} has no {purpose} fixture that it runs on"
        assert found & EVERYDAY, f"{cls.spec.id} has no {purpose} fixture that every run takes"


def test_everyday_fixtures_exist():
    assert {fixture.name for fixture in FIXTURES} > EVERYDAY


def test_no_two_algorithms_are_one_to_the_compiler():
    # jit looks its programs up by the tree of its arguments: equal trees would run one algorithm for another.
    for a, b in itertools.combinations(SAMPLERS, 2):
        assert jax.tree.structure(a()) != jax.tree.structure(b()), f"{a.spec.id} and {b.spec.id} are the same tree"


def test_knowledge_flows_one_way():
    assert back_edges() == []


PLANTED = {
    "pmpviz/models/a.py": ("import pmpviz.samplers.gibbs", "above it"),
    "pmpviz/types.py": ("from pmpviz import keys", "above it"),
    "pmpviz/samplers/b.py": ("def f():\n    from ..runs import start", "above it"),
    "pmpviz/samplers/c.py": ("from pmpviz.metrics import mmd", "below learning"),
    "pmpviz/metrics/d.py": ("from pmpviz.runs.trace import Trace", "types and models alone"),
    "pmpviz/runs/e.py": ("import streamlit as st", "streamlit belongs"),
    "pmpviz/player/f.py": ("from streamlit import session_state", "streamlit belongs"),
    "pmpviz/capabilities/learning/g.py": ("from pmpviz.experiments import bench", "above it"),
    "pmpviz/capabilities/learning/plan.py": ("import streamlit", "streamlit belongs"),
    "pmpviz/capabilities/learning/stage.py": ("import streamlit", "streamlit belongs"),
    "pmpviz/capabilities/learning/k.py": ("from pmpviz.capabilities.sampling import lane", "hand_over only"),
    "pmpviz/runs/h.py": ("import importlib\nimportlib.import_module('pmpviz.app.player')", "above it"),
    "pmpviz/live/l.py": ("from pmpviz.capabilities.sampling.plan import Plan", "above it"),
    "pmpviz/attic/i.py": ("from pmpviz import types", "no room"),
    "pmpviz/app/j.py": ("import pages.home", "above it"),
}


@pytest.mark.parametrize("path", PLANTED)
def test_a_planted_back_edge_is_found(path, tmp_path):
    code, reason = PLANTED[path]
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(code)
    (found,) = back_edges(tmp_path)
    assert reason in found and path in found


def test_allowed_imports_are_not_reported(tmp_path):
    fine = {
        "pmpviz/runs/a.py": "from pmpviz import __version__, keys\nfrom .trace import Trace\nfrom ..metrics import mmd",
        "pmpviz/app/b.py": "import streamlit as st\nfrom pmpviz.player import wire",
        "pmpviz/capabilities/learning/page.py": "import streamlit\nfrom pmpviz.capabilities.sampling import hand_over",
        "pmpviz/capabilities/learning/page/stage.py": "import streamlit",
        "pages/c.py": "import streamlit\nfrom pmpviz import app, capabilities",
        "app.py": "import pages\nfrom pmpviz.app import navigation",
    }
    for path, code in fine.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(code)
    assert back_edges(tmp_path) == []


def test_neighbours_in_a_circle_are_found(tmp_path):
    for room, other in (("exact", "oracles"), ("oracles", "exact")):
        (tmp_path / "pmpviz" / room).mkdir(parents=True)
        (tmp_path / "pmpviz" / room / "a.py").write_text(f"from pmpviz.{other} import a")
    assert back_edges(tmp_path) == ["exact and oracles import each other"]
