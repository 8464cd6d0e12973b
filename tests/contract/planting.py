"""What planted bugs are made of: a registry with each bug's detector, and ways to spoil a real sampler."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass

from pmpviz.contract.detectors import Detector, Verdict
from pmpviz.contract.fixtures import BY_NAME
from pmpviz.samplers.gibbs import Gibbs
from pmpviz.types import Algorithm, Target, pytree


@dataclass(frozen=True)
class Mutant:
    """A bugged algorithm and the check that catches it on a fixture."""

    algorithm: type
    detector: Detector
    fixture: str

    def __str__(self) -> str:
        return self.algorithm.__name__

    def run(self, key) -> Verdict:
        """What the named detector says of it."""
        return self.detector(self.algorithm(), BY_NAME[self.fixture], key)


MUTANTS: list[Mutant] = []


def caught_by(detector: Detector, fixture: str) -> Callable[[type], type]:
    """Register a bugged algorithm with its detector."""

    def register(cls: type) -> type:
        cls = pytree(cls)
        MUTANTS.append(Mutant(cls, detector, fixture))
        return cls

    return register


class OnSpoiltTarget(Algorithm):
    """A real sampler, single-chain form, whose steps see `spoil(target)` in place of the target."""

    inner: type = Gibbs
    spec = Gibbs.spec

    def spoil(self, target: Target) -> Target:
        return target

    def init(self, key, target, x0):
        return self.inner().init(key, target, x0)

    def step(self, key, target, state):
        return self.inner().step(key, self.spoil(target), state)

    def position(self, target, state):
        return self.inner().position(target, state)


def with_model(target: Target, **changes) -> Target:
    """The target with fields of its model replaced."""
    return dataclasses.replace(target, model=dataclasses.replace(target.model, **changes))


@contextmanager
def patched(module, **functions):
    """Functions of a module replaced while a step is traced."""
    real = {name: getattr(module, name) for name in functions}
    for name, function in functions.items():
        setattr(module, name, functools.partial(function, real[name]))
    try:
        yield
    finally:
        for name, function in real.items():
            setattr(module, name, function)
