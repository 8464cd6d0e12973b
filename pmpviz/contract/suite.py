"""The statistical part of the suite as a list of cases, shared by the tests and by `fresh.py`."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import jax

from pmpviz.contract import detectors
from pmpviz.contract.detectors import Detector, Verdict
from pmpviz.contract.fixtures import Fixture, fixtures_of
from pmpviz.contract.maxima import local_maximum
from pmpviz.samplers import SAMPLERS
from pmpviz.types import Spec


@dataclass(frozen=True)
class Case:
    """One check of one algorithm on one fixture."""

    algorithm: Any
    fixture: Fixture
    detector: Detector

    def __str__(self) -> str:
        return f"{self.algorithm.spec.id}-{self.fixture.name}-{self.detector.__name__}"

    def run(self, seed: int) -> Verdict:
        """The verdict under a key of this seed and this case."""
        key = jax.random.fold_in(jax.random.key(seed), zlib.crc32(str(self).encode()))
        return self.detector(self.algorithm(), self.fixture, key)


def law_checks(spec: Spec) -> list[tuple[Detector, str]]:
    """(check, purpose of the fixtures) of the laws that a spec promises."""
    if spec.kind == "chain" and spec.guarantee == "invariant":
        checks = [(detectors.exact_start, "law"), (detectors.cold_start, "cold")]
        return checks + ([(detectors.symmetry, "law")] if spec.reversible else [])
    if spec.kind == "draw" and spec.guarantee == "exact":
        return [(detectors.draws_law, "law")]
    if spec.kind == "draw" and spec.guarantee == "approximate":
        best = (local_maximum, "law") if spec.finds == "local" else (detectors.tree_map, "tree")
        return [(detectors.draws_law, "edgeless"), best]
    raise AssertionError(f"no check of the law of a {spec.guarantee} {spec.kind} ({spec.id}); add one to law_checks")


def law_cases() -> list[Case]:
    """Every check of the law of every registered algorithm."""
    return [
        Case(cls, fixture, detector)
        for cls in SAMPLERS
        for detector, purpose in law_checks(cls.spec)
        for fixture in fixtures_of(cls, purpose)
    ]
