"""Perturb-and-MAP, full-table Gumbel and the unbiased sampler: their noise, their acceptance, their refusals."""

import jax
import numpy as np
import pytest
from scipy.stats import chi2

from pmpviz import exact, keys
from pmpviz.exact.problem import Problem
from pmpviz.models import Ising, build_spec
from pmpviz.models.tables import TableModel
from pmpviz.oracles import ORACLES, Potentials
from pmpviz.oracles.perturbed import expected_maxima, gumbels, table_of
from pmpviz.runs import advance, counted, positions, sample, start
from pmpviz.samplers import make_sampler
from pmpviz.samplers.perturb_and_map import PerturbAndMap, noise_of
from pmpviz.samplers.pmp import perturbations
from pmpviz.samplers.unbiased import Prefixes
from pmpviz.types import Evidence, InputError, Refusal, Target

SWEEPS = 80


def p_value(counts: np.ndarray, p: np.ndarray) -> float:
    expected = counts.sum() * p
    seen = expected >= 20
    counts, expected = np.append(counts[seen], counts[~seen].sum()), np.append(expected[seen], expected[~seen].sum())
    counts, expected = counts[expected > 0], expected[expected > 0]
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), max(len(counts) - 1, 1)))


@pytest.mark.brief
@pytest.mark.parametrize("spec", ["tree:15,J=0.8", "square:4x4,J=0.4,h=0.2,periodic=false"])
def test_pmp_finds_the_maximum_under_the_same_noise_where_it_must(spec):
    """A tree, where max-product is exact, and an attractive model: draw number 1 of both samplers."""
    target, key = Target.of(build_spec(spec)), jax.random.key(2)
    pmp = make_sampler("pmp", damping=0.3, sweeps_per_draw=SWEEPS)
    by_pmp = counted(advance(start(pmp, target, key, 50), 2 * SWEEPS, record=False)[0])
    maxima = sample(make_sampler("perturb_and_map"), target, key, 50, 1)
    words = jax.random.key_data(keys.of_chains(keys.role(key, keys.NOISE), np.arange(50)))
    logistic = np.asarray(perturbations(jax.random.wrap_key_data(words), target.n, 1), np.float64).T
    weight = jax.jit(jax.vmap(target.log_weight))
    short = np.asarray(weight(maxima) - weight(by_pmp), np.float64) + ((maxima - 1.0 * by_pmp) * logistic).sum(1)
    assert (short > -1e-4).all(), "the exact solver falls short of max-product"
    # On the loopy one a fixed point that isn't the maximum is possible, but seldom.
    assert (short > 1e-4).mean() <= (0 if spec.startswith("tree") else 0.1)


@pytest.mark.as_shipped
def test_the_noise_is_that_of_pmp_bit_for_bit():
    target = Target.of(build_spec("chain:5"), Evidence.of(5, {1: 1}))
    potentials, problem = Potentials.of_target(target)
    words = np.arange(8, dtype=np.uint32).reshape(4, 2)
    own = noise_of(words, potentials, problem, 3)
    theirs = np.asarray(perturbations(jax.random.wrap_key_data(words), 5, 3)).T[:, [0, 2, 3, 4]]
    np.testing.assert_array_equal(own[:, :, 1], theirs)
    assert (own[:, :, 0] == 0).all()


def test_every_registered_oracle_can_be_chosen():
    choices = PerturbAndMap.spec.params[0].choices
    assert tuple(choices) == tuple(cls.spec.id for cls in ORACLES)
    assert int(make_sampler("perturb_and_map", oracle="enumeration").oracle) == choices.index("enumeration")


def test_several_states_without_edges_are_sampled_exactly():
    rng = np.random.default_rng(0)
    card = (3, 2, 4)
    model = TableModel.of(card, [((v,), rng.normal(0, 1, c)) for v, c in enumerate(card)])
    target = Target.of(model, beta=1.3)
    x = sample(make_sampler("perturb_and_map"), target, jax.random.key(1), 20_000, 1)
    joint = np.exp(table_of(Potentials.of_target(target)[0]))
    counts = np.bincount(np.ravel_multi_index(x.T.astype(int), card), minlength=24)
    assert p_value(counts, joint.ravel() / joint.sum()) > 1e-6


@pytest.mark.parametrize("algorithm", ["gumbel_table", "unbiased"])
def test_exact_draws_of_several_states(algorithm):
    rng = np.random.default_rng(3)
    card, pairs = (3, 2, 4, 2), [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]
    model = TableModel.of(card, [(pair, rng.normal(0, 1.5, [card[v] for v in pair])) for pair in pairs])
    target = Target.of(model, Evidence.of(4, {3: 1}))
    x = sample(make_sampler(algorithm), target, jax.random.key(1), 20_000, 1)
    assert (x[:, 3] == 1).all()
    joint = np.exp(table_of(Potentials.of_target(target)[0]))
    counts = np.bincount(np.ravel_multi_index(x[:, :3].T.astype(int), card[:3]), minlength=24)
    assert p_value(counts, joint.ravel() / joint.sum()) > 1e-6


