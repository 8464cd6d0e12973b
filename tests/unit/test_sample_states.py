"""Models of more than two states on the command line: sampled by what takes them, the same in chunks and resumed."""

import jax
import numpy as np
import pytest
from command_line import cache, call, found, in_a_folder_of_its_own, refused  # noqa: F401
from few_states import FILES, SEVENTEEN
from metropolis import Metropolis
from own_samplers import register

from pmpviz import exact, runs
from pmpviz.io import load_model
from pmpviz.metrics.marginals import marginal_l1, marginal_l1_floor
from pmpviz.runs.truth import build, finish
from pmpviz.samplers import make_sampler
from pmpviz.types import Target
from tests.thorough import case


def written(text: str) -> str:
    with open("model.uai", "w") as file:
        file.write(text)
    return "model.uai"


@pytest.mark.parametrize("name", FILES)
def test_exact_samples_have_the_law_and_every_state_s_share(name):
    path = written(FILES[name])
    said = found("sample", path, "--algorithm", "exact", "--chains", 2000, "--sweeps", 1, "--out", "x.npz")
    target = Target.of(load_model(path).model)
    with np.load("x.npz") as file:
        x = file["x"]
    truth = exact.solve(target)
    assert [len(row) for row in said["marginals"]] == list(target.model.card)
    assert marginal_l1(x, truth.marginals) < 3 * marginal_l1_floor(truth.marginals, len(x))


# Ones and stripes are made as zeros are.
@pytest.mark.parametrize(
    "start",
    [
        case(name, name=name, everyday=name not in ("ones", "stripes"))
        for name in ("random", "zeros", "ones", "stripes", "exact")
    ],
)
def test_a_sampler_of_one_s_own_samples_from_every_start(start, request):
    register(request, Metropolis)
    path = written(FILES["mixed"])
    common = ("--algorithm", "metropolis", "--chains", 2000, "--sweeps", 40, "--seed", 3, "--start", start)
    said = found("sample", path, *common, "--out", "x.npz")
    assert said["algorithm"] == "metropolis"
    target = Target.of(load_model(path).model)
    with np.load("x.npz") as file:
        x = file["x"]
    truth = exact.solve(target)
    assert marginal_l1(x, truth.marginals) < 3 * marginal_l1_floor(truth.marginals, len(x))
    if start == "random":
        run = runs.sample(make_sampler("metropolis"), target, jax.random.key(3), 2000, 40)
        assert (run == x).all()


def test_more_states_than_pages_show_are_sampled_here():
    said = found("sample", written(SEVENTEEN), "--algorithm", "exact", "--chains", 50, "--sweeps", 2)
    assert len(said["marginals"][0]) == 17


# That gradients' proposals keep the law of such pairs is in `test_states.py` of the contract every day.
@pytest.mark.parametrize(
    "algorithm", [case(name, name=name, everyday=name != "gwg") for name in ("gibbs", "colour_gibbs", "gwg")]
)
def test_chains_of_three_states_come_within_a_hundredth_of_the_marginals(algorithm):
    path = written(FILES["three"])
    quanta = make_sampler(algorithm).spec.quanta(load_model(path).model)
    common = ("--chains", 20_000, "--sweeps", -(-100 // quanta), "--seed", 1)
    found("sample", path, "--algorithm", algorithm, *common, "--out", "x.npz")
    with np.load("x.npz") as file:
        x = file["x"]
    assert marginal_l1(x, exact.solve(Target.of(load_model(path).model)).marginals) <= 0.01


def test_a_sampler_of_equal_states_refuses_in_one_line():
    said = refused("sample", written(FILES["three"]), "--algorithm", "swendsen_wang")
    assert "tell equal states from unequal ones only" in said


@pytest.mark.parametrize("name", FILES)
def test_the_truth_has_marginals_of_every_state(name):
    target = Target.of(load_model(written(FILES[name])).model, beta=0.8)
    truth, solved = finish(build(target)), exact.solve(target)
    assert truth.exact and truth.p1 is None and len(truth.pairs) == len(truth.pair_tables)
    for found_row, row in zip(truth.marginals, solved.marginals, strict=True):
        assert np.allclose(found_row, row)
    # The mean energy is minus the derivative of log Z.
    steps = [exact.solve(Target.of(target.model, beta=float(target.beta) + h)) for h in (-1e-3, 1e-3)]
    slope = (steps[1].log_z - steps[0].log_z) / 2e-3
    assert truth.energy == pytest.approx(-slope, abs=1e-4)
    assert np.allclose(truth.shares.sum(), 1)
