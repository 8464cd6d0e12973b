"""Annealed importance sampling of log Z (Neal 2001; Salakhutdinov and Murray 2008), hidden units summed out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pmpviz import keys
from pmpviz.learning.chains import traced
from pmpviz.learning.parameters import visible_of
from pmpviz.models import Ising, LayeredModel
from pmpviz.samplers.gibbs import sweep
from pmpviz.tiles import tile_index
from pmpviz.types import InputError, Target

TILE = 64


@dataclass(frozen=True)
class AisEstimate:
    """log Z by importance weights: `log_z` = log of their mean; `low` and `high` are the log of that mean minus and
    plus three of its standard errors (`low` is -inf where these reach 0). `effective` chains carry the weights.

    E[Z_hat] = Z, so E[log Z_hat] <= log Z, and a log-likelihood that uses it is too good on average, the more so the
    worse the chains mix: the error bar speaks of the chains that there were, not of modes that none has seen.
    """

    log_z: float
    low: float
    high: float
    effective: float
    chains: int
    temperatures: int


def annealed_log_z(model: Ising, key: Array, chains: int = 100, temperatures: int = 1000, base=None) -> AisEstimate:
    """Estimate log Z with `chains` chains over `temperatures` steps from independent sites to the model.

    f_beta has biases (1 - beta) base + beta bias and couplings beta w, for beta = 0, 1/T, ..., 1; one Gibbs sweep a
    step, which must leave the law that the weights compare invariant, for E[Z_hat] = Z to hold at any T. The weights of
    a layered model are of its visible sites alone, so that a sweep draws the hidden sites first, from p_beta(h | v).
    `base[v]` are the visible sites' log-odds at beta = 0 (zero where None: base rates of the data are better).
    Raises InputError for fewer than two chains or no step.
    """
    if chains < 2 or temperatures < 1:
        raise InputError(f"{chains} chains over {temperatures} steps; give at least 2 chains and 1 step")
    base = np.zeros(visible_of(model)) if base is None else np.asarray(base, np.float64)
    hidden = model.n - len(base)
    start = np.concatenate([base, np.zeros(hidden)]).astype(np.float32)
    index = tile_index(chains, TILE)
    log_w = _log_weights(jax.tree.map(jnp.asarray, model), key, start, index, jnp.int32(temperatures))
    log_w = np.asarray(log_w, np.float64).reshape(-1)[:chains]
    return _estimate(log_w, float(np.logaddexp(0.0, start.astype(np.float64)).sum()), temperatures)


def _estimate(log_w: Float[np.ndarray, " chains"], log_base: float, temperatures: int) -> AisEstimate:
    top = log_w.max()
    w = np.exp(log_w - top)
    mean, error = w.mean(), w.std(ddof=1) / np.sqrt(len(w))
    low = mean - 3 * error
    at = log_base + top
    return AisEstimate(
        float(at + np.log(mean)),
        float(at + np.log(low)) if low > 0 else -float("inf"),
        float(at + np.log(mean + 3 * error)),
        float(w.sum() ** 2 / (w**2).sum()),
        len(log_w),
        temperatures,
    )


@jax.jit
def _log_weights(model, key, start, index, temperatures):
    def one_tile(index):
        own = keys.of_chains(keys.role(key, keys.STEP), index)
        u = jax.vmap(lambda chain: keys.uniform(chain, model.n))(keys.of_chains(keys.role(key, keys.START), index))
        x = (u < jax.nn.sigmoid(start)).astype(jnp.int8)

        def anneal(step, carry):
            x, log_w = carry
            before, now = (_between(model, start, k / temperatures) for k in (step, step + 1))
            log_w = log_w + _log_f(now, x) - _log_f(before, x)
            return _swept(traced(Target.of(now)), keys.fold_in(own, step), x), log_w

        return jax.lax.fori_loop(0, temperatures, anneal, (x, jnp.zeros(len(index))))[1]

    return jax.lax.map(one_tile, jnp.asarray(index))


def _swept(target, chain_keys, x):
    """One sweep of all sites, under which the law that `_log_f` weighs stays what it is.

    A layered model's hidden sites come first and are drawn anew, as its weights have them summed out: those that the
    last sweep left come from the law before this one, and the visible sites must not hear them.
    """
    model, order = target.model, target.model.site_order
    if not isinstance(model, LayeredModel):
        return order.collect(sweep(chain_keys, target, order, order.spread(x.T))).T
    v = x[:, : model.visible]
    u = keys.uniform_at(chain_keys[:, None], model.visible + jnp.arange(model.hidden))
    x = jnp.concatenate([v, (u < model.hidden_mean(v)).astype(x.dtype)], axis=1)
    return order.collect(sweep(chain_keys, target, order, order.spread(x.T), 0, model.visible)).T


def _between(model, start, beta):
    bias = (1 - beta) * start + beta * model.bias
    return replace(model, bias=bias, couplings=model.couplings.scaled(beta), constant=beta * model.constant)


def _log_f(model, x):
    if isinstance(model, LayeredModel):
        return -model.free_energy(x[:, : model.visible])
    return jax.vmap(model.log_weight)(x)
