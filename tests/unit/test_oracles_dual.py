"""MPLP and TRW-S: bounds that never rise and end at the linear program's value; roof duality, which is that value."""

import itertools

import numpy as np
import pytest
import scipy

from pmpviz.contract.oracle_models import brute_force, of_spec, random_potentials
from pmpviz.oracles import Potentials, make_oracle
from pmpviz.oracles.graph_cut import Core, minimum_cut, roof
from pmpviz.oracles.mplp import Descent, matchings
from pmpviz.oracles.trws import Passes
from pmpviz.types import Refusal
from tests.contract.oracle_files import of_file

MODELS = [random_potentials(seed, states=2 if seed % 2 else 4) for seed in range(1, 80)]


def glass(spec: str = "complete:9,J=0", strength: float = 2.0, seed: int = 0) -> Potentials:
    """The graph of a spec with random fields and couplings of spins, which pull up and down alike."""
    rng, start = np.random.default_rng(seed), of_spec(spec.replace("J=0", "J=0.1"))
    s = start.structure
    w = strength * rng.normal(size=len(s.i))
    pull = np.bincount(s.i, w, s.n) + np.bincount(s.j, w, s.n)
    return Potentials.of_quadratic(rng.normal(size=s.n) - pull / 2, s.i, s.j, w)


@pytest.mark.parametrize("make", [Descent, Passes])
def test_no_sweep_raises_the_bound_and_none_falls_below_the_maximum(make):
    for potentials in [*MODELS, glass(), glass("square:5x5,J=0,periodic=false", 3.0)]:
        best = make_oracle("exact").solve(potentials).value
        unary = np.stack([potentials.unary, np.where(potentials.structure.valid, 0.5, 0.0)])
        solver, last = make(potentials, unary), np.full(2, np.inf)
        near = 1e-9 * potentials.size
        for _ in range(25):
            if make is Passes:
                forward, bound = solver.sweep()
                assert (forward <= last + near).all() and (bound <= forward + near).all()
            else:
                solver.sweep()
                bound = solver.dual()
                assert (bound <= last + near).all()
            assert bound[0] >= best - near
            last = bound


def test_the_first_dual_is_the_sum_of_all_maxima():
    for potentials in MODELS:
        s = potentials.structure
        free = sum(row[:states].max() for row, states in zip(potentials.unary, s.card, strict=True))
        free += sum(t[: s.card[a], : s.card[b]].max() for t, a, b in zip(potentials.table, s.i, s.j, strict=True))
        assert Descent(potentials, potentials.unary[None]).dual()[0] == pytest.approx(free + potentials.constant)


@pytest.mark.parametrize("oracle", ["mplp", "trws", "qpbo"])
def test_the_bound_is_never_below_the_linear_program_and_comes_near_it(oracle):
    solver, gaps = make_oracle(oracle, **({} if oracle == "qpbo" else {"sweeps": 2000})), []
    for potentials in [*MODELS[::2], glass(), glass("square:4x4,J=0,periodic=false", 3.0)]:
        if solver.spec.why_not(potentials) is None:
            truth = make_oracle("linear_program").solve(potentials)
            gaps.append((solver.solve(potentials).upper - truth.upper) / potentials.size)
    assert min(gaps) > -1e-8 and np.median(gaps) < 1e-6
    # Descent may stop above the optimum; roof duality is the optimum.
    assert oracle != "qpbo" or max(gaps) < 1e-8


@pytest.mark.parametrize("oracle", ["mplp", "trws", "max_product", "linear_program"])
def test_trees_are_solved(oracle):
    rng = np.random.default_rng(5)
    for n in (1, 2, 6, 9):
        parents = [int(rng.integers(v)) for v in range(1, n)]
        potentials = Potentials.of_quadratic(rng.normal(size=n), parents, range(1, n), 2 * rng.normal(size=n - 1))
        solution = make_oracle(oracle).solve(potentials)
        assert solution.value == pytest.approx(brute_force(potentials)[1], abs=1e-5)
        assert solution.exact or oracle == "max_product"


