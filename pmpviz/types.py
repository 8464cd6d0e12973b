"""The contracts that every room of the house keeps: parameters, specs, evidence, targets, truth."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, dataclass_transform, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8

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

    `scale` is `linear`, `log`, `int`, `bool` or `choice`; a choice's value is its index into `choices`.
    """

    name: str
    label: str
    low: float
    high: float
    default: Any
    scale: str = "linear"
    help: str = ""
    unit: str = ""
    choices: tuple[str, ...] = ()
    advanced: bool = False

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
class Spec:
    """What an algorithm says of itself (design: contracts).

    `kind` is `chain`, `draw` or `solver`; `guarantee` is `invariant`, `exact`, `bound` or `approximate`.
    `metrics` names the entries of `info`. `update` names the unit of the `updates` budget.
    `why_not(target)` is None or the sentence that the user reads.
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
    """What is sampled: p(x) proportional to exp(beta * log_weight(x)) over the x that agree with the evidence."""

    model: Any
    evidence: Evidence
    beta: Float[Array, ""]

    @classmethod
    def of(cls, model, evidence: Evidence | None = None, beta: float = 1.0) -> Target:
        """Target at inverse temperature `beta`, with nothing clamped unless `evidence` is given."""
        return cls(model, Evidence.none(model.n) if evidence is None else evidence, _strong(float(beta)))

    @property
    def n(self) -> int:
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
Info = dict[str, Array]


@runtime_checkable
class Algorithm(Protocol):
    """A pytree of knobs. The single-chain functions define what the algorithm means.

    Optional batched forms, with a leading or any other layout of the chains of one tile, must give the same law
    and the same numbers: `init_tile(keys, target, x0)`, `step_tile(keys, target, state)`,
    `position_tile(target, state)`; optional `counted(target, state)` is the configuration that statistics count
    where it differs from the one shown.
    """

    spec: Spec

    def init(self, key: Array, target: Target, x0: Int8[Array, " n"]) -> State: ...

    def step(self, key: Array, target: Target, state: State) -> tuple[State, Info]: ...

    def position(self, target: Target, state: State) -> Int[Array, " n"]: ...
