"""Hamiltonian Monte Carlo on a Gaussian relaxation (Zhang, Sutton, Storkey and Ghahramani 2012)."""

from __future__ import annotations

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Int8

from pmpviz import keys, numerals
from pmpviz.models.gaussian import MAPS, SHIFTS, Relaxation, StateRelaxation, ThreeLayers, relax
from pmpviz.models.gaussian.maps import MOST_DENSE
from pmpviz.models.ising import Ising
from pmpviz.samplers import _gaussian
from pmpviz.samplers._gaussian import VARIABLES, draw_variables
from pmpviz.types import Algorithm, Info, Param, Refusal, Spec, Style, Target, pytree

COORDINATES = ("whitened", "A = I")
# Layers are one vector here: the Gaussians of all couplings.
OWN_MAPS = tuple(name for name in MAPS if name != "layers")
# The lengths of trajectories are one sequence for all chains, so that those of a tile end together.
LENGTHS = np.array([0x5EED, 0x1E57], np.uint32)
LARGEST_ERROR = 1e6
WARM_CHAINS, GOAL = 16, 0.8
# Of dual averaging: how strongly, after how many trajectories' worth of caution, and how fast old steps are forgotten.
GAMMA, T0, KAPPA = 0.05, 10.0, 0.75
MOST_FACTOR = 8.0

SPEC = Spec(
    id="gaussian_hmc",
    label="Hamiltonian Monte Carlo",
    kind="chain",
    guarantee="invariant",
    reversible=True,
    summary="Sums the variables away, lets a ball roll over the landscape of Gaussians that is left, and draws all "
    "variables where it stops.",
    paper="Zhang, Sutton, Storkey and Ghahramani 2012; Neal 2011",
    metrics=("acceptance", "energy_error"),
    update="trajectory",
    updates_per_sweep=lambda model: 1,
    params=(
        _gaussian.map_param(
            OWN_MAPS,
            "How the couplings become Gaussians. auto: one Gaussian an edge where few variables interact, the "
            "eigenvectors elsewhere and for A = I.",
        ),
        _gaussian.SHIFT,
        _gaussian.eps(0.1),
        Param(
            "coordinates",
            "Coordinates",
            0,
            0,
            "whitened",
            "choice",
            "The mass of the ball. whitened: that of the Gaussians z; A = I: that of the fields B z, the paper's, "
            "whose steps the least eigenvalue of W + D limits.",
            choices=COORDINATES,
            compiles=True,
        ),
        Param(
            "step_size",
            "Step",
            0.05,
            2.0,
            1.0,
            help="Leapfrog step in units of m^(-1/4), m the number of Gaussians; for A = I times the square root of "
            "the least eigenvalue of W + D. At 1 more than 85 % are accepted, whatever the model.",
        ),
        Param(
            "leapfrog_steps",
            "Leapfrog steps",
            1,
            64,
            5,
            "int",
            "L: a trajectory has 1 to 2 L - 1 steps, all as likely, lest it turn back to where it began every time.",
        ),
        Param(
            "warm_up",
            "Warm-up",
            0,
            1000,
            0,
            "int",
            "Trajectories by which the step is tuned, once a target and before the run, to an acceptance of 80 %; then "
            "it is frozen. 0: it is as given.",
            compiles=True,
        ),
    ),
    tile=lambda model: 64,
    why_not=lambda target: _gaussian.needs_pairs("Hamiltonian Monte Carlo", target),
    style=Style("#E69F00", "solid", "diamond"),
    short="HMC",
    overlays=(_gaussian.FIELD,),
)


@pytree
class Landscape:
    """The relaxation, and each coordinate's step at the knob's 1, `unit[m]`."""

    relaxation: Relaxation | StateRelaxation
    unit: Float[Array, " m"]


@pytree
class HmcState:
    """One tile, and how many trajectories it has made."""

    x: Int8[Array, "n t"]
    z: Float[Array, "m t"]
    count: Int[Array, ""]


