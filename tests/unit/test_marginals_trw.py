"""The tree-reweighted objective: its derivative, its line search, its trees, and the set of visited vertices."""

import itertools

import numpy as np
import pytest
from pairwise import all_states, random_pairwise, solved
from scipy.sparse.csgraph import connected_components

from pmpviz.marginals import active_set, trw
from pmpviz.marginals.active_set import ActiveSet
from pmpviz.marginals.polytope import Cells
from pmpviz.marginals.resistance import edge_resistances
from pmpviz.marginals.trw import TreeReweighted, best_tree, edge_strength, matrix_tree
from pmpviz.oracles import Potentials, Structure


def spanning_trees(structure):
    """Every set of n - 1 edges that joins all nodes."""
    for chosen in itertools.combinations(range(len(structure.i)), structure.n - 1):
        joined = np.zeros((structure.n, structure.n))
        joined[structure.i[list(chosen)], structure.j[list(chosen)]] = 1
        if connected_components(joined, directed=False)[0] == 1:
            yield list(chosen)


def inside(objective, rng):
    """A point in the interior of the marginal polytope: an average of vertices and the uniform point."""
    cells = objective.cells
    x = np.stack([rng.integers(0, c, 6) for c in cells.structure.card], 1)
    vertices = np.stack([cells.vertex(row) for row in x])
    return 0.3 * cells.uniform + 0.7 * rng.dirichlet(np.ones(6)) @ vertices


def objective_of(seed, **options):
    potentials = random_pairwise(seed, **options)
    rho = matrix_tree(potentials.structure, edge_strength(potentials))
    return potentials, TreeReweighted.of(potentials, rho)