def frustrated(seed: int, n: int = 7) -> Target:
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    return Target.of(Ising.from_spin(rng.uniform(-1, 1, n), i, j, rng.uniform(-1.5, 1.5, len(i))))


@pytest.mark.parametrize("repair", ["margin", "maximum"])
def test_acceptance_is_z_over_the_root(repair):
    """Restarts are geometric with the probability that the bounds foretell."""
    target, key = frustrated(4), jax.random.key(9)
    sampler = make_sampler("unbiased", repair=repair)
    run = start(sampler, target, key, 2048)
    words = np.asarray(run.state.words)
    acceptance = np.repeat([sampler.prefixes(target, tile[0]).acceptance for tile in words], words.shape[1])
    rejections, draws = np.zeros(2048), 6
    for _ in range(draws):
        run, trace = advance(run, 1)
        rejections += trace.info["restarts"][0]
    expected, variance = draws * (1 / acceptance - 1), draws * (1 - acceptance) / acceptance**2
    assert abs(rejections.sum() - expected.sum()) < 4.9 * np.sqrt(variance.sum())
    log_z = exact.solve(target).log_z
    bounds = sampler.prefixes(target, words[0, 0])
    assert bounds.log_z == pytest.approx(log_z, rel=1e-5)
    assert acceptance[0] == pytest.approx(np.exp(log_z - bounds.bound[0]), rel=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_repaired_bounds_hold_on_every_prefix(seed):
    potentials, _ = Potentials.of_target(frustrated(seed))
    noise = gumbels(np.random.default_rng(seed), 300, potentials.structure)
    margin, maximum = (Prefixes.of(potentials, noise, repair) for repair in ("margin", "maximum"))
    assert margin.total == maximum.total == 2**7 - 1
    for found in (margin, maximum):
        assert len(found.bound) == 8
        np.testing.assert_array_equal(found.bound[-1], table_of(potentials))
        for own, child in zip(found.bound, found.bound[1:], strict=False):
            assert (np.logaddexp.reduce(child, axis=-1) <= own + 1e-9).all()
    # Averages break the bounds somewhere, which is why they are repaired, and the second repair is never the looser.
    assert margin.violations > 0 and margin.margin > 0
    assert all((b <= a + 1e-9).all() for a, b in zip(margin.bound, maximum.bound, strict=True))
    assert margin.acceptance <= maximum.acceptance <= 1


def test_expected_maxima_are_those_of_all_prefixes():
    """Against the definition, term by term."""
    rng = np.random.default_rng(5)
    card = (2, 3, 2)
    table, noise = rng.normal(size=card), rng.gumbel(size=(40, 3, 3))
    found, roots = expected_maxima(table, noise)
    for j in range(4):
        for prefix in np.ndindex(card[:j]):
            maxima = [
                max(
                    table[(*prefix, *rest)] + sum(one[j + v, k] for v, k in enumerate(rest))
                    for rest in np.ndindex(card[j:])
                )
                for one in noise
            ]
            assert found[j][prefix] == pytest.approx(np.mean(maxima))
    np.testing.assert_allclose(roots.mean(), found[0])


def test_attempts_end_where_the_uniform_leaves_the_bound():
    """With bounds far above theta nothing is accepted; with the tight ones of independent variables all is."""
    loose = Prefixes([np.array(9.0), np.zeros(2)], 0, 1, 0.0)
    depth, _ = loose.attempt(np.full((3, 1), 0.5))
    assert (depth == 0).all()
    theta = np.log(np.array([0.2, 0.8]))
    tight = Prefixes([np.array(0.0), theta], 0, 1, 0.0)
    depth, place = tight.attempt(np.array([[0.1], [0.3], [0.99]]))
    assert (depth == 1).all() and place.tolist() == [0, 1, 1] and tight.acceptance == pytest.approx(1)


@pytest.mark.parametrize(
    "algorithm, spec, word", [("gumbel_table", "chain:17", "2^16"), ("unbiased", "chain:13", "2^12")]
)
def test_models_that_are_too_large_are_refused_with_a_sentence(algorithm, spec, word):
    with pytest.raises(InputError, match=word.replace("^", r"\^")):
        start(make_sampler(algorithm), Target.of(build_spec(spec)), jax.random.key(0), 2)
    smaller = Evidence.of(int(spec.split(":")[1]), {0: 1})
    run = start(make_sampler(algorithm), Target.of(build_spec(spec), smaller), jax.random.key(0), 2)
    assert (positions(run)[:, 0] == 1).all()


@pytest.mark.parametrize("algorithm", ["gumbel_table", "unbiased"])
def test_a_large_lattice_is_refused_by_its_size_alone(algorithm, monkeypatch):
    monkeypatch.setattr(Problem, "of", lambda *_: pytest.fail("the tables of a model that is too large were made"))
    reason = make_sampler(algorithm).spec.why_not(Target.of(build_spec("square:64x64")))
    assert "2^4096" in reason


def test_a_solver_that_cannot_solve_says_so():
    target = Target.of(build_spec("square:5x5"))
    run = start(make_sampler("perturb_and_map", oracle="enumeration"), target, jax.random.key(0), 2)
    with pytest.raises(Refusal, match="choose another solver"):
        positions(run)
