"""Gibbs sampling by factors of any number of variables: the conditionals, the groups, the start, the law."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pmpviz import exact, runs
from pmpviz.exact.possible import possible_state
from pmpviz.exact.problem import Problem
from pmpviz.metrics.marginals import frequencies
from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.factors import AndFactor, CardinalityFactor, OrFactor, TableFactor
from pmpviz.models.site_factors import Rows
from pmpviz.models.tables import TableModel
from pmpviz.samplers import make_sampler
from pmpviz.samplers._factors import prepare
from pmpviz.types import Evidence, InputError, Target

CHAINS = 20_000
XOR = np.where(np.indices((2, 2, 2)).sum(0) % 2 == 0, 0.0, -np.inf)


def _graph(wide: int = 3) -> FactorGraph:
    """Logical factors and tables; an OR of `wide` tops."""
    rng, n = np.random.default_rng(5), wide + 4
    factors = [
        OrFactor(tuple(range(wide)), wide),
        AndFactor((0, wide + 1), wide + 2),
        CardinalityFactor((1, 2, wide + 1, wide + 3), 0, 3),
        TableFactor((0, 2, wide + 3), rng.normal(size=(2, 2, 2))),
    ]
    return FactorGraph.of((2,) * n, rng.normal(size=(n, 2)), factors)


def _tables(card=(2, 3, 127, 2)) -> TableModel:
    rng = np.random.default_rng(6)
    scopes = [(0, 1, 2), (3, 1), (2, 3), (1,)]
    return TableModel.of(card, [(scope, rng.normal(size=[card[v] for v in scope])) for scope in scopes])


MODELS = {"tables": _tables, "graph": _graph, "wide": lambda: _graph(24), "empty": lambda: TableModel.of((2, 3), [])}


@pytest.mark.parametrize("name", MODELS)
def test_what_a_sweep_draws_from_are_the_conditionals(name):
    """Each variable by itself, the others clamped, against what the model says of it."""
    model = MODELS[name]()
    target, heard = Target.of(model, beta=0.7), []
    factors = prepare(target).factors
    x = np.random.default_rng(1).integers(0, model.card, (1, model.n)).astype(np.int8)

    def hear(sites, logits):
        heard.append((np.asarray(sites), np.asarray(logits)))

    def draw(sites, logits):
        jax.debug.callback(hear, sites, jnp.stack(logits, 1)[..., 0])
        return jnp.zeros((len(sites), 1), jnp.int8)

    @jax.jit
    def sweep(held, x):
        return factors.sweep(Target(model, held, target.beta), draw, factors.colour_order, x)

    spread = factors.colour_order.spread(jnp.asarray(x.T))
    wanted = np.asarray(jax.jit(target.conditional_logits)(x[0]))
    # Of the tops of a wide OR, which are alike, some are enough.
    for site in range(model.n) if model.n < 10 else (0, 13, *range(23, model.n)):
        held = Evidence(np.arange(model.n) != site, x[0])
        jax.block_until_ready(sweep(held, spread))
        jax.effects_barrier()
        said = next(logits[list(sites).index(site)] for sites, logits in heard if site in sites)
        np.testing.assert_allclose(_plain(said), _plain(wanted[site]), atol=1e-5)
        heard.clear()


def _plain(logits: np.ndarray) -> np.ndarray:
    """Less the largest one: a constant of each variable does not count."""
    return np.exp(logits - logits.max())


@pytest.mark.parametrize("name", MODELS)
def test_no_two_of_a_group_share_a_factor_and_levels_rise(name):
    model = MODELS[name]()
    factors = prepare(Target.of(model)).factors
    i, j = Rows.of(model).pairs(model.n)
    for order in (factors.colour_order, factors.site_order):
        group = np.asarray(order.slot) // order.site.shape[1]
        assert (group[i] != group[j]).all()
    assert (group[i] < group[j]).all()


def _law_model() -> TableModel:
    """Five variables of two to four states, one factor of three that forbids some of its states."""
    rng, card = np.random.default_rng(8), (2, 3, 4, 2, 3)
    three = rng.normal(size=(2, 3, 4))
    three[1, 2, 3] = three[0, 0, 0] = -np.inf
    return TableModel.of(card, [((0, 1, 2), three), ((2, 3), rng.normal(size=(4, 2))), ((3, 4), np.eye(2, 3))])


@pytest.mark.parametrize("name", ["gibbs", "colour_gibbs", "gumbel_table"])
def test_many_chains_have_the_marginals(name):
    """From the random start: the mean distance of 20,000 exact draws to the law would be 0.006."""
    target = Target.of(_law_model())
    x = runs.sample(make_sampler(name), target, jax.random.key(11), CHAINS, 1 if name == "gumbel_table" else 40)
    shares = frequencies(x, 4)
    far = [np.abs(shares[v, : len(p)] - p).sum() for v, p in enumerate(exact.solve(target).marginals)]
    assert np.mean(far) < 0.01


@pytest.mark.parametrize("name", ["gibbs", "colour_gibbs"])
def test_a_start_of_probability_0_gives_way_to_one_that_has_more(name):
    chain = [((v, v + 1, v + 2), XOR) for v in range(20)]
    model = TableModel.of((2,) * 22, chain)
    target = Target.of(model, Evidence.of(22, {0: 1, 1: 0}))
    run = runs.start(make_sampler(name), target, jax.random.key(3), 64)
    run, _ = runs.advance(run, 4)
    assert np.isfinite(jax.vmap(model.log_weight)(runs.positions(run))).all()
    clamped = runs.retarget(run, Target.of(model, Evidence.of(22, {0: 0, 1: 1})))
    assert (runs.positions(clamped)[:, :3] == (0, 1, 1)).all()
    with pytest.raises(InputError, match="every state has probability 0"):
        runs.start(make_sampler(name), Target.of(model, Evidence.of(22, {0: 1, 1: 1, 2: 1})), jax.random.key(3), 4)


def test_a_possible_state_is_found_by_search_and_its_lack_is_proved():
    """Consistency alone leaves all three colours of a clique: four can't be coloured, three can."""
    differ = np.where(np.eye(3, dtype=bool), -np.inf, 0.0)
    for n in (3, 4):
        model = TableModel.of((3,) * n, [((i, j), differ) for j in range(n) for i in range(j)])
        if n == 3:
            assert sorted(possible_state(Problem.of(Target.of(model)))) == [0, 1, 2]
        else:
            with pytest.raises(InputError, match="every state has probability 0"):
                possible_state(Problem.of(Target.of(model)))


def test_too_many_numbers_are_refused_with_their_count():
    star = FactorGraph.of((2,) * 6000, None, [CardinalityFactor(tuple(range(6000)), 1, 2)])
    assert "2^" in make_sampler("gibbs").spec.why_not(Target.of(star))
