"""Max-product as a MAP oracle: the samplers' kernel on the potentials of two-state models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int8

from pmpviz.models.couplings import DenseCouplings, SparseCouplings
from pmpviz.oracles import max_product, on_factors
from pmpviz.oracles.factors import Factors
from pmpviz.oracles.oracle import MapOracle, OracleSpec, Prepared, Solution
from pmpviz.oracles.potentials import Potentials, Structure
from pmpviz.types import Param, Style

# Problems side by side in one compiled call; fewer are padded, so that a structure compiles once and a problem's
# numbers never depend on how many are solved with it.
TILE = 16
# A matrix is faster than neighbour lists from this share of all pairs on, up to so many variables; small models are
# padded to a multiple of 8 of them, so that few shapes are ever compiled.
DENSE_SHARE, MOST_DENSE, SMALL, STEP = 0.5, 1024, 32, 8
# On factors the messages are left at rest where none changes by more.
SETTLED = 1e-9


class _Layout:
    """Where the weights of a structure's edges go in the couplings."""

    def __init__(self, structure: Structure):
        self.i, self.j, pairs = structure.i, structure.j, structure.n * (structure.n - 1) / 2
        self.dense = structure.n <= SMALL or (len(structure.i) >= DENSE_SHARE * pairs and structure.n <= MOST_DENSE)
        self.height = -(-structure.n // STEP) * STEP if structure.n <= SMALL else structure.n
        if not self.dense:
            # Weights that number the edges show which slot holds which; the padded slots hold 0.
            number = np.arange(1.0, len(structure.i) + 1)
            self.couplings = SparseCouplings.from_edges(structure.n, structure.i, structure.j, number)
            self.edge = np.asarray(self.couplings.weight).astype(np.int64)

    def couplings_of(self, w: Float[np.ndarray, " e"]) -> DenseCouplings | SparseCouplings:
        """The couplings of these weights."""
        if self.dense:
            weight = np.zeros((self.height, self.height), np.float32)
            weight[self.i, self.j] = weight[self.j, self.i] = w
            return DenseCouplings(weight)
        weight = np.append(0.0, w)[self.edge].astype(np.float32)
        held = self.couplings
        return SparseCouplings(held.neighbour, weight, held.reverse, held.number, held.entry)


_layout_of = Prepared(_Layout)


@jax.jit
def _solve_tile(
    couplings, field: Float[Array, "n t"], damping, sweeps
) -> tuple[Int8[Array, "t n"], Float[Array, " t"]]:
    """Configurations decoded after so many updates of all messages from zero, and the last update's residuals."""

    def body(_, state):
        return max_product.update(couplings, field, state[0], damping)

    start = max_product.zero_messages(couplings, field.shape[1]), jnp.zeros(field.shape[1])
    incoming, residual = jax.lax.fori_loop(0, sweeps, body, start)
    return (max_product.belief(couplings, field, incoming) > 0).astype(jnp.int8).T, residual


def _why_not(potentials: Potentials) -> str | None:
    s = potentials.structure
    if s.binary:
        return None
    v = next(v for v, states in enumerate(s.card) if states != 2)
    return f"max-product is written for two-state variables here; variable {v} has {s.card[v]} states"


@dataclass(frozen=True)
class MaxProduct(MapOracle):
    """x_i = [b_i + sum_k n_{k->i} > 0] after damped parallel updates of all messages, in single precision."""

    damping: float = 0.5
    sweeps: int = 100

    spec = OracleSpec(
        id="max_product",
        label="Max-product",
        style=Style("#D55E00", "solid", "circle"),
        promise="heuristic",
        summary="Damped parallel message passing, as perturb-and-max-product runs it; right on trees.",
        paper="Perturb-and-max-product, section 3 and Eq. 6",
        params=(
            Param("damping", "damping", 0.0, 0.99, 0.5, help="share of the old message that is kept at every update"),
            Param("sweeps", "sweeps", 1, 100_000, 100, scale="int", help="updates of all messages"),
        ),
        why_not=_why_not,
    )

    def solve(self, potentials: Potentials) -> Solution:
        """The decoded configuration; the note `residual` is the last update's largest change of a message."""
        return self.solve_batch(potentials, potentials.unary[None])[0]

    def solve_batch(self, potentials: Potentials, unary: Float[np.ndarray, "b n k"]) -> list[Solution]:
        """All unaries in tiles of 16, one compiled call each."""
        self.insist(potentials)
        if not potentials.n:
            return [Solution.found(potentials, np.zeros(0, np.int8)) for _ in unary]
        bias, w, _ = potentials.quadratic()
        layout = _layout_of(potentials.structure)
        couplings = layout.couplings_of(w)
        own = potentials.unary[:, 1] - potentials.unary[:, 0]
        fields = (bias - own) + (unary[:, :, 1] - unary[:, :, 0])
        run = partial(_solve_tile, damping=np.float32(self.damping), sweeps=np.int32(self.sweeps))
        found = []
        for start in range(0, len(unary), TILE):
            part = unary[start : start + TILE]
            field = np.zeros((layout.height, TILE), np.float32)
            field[: potentials.n, : len(part)] = fields[start : start + TILE].T
            x, residual = (np.asarray(array) for array in run(couplings, field))
            for one, row, change in zip(part, x, residual.tolist(), strict=False):
                found.append(Solution.found(potentials.with_values(one), row[: potentials.n], residual=change))
        return found

    def solve_factors(self, factors: Factors) -> Solution:
        """Max-product on the factors as they are, in double precision, any number of states."""
        passing, residual = on_factors.Passing(factors, maximum=True), 0.0
        for _ in range(int(self.sweeps)):
            passing, residual = passing.sweep(float(self.damping))
            if residual <= SETTLED:
                break
        return Solution.on_factors(factors, passing.beliefs().argmax(1), residual=residual)


__all__ = ["MaxProduct"]
