"""Every builder against its spin form, its edge counts and its colouring."""

import itertools
import math

import jax
import numpy as np
import pytest

from pmpviz.models import BUILDERS, Ising, build_spec, builder_of
from pmpviz.models.builders import dense_model, lattice_model
from pmpviz.models.couplings import colour_of, to_dense
from pmpviz.models.state_builders import STATE_BUILDERS
from pmpviz.models.topologies import SHIFTS, lattice, pair_of, tree
from pmpviz.types import InputError

pytestmark = pytest.mark.brief

SPECS = (
    "square:5x7",
    "square:4x6,couplings=frustrated,J=0.7,field=random,h=0.3",
    "square:3x5,couplings=glass,J=1.2,periodic=false,h=-0.4",
    "square:1x1,periodic=false,h=0.4",
    "triangular:6x9,couplings=gaussian,sigma=0.8,seed=3",
    "triangular:4x5,J=-0.5,periodic=false,field=random,h=1",
    "honeycomb:4x6,couplings=gaussian,field=first,h=2",
    "honeycomb:3x5,periodic=false",
    "cubic:3x4x5,couplings=glass,J=0.3,h=0.2",
    "cubic:2x3x2,periodic=false,couplings=gaussian",
    "chain:9,J=3,field=first,h=1",
    "chain:7,periodic=true,couplings=gaussian,field=random",
    "tree:13,branching=3,couplings=gaussian,h=0.5",
    "tree:1",
    "complete:12,field=random,h=0.5",
    "complete:4,theta=0.25",
    "clique:10,theta=3,seed=2",
    "erdos_renyi:40",
    "erdos_renyi:12,degree=8,couplings=glass,J=0.4",
    "erdos_renyi:6,degree=0",
    "random_regular:30,degree=4,couplings=gaussian",
    "random_regular:8,degree=5",
    "rbm:3x4x5",
    "rbm:2x3x4,pattern=random,strength=1.5,seed=2",
    "rbm:2x3x4,pattern=random,strength=1.5,bias=2",
    "srbm:3x2x4,pattern=random,lateral=-0.7",
    "announcement:24,seed=3",
    "segmentation:9x11,repel=0.3,seed=1",
    "segmentation:1x1",
)


# One program for each shape instead of one for every operation.
log_weights = jax.jit(jax.vmap(lambda model, x: model.log_weight(x), in_axes=(None, 0)))
local_fields = jax.jit(jax.vmap(lambda model, x: model.local_field(x), in_axes=(None, 0)))


def test_every_builder_is_covered():
    of_states = {builder.id for builder in STATE_BUILDERS}
    assert {spec.partition(":")[0] for spec in SPECS} == {builder.id for builder in BUILDERS} - of_states


def in_bits(spec: str) -> bool:
    return "rbm" in spec or "announcement" in spec


def spin_form(spec: str) -> tuple[np.ndarray, np.ndarray]:
    """(h, J as a symmetric matrix) that the built model gives back."""
    h, i, j, J, constant = build_spec(spec).to_spin()
    # Builders in spin form leave no constant; those with layers, and of texts, are in 0/1 form.
    assert abs(constant) < 1e-4 * (1 + np.abs(J).sum()) or in_bits(spec)
    matrix = np.zeros((len(h), len(h)))
    np.add.at(matrix, (i, j), J)
    return h, matrix + matrix.T


def log_weight64(model: Ising, x: np.ndarray) -> np.ndarray:
    bias, i, j, w = model.pairwise()
    return x @ bias + (x[..., i] * x[..., j]) @ w + float(model.constant)


@pytest.mark.parametrize("spec", SPECS)
def test_log_weight_equals_the_spin_energy(spec):
    model = build_spec(spec)
    h, matrix = spin_form(spec)
    x = np.random.default_rng(1).integers(0, 2, (64, model.n)).astype(np.int8)
    s = 2.0 * x - 1
    energy = s @ h + 0.5 * ((s @ matrix) * s).sum(1)
    energy += model.to_spin()[4] if in_bits(spec) else 0.0
    size = 1 + np.abs(h).sum() + np.abs(matrix).sum()
    assert np.abs(log_weight64(model, x.astype(float)) - energy).max() < 1e-6 * size
    assert np.abs(np.asarray(log_weights(model, x)) - energy).max() < 3e-6 * size