@pytree
class GaussianHMC(Algorithm):
    """H(z, p) = z'z / 2 - sum_i softplus((B z)_i + c_i) + p'p / 2: leapfrog steps, accepted with min(1, exp(-dH)).

    With -Hessian = I - B'CB <= I the leapfrog limit is 2 for every model in whitened coordinates. A = I is the same
    with a step for each coordinate of the eigenvectors, in proportion to lambda^(-1/2). Then s ~ p(s | z).
    """

    map: int = 0
    shift: int = 0
    eps: float = 0.1
    coordinates: int = 0
    step_size: float = 1.0
    leapfrog_steps: int = 5
    warm_up: int = 0
    spec = SPEC

    def prepare(self, target: Target) -> Landscape:
        """The relaxation and its steps; raises Refusal where the map does not fit the model or the coordinates."""
        plain = COORDINATES[int(self.coordinates)] == "A = I"
        form = _form(target, OWN_MAPS[int(self.map)], plain)
        relaxation = relax(target, form, SHIFTS[int(self.shift)], float(self.eps))
        assert not isinstance(relaxation, ThreeLayers)
        landscape = landscape_of(relaxation, plain)
        if not int(self.warm_up):
            return landscape
        return dataclasses.replace(landscape, unit=warmed_up(self, target, landscape))

    def init_tile(self, keys: Array, target: Target, x0: Int8[Array, "t n"]) -> HmcState:
        """Start at x0 with the clamped sites at their values, and draw the Gaussians."""
        state = _gaussian.begin(keys, target, target.prepared.relaxation, x0)
        return HmcState(state.x, state.z, jnp.int32(0))

    def step_tile(self, keys: Array, target: Target, state: HmcState) -> tuple[HmcState, Info]:
        """One trajectory, then the variables where it ends."""
        z, field, error = _trajectory(self, keys, target, state)
        x = draw_variables(keys, target, target.prepared.relaxation, field)
        info = {"acceptance": jnp.exp(-jnp.maximum(error, 0.0)), "energy_error": jnp.abs(error)}
        return HmcState(x, z, state.count + 1), info

    def position_tile(self, target: Target, state: HmcState) -> Int8[Array, "t n"]:
        """The chains' configurations."""
        return state.x.T

    def init(self, key: Array, target: Target, x0: Int8[Array, " n"]) -> HmcState:
        """Single-chain form: a tile of one."""
        return self.init_tile(key[None], target, x0[None])

    def step(self, key: Array, target: Target, state: HmcState) -> tuple[HmcState, Info]:
        """Single-chain form of `step_tile`."""
        state, info = self.step_tile(key[None], target, state)
        return state, {name: value[0] for name, value in info.items()}

    def position(self, target: Target, state: HmcState) -> Int8[Array, " n"]:
        """Single-chain form of `position_tile`."""
        return self.position_tile(target, state)[0]

    def expected(self, target: Target, state: HmcState) -> Float[Array, " n"]:
        """Single-chain form of `expected_tile`."""
        return self.expected_tile(target, state)[0]

    def expected_tile(self, target: Target, state: HmcState) -> Float[Array, "t n"]:
        """p(s_i = 1 | z)."""
        relaxation = target.prepared.relaxation
        return relaxation.by_chains(relaxation.mean(target.evidence, relaxation.field(state.z)))

    def overlay(self, target: Target, state: HmcState, name: str) -> Float[Array, " n"]:
        """The log-odds of every variable given the Gaussians, of state 1 against 0."""
        relaxation = target.prepared.relaxation
        return relaxation.shown(relaxation.field(state.z))[:, 0]

    def equation(self, target: Target) -> str:
        """The energy, and what accepts a trajectory."""
        steps = numerals.katex(float(self.leapfrog_steps))
        beta = numerals.katex(float(target.beta))
        return (
            r"H(z, p) = \tfrac12 z^\top z - \textstyle\sum_i \log\big(1 + e^{(Bz)_i + a_i - d_i/2}\big) "
            rf"+ \tfrac12 p^\top p,\quad B B^\top = {beta}\,W + D,\quad "
            rf"\alpha = \min(1, e^{{-\Delta H}}),\quad L = {steps}"
        )


