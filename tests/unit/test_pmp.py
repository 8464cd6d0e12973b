"""Perturb-and-max-product against Appendix C.1 in plain float64 and brute force, and its kernels against each other."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pmpviz import keys
from pmpviz.models import Ising, build_spec
from pmpviz.models.couplings import DenseCouplings, LayeredCouplings, dense
from pmpviz.oracles import max_product
from pmpviz.runs import compile_clock, counted, positions, retarget, sample, start
from pmpviz.runs import run as running
from pmpviz.samplers.pmp import PerturbAndMaxProduct, perturbations
from pmpviz.types import Evidence, Target

pytestmark = pytest.mark.brief
SWEEPS = 10
DAMPING = 0.5


def _glass(n: int) -> Ising:
    rng = np.random.default_rng(n)
    i, j = np.triu_indices(n, 1)
    return Ising.from_spin(rng.normal(size=n), i, j, rng.normal(size=len(i)) / np.sqrt(n), layout="dense")


def _erdos_renyi() -> Ising:
    rng = np.random.default_rng(7)
    i, j = np.triu_indices(200, 1)
    keep = rng.random(len(i)) < 4 / 199
    return Ising.from_spin(np.full(200, 0.1), i[keep], j[keep], rng.normal(size=keep.sum()), layout="sparse")


MODELS = {
    "lattice": lambda: build_spec("square:25x25,theta=-0.1"),
    "erdos": _erdos_renyi,
    "dense100": lambda: _glass(100),
    "dense300": lambda: _glass(300),
}
# Compiled whole: op by op, each of their array operations would be a program of its own.
noise_of = jax.jit(perturbations, static_argnums=1)
update, belief = jax.jit(max_product.update), jax.jit(max_product.belief)
CHAINS = {"lattice": 32, "erdos": 64, "dense100": 112, "dense300": 36}


def _noise(key, chains: int, n: int, draw: int = 0) -> np.ndarray:
    chain_keys = keys.of_chains(keys.role(key, keys.NOISE), jnp.arange(chains))
    return np.asarray(noise_of(chain_keys, n, jnp.int32(draw)), np.float64).T


def _spin_beliefs(model: Ising, noise: np.ndarray, sweeps: int) -> np.ndarray:
    """Algorithm 1 in float64 on the spin form from zero messages r = log m(+1) - log m(-1), all pairs; [chains, n].

    With H what the sender hears but from its receiver, m(t) = max_s (J s t + H s) = |H + J t|.
    """
    bias, i, j, w = model.pairwise()
    coupling = np.zeros((model.n, model.n))
    coupling[i, j] = coupling[j, i] = w / 4
    out = []
    for e in noise:
        message, unary = np.zeros_like(coupling), bias / 2 + coupling.sum(1) + e / 2
        for _ in range(sweeps):
            unsent = (unary + message.sum(0) / 2)[:, None] - message.T / 2
            fresh = np.abs(unsent + coupling) - np.abs(unsent - coupling)
            message += (1 - DAMPING) * (fresh - message)
        out.append(2 * unary + message.sum(0))
    return np.array(out)


def _beliefs(model: Ising, noise: np.ndarray, sweeps: int) -> np.ndarray:
    """Appendix C.1 in float64: N = max(0, P + W) - max(0, P) on the edges that exist, damped; beliefs [chains, n]."""
    bias, i, j, w = model.pairwise()
    source, sink, weight = np.concatenate([i, j]), np.concatenate([j, i]), np.concatenate([w, w])
    opposite = np.concatenate([np.arange(len(i)) + len(i), np.arange(len(i))])
    into = np.zeros((len(source), model.n))
    into[np.arange(len(source)), sink] = 1.0
    message = np.zeros((len(noise), len(source)))
    for _ in range(sweeps):
        unsent = (bias + noise + message @ into)[:, source] - message[:, opposite]
        fresh = np.maximum(0, unsent + weight) - np.maximum(0, unsent)
        message += (1 - DAMPING) * (fresh - message)
    return bias + noise + message @ into


def _dense_beliefs(model: Ising, noise: np.ndarray, sweeps: int) -> np.ndarray:
    """The same for a full matrix, as the appendix writes it: one sample's n x n messages."""
    bias, i, j, w = model.pairwise()
    weight = np.zeros((model.n, model.n))
    weight[i, j] = weight[j, i] = w
    out = []
    for e in noise:
        message = np.zeros_like(weight)
        for _ in range(sweeps):
            unsent = (message.sum(0) + bias + e)[:, None] - message.T
            message += (1 - DAMPING) * (np.maximum(0, unsent + weight) - np.maximum(0, unsent) - message)
        out.append(message.sum(0) + bias + e)
    return np.array(out)


