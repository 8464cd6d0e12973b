"""The space of every model: uniform starts, packed configurations, colours, conditional logits."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_models import random_model

from pmpviz import keys
from pmpviz.models import RBM, SRBM, FactorGraph, build_spec
from pmpviz.models.conv_or import ConvOR, ConvShape
from pmpviz.models.factor_graph import from_tables
from pmpviz.models.factors import AndFactor, CardinalityFactor, OrFactor, TableFactor
from pmpviz.models.space import MOST_SHOWN, PALETTE, Space
from pmpviz.models.tables import TableModel
from pmpviz.types import Evidence, InputError, Target

RNG = np.random.default_rng(5)
CARDS = st.lists(st.integers(1, 17), min_size=1, max_size=40)


def configurations(card, rows: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, c, rows) for c in card], 1).astype(np.int8)


def words(chains: int, seed: int = 3) -> np.ndarray:
    return keys.fold_words(keys.words_of(jax.random.key(seed)), np.arange(chains))


# Packing.


@given(CARDS, st.integers(0, 5))
def test_what_is_packed_comes_back(card, rows):
    space, x = Space.of(card), configurations(card, rows)
    packed = space.pack(x)
    assert packed.shape == (rows, space.frame_bytes) and packed.dtype == np.uint8
    assert (space.unpack(packed) == x).all()
    assert (space.differing(packed[1:], packed[:-1]) == (x[1:] != x[:-1]).sum(1)).all()


def test_a_program_packs_alike():
    for card in ((2,) * 11, (3, 2, 17, 1, 4, 4, 4, 4, 9)):
        x, space = configurations(card, 4), Space.of(card)
        assert (np.asarray(jax.jit(partial(space.pack, xp=jnp))(x)) == space.pack(x)).all()


@given(st.integers(1, 40))
def test_two_states_travel_as_before(n):
    x = configurations([2] * n, 3)
    assert (Space.of([2] * n).pack(x) == np.packbits(x > 0, axis=-1)).all()


@pytest.mark.parametrize(
    ("states", "planes"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (16, 4), (127, 7)]
)
def test_a_state_takes_the_bits_that_it_needs(states, planes):
    assert Space.of([states] * 3).planes == planes


# Starts.


def test_a_start_of_two_states_keeps_its_bits():
    start = np.asarray(Space.binary_of(70).random_start(words(9)))
    sites = jnp.arange(70, dtype=jnp.uint32)
    bits = jax.vmap(lambda own: keys.hash_bits(jax.random.wrap_key_data(own), sites))(words(9))
    assert (start == np.asarray(bits >> 31)).all() and 0.4 < start.mean() < 0.6


def test_a_start_is_uniform_over_each_variable_s_states():
    card = (2, 3, 1, 7, 16, 127)
    x = np.asarray(Space.of(card).random_start(words(1 << 16)))
    two = np.asarray(Space.binary_of(6).random_start(words(1 << 16)))
    assert x.dtype == np.int8 and (x[:, 0] == two[:, 0]).all(), "the same bits where a variable has two states"
    for site, states in enumerate(card):
        counts = np.bincount(x[:, site], minlength=states)
        expected = len(x) / states
        assert len(counts) == states
        # Mean states - 1 and variance 2 (states - 1): seven standard deviations.
        assert ((counts - expected) ** 2 / expected).sum() <= states - 1 + 7 * np.sqrt(2 * states)


def test_flipping_goes_through_a_variable_s_own_states():
    space, x = Space.of((2, 3, 1)), np.array([1, 1, 0], np.int8)
    assert [space.flipped(x, site) for site in range(3)] == [0, 2, 0]
    assert space.holds(1, 2) and not space.holds(0, 2) and not space.holds(3, 0) and not space.holds(0, -1)


# Statistics and looks.


def test_two_states_have_a_mean_and_more_have_shares():
    x = configurations((3, 3, 2), 5)
    assert (Space.of((2, 2)).statistic(x[:, :2] > 0) == (x[:, :2] > 0).mean(1)).all()
    assert Space.of((3, 3, 2)).statistic_shape == (3,) and Space.of((2, 2)).statistic_shape == ()
    shares = Space.of((3, 3, 2)).statistic(x)
    assert np.allclose(shares.sum(-1), 1) and shares[1, 2] == np.float32((x[1] == 2).sum() / 3)
    assert np.allclose(Space.of((3, 3, 2)).frequencies(x).sum(1), 1)


# Viénot's and Machado's matrices differ little: these are the latter's for full protanopia and deuteranopia.
EYES = {
    "normal": np.eye(3),
    "red-blind": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
    "green-blind": [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
}
TO_XYZ = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])


def as_seen(colours, eyes) -> np.ndarray:
    """CIE Lab of hex colours to these eyes."""
    code = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colours]) / 255
    linear = np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)
    xyz = np.clip(linear @ np.array(eyes).T, 0, 1) @ TO_XYZ.T / TO_XYZ.sum(1)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], 1)


@pytest.mark.parametrize("eyes", EYES)
def test_the_colours_of_the_states_are_far_apart_to_every_eye(eyes):
    seen = as_seen(PALETTE, EYES[eyes])
    apart = np.linalg.norm(seen[:, None] - seen, axis=-1)[~np.eye(len(seen), dtype=bool)]
    assert len(PALETTE) == MOST_SHOWN and apart.min() > 15


def test_two_states_are_paper_and_ink_and_seventeen_are_refused():
    assert Space.of((2, 1)).palette == () and Space.of((2, 3)).palette == PALETTE[:3]
    Space.of([16] * 2).check_shown()
    with pytest.raises(InputError, match="up to 16 states, and variable 1 has 17"):
        Space.of((2, 17)).check_shown()
    with pytest.raises(InputError, match="variable 0 has 128 states; give 1 to 127"):
        TableModel.of((128,), [])
    assert Space.of((2, 3, 4)).words == "2 to 4 states" and Space.of((3, 3)).words == "3 states"


# Conditional logits.


def logical_graph() -> FactorGraph:
    rng = np.random.default_rng(1)
    factors = [
        OrFactor((0, 1), 2),
        AndFactor((3, 1), 4),
        CardinalityFactor((0, 3, 5), 1, 2),
        TableFactor((5, 6), rng.normal(size=(2, 3))),
        TableFactor((6, 1, 7), rng.normal(size=(3, 2, 4))),
    ]
    return FactorGraph.of((2, 2, 2, 2, 2, 2, 3, 4), [rng.normal(size=c) for c in (2,) * 6 + (3, 4)], factors, 0.3)


def models():
    normal = RNG.normal
    lateral = normal(size=(3, 3))
    lateral = np.triu(lateral, 1) + np.triu(lateral, 1).T
    yield "lattice", build_spec("square:3x3,J=0.4,field=random,h=0.3")
    yield "dense", build_spec("complete:6")
    yield "rbm", RBM.of_layers(normal(size=(3, 4)), normal(size=4), normal(size=3))
    yield "srbm", SRBM.of_layers(normal(size=(2, 3)), lateral)
    yield "convolution", ConvOR.of(ConvShape(1, 1, 2, 2, 1, 1, 2), 0.2, 0.4, 0.1)
    for seed in range(2):
        tables = random_model(seed)
        yield f"tables {seed}", tables
        yield f"graph {seed}", from_tables(tables)
    yield "no factors", TableModel.of((2, 3), [])
    yield "single states", FactorGraph.of((1, 1), [[0.5], [0.1]], [TableFactor((0, 1), np.array([[0.2]]))])
    yield "logical", logical_graph()


@pytest.mark.parametrize("beta", [0.0, 0.6])
@pytest.mark.parametrize(("name", "model"), models(), ids=lambda v: v if isinstance(v, str) else "")
def test_conditionals_are_those_of_enumeration(name, model, beta):
    space, card = model.space, model.card
    assert space.card == tuple(card) and space.n == model.n
    evidence = Evidence.of(model.n, {0: card[0] - 1})
    target = Target.of(model, evidence, beta)
    for row in configurations(card, 6, seed=len(name)):
        x = np.asarray(evidence.apply(row))
        logits = np.asarray(jax.jit(type(target).conditional_logits)(target, x), np.float64)
        assert logits.shape == (model.n, space.states) and np.isneginf(logits[~space.mask]).all()
        for site in range(1, model.n):
            check_conditional(target, x, site, logits[site, : card[site]])


@jax.jit
def log_weights(model, rows):
    return jax.vmap(model.log_weight)(rows)


def check_conditional(target: Target, x: np.ndarray, site: int, logits: np.ndarray) -> None:
    """The rest may be impossible whatever the site does: there is then no conditional law."""
    rows = np.repeat(x[None], target.model.space.states, 0)
    rows[: len(logits), site] = np.arange(len(logits))
    plain = np.asarray(log_weights(target.model, rows), np.float64)[: len(logits)]
    if np.isneginf(plain).all():
        return
    possible = ~np.isneginf(plain)
    weights = np.where(possible, np.exp(float(target.beta) * np.where(possible, plain - plain.max(), 0)), 0)
    found = np.exp(logits - logits.max())
    np.testing.assert_allclose(found / found.sum(), weights / weights.sum(), atol=2e-5)


@pytest.mark.parametrize("spec", ["square:4x4,J=0.4", "complete:7", "rbm:2x3x4"])
def test_two_states_have_the_local_field(spec):
    target = Target.of(build_spec(spec), beta=0.7)
    x = configurations([2] * target.n, 1)[0]
    logits = np.asarray(target.conditional_logits(x))
    assert (logits[:, 0] == 0).all() and np.allclose(logits[:, 1], target.local_field(x), rtol=1e-6)


def test_pairs_share_a_factor():
    graph = logical_graph()
    wanted = [(0, 1), (0, 2), (0, 3), (0, 5), (1, 2), (1, 3), (1, 4), (1, 6), (1, 7), (3, 4), (3, 5), (5, 6), (6, 7)]
    assert graph.pairs().tolist() == [list(pair) for pair in wanted]
    assert graph.to_tables().pairs().tolist() == graph.pairs().tolist()
    model = build_spec("square:3x3")
    assert model.pairs().tolist() == [list(pair) for pair in zip(*model.pairwise()[1:3], strict=True)]


def test_new_weights_and_evidence_compile_nothing():
    model, traced = random_model(2), []

    @jax.jit
    def logits(target, x):
        traced.append(1)
        return target.conditional_logits(x)

    for beta, value in ((1.0, 0.0), (0.5, 0.7)):
        other = dataclasses.replace(model, constant=np.float64(value))
        logits(Target.of(other, Evidence.of(model.n, {1: 0}), beta), np.zeros(model.n, np.int8))
    assert len(traced) == 1
