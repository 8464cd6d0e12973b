"""The binary convolution: its weights, the max-product kernel, the samplers, and what a run shows."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chi2

from pmpviz.capabilities.deconvolution import posterior as deconvolution
from pmpviz.io.datasets.binary_images import check_images, images_of_npz
from pmpviz.io.datasets.stamps import GLYPH_SETS, glyph_set, placed, stamp
from pmpviz.models.conv_or import ConvOR, ConvShape, clamp, or_convolution
from pmpviz.oracles import conv_max_product
from pmpviz.oracles.max_product import message
from pmpviz.runs import run as running
from pmpviz.samplers import CONV_SAMPLERS, make_conv_sampler
from pmpviz.types import Evidence, InputError, Target

SHAPE = ConvShape(2, 2, 4, 5, 2, 2, 3)
TINY = ConvShape(1, 1, 3, 3, 1, 2, 2)


def _or_by_hand(s, w):
    z = np.zeros((s.shape[0], w.shape[0], s.shape[2] + w.shape[2] - 1, s.shape[3] + w.shape[3] - 1), np.int8)
    for n, f, i, j in zip(*np.nonzero(s), strict=True):
        z[n, :, i : i + w.shape[2], j : j + w.shape[3]] |= w[:, f]
    return z


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_the_or_of_features_at_locations(rng):
    s, w = (rng.integers(0, 2, shape).astype(np.int8) for shape in (SHAPE.s, SHAPE.w))
    assert np.array_equal(or_convolution(s, w), _or_by_hand(s, w))


@pytest.mark.parametrize("convention", ["exact", "authors"])
def test_local_field_is_the_difference_of_two_weights(rng, convention):
    model = ConvOR.of(SHAPE, 0.2, 0.3, 0.1, convention)
    for _ in range(3):
        x = rng.integers(0, 2, model.n).astype(np.int8)
        weights = [[float(model.log_weight(_with(x, i, v))) for v in (0, 1)] for i in range(model.n)]
        differences = np.diff(np.array(weights), axis=1)[:, 0]
        np.testing.assert_allclose(model.local_field(x), differences, atol=1e-4)


def _with(x, i, value):
    y = x.copy()
    y[i] = value
    return y


def test_the_convention_of_the_authors_counts_location_unaries_once_a_pixel_of_a_feature(rng):
    x = rng.integers(0, 2, ConvOR.of(SHAPE).n).astype(np.int8)
    exact, authors = (ConvOR.of(SHAPE, 0.2, 0.3, 0.1, name) for name in ("exact", "authors"))
    places = int(exact.split(x)[0].sum())
    more = (2 * 3 - 1) * float(exact.location_logit) * places
    assert float(authors.log_weight(x)) == pytest.approx(float(exact.log_weight(x)) + more, rel=1e-5)


def _brute_or(up, pixel):
    """Messages of one OR factor to each of its tops, from its table."""
    found = []
    for k in range(len(up)):
        best = {0: -np.inf, 1: -np.inf}
        for tops in itertools.product((0, 1), repeat=len(up)):
            rest = sum(p * t for j, (p, t) in enumerate(zip(up, tops, strict=True)) if j != k)
            best[tops[k]] = max(best[tops[k]], rest + pixel * max(tops))
        found.append(best[1] - best[0])
    return found


def _brute_and(to_and, other):
    """The message of an AND to one top, from those of its bottom and of its other top."""
    values = {t: max(other * u + to_and * (t and u) for u in (0, 1)) for t in (0, 1)}
    return values[1] - values[0]


@pytest.mark.parametrize("scale", [1.0, 50.0])
def test_an_update_equals_its_factors_tables(rng, scale):
    shape = ConvShape(2, 2, 4, 3, 2, 2, 2)
    h, w = shape.locations
    size = (shape.channels, h, w, shape.features, 2, 2, shape.images)
    old = conv_max_product.ConvMessages(*(jnp.asarray(scale * rng.normal(size=size), jnp.float32) for _ in range(2)))
    location, feature = scale * rng.normal(size=(h, w, 2, 2)), scale * rng.normal(size=(2, 2, 2, 2))
    pixel = scale * rng.normal(size=(2, 4, 3, 2))
    fresh, residual = conv_max_product.update(
        *(jnp.asarray(a, jnp.float32) for a in (location, feature, pixel)), old, jnp.float32(0.25)
    )
    to_s, to_w = np.asarray(old.to_locations, float), np.asarray(old.to_features, float)
    q_s = (location + to_s.sum((0, 4, 5)))[None, :, :, :, None, None] - to_s
    q_w = (feature + to_w.sum((1, 2, 6)))[:, None, None, :, :, :, None] - to_w
    new_s, new_w = np.zeros(size), np.zeros(size)
    for c, row, column, n in itertools.product(range(2), range(4), range(3), range(2)):
        pairs = [
            (c, i, j, f, row - i, column - j, n)
            for i, j, f in itertools.product(range(h), range(w), range(2))
            if 0 <= row - i < 2 and 0 <= column - j < 2
        ]
        up = [min(q_s[p] + q_w[p], q_s[p], q_w[p]) for p in pairs]
        for p, down in zip(pairs, _brute_or(up, pixel[c, row, column, n]), strict=True):
            new_s[p], new_w[p] = _brute_and(down, q_w[p]), _brute_and(down, q_s[p])
    rounding = 1e-5 * scale
    np.testing.assert_allclose(fresh.to_locations, 0.25 * to_s + 0.75 * new_s, atol=20 * rounding)
    np.testing.assert_allclose(fresh.to_features, 0.25 * to_w + 0.75 * new_w, atol=20 * rounding)
    largest = max(np.abs(new_s - to_s).max(), np.abs(new_w - to_w).max())
    assert float(residual) == pytest.approx(largest, abs=20 * rounding)


def test_certain_messages_stay_finite():
    model = ConvOR.of(TINY, 0.2, 0.3, 1e-100)
    ones = [np.ones(shape, int) for shape in (TINY.x, TINY.s, TINY.w)]
    target = Target.of(model, clamp(model, *ones))
    run = running.start(make_conv_sampler("pmp", damping=0), target, jax.random.key(0), 1)
    run, _ = running.advance(run, 10, record=False)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(run.state.messages))
    assert message(jnp.float32(1e9), jnp.float32(-3.0)) == -3.0


def _law(target):
    """(states, probabilities) of the free variables of a small target."""
    x, weight = _weights(target)
    p = np.exp(weight - weight.max())
    return x, p / p.sum()


@functools.cache
def _small(place):
    """(target, states, probabilities) of the small target at this place, enumerated once."""
    target = list(_small_targets())[place]
    return target, *_law(target)


def _small_targets():
    image = np.array([[[[1, 1, 0], [1, 1, 0], [0, 0, 1]]]])
    model = ConvOR.of(TINY, 0.3, 0.4, 0.15)
    yield Target.of(model, clamp(model, images=image), 0.7)
    seen = np.ones(TINY.x, bool)
    seen[0, 0, 0, :] = False
    features = np.full(TINY.w, -1)
    features[0, 0, 0, 0] = 1
    yield Target.of(model, clamp(model, images=image, features=features, seen=seen))
    pair = ConvShape(2, 1, 1, 3, 2, 1, 2)
    model = ConvOR.of(pair, 0.3, 0.4, 0.2)
    yield Target.of(model, clamp(model, images=np.array([[[[1, 1, 0]]], [[[0, 1, 1]]]])))


# Chains walk so many at a time: targets of one shape share a program, whatever the number of chains and of steps.
BATCH = 1 << 13


@jax.jit
@functools.partial(jax.vmap, in_axes=(None, None, 0, 0, None))
def _walk(sampler, target, key, x, steps):
    def step(i, state):
        return sampler.step(jax.random.fold_in(key, i), target, state)[0]

    return sampler.position(target, jax.lax.fori_loop(0, steps, step, sampler.init(key, target, x)))


def _tail(target, p, sampler, starts, seed, steps):
    """Chi-square tail of the joint states after so many steps from the given states, one chain each."""
    chain_keys = jax.random.split(jax.random.key(seed), len(starts))
    batches = [slice(first, first + BATCH) for first in range(0, len(starts), BATCH)]
    x = np.concatenate([_walk(sampler, target, chain_keys[part], starts[part], steps) for part in batches])
    fixed = np.asarray(target.evidence.mask)
    assert (x[:, fixed] == np.asarray(target.evidence.value)[fixed]).all()
    free = np.flatnonzero(~fixed)
    number = (x[:, free].astype(int) << np.arange(len(free))[::-1]).sum(1)
    assert ((x != starts).any(1)).mean() > 0.05
    counts, expected = np.bincount(number, minlength=len(p)), p * len(x)
    common = expected >= 5
    counts, expected = (np.append(a[common], a[~common].sum()) for a in (counts, expected))
    kept = expected > 0
    return chi2.sf(((counts - expected)[kept] ** 2 / expected[kept]).sum(), kept.sum() - 1)


@pytest.mark.parametrize("name", ["gibbs", "gwg"])
@pytest.mark.parametrize("place", range(3))
def test_a_sweep_keeps_the_law(name, place):
    """Exact starts, one step, chi-square over the joint states: what is rarer than once in a million fails."""
    target, states, p = _small(place)
    starts = states[np.random.default_rng(place).choice(len(p), size=1 << 15, p=p)]
    assert _tail(target, p, make_conv_sampler(name), starts, place, 1) > 1e-6


@pytest.mark.parametrize(("name", "steps"), [("gibbs", 100), ("gwg", 20)])
def test_the_law_is_reached_from_everything_off(name, steps):
    """A variable that is never drawn would stay what it was."""
    target, _, p = _small(0)
    starts = np.zeros((1 << 13, target.n), np.int8)
    assert _tail(target, p, make_conv_sampler(name), starts, 11, steps) > 1e-6


@pytest.mark.parametrize("change", ["beta", "prior"])
def test_the_chi_square_sees_another_law(change):
    target, states, p = _small(0)
    starts = states[np.random.default_rng(0).choice(len(p), size=1 << 15, p=p)]
    other = {"beta": Target.of(target.model, target.evidence, 0.8)}
    other["prior"] = Target.of(ConvOR.of(TINY, 0.36, 0.4, 0.15), target.evidence, 0.7)
    for name in ("gibbs", "gwg"):
        assert _tail(other[change], p, make_conv_sampler(name), starts, 0, 1) < 1e-6


def test_boolean_matrix_factorisation_is_the_case_of_one_pixel(rng):
    images, channels, rank = 12, 9, 3
    s, w = rng.random((images, rank)) < 0.4, rng.random((channels, rank)) < 0.4
    x = (s[:, None] & w[None]).any(2).astype(np.int8)[:, :, None, None]
    shape = ConvShape.of(x, rank, (1, 1))
    model = ConvOR.of(shape, 0.4, 0.4, 1e-6)
    assert np.array_equal(or_convolution(s[:, :, None, None], w[:, :, None, None]), x)
    target = Target.of(model, clamp(model, x))
    shown = [
        deconvolution.advance(deconvolution.begin(make_conv_sampler("pmp"), target, seed, 1), 300)[1]
        for seed in range(5)
    ]
    assert min(one.wrong[0] for one in shown) == 0


def test_a_proposal_keeps_differences_up_to_date():
    target = next(_small_targets())
    sampler = make_conv_sampler("gwg")
    key = jax.random.key(3)
    state = sampler.init(key, target, np.zeros(target.n, np.int8))
    for quantum in range(3):
        state, info = sampler.step(jax.random.fold_in(key, quantum), target, state)
        fresh = sampler.init(key, target, sampler.position(target, state))
        np.testing.assert_allclose(state.per_image, fresh.per_image, rtol=1e-5)
        np.testing.assert_allclose(state.shares, fresh.shares, atol=1e-4)
    assert 0 < float(info["acceptance"]) <= 1


@pytest.mark.as_shipped
@pytest.mark.parametrize("cls", CONV_SAMPLERS, ids=lambda cls: cls.spec.id)
def test_chunks_and_neighbours_change_no_bit(cls):
    target = next(_small_targets())
    at_once, _ = running.advance(running.start(cls(), target, jax.random.key(1), 2), 6, record=False)
    in_parts = running.start(cls(), target, jax.random.key(1), 3)
    for count in (1, 2, 3):
        in_parts, _ = running.advance(in_parts, count, record=False)
    assert np.array_equal(running.positions(at_once), running.positions(in_parts)[:2])


# Every day fewer and smaller images are, in `test_live_deconvolution.py`.
@pytest.mark.thorough
def test_pmp_separates_features_and_locations():
    glyphs = glyph_set("paper").glyphs
    images, places = stamp(42, glyphs, 100, 14, 14, margin=1)
    model = ConvOR.of(ConvShape(100, 1, 14, 14, 5, 6, 6))
    run = deconvolution.begin(make_conv_sampler("pmp"), Target.of(model, clamp(model, images)), 40, 1)
    run, shown = deconvolution.advance(run, 400)
    assert [r.mismatches for r in deconvolution.recovered(shown.features[0], glyphs[None])] == [0, 0, 0, 0]
    assert shown.wrong[0] <= 10 and shown.explained[0] >= shown.on - 10 and shown.on == images.sum()
    assert np.array_equal(shown.reconstruction[0], or_convolution(shown.locations[0], shown.features[0]))


@pytest.mark.parametrize("convention", ["exact", "authors"])
@pytest.mark.parametrize("place", ["seen", "unseen"])
def test_draws_where_max_product_is_exact(place, convention):
    """One feature at the places of a row: a tree once the features are known. The argmax of weight and noise there."""
    shape = ConvShape(1, 1, 1, 3, 1, 1, 1)
    model = ConvOR.of(shape, 0.4, 0.3, 0.2, convention)
    seen = np.array([[[[1, 1, place == "seen"]]]], bool)
    target = Target.of(model, clamp(model, np.array([[[[1, 0, 1]]]]), features=[[[[1]]]], seen=seen), 0.6)
    states, weight = _weights(target)
    for seed in range(40):
        noise, found = _undamped(target, states[0], seed, 3)
        s, w, x = (np.asarray(part) for part in model.split(found))
        of_seen = seen.reshape(-1)
        if place == "unseen":
            # Summed out, an unseen pixel is flat, and it is drawn given the rest.
            chance = 0.6 * float(model.noise_logit) * (2.0 * s[0, 0, 0] - 1) + model.split(noise)[2][0, 0, 0] > 0
            assert np.array_equal(x[0, 0, 0][~of_seen], chance[~of_seen])
        value = 0.6 * float(model.location_logit) * states[:, :3] + noise[:3] * states[:, :3]
        agree = states[:, 4:] != states[:, :3]
        value = value.sum(1) - 0.6 * float(model.noise_logit) * (agree * of_seen).sum(1)
        assert np.array_equal(s.reshape(-1), states[value.argmax(), :3])


@pytest.mark.parametrize("convention", ["exact", "authors"])
def test_a_single_pair_is_decoded_as_the_maximum(convention):
    """One place, one pixel, 2 x 1 of a feature: the AND's tree, with noise on both, beta and copies as they must be."""
    shape = ConvShape(1, 1, 2, 1, 1, 2, 1)
    model = ConvOR.of(shape, 0.4, 0.3, 0.2, convention)
    target = Target.of(model, clamp(model, np.array([[[[1], [0]]]])), 0.6)
    states, weight = _weights(target)
    copies = float(model.location_copies)
    assert copies == (1 if convention == "exact" else 2)
    for seed in range(60):
        noise, found = _undamped(target, states[0], seed, 6)
        noise = noise * np.array([copies, 1, 1, 0, 0])
        assert np.array_equal(found, states[(weight + states @ noise).argmax()])