def test_ties_are_what_the_decoded_value_hangs_on():
    """Where every variable ties, the value follows the sweep that the descent stops at, and the dual does not."""
    dense = glass("complete:12,J=0", 4.0, seed=1)
    descent, values, duals = Descent(dense, dense.unary[None]), [], []
    for sweep in range(1, 301):
        descent.sweep()
        if sweep in (60, 100, 150, 200, 300):
            values.append(float(dense.value(descent.decoded()[0])))
            duals.append(float(descent.dual()[0]))
    assert np.ptp(values) > 1.0 and np.ptp(duals) < 1e-4
    solution = make_oracle("mplp").solve(dense)
    assert solution.notes["share of ties"] == 1.0 and not solution.exact
    assert solution.upper > make_oracle("exact").solve(dense).value > solution.value
    tree = Potentials.of_quadratic([0.3, -1.0, 0.2], [0, 1], [1, 2], [2, -1])
    assert make_oracle("mplp").solve(tree).notes["share of ties"] == 0.0


def test_ties_count_states_that_lead_together():
    """By hand: without edges the beliefs are the unaries; a variable of one state has nothing to tie with."""
    potentials = MODELS[0]
    descent = Descent(potentials, potentials.unary[None])
    descent.belief = np.array([[0.5, 0.5, -np.inf], [1.0, 0.9, 1.0], [1.0, 0.0, 0.0], [2.0, -np.inf, -np.inf]])[
        ..., None
    ]
    assert descent.ties(0.0).tolist() == [0.5] and descent.ties(0.15).tolist() == [0.5] and descent.ties(1.0) == [0.75]


def test_all_edges_at_once_do_not_converge():
    """On a frustrated clique the sequential dual settles, and the parallel one keeps rising and falling."""
    potentials = glass("complete:10,J=0", 4.0, seed=3)
    duals = {}
    for parallel in (False, True):
        descent, duals[parallel] = Descent(potentials, potentials.unary[None]), []
        for _ in range(200):
            descent.sweep(parallel)
            duals[parallel].append(float(descent.dual()[0]))
    assert np.ptp(duals[False][-20:]) < 1e-3 and np.diff(duals[True]).max() > 1.0
    assert np.ptp(duals[True][-20:]) > 1.0 or min(duals[True]) > min(duals[False]) + 1.0
    slow = make_oracle("mplp", parallel=True, sweeps=50).solve(potentials)
    assert slow.upper >= make_oracle("exact").solve(potentials).value


def test_matchings_hold_every_edge_once_and_no_site_twice():
    for potentials in MODELS:
        s = potentials.structure
        groups = matchings(s)
        assert sorted(e for group in groups for e in group.tolist()) == list(range(len(s.i)))
        for group in groups:
            ends = np.concatenate([s.i[group], s.j[group]])
            assert len(np.unique(ends)) == len(ends)


def test_labelled_variables_agree_with_a_maximum():
    """Roof duality's labels belong to some maximum: clamping them loses nothing."""
    states = np.array(list(itertools.product((0, 1), repeat=9)))
    shares = []
    for seed in range(80):
        strength = float(np.random.default_rng(seed).choice([0.5, 1.0, 4.0, 10.0]))
        potentials = glass("square:3x3,J=0,periodic=false", strength, seed)
        label, upper = roof(potentials)
        assert set(label.tolist()) <= {-1, 0, 1}
        values = potentials.value(states)
        agree = ((label < 0) | (states == label)).all(1)
        assert values[agree].max() == pytest.approx(values.max(), abs=1e-9) and upper >= values.max() - 1e-9
        shares.append(float((label >= 0).mean()))
        solution = make_oracle("qpbo").solve(potentials)
        assert solution.notes["labelled"] == shares[-1] and solution.upper == pytest.approx(upper)
        assert (solution.x == label)[label >= 0].all() and (solution.exact or shares[-1] < 1)
    assert min(shares) < 0.5 and max(shares) == 1


def test_a_cut_of_tiny_and_huge_capacities_is_exact():
    """Twelve orders of magnitude."""
    rng = np.random.default_rng(2)
    for _ in range(30):
        w = 10.0 ** rng.uniform(-6, 6, 10) * (rng.random(10) < 0.8)
        i, j = np.triu_indices(5, 1)
        potentials = Potentials.of_quadratic(10.0 ** rng.uniform(-6, 6, 5) * rng.choice([-1, 1], 5), i, j, w)
        for name in ("graph_cut", "qpbo"):
            solution = make_oracle(name).solve(potentials)
            assert solution.upper == pytest.approx(brute_force(potentials)[1], rel=1e-12, abs=1e-9 * potentials.size)
        assert make_oracle("graph_cut").solve(potentials).exact