def _plain(model: Ising, noise: np.ndarray, sweeps: int) -> np.ndarray:
    dense = len(model.pairwise()[1]) * 8 > model.n * (model.n - 1) // 2
    return (_dense_beliefs if dense else _beliefs)(model, noise, sweeps) > 0


@pytest.mark.parametrize("name", MODELS)
def test_bits_equal_plain_float64(name):
    model, key, chains = MODELS[name](), jax.random.key(11), CHAINS[name]
    ours = sample(PerturbAndMaxProduct(DAMPING), Target.of(model), key, chains, SWEEPS)
    plain = _plain(model, _noise(key, chains, model.n), SWEEPS)
    assert ours.size >= 10_000
    assert (ours.astype(bool) != plain).sum() == 0


@pytest.mark.parametrize("name", ["lattice", "erdos", "dense100"])
@pytest.mark.parametrize("draw", [0, 1])
def test_balanced_first_messages_are_the_zero_messages_of_the_spin_form(name, draw):
    model, key, chains = MODELS[name](), jax.random.key(25), 10
    algorithm = PerturbAndMaxProduct(DAMPING, SWEEPS, max_product.STARTS.index("balanced"))
    ours = sample(algorithm, Target.of(model), key, chains, SWEEPS * (1 + draw)).astype(bool)
    noise = _noise(key, chains, model.n, draw)
    np.testing.assert_array_equal(ours, _spin_beliefs(model, noise, SWEEPS) > 0)
    assert (ours != (_plain(model, noise, SWEEPS))).any()


LAYERS = {
    "lattice": lambda: build_spec("square:4x5,couplings=glass,J=1"),
    "sparse": lambda: build_spec("square:4x5,couplings=glass,J=1").as_layout("sparse"),
    "dense": lambda: build_spec("square:4x5,couplings=glass,J=1").as_layout("dense"),
    "rbm": lambda: build_spec("rbm:3x3x4,pattern=random"),
    "srbm": lambda: build_spec("srbm:3x3x4,pattern=random,lateral=0.5"),
}


@pytest.mark.parametrize("layout", LAYERS)
@pytest.mark.parametrize("start, symmetric", [("balanced", True), ("zero", False)])
def test_balanced_first_messages_know_no_difference_between_the_values(layout, start, symmetric):
    """x -> 1 - x keeps the weights and turns the unaries b into -(b + sum w): beliefs change sign, no more."""
    model = LAYERS[layout]()
    _, i, j, w = model.pairwise()
    row = np.bincount(np.concatenate([i, j]), np.concatenate([w, w]), model.n)[:, None]
    field = np.random.default_rng(3).normal(size=(model.n, 4)) - row / 2
    seen = []
    for unary in (field, -(field + row)):
        unary = jnp.asarray(unary, jnp.float32)
        messages = max_product.first_messages(model.couplings, 4, jnp.int32(max_product.STARTS.index(start)))
        for _ in range(3):
            messages = update(model.couplings, unary, messages, DAMPING)[0]
        seen.append(np.asarray(belief(model.couplings, unary, messages)))
    assert np.allclose(seen[0], -seen[1], atol=1e-4) == symmetric


def test_zero_first_messages_lean_towards_0_in_a_ferromagnet():
    """Without a field either value is as likely; half-way to the fixed points the 0/1 form's zeros are not neutral."""
    target, chains = Target.of(build_spec("complete:30,J=0.05")), 4000
    means = [
        sample(PerturbAndMaxProduct(DAMPING, 1 << 20, start), target, jax.random.key(26), chains, 4).mean()
        for start in range(2)
    ]
    # Sites of a chain are dependent: a chain's mean varies by 1/2 at most. 5 standard errors.
    assert abs(means[1] - 0.5) < 5 * 0.5 / np.sqrt(chains) and means[0] < 0.3