def _undamped(target, first, seed, sweeps):
    """(perturbation in double precision, configuration) after so many sweeps of undamped PMP."""
    noise, found = _swept(make_conv_sampler("pmp", damping=0), jax.random.key(seed), target, first, sweeps)
    return np.asarray(noise, np.float64), np.asarray(found)


@jax.jit
def _swept(sampler, key, target, first, sweeps):
    begin = sampler.init(key, target, first)
    state = jax.lax.fori_loop(0, sweeps, lambda _, state: sampler.step(key, target, state)[0], begin)
    return state.perturbation, sampler.position(target, state)


def _weights(target):
    """(states, beta * log weight) of all that agrees with the evidence, in double precision."""
    free = np.flatnonzero(~np.asarray(target.evidence.mask))
    states = (np.arange(1 << len(free))[:, None] >> np.arange(len(free))[::-1] & 1).astype(np.int8)
    x = np.repeat(np.asarray(target.evidence.value)[None], len(states), 0)
    x[:, free] = states
    return x, np.asarray(jax.vmap(target.log_weight)(x), np.float64)


def test_known_features_generation_and_completion(rng):
    glyphs = glyph_set("paper").glyphs
    images, places = stamp(1, glyphs, 10, 14, 14)
    model = ConvOR.of(ConvShape(10, 1, 14, 14, 4, 5, 5), 0.01, 0.25, 1e-6)
    seen = np.ones(images.shape, bool)
    seen[:, :, :, 10:] = False
    target = Target.of(model, clamp(model, images, features=glyphs[None], seen=seen))
    run = deconvolution.begin(make_conv_sampler("pmp"), target, 0, 1)
    run, shown = deconvolution.advance(run, 100)
    assert np.array_equal(shown.features[0], glyphs[None]) and shown.wrong[0] <= 5
    # All given but the images: what is decoded is what was stamped.
    made = Target.of(model, clamp(model, locations=places, features=glyphs[None]))
    run, shown = deconvolution.advance(deconvolution.begin(make_conv_sampler("pmp"), made, 0, 1), 5)
    assert np.array_equal(shown.reconstruction[0], images)
    assert np.array_equal(model.split(running.positions(run)[0])[2], images)