def landscape_of(relaxation: Relaxation | StateRelaxation, plain: bool) -> Landscape:
    """The relaxation with the steps of whitened coordinates or, `plain`, of A = I: those in proportion to 1 / root."""
    root = np.asarray(relaxation.root, np.float64)
    scale = np.where(root > 0, root.min(initial=np.inf) / np.where(root > 0, root, 1.0), 1.0)
    unit = (scale if plain else np.ones(len(root))) * max(relaxation.m, 1) ** -0.25
    return Landscape(relaxation, unit.astype(np.float32))


def _form(target: Target, form: str, plain: bool) -> str:
    """The map of the whole model; raises Refusal where it is not that of the eigenvectors and A = I asks for them."""
    if plain:
        if form not in ("auto", "eigen"):
            raise Refusal("A = I moves along the eigenvectors of W + D; choose the map auto or eigen with it")
        return "eigen"
    if form != "auto":
        return form
    if not isinstance(target.model, Ising):
        return "auto"
    lists = target.model.couplings.form == "lists"
    return "edges" if lists or (hasattr(target.model, "visible") and target.n > MOST_DENSE) else "eigen"


def _length(steps: Int[Array, ""], count: Int[Array, ""]) -> Int[Array, ""]:
    """Uniform on 1, ..., 2 L - 1, by the trajectory's number."""
    u = keys.uniform_at(jax.random.wrap_key_data(jnp.asarray(LENGTHS)), count)
    return 1 + jnp.floor(u * (2 * steps - 1)).astype(jnp.int32)


def _trajectory(algorithm: GaussianHMC, chain_keys: Array, target: Target, state: HmcState):
    """(z, field, dH) after one trajectory: where it is refused, of where it began, with the dH that refused it."""
    relaxation, evidence = target.prepared.relaxation, target.evidence
    step = (algorithm.step_size * target.prepared.unit)[:, None]
    steps = _length(algorithm.leapfrog_steps, state.count)
    force = partial(_force, target)

    def leap(i, carry):
        z, p, field = carry
        z = z + step * p
        field = relaxation.field(z)
        # The last kick is half of one, as the first was.
        p = p + jnp.where(i == steps - 1, 0.5, 1.0) * step * force(z, field)
        return z, p, field

    p0, field0 = keys.normal_at(chain_keys, relaxation.m), relaxation.field(state.z)
    kicked = p0 + 0.5 * step * force(state.z, field0)
    z, p, field = jax.lax.fori_loop(0, steps, leap, (state.z, kicked, field0))
    # Term by term, so that what does not change leaves no rounding.
    kinetic = 0.5 * ((p - p0) * (p + p0) + (z - state.z) * (z + state.z)).sum(0)
    error = kinetic - (relaxation.summed(evidence, field) - relaxation.summed(evidence, field0)).sum(0)
    error = jnp.clip(jnp.where(jnp.isnan(error), LARGEST_ERROR, error), -LARGEST_ERROR, LARGEST_ERROR)
    accept = _accepted(_decider(chain_keys), error)
    return jnp.where(accept, z, state.z), jnp.where(accept, field, field0), error


def _force(target: Target, z: Float[Array, "m t"], field: Float[Array, "n t"]) -> Float[Array, "m t"]:
    """-grad of the potential: B' E[s | z] - z."""
    relaxation = target.prepared.relaxation
    return relaxation.map.back(relaxation.mean(target.evidence, field)) - z