@pytest.mark.parametrize("name", ["lattice", "erdos", "dense100"])
def test_kernels_agree(name):
    model, key = MODELS[name](), jax.random.key(12)
    target = Target.of(model)
    expected = sample(PerturbAndMaxProduct(DAMPING), target, key, 20, SWEEPS)
    for layout in ("sparse", "dense"):
        other = Target.of(model.as_layout(layout))
        assert (sample(PerturbAndMaxProduct(DAMPING), other, key, 20, SWEEPS) == expected).all(), layout


@pytest.mark.parametrize("name", MODELS)
def test_energies_agree_after_50_sweeps(name):
    """Bits may differ where messages don't converge; the mean energies may not: 3 standard errors, and once more."""
    model, chains = MODELS[name](), {"dense300": 24}.get(name, 64)
    for key in (jax.random.key(13), jax.random.key(14)):
        ours = sample(PerturbAndMaxProduct(DAMPING), Target.of(model), key, chains, 50)
        plain = _plain(model, _noise(key, chains, model.n), 50)
        gap = _energies(model, ours) - _energies(model, plain)
        if abs(gap.mean()) <= 3 * max(gap.std(ddof=1) / np.sqrt(chains), 1e-9):
            return
    pytest.fail(f"mean energies differ by {gap.mean():.4g} +- {gap.std(ddof=1) / np.sqrt(chains):.2g}")


def _energies(model: Ising, x: np.ndarray) -> np.ndarray:
    bias, i, j, w = model.pairwise()
    return -(x @ bias + (x[:, i] * x[:, j]) @ w)


def test_tree_gives_the_maximum():
    model, key = build_spec("tree:13,J=1"), jax.random.key(15)
    x = sample(PerturbAndMaxProduct(0.0), Target.of(model), key, 200, 12)
    states = (np.arange(2**13)[:, None] >> np.arange(13)) & 1
    score = -_energies(model, states) + _noise(key, 200, 13) @ states.T
    ours = -_energies(model, x) + (_noise(key, 200, 13) * x).sum(1)
    assert np.abs(ours - score.max(1)).max() < 1e-4
    assert len(np.unique(x, axis=0)) > 10


@pytest.mark.parametrize("layout", ["lattice", "sparse", "dense"])
def test_edgeless_model_is_exact_at_every_beta(layout):
    """p(x_i = 1) = sigmoid(beta b_i): so beta multiplies the potentials and not the noise."""
    field = np.linspace(-2, 2, 9)
    model = build_spec("square:3x3,J=0")
    model = dataclasses.replace(model, bias=field.astype(np.float32))
    model = model if layout == "lattice" else model.as_layout(layout)
    for beta in (0.5, 2.0):
        target = Target.of(model, beta=beta)
        x = sample(PerturbAndMaxProduct(DAMPING), target, jax.random.key(16), 4000, 3)
        p = 1 / (1 + np.exp(-beta * field))
        # Nine binomials at two betas and three layouts: 5 standard deviations each.
        assert (np.abs(x.mean(0) - p) < 5 * np.sqrt(p * (1 - p) / 4000)).all()


def test_perturbations_are_logistic():
    noise = np.sort(_noise(jax.random.key(17), 400, 250).reshape(-1))
    distance = np.abs(1 / (1 + np.exp(-noise)) - (np.arange(noise.size) + 0.5) / noise.size).max()
    # Kolmogorov-Smirnov at alpha = 1e-6: sqrt(-log(alpha / 2) / 2 / m).
    assert distance < np.sqrt(-np.log(5e-7) / 2 / noise.size)


def test_draws_have_noise_of_their_own():
    chain_keys = keys.of_chains(jax.random.key(18), jnp.arange(50))
    first, second = (np.asarray(noise_of(chain_keys, 200, jnp.int32(draw))) for draw in (0, 1))
    assert abs(np.corrcoef(first.reshape(-1), second.reshape(-1))[0, 1]) < 0.05
    assert abs(np.corrcoef(first[:, :-1].reshape(-1), first[:, 1:].reshape(-1))[0, 1]) < 0.05


