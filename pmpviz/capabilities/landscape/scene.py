"""What follows from a plan alone: the target, its relaxation by hand, the exact law, and where the Gaussians stand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Shaped

from pmpviz.capabilities.landscape.plan import FORCED, KINDS, LandscapePlan
from pmpviz.models import Ising
from pmpviz.models.gaussian import Relaxation, least_trace_shift, shift_by_hand, uniform_shift
from pmpviz.models.gaussian.maps import DenseMap
from pmpviz.types import Target

# Of the quadrature over the Gaussians that decide whether a state is left.
REACH, POINTS = 8.0, 241


@dataclass(frozen=True, eq=False)
class Scene:
    """`least[n]` is D at the shift's left end; W + D = V diag(lambda) V' with V = `vectors[n, n]`, whose columns do not
    change with the shift, and lambda = `values[n]` + `extra`, the largest first; `states[2^n, n]` and their `law`."""

    target: Target
    matrix: Float[np.ndarray, "n n"]
    bias: Float[np.ndarray, " n"]
    least: Float[np.ndarray, " n"]
    extra: float
    vectors: Float[np.ndarray, "n n"]
    values: Float[np.ndarray, " n"]
    states: np.ndarray
    law: Float[np.ndarray, " s"]

    @property
    def n(self) -> int:
        """Number of spins."""
        return len(self.bias)

    @property
    def roots(self) -> Float[np.ndarray, " n"]:
        """The square roots of the eigenvalues of W + D."""
        return np.sqrt(self.values + self.extra)

    @property
    def weight(self) -> Float[np.ndarray, "n n"]:
        """B = V sqrt(lambda)."""
        return self.vectors * self.roots

    @property
    def shift(self) -> Float[np.ndarray, " n"]:
        """The diagonal of D."""
        return self.least + self.extra

    @property
    def largest(self) -> float:
        """lambda_1(W + D)."""
        return float(self.values[0] + self.extra)

    def relaxation(self) -> Relaxation:
        """What the samplers walk on."""
        c = self.bias - self.shift / 2
        return Relaxation(c.astype(np.float32), DenseMap(self.weight.astype(np.float32)), self.roots.astype(np.float32))

    # What the chains are told of.

    def codes(self, x: Shaped[np.ndarray, "n t"], z: Float[np.ndarray, "n t"]) -> Int[np.ndarray, " t"]:
        """Which of the states each chain is in."""
        return 2 ** np.arange(self.n)[::-1] @ np.asarray(x, np.int64)

    def seen(self, z: Float[np.ndarray, "n t"]) -> Float[np.ndarray, "2 t"]:
        """The two coordinates of z that are shown."""
        return np.asarray(z)[:2]

    def directions(self, p: Float[np.ndarray, "k n"]) -> Float[np.ndarray, "k 2"]:
        """Momenta as they are seen."""
        return np.asarray(p)[:, :2]

    def leaving(self, code: int) -> float:
        """The probability that a sweep of block Gibbs leaves a state, by quadrature over its Gaussian, in float64."""
        s, grid = self.states[code], np.linspace(-REACH, REACH, POINTS)
        z = self.weight.T @ s + np.stack(np.meshgrid(*[grid] * self.n, indexing="ij"), -1).reshape(-1, self.n)
        field = z @ self.weight.T + self.bias - self.shift / 2
        normal = np.exp(-0.5 * ((z - self.weight.T @ s) ** 2).sum(1))
        stays = np.exp(-np.logaddexp(0.0, np.where(s, -field, field)).sum(1))
        return float(1.0 - (normal * stays).sum() / normal.sum())


def scene_of(plan: LandscapePlan) -> Scene:
    """Everything of a plan that does not move."""
    matrix, bias = _couplings(plan)
    least = _least(plan, matrix)
    shift_by_hand(matrix, least + plan.extra)
    values, vectors = np.linalg.eigh(matrix + np.diag(least))
    values, vectors = np.maximum(values[::-1], 0.0), _turned(vectors[:, ::-1])
    n = len(bias)
    states = np.array(list(np.ndindex((2,) * n)))
    energy = states @ bias + 0.5 * ((states @ matrix) * states).sum(1)
    law = np.exp(energy - np.logaddexp.reduce(energy))
    i, j = np.triu_indices(n, 1)
    target = Target.of(Ising.from_edges(bias, i, j, matrix[i, j], layout="dense"))
    return Scene(target, matrix, bias, least, plan.extra, vectors, values, states, law)


def _couplings(plan: LandscapePlan) -> tuple[Float[np.ndarray, "n n"], Float[np.ndarray, " n"]]:
    """W and a: fields are over spins, so that at 0 nothing prefers a spin's one state to the other."""
    if plan.kind == KINDS[2]:
        square = plan.t**2
        return np.array([[0.0, -square], [-square, 0.0]]), np.array([square / 2, square])
    n = 3 if plan.kind == KINDS[1] else 2
    matrix = plan.w * (np.ones((n, n)) - np.eye(n))
    return matrix, np.array([plan.h1, plan.h2, 0.0])[:n] - matrix.sum(1) / 2


def _least(plan: LandscapePlan, matrix: Float[np.ndarray, "n n"]) -> Float[np.ndarray, " n"]:
    if plan.kind == KINDS[2] and plan.diagonal == FORCED:
        return plan.t**2 * np.array([1.0, 2.0])
    return least_trace_shift(matrix) if plan.diagonal == "least trace" else uniform_shift(matrix)


def _turned(vectors: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """Eigenvectors with signs of their own: the first points up the spins, and of two they are a rotation."""
    signs = np.where(vectors.sum(0) < -1e-9, -1.0, 1.0)
    vectors = vectors * signs
    if len(vectors) == 2 and np.linalg.det(vectors) < 0:
        vectors = vectors * np.array([1.0, -1.0])
    return vectors


__all__ = ["Scene", "scene_of"]
