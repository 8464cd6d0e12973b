"""Every registered learner: registered with all it says, its gradient against enumeration, and its bits."""

import dataclasses
import importlib
import inspect
import pkgutil

import jax
import numpy as np
import pytest

import pmpviz.learning
from pmpviz import exact
from pmpviz.contract import learning_detectors as detectors
from pmpviz.contract.laws import edge_sum
from pmpviz.contract.learning_fixtures import BY_NAME, EVERYDAY, FIXTURES, REFUSALS, learnable, learned_by
from pmpviz.learning import LEARNERS, learner_class, make_learner
from pmpviz.learning.learner import LearnerSpec
from pmpviz.learning.parameters import check_form
from pmpviz.models import LayeredModel
from pmpviz.samplers import SAMPLERS
from pmpviz.types import InputError, Target
from tests.contract.learning_mutants import MUTANTS
from tests.thorough import case

pytestmark = pytest.mark.brief
KEY = jax.random.key(20_240_602)
MODULES = [m.name for m in pkgutil.iter_modules(pmpviz.learning.__path__)]
BY_GUARANTEE = {
    name: [cls for cls in LEARNERS if cls.spec.guarantee == name] for name in ("exact", "invariant", "approximate")
}
NOT_SAMPLED = {"exact", "pseudo_likelihood"}
SAMPLED = [cls for cls in LEARNERS if cls.spec.id not in NOT_SAMPLED]
APPROXIMATE = [cls for cls in BY_GUARANTEE["approximate"] if cls in SAMPLED]
# Each learner's bits on one model; evidence of more layouts is in the checks of the gradient.
BITS = [(cls, BY_NAME["six_sparse" if cls.spec.id == "pseudo_likelihood" else "srbm"]) for cls in LEARNERS]


# Every day a learner has a model with layers or one without; the one that starts from the data has the machine without
# lateral weights too. Single-site updates have the model without layers of all those below.
OF_LEARNER = {
    "gibbs_reset": ("six_sparse", "rbm"),
    "pcd": ("six_sparse",),
    "gwg_reset": ("srbm",),
    "gwg": ("srbm",),
    "pmp": ("edgeless_srbm",),
    "persistent_pmp": ("edgeless_sparse",),
    "descent": ("edgeless_sparse",),
    "perturb_lp": ("edgeless_srbm",),
}


def by_thoroughness(pairs) -> list:
    """The pairs as parameters of a test, marked where they are not taken every day."""
    return [
        case(cls, fixture, name=f"{cls.spec.id}-{fixture.name}", everyday=fixture.name in OF_LEARNER[cls.spec.id])
        for cls, fixture in pairs
    ]


def test_every_fixture_of_every_day_has_a_learner():
    assert {name for names in OF_LEARNER.values() for name in names} == EVERYDAY


def name_of(value):
    return getattr(getattr(value, "spec", None), "id", getattr(value, "name", str(value)))


def passes(detector, cls, fixture, **knobs):
    verdict = detector(make_learner(cls.spec.id, **knobs), fixture, KEY)
    assert verdict.passed, f"{cls.spec.id} on {fixture.name}: {verdict.found}"


@pytest.mark.parametrize("name", MODULES)
def test_every_learner_of_a_module_is_registered(name):
    module = importlib.import_module(f"pmpviz.learning.{name}")
    own = [c for _, c in inspect.getmembers(module, inspect.isclass) if c.__module__ == module.__name__]
    assert [c for c in own if isinstance(getattr(c, "spec", None), LearnerSpec) and c not in LEARNERS] == []


@pytest.mark.parametrize("cls", LEARNERS, ids=name_of)
def test_spec_says_what_the_learner_is(cls):
    spec = cls.spec
    assert learner_class(spec.id) is cls and sum(c.spec.id == spec.id for c in LEARNERS) == 1
    assert cls in BY_GUARANTEE[spec.guarantee]
    assert spec.sampler in {sampler.spec.id for sampler in SAMPLERS} and isinstance(spec.persistent, bool)
    for text in (spec.label, spec.summary, spec.paper, cls.__doc__):
        assert text and text.strip()
    fields = {field.name: field.default for field in dataclasses.fields(cls)}
    assert sorted(fields) == sorted(param.name for param in spec.params)
    for param in spec.params:
        default = param.choices.index(param.default) if param.scale == "choice" else param.default
        assert param.check(param.default) == param.default and np.float32(fields[param.name]) == np.float32(default)


@pytest.mark.parametrize("cls", LEARNERS, ids=name_of)
def test_every_learner_has_fixtures_that_it_runs_on(cls):
    refused = {f.name: cls.spec.why_not(f.model) for f in FIXTURES if cls.spec.why_not(f.model) is not None}
    assert set(refused) == REFUSALS.get(cls.spec.id, frozenset())
    assert all(" " in reason and "\n" not in reason for reason in refused.values())
    assert learnable(cls) and learnable(cls, edgeless=True)
    if cls.spec.id != "pseudo_likelihood":
        assert any(isinstance(fixture.model, LayeredModel) for fixture in learnable(cls))


def test_fixtures_have_their_form():
    for fixture in FIXTURES:
        check_form(fixture.model, fixture.form)
    with pytest.raises(InputError, match="use the binary one"):
        check_form(BY_NAME["six_sparse"].model, "spin")
    with pytest.raises(InputError, match="choose one of binary, spin, tied"):
        check_form(BY_NAME["six_sparse"].model, "signed")


