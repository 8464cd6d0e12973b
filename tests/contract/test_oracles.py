"""Every registered oracle against brute force: what it promises holds, and its numbers are those of its configuration.

500 random models each (attractive ones where an oracle needs them), of mixed cardinalities where it takes them.
"""

import dataclasses
import gc
import importlib
import inspect
import pkgutil
import weakref
from functools import lru_cache

import numpy as np
import pytest

import pmpviz.oracles
from pmpviz.contract.oracle_models import brute_force, of_spec, random_potentials
from pmpviz.oracles import ORACLES, PROMISES, MapOracle, Potentials, Structure, make_oracle, oracle_class
from pmpviz.types import InputError, Refusal

MODELS = 500
# Modules of this room that hold no oracle: contracts, and kernels that samplers and learners call themselves.
KERNELS = {"potentials", "oracle", "perturbed", "max_product", "conv_max_product", "linear_program", "solver_process"}
KERNELS |= {"factors", "on_factors", "reduction"}
MODULES = [m.name for m in pkgutil.iter_modules(pmpviz.oracles.__path__) if m.name not in KERNELS]
# Settings under which an oracle that takes long by default still keeps what it promises.
QUICK: dict[str, dict] = {"multi_start": {"starts": 4}, "annealing": {"sweeps": 8, "starts": 4}}
# Oracles that take attractive two-state models only.
ATTRACTIVE = frozenset({"graph_cut"})
# Oracles of an optional extra run where it is installed; what they say where it is not has a test of its own.
TRIVIAL = Potentials.of_quadratic([1.0], [], [], [])
USABLE = [
    pytest.param(cls, id=cls.spec.id, marks=pytest.mark.skipif("not installed" in why, reason=why))
    for cls, why in ((cls, cls.spec.why_not(TRIVIAL) or "") for cls in ORACLES)
]


def case_id(cls) -> str:
    return cls.spec.id


def made(cls) -> MapOracle:
    return make_oracle(cls.spec.id, **QUICK.get(cls.spec.id, {}))


@lru_cache(maxsize=8 * MODELS)
def model(seed: int, attractive: bool) -> tuple[Potentials, float]:
    potentials = random_potentials(seed, states=2 if attractive or seed % 2 else 4, attractive=attractive)
    return potentials, brute_force(potentials)[1]


def models_of(cls):
    """(potentials, maximum) of 500 random models that the oracle takes."""
    found = []
    for seed in range(4 * MODELS):
        potentials, best = model(seed, cls.spec.id in ATTRACTIVE)
        if cls.spec.why_not(potentials) is None:
            found.append((potentials, best))
        if len(found) == MODELS:
            return found
    return pytest.fail(f"{cls.spec.id} takes only {len(found)} of {4 * MODELS} models")


@pytest.mark.parametrize("name", MODULES)
def test_every_module_registers_an_oracle(name):
    module = importlib.import_module(f"pmpviz.oracles.{name}")
    own = [
        cls
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if cls.__module__ == module.__name__ and issubclass(cls, MapOracle)
    ]
    assert own and [cls.__name__ for cls in own if cls not in ORACLES] == []


def test_ids_are_unique_words_and_unknown_ones_are_refused():
    ids = [cls.spec.id for cls in ORACLES]
    assert len(set(ids)) == len(ids)
    assert all(id.replace("_", "").isalnum() and id == id.lower() for id in ids)
    assert [oracle_class(id) for id in ids] == list(ORACLES)
    with pytest.raises(InputError, match="there is no oracle 'oracle'; choose one of exact"):
        make_oracle("oracle")
    with pytest.raises(InputError, match="icm has no setting 'sweps'"):
        make_oracle("icm", sweps=3)


@pytest.mark.parametrize("cls", ORACLES, ids=case_id)
def test_spec_and_knobs_say_what_the_oracle_is(cls):
    spec = cls.spec
    assert spec.promise in PROMISES
    assert all(text and text.strip() for text in (spec.label, spec.summary, cls.__doc__))
    fields = {field.name: field.default for field in dataclasses.fields(cls)}
    assert sorted(param.name for param in spec.params) == sorted(fields)
    for param in spec.params:
        assert param.label.strip() and param.help.strip()
        assert param.parse(str(param.default)) == param.default
        default = param.choices.index(param.default) if param.scale == "choice" else param.default
        assert fields[param.name] == default and type(fields[param.name]) is type(default)
    assert hash(cls()) == hash(make_oracle(spec.id))


@pytest.mark.parametrize("cls", USABLE)
def test_value_bound_and_proof_against_brute_force(cls):
    """exact -> the maximum; upper >= maximum >= value = theta(x), on every model."""
    oracle, proofs = made(cls), 0
    for potentials, best in models_of(cls):
        solution = oracle.solve(potentials)
        x, near = solution.x, 1e-8 * potentials.size
        assert x.dtype == np.int8 and x.shape == (potentials.n,)
        assert (x >= 0).all() and (x < np.array(potentials.structure.card, int)).all()
        assert solution.value == pytest.approx(float(potentials.value(x)), abs=near)
        assert solution.value <= best + near
        if solution.upper is not None:
            assert solution.upper >= best - 1e-6 and solution.upper >= solution.value - near
        if solution.exact:
            assert solution.value == pytest.approx(best, abs=1e-6) and solution.upper == pytest.approx(best, abs=1e-6)
        assert cls.spec.promise != "heuristic" or not solution.exact
        proofs += solution.exact
    assert proofs == MODELS or cls.spec.promise != "exact"
    assert proofs > 0 or cls.spec.promise == "heuristic"