def test_a_cut_by_hand():
    # Source 4, sink 5: the arcs 0 -> 1 and 2 -> 5 are the cheapest to cut.
    tail, head = np.array([4, 4, 0, 2, 0, 1]), np.array([0, 2, 1, 5, 3, 5])
    side, flow = minimum_cut(6, tail, head, np.array([3.0, 5.0, 0.25, 0.5, 9.0, 2.0]))
    assert flow == pytest.approx(0.75) and side.tolist() == [True, False, True, True, True, False]


@pytest.mark.parametrize("large", [1.0, 1e9, 1e20, 1e300])
def test_a_cut_holds_however_much_more_leaves_the_source_than_reaches_the_sink(large):
    """200 arcs of the largest whole number add up to more than 64 bits hold."""
    n = 200
    every, wide, thin = np.arange(n), np.full(n, large), np.linspace(0.1, 0.9, n)
    tail, head = np.r_[np.full(n, n), every], np.r_[every, np.full(n, n + 1)]
    for first, second, reached in ((wide, thin, True), (thin, wide, False)):
        side, flow = minimum_cut(n + 2, tail, head, np.r_[first, second])
        assert flow == pytest.approx(thin.sum(), rel=1e-14) and (side[:n] == reached).all()


@pytest.mark.parametrize("ends", [[(3, 0), (0, 1)], [(0, 1), (1, 4)], [(0, 1)], []], ids=str)
def test_a_cut_where_source_or_sink_has_no_arc(ends):
    tail, head = np.array(ends, np.int64).reshape(-1, 2).T
    side, flow = minimum_cut(5, tail, head, np.arange(1.0, len(ends) + 1))
    reached = [True, True, False] if (3, 0) in ends else [False] * 3
    assert flow == 0 and side.tolist() == [*reached, True, False]


@pytest.mark.parametrize("seed", range(40))
def test_the_smallest_of_all_minimum_cuts_is_found(seed):
    """Every cut of a small graph is tried: sizes far apart, and whole numbers, which tie."""
    rng, n = np.random.default_rng(seed), 7
    tail, head = np.array([(a, b) for a in range(n + 2) for b in range(n + 2) if a != b and rng.random() < 0.4]).T
    whole = rng.integers(1, 4, len(tail)).astype(float)
    capacity = whole if seed % 2 else whole * 1e4 ** rng.integers(-1, 2, len(tail))
    sides = np.array(list(itertools.product((False, True), repeat=n)))
    sides = np.column_stack([sides, np.ones(len(sides), bool), np.zeros(len(sides), bool)])
    cut = (sides[:, tail] & ~sides[:, head]) @ capacity
    side, flow = minimum_cut(n + 2, tail, head, capacity)
    rounding = 1e-12 * capacity.sum()
    assert flow == pytest.approx(cut.min(), abs=rounding)
    assert (side == sides[cut <= cut.min() + rounding].all(0)).all()


def test_what_settles_by_itself_is_in_every_maximum():
    """Whole numbers, so that states tie; what is left has the same maximum and the same maximisers."""
    states, shares = np.array(list(itertools.product((0, 1), repeat=9))), []
    for seed in range(60):
        rng, s = np.random.default_rng(seed), of_spec("square:3x3,J=0.1,periodic=false").structure
        bias, w = rng.integers(-4, 5, 9).astype(float), rng.integers(-3, 4, len(s.i)).astype(float)
        potentials = Potentials.of_quadratic(bias, s.i, s.j, w, 0.5)
        values = potentials.value(states)
        core = Core.of(bias, s.i, s.j, w, 0.5)
        best, held = states[values == values.max()], core.label >= 0
        assert (best[:, held] == core.label[held]).all()
        left = Potentials.of_quadratic(core.bias, core.i, core.j, core.w, core.constant)
        found = np.array(list(itertools.product((0, 1), repeat=len(core.free))), np.int64)
        assert left.value(found).max() == values.max()
        assert np.array_equal(best, [core.labelled(x) for x in found[left.value(found) == values.max()]])
        shares.append(held.mean())
    assert min(shares) < 0.2 < 0.8 < max(shares)


