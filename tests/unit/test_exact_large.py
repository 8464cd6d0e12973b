"""Elimination of many messages, which are made anew; and orders that more evidence never spoils."""

import numpy as np
import pytest
from table_models import random_model

from pmpviz import exact
from pmpviz.exact import elimination, order, segments
from pmpviz.exact.problem import Problem
from pmpviz.models import build_spec
from pmpviz.types import Evidence, Target


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
