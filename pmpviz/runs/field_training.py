"""Maximum likelihood of log-linear fields that share their parameters: a value that `advance` carries forward.

Of m examples, each a graph with what was observed in it, and N variables in all,

    L(theta) = 1/N sum_i [theta . phi_i(x_i) - log Z_i(theta)] - l2 / 2 |theta|^2,
    dL / dtheta = 1/N sum_i [phi_i(x_i) - E phi_i] - l2 theta

is concave. The expectations are exact, those of samples, or those of marginals that go with a bound on log Z
(Barrier Frank-Wolfe's: then it is the bound on the likelihood that rises).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pmpviz import keys
from pmpviz.learning.optimiser import Optimiser
from pmpviz.marginals.shared import SharedPotentials
from pmpviz.models.log_linear import LogLinear
from pmpviz.runs.field_expectations import Expectation, Expected
from pmpviz.types import InputError, Refusal


@dataclass(frozen=True, eq=False)
class Example:
    """A graph with the configuration that was observed in it, its statistics, and what of its weight is not learned."""

    shared: SharedPotentials
    x: Int[np.ndarray, " n"]
    statistics: Float[np.ndarray, " p"]
    base: float

    @classmethod
    def of(cls, field: LogLinear, x: Int[np.ndarray, " n"]) -> Example:
        """Raises InputError for a configuration that is none of the graph's, or that it forbids."""
        x = field.check_states(x)
        return cls(SharedPotentials.of(field), x, field.statistics(x), field.base_weight(x))


@dataclass(frozen=True, eq=False)
class Measured:
    """One moment: parameters, gradient with the standard error that samples leave it, and per variable the mean
    log-likelihood, as the method estimates it (exact where the method is) between bounds that hold; None: unknown."""

    iteration: int
    theta: Float[np.ndarray, " p"]
    gradient: Float[np.ndarray, " p"]
    error: Float[np.ndarray, " p"]
    log_likelihood: float | None
    lower: float | None
    upper: float | None
    seconds: float