@pytest.mark.parametrize("seed", range(6))
def test_roof_duality_of_a_lattice_is_one_flow_in_two_nodes_a_pixel(seed):
    """Whole numbers need no scaling: one flow of scipy's on all literals says what bound and labels are to be."""
    rng, s = np.random.default_rng(seed), of_spec("square:20x24,J=0.1,periodic=false").structure
    n, source, sink = s.n, 2 * s.n, 2 * s.n + 1
    bias, w = rng.integers(-6, 7, n), rng.integers(-3, 4, len(s.i))
    arcs = np.zeros((2 * n + 2, 2 * n + 2), np.int32)
    cost = -bias - np.bincount(s.i, np.maximum(w, 0), n).astype(int)
    for v in range(n):
        (u, back) = (v, n + v) if cost[v] > 0 else (n + v, v)
        arcs[u, sink], arcs[source, back] = abs(cost[v]), abs(cost[v])
    for a, b, weight in zip(s.i, s.j, w, strict=True):
        u, back = (b, n + b) if weight > 0 else (n + b, b)
        arcs[a, u] += abs(weight)
        arcs[back, n + a] += abs(weight)
    sent = scipy.sparse.csgraph.maximum_flow(scipy.sparse.csr_array(arcs), source, sink)
    rest = scipy.sparse.csr_array(arcs - sent.flow.toarray())
    reached = np.isin(np.arange(2 * n), scipy.sparse.csgraph.breadth_first_order(rest, source)[0])
    label, upper = roof(Potentials.of_quadratic(bias, s.i, s.j, w))
    assert upper == pytest.approx(-np.minimum(cost, 0).sum() - sent.flow_value / 2, rel=1e-12)
    assert np.array_equal(label, np.where(reached[:n] == reached[n:], -1, reached[:n]))
    assert 0.2 < (label >= 0).mean() < 1


def test_a_repelling_edge_is_named():
    potentials = Potentials.of_quadratic(np.zeros(4), [0, 1, 2], [1, 2, 3], [1.0, -2.0, 0.5])
    with pytest.raises(Refusal, match="1 edge repel, the first between 1 and 2"):
        make_oracle("graph_cut").solve(potentials)
    three = random_potentials(2)
    assert not three.structure.binary and "needs two-state variables" in make_oracle("qpbo").spec.why_not(three)


@pytest.mark.parametrize("name", ["grid5x5_1.uai", "clique_445.uai", "rbm_20.uai"])
def test_every_bound_of_a_real_file_is_one(name):
    potentials = of_file(name) or glass("square:5x5,J=0,periodic=false", 3.0)
    best = make_oracle("exact").solve(potentials).value
    for oracle in ("mplp", "trws", "qpbo", "linear_program", "best_of"):
        solution = make_oracle(oracle).solve(potentials)
        assert solution.upper >= best - 1e-6 and solution.value <= best + 1e-6
    assert make_oracle("annealing").solve(potentials).value == pytest.approx(best)


def test_the_best_of_three_is_the_best_of_three():
    for potentials in [*MODELS[:30], glass()]:
        found = make_oracle("best_of").solve(potentials)
        each = [make_oracle(name) for name in ("qpbo", "trws", "icm")]
        each = {o.spec.id: o.solve(potentials) for o in each if o.spec.why_not(potentials) is None}
        assert found.value == max(s.value for s in each.values()) == each[found.notes["by"]].value
        bounds = [s.upper for s in each.values() if s.upper is not None]
        assert found.upper == pytest.approx(max(min(bounds), found.value))


def test_max_product_in_layers_of_a_tile_and_on_sparse_graphs():
    """A sparse model of more than 32 variables, a dense one of as many, and a batch of more than a tile."""
    rng = np.random.default_rng(0)
    for spec in ("square:6x6,J=0.1,h=0.5,periodic=false", "complete:34,J=0.02,h=0.3"):
        potentials = of_spec(spec)
        unary = potentials.unary + 3 * rng.normal(size=(35, *potentials.unary.shape))
        found = make_oracle("max_product").solve_batch(potentials, unary)
        truth = make_oracle("trws").solve_batch(potentials, unary)
        assert len(found) == 35 and max(s.notes["residual"] for s in found) < 1e-3
        assert all(t.exact for t in truth)
        agree = np.mean([np.array_equal(a.x, b.x) for a, b in zip(found, truth, strict=True)])
        assert agree > 0.8