def test_with_nothing_seen_places_and_features_are_drawn_from_the_prior():
    model = ConvOR.of(ConvShape(200, 1, 8, 8, 3, 3, 3), 0.1, 0.3, 0.05)
    run = deconvolution.begin(make_conv_sampler("pmp"), Target.of(model), 2, 1)
    run, shown = deconvolution.advance(run, 20)
    assert shown.residual[0] == 0
    s, _, x = (np.asarray(part) for part in model.split(running.positions(run)[0]))
    for mean, p, count in ((s.mean(), 0.1, s.size), ((x[:, 0] != shown.reconstruction[0, :, 0]).mean(), 0.05, x.size)):
        assert abs(mean - p) < 5 * np.sqrt(p * (1 - p) / count)


def test_alignment_and_recovery(rng):
    glyphs = glyph_set("letters").glyphs
    features = np.zeros((1, 5, 6, 6), np.int8)
    order = [2, 0, 3, 1]
    for place, g in enumerate(order):
        features[0, place, place % 2 : place % 2 + 5, 1:6] = glyphs[g]
    found = deconvolution.recovered(features, glyphs[None])
    assert [r.feature for r in found] == [order.index(g) for g in range(4)]
    assert [r.shift for r in found] == [(order.index(g) % 2, 1) for g in range(4)]
    assert not any(r.mismatches for r in found)
    mixed = features[:, [4, 3, 1, 0, 2]]
    assert np.array_equal(mixed[:, deconvolution.align(mixed, features)], features)


