"""A resumable training: a value that `advance` carries forward in compiled chunks of learning iterations."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int8

from pmpviz import keys
from pmpviz.learning.optimiser import Optimiser, gradient_norm
from pmpviz.learning.parameters import (
    Moments,
    Parameters,
    check_form,
    data_moments,
    mask_of,
    parameters_of,
    with_parameters,
)
from pmpviz.models import Ising, LayeredModel
from pmpviz.runs import compile_clock
from pmpviz.types import InputError, pytree

MAX_CHUNK = 64
MOST_CHAINS = 10_000
BUFFERS = ("gradient_norm", "weight_norm")


@dataclass(frozen=True)
class Training:
    """Learner, optimiser, data int8 [m, v] in the order of the batches, the model that gives the structure, and what
    the iterations change: parameters, the optimiser's state, the chains' phase.

    `batch` is 0 where every iteration uses all data. `moments` are the data's mean statistics where they never change
    (no hidden sites, all data at once), else None.
    """

    learner: Any
    optimiser: Optimiser
    data: Int8[np.ndarray, "m v"]
    structure: Ising
    key: jax.Array
    chains: int
    batch: int
    form: str
    mask: dict[str, np.ndarray]
    moments: Moments | None
    parameters: Parameters
    optimiser_state: Any
    phase: Any
    iteration: int = 0
    seconds: float = 0.0

    @property
    def model(self) -> Ising:
        """The model as learned so far (its arrays on the host)."""
        return jax.tree.map(np.asarray, with_parameters(self.structure, self.parameters, self.form))

    @property
    def epoch(self) -> float:
        """Passes over the data so far."""
        return self.iteration * (self.batch or len(self.data)) / len(self.data)

    @property
    def fantasies(self) -> Int8[np.ndarray, "chains n"]:
        """The chains of the last model phase."""
        return np.asarray(self.phase.x)


@dataclass(frozen=True)
class TrainingTrace:
    """Some iterations: their numbers, the gradient's root mean square, that of the weights, and seconds so far."""

    iterations: np.ndarray
    gradient_norm: np.ndarray
    weight_norm: np.ndarray
    seconds: np.ndarray
    run_seconds: float
    compile_seconds: float


def start(
    learner,
    model: Ising,
    data: Int8[np.ndarray, "m v"],
    key: jax.Array,
    optimiser: Optimiser | None = None,
    chains: int = 100,
    batch: int = 100,
    form: str = "binary",
    moments: Moments | None = None,
) -> Training:
    """Begin: the data are shuffled once, and batches follow one another through them, round and round.

    `moments`, given in `form`, are the data's mean statistics themselves instead of those of `data` (infinite data of
    a known law): the rows of `data` are then not used, and there are no batches.

    Raises InputError where the learner cannot learn the model, for data that do not fit it, and for bad numbers.
    """
    data = np.asarray(data, np.int8)
    _check(learner, model, data, chains, batch, form)
    optimiser = Optimiser() if optimiser is None else optimiser
    order = np.random.default_rng(keys.words_of(keys.role(key, keys.START))).permutation(len(data))
    batch = 0 if batch >= len(data) or moments is not None else batch
    parameters = parameters_of(model, form)
    whole = batch == 0 and not isinstance(model, LayeredModel)
    if moments is None and whole:
        moments = jax.jit(data_moments, static_argnums=2)(model, data, form)
    return Training(
        learner,
        optimiser,
        data[order],
        model,
        key,
        chains,
        batch,
        form,
        mask_of(model, form),
        moments,
        parameters,
        optimiser.init(parameters),
        _first_phase(learner, keys.role(key, keys.INIT), model, chains),
    )


@partial(jax.jit, static_argnames="chains")
def _first_phase(learner, key, model, chains):
    return learner.init(key, model, chains)


def _check(learner, model, data, chains, batch, form) -> None:
    if reason := learner.spec.why_not(model):
        raise InputError(reason)
    check_form(model, form)
    visible = model.visible if isinstance(model, LayeredModel) else model.n
    if data.ndim != 2 or data.shape[1] != visible or len(data) < 1:
        raise InputError(f"the data have shape {data.shape}; this model needs rows of {visible} sites")
    if not 1 <= chains <= MOST_CHAINS:
        raise InputError(f"{chains} chains; give from 1 to {MOST_CHAINS:,}")
    if batch < 0:
        raise InputError(f"batches of {batch}; give 0 for all data at once, or a number of rows")


@pytree(static=("batch", "form"))
class _Lesson:
    """What stays as it is from one iteration to the next."""

    learner: Any
    optimiser: Optimiser
    structure: Ising
    data: Int8[jax.Array, "m v"]
    mask: Any
    moments: Moments | None
    key: jax.Array
    batch: int
    form: str


@partial(jax.jit, donate_argnames=("carried",))
def _advance(lesson: _Lesson, carried, iteration, count):
    buffers = {name: jnp.zeros(MAX_CHUNK) for name in BUFFERS}

    def body(i, carry):
        (parameters, state, phase), buffers = carry
        own, model, rows = _situation(lesson, parameters, iteration + i)
        gradient, phase = lesson.learner.gradient(own, model, rows, lesson.moments, phase, lesson.form)
        parameters, state, row = _ascend(lesson, gradient, parameters, state)
        return (parameters, state, phase), {k: buffers[k].at[i].set(row[k]) for k in buffers}

    return jax.lax.fori_loop(0, count, body, (carried, buffers))