@pytest.mark.parametrize("cls", USABLE)
def test_a_batch_is_its_problems_one_by_one(cls):
    """Where the numbers are generic the configurations agree, so that no tie is left to rounding."""
    oracle, rng, sizes = made(cls), np.random.default_rng(8), [0, 1, 2, 5, 9] * 2
    for seed in range(80):
        potentials, _ = model(seed, cls.spec.id in ATTRACTIVE)
        if not sizes or cls.spec.why_not(potentials) is not None:
            continue
        shape = (sizes.pop(), *potentials.unary.shape)
        unary = np.where(potentials.structure.valid, potentials.unary + rng.logistic(0, 1, shape), 0.0)
        together = oracle.solve_batch(potentials, unary)
        apart = [oracle.solve(potentials.with_values(one)) for one in unary]
        assert len(together) == len(unary)
        for a, b in zip(together, apart, strict=True):
            np.testing.assert_array_equal(a.x, b.x)
            assert a.value == pytest.approx(b.value, abs=1e-8 * potentials.size) and a.exact == b.exact
            assert (a.upper is None) == (b.upper is None) and a.upper == pytest.approx(b.upper, abs=1e-6)
    assert not sizes


@pytest.mark.parametrize("cls", USABLE)
def test_new_numbers_on_the_same_structure_and_back_again(cls):
    """What is kept for a structure never leaks from one set of numbers into the next."""
    oracle = made(cls)
    start, _ = model(1, cls.spec.id in ATTRACTIVE)
    if cls.spec.why_not(start) is not None:
        start = of_spec("chain:6,J=0.7,h=0.1")
    rng = np.random.default_rng(2)
    several = [start.with_values(start.unary + rng.normal(size=start.unary.shape), start.table * c) for c in (1, 2, 0)]
    first = [oracle.solve(one) for one in several]
    for again, one in zip([oracle.solve(p) for p in reversed(several)], reversed(first), strict=True):
        assert again.value == pytest.approx(one.value, abs=1e-8) and again.upper == pytest.approx(one.upper, abs=1e-6)


@pytest.mark.parametrize("cls", USABLE)
def test_what_is_kept_for_a_structure_goes_with_it(cls):
    """Models come and go in a long-lived program: no oracle holds on to those that it has solved."""
    oracle, solved = made(cls), []
    # Two states, mixed ones, and enough variables for sparse couplings.
    for card in ((2,) * 5, (2, 3, 2, 3, 3), (2,) * 40):
        structure = Structure(card, np.arange(len(card) - 1), np.arange(1, len(card)))
        start = Potentials(structure, np.zeros(structure.valid.shape), np.zeros(structure.valid_pairs.shape))
        start.table[:, 1, 1] = 1.0
        if cls.spec.why_not(start) is None:
            oracle.solve_batch(start, np.stack([start.unary, start.unary]))
            solved.append(weakref.ref(structure))
        del start, structure
    gc.collect()
    assert solved and [one() for one in solved] == [None] * len(solved)


@pytest.mark.parametrize("cls", USABLE)
@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_the_unit_of_the_potentials_does_not_matter(cls, scale):
    """Nothing is called exact because it is small, and nothing is lost because it is large."""
    oracle, counted = made(cls), 0
    for seed in range(1, 60, 2):
        potentials, best = model(seed, cls.spec.id in ATTRACTIVE)
        # Ties are broken, since their order may follow the last bits.
        noise = np.random.default_rng(seed).uniform(0, 0.01, potentials.unary.shape) * potentials.structure.valid
        start = potentials.with_values(potentials.unary + noise)
        scaled = Potentials(start.structure, scale * start.unary, scale * start.table, scale * start.constant)
        if cls.spec.why_not(start) is not None:
            continue
        one, other = oracle.solve(start), oracle.solve(scaled)
        truth = scale * brute_force(start)[1]
        assert not other.exact or other.value == pytest.approx(truth, rel=1e-7, abs=1e-8 * scaled.size)
        assert other.upper is None or other.upper >= truth - 1e-8 * scaled.size
        assert one.exact == other.exact
        np.testing.assert_array_equal(one.x, other.x)
        counted += 1
    assert counted > 5


@pytest.mark.parametrize("cls", ORACLES, ids=case_id)
def test_a_refusal_is_a_sentence_and_is_raised(cls):
    i, j = np.triu_indices(5, 1)
    structure = Structure((3, 2, 3, 4, 2), i, j)
    rng = np.random.default_rng(3)
    unary = np.where(structure.valid, rng.normal(size=structure.valid.shape), 0.0)
    potentials = Potentials(structure, unary, np.where(structure.valid_pairs, -1.0 - rng.random((10, 4, 4)), 0.0))
    reason = cls.spec.why_not(potentials)
    if reason is None:
        assert made(cls).solve(potentials).value <= brute_force(potentials)[1] + 1e-9
        return
    assert " " in reason and "\n" not in reason
    for call in (lambda: made(cls).solve(potentials), lambda: made(cls).solve_batch(potentials, unary[None])):
        with pytest.raises(Refusal) as caught:
            call()
        assert str(caught.value) == reason