@pytest.mark.parametrize("layout", ["lattice", "sparse", "dense"])
def test_clamped_sites_stay_and_are_heard(layout):
    """On a chain the draw is the maximum over the states that agree with the evidence."""
    model, key = build_spec("chain:10,J=0.8,periodic=false"), jax.random.key(19)
    model = model if layout == "lattice" else model.as_layout(layout)
    target = Target.of(model, Evidence.of(10, {0: 1, 6: 0}))
    x = sample(PerturbAndMaxProduct(0.0), target, key, 100, 12)
    assert (x[:, 0] == 1).all() and (x[:, 6] == 0).all()
    states = (np.arange(2**10)[:, None] >> np.arange(10)) & 1
    states = states[(states[:, 0] == 1) & (states[:, 6] == 0)]
    noise = _noise(key, 100, 10)
    best = (-_energies(model, states) + noise @ states.T).max(1)
    assert np.abs(-_energies(model, x) + (noise * x).sum(1) - best).max() < 1e-4


@pytest.mark.parametrize("layout", ["lattice", "sparse", "dense"])
def test_finite_at_an_extreme_beta(layout):
    model = build_spec("square:5x5,couplings=glass,J=1")
    model = model if layout == "lattice" else model.as_layout(layout)
    target = Target.of(model, Evidence.of(25, {3: 1, 4: 0}), beta=1e4)
    run, trace = running.advance(start(PerturbAndMaxProduct(DAMPING), target, jax.random.key(20), 16), 30)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(run.state.incoming))
    assert np.isfinite(trace.info["residual"]).all() and np.isfinite(trace.energies).all()


@pytest.mark.parametrize("name", ["lattice", "erdos", "dense100"])
def test_residual_is_the_largest_change(name):
    model, key = MODELS[name](), jax.random.key(21)
    run, _ = running.advance(start(PerturbAndMaxProduct(0.0), Target.of(model), key, 3), 4)
    ahead, trace = running.advance(run, 1)

    def messages(run):
        state = jax.tree.map(lambda leaf: leaf[0], run.state.incoming)
        return np.asarray(max_product.to_site(model.couplings, state))

    change = np.abs(messages(ahead) - messages(run)).max((0, 1))[:3]
    np.testing.assert_allclose(trace.info["residual"][0][: len(change)], change, rtol=1e-5)


def test_messages_to_a_site_follow_its_neighbour_list():
    """In every layout the messages into a site, summed with its field, are its belief; and they agree by sender."""
    model, key = build_spec("square:4x5,couplings=glass,J=1"), jax.random.key(22)
    seen = []
    for layout in ("lattice", "sparse", "dense"):
        one = model if layout == "lattice" else model.as_layout(layout)
        run = running.advance(start(PerturbAndMaxProduct(DAMPING), Target.of(one), key, 1), 6)[0]
        state = jax.tree.map(lambda leaf: leaf[0], run.state.incoming)
        into = np.asarray(max_product.to_site(one.couplings, state))[..., 0]
        if layout == "dense":
            seen.append(into)
            continue
        neighbour, weight = (np.asarray(table) for table in one.couplings.neighbour_lists())
        table = np.zeros((20, 20))
        for site, slot in zip(*np.nonzero(weight), strict=True):
            table[site, neighbour[site, slot]] = into[site, slot]
        seen.append(table)
    np.testing.assert_allclose(seen[0], seen[1], atol=1e-5)
    np.testing.assert_allclose(seen[0], seen[2], atol=1e-5)
    assert np.abs(seen[0]).max() > 0.1


@pytest.mark.parametrize("hidden", [0, 4])
def test_messages_kept_in_halves_are_those_kept_whole(monkeypatch, hidden):
    """Thirteen sites in blocks of two make three halvings, of odd and of even blocks."""
    couplings = DenseCouplings(_glass(13).couplings.matrix())
    if hidden:
        couplings = LayeredCouplings(jax.random.normal(jax.random.key(26), (hidden, 13)), couplings.matrix())
    field, seen = jax.random.logistic(jax.random.key(27), (couplings.n, 3)), []
    for most in (13, 2):
        monkeypatch.setattr(dense, "MOST_IN_BLOCK", most)
        messages = max_product.first_messages(couplings, 3, jnp.int32(1))
        for _ in range(5):
            messages, residual = update(couplings, field, messages, 0.3)
        into = max_product.to_site(couplings, messages)
        seen.append((len(jax.tree.leaves(messages)), into, residual, belief(couplings, field, messages)))
    assert [leaves for leaves, *_ in seen] == ([3, 24] if hidden else [1, 22])
    for whole, halved in zip(seen[0][1:], seen[1][1:], strict=True):
        np.testing.assert_allclose(halved, whole, atol=1e-5)
    assert np.abs(seen[0][1]).max() > 0.1


