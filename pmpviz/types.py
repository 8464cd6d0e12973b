"""The contracts that every room of the house keeps: parameters, specs, evidence, targets, truth."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, dataclass_transform

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int8

MAX_CARDINALITY = 127


class InputError(ValueError):
    """Input that a person can mend: the message is one sentence that says what to change."""


class Refusal(InputError):
    """A computation that is not tractable on this target: the message says why, with the number found."""


@dataclass_transform(frozen_default=True)
def pytree(cls=None, *, static: tuple[str, ...] = ()):
    """Make `cls` a frozen dataclass and a JAX pytree; fields named in `static` are hashed, the others traced.

    Python scalars given for traced fields become strong-typed numpy scalars (float32, int32, bool), so that
    a new value never recompiles.
    """

    def wrap(cls):
        def harden(self):
            for f in dataclasses.fields(self):
                value = getattr(self, f.name)
                if f.name not in static and isinstance(value, (bool, int, float, np.generic)):
                    object.__setattr__(self, f.name, _strong(value))
            if after is not None:
                after(self)

        after = cls.__dict__.get("__post_init__")
        cls.__post_init__ = harden
        cls = dataclass(frozen=True, eq=False)(cls)
        traced = [f.name for f in dataclasses.fields(cls) if f.name not in static]
        return _register(cls, traced, static)

    return wrap if cls is None else wrap(cls)


def _register(cls, traced: list[str], static: tuple[str, ...]):
    """Register `cls` so that trees of two classes never compare equal.

    `jax.tree_util.register_dataclass` compares the static fields only: two classes without fields are then the same
    to `jit`, which now and then runs the program of one for the other.
    """

    def flatten(self):
        return tuple(getattr(self, name) for name in traced), tuple(getattr(self, name) for name in static)

    def flatten_with_keys(self):
        leaves, kept = flatten(self)
        return tuple(zip(map(jax.tree_util.GetAttrKey, traced), leaves, strict=True)), kept

    def unflatten(kept, leaves):
        return cls(**dict(zip(static, kept, strict=True)), **dict(zip(traced, leaves, strict=True)))

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
    return cls


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(text)
    return int(text)


def _strong(value) -> np.ndarray:
    if isinstance(value, (bool, np.bool_)):
        return np.asarray(value, np.bool_)
    if isinstance(value, (int, np.integer)):
        return np.asarray(value, np.int32)
    return np.asarray(value, np.float32)


@dataclass(frozen=True)
class Param:
    """One knob: the controls of the app, the flags of the command line and the docs are generated from it.

    `scale` is `linear`, `log`, `int`, `bool` or `choice`; a choice's value is its index into `choices`. A knob that
    `compiles` may change the shapes of the state, or bring a program of its own.
    """

    name: str
    label: str
    low: float
    high: float
    default: Any
    scale: str = "linear"
    help: str = ""
    unit: str = ""
    choices: Sequence[str] = ()
    advanced: bool = False
    compiles: bool = False

    def parse(self, text: Any) -> Any:
        """Value of this knob from text or a number; raises InputError naming the range."""
        try:
            return self.check(self._read(text))
        except (TypeError, ValueError, OverflowError, IndexError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{self.name} is {str(text)[:40]!r}; give {self.range_text()}") from None

    def _read(self, text: Any) -> Any:
        if self.scale == "bool":
            if isinstance(text, (bool, np.bool_)):
                return bool(text)
            return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(
                str(text).strip().lower(), text
            )
        if self.scale == "choice":
            word = str(text).strip()
            return word if word in self.choices else self.choices[_natural(word)]
        value = float(text)
        return int(text) if self.scale == "int" and np.isfinite(value) else value

    def check(self, value: Any) -> Any:
        """`value` itself where it is within range; raises InputError otherwise."""
        if self.scale == "bool":
            ok = isinstance(value, bool)
        elif self.scale == "choice":
            ok = value in self.choices
        else:
            ok = bool(np.isfinite(value)) and self.low <= value <= self.high
        if not ok:
            shown = "".join(letter if letter.isprintable() else "?" for letter in str(value)[:40])
            raise InputError(f"{self.name} is {shown}; give {self.range_text()}")
        return value

    def clamp(self, value: Any) -> Any:
        """Nearest value in range; the default where `value` cannot be read at all."""
        try:
            value = self._read(value)
        except (TypeError, ValueError, OverflowError, IndexError):
            return self.default
        if self.scale in ("bool", "choice"):
            return value if value in (self.choices or (True, False)) else self.default
        if not np.isfinite(float(value)):
            return self.default
        return type(value)(min(max(value, self.low), self.high))

    def range_text(self) -> str:
        """The range in words, for messages and help."""
        if self.scale == "bool":
            return "true or false"
        if self.scale == "choice":
            return "one of " + ", ".join(self.choices)
        kind = "a whole number" if self.scale == "int" else "a number"
        return f"{kind} from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Style:
    """Colour (hex), dash (`solid`, `dash`, `dot`, `dashdot`, `longdash`) and marker of an algorithm in every plot."""

    colour: str
    dash: str = "solid"
    marker: str = "circle"


@dataclass(frozen=True)
class Overlay:
    """A field over the sites that an algorithm gives, offered as a layer over the picture.

    `kind` is `labels` (discrete: equal numbers have equal colours), `sequential` (from 0 up), `diverging` (about 0), or
    `bonds`: two numbers a site of a lattice, the couplings to its neighbours on the right and below.
    """

    name: str
    kind: str = "sequential"


@dataclass(frozen=True)
class Spec:
    """What an algorithm says of itself (design: contracts).

    `kind` is `chain`, `draw` or `solver`; `guarantee` is `invariant`, `exact`, `bound` or `approximate`.
    `metrics` names the entries of `info`. `update` names the unit of the `updates` budget.
    `why_not(target)` is None or the sentence that the user reads.

    What it may say besides: `style`, without which it gets one of a spare set, always the same; `short`, its name
    where there is little room; `overlays`, the fields that `Algorithm.overlay` gives; `remedy`, what stops messages
    that oscillate; `trials`, by the name of a law the knobs under which the contract tries it, where the defaults
    would take long or do not promise it; `finds`, what an approximate draw finds under its perturbation, given sweeps
    enough: the maximum on any `tree`, or on any model a `local` one.
    """

    id: str
    label: str
    kind: str
    guarantee: str
    reversible: bool
    summary: str
    paper: str
    metrics: tuple[str, ...] = ()
    params: tuple[Param, ...] = ()
    update: str = "single-site update"
    jit: bool = True
    quanta: Callable[[Any], int] = field(default=lambda model: 1)
    updates_per_sweep: Callable[[Any], int] = field(default=lambda model: model.n)
    tile: Callable[[Any], int] = field(default=lambda model: 16)
    why_not: Callable[[Any], str | None] = field(default=lambda target: None)
    style: Style | None = None
    short: str = ""
    overlays: tuple[Overlay, ...] = ()
    remedy: str = ""
    finds: Literal["tree", "local"] = "tree"
    trials: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)


@pytree
class Evidence:
    """Clamped variables: `mask[n]` says which, `value[n]` to what. Always present, so clamping never recompiles."""

    mask: Bool[Array, " n"]
    value: Int8[Array, " n"]

    @classmethod
    def none(cls, n: int) -> Evidence:
        """Nothing clamped."""
        return cls(np.zeros(n, bool), np.zeros(n, np.int8))

    @classmethod
    def of(cls, n: int, values: Mapping[int, int]) -> Evidence:
        """Clamp the named variables; raises InputError for one that does not exist."""
        mask, value = np.zeros(n, bool), np.zeros(n, np.int8)
        for i, v in values.items():
            if not 0 <= i < n:
                raise InputError(f"evidence names variable {i}, but the model has variables 0 to {n - 1}")
            if not 0 <= v <= MAX_CARDINALITY:
                raise InputError(f"evidence gives variable {i} the value {v}; give a state from 0 on")
            mask[i], value[i] = True, v
        return cls(mask, value)

    def apply(self, x: Int8[Array, " n"]) -> Int8[Array, " n"]:
        """`x` with the clamped variables at their values."""
        return jnp.where(self.mask, self.value, x)


@pytree
class Target:
    """What is sampled: p(x) proportional to exp(beta * log_weight(x)) over the x that agree with the evidence.

    `prepared` is what the algorithm of a run has prepared of the rest (`Algorithm.prepare`); None elsewhere.
    """

    model: Any
    evidence: Evidence
    beta: Float[Array, ""]
    prepared: Any = None

    @classmethod
    def of(cls, model, evidence: Evidence | None = None, beta: float = 1.0) -> Target:
        """Target at inverse temperature `beta`, with nothing clamped unless `evidence` is given."""
        return cls(model, Evidence.none(model.n) if evidence is None else evidence, _strong(float(beta)))

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.model.n

    def log_weight(self, x: Int8[Array, " n"]) -> Float[Array, ""]:
        """beta * log_weight(x)."""
        return self.beta * self.model.log_weight(x)

    def local_field(self, x: Int8[Array, " n"]) -> Float[Array, " n"]:
        """Log-odds of x_i = 1 given the rest, at this beta, for all i (binary models)."""
        return self.beta * self.model.local_field(x)

    def conditional_logits(self, x: Int8[Array, " n"]) -> Float[Array, "n k"]:
        """log p(x_i = k given the rest) at this beta but for a constant of each i, [n, K]; any finite states.

        Mixed cardinalities are padded to the largest, K: -inf where a state does not exist (`model.space.mask`), and
        where a factor forbids it, at beta 0 too. As the local field it says of a clamped variable what the rest would
        make of it.
        """
        logits = self.model.conditional_logits(x)
        allowed = jnp.asarray(self.model.space.mask) & ~jnp.isneginf(logits)
        return jnp.where(allowed, self.beta * jnp.where(allowed, logits, 0.0), -jnp.inf)


@dataclass(frozen=True)
class Exact:
    """Ground truth in float64: `log_z`; `marginals[i][k] = p(x_i = k)`; `pair_marginals(pairs)`; `sample(seed, count)`.

    `sample` and `pair_marginals` are None where the method cannot give them. `method` says how it was computed.
    """

    log_z: float
    marginals: tuple[np.ndarray, ...] | None
    pair_marginals: Callable[[np.ndarray], np.ndarray] | None
    sample: Callable[[int, int], np.ndarray] | None
    method: str

    @property
    def p1(self) -> np.ndarray | None:
        """p(x_i = 1) of every variable: the whole marginal of one with two states, and 0 where there is only one."""
        return None if self.marginals is None else np.array([m[1] if len(m) > 1 else 0.0 for m in self.marginals])


def configured(cls, knobs: Mapping[str, Any]):
    """An algorithm of this class with its knobs read and checked; raises InputError naming those that exist."""
    known = {param.name: param for param in cls.spec.params}
    for knob in knobs:
        if knob not in known:
            raise InputError(f"{cls.spec.id} has no setting {knob[:40]!r}; it has {', '.join(known) or 'none'}")
    values = {knob: known[knob].parse(value) for knob, value in knobs.items()}
    return cls(**{k: known[k].choices.index(v) if known[k].scale == "choice" else v for k, v in values.items()})


State = Any
# Of a host algorithm arrays are numpy's, of the others JAX's.
AnyArray = Array | np.ndarray
Info = dict[str, Array]


class Algorithm:
    """Base of the samplers: a pytree of knobs, whose single-chain functions `init`, `step` and `position` define it.

    The others may be brought besides; what each does here is what holds for an algorithm that does not bring it.
    """

    spec: ClassVar[Spec]

    def init(self, key: Array, target: Target, x0: Int8[Array, " n"]) -> State:
        """State of one chain that starts at x0; of a chain that is compiled also what it goes on from, with its present
        configuration as x0, when the target or a knob changes (`runs.run.retarget`)."""
        raise NotImplementedError

    def step(self, key: Array, target: Target, state: State) -> tuple[State, Info]:
        """One quantum of one chain, and the numbers that `spec.metrics` names."""
        raise NotImplementedError

    def position(self, target: Target, state: State) -> Int8[AnyArray, " n"]:
        """The configuration to show and to count."""
        raise NotImplementedError

    def prepare(self, target: Target) -> Any:
        """Arrays computed once a target, outside the sweep: all other functions find them as `target.prepared`.

        Their shapes depend on sizes and topology alone, so that new weights compile nothing.
        """
        return None

    # A tile of chains, in a layout of the algorithm's own: the same law and the same numbers as the functions above.

    def init_tile(self, keys: Array, target: Target, x0: Int8[Array, "t n"]) -> State:
        """State of a tile of chains."""
        return jax.vmap(self.init, in_axes=(0, None, 0))(keys, target, x0)

    def step_tile(self, keys: Array, target: Target, state: State) -> tuple[State, Info]:
        """One quantum of a tile."""
        return jax.vmap(self.step, in_axes=(0, None, 0))(keys, target, state)

    def position_tile(self, target: Target, state: State) -> Int8[AnyArray, "t n"]:
        """The configurations of a tile."""
        return jax.vmap(self.position, in_axes=(None, 0))(target, state)

    def counted_tile(self, target: Target, state: State) -> Int8[AnyArray, "t n"]:
        """The configurations that statistics count: those shown, unless a draw is still being made."""
        return self.position_tile(target, state)

    def expected(self, target: Target, state: State) -> Float[AnyArray, " n ..."]:
        """Of one chain, p(x_i = 1 | what else the state holds), or [n, K] of more than two states (Rao and Blackwell).

        Averaged over a run it estimates the marginals with less noise than the configurations do. A clamped variable
        has its value.
        """
        raise NotImplementedError

    def expected_tile(self, target: Target, state: State) -> Float[AnyArray, "t n ..."]:
        """`expected` of a tile; of an algorithm that brings none the configurations that count, as 0 and 1."""
        if brings(self, "expected") and not brings(self, "step_tile"):
            return jax.vmap(self.expected, in_axes=(None, 0))(target, state)
        return target.model.space.indicator(self.counted_tile(target, state))

    def fingerprint(self, state: State) -> Float[Array, " 4"] | None:
        """Four numbers of a tile's first chain that repeat exactly when its messages do; None without messages."""
        return None

    # Of the state of a whole run, whose leaves have an axis of tiles in front; on the host, where it compiles nothing.

    def draws_done(self, state: State) -> int | None:
        """Of a `draw`: the draws that each chain has completed since `begin_anew`; None says: one a sweep."""
        return None

    def draw_sweeps(self) -> int:
        """Of a `draw`: the sweeps that one takes."""
        return 1

    def begin_anew(self, state: State) -> State:
        """Of a draw or an algorithm on the host, the state under a new target or new knobs: no draw begun under the old
        ones counts. A compiled chain is begun again by `init` instead."""
        return state

    # Of the state of one chain; of a tile of chains, of which the first counts, where the algorithm has tile forms.

    def overlay(self, target: Target, state: State, name: str) -> AnyArray:
        """The field [n] over the sites that `spec.overlays` calls by this name."""
        raise NotImplementedError(name)

    def heard(self, target: Target, state: State, site: int) -> tuple[tuple[int, float], ...]:
        """(other site, log-ratio of what it says to this one), the largest first."""
        return ()

    def equation(self, target: Target) -> str:
        """What one update computes, in KaTeX, with the numbers of these knobs and this target."""
        return r"x \sim p(x)"


def brings(algorithm: Any, name: str, base: type = Algorithm) -> bool:
    """Whether an algorithm (or its class) has a form of its own of an optional function of the base."""
    cls = algorithm if isinstance(algorithm, type) else type(algorithm)
    return getattr(cls, name) is not getattr(base, name)
