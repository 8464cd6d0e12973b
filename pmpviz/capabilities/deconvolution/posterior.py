"""Posterior samples of features and locations given images: a run of the binary convolution, and what it shows."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, Int8

from pmpviz import keys
from pmpviz.models.conv_or import ConvOR, or_convolution
from pmpviz.runs import compile_clock
from pmpviz.runs import run as running
from pmpviz.runs.run import Run
from pmpviz.samplers import ConvAlgorithm
from pmpviz.types import InputError, Target, brings

MEMORY = 1 << 33


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What m samples have come to. `seconds` are spent in compiled calls, compilation apart.

    `belief`: sigmoid of the features' log-ratios (of chains the state itself); `wrong`: seen pixels that differ from
    the OR of features and locations; `explained`: seen pixels that are on in both, of `on`; `energy` = -log_weight;
    `residual`: the largest change of a message (nan for chains).
    """

    sweep: float
    seconds: float
    compile_seconds: float
    belief: Float[np.ndarray, "m c f a b"]
    features: Int8[np.ndarray, "m c f a b"]
    locations: Int8[np.ndarray, "m n f h w"]
    reconstruction: Int8[np.ndarray, "m n c height width"]
    wrong: Int[np.ndarray, " m"]
    explained: Int[np.ndarray, " m"]
    on: int
    energy: Float[np.ndarray, " m"]
    residual: Float[np.ndarray, " m"]


def begin(algorithm, target: Target, seed: int, samples: int) -> Run:
    """A run of so many independent samples; chains start from the prior, the same for every algorithm.

    Raises InputError where the algorithm cannot run on the target, and where the messages would not fit into memory.
    """
    model: ConvOR = target.model
    shape = model.shape
    needed = _bytes(algorithm, model, samples)
    if needed > MEMORY:
        most = int(shape.images * MEMORY / needed)
        remedy = f"give at most {most:,} images, or" if most else "give"
        raise InputError(
            f"this run of {shape.images:,} images would take {needed / 2**30:.1f} GiB; {remedy} fewer and smaller "
            "features"
        )
    key = jax.random.key(seed)
    chain_keys = keys.of_chains(keys.role(key, keys.START), jnp.arange(samples))
    first = np.asarray(_first(target, jax.random.key_data(chain_keys)))
    return running.start(algorithm, target, key, samples, x0=first)


def _bytes(algorithm, model: ConvOR, samples: int) -> int:
    """About what a run takes: configurations, and of message passing two numbers for every AND and sample that are
    kept, and six more of one sample that come and go."""
    configurations = 16 * model.n * (samples + 1)
    if not brings(algorithm, "belief", ConvAlgorithm):
        return configurations
    return configurations + 4 * model.shape.images * model.shape.ands * (2 * samples + 6)


@jax.jit
def _first(target: Target, words) -> Int8[np.ndarray, "m n"]:
    """One draw of the prior for every chain, its images made from it."""
    model = target.model

    def one(own):
        """A chain's draw, from key data of its own."""
        noise = keys.logistic_threshold(keys.uniform(jax.random.wrap_key_data(own), model.n))
        s, w, x = model.split(noise)
        s = target.beta * model.location_copies * model.location_logit > s
        w = target.beta * model.feature_logit > w
        return model.join(s, w, target.beta * model.log_odds_of_pixels(s, w) > x)

    return jax.vmap(one)(words)


@jax.jit
def _view(algorithm, target, state):
    model = target.model
    images = model.split(target.evidence.value)[2]
    seen = model.split(target.evidence.mask)[2]

    def one(state):
        """What is shown of one sample, and how many of the given pixels are ink."""
        x = algorithm.position(target, state)
        s, w, _ = model.split(x)
        z = or_convolution(s, w)
        belief = algorithm.belief(target, state)
        soft = w * 1.0 if belief is None else jax.nn.sigmoid(belief)
        return {
            "belief": soft.astype(jnp.float32),
            "features": w,
            "locations": s,
            "reconstruction": z,
            "wrong": (seen & (z != images)).sum(),
            "explained": (seen & (z > 0) & (images > 0)).sum(),
            "energy": -model.log_weight(x),
            "residual": getattr(state, "residual", jnp.float32(jnp.nan)),
        }, (seen & (images > 0)).sum()

    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), state)
    found, on = jax.lax.map(one, flat)
    return found, on[0]


