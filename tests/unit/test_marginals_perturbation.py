"""Marginals and bounds from perturbed maxima: the notes' rows of cliques, definitions, the tree theorem."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from pmpviz import exact
from pmpviz.io import load_model
from pmpviz.marginals.perturbation import Estimate, _asked_clamps, clamped_marginals, gathered, perturbed_maxima
from pmpviz.marginals.tree_perturbation import tree_pair
from pmpviz.models import Ising, build_spec
from pmpviz.oracles import Potentials, Solution, make_oracle
from pmpviz.oracles.perturbed import gumbels
from pmpviz.types import InputError, Refusal, Target

FOLDER = Path(os.environ.get("PMPVIZ_DATA", "")) / "uai"
REAL = json.loads((FOLDER / "answers.json").read_text()) if (FOLDER / "answers.json").exists() else []
BANK = 1000
# theta: mean over its five cliques of (L1 of the frequencies, L1 of the clamped ratios, bound less log Z), 1000 draws.
MEASURED = {0.5: (0.038, 0.017, 0.59), 2: (0.123, 0.041, 1.09), 8: (0.160, 0.022, 1.20)}
# The figures above came from another bank of the same size: a difference has the error of both, and 4.9 of them.
ALLOWED = 4.9 * np.sqrt(2)


def rows_of(files):
    """(L1 of frequencies, L1 of ratios, bound - log Z) a file, and the standard error of each, variables taken as
    fully dependent."""
    for number, answer in enumerate(files):
        loaded = load_model(FOLDER / answer["file"])
        potentials, _ = Potentials.of_target(Target.of(loaded.model), loaded.tables)
        noise = gumbels(np.random.default_rng(number), BANK, potentials.structure)
        maxima, p = perturbed_maxima(potentials, noise), np.array(answer["marginals"])
        shares, ratios, bound = maxima.marginals(potentials), clamped_marginals(potentials, noise), maxima.log_z_bound
        found = [np.abs(each.marginals[:, 1] - p).mean() for each in (shares, ratios)]
        errors = [each.standard_error[:, 1].mean() for each in (shares, ratios)]
        yield (*found, bound.mean - answer["log_z"]), (*errors, bound.standard_error)


@pytest.mark.parametrize("theta", MEASURED if REAL else [])
def test_rows_of_the_papers_cliques(theta):
    files = [answer for answer in REAL if answer["file"].startswith("clique") and answer["theta"] == theta]
    assert len(files) == 5
    found, errors = (np.array(part) for part in zip(*rows_of(files), strict=True))
    error = np.sqrt((errors**2).sum(0)) / len(files)
    # The notes give three digits.
    difference = np.abs(found.mean(0) - MEASURED[theta])
    assert (difference < ALLOWED * error + [5e-4, 5e-4, 5e-3]).all(), (found.mean(0), error)


def clique(seed: int, n: int = 6, theta: float = 1.5) -> Target:
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    return Target.of(Ising.from_spin(rng.uniform(-1, 1, n), i, j, rng.uniform(-theta, theta, len(i))))


@pytest.mark.parametrize("seed", range(3))
def test_the_expected_maximum_is_above_log_z(seed):
    target = clique(seed)
    potentials, _ = Potentials.of_target(target)
    bound = perturbed_maxima(potentials, gumbels(np.random.default_rng(seed), 4000, potentials.structure)).log_z_bound
    assert bound.mean > exact.solve(target).log_z - 4.9 * bound.standard_error
    # Without edges it is log Z itself, and the frequencies and ratios are the marginals.
    alone = potentials.with_values(potentials.unary, 0 * potentials.table)
    noise = gumbels(np.random.default_rng(seed + 9), 4000, potentials.structure)
    maxima = perturbed_maxima(alone, noise)
    log_z = np.logaddexp.reduce(alone.unary, 1).sum() + alone.constant
    assert abs(maxima.log_z_bound.mean - log_z) < 4.9 * maxima.log_z_bound.standard_error
    p = np.exp(alone.unary - np.logaddexp.reduce(alone.unary, 1)[:, None])
    shares, ratios = maxima.marginals(alone), clamped_marginals(alone, noise)
    assert (np.abs(shares.marginals - p) < 4.9 * shares.standard_error + 1e-3).all()
    # Of independent variables all but the clamped one cancel under the shared noise.
    np.testing.assert_allclose(ratios.marginals, p, atol=1e-9)


def test_listed_and_asked_clamps_are_the_same_numbers():
    potentials, _ = Potentials.of_target(clique(3))
    noise = gumbels(np.random.default_rng(0), 30, potentials.structure)
    listed = clamped_marginals(potentials, noise)
    asked = _asked_clamps(potentials, noise, make_oracle("enumeration"))
    expected = asked.mean(0) - asked.mean(0).max(1, keepdims=True)
    np.testing.assert_allclose(listed.marginals, np.exp(expected) / np.exp(expected).sum(1, keepdims=True), rtol=1e-9)


def test_standard_errors_of_the_ratios_are_those_of_fresh_banks():
    potentials, _ = Potentials.of_target(clique(1))
    found = [
        clamped_marginals(potentials, gumbels(np.random.default_rng(seed), 100, potentials.structure))
        for seed in range(60)
    ]
    spread = np.std([each.marginals for each in found], axis=0, ddof=1)
    foretold = np.mean([each.standard_error for each in found], axis=0)
    # The standard deviation of 60 values is itself known to about a tenth.
    assert (np.abs(np.log(spread / foretold)) < 0.6).all()


def test_no_bound_where_an_upper_bound_is_missing():
    solutions = [Solution(np.zeros(2, np.int8), 1.0, 2.0), Solution(np.ones(2, np.int8), 3.0, None)]
    found = gathered(solutions, 2)
    assert found.log_z_bound is None and found.mean_value == Estimate.of(np.array([1.0, 3.0]))
    assert gathered(solutions[:1], 2).log_z_bound.mean == 2.0
    assert not found.exact.any()


def test_noise_of_another_shape_is_refused():
    potentials, _ = Potentials.of_target(clique(0))
    with pytest.raises(InputError, match="6 x 2"):
        perturbed_maxima(potentials, np.zeros((3, 5, 2)))


class TestTrees:
    """The pair's law tends to the marginal as copies are added, where the sum over the tree is exact anyway."""

    @staticmethod
    def target() -> Target:
        i, j = [0, 1, 1, 3, 3], [1, 2, 3, 4, 5]
        return Target.of(Ising.from_spin([0.4, -0.6, 0.3, 0.7, -0.5, 0.2], i, j, [0.9, -1.1, 1.3, 0.8, -1.2]))

    def test_the_error_falls_with_the_copies(self):
        target = self.target()
        potentials, _ = Potentials.of_target(target)
        edge = 2
        pair = [[int(potentials.structure.i[edge]), int(potentials.structure.j[edge])]]
        truth = exact.solve(target).pair_marginals(np.array(pair))[0]
        rng = np.random.default_rng(0)
        found = {copies: tree_pair(potentials, edge, copies, 8000, rng) for copies in (1, 4, 64)}
        noise = {copies: (each.standard_error / each.probability).max() for copies, each in found.items()}
        error = {copies: each.error(truth) for copies, each in found.items()}
        assert error[1] > error[4] + 4.9 * noise[1] and error[4] > error[64] + 4.9 * noise[4]
        # The messages' variance falls as 1 / copies, and the bias of the law with it.
        assert error[64] < 4.9 * noise[64] + error[4] / 4
        assert all(each.probability.sum() == pytest.approx(1) for each in found.values())

    def test_a_chain_of_thousands(self):
        """Far couplings say nothing of a pair: its law is that of a chain of seven."""
        laws = []
        for n in (7, 5001):
            half = n // 2
            model = Ising.from_spin(np.full(n, 0.2), np.arange(n - 1), np.arange(1, n), np.full(n - 1, 0.3))
            potentials, _ = Potentials.of_target(Target.of(model))
            edge = int(np.flatnonzero(potentials.structure.i == half)[0])
            laws.append(tree_pair(potentials, edge, 4, 100, np.random.default_rng(0)))
        difference = np.abs(laws[0].probability - laws[1].probability)
        noise = np.hypot(laws[0].standard_error, laws[1].standard_error)
        assert (difference < 4.9 * noise + 0.02).all()

    def test_an_edge_alone_needs_no_copies(self):
        target = Target.of(Ising.from_spin([0.4, -0.6], [0], [1], [0.9]))
        potentials, _ = Potentials.of_target(target)
        truth = exact.solve(target).pair_marginals(np.array([[0, 1]]))[0]
        np.testing.assert_allclose(
            tree_pair(potentials, 0, 1, 2, np.random.default_rng(0)).probability, truth, rtol=1e-5
        )

    def test_cycles_and_bad_numbers_are_refused(self):
        potentials, rng = Potentials.of_target(Target.of(build_spec("complete:3")))[0], np.random.default_rng(0)
        with pytest.raises(Refusal, match="cycle"):
            tree_pair(potentials, 0, 2, 2, rng)
        with pytest.raises(InputError, match="edge 3"):
            tree_pair(potentials, 3, 2, 2, rng)
        with pytest.raises(InputError, match="copies"):
            tree_pair(potentials, 0, 0, 2, rng)
