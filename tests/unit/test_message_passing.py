"""Generic message passing: equal to the kernels of binary pairwise models, batched, never compiled anew."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pmpviz import keys, messages
from pmpviz.models import RBM, build_spec
from pmpviz.models.factor_graph import FactorGraph, from_ising
from pmpviz.models.factors import TableFactor
from pmpviz.models.small_graphs import build_small_graph
from pmpviz.oracles import max_product
from pmpviz.samplers.pmp import PerturbAndMaxProduct
from pmpviz.types import Evidence, InputError, Target

pytestmark = pytest.mark.brief


def edge_messages(model, incoming):
    """The kernel's messages [f, 2] to the two ends of every edge, in the order of the graph's factors."""
    _, i, j, _ = model.pairwise()
    if isinstance(model, RBM):
        down, up, _ = (None if part is None else np.asarray(part)[..., 0] for part in incoming)
        return np.stack([down[j - model.visible, i], up[j - model.visible, i]], 1)
    dense = np.asarray(incoming)[..., 0]
    return np.stack([dense[j, i], dense[i, j]], 1)


@pytest.mark.parametrize("damping", [0.0, 0.5])
@pytest.mark.parametrize("spec", ["complete:9,couplings=gaussian,sigma=1,h=0.5", "square:4x4,couplings=glass,J=1,h=.5"])
def test_messages_equal_the_ising_kernel(spec, damping):
    check_kernel(build_spec(spec).as_layout("dense"), damping)


@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_messages_equal_the_rbm_kernel(damping):
    rng = np.random.default_rng(5)
    check_kernel(RBM.of_layers(rng.normal(0, 1, (5, 7)), rng.normal(0, 1, 7), rng.normal(0, 1, 5)), damping)


def check_kernel(model, damping):
    """Ten sweeps of the specialised kernel and of the generic one, evidence and beta included: messages, residual."""
    beta, sweeps = np.float32(0.8), 10
    evidence = Evidence.of(model.n, {1: 1, 3: 0})
    target = Target(from_ising(model), evidence, beta)
    couplings = model.couplings.scaled(beta)
    field = max_product.clamp_field(beta * model.bias[:, None], evidence.mask, evidence.value)
    incoming, state = max_product.zero_messages(couplings, 1), messages.initial(target)
    update = jax.jit(max_product.update)
    size = 1 + float(np.abs(edge_weights(model)).sum())
    for _ in range(sweeps):
        incoming, residual = update(couplings, field, incoming, np.float32(damping))
        state, mine = messages.sweep(target, state, np.float32(damping), np.float32(0.0))
        (table,) = state.messages
        ratio = np.asarray(table[..., 1] - table[..., 0])
        np.testing.assert_allclose(ratio, edge_messages(model, incoming), atol=1e-6 * size)
        np.testing.assert_allclose(mine, residual[0], atol=1e-6 * size)
    belief = np.asarray(messages.log_beliefs(target, state))
    expected = np.asarray(max_product.belief(couplings, field, incoming))[:, 0]
    found = np.clip(belief[:, 1] - belief[:, 0], -1e8, 1e8)
    np.testing.assert_allclose(found, np.clip(expected, -1e8, 1e8), atol=1e-6 * size)


def edge_weights(model):
    return model.pairwise()[3]


def test_perturb_and_max_product_decodes_what_the_sampler_decodes():
    """The same keys give the same noise, and ten sweeps the same bits where a belief is not within rounding of 0."""
    model = build_spec("square:5x5,couplings=gaussian,sigma=1,h=0.3")
    evidence, key, count, sweeps = Evidence.of(25, {7: 1}), jax.random.key(3), 40, 10
    chains = keys.of_chains(keys.role(key, keys.NOISE), jnp.arange(count))
    target, sampler = Target.of(model, evidence, 0.9), PerturbAndMaxProduct(0.5, 64)
    state = sampler.init_tile(chains, target, jnp.zeros((count, 25), jnp.int8))
    step = jax.jit(sampler.step_tile)
    for _ in range(sweeps):
        state, _ = step(chains, target, state)
    expected = np.asarray(sampler.position_tile(target, state))
    graph = Target.of(from_ising(model), evidence, 0.9)
    found = np.asarray(messages.sample(key, graph, count, sweeps, 0.5))
    few = np.asarray(messages.sample(key, graph, 3, sweeps, 0.5))
    np.testing.assert_array_equal(found[:3], few)
    couplings = model.couplings.scaled(np.float32(0.9))
    field = max_product.clamp_field(
        np.float32(0.9) * model.bias[:, None] + state.perturbation, evidence.mask, evidence.value
    )
    clear = np.abs(np.asarray(max_product.belief(couplings, field, state.incoming)).T) > 1e-4
    assert clear.mean() > 0.99 and (found[:, 7] == 1).all() and found.std() > 0.1
    np.testing.assert_array_equal(found[clear], expected[clear])


def test_noise_of_more_than_two_states_is_gumbel():
    noise = np.asarray(
        jax.vmap(lambda k: messages.perturbation(k, 5, 3))(keys.of_chains(jax.random.key(0), jnp.arange(4000)))
    )
    flat = np.sort(noise.reshape(-1))
    law = np.exp(-np.exp(-flat))
    assert np.abs(law - (np.arange(len(flat)) + 0.5) / len(flat)).max() < 1.95 / np.sqrt(len(flat))
    rows = noise.transpose(1, 2, 0).reshape(15, -1)
    assert np.abs(np.corrcoef(rows) - np.eye(15)).max() < 5 / np.sqrt(4000)


def test_samples_of_independent_potts_variables_follow_their_law():
    """Without factors perturb-and-max-product is exact."""
    unary = np.array([[0.0, 1.0, -0.5], [0.3, -1.0, 0.2]])
    graph = FactorGraph.of((3, 3), unary)
    x = np.asarray(messages.sample(jax.random.key(1), Target.of(graph, None, 0.7), 8000, 1))
    p = np.exp(0.7 * unary) / np.exp(0.7 * unary).sum(1, keepdims=True)
    for v in range(2):
        counts = np.bincount(x[:, v], minlength=3)
        assert (np.abs(counts - 8000 * p[v]) < 5 * np.sqrt(8000 * p[v] * (1 - p[v]))).all()


def test_nothing_recompiles_when_a_knob_a_weight_or_the_wiring_changes():
    step = messages.sweep
    first = Target.of(build_small_graph("potts"))
    step(first, messages.initial(first), np.float32(0.0), np.float32(0.0))
    before = step._cache_size()
    other = Target.of(build_small_graph("potts:J=-0.5,seed=4"), Evidence.of(6, {2: 1}), 1.7)
    scopes = np.asarray(other.model.groups[0].scope)
    group = type(other.model.groups[0])(
        scopes[::-1].copy(), other.model.groups[0].log_table, other.model.groups[0].position
    )
    rewired = Target.of(type(other.model)(other.model.unary, (group,), other.model.constant, other.model.card))
    for target in (other, rewired):
        for damping, temperature in ((0.5, 0.0), (0.0, 0.3), (0.9, 1.0)):
            step(target, messages.initial(target), np.float32(damping), np.float32(temperature))
    assert step._cache_size() == before


def test_a_batch_of_perturbations_equals_one_after_another():
    target = Target.of(build_small_graph("or_factor"), Evidence.of(4, {3: 1}))
    noise = np.random.default_rng(0).normal(0, 1, (5, 4, 2)).astype(np.float32)
    start = jax.jit(jax.vmap(lambda one: messages.initial(target, one)))(noise)
    both = jax.jit(jax.vmap(messages.sweep, in_axes=(None, 0, None, None)))
    state = start
    for _ in range(3):
        state, residual = both(target, state, np.float32(0.3), np.float32(0.0))
    for row, one in enumerate(noise):
        alone = messages.initial(target, one)
        for _ in range(3):
            alone, change = messages.sweep(target, alone, np.float32(0.3), np.float32(0.0))
        for a, b in zip(state.messages, alone.messages, strict=True):
            np.testing.assert_allclose(a[row], b, atol=1e-6)
        np.testing.assert_allclose(residual[row], change, atol=1e-6)


def test_two_passes_over_a_loop_are_refused_with_the_loop():
    target = Target.of(build_small_graph("lattice"))
    with pytest.raises(InputError, match="4 - 1 - 0 - 3 - 4"):
        messages.two_pass(target, messages.initial(target), np.float32(0.0), np.float32(0.0))


def test_two_passes_go_past_a_variable_of_one_state():
    shapes = {(0, 1): (2, 1), (1, 2): (1, 2), (2, 0): (2, 2)}
    graph = FactorGraph.of((2, 1, 2), None, [TableFactor(scope, np.zeros(shape)) for scope, shape in shapes.items()])
    target = Target.of(graph)
    messages.two_pass(target, messages.initial(target), np.float32(0.0), np.float32(0.0))


def test_evidence_of_a_state_that_does_not_exist_is_refused():
    target = Target.of(FactorGraph.of((2, 3)), Evidence.of(2, {0: 2}))
    with pytest.raises(InputError, match="variable 0 the value 2; give a state from 0 to 1"):
        messages.initial(target)
    jax.jit(messages.initial)(target)
