"""Martens and Sutskever's machines, learned from MNIST at 16 x 16 pixels, and the block Gibbs sampler of either kind.

The paper's digits of this size are those of USPS, which fill their frame. MNIST's stand in a margin, where a pixel that
no image has on would learn nothing and be no part of any cluster: two pixels of it are left out all round.

As in the paper an SRBM is learned by persistent contrastive divergence with one sweep of sequential Gibbs sampling a
step, its equivalent RBM with three steps of block Gibbs sampling.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import jax
import numpy as np
from jaxtyping import Int8

from pmpviz.experiments.reproductions.keep import Keep
from pmpviz.experiments.reproductions.work import Method, learn
from pmpviz.io.datasets.mnist import load_mnist
from pmpviz.learning.optimiser import Optimiser
from pmpviz.learning.start import fresh_model
from pmpviz.models import SRBM, GaussianRBM
from pmpviz.models.gaussian import own_layers
from pmpviz.runs import training
from pmpviz.samplers.gaussian_gibbs import GaussianGibbs
from pmpviz.samplers.gibbs import Gibbs
from pmpviz.types import Target, pytree

SIDE, THRESHOLD, LATERAL_RATE, EPS = 16, 0.4, 0.1, 0.01
# Of 28 x 28 pixels the middle 24 x 24 have all but 0.2 % of the ink, and go into 16 x 16 as 3 into 2.
MARGIN = 2
# The rate falls to nothing over the second half, in so many stairs.
STAIRS = 10
SEMI, EQUIVALENT = "SRBM", "equivalent RBM"
# Kind of model, and sweeps of PCD a step.
KINDS = {SEMI: ("srbm", 1), EQUIVALENT: ("gaussian_rbm", 3)}
BLOCKS, SEQUENTIAL = "block Gibbs", "sequential Gibbs"


@dataclass(frozen=True)
class Learning:
    """Images (0: all), hidden units, updates and their rate."""

    images: int
    hidden: int
    updates: int
    rate: float

    @property
    def words(self) -> str:
        """Sizes beside the paper's, for the notes."""
        return (
            f"machines of 256 + {self.hidden} units, {self.updates:,} updates at a rate of {self.rate:g} that falls to "
            "nothing, on MNIST without two pixels of its margin; the paper's: 784 + 500 units of MNIST, 256 + 40 and "
            "256 + 256 of USPS, 100,000 updates at 0.01"
        )


FULL = Learning(0, 40, 20_000, 0.05)
QUICK = Learning(4000, 40, 4000, 0.05)


def shrunk(images: Int8[np.ndarray, "k 28 28"]) -> Int8[np.ndarray, "k 256"]:
    """The middle of 28 x 28 greys as 16 x 16 pixels, on where the mean of their area is above 0.4 of the largest."""
    edge = np.linspace(MARGIN, images.shape[1] - MARGIN, SIDE + 1)
    place = np.arange(images.shape[1])
    share = np.clip(np.minimum(edge[1:, None], place + 1) - np.maximum(edge[:-1, None], place), 0, 1)
    share /= share.sum(1, keepdims=True)
    grey = np.einsum("ia,kab,jb->kij", share, images.astype(np.float64) / 255, share)
    return (grey > THRESHOLD).astype(np.int8).reshape(len(images), -1)


def learned(kind: str, x: Int8[np.ndarray, "k v"], how: Learning, seed: int, keep: Keep | None = None) -> SRBM:
    """A machine of these images."""
    name, sweeps = KINDS[kind]
    start, words = fresh_model(name, x, how.hidden, "base rate", seed), f"{kind}, seed {seed}"
    optimiser = Optimiser("sgd", how.rate, lateral_rate=LATERAL_RATE)
    learner = Method(kind, "pcd", {"sweeps": sweeps}).make()
    half = how.updates // 2
    done = learn(training.start(learner, start, x, jax.random.key(seed), optimiser), half, words, keep)
    for stair in range(STAIRS):
        slower = replace(optimiser, learning_rate=how.rate * (1 - stair / STAIRS))
        end = half + (stair + 1) * (how.updates - half) // STAIRS
        done = learn(training.adjust(done, optimiser=slower), end, words, keep)
    assert isinstance(done.model, SRBM)
    return done.model


def images(how: Learning) -> Int8[np.ndarray, "k 256"]:
    """MNIST's test digits, as many as are learned from."""
    return shrunk(load_mnist("test").images)[: how.images or None]


@lru_cache(maxsize=4)
def machine(kind: str, how: Learning, seed: int, keep: Keep | None = None) -> SRBM:
    """The machine of MNIST's test digits; the same for all reproductions."""
    return learned(kind, images(how), how, seed, keep)


@pytree
class OwnGaussians(GaussianGibbs):
    """Block Gibbs sampling with the Gaussians that a machine has itself."""

    def prepare(self, target: Target):
        """The machine's own layers."""
        return own_layers(target.model)


def samplers(model: SRBM) -> dict[str, GaussianGibbs | Gibbs]:
    """Block Gibbs sampling, of an SRBM by Gaussians under the least shift but a hundredth, and sequential Gibbs."""
    blocks = OwnGaussians() if isinstance(model, GaussianRBM) else GaussianGibbs(eps=EPS)
    return {BLOCKS: blocks, SEQUENTIAL: Gibbs()}


__all__ = [
    "BLOCKS",
    "EQUIVALENT",
    "KINDS",
    "SEMI",
    "SEQUENTIAL",
    "Learning",
    "images",
    "learned",
    "machine",
    "samplers",
    "shrunk",
]