@pytree
class Trace:
    """A trajectory step by step: places z, momenta p and energies H at its start and after each leapfrog step.

    It has `steps` of them, and rows up to the longest that there may be. It is accepted where its energy ends less than
    `line` above where it began: an exponential number of mean 1.
    """

    z: Float[Array, "k m t"]
    p: Float[Array, "k m t"]
    energy: Float[Array, "k t"]
    line: Float[Array, " t"]
    steps: Int[Array, ""]


def traced(algorithm: GaussianHMC, chain_keys: Array, target: Target, state: HmcState, longest: int) -> Trace:
    """The trajectory that `step_tile` makes with these keys from this state, told in `longest` leapfrog steps.

    Whether it is accepted, and what is drawn where it ends, `step_tile` says.
    """
    relaxation = target.prepared.relaxation
    step = (algorithm.step_size * target.prepared.unit)[:, None]
    force = partial(_force, target)

    def leap(carry, _):
        z, p, field = carry
        p = p + 0.5 * step * force(z, field)
        z = z + step * p
        field = relaxation.field(z)
        p = p + 0.5 * step * force(z, field)
        return (z, p, field), (z, p, field)

    start = state.z, keys.normal_at(chain_keys, relaxation.m), relaxation.field(state.z)
    after = jax.lax.scan(leap, start, length=longest)[1]
    z, p, field = (jnp.concatenate([first[None], rest]) for first, rest in zip(start, after, strict=True))
    wells = jax.vmap(lambda one: relaxation.summed(target.evidence, one).sum(0))(field)
    energy = 0.5 * (z * z + p * p).sum(1) - wells
    line = -jnp.log(_decider(chain_keys))
    return Trace(z, p, energy, line, _length(algorithm.leapfrog_steps, state.count))


def _decider(chain_keys: Array) -> Float[Array, " t"]:
    """The number that decides whether a trajectory is accepted."""
    return keys.uniform_at(chain_keys, jnp.uint32(VARIABLES - 1))


def _accepted(u: Float[Array, " t"], error: Float[Array, " t"]):
    """Whether each chain goes where its trajectory ends: with probability min(1, exp(-dH))."""
    return jnp.log(u) < -error


def warmed_up(algorithm: GaussianHMC, target: Target, landscape: Landscape) -> Float[np.ndarray, " m"]:
    """`unit` times the factor that dual averaging finds for an acceptance of 80 % (Hoffman and Gelman 2014, 3.2).

    The mean acceptance of 16 chains of their own decides, under a key of its own: the result is a function of the
    target and the knobs, so that a run under it is one of a fixed step.
    """
    words = keys.fold_words(LENGTHS, np.arange(WARM_CHAINS))
    x0 = np.asarray(target.model.space.random_start(words))
    alone = dataclasses.replace(target, prepared=landscape)
    factor = _dual_averaging(algorithm, alone, words, x0, np.int32(algorithm.warm_up))
    return (np.asarray(landscape.unit) * float(factor)).astype(np.float32)


@jax.jit
def _dual_averaging(algorithm, target, words, x0, sweeps) -> Float[Array, ""]:
    chain_keys = jax.random.wrap_key_data(words)

    def body(i, carry):
        state, log, mean_log, lack = carry
        t = i.astype(jnp.float32) + 1.0
        own = dataclasses.replace(algorithm, step_size=algorithm.step_size * jnp.exp(log))
        state, info = own.step_tile(keys.fold_in(chain_keys, i), target, state)
        lack = lack + (GOAL - info["acceptance"].mean() - lack) / (t + T0)
        log = jnp.clip(-jnp.sqrt(t) / GAMMA * lack, -jnp.log(1e3), jnp.log(MOST_FACTOR))
        share = t**-KAPPA
        return state, log, share * log + (1.0 - share) * mean_log, lack

    start = algorithm.init_tile(chain_keys, target, x0)
    zero = jnp.float32(0.0)
    return jnp.exp(jax.lax.fori_loop(0, sweeps, body, (start, zero, zero, zero))[2])
