"""The instances of the barrier Frank-Wolfe paper: its own files where they are at hand, else new ones by its recipe."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from pmpviz import exact
from pmpviz.io import load_model
from pmpviz.models import Ising, build_spec
from pmpviz.models.tables import TableModel
from pmpviz.oracles.potentials import Potentials
from pmpviz.types import Exact, Target

THETAS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)
# The authors number their cliques from 1, in runs of a hundred for each strength.
CLIQUES_A_STRENGTH = 100


@dataclass(frozen=True)
class Instance:
    """A model with its exact answer, computed here; `tables` are a file's own values in float64."""

    name: str
    target: Target
    tables: TableModel | None = None

    @cached_property
    def exact(self) -> Exact:
        """log Z and marginals, computed when first asked for."""
        return exact.solve(self.target, self.tables)

    @cached_property
    def potentials(self) -> Potentials:
        """The same as potentials of nodes and pairs, for oracles and relaxations."""
        return Potentials.of_target(self.target, self.tables)[0]

    def error(self, unary: np.ndarray) -> float:
        """Mean |mu_i(1) - p(x_i = 1)|."""
        assert self.exact.p1 is not None
        return float(np.abs(unary[:, 1] - self.exact.p1).mean())


def cliques(theta: float, most: int) -> list[Instance]:
    """Complete models of ten spins: fields U[-1, 1], couplings U[-theta, theta]."""
    first = 1 + THETAS.index(theta) * CLIQUES_A_STRENGTH
    names = [f"clique_{number}" for number in range(first, first + CLIQUES_A_STRENGTH)]
    return _files(names, most) or [_made(f"clique:10,theta={theta},seed={seed}") for seed in range(most)]


def grids(side: int, most: int) -> list[Instance]:
    """Open square grids: fields U[-1, 1], couplings U[-4, 4]; the authors' files first, then some by the recipe."""
    found = _files([f"grid{side}x{side}_{number}" for number in range(1, 16)], most)
    return [*found, *(_grid(side, seed) for seed in range(most - len(found)))]


def rbm() -> Instance:
    """The RBM of 20 + 20 units, or one of 16 + 12 with random weights."""
    return (_files(["rbm_20"], 1) or [_made("rbm:4x4x12,pattern=random,strength=2")])[0]


def source() -> str:
    """Where the instances come from, for the notes."""
    return (
        "the authors' own files, and more by the paper's recipe where those are too few"
        if _folder()
        else "instances made by the paper's recipe (set PMPVIZ_DATA for its files)"
    )


def _folder() -> Path | None:
    folder = Path(os.environ.get("PMPVIZ_DATA", "")) / "uai"
    return folder if os.environ.get("PMPVIZ_DATA") and folder.is_dir() else None


def _files(names: list[str], most: int) -> list[Instance]:
    folder = _folder()
    found: list[Instance] = []
    for name in names if folder else ():
        path = folder / f"{name}.uai"  # type: ignore[operator]
        if len(found) < most and path.exists():
            loaded = load_model(path)
            found.append(Instance(name, Target.of(loaded.model), loaded.tables))
    return found


def _made(spec: str) -> Instance:
    return Instance(spec, Target.of(build_spec(spec)))


def _grid(side: int, seed: int) -> Instance:
    rng, site = np.random.default_rng(seed), np.arange(side * side).reshape(side, side)
    i = np.concatenate([site[:, :-1].ravel(), site[:-1].ravel()])
    j = np.concatenate([site[:, 1:].ravel(), site[1:].ravel()])
    model = Ising.from_spin(rng.uniform(-1, 1, side * side), i, j, rng.uniform(-4, 4, len(i)))
    return Instance(f"grid {side}x{side}, seed {seed}", Target.of(model))