@dataclass(frozen=True, eq=False)
class FieldTraining:
    """Examples, method, step rule, and what iterations change. Iteration t steps by rate / (1 + decay t).

    `free` says which parameters are learned. `expected` is what the last iteration found of every example.
    """

    examples: tuple[Example, ...]
    method: Expectation
    optimiser: Optimiser
    key: Array
    decay: float
    free: Bool[np.ndarray, " p"]
    theta: Float[np.ndarray, " p"]
    optimiser_state: Any
    expected: tuple[Expected, ...] = ()
    trace: tuple[Measured, ...] = ()

    @property
    def iteration(self) -> int:
        """Number of iterations made."""
        return len(self.trace)

    @property
    def names(self) -> tuple[str, ...]:
        """What the parameters are called."""
        return self.examples[0].shared.field.names

    @property
    def averaged(self) -> Float[np.ndarray, " p"]:
        """The mean of the parameters over the later half of the iterations (Polyak and Juditsky 1992): the noise of
        samples averages out."""
        late = [each.theta for each in self.trace[len(self.trace) // 2 :]]
        return np.mean([*late, self.theta], 0)


def start(
    examples: Sequence[Example],
    method: Expectation,
    key: Array,
    optimiser: Optimiser | None = None,
    theta: Float[np.ndarray, " p"] | None = None,
    decay: float = 0.0,
    free: Sequence[bool] | None = None,
) -> FieldTraining:
    """Begin at `theta` (0 where None).

    Raises InputError without examples, where they do not share their parameters, and for a bad decay or choice of what
    is free; Refusal with the reason where the method cannot be had for one of them.
    """
    if not examples:
        raise InputError("there is nothing to learn from; give at least one example")
    field = examples[0].shared.field
    if any(each.shared.field.names != field.names for each in examples):
        raise InputError("all examples must share the parameters " + ", ".join(field.names))
    if not (np.isfinite(decay) and decay >= 0):
        raise InputError(f"a decay of {decay:g}; give 0, or a positive number")
    may = np.ones(field.size, bool) if free is None else np.asarray(free, bool)
    if may.shape != (field.size,):
        raise InputError(f"say of each of the {field.size} parameters whether it is learned: {', '.join(field.names)}")
    for place, each in enumerate(examples):
        if reason := method.why_not(each.shared):
            raise Refusal(f"example {place + 1} of {len(examples)}: {reason}")
    optimiser = optimiser or Optimiser(learning_rate=jnp.float32(0.05))
    begun = field.check(np.zeros(field.size) if theta is None else theta)
    state = optimiser.init({"weight": jnp.asarray(begun, jnp.float32)})
    return FieldTraining(tuple(examples), method, optimiser, key, float(decay), may, begun, state)


def advance(training: FieldTraining) -> FieldTraining:
    """One iteration: expectations at the parameters of the moment, from where they were, and a step.

    Raises InputError where the parameters overflow.
    """
    begin, t = time.perf_counter(), training.iteration
    own = keys.fold_in(keys.role(training.key, keys.STEP), np.int32(t))
    before = training.expected or (None,) * len(training.examples)
    expected = tuple(
        training.method.of(each.shared, training.theta, keys.fold_in(own, np.int32(k)), last and last.state)
        for k, (each, last) in enumerate(zip(training.examples, before, strict=True))
    )
    theta, state = _stepped(training, expected)
    seconds = time.perf_counter() - begin + (training.trace[-1].seconds if training.trace else 0.0)
    record = measured(training.examples, training.theta, expected, t, seconds)
    return replace(training, theta=theta, optimiser_state=state, expected=expected, trace=(*training.trace, record))


def stepped_again(before: FieldTraining, training: FieldTraining, optimiser: Optimiser, decay: float) -> FieldTraining:
    """Under another rule from here on, by which the last step, from `before` to `training`, is made again out of what
    was found there: that step has not been looked at yet.

    Raises InputError where the parameters overflow.
    """
    theta, state = _stepped(replace(before, optimiser=optimiser, decay=decay), training.expected)
    return replace(training, optimiser=optimiser, decay=decay, theta=theta, optimiser_state=state)


def stream(training: FieldTraining, iterations: int) -> Iterator[FieldTraining]:
    """Every training until so many iterations are done."""
    while training.iteration < iterations:
        training = advance(training)
        yield training


def gradient_of(examples: Sequence[Example], expected: Sequence[Expected]) -> Float[np.ndarray, " p"]:
    """1/N sum_i [phi_i(x_i) - E phi_i], the penalty apart."""
    rise = sum(each.statistics - found.statistics for each, found in zip(examples, expected, strict=True))
    return rise / _variables(examples)


def measured(
    examples: Sequence[Example],
    theta: Float[np.ndarray, " p"],
    expected: Sequence[Expected],
    iteration: int = 0,
    seconds: float = 0.0,
) -> Measured:
    """What expectations at some parameters say of the likelihood: a bound on log Z from above bounds it from below."""
    weight = sum(float(theta @ each.statistics) + each.base for each in examples)
    count = _variables(examples)

    def mean(name: str) -> float | None:
        values = [getattr(each, name) for each in expected]
        known = [float(value) for value in values if value is not None]
        return None if len(known) < len(values) else (weight - sum(known)) / count

    error = np.sqrt(sum(each.error**2 for each in expected)) / count
    gradient = gradient_of(examples, expected)
    return Measured(iteration, theta, gradient, error, mean("log_z"), mean("bound"), mean("lower"), seconds)


def evaluate(
    examples: Sequence[Example],
    theta: Float[np.ndarray, " p"],
    method: Expectation,
    key: Array,
    before: Sequence[Expected] | None = None,
) -> tuple[Measured, tuple[Expected, ...]]:
    """The same on examples that need not have been learned from, going on from `before` where it is given."""
    states = [None] * len(examples) if before is None else [each.state for each in before]
    expected = tuple(
        method.of(each.shared, theta, keys.fold_in(key, np.int32(k)), state)
        for k, (each, state) in enumerate(zip(examples, states, strict=True))
    )
    return measured(examples, theta, expected), expected


def _variables(examples: Sequence[Example]) -> int:
    return sum(each.shared.field.n for each in examples)


def _stepped(training: FieldTraining, expected: Sequence[Expected]) -> tuple[np.ndarray, Any]:
    """(parameters, state of the rule) after a step by these expectations."""
    scale, gradient = 1.0 / (1.0 + training.decay * training.iteration), gradient_of(training.examples, expected)
    optimiser = replace(training.optimiser, learning_rate=training.optimiser.learning_rate * np.float32(scale))
    theta, state = _step(optimiser, gradient, training.theta, training.optimiser_state, training.free)
    if not np.isfinite(theta).all():
        raise InputError(f"the parameters overflowed at iteration {training.iteration + 1}; give a lower learning rate")
    return theta, state


@jax.jit
def _compiled_step(optimiser, gradient, theta, state, free):
    moved, state = optimiser.step({"weight": gradient}, {"weight": theta}, state, {"weight": free})
    return moved["weight"] - theta, state


def _step(optimiser: Optimiser, gradient, theta, state, free) -> tuple[np.ndarray, Any]:
    """The step is worked out in float32, the parameters are kept in float64."""
    moved, state = _compiled_step(optimiser, np.float32(gradient), np.float32(theta), state, free)
    return theta + np.asarray(moved, np.float64), state


__all__ = [
    "Example",
    "FieldTraining",
    "Measured",
    "advance",
    "evaluate",
    "gradient_of",
    "measured",
    "start",
    "stepped_again",
    "stream",
]
