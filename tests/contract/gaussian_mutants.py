"""Planted bugs of the Gaussian samplers and of the ghost spin, each with the check that must catch it."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from pmpviz.contract import detectors
from pmpviz.contract.detectors import Verdict
from pmpviz.models.gaussian import Relaxation, chain
from pmpviz.models.gaussian.maps import DenseMap
from pmpviz.runs import advance, start
from pmpviz.samplers import gaussian_gibbs, gaussian_hmc, wolff
from pmpviz.samplers.gaussian_chain import GaussianChain
from pmpviz.samplers.gaussian_gibbs import GaussianGibbs
from pmpviz.samplers.gaussian_hmc import GaussianHMC
from pmpviz.samplers.wolff import Wolff
from pmpviz.types import pytree
from tests.contract.planting import caught_by, patched

CHAINS, LAG = 1 << 12, 4


def second_moments(algorithm, fixture, key) -> Verdict:
    """From exact draws, four sweeps: the squares of the Gaussians' deviations must have been forgotten."""
    run = start(algorithm, fixture.target, key, CHAINS, fixture.law.draws(detectors.host_rng(key), CHAINS))
    squares = []
    for _ in range(LAG + 1):
        z = np.asarray(run.state.z, np.float64)
        deviation = z - z.mean((0, 2), keepdims=True)
        squares.append((deviation**2).sum(1).ravel())
        run, _trace = advance(run, run.quanta, record=False)
    kept = float(np.corrcoef(squares[0], squares[-1])[0, 1])
    return Verdict(kept < 0.5, found=f"the squares' correlation after {LAG} sweeps is {kept:.2f}")


def _with_relaxation(target, **changes):
    landscape = target.prepared
    return dataclasses.replace(landscape, relaxation=dataclasses.replace(landscape.relaxation, **changes))


@caught_by(detectors.exact_start, "six_dense")
class ShiftNotTakenAway(GaussianGibbs):
    """The field lacks -d / 2."""

    def prepare(self, target):
        bias = np.asarray(target.beta * target.model.bias, np.float32)
        return dataclasses.replace(super().prepare(target), bias=bias)


@caught_by(detectors.exact_start, "six_lattice")
class ShiftOfEdgesNotTakenAway(GaussianHMC):
    """The field lacks -d / 2, in the edge form."""

    def prepare(self, target):
        bias = np.asarray(target.beta * target.model.bias, np.float32)
        return _with_relaxation(dataclasses.replace(target, prepared=super().prepare(target)), bias=bias)


@caught_by(detectors.exact_start, "six_dense")
class MapTransposed(GaussianGibbs):
    """B' stands for B."""

    def prepare(self, target):
        relaxation = super().prepare(target)
        return dataclasses.replace(relaxation, map=DenseMap(relaxation.map.weight.T))


@caught_by(detectors.exact_start, "six_dense")
class LandscapeTransposed(GaussianHMC):
    """B' stands for B, in Hamiltonian Monte Carlo."""

    def prepare(self, target):
        landscape = super().prepare(target)
        own = DenseMap(landscape.relaxation.map.weight.T)
        return _with_relaxation(dataclasses.replace(target, prepared=landscape), map=own)


@caught_by(detectors.exact_start, "six_lattice")
class EveryTrajectoryAccepted(GaussianHMC):
    """There is no accept step, at the largest step that the knob offers."""

    def step_tile(self, keys, target, state):
        with patched(gaussian_hmc, _accepted=lambda real, u, error: jnp.ones(u.shape, bool)):
            return GaussianHMC.step_tile(dataclasses.replace(self, step_size=2.0), keys, target, state)


@pytree
class SoftplusOfClamped(Relaxation):
    """Clamped variables are summed away like free ones."""

    def mean(self, evidence, field):
        return jax.nn.sigmoid(field)

    def summed(self, evidence, field):
        return jax.nn.softplus(field)


@caught_by(detectors.exact_start, "six_lattice_clamped")
class ClampedSoftplus(GaussianHMC):
    """The landscape is that of the model without its evidence."""

    def prepare(self, target):
        landscape = super().prepare(target)
        r = landscape.relaxation
        return dataclasses.replace(landscape, relaxation=SoftplusOfClamped(r.bias, r.map, r.root))


@caught_by(second_moments, "edgeless_dense")
class HalfTurns(GaussianHMC):
    """Every trajectory has the length pi, which takes a Gaussian to its mirror image: the means look superb."""

    def step_tile(self, keys, target, state):
        step = jnp.pi / 10 / target.prepared.unit[0]
        with patched(gaussian_hmc, _length=lambda real, steps, count: jnp.int32(10)):
            return GaussianHMC.step_tile(dataclasses.replace(self, step_size=step), keys, target, state)


@caught_by(detectors.clamped_stay, "six_lattice_clamped")
class GaussianClampedMoves(GaussianGibbs):
    """All variables are drawn, clamped or not."""

    def step_tile(self, keys, target, state):
        free = dataclasses.replace(target.evidence, mask=jnp.zeros_like(target.evidence.mask))
        return super().step_tile(keys, dataclasses.replace(target, evidence=free), state)


@caught_by(detectors.symmetry, "srbm_clamped")
class HiddenLayerNotDrawnAgain(GaussianGibbs):
    """The hidden units are those that the visible ones were drawn with: right in law, but not reversible."""

    def step_tile(self, keys, target, state):
        after, info = super().step_tile(keys, target, state)
        layers = target.prepared
        visible = layers.weight.shape[1]
        h = _hidden_before(keys, target, layers, state.x[:visible])
        return dataclasses.replace(after, x=jnp.concatenate([after.x[:visible], h])), info


def _hidden_before(keys, target, layers, v):
    _, of_hidden = gaussian_gibbs._layers(target.evidence, layers.weight.shape[1])
    return gaussian_gibbs._drawn(keys, of_hidden, layers.hidden_field(v), gaussian_gibbs.HIDDEN_BEFORE)


@caught_by(detectors.exact_start, "six_lattice_clamped")
class GhostOfHalfTheField(Wolff):
    """Bonds to the ghost have probability 1 - exp(-|h|)."""

    def step_tile(self, keys, target, state):
        with patched(wolff, _bonded=lambda real, field, spin, u: real(0.5 * field, spin, u)):
            return super().step_tile(keys, target, state)


@caught_by(detectors.exact_start, "text")
class NeighboursOfASetCountedTwice(GaussianChain):
    """The chain keeps what the Gaussian of a set already carries."""

    def prepare(self, target):
        bias, i, j, w = target.model.pairwise()
        whole = np.zeros(target.n, np.float32)
        whole[i[j - i == 1]] = float(target.beta) * w[j - i == 1]
        return dataclasses.replace(super().prepare(target), chain=whole)


@pytree
class DeafChain(chain.ChainRelaxation):
    """Its filter takes clamped words for free ones."""

    def filtered(self, evidence, z):
        free = dataclasses.replace(evidence, mask=jnp.zeros_like(evidence.mask))
        return super().filtered(free, z)


@caught_by(detectors.exact_start, "text_clamped")
class ChainDeafToEvidence(GaussianChain):
    """What is clamped is not heard by the words after it."""

    def prepare(self, target):
        relaxed = super().prepare(target)
        return DeafChain(relaxed.relaxation, relaxed.chain)