def snapshot(run: Run, compile_seconds: float = 0.0) -> Snapshot:
    """What the run shows now."""
    compiled = compile_clock.seconds()
    found, on = _view(run.algorithm, run.target, run.state)
    parts = {name: np.asarray(value)[: run.chains] for name, value in found.items()}
    compile_seconds += compile_clock.seconds() - compiled
    return Snapshot(run.quantum / run.quanta, run.seconds, compile_seconds, on=int(on), **parts)


def advance(run: Run, quanta: int) -> tuple[Run, Snapshot]:
    """So many quanta of every sample, and what they come to. The given run's memory is taken over."""
    compiled = compile_clock.seconds()
    run, _ = running.advance(run, quanta, record=False, donate=True)
    return run, snapshot(run, compile_clock.seconds() - compiled)


def align(features: Int8[np.ndarray, "c f a b"], to: Int8[np.ndarray, "c f a b"]) -> Int[np.ndarray, " f"]:
    """The order of `features` that fits best to `to`: the assignment of largest total overlap, over all shifts."""
    from scipy.optimize import linear_sum_assignment

    both, _ = _overlaps(features, to)
    # Pixels on in both less half of those that differ.
    return linear_sum_assignment(0.5 * (_ink(to)[:, None] + _ink(features)) - 2 * both)[1]


def _overlaps(
    features: Int8[np.ndarray, "c f a b"], to: Int8[np.ndarray, "c g p q"]
) -> tuple[Float[np.ndarray, "g f"], Int[np.ndarray, "g f 2"]]:
    """(pixels on in both, shift of `to` against the feature) of every pair, at its best shift, the first of several."""
    p, q = to.shape[2:]
    field = np.pad(features.astype(np.float32), ((0, 0), (0, 0), (p - 1, p - 1), (q - 1, q - 1)))
    windows = np.lib.stride_tricks.sliding_window_view(field, (p, q), (2, 3))
    both = np.einsum("cfrspq,cgpq->gfrs", windows, to.astype(np.float32), optimize=True)
    flat = both.reshape(*both.shape[:2], -1)
    row, column = np.divmod(flat.argmax(2), both.shape[3])
    return flat.max(2), np.stack([row - p + 1, column - q + 1], 2)


def _ink(planes: Int8[np.ndarray, "c f a b"]) -> Float[np.ndarray, " f"]:
    """Pixels that are on."""
    return planes.sum((0, 2, 3), dtype=np.float32)


@dataclass(frozen=True)
class Recovered:
    """A generating glyph: the feature nearest to it, the glyph's shift within it, and the pixels that differ."""

    feature: int
    shift: tuple[int, int]
    mismatches: int


def recovered(
    features: Int8[np.ndarray, "c f a b"],
    glyphs: Int8[np.ndarray, "c g p q"],
    uses: Int[np.ndarray, " f"] | None = None,
) -> list[Recovered]:
    """For every generating glyph the nearest of the features, at its best shift; of several copies the one that is used
    most, where `uses` counts at how many places each stands."""
    both, shift = _overlaps(features, glyphs)
    differ = np.rint(_ink(glyphs)[:, None] + _ink(features) - 2 * both).astype(int)
    share = 0.0 if uses is None else uses / (1 + uses.sum())
    nearest = (differ - 0.5 * share).argmin(1).tolist()
    return [Recovered(f, tuple(shift[g, f].tolist()), int(differ[g, f])) for g, f in enumerate(nearest)]


__all__ = ["Recovered", "Snapshot", "advance", "align", "begin", "recovered", "snapshot"]
