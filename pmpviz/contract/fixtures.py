"""Targets that every registered algorithm is tested on, and those that an algorithm is known to refuse.

The small models are peaked (a flat one hides an error in beta), frustrated and not bipartite; some have clamped
sites, some beta != 1. The same six-spin model is stored in all three layouts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from pmpviz.contract.laws import Law, law_of
from pmpviz.models import RBM, SRBM, Ising, build_spec
from pmpviz.models.builders import lattice_model
from pmpviz.models.pairwise import Pairwise
from pmpviz.models.tables import TableModel
from pmpviz.models.text import Weights, read_words, skip_chain
from pmpviz.models.topologies import lattice
from pmpviz.samplers import SAMPLERS
from pmpviz.types import Evidence, Target

# Fixtures that an algorithm may refuse, by its id. In the tests an unlisted refusal fails: nothing is skipped in
# silence.
REFUSALS: dict[str, frozenset[str]] = {}


@dataclass(frozen=True)
class Fixture:
    """A named target. `purpose` is `law` (the small hard models), `edgeless`, `tree` or `states`."""

    name: str
    purpose: str
    target: Target

    @property
    def law(self) -> Law:
        """The exact law, enumerated once."""
        return _law(self.name)


def _six_spins() -> Ising:
    """Triangular 2x3 lattice, open: nine edges, four triangles of which two are frustrated."""
    shifts, present = lattice("triangular", (2, 3), periodic=False)
    J = np.zeros(present.shape)
    J[0] = [[0.6, -0.2, 0.0], [0.7, -0.6, 0.0]]
    J[1, 0] = [-0.5, -0.3, -0.6]
    J[2, 0] = [-0.3, -0.2, 0.0]
    return lattice_model(shifts, present, J, np.array([0.2, 0.1, 0.6, -0.2, -0.3, -0.8]))


def _odd_torus() -> Ising:
    """3x3 torus without field, antiferromagnetic: every row and column is an odd, frustrated ring."""
    shifts, present = lattice("square", (3, 3), periodic=True)
    return lattice_model(shifts, present, np.full(present.shape, -0.4), np.zeros(9))


def _text() -> Ising:
    """A text whose one repeated word stands thrice, twice side by side: a chain of seven words and three links.

    Neighbours want to differ, linked words to agree: two of them are neighbours."""
    words = read_words("Dr. Baker met Baker Baker today .")
    theta = np.array([-1.0, 0.4, 0.0, 0.0, 0.5, -0.6, 0.8, 0.0, 0.0, 0.0, 0.0, -0.5])
    return skip_chain(words, Weights(theta, -1.2, 0.9))


def layouts(model: Ising) -> dict[str, Ising]:
    """The same model in each of the three layouts."""
    return {"sparse": model.as_layout("sparse"), "dense": model.as_layout("dense"), "lattice": model}


def without_edges(model: Ising) -> Ising:
    """The same arrays with all weights 0."""
    couplings: Any = model.couplings
    return replace(model, couplings=replace(couplings, weight=np.zeros_like(couplings.weight)))


def _trees() -> dict[str, Ising]:
    tree = Ising.from_spin(
        [0.3, -0.2, 0.5, 0.1, -0.4, 0.2, -0.1],
        [0, 0, 1, 1, 2, 2],
        [1, 2, 3, 4, 5, 6],
        [1.1, -0.8, 0.9, -1.2, 0.7, -0.5],
        layout="sparse",
    )
    shifts, present = lattice("chain", (7,), periodic=False)
    chain = lattice_model(shifts, present, np.linspace(-1.5, 1.2, 7)[None], np.linspace(0.4, -0.5, 7))
    return {"sparse": tree, "dense": tree.as_layout("dense"), "lattice": chain}


def _machines() -> dict[str, tuple[Ising, Ising, Ising]]:
    """(hard model of seven sites, its edgeless form, a star) of each kind with layers."""
    weight = np.array([[2.4, -1.8, 1.2, 0.6], [-1.6, 2.0, 1.4, -2.2], [1.0, 1.5, -2.6, 1.9]])
    lateral = np.array([[0, 1.3, -0.9, 0], [1.3, 0, 1.7, -1.1], [-0.9, 1.7, 0, 0.8], [0, -1.1, 0.8, 0]])
    biases = [-0.7, 0.4, -1.1, 0.3], [0.5, -0.8, 0.2]
    star, leaves, root = np.array([[1.9, -2.3, 1.4, 2.6, -1.2, 0.9]]), np.linspace(-1.0, 0.8, 6), np.array([0.3])
    rbm, srbm = RBM.of_layers(weight, *biases), SRBM.of_layers(weight, lateral, *biases)
    none = np.zeros((6, 6))
    return {
        "rbm": (rbm, without_edges(rbm), RBM.of_layers(star, leaves, root)),
        "srbm": (srbm, SRBM.of_layers(0 * weight, 0 * lateral, *biases), SRBM.of_layers(star, none, leaves, root)),
    }


def _fixtures():
    for layout, model in layouts(_six_spins()).items():
        clamped = Evidence.of(6, {1: 1, 3: 0})
        yield Fixture(f"six_{layout}", "law", Target.of(model))
        yield Fixture(f"six_{layout}_clamped", "law", Target.of(model, clamped, 1.3))
        yield Fixture(f"edgeless_{layout}", "edgeless", Target.of(without_edges(model), beta=0.7))
        yield Fixture(f"edgeless_{layout}_clamped", "edgeless", Target.of(without_edges(model), clamped))
    for kind, (model, edgeless, star) in _machines().items():
        clamped = Evidence.of(7, {1: 1, 5: 0})
        yield Fixture(f"{kind}_clamped", "law", Target.of(model, clamped, 1.2))
        yield Fixture(f"edgeless_{kind}", "edgeless", Target.of(edgeless, clamped, 0.8))
        yield Fixture(f"tree_{kind}", "tree", Target.of(star, Evidence.of(7, {2: 1}), 1.4))
    yield Fixture("rbm", "law", Target.of(_machines()["rbm"][0]))
    yield Fixture("text", "law", Target.of(_text()))
    yield Fixture("text_clamped", "law", Target.of(_text(), Evidence.of(7, {1: 1, 5: 0}), 1.3))
    torus = _odd_torus()
    yield Fixture("odd_torus", "law", Target.of(torus))
    yield Fixture("odd_torus_clamped", "law", Target.of(torus, Evidence.of(9, {4: 1, 8: 0}), 0.8))
    for layout, model in _trees().items():
        yield Fixture(f"tree_{layout}", "tree", Target.of(model))
        yield Fixture(f"tree_{layout}_clamped", "tree", Target.of(model, Evidence.of(7, {2: 1}), 1.7))


def _three_states() -> TableModel:
    """Four variables of three states, each wanting to differ from every other: one pair cannot; with fields."""
    rng = np.random.default_rng(4)
    pairs = [((i, j), -1.6 * np.eye(3) + 0.3 * rng.normal(size=(3, 3))) for j in range(4) for i in range(j)]
    return TableModel.of(
        (3,) * 4, [*pairs, ((0,), np.array([0.4, -0.3, 0.1])), ((3,), np.array([-0.5, 0.2, 0.6]))], 0.2
    )


def _mixed_states() -> TableModel:
    """Variables of two, three, four, two and one states: a ring and a table of three variables."""
    rng, card = np.random.default_rng(7), (2, 3, 4, 2, 1)
    scopes = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 1, 2), (1, 4), (2,)]
    return TableModel.of(card, [(scope, rng.normal(0, 0.9, [card[v] for v in scope])) for scope in scopes])


def _triples(zeros: bool) -> TableModel:
    """Two triples of variables of two to four states; with zeros no two of one may both be in their last state."""
    rng, card = np.random.default_rng(9), (2, 3, 4, 2, 3)
    factors = []
    for scope in ((0, 1, 2), (2, 3, 4)):
        shape = [card[v] for v in scope]
        last = np.moveaxis(np.indices(shape), 0, -1) == np.array(shape) - 1
        factors.append((scope, np.where(zeros & (last.sum(-1) > 1), -np.inf, rng.normal(0, 0.8, shape))))
    return TableModel.of(card, factors)


def _state_fixtures():
    three, mixed = _three_states(), _mixed_states()
    yield Fixture("three", "states", Target.of(three))
    yield Fixture("three_clamped", "states", Target.of(three, Evidence.of(4, {1: 2}), 1.3))
    yield Fixture("mixed", "states", Target.of(mixed, beta=0.9))
    yield Fixture("mixed_clamped", "states", Target.of(mixed, Evidence.of(5, {2: 3}), 1.2))
    yield Fixture("triples", "states", Target.of(_triples(zeros=False), beta=1.1))
    yield Fixture("zeros", "states", Target.of(_triples(zeros=True)))
    pairs = Pairwise.from_tables(three)
    yield Fixture("pairs", "states", Target.of(pairs, beta=0.9))
    yield Fixture("pairs_clamped", "states", Target.of(pairs, Evidence.of(4, {1: 2}), 1.3))
    pairs = Pairwise.from_tables(TableModel.of(mixed.card, [f for f in mixed.factors if len(f[0]) < 3]))
    yield Fixture("pairs_mixed", "states", Target.of(pairs))
    yield Fixture("pairs_mixed_clamped", "states", Target.of(pairs, Evidence.of(5, {2: 3}), 1.2))
    potts = build_spec("potts:2x3,J=0.9,periodic=false,field=random,h=0.7")
    yield Fixture("potts", "states", Target.of(potts))
    yield Fixture("potts_clamped", "states", Target.of(potts, Evidence.of(6, {2: 2}), 1.2))
    yield Fixture("clock", "states", Target.of(build_spec("clock:2x2,q=5,J=-0.8,periodic=false,field=random,h=0.6")))


FIXTURES = tuple(_fixtures())
# Of more than two states, for those that take them.
STATE_FIXTURES = tuple(_state_fixtures())
# Long runs from cold starts: each layout once, clamped or free (evidence is traced, so the program is the same).
COLD = frozenset({"rbm", "six_sparse", "six_dense_clamped", "six_lattice", "odd_torus_clamped"})
# What every run of the tests takes of each purpose: each layout once, as above. The others differ in what is traced,
# and are taken by `-m thorough` and at fresh seeds.
EVERYDAY = COLD | {"srbm_clamped"} | {f"tree_{kind}" for kind in ("sparse", "dense_clamped", "lattice", "rbm", "srbm")}
EVERYDAY |= {f"edgeless_{kind}" for kind in ("sparse", "dense_clamped", "lattice", "rbm", "srbm")}
BY_NAME = {fixture.name: fixture for fixture in (*FIXTURES, *STATE_FIXTURES)}


@cache
def _law(name: str) -> Law:
    return law_of(BY_NAME[name].target)


def fixtures_of(cls, purpose: str = "law") -> list[Fixture]:
    """The fixtures of this purpose (or `cold`) that the algorithm takes, and has to pass."""
    return [fixture for fixture in FIXTURES if _serves(fixture, purpose) and cls.spec.why_not(fixture.target) is None]


def _serves(fixture: Fixture, purpose: str) -> bool:
    return fixture.name in COLD if purpose == "cold" else fixture.purpose == purpose


def cases(purpose: str = "law", wanted=lambda spec: True) -> list[tuple[type, Fixture]]:
    """Every pair of a registered algorithm whose spec is `wanted` and a fixture."""
    return [(cls, fixture) for cls in SAMPLERS if wanted(cls.spec) for fixture in fixtures_of(cls, purpose)]


def case_id(value) -> str:
    """Readable test ids."""
    return value.name if isinstance(value, Fixture) else getattr(getattr(value, "spec", None), "id", str(value))