@pytest.mark.parametrize("machine", ["rbm:8x8x64,pattern=random", "srbm:8x8x64,pattern=random"])
def test_random_biases_are_added_to_every_unit_of_both_layers(machine):
    plain, biased = (build_spec(f"{machine}{more}").pairwise() for more in ("", ",bias=3"))
    added = biased[0] - plain[0]
    np.testing.assert_array_equal(plain[3], biased[3])
    assert np.abs(added).max() <= 3.001 and np.unique(added.round(4)).size > 120
    assert min(np.std(added[:64]), np.std(added[64:])) > 1  # A uniform law's is 3 / sqrt(3).


@pytest.mark.parametrize("kind", sorted(SHIFTS))
@pytest.mark.parametrize("periodic", [True, False])
def test_lattice_model_has_the_energy_of_its_spin_couplings(kind, periodic):
    shape = (4, 6, 4)[: len(SHIFTS[kind][0])]
    shifts, present = lattice(kind, shape, periodic)
    rng = np.random.default_rng(4)
    J, h = rng.normal(size=present.shape), rng.normal(size=math.prod(shape))
    model = lattice_model(shifts, present, J, h)
    for s in rng.choice([-1.0, 1.0], (5, *shape)):
        energy = s.reshape(-1) @ h
        for d, site in itertools.product(range(len(shifts)), np.ndindex(*shape)):
            other = tuple((a + b) % side for a, b, side in zip(site, shifts[d], shape, strict=True))
            energy += J[d][site] * s[site] * s[other] * present[d][site]
        assert log_weight64(model, (s.reshape(-1) + 1) / 2) == pytest.approx(energy, abs=1e-4)


def test_dense_model_has_the_energy_of_its_spin_couplings():
    rng = np.random.default_rng(5)
    J, h = rng.normal(size=(9, 9)), rng.normal(size=9)
    model = dense_model(J, h)
    for s in rng.choice([-1.0, 1.0], (5, 9)):
        energy = s @ h + sum(J[i, j] * s[i] * s[j] for i, j in itertools.combinations(range(9), 2))
        assert log_weight64(model, (s + 1) / 2) == pytest.approx(energy, abs=1e-4)


@pytest.mark.parametrize("spec", SPECS)
def test_local_field_is_the_difference_of_log_weights(spec):
    model = build_spec(spec)
    x = np.random.default_rng(2).integers(0, 2, (4, model.n)).astype(np.int8)
    fields = np.asarray(local_fields(model, x))
    for site in range(model.n):
        up, down = x.astype(float), x.astype(float)
        up[:, site], down[:, site] = 1, 0
        gap = log_weight64(model, up) - log_weight64(model, down)
        assert np.allclose(fields[:, site], gap, atol=1e-4)


@pytest.mark.parametrize("spec", SPECS)
def test_spin_form_and_back_is_the_same_model(spec):
    model = build_spec(spec)
    h, i, j, J, constant = model.to_spin()
    again = Ising.from_spin(h, i, j, J, constant)
    assert np.allclose(again.bias, model.bias, atol=1e-5)
    assert np.allclose(to_dense(again.couplings).weight, to_dense(model.couplings).weight, atol=1e-6)
    assert float(again.constant) == pytest.approx(float(model.constant), abs=1e-4)


@pytest.mark.parametrize(
    ("spec", "edges"),
    [
        ("square:5x7", 2 * 35),
        ("square:5x7,periodic=false", 5 * 6 + 4 * 7),
        ("triangular:6x7", 3 * 42),
        ("triangular:6x7,periodic=false", 6 * 6 + 5 * 7 + 5 * 6),
        ("honeycomb:4x6", 36),
        ("cubic:3x4x5", 180),
        ("cubic:3x4x5,periodic=false", 2 * 20 + 3 * 15 + 3 * 16),
        ("chain:9", 8),
        ("chain:9,periodic=true", 9),
        ("tree:31", 30),
        ("complete:7,J=1", 21),
        ("clique:10", 45),
        ("random_regular:30,degree=4", 60),
    ],
)
def test_edge_counts(spec, edges):
    i, j, _ = build_spec(spec).couplings.edges()
    pairs = {frozenset(pair) for pair in zip(i.tolist(), j.tolist(), strict=True)}
    assert len(i) == edges
    assert len(pairs) == edges and all(len(pair) == 2 for pair in pairs)


@pytest.mark.parametrize(
    ("spec", "degree"),
    [("square:4x5", 4), ("triangular:3x4", 6), ("honeycomb:4x8", 3), ("cubic:3x3x3", 6), ("random_regular:50", 3)],
)
def test_every_site_has_the_same_number_of_neighbours(spec, degree):
    model = build_spec(spec)
    i, j, _ = model.couplings.edges()
    assert (np.bincount(np.concatenate([i, j]), minlength=model.n) == degree).all()


