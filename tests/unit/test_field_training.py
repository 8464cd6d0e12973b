"""Maximum likelihood of log-linear fields with shared parameters: gradients, bounds, recovery, what is refused."""

from __future__ import annotations

import functools
import itertools

import jax
import numpy as np
import pytest

from pmpviz.learning.optimiser import Optimiser
from pmpviz.marginals import make_solver
from pmpviz.marginals.shared import SharedPotentials
from pmpviz.models import build_spec
from pmpviz.models.log_linear import LogLinear
from pmpviz.models.scene_field import SET, scene_field
from pmpviz.runs.field_expectations import BySampler, BySolver, Exactly
from pmpviz.runs.field_training import Example, advance, evaluate, gradient_of, start, stream
from pmpviz.samplers import make_sampler
from pmpviz.types import InputError, Refusal

KEY = jax.random.key(0)
NAMES = ("a", "b", "c")


def states_of(field: LogLinear) -> np.ndarray:
    return np.array(list(itertools.product(*(range(states) for states in field.base.card))))


def enumerated(field: LogLinear, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """(all configurations, log weights, log Z)."""
    x, base, phi = listed(field)
    weight = base + phi @ theta
    return x, weight, float(np.logaddexp.reduce(weight))


@functools.cache
def listed(field: LogLinear) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(all configurations, what each weighs whatever theta is, its statistics), once for a field."""
    x, base = states_of(field), float(field.base.constant)
    for scope, table in field.base.factors:
        base = base + np.asarray(table)[tuple(x[:, list(scope)].T)]
    return x, base, field.statistics(x)


def states_field(seed: int) -> LogLinear:
    """Pairs and single variables of 2 to 4 states on a loop."""
    rng, card = np.random.default_rng(seed), (3, 2, 4, 2)
    scopes = [(0,), (2,), (0, 1), (2, 1), (2, 3), (0, 3)]
    return LogLinear.of(card, NAMES, [(s, rng.normal(size=(*(card[v] for v in s), 3))) for s in scopes])


def large_field(seed: int) -> LogLinear:
    """A factor of three variables, pairs, and a pair of states that is forbidden."""
    rng, card = np.random.default_rng(seed), (2, 3, 2, 2)
    scopes = [(3,), (0, 1, 2), (2, 3), (1, 3)]
    base = [np.zeros([card[v] for v in s]) for s in scopes]
    base[2][1, 0] = -np.inf
    return LogLinear.of(card, NAMES, [(s, rng.normal(size=(*(card[v] for v in s), 3))) for s in scopes], base)


FIELDS = {"of K states": states_field, "with a factor of three": large_field}


def observed(field: LogLinear, seed: int, theta: np.ndarray) -> np.ndarray:
    x, weight, log_z = enumerated(field, theta)
    return x[np.random.default_rng(seed).choice(len(x), p=np.exp(weight - log_z))]


def examples_of(make, count: int = 3) -> list[Example]:
    fields = [make(seed) for seed in range(count)]
    return [Example.of(field, observed(field, k, np.zeros(3))) for k, field in enumerate(fields)]


def log_likelihood(examples: list[Example], theta: np.ndarray) -> float:
    """Per variable, by enumeration."""
    total = 0.0
    for each in examples:
        field = each.shared.field
        total += field.base_weight(each.x) + each.statistics @ theta - enumerated(field, theta)[2]
    return total / sum(each.shared.field.n for each in examples)


@pytest.mark.parametrize("name", FIELDS)
def test_statistics_and_potentials_are_those_of_the_tables(name):
    field, theta = FIELDS[name](0), np.array([0.7, -1.1, 0.4])
    x, weight, _ = enumerated(field, theta)
    np.testing.assert_allclose([field.base_weight(each) for each in x], listed(field)[1], atol=1e-12)
    tables = field.tables(theta)
    np.testing.assert_allclose([float(tables.log_weight(each)) for each in x], weight, atol=1e-4)
    model = field.model(theta)
    np.testing.assert_allclose([float(model.log_weight(each.astype(np.int8))) for each in x], weight, atol=1e-4)
    shared = SharedPotentials.of(field)
    assert shared.potentials(theta).structure is shared.structure
    if shared.factors is None:
        np.testing.assert_allclose(shared.potentials(theta).value(x), weight, atol=1e-12)


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("theta", [np.zeros(3), np.array([0.7, -1.1, 0.4])], ids=["at 0", "elsewhere"])
def test_the_exact_gradient_is_that_of_finite_differences(name, theta):
    examples, step = examples_of(FIELDS[name]), 1e-5
    found, expected = evaluate(examples, theta, Exactly(), KEY)
    differences = [
        (log_likelihood(examples, theta + step * unit) - log_likelihood(examples, theta - step * unit)) / (2 * step)
        for unit in np.eye(3)
    ]
    np.testing.assert_allclose(gradient_of(examples, expected), differences, atol=1e-8)
    assert found.log_likelihood == pytest.approx(log_likelihood(examples, theta), abs=1e-10)
    for each, said in zip(examples, expected, strict=True):
        x, weight, log_z = enumerated(each.shared.field, theta)
        p = np.exp(weight - log_z)
        for i, row in enumerate(said.marginals):
            np.testing.assert_allclose(row, [p[x[:, i] == k].sum() for k in range(len(row))], atol=1e-10)


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("solver", ["barrier_frank_wolfe", "trbp"])
def test_a_bound_on_log_z_bounds_the_likelihood_from_below_all_along_a_training(name, solver):
    method = BySolver(make_solver(solver, tolerance=1e-3), 200)
    examples = examples_of(FIELDS[name])
    begun = start(examples, method, KEY, Optimiser(learning_rate=0.2))
    for training in stream(begun, 12):
        record = training.trace[-1]
        truth = log_likelihood(examples, record.theta)
        assert record.lower is not None
        assert record.lower <= truth + 1e-9
        assert record.log_likelihood >= record.lower - 1e-9
        if record.upper is not None:
            assert record.upper >= truth - 1e-9
    assert training.trace[-1].lower > training.trace[0].lower


@pytest.mark.parametrize(
    ("name", "sampler"),
    [("of K states", "gibbs"), ("with a factor of three", "exact"), ("of K states", "perturb_and_map")],
)
def test_any_sampler_gives_the_gradient_within_its_noise(name, sampler):
    examples, theta = examples_of(FIELDS[name]), np.array([0.4, -0.5, 0.3])
    method = BySampler(make_sampler(sampler), chains=2000, sweeps=20)
    found, _ = evaluate(examples, theta, method, KEY)
    exact, _ = evaluate(examples, theta, Exactly(), KEY)
    assert found.log_likelihood is None
    away = np.abs(found.gradient - exact.gradient) / found.error
    # Perturb-and-MAP's law is another than the model's: its samples are drawn, and are not the model's.
    assert (away < 5).all() if sampler != "perturb_and_map" else np.isfinite(away).all()


def grid_field(seed: int, side: int = 3) -> LogLinear:
    """Potts variables of three states on a grid, a field of their own in each, as pixels' colours would give."""
    evidence, site = np.random.default_rng(seed).normal(size=(side * side, 3)), np.arange(side * side)
    nothing = np.zeros(3)
    factors: list = [((i,), np.stack([own, nothing], -1)) for i, own in enumerate(evidence)]
    pairs = [(i, i + 1) for i in site if (i + 1) % side] + [(i, i + side) for i in site if i + side < side * side]
    alike = np.stack([np.zeros((3, 3)), np.eye(3)], -1)
    return LogLinear.of((3,) * len(site), ("evidence", "alike"), factors + [(pair, alike) for pair in pairs])


def fisher(examples: list[Example], theta: np.ndarray) -> np.ndarray:
    """The sum of the covariances of the statistics."""
    total = 0.0
    for each in examples:
        _, weight, log_z = enumerated(each.shared.field, theta)
        phi, p = listed(each.shared.field)[2], np.exp(weight - log_z)
        centred = phi - p @ phi
        total = total + (p[:, None] * centred).T @ centred
    return total


@pytest.mark.parametrize(("way", "side", "count"), [("exact", 2, 40), ("gibbs", 3, 10)])
def test_the_parameters_of_a_known_model_come_back_within_their_standard_errors(way, side, count):
    known, fields = np.array([1.2, 0.6]), [grid_field(seed, side) for seed in range(count)]
    examples = [Example.of(field, observed(field, 100 + k, known)) for k, field in enumerate(fields)]
    method = Exactly() if way == "exact" else BySampler(make_sampler("gibbs"), chains=200, sweeps=5)
    begun = start(examples, method, KEY, Optimiser(learning_rate=0.1), decay=0.02)
    *_, training = stream(begun, 70)
    error = np.sqrt(np.diag(np.linalg.inv(fisher(examples, known))))
    assert (np.abs(training.averaged - known) < 4 * error).all()
    assert (error < known / 2).all()


def test_the_penalty_pulls_to_zero_and_what_is_not_free_stays():
    examples = examples_of(states_field)
    plain = Optimiser(method="sgd", learning_rate=0.5)
    free = start(examples, Exactly(), KEY, plain, free=(True, False, True))
    held = start(examples, Exactly(), KEY, Optimiser(method="sgd", learning_rate=0.5, l2=0.3))
    for _ in range(150):
        free, held = advance(free), advance(held)
    assert free.theta[1] == 0.0
    np.testing.assert_allclose(free.trace[-1].gradient[[0, 2]], 0, atol=1e-3)
    np.testing.assert_allclose(held.trace[-1].gradient, 0.3 * held.theta, atol=1e-3)


def test_a_training_by_samples_is_the_same_bits_again_and_steps_decay():
    examples = examples_of(states_field)
    method = BySampler(make_sampler("gibbs"), chains=50, sweeps=2)
    one, other = (list(stream(start(examples, method, KEY, decay=0.5), 3))[-1] for _ in range(2))
    np.testing.assert_array_equal(one.theta, other.theta)
    still = Optimiser(method="sgd", learning_rate=0.1)
    fast, slow = (advance(advance(start(examples, Exactly(), KEY, still, decay=decay))) for decay in (0.0, 1.0))
    first = fast.trace[1].theta
    np.testing.assert_allclose(slow.trace[1].theta, first)
    np.testing.assert_allclose(slow.theta - first, (fast.theta - first) / 2, rtol=1e-3)


def test_a_scenes_field_is_the_segmentation_and_resumed_bounds_hold():
    field = scene_field((6, 8), 0.15, 3)
    model = build_spec("segmentation:6x8,seed=3")
    theta, rng = np.array(SET), np.random.default_rng(0)
    for x in rng.integers(0, 2, (5, field.n)).astype(np.int8):
        expected = float(model.log_weight(x))
        assert float(field.model(theta).log_weight(x)) == pytest.approx(expected, abs=1e-3)
        assert float(field.statistics(x) @ theta) == pytest.approx(expected, abs=1e-3)
    example = Example.of(field, field.truth)
    walk = BySolver(make_solver("barrier_frank_wolfe", oracle="qpbo", rho_updates=0), 6)
    begun = start([example], walk, KEY, Optimiser(learning_rate=0.1), theta)
    for training in stream(begun, 4):
        record = training.trace[-1]
        exact, _ = evaluate([example], record.theta, Exactly(), KEY)
        assert record.lower <= exact.log_likelihood + 1e-9
        assert record.upper >= exact.log_likelihood - 1e-9


def test_bad_input_is_said_in_a_sentence():
    field, theta = states_field(0), np.zeros(3)
    with pytest.raises(InputError, match="nothing to learn"):
        LogLinear.of((2,), (), [])
    with pytest.raises(InputError, match="a last one of the 3 parameters"):
        LogLinear.of((2, 2), NAMES, [((0, 1), np.zeros((2, 3)))])
    with pytest.raises(InputError, match="no finite number"):
        LogLinear.of((2,), NAMES, [((0,), np.full((2, 3), np.nan))])
    with pytest.raises(InputError, match="log table of factor 0"):
        LogLinear.of((2,), NAMES, [((0,), np.zeros((2, 3)))], [np.zeros(3)])
    with pytest.raises(InputError, match="2 log tables"):
        LogLinear.of((2,), NAMES, [((0,), np.zeros((2, 3)))], [np.zeros(2), np.zeros(2)])
    with pytest.raises(InputError, match="3 finite parameters: a, b, c"):
        field.tables(np.zeros(2))
    with pytest.raises(InputError, match="has 4 variables"):
        Example.of(field, np.zeros(3, int))
    with pytest.raises(InputError, match="variable 1 was observed in state 5"):
        Example.of(field, np.array([0, 5, 0, 0]))
    with pytest.raises(InputError, match="forbidden by a factor"):
        Example.of(large_field(0), np.array([0, 0, 1, 0]))
    example = Example.of(field, np.zeros(4, int))
    with pytest.raises(InputError, match="at least one example"):
        start([], Exactly(), KEY)
    with pytest.raises(InputError, match="share the parameters a, b, c"):
        start([example, Example.of(grid_field(0), np.zeros(9, int))], Exactly(), KEY)
    with pytest.raises(InputError, match="decay of -1"):
        start([example], Exactly(), KEY, decay=-1)
    with pytest.raises(InputError, match="whether it is learned"):
        start([example], Exactly(), KEY, free=(True,))
    with pytest.raises(InputError, match="finite parameters"):
        start([example], Exactly(), KEY, theta=theta + np.inf)
    large = Example.of(large_field(0), np.zeros(4, int))
    with pytest.raises(Refusal, match="example 1 of 1: .*factor of 3 variables"):
        start([large], BySampler(make_sampler("gwg")), KEY)
    wide = scene_field((40, 44), 0.15, 0)
    with pytest.raises(Refusal, match="width"):
        start([Example.of(wide, wide.truth)], Exactly(), KEY)
