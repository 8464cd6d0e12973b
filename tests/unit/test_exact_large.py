"""Elimination that is too large as it is: messages made anew, variables cut out, impossible states left out; and
orders that more evidence never spoils."""

import itertools

import numpy as np
import pytest
from table_models import answers, brute_force, random_factors, random_model

from pmpviz import exact
from pmpviz.exact import elimination, order, segments
from pmpviz.exact.problem import Problem
from pmpviz.models import build_spec
from pmpviz.models.tables import TableModel
from pmpviz.types import Evidence, InputError, Target


def whole(monkeypatch, most: int) -> None:
    """Messages are kept as they are up to so many entries."""
    monkeypatch.setattr(segments, "KEPT_WHOLE", most)
    monkeypatch.setattr(order, "KEPT_WHOLE", most)


@pytest.mark.parametrize(
    "spec", ["square:9x12,J=0.4,periodic=false", "square:8x8,J=-0.3,h=0.1", "erdos_renyi:60,J=0.5"]
)
def test_messages_made_anew_are_the_same(spec, monkeypatch):
    target = Target.of(build_spec(spec))
    before = exact.solve(target)
    whole(monkeypatch, 64)
    cut = []
    monkeypatch.setattr(segments.Pieces, "of", lambda *sizes, of=segments.Pieces.of: cut.append(of(*sizes)) or cut[-1])
    after = exact.solve(target)
    assert after.log_z == before.log_z and max(len(pieces.starts) for pieces in cut) > 2
    np.testing.assert_array_equal(after.p1, before.p1)
    np.testing.assert_array_equal(after.sample(3, 20), before.sample(3, 20))
    pairs = np.array([[0, 1], [0, 40]])
    np.testing.assert_array_equal(after.pair_marginals(pairs), before.pair_marginals(pairs))


@pytest.mark.parametrize("seed", range(20))
def test_models_of_tables_with_messages_made_anew(seed, monkeypatch):
    target = Target.of(random_model(seed, n=9))
    before = exact.solve(target)
    whole(monkeypatch, 4)
    monkeypatch.setattr(exact, "MAX_LOG_STATES", 0)
    after = exact.solve(target)
    assert after.log_z == pytest.approx(before.log_z)
    for row, expected in zip(after.marginals, before.marginals, strict=True):
        np.testing.assert_allclose(row, expected, atol=1e-12)


def test_what_is_held_is_counted():
    """The peak that a refusal goes by is what going back holds."""
    sizes, parents = np.full(400, 1024.0), np.arange(1, 401)
    pieces = segments.Pieces.of(sizes * 2**12, parents)
    assert pieces.starts[0] == 0 and pieces.peak < 60 * 1024 * 2**12
    for k in range(400):
        piece = pieces.of_bucket(k)
        assert pieces.starts[piece] <= k and (piece + 1 == len(pieces.starts) or k < pieces.starts[piece + 1])


def test_a_square_of_twenty_is_refused_for_its_time_alone():
    target = Target.of(build_spec("square:20x20,J=0.3,h=0.1,periodic=false"))
    assert "in all its tables" in exact.why_not(target)


def test_more_evidence_never_makes_a_model_too_large(monkeypatch):
    """Where the search goes wrong once a variable more is clamped, the order without that is taken."""
    target = Target.of(build_spec("square:8x8,J=0.3,h=0.1"), Evidence.of(64, {5: 1, 40: 0}))
    right, search = exact.solve(target), exact.best_order
    bad = (np.arange(62) * 23 % 62).tolist()

    def failing(card, edges, lattice=None):
        return search(card, edges, lattice) if len(card) != 62 else order.given_order(card, edges, bad)

    monkeypatch.setattr(exact, "best_order", failing)
    monkeypatch.setattr(elimination, "MAX_TABLE", 17)
    problem = Problem.of(target)
    assert elimination.refusal(failing(problem.free_card, problem.edges), 62) is not None
    monkeypatch.setattr(exact, "NEARLY", 64)
    assert exact.why_not(target) is None and exact.solve(target).log_z == pytest.approx(right.log_z)


def eliminated(monkeypatch, most: int, pieced: int = 0) -> None:
    """Nothing is enumerated, no table has more than 2^most entries at once, and none more than 2^pieced in pieces."""
    monkeypatch.setattr(exact, "MAX_FREE", -1)
    monkeypatch.setattr(exact, "MAX_LOG_STATES", -1)
    monkeypatch.setattr(elimination, "MAX_TABLE", most)
    monkeypatch.setattr(elimination, "MAX_PIECED", pieced)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("way", ["cut", "pieces"])