def test_honeycomb_has_no_triangle_nor_square():
    dense = np.asarray(to_dense(build_spec("honeycomb:6x6,J=0.25").couplings).weight)
    assert set(np.unique(dense)) == {0, 1}
    common = dense @ dense
    assert not (common * dense).any()
    assert common[~np.eye(36, dtype=bool)].max() == 1


def test_theta_is_the_paper_s_matrix_entry_counted_twice():
    h, matrix = spin_form("square:25x25,theta=-0.1,periodic=true")
    assert np.allclose(np.unique(matrix), [-0.2, 0], atol=1e-7)
    assert np.allclose(h, 0, atol=1e-6)


@pytest.mark.parametrize("periodic", ["true", "false"])
def test_every_villain_plaquette_is_frustrated(periodic):
    height, width = 5, 6
    _, matrix = spin_form(f"square:{height}x{width},couplings=frustrated,J=1,periodic={periodic}")
    last = 0 if periodic == "true" else 1
    for r, c in itertools.product(range(height - last), range(width - last)):
        a, b = r * width + c, r * width + (c + 1) % width
        d = (r + 1) % height * width + c
        e = (r + 1) % height * width + (c + 1) % width
        assert matrix[a, b] * matrix[b, e] * matrix[e, d] * matrix[d, a] == pytest.approx(-1)


def test_strongly_coupled_chain_prefers_to_agree():
    h, matrix = spin_form("chain:64,J=3,field=first,h=1")
    assert matrix[10, 11] == pytest.approx(3)
    assert h[0] == pytest.approx(1) and np.abs(h[1:]).max() < 1e-6


def proper(model: Ising) -> bool:
    i, j, _ = model.couplings.edges()
    colour = np.asarray(model.colour)
    return bool((colour[i] != colour[j]).all()) and model.n_colours == colour.max() + 1


SIDES = (3, 4, 5, 6, 7, 8, 9, 10)


@pytest.mark.parametrize("kind", ["square", "triangular", "honeycomb"])
@pytest.mark.parametrize("periodic", ["true", "false"])
def test_plane_colourings_are_proper_and_small(kind, periodic):
    for height, width in itertools.product(SIDES, SIDES):
        if kind == "honeycomb" and periodic == "true" and (height % 2 or width % 2):
            continue
        model = build_spec(f"{kind}:{height}x{width},periodic={periodic}")
        assert proper(model)
        assert model.n_colours == fewest(kind, height, width, periodic == "true")


def fewest(kind: str, height: int, width: int, periodic: bool) -> int:
    """Colours that the closed forms promise; on the square and honeycomb lattice no colouring has fewer."""
    if kind != "triangular":
        return 3 if periodic and (height % 2 or width % 2) else 2
    if not periodic or (height % 3 == 0 and width % 3 == 0):
        return 3
    return 4 if height % 2 == 0 and width % 2 == 0 else 5


@pytest.mark.parametrize("spec", [*SPECS, "cubic:5x4x3", "cubic:4x4x4", "chain:3,periodic=true", "tree:200"])
def test_other_colourings_are_proper(spec):
    model = build_spec(spec)
    assert proper(model)
    blocks = np.concatenate(model.blocks())
    assert np.array_equal(np.sort(blocks), np.arange(model.n))


def test_colouring_found_from_the_weights_alone_is_the_builder_s():
    for spec in ("square:25x25", "triangular:5x7", "honeycomb:6x8", "cubic:3x4x5"):
        model = build_spec(spec)
        assert np.array_equal(colour_of(model.couplings), model.colour)


def test_zero_coupling_keeps_the_colours():
    assert build_spec("triangular:6x6,J=0").n_colours == build_spec("triangular:6x6").n_colours == 3


def test_erdos_renyi_defaults_are_the_papers():
    graphs = [build_spec(f"erdos_renyi:200,seed={seed}").to_spin() for seed in range(40)]
    counts = np.array([len(i) for _, i, _, _, _ in graphs])
    p, pairs = 4 / 199, 19900
    assert abs(counts.mean() - pairs * p) < 6 * np.sqrt(pairs * p * (1 - p) / 40)
    degree = np.concatenate([np.bincount(np.concatenate([i, j]), minlength=200) for _, i, j, _, _ in graphs])
    # Within a graph degrees are all but independent: variance of their sample variance for a Poisson of mean 4.
    assert abs(degree.var() - 4 * (1 - p)) < 6 * np.sqrt((4 + 2 * 16) / len(degree))
    J = np.concatenate([J for _, _, _, J, _ in graphs])
    assert abs(J.mean()) < 6 / np.sqrt(len(J))
    assert abs(J.std() - 1) < 6 / np.sqrt(2 * len(J))
    assert all(np.allclose(h, 0.1, atol=1e-5) for h, *_ in graphs)


