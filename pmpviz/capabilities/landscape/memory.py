"""Two remembered pictures on many spins: a Hopfield model, whose landscape has two dimensions whatever its size.

With xi the pictures as +1 and -1 and sigma the spins, log p(sigma) is beta (sum_k (xi_k . sigma)^2 / 2n + h xi_A .
sigma) but for a constant (Hopfield 1982). One Gaussian a picture carries it. Along the sum and the difference of the
pictures the two are independent: the spins at which these agree pull at one, those at which they differ at the other.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property, lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, Shaped
from scipy.special import logsumexp

from pmpviz.capabilities.landscape.drawings import PAIRS, drawn
from pmpviz.capabilities.landscape.plan import MOST_SIDE, LandscapePlan
from pmpviz.models import Ising
from pmpviz.models.builders import dense_model
from pmpviz.models.gaussian import Relaxation
from pmpviz.models.gaussian.maps import DenseMap
from pmpviz.types import Evidence, Target

NAMES = ("A", "B", "−A", "−B")
# From (sum, difference) of the pictures to the pictures, and back.
TURN = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2.0)
# Of the quadrature, in standard deviations of the Gaussians.
REACH, SPACING = 8.0, 0.02
SITES = MOST_SIDE**2


@dataclass(frozen=True, eq=False)
class Memory:
    """`pictures[2, n]` of +1 and -1; `groups` counts the sites at which they agree and differ.

    Arrays of sites have room for the largest side, so that another size compiles nothing: sites beyond the n in use are
    clamped, and nothing pulls at them. States are told apart by the picture that z is nearest to, `NAMES`.
    """

    target: Target
    pictures: Float[np.ndarray, "2 n"]
    cue: float

    @property
    def n(self) -> int:
        """How many spins are in use."""
        return self.pictures.shape[1]

    @property
    def beta(self) -> float:
        """The inverse temperature."""
        return float(self.target.beta)

    @property
    def overlap(self) -> float:
        """That of the pictures with each other."""
        return float(self.pictures[0] @ self.pictures[1]) / self.n

    @property
    def groups(self) -> Float[np.ndarray, " 2"]:
        """(how many sites the pictures agree at, how many they differ at)."""
        return 0.5 * self.n * np.array([1 + self.overlap, 1 - self.overlap])

    @property
    def roots(self) -> Float[np.ndarray, " 2"]:
        """The square roots of W + D's eigenvalues that are not 0: 2 sqrt(beta (1 + q)) and 2 sqrt(beta (1 - q))."""
        return np.sqrt(8 * self.beta / self.n * self.groups)

    @property
    def largest(self) -> float:
        """lambda_1(W + D)."""
        return float(self.roots.max() ** 2)

    @cached_property
    def weight(self) -> Float[np.ndarray, "sites 2"]:
        """B: 2 sqrt(beta / n) times the sum and the difference of the pictures, over sqrt(2)."""
        found = np.zeros((SITES, 2))
        found[: self.n] = 2 * np.sqrt(self.beta / self.n) * self.pictures.T @ TURN
        return found

    @property
    def shift(self) -> Float[np.ndarray, " n"]:
        """The diagonal of D, the least that serves: that of B B'."""
        return (self.weight[: self.n] ** 2).sum(1)

    def relaxation(self) -> Relaxation:
        """What the samplers walk on."""
        weight = self.weight
        c = -0.5 * weight @ weight.sum(0)
        c[: self.n] += 2 * self.beta * self.cue * self.pictures[0]
        return Relaxation(c.astype(np.float32), DenseMap(weight.astype(np.float32)), self.roots.astype(np.float32))

    @cached_property
    def law(self) -> Float[np.ndarray, " 4"]:
        """The probability that z is nearest to A, B, -A and -B: of the signs of its two independent parts."""
        (first, _), (second, _) = (self._signs(k) for k in (0, 1))
        return np.array([first * second, first * (1 - second), (1 - first) * (1 - second), (1 - first) * second])

    @cached_property
    def log_z(self) -> float:
        """log of the sum over all states in use, by quadrature: the two integrals, each over sqrt(2 pi)."""
        return sum(self._signs(k)[1] for k in (0, 1)) - self.beta - np.log(2 * np.pi)

    def _signs(self, k: int) -> tuple[float, float]:
        """(the probability that part k of z is above 0, the log of its integral), by midpoints."""
        most = np.sqrt(2 * self.beta / self.n) * self.groups[k] + REACH
        z = np.arange(SPACING / 2, most, SPACING)
        below, above = logsumexp(self._part(k, -z)), logsumexp(self._part(k, z))
        both = np.logaddexp(below, above)
        return float(np.exp(above - both)), float(both + np.log(SPACING))

    def _part(self, k: int, z: Float[np.ndarray, "*k"]) -> Float[np.ndarray, "*k"]:
        """log p of part k but for a constant, which log Z knows."""
        pull = np.abs(np.sqrt(2 * self.beta / self.n) * z + self.beta * self.cue)
        return -0.5 * z * z + self.groups[k] * (pull + np.log1p(np.exp(-2 * pull)))

    def log_density(self, seen: Float[np.ndarray, "*k 2"]) -> Float[np.ndarray, "*k"]:
        """log p at places as they are seen, but for a constant."""
        parts = seen @ TURN
        return self._part(0, parts[..., 0]) + self._part(1, parts[..., 1])

    # What the chains are told of.

    def codes(self, x: Shaped[np.ndarray, "n t"], z: Float[np.ndarray, "2 t"]) -> Int[np.ndarray, " t"]:
        """Which of `NAMES` each chain's z is nearest to."""
        return self.codes_seen(*self.seen(z))

    def codes_seen(self, first: Float[np.ndarray, "*k"], second: Float[np.ndarray, "*k"]) -> Int[np.ndarray, "*k"]:
        """The same of places as they are seen."""
        return np.where(np.abs(first) > np.abs(second), np.where(first > 0, 0, 2), np.where(second > 0, 1, 3))

    def seen(self, z: Float[np.ndarray, "2 t"]) -> Float[np.ndarray, "2 t"]:
        """Places around the middle between all states, along the pictures: sqrt(beta n) overlaps, and a normal each."""
        return TURN @ (np.asarray(z, np.float64) - 0.5 * self.weight.sum(0)[:, None])

    def directions(self, p: Float[np.ndarray, "k 2"]) -> Float[np.ndarray, "k 2"]:
        """Momenta as they are seen."""
        return np.asarray(p, np.float64) @ TURN

    def overlaps(self, x: Shaped[np.ndarray, " sites"]) -> Float[np.ndarray, " 2"]:
        """(xi_k . sigma) / n of both pictures."""
        return self.pictures @ (2.0 * np.asarray(x[: self.n]) - 1.0) / self.n

    def packed(self, x: Shaped[np.ndarray, " sites"]) -> list[int]:
        """The spins in use as the browser's painters read them."""
        return np.packbits(np.asarray(x[: self.n]) > 0).tolist()


def memory_of(plan: LandscapePlan) -> Memory:
    """The model of a plan at its temperature."""
    pictures, model = _remembered(plan.pictures, plan.side)
    bias, constant = np.array(model.bias), np.float32(model.constant - plan.cue * pictures[0].sum())
    bias[: plan.side**2] += 2 * plan.cue * pictures[0]
    unused = np.arange(SITES) >= plan.side**2
    model = dataclasses.replace(model, bias=jnp.asarray(bias), constant=constant)
    evidence = Evidence(unused, np.zeros(SITES, np.int8))
    return Memory(Target.of(model, evidence, 1 / plan.temperature), pictures, plan.cue)


@lru_cache(maxsize=8)
def _remembered(pair: str, side: int) -> tuple[Float[np.ndarray, "2 n"], Ising]:
    """The pictures, and the couplings that remember them; on the device, lest every quantum bring them there."""
    pictures = np.stack([drawn(name, side) for name in PAIRS[pair]])
    n = side**2
    couplings = np.zeros((SITES, SITES))
    couplings[:n, :n] = pictures.T @ pictures / n
    return pictures, jax.tree.map(jnp.asarray, dense_model(couplings, np.zeros(SITES)))


__all__ = ["NAMES", "Memory", "memory_of"]
