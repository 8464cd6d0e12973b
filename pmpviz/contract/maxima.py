"""Whether what an approximate draw gives is a local maximum under its perturbation."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from pmpviz import keys
from pmpviz.contract.detectors import Verdict, tried
from pmpviz.contract.fixtures import Fixture
from pmpviz.messages import perturbation
from pmpviz.runs import sample

CHAINS, SWEEPS = 1 << 12, 50


def local_maximum(algorithm, fixture: Fixture, key) -> Verdict:
    """Of many sweeps under one perturbation: no other state of a single variable has a larger perturbed log-weight."""
    algorithm, target, law = tried(algorithm, "local_maximum"), fixture.target, fixture.law
    index = law.index(sample(algorithm, target, key, CHAINS, SWEEPS))
    if (index < 0).any():
        return Verdict(False, found="a clamped site moved")
    score, chain = law.log_weight + perturbed_weight(key, fixture), np.arange(CHAINS)
    lost = np.zeros(CHAINS)
    for site, states in enumerate(law.card):
        for state in range(states):
            other = law.states.copy()
            other[:, site] = state
            there = law.index(other)[index]
            lost = np.maximum(lost, np.where(there < 0, 0.0, score[chain, there] - score[chain, index]))
    return Verdict(bool(lost.max() < 1e-4), found=f"{(lost >= 1e-4).mean():.3%} of the draws are no local maximum")


def perturbed_weight(key, fixture: Fixture) -> np.ndarray:
    """What the noise of the chains' first draws adds to each state of the law, [chains, states]."""
    chain_keys = keys.of_chains(keys.role(key, keys.NOISE), jnp.arange(CHAINS))
    states, n = fixture.law.states, fixture.target.n
    noise = jax.vmap(lambda own: perturbation(own, n, max(fixture.law.card)))(chain_keys)
    each = (np.asarray(noise, np.float64)[:, site, states[:, site]] for site in range(n))
    return sum(each, np.zeros((CHAINS, len(states))))


__all__ = ["local_maximum", "perturbed_weight"]