def _advance_on_host(lesson: _Lesson, carried, iteration, count):
    """`_advance` of a learner that asks a program on the host: one iteration after another, the rest compiled."""
    buffers = {name: np.zeros(MAX_CHUNK, np.float32) for name in BUFFERS}
    parameters, state, phase = carried
    for i in range(count):
        own, model, rows = _compiled_situation(lesson, parameters, iteration + np.int32(i))
        gradient, phase = lesson.learner.gradient(own, model, rows, lesson.moments, phase, lesson.form)
        parameters, state, row = _compiled_ascend(lesson, gradient, parameters, state)
        for name, values in buffers.items():
            values[i] = row[name]
    return (parameters, state, phase), buffers


def _situation(lesson: _Lesson, parameters, now):
    """(key, model, rows of the data) of the iteration numbered `now`."""
    data, batch = lesson.data, lesson.batch
    rows = data if batch == 0 else jnp.take(data, (now * batch + jnp.arange(batch)) % len(data), axis=0)
    own = keys.fold_in(keys.role(lesson.key, keys.STEP), now)
    return own, with_parameters(lesson.structure, parameters, lesson.form), rows


def _ascend(lesson: _Lesson, gradient, parameters, state):
    """(parameters, the optimiser's state, numbers of the trace) after one step."""
    row = {"gradient_norm": gradient_norm(gradient, lesson.mask), "weight_norm": _weight_norm(parameters)}
    return *lesson.optimiser.step(gradient, parameters, state, lesson.mask), row


_compiled_situation = jax.jit(_situation)
_compiled_ascend = jax.jit(_ascend)


def _weight_norm(parameters):
    value = parameters["theta" if "theta" in parameters else "weight"]
    return jnp.sqrt((value**2).mean())


def advance(training: Training, count: int) -> tuple[Training, TrainingTrace]:
    """`count` <= 64 learning iterations in one compiled call; the given training must not be used again.

    Those of a learner that asks a program on the host are taken one by one.
    """
    if not 0 <= count <= MAX_CHUNK:
        raise InputError(f"{count} iterations in one chunk; give at most {MAX_CHUNK}")
    compiled, begin = compile_clock.seconds(), time.perf_counter()
    forward = _advance if training.learner.spec.jit else _advance_on_host
    lesson = _Lesson(**{field.name: getattr(training, field.name) for field in dataclasses.fields(_Lesson)})
    before = training.parameters, training.optimiser_state, training.phase
    carried, buffers = forward(lesson, before, np.int32(training.iteration), np.int32(count))
    jax.block_until_ready(carried)
    compile_seconds = compile_clock.seconds() - compiled
    run_seconds = max(time.perf_counter() - begin - compile_seconds, 1e-9)
    ahead = dataclasses.replace(
        training,
        parameters=carried[0],
        optimiser_state=carried[1],
        phase=carried[2],
        iteration=training.iteration + count,
        seconds=training.seconds + run_seconds,
    )
    return ahead, _trace(training, count, buffers, run_seconds, compile_seconds)


def _trace(training: Training, count: int, buffers, run_seconds: float, compile_seconds: float) -> TrainingTrace:
    done = np.arange(1, count + 1)
    return TrainingTrace(
        training.iteration + done,
        np.asarray(buffers["gradient_norm"])[:count],
        np.asarray(buffers["weight_norm"])[:count],
        training.seconds + done / max(count, 1) * run_seconds,
        run_seconds,
        compile_seconds,
    )


def adjust(training: Training, learner=None, optimiser: Optimiser | None = None) -> Training:
    """The same training with other knobs from here on: nothing that was learned is lost, nothing recompiles unless
    the optimiser's method changes, which starts its state anew."""
    optimiser = training.optimiser if optimiser is None else optimiser
    state = training.optimiser_state
    if optimiser.method != training.optimiser.method:
        state = optimiser.init(training.parameters)
    learner = training.learner if learner is None else learner
    return dataclasses.replace(training, learner=learner, optimiser=optimiser, optimiser_state=state)


def copy(training: Training) -> Training:
    """The same training in memory of its own, which stays when the given one is advanced."""
    carried = training.parameters, training.optimiser_state, training.phase
    parameters, state, phase = jax.tree.map(lambda leaf: leaf.copy(), carried)
    return dataclasses.replace(training, parameters=parameters, optimiser_state=state, phase=phase)


def stream(training: Training, iterations: int, seconds: float = 1.0) -> Iterator[tuple[Training, TrainingTrace]]:
    """Advance until `iterations` are done, in chunks of about `seconds`; the chunks change no bit.

    Every training that comes out replaces the one before it. Raises InputError where the weights overflow.
    """
    pace = math.inf
    while training.iteration < iterations:
        count = min(MAX_CHUNK, iterations - training.iteration, max(1, int(seconds / pace)))
        training, trace = advance(training, count)
        pace = trace.run_seconds / count
        if not all(np.isfinite(value).all() for value in training.parameters.values()):
            raise InputError(
                f"the weights overflowed within {training.iteration} iterations; give a lower learning rate"
            )
        yield training, trace