def test_stamps(rng):
    for known in GLYPH_SETS:
        assert known.glyphs.ndim == 3 and known.glyphs.any((1, 2)).all() and known.glyphs.max() == 1
        images, places = stamp(7, known.glyphs, 20, 14, 14, margin=1)
        assert np.array_equal(images, or_convolution(places, known.glyphs[None]))
        assert np.array_equal(images, placed(places, known.glyphs)) and (places.sum((1, 2, 3)) >= 3).all()
        assert not images[:, :, 0].any() and not images[:, :, :, -1].any()
    with pytest.raises(InputError, match="larger images"):
        stamp(0, known.glyphs, 5, 4, 14)
    with pytest.raises(InputError, match="higher rate"):
        stamp(0, known.glyphs, 5, 6, 6, rate=1e-6)
    for told in ({"images": 0}, {"seed": -1}, {"glyphs": -known.glyphs}):
        with pytest.raises(InputError, match="give"):
            stamp(**{"seed": 0, "glyphs": known.glyphs, "images": 5, "height": 14, "width": 14} | told)
    with pytest.raises(InputError, match="paint"):
        stamp(0, np.zeros((1, 5, 5)), 5, 14, 14)
    with pytest.raises(InputError, match="choose one of"):
        glyph_set("runes")


@pytest.mark.parametrize(
    ("images", "sentence"),
    [
        (np.zeros((0, 14, 14)), "is empty, its shape is .* at least 6 x 6"),
        (np.full((2, 14, 14), 0.5), "holds the value 0.5; give pixels that are 0 or 1"),
        (np.full((2, 14, 14), np.nan), "holds the value nan"),
        (np.zeros((2, 5, 14)), "smaller than the features; give images of at least 6 x 6"),
        (np.zeros((20_000, 6, 6), np.int8), "give at most 10,000"),
        (np.zeros((14, 14)), "N x H x W"),
        (np.array([[["a"]]]), "N x H x W"),
    ],
)
def test_bad_images_get_one_sentence(images, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        check_images(images, "the archive", (6, 6))
    assert "\n" not in str(caught.value)


def test_images_of_an_archive(tmp_path):
    images = stamp(0, glyph_set("bars").glyphs, 4, 9, 9)[0]
    np.savez(tmp_path / "a.npz", other=np.zeros(3), X=images[:, 0])
    assert np.array_equal(images_of_npz((tmp_path / "a.npz").read_bytes(), "a.npz", (6, 6)), images)
    np.savez(tmp_path / "b.npz", p=images, q=images)
    with pytest.raises(InputError, match="the name X"):
        images_of_npz((tmp_path / "b.npz").read_bytes(), "b.npz", (6, 6))


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match="does not fit into images of 5 x 5"):
        ConvOR.of(ConvShape(1, 1, 5, 5, 1, 6, 6))
    with pytest.raises(InputError, match="give at most .* images") as caught:
        ConvOR.of(ConvShape(300, 3, 64, 64, 64, 64, 64))
    most = int(str(caught.value).split("give at most ")[1].split()[0].replace(",", ""))
    assert ConvOR.of(ConvShape(most, 3, 64, 64, 64, 64, 64)).n <= 1 << 22
    with pytest.raises(InputError, match="give smaller images"):
        ConvOR.of(ConvShape(1, 1, 2000, 2000, 5, 6, 6))
    with pytest.raises(InputError, match="probability"):
        ConvOR.of(SHAPE, location_prior=0.0)
    with pytest.raises(InputError, match="at most 0.5"):
        ConvOR.of(SHAPE, noise=0.7)
    with pytest.raises(InputError, match="exact, authors"):
        ConvOR.of(SHAPE, convention="mine")
    with pytest.raises(InputError, match="the features have shape"):
        clamp(ConvOR.of(SHAPE), features=np.zeros((1, 2, 2, 3)))
    with pytest.raises(InputError, match="besides -1, 0 and 1"):
        clamp(ConvOR.of(SHAPE), features=np.full(SHAPE.w, 2))
    with pytest.raises(InputError, match="the seen pixels have shape"):
        clamp(ConvOR.of(SHAPE), np.zeros(SHAPE.x), seen=np.ones((2, 4, 5), bool))
    large = ConvOR.of(ConvShape(100, 1, 64, 64, 10, 24, 24))
    with pytest.raises(InputError, match="GiB; give at most"):
        deconvolution.begin(make_conv_sampler("pmp"), Target.of(large), 0, 4)
    chains = deconvolution.begin(make_conv_sampler("gibbs"), Target.of(ConvOR.of(TINY)), 0, 4)
    assert chains.chains == 4
    with pytest.raises(InputError, match="binary convolution"):
        from pmpviz.models import build_spec

        running.start(make_conv_sampler("gibbs"), Target.of(build_spec("chain:3")), jax.random.key(0), 1)


def test_new_weights_and_evidence_compile_nothing():
    model = ConvOR.of(TINY, 0.3, 0.4, 0.15)
    traced = []

    @jax.jit
    def step(sampler, key, target, state):
        traced.append(1)
        return sampler.step(key, target, state)

    key = jax.random.key(0)
    for prior, mask, damping in ((0.3, 0, 0.5), (0.2, 1, 0.9)):
        target = Target.of(ConvOR.of(TINY, prior, 0.4, 0.15), Evidence.of(model.n, {mask: 1}), 0.5 + prior)
        sampler = make_conv_sampler("pmp", damping=damping)
        step(sampler, key, target, sampler.init(key, target, np.zeros(model.n, np.int8)))
    assert len(traced) == 1