def test_variables_cut_out_and_tables_in_pieces_change_nothing(way, seed, monkeypatch):
    """What is too large is solved for each state of a few variables, in all or in a table: all answers are right."""
    eliminated(monkeypatch, 2 + seed % 3, 24 if way == "pieces" else 0)
    card, factors, constant = random_factors(np.random.default_rng(seed), 3, 6, (0.0, 0.15, 0.4)[seed % 3])
    log_z, marginals, pair, _ = answers(card, *brute_force(card, factors, constant))
    target = Target.of(TableModel.of(card, factors, constant))
    assert exact.why_not(target) is None
    solved = exact.solve(target)
    assert way == "cut" or "for each" not in solved.method
    assert solved.log_z == pytest.approx(log_z)
    for row, expected in zip(solved.marginals, marginals, strict=True):
        np.testing.assert_allclose(row, expected, atol=1e-10)
    pairs = np.array(list(itertools.product(range(6), repeat=2)))
    np.testing.assert_allclose(solved.pair_marginals(pairs), [pair(i, j) for i, j in pairs], atol=1e-10)
    drawn = solved.sample(seed, 3000)
    np.testing.assert_array_equal(solved.sample(seed, 40), drawn[:40])
    for v, expected in enumerate(marginals):
        np.testing.assert_allclose(np.bincount(drawn[:, v], minlength=card[v]) / 3000, expected, atol=0.06)


@pytest.mark.parametrize("spec", ["square:7x7,J=0.4,h=0.1,periodic=false", "potts:4x4,q=3,J=0.5,periodic=false"])
@pytest.mark.parametrize("way", ["cut", "pieces"])
def test_a_lattice_too_wide_is_solved_in_parts(way, spec, monkeypatch):
    target = Target.of(build_spec(spec), Evidence.of(build_spec(spec).n, {3: 1}))
    before = exact.solve(target)
    eliminated(monkeypatch, 6, 0 if way == "cut" else 24)
    after = exact.solve(target)
    assert ("for each of the" in after.method) == (way == "cut")
    assert after.log_z == pytest.approx(before.log_z)
    for row, expected in zip(after.marginals, before.marginals, strict=True):
        np.testing.assert_allclose(row, expected, atol=1e-10)


def with_a_state_too_many(side: int) -> TableModel:
    """A lattice of three states, the third of which no neighbour allows, with unequal weights."""
    rng = np.random.default_rng(0)
    factors = []
    for a, b in np.asarray(build_spec(f"square:{side}x{side},periodic=false").pairs()).tolist():
        table = rng.normal(size=(3, 3))
        table[2, :], table[:, 2] = -np.inf, -np.inf
        factors.append(((a, b), table))
    return TableModel.of([3] * side**2, factors)


def test_states_that_zeros_rule_out_cost_nothing(monkeypatch):
    """With them the largest table would have 3^7 entries, without them it has 2^7."""
    model = with_a_state_too_many(6)
    before = exact.solve(Target.of(model))
    eliminated(monkeypatch, 7)
    monkeypatch.setattr(exact, "cut_out", lambda *_: None)
    after = exact.solve(Target.of(model))
    assert after.log_z == pytest.approx(before.log_z) and exact.why_not(Target.of(model)) is None
    assert [len(row) for row in after.marginals] == [3] * 36 and all(row[2] == 0 for row in after.marginals)
    np.testing.assert_allclose(after.pair_marginals([[0, 1]]), before.pair_marginals([[0, 1]]), atol=1e-12)


def test_evidence_that_zeros_forbid_is_refused_where_variables_are_cut_out(monkeypatch):
    """Exactly one of two neighbours around an odd ring: consistent factor by factor, and impossible."""
    eliminated(monkeypatch, 1)
    apart = np.array([[-np.inf, 0.0], [0.0, -np.inf]])
    model = TableModel.of([2] * 5, [((v, (v + 1) % 5), apart) for v in range(5)])
    with pytest.raises(InputError, match="probability 0"):
        exact.solve(Target.of(model))


def test_an_order_is_found_past_a_hub_without_looking_at_all_its_neighbours_again_and_again(monkeypatch):
    """A star of pairs: every leaf that goes changes the hub alone, by one neighbour."""
    looked = 0

    class Weights(list):
        def __getitem__(self, place):
            nonlocal looked
            looked += 1
            return super().__getitem__(place)

    n = 400
    graph = order._graph(n, [[0, v] for v in range(1, n)] + [[v, v + 1] for v in range(1, n - 1, 2)])
    monkeypatch.setattr(order, "_weights", lambda logs: Weights([1024] * len(logs)))
    found = order._by_degree(graph, [1.0] * n)
    assert found.width == 2 and looked < 40 * n


def test_the_variables_of_an_order_are_listed_once():
    """Who asks for them one by one takes no square of their number."""
    found = order.best_order((2,) * 8, np.array([[v, v + 1] for v in range(7)]))
    assert sorted(found.variables) == list(range(8)) and found.variables is found.variables


@pytest.mark.parametrize(
    ("side", "most", "reason"),
    [
        (320, 0, "elimination takes at most 50000 variables, and 102400 are free: use"),
        (200, 400, "elimination needs tables of at least 2^65 entries (width at least 64); the limit is 2^24: use"),
    ],
)
def test_of_a_lattice_that_is_far_too_large_hardly_any_order_is_searched(side, most, reason, monkeypatch):
    """A page asks before it shows anything: a search that is cut short anyway ends where that is known."""
    added = []
    add = order._Record.add
    monkeypatch.setattr(order._Record, "add", lambda self, *rest: added.append(1) or add(self, *rest))
    order._best_order.cache_clear()
    assert exact.why_not(Target.of(build_spec(f"square:{side}x{side}"))).startswith(reason)
    assert len(added) <= most