def test_erdos_renyi_joins_every_pair_alike():
    n, seeds = 6, 4000
    model = builder_of("erdos_renyi")
    joined = np.zeros((n, n))
    for seed in range(seeds):
        joined += np.asarray(
            to_dense(model.build((n,), degree=2, couplings="uniform", J=0.25, seed=seed).couplings).weight
        )
    rate = joined[np.triu_indices(n, 1)] / seeds
    assert np.abs(rate - 0.4).max() < 6 * np.sqrt(0.24 / seeds)


def test_sherrington_kirkpatrick_spread_is_one_over_root_n():
    _, _, _, J, _ = build_spec("complete:256").to_spin()
    assert len(J) == 256 * 255 // 2
    assert abs(J.std() * 16 - 1) < 6 / np.sqrt(2 * len(J))


def test_clique_fields_and_couplings_fill_their_ranges():
    h, _, _, J, _ = build_spec("clique:200,theta=2").to_spin()
    assert np.abs(J).max() <= 2 + 1e-6 and np.abs(h).max() <= 1 + 1e-4
    assert abs(J.var() - 4 / 3) < 6 * np.sqrt(16 * (1 / 5 - 1 / 9) / len(J))
    assert abs(h.var() - 1 / 3) < 6 * np.sqrt((1 / 5 - 1 / 9) / len(h))


def test_fields_are_not_the_couplings_drawn_again():
    h, matrix = spin_form("clique:200,theta=1")
    for row in matrix[:10, 10:]:
        assert abs(np.corrcoef(row, h[10:])[0, 1]) < 6 / np.sqrt(190)


def test_model_seed_decides_alone():
    spec = "square:8x8,couplings=gaussian,field=random,seed={}"
    first, same, other = (build_spec(spec.format(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first.couplings.weight, same.couplings.weight)
    assert np.array_equal(first.bias, same.bias)
    assert not np.array_equal(first.couplings.weight, other.couplings.weight)
    without = build_spec("square:8x8,couplings=gaussian,seed=1")
    assert np.array_equal(first.couplings.weight, without.couplings.weight)


@pytest.mark.parametrize("n", [4, 5, 6, 7, 10, 21])
def test_random_regular_of_every_degree(n):
    for degree in range(1, n):
        if n * degree % 2 == 0:
            i, j, _ = build_spec(f"random_regular:{n},degree={degree}").couplings.edges()
            assert (np.bincount(np.concatenate([i, j]), minlength=n) == degree).all()
            assert len(set(zip(i.tolist(), j.tolist(), strict=True))) == len(i)


def test_pair_of_lists_all_pairs():
    for n in (2, 3, 7):
        i, j = pair_of(np.arange(n * (n - 1) // 2), n)
        assert list(zip(i.tolist(), j.tolist(), strict=True)) == list(itertools.combinations(range(n), 2))


def test_tree_levels():
    parent, child, depth = tree(14, 3)
    assert depth.tolist() == [0] + [1] * 3 + [2] * 9 + [3]
    assert (depth[child] == depth[parent] + 1).all()
    assert np.bincount(parent).max() == 3


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("square:2x5", "periodic=false"),
        ("chain:2,periodic=true", "periodic=false"),
        ("honeycomb:5x6", "even"),
        ("square:4x5,couplings=frustrated", "even width"),
        ("complete:4097", "4096"),
        ("clique:5000", "4096"),
        ("square:1025x1024", "1048576"),
        ("cubic:999999999x999999999x999999999", "1048576"),
        ("erdos_renyi:4", "at most 3"),
        ("erdos_renyi:200000,degree=100", "fewer sites"),
        ("random_regular:3", "at most 2"),
        ("random_regular:9,degree=3", "even"),
        ("random_regular:200000,degree=100", "fewer sites"),
    ],
)
def test_what_cannot_be_built_is_refused_in_one_sentence(spec, word):
    with pytest.raises(InputError, match=word) as refused:
        build_spec(spec)
    assert "\n" not in str(refused.value)


def test_largest_lattice_keeps_its_shape_and_two_colours():
    model = build_spec("square:1024x1024")
    assert model.n == 1 << 20 and model.n_colours == 2
    assert model.couplings.weight.dtype == np.float32 and model.couplings.weight.shape == (2, 1024, 1024)