@pytest.mark.parametrize("seed", range(6))
def test_vertices_have_their_configurations_score(seed):
    potentials, objective = objective_of(seed, states=3)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        x = np.array([rng.integers(c) for c in potentials.structure.card])
        vertex = objective.cells.vertex(x)
        assert objective.value(vertex) == pytest.approx(float(potentials.value(x)), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_gradient_is_the_derivative_along_differences_of_points(seed):
    _, objective = objective_of(seed, states=3)
    rng = np.random.default_rng(seed)
    a, b = inside(objective, rng), inside(objective, rng)
    h = 1e-5
    slope = (objective.value(a + h * (b - a)) - objective.value(a - h * (b - a))) / (2 * h)
    assert objective.gradient(a) @ (b - a) == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_line_search_finds_the_best_point_of_the_segment(seed):
    _, objective = objective_of(seed, strength=4.0)
    rng = np.random.default_rng(seed)
    a, b = inside(objective, rng), inside(objective, rng)
    gamma = objective.line_search(a, b - a, 1.0)
    best = max(objective.value(a + t * (b - a)) for t in np.linspace(0, 1, 2001))
    assert 0 <= gamma <= 1
    assert objective.value(a + gamma * (b - a)) >= best - 1e-9


def test_line_search_stays_at_the_top_of_a_segment():
    """Towards a vertex the slope falls to minus infinity, so that the top lies before it."""
    potentials, objective = objective_of(3)
    a = objective.cells.uniform
    vertices = [objective.cells.vertex(x) for x in all_states(potentials.structure)]
    b = max(vertices, key=lambda vertex: float(objective.gradient(a) @ vertex))
    top = a + objective.line_search(a, b - a, 1.0) * (b - a)
    assert not np.allclose(top, a)
    for end in (a, b):
        moved = objective.line_search(top, end - top, 1.0) * (end - top)
        assert np.abs(moved).max() < 1e-6


def test_objective_is_exact_on_trees():
    for seed in range(6):
        potentials = random_pairwise(seed, n=6, states=3, tree=True)
        log_z, unary, table = solved(potentials)
        objective = TreeReweighted.of(potentials, np.ones(len(potentials.structure.i)))
        assert objective.value(objective.cells.flat(unary, table)) == pytest.approx(log_z, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_matrix_tree_gives_the_frequencies_of_weighted_spanning_trees(seed):
    potentials = random_pairwise(seed, n=5, density=1.0)
    s, weight = potentials.structure, edge_strength(potentials)
    trees = list(spanning_trees(s))
    chance = np.array([weight[tree].prod() for tree in trees])
    expected = np.zeros(len(s.i))
    for tree, p in zip(trees, chance / chance.sum(), strict=True):
        expected[tree] += p
    np.testing.assert_allclose(matrix_tree(s, weight), expected, atol=1e-9)


def test_matrix_tree_of_parts_and_of_zero_weights():
    s = Structure((2,) * 6, np.array([0, 0, 1, 3, 4]), np.array([1, 2, 2, 4, 5]))
    rho = matrix_tree(s, np.array([1.0, 1.0, 1.0, 2.0, 0.0]))
    np.testing.assert_allclose(rho, [2 / 3, 2 / 3, 2 / 3, 1.0, 0.0], atol=1e-12)
    assert matrix_tree(s, np.zeros(5)).tolist() == [0.0] * 5


def test_matrix_tree_takes_rounding_for_no_edge():
    """Two triangles joined by a table that is a product but for rounding: each has two thirds of its edges."""
    s = Structure((2,) * 6, np.array([0, 0, 1, 2, 3, 3, 4]), np.array([1, 2, 2, 3, 4, 5, 5]))
    rho = matrix_tree(s, np.array([1.0, 0.7, 2.0, 6.5e-15, 0.3, 1.0, 1.0]))
    assert rho[3] == 0 and rho[:3].sum() == pytest.approx(2, abs=1e-9) and rho[4:].sum() == pytest.approx(2, abs=1e-9)


@pytest.mark.parametrize("decades", [8, 12, 16])
def test_matrix_tree_stays_in_the_spanning_tree_polytope(decades):
    """No set S of nodes holds more than |S| - 1 edges in the mean (Edmonds), however far apart the weights lie."""
    i, j = np.triu_indices(7, 1)
    inside = np.array([[(mask >> a) & (mask >> b) & 1 for a, b in zip(i, j, strict=True)] for mask in range(1, 2**7)])
    most = np.array([mask.bit_count() - 1 for mask in range(1, 2**7)])
    for seed in range(60):
        rng = np.random.default_rng(seed)
        kept = rng.random(len(i)) < rng.choice([0.4, 0.7, 1.0])
        rho = matrix_tree(Structure((2,) * 7, i[kept], j[kept]), 10 ** rng.uniform(-decades, 0, int(kept.sum())))
        assert (rho >= 0).all() and (inside[:, kept] @ rho - most).max() <= 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_best_tree_has_the_largest_gain(seed):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(5, 1)
    s, gain = Structure((2,) * 5, i, j), rng.normal(size=10)
    gain[rng.integers(10)] = 0.0
    tree = best_tree(s, gain)
    assert tree.sum() == 4
    assert tree @ gain == pytest.approx(max(gain[t].sum() for t in spanning_trees(s)))


def test_edge_strength_is_the_interaction_of_two_states():
    potentials = random_pairwise(1, n=5)
    _, w, _ = potentials.quadratic()
    np.testing.assert_allclose(edge_strength(potentials), np.abs(w), atol=1e-12)


def test_correction_reaches_the_best_weights():
    """The same maximum as many small mirror steps on the weights find."""
    _, objective = objective_of(2, n=5, strength=2.0)
    active = ActiveSet.uniform(objective.cells)
    for x in ([0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 1, 0, 1, 0], [1, 0, 0, 1, 1]):
        active, row = active.with_vertex(objective.cells.vertex(x))
        active = active.step(row, 0.3, 0.0)
    found, gap, _ = active.correct(objective, 0.0, 1e-6)
    weight, vertices = np.full(5, 0.2), np.vstack([objective.cells.uniform, active.vertices])
    for _ in range(4000):
        slope = vertices @ objective.gradient(weight @ vertices)
        weight = weight * np.exp(0.05 * (slope - slope.max()))
        weight /= weight.sum()
    assert found.weight.sum() == pytest.approx(1.0)
    assert gap <= 1e-6
    assert objective.value(found.point) >= objective.value(weight @ vertices) - 1e-5


@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_a_correction_of_many_vertices_ends_by_the_gap_over_all(delta, monkeypatch):
    """Most of its steps look at some of the vertices only; here at very few."""
    monkeypatch.setattr(active_set, "STEEPEST", 2)
    monkeypatch.setattr(active_set, "BETWEEN", 50)
    _, objective = objective_of(3, n=9, strength=1.0)
    cells, rng = objective.cells, np.random.default_rng(3)
    active = ActiveSet.uniform(cells)
    for _ in range(200):
        active, row = active.with_vertex(cells.vertex(rng.integers(0, cells.structure.card)))
        active = active.step(row, 0.01, delta)
    first, ended = objective.value(active.point), 0
    for tolerance in (1.0, 0.3, 0.1, 0.03, 0.01, 0.003):
        for _ in range(20):
            before = objective.value(active.point)
            active, gap, _ = active.correct(objective, delta, tolerance)
            assert objective.value(active.point) >= before - 1e-12
            assert active.weight.min() >= 0 and active.weight.sum() == pytest.approx(1.0)
            if gap <= tolerance:
                ended += 1
                gradient = objective.gradient(active.point)
                reach = (1 - delta) * np.stack(active.points) + delta * active.points[0]
                assert gap == pytest.approx((reach @ gradient).max() - active.point @ gradient, abs=1e-9)
                break
    assert ended == 6 and objective.value(active.point) > first


def test_sets_that_grow_from_one_do_not_touch_each_other():
    """Rows are written behind those before them: whoever comes second gets a copy."""
    _, objective = objective_of(0)
    cells, rng = objective.cells, np.random.default_rng(0)
    vertices = [cells.vertex(rng.integers(0, cells.structure.card)) for _ in range(60)]
    trunk = ActiveSet.uniform(cells)
    for vertex in vertices[:20]:
        trunk, _ = trunk.with_vertex(vertex)
    branches = [trunk, trunk, trunk.used()]
    for place, vertex in enumerate(vertices[20:]):
        branches[place % 3], _ = branches[place % 3].with_vertex(vertex)
    for active in (trunk, *branches):
        assert np.array_equal(active.features, [cells.features(point) for point in active.points])


def test_a_vertex_is_taken_in_once():
    cells = Cells(Structure((2, 2), np.array([0]), np.array([1])))
    active, first = ActiveSet.uniform(cells).with_vertex(cells.vertex([0, 1]))
    again, second = active.with_vertex(cells.vertex([0, 1]) + 1e-9)
    assert first == second == 1 and again is active


def test_step_keeps_the_point_where_the_weights_say():
    _, objective = objective_of(0, n=4)
    active, row = ActiveSet.uniform(objective.cells).with_vertex(objective.cells.vertex([1, 0, 1, 0]))
    stepped = active.step(row, 0.4, 0.1)
    s = 0.9 * active.points[row] + 0.1 * objective.cells.uniform
    np.testing.assert_allclose(stepped.point, active.point + 0.4 * (s - active.point), atol=1e-12)


def test_potentials_of_a_gradient_score_vertices_by_it():
    potentials, objective = objective_of(4, states=3)
    gradient = objective.gradient(inside(objective, np.random.default_rng(4)))
    linear = objective.cells.potentials(gradient)
    assert isinstance(linear, Potentials)
    x = np.zeros(potentials.n, int)
    assert float(linear.value(x)) == pytest.approx(float(gradient @ objective.cells.vertex(x)))


@pytest.mark.parametrize("seed", range(5))
def test_features_say_all_of_a_point_and_of_a_slope(seed):
    _, objective = objective_of(seed, states=3)
    cells, rng = objective.cells, np.random.default_rng(seed)
    points = np.stack([inside(objective, rng) for _ in range(3)])
    features = np.stack([cells.features(mu) for mu in points])
    np.testing.assert_allclose(cells.expand(features), points, atol=1e-12)
    vector = objective.gradient(points[0])
    offset = points @ vector - features @ cells.reduce(vector)
    np.testing.assert_allclose(offset, offset[0], atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_sparse_resistances_are_those_of_one_matrix(seed):
    """Lattices and random graphs, whole and in parts, with weights over eight decades."""
    rng = np.random.default_rng(seed)
    site = np.arange(144).reshape(12, 12)
    i, j = np.concatenate([[site[:, :-1].ravel(), site[:, 1:].ravel()], [site[:-1].ravel(), site[1:].ravel()]], 1)
    kept = rng.random(len(i)) < (1.0, 0.9, 0.5)[seed % 3]
    order = rng.permutation(144)
    i, j = np.sort([order[i[kept]], order[j[kept]]], axis=0)
    w = 10 ** rng.uniform(-8, 0, len(i))
    whole = np.zeros((144, 144))
    whole[i, j] = w
    expected = w * trw._resistances(whole + whole.T)[i, j]
    np.testing.assert_allclose(w * edge_resistances(144, i, j, w), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(matrix_tree(Structure((2,) * 144, i, j), w), np.clip(expected, 0, 1), atol=1e-8)


def test_a_dense_graph_is_left_to_one_matrix():
    i, j = np.triu_indices(80, 1)
    assert edge_resistances(80, i, j, np.ones(len(i))) is None
    rho = matrix_tree(Structure((2,) * 80, i, j), np.ones(len(i)))
    np.testing.assert_allclose(rho, 2 / 80, atol=1e-12)
