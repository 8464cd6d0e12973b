"""Models that every registered learner is tested on, with their statistics by enumeration in float64.

Nothing here uses `pmpviz.learning`: the edges come from the layout's arrays, the weights from the edge list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pmpviz.contract.fixtures import _machines, _six_spins, layouts, without_edges
from pmpviz.contract.laws import all_states, edge_sum, law_of
from pmpviz.models import Ising, LayeredModel
from pmpviz.models.couplings import ShiftCouplings, SparseCouplings
from pmpviz.types import Target

Statistics = dict[str, np.ndarray]
ROWS = 50
# Fixtures that a learner may refuse, by its id. An unlisted refusal fails: nothing is skipped in silence.
REFUSALS: dict[str, frozenset[str]] = {
    "pseudo_likelihood": frozenset({"rbm", "srbm", "edgeless_rbm", "edgeless_srbm"}),
}


@dataclass(frozen=True)
class LearningFixture:
    """A named model in one parametrisation, with data that it does not fit."""

    name: str
    model: Ising
    form: str = "binary"

    @property
    def edgeless(self) -> bool:
        """Whether no two sites interact."""
        return self.name.startswith("edgeless")

    @property
    def visible(self) -> int:
        """Number of visible sites, which come first."""
        return self.model.visible if isinstance(self.model, LayeredModel) else self.model.n

    @cached_property
    def data(self) -> np.ndarray:
        """Rows of unequal frequencies, neighbours alike more often than not, int8 [50, visible]."""
        rng = np.random.default_rng(5)
        x = rng.random((ROWS, self.visible)) < np.linspace(0.2, 0.7, self.visible)
        x[:, 1:] ^= (rng.random((ROWS, self.visible - 1)) < 0.3) & x[:, :-1]
        return x.astype(np.int8)

    @cached_property
    def law(self):
        """The law of all sites."""
        return law_of(Target.of(self.model))

    def statistics(self, x: np.ndarray, hidden: bool = False) -> Statistics:
        """Derivative of the log-weight by every parameter, one row a configuration, hidden sites at their means.

        With `hidden` the hidden sites are as x has them.
        """
        x = np.asarray(x, np.float64)
        if isinstance(self.model, LayeredModel) and not hidden:
            x = np.concatenate([x[:, : self.visible], self._hidden_means(x[:, : self.visible])], 1)
        if self.form != "binary":
            return self._of_spins(2 * x - 1)
        found = {name: x[:, i] * x[:, j] for name, (i, j) in ends(self.model).items()}
        if isinstance(self.model, LayeredModel):
            return {"visible_bias": x[:, : self.visible], "hidden_bias": x[:, self.visible :], **found}
        return {"bias": x, **found}

    def _of_spins(self, s: np.ndarray) -> Statistics:
        pairs = s[:, :, None] * s[:, None, :]
        if self.form == "tied":
            i, j = np.triu_indices(s.shape[1], 1)
            return {"theta": pairs[:, i, j].sum(1)}
        # s'Ws counts every edge twice.
        return {"bias": s, "weight": 2 * pairs}

    def _hidden_means(self, v: np.ndarray) -> np.ndarray:
        """E[h | v] from the edge sums of all hidden configurations."""
        h = all_states(self.model.n - self.visible)
        joint = np.concatenate([np.repeat(v, len(h), 0), np.tile(h, (len(v), 1))], 1)
        log = edge_sum(self.model, joint).reshape(len(v), len(h))
        p = np.exp(log - log.max(1, keepdims=True))
        return (p / p.sum(1, keepdims=True)) @ h

    @cached_property
    def exists(self) -> dict[str, np.ndarray]:
        """Which entries of every parameter are learned: edges of the graph, every pair of a dense or layered model."""
        model, found = self.model, {name: value[0] == value[0] for name, value in self.statistics(self.data).items()}
        if self.form == "spin" or (self.form == "binary" and not isinstance(model, LayeredModel)):
            dense = found["weight"].shape == (model.n, model.n)
            found["weight"] = ~np.eye(model.n, dtype=bool) if dense else np.asarray(model.couplings.weight) != 0
        if "lateral" in found:
            found["lateral"] = ~np.eye(self.visible, dtype=bool)
        return found

    def flat(self, arrays: Statistics) -> np.ndarray:
        """The entries that are learned, in one row: of single arrays [k], of rows of statistics [m, k]."""
        parts = []
        for name, mask in sorted(self.exists.items()):
            value = np.asarray(arrays[name], np.float64)
            parts.append(value[..., mask] if mask.ndim else value[..., None])
        return np.concatenate(parts, -1)

    @cached_property
    def of_data(self) -> np.ndarray:
        """Mean statistics of the data."""
        return self.flat(self.statistics(self.data)).mean(0)

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        rows, p = self.flat(self.statistics(self.law.states)), self.law.p
        return p @ rows, p @ (rows - p @ rows) ** 2

    @property
    def gradient(self) -> np.ndarray:
        """Gradient of the mean log-likelihood of the data."""
        return self.of_data - self._moments[0]

    @property
    def variance(self) -> np.ndarray:
        """Variance under the model of what one independent draw adds to the gradient."""
        return self._moments[1]


def ends(model: Any) -> dict[str, tuple[Any, ...]]:
    """(i, j) of every entry of the arrays of weights, whether the edge exists or not."""
    couplings, n = model.couplings, model.n
    if isinstance(model, LayeredModel):
        v, h = model.visible, model.hidden
        found = {"weight": (np.tile(np.arange(v), (h, 1)), np.tile(v + np.arange(h)[:, None], (1, v)))}
        return found if couplings.lateral is None else {**found, "lateral": tuple(np.indices((v, v)))}
    if isinstance(couplings, SparseCouplings):
        return {"weight": (np.repeat(np.arange(n)[:, None], couplings.neighbour.shape[1], 1), couplings.neighbour)}
    if isinstance(couplings, ShiftCouplings):
        here = np.indices(couplings.shape)
        at = lambda place: np.ravel_multi_index(tuple(place), couplings.shape, mode="wrap")  # noqa: E731
        ahead = [at([axis + step for axis, step in zip(here, shift, strict=True)]) for shift in couplings.shifts]
        return {"weight": (np.stack([at(here)] * len(ahead)), np.stack(ahead))}
    return {"weight": tuple(np.indices((n, n)))}


def _tied(theta: float) -> Ising:
    i, j = np.triu_indices(6, 1)
    return Ising.from_spin(np.zeros(6), i, j, np.full(len(i), theta), layout="dense")


def _fixtures():
    spins = layouts(_six_spins())
    for layout, model in spins.items():
        yield LearningFixture(f"six_{layout}", model)
        yield LearningFixture(f"edgeless_{layout}", without_edges(model))
    yield LearningFixture("six_spin_form", spins["dense"], "spin")
    yield LearningFixture("edgeless_spin_form", without_edges(spins["dense"]), "spin")
    yield LearningFixture("six_tied", _tied(-0.25), "tied")
    yield LearningFixture("edgeless_tied", _tied(0.0), "tied")
    for kind, (model, edgeless, _) in _machines().items():
        yield LearningFixture(kind, model)
        yield LearningFixture(f"edgeless_{kind}", edgeless)


FIXTURES = tuple(_fixtures())
BY_NAME = {fixture.name: fixture for fixture in FIXTURES}


# Compiling is what these tests cost. These learn every fixture:
THOROUGH = frozenset({"exact", "pseudo_likelihood", "gibbs_reset"})
# ... the others that sample share their statistics: one of the three forms of a dense model is enough;
SPARED = frozenset({"dense", "tied"})
# ... and these go through samplers whose layouts have a contract of their own, and are the dearest to compile.
DEAR, SPARED_TOO = frozenset({"pcd", "gwg", "gwg_reset", "descent"}), frozenset({"lattice", "rbm"})


def learnable(cls, edgeless: bool = False) -> list[LearningFixture]:
    """The fixtures that a learner has to pass: all that it takes, but those that others pass for it."""
    out = {fixture.name for fixture in FIXTURES if cls.spec.why_not(fixture.model) is not None}
    if cls.spec.id not in THOROUGH:
        left_out = SPARED | (SPARED_TOO if cls.spec.id in DEAR else frozenset())
        out |= {fixture.name for fixture in FIXTURES if fixture.name.split("_")[-1] in left_out}
    return [fixture for fixture in FIXTURES if fixture.edgeless == edgeless and fixture.name not in out]


def learned_by(classes, edgeless: bool = False) -> list[tuple[type, LearningFixture]]:
    """Every pair of one of these learners and a fixture."""
    return [(cls, fixture) for cls in classes for fixture in learnable(cls, edgeless)]


# What every run takes of the checks that draw samples; the other layouts and forms are thorough.
EVERYDAY = frozenset({"six_sparse", "rbm", "srbm", "edgeless_sparse", "edgeless_srbm"})


def shifted(fixture: LearningFixture, name: str, entry: tuple, step: float) -> Ising:
    """The model with one parameter moved by `step`, from the edge list of its 0/1 form."""
    model, (bias, i, j, w) = fixture.model, fixture.model.pairwise()
    extra_i, extra_j, extra_w = [], [], []
    if fixture.form == "binary":
        if name in ("weight", "lateral"):
            a, b = ends(model)[name]
            extra_i, extra_j, extra_w = [int(a[entry])], [int(b[entry])], [step]
        else:
            bias[int(entry[0]) + (fixture.visible if name == "hidden_bias" else 0)] += step
        return _from_edges(model, bias, [*i, *extra_i], [*j, *extra_j], [*w, *extra_w])
    h, i, j, J, _ = model.to_spin()
    if name == "bias":
        h[entry[0]] += step
    else:
        pairs = [entry] if name == "weight" else list(zip(*np.triu_indices(model.n, 1), strict=True))
        extra_i, extra_j = map(list, zip(*pairs, strict=True))
        extra_w = [2 * step if name == "weight" else step] * len(pairs)
    return Ising.from_spin(h, [*i, *extra_i], [*j, *extra_j], [*J, *extra_w], layout="dense")


def _from_edges(model, bias, i, j, w):
    return replace(Ising.from_edges(bias, i, j, w, layout="dense"), constant=model.constant)