@pytest.mark.parametrize("fixture", [f for f in FIXTURES if not f.edgeless], ids=name_of)
def test_the_enumerated_gradient_is_the_slope_of_the_log_likelihood(fixture):
    def log_likelihood(model, fixture):
        log_z = exact.solve(Target.of(model)).log_z
        joint = [fixture.data]
        if fixture.visible < model.n:
            hidden = BY_NAME["rbm"].law.states[:8, fixture.visible :]
            joint = [np.concatenate([fixture.data, np.tile(row, (len(fixture.data), 1))], 1) for row in hidden]
        return float(np.logaddexp.reduce([edge_sum(model, x) for x in joint]).mean() - log_z)

    numeric = detectors.numeric_gradient(fixture, log_likelihood)
    # Biases and weights are float32: a step of 1e-3 is known to a part in a thousand at worst.
    np.testing.assert_allclose(numeric, fixture.gradient, atol=3e-3)


@pytest.mark.parametrize("cls, fixture", learned_by(BY_GUARANTEE["exact"]), ids=name_of)
def test_exact_gradient(cls, fixture):
    passes(detectors.enumerated_gradient, cls, fixture)


@pytest.mark.parametrize("fixture", learnable(learner_class("pseudo_likelihood")), ids=name_of)
def test_pseudo_likelihood_gradient(fixture):
    passes(detectors.besag_gradient, learner_class("pseudo_likelihood"), fixture)


@pytest.mark.parametrize("cls, fixture", by_thoroughness(learned_by(BY_GUARANTEE["invariant"])))
def test_the_mean_gradient_is_the_enumerated_one(cls, fixture):
    passes(detectors.mean_gradient, cls, fixture)


@pytest.mark.parametrize("name", ["pcd", "gwg"])
@pytest.mark.parametrize("fixture", ["six_sparse", pytest.param("srbm", marks=pytest.mark.thorough)])
def test_so_is_that_of_single_site_updates(name, fixture):
    passes(detectors.mean_gradient, learner_class(name), BY_NAME[fixture], updates=9)


@pytest.mark.parametrize("cls, fixture", by_thoroughness(learned_by(APPROXIMATE, edgeless=True)))
def test_approximate_learners_are_exact_without_edges(cls, fixture):
    passes(detectors.mean_after(3 if cls.spec.persistent else 1), cls, fixture)


def test_pseudo_likelihood_has_the_exact_biases_without_edges():
    for fixture in learnable(learner_class("pseudo_likelihood"), edgeless=True):
        if fixture.form == "binary":
            found, _ = detectors.frozen(make_learner("pseudo_likelihood"), fixture, KEY)
            np.testing.assert_allclose(found[: fixture.model.n], fixture.gradient[: fixture.model.n], atol=1e-5)


# Bugs that are planted in learners: these have the check that catches a bug at its fixture.
PLANTED = {(cls, m.fixture, m.detector) for m in MUTANTS for cls in set(LEARNERS).intersection(m.learner.__mro__)}


def _going_round(detector, fixtures_of, every: int) -> list:
    """Every learner has each `every`-th of its fixtures every day, each learner from another one on: how moments are
    taken of chains is the fixture's, and where the chains come from the learner's."""
    return [
        case(
            cls,
            fixture,
            name=f"{cls.spec.id}-{fixture.name}",
            everyday=(place + SAMPLED.index(cls)) % every == 0 or (cls, fixture.name, detector) in PLANTED,
        )
        for cls in SAMPLED
        for place, fixture in enumerate(fixtures_of(cls))
    ]


@pytest.mark.parametrize("cls, fixture", _going_round(detectors.own_samples, learnable, 3))
def test_the_gradient_is_of_the_chains_that_are_shown(cls, fixture):
    passes(detectors.own_samples, cls, fixture)


@pytest.mark.parametrize("fixture", ["rbm", "srbm"])
def test_hidden_sites_as_decoded(fixture):
    passes(detectors.own_samples, learner_class("pmp"), BY_NAME[fixture], hidden="decoded")


def _with_and_without_layers(cls) -> list:
    return [BY_NAME["six_sparse"], BY_NAME["srbm"]]


@pytest.mark.parametrize("cls, fixture", _going_round(detectors.memory, _with_and_without_layers, 2))
def test_past(cls, fixture):
    passes(detectors.memory, cls, fixture)


@pytest.mark.parametrize("cls, fixture", _going_round(detectors.seeds, _with_and_without_layers, 2))
def test_keys(cls, fixture):
    passes(detectors.seeds, cls, fixture)


CHECKS = (detectors.chunks, detectors.adjusted, detectors.structure)


# One program a check and learner is compiled: by default of those whose state goes on in three different ways.
USUAL = ("pmp", "persistent_pmp", "pcd")
SPLIT = [pytest.param(*pair, marks=() if pair[0].spec.id in USUAL else pytest.mark.thorough) for pair in BITS]


@pytest.mark.as_shipped
@pytest.mark.parametrize("detector", CHECKS, ids=lambda d: d.__name__)
@pytest.mark.parametrize("cls, fixture", SPLIT, ids=name_of)
def test_bits_of_a_training(cls, fixture, detector):
    passes(detector, cls, fixture)


@pytest.mark.as_shipped
@pytest.mark.parametrize("fixture", ["six_sparse", "six_lattice", "six_spin_form"])
def test_structure_is_kept_in_every_layout(fixture):
    passes(detectors.structure, learner_class("exact"), BY_NAME[fixture])