def test_nothing_recompiles_when_a_knob_weight_beta_or_evidence_changes():
    model, key = MODELS["erdos"](), jax.random.key(23)
    run = running.advance(start(PerturbAndMaxProduct(0.5), Target.of(model), key, 8), 3)[0]
    run = retarget(run, Target.of(model))
    before = compile_clock.compilations()
    couplings = dataclasses.replace(model.couplings, weight=model.couplings.weight * 0.7)
    changes = [
        {"algorithm": PerturbAndMaxProduct(0.1, 17)},
        {"target": Target.of(dataclasses.replace(model, couplings=couplings))},
        {"target": Target.of(model, beta=0.3)},
        {"target": Target.of(model, Evidence.of(200, {5: 1}))},
    ]
    for change in changes:
        run = running.advance(retarget(run, **change), 5)[0]
    assert compile_clock.compilations() == before


@pytest.mark.parametrize("spent", [2, 4])
def test_no_draw_begun_before_a_change_is_counted_after_it(spent):
    """Two draws of four sweeps and `spent` sweeps of a third at another beta: the fourth is the first to count."""
    model, key, algorithm = (
        build_spec("square:4x5,couplings=glass,J=1"),
        jax.random.key(28),
        PerturbAndMaxProduct(0.5, 4),
    )
    old, new = Target.of(model, beta=2.0), Target.of(model, beta=0.2)
    run = running.advance(start(algorithm, old, key, 8), 8 + spent)[0]
    assert algorithm.draws_done(run.state) == (8 + spent) // 4
    before = positions(run)
    run, of_new = retarget(run, new), [sample(algorithm, new, key, 8, 4 * (draw + 1)) for draw in range(6)]
    assert (positions(run) != before).any()
    while run.sweep < 24:
        done = max(run.sweep // 4 - 3, 0)
        assert algorithm.draws_done(run.state) == done
        assert (counted(run) == (of_new[2 + done] if done else positions(run))).all()
        run = running.advance(run, 1)[0]
    assert algorithm.draws_done(retarget(run, algorithm=PerturbAndMaxProduct(0.5, 1)).state) == 0


def test_a_draw_that_is_not_begun_at_a_change_counts():
    model, key, algorithm = (
        build_spec("square:4x5,couplings=glass,J=1"),
        jax.random.key(29),
        PerturbAndMaxProduct(0.5, 4),
    )
    run = retarget(start(algorithm, Target.of(model, beta=2.0), key, 8), Target.of(model))
    run = running.advance(run, 5)[0]
    assert algorithm.draws_done(run.state) == 1
    assert (counted(run) == sample(algorithm, run.target, key, 8, 4)).all()


def test_single_chain_form_is_a_tile_of_one():
    model, key, algorithm = MODELS["erdos"](), jax.random.key(24), PerturbAndMaxProduct(DAMPING, 4)
    target = Target.of(model)
    x0 = jnp.zeros(200, jnp.int8)
    tile_keys = keys.of_chains(key, jnp.arange(5))
    tile = algorithm.init_tile(tile_keys, target, jnp.zeros((5, 200), jnp.int8))
    one = algorithm.init(tile_keys[2], target, x0)
    step_tile, step = jax.jit(PerturbAndMaxProduct.step_tile), jax.jit(PerturbAndMaxProduct.step)
    for _ in range(6):
        tile = step_tile(algorithm, tile_keys, target, tile)[0]
        one = step(algorithm, tile_keys[2], target, one)[0]
    assert (algorithm.position(target, one) == algorithm.position_tile(target, tile)[2]).all()
    assert int(one.draw) == int(tile.draw) == 1
