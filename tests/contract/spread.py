"""Cases of a check that go round: each algorithm has some of the fixtures every day, and together they have all."""

from __future__ import annotations

from pmpviz.contract.detectors import Detector
from pmpviz.samplers import SAMPLERS
from tests.contract import descent_mutants, gaussian_mutants  # noqa: F401  (register their own among MUTANTS)
from tests.contract.brought_mutants import MUTANTS
from tests.contract.planting import OnSpoiltTarget


def kind(name: str) -> str:
    """A fixture's name without its evidence, which is traced: the program is the same."""
    return name.removesuffix("_clamped")


def _spoilt(mutant: type) -> set[type]:
    """The registered algorithms that a bug is planted in."""
    return set(SAMPLERS).intersection([mutant.inner] if issubclass(mutant, OnSpoiltTarget) else mutant.__mro__)


def _first_of_each() -> list:
    """A bug of each check and algorithm that bugs are planted for: the others of the two are found by the same look."""
    first = {}
    for mutant in MUTANTS:
        first.setdefault((mutant.detector, frozenset(_spoilt(mutant.algorithm))), mutant)
    return list(first.values())


EVERYDAY_MUTANTS = _first_of_each()
PLANTED = {(cls, kind(m.fixture), m.detector) for m in EVERYDAY_MUTANTS for cls in _spoilt(m.algorithm)}


def has_turn(cls: type, fixture: str, check: Detector, fixtures: tuple[str, ...], every: int) -> bool:
    """Whether this one of the fixtures is the algorithm's today: where a bug of it is planted for the check, or each
    `every`-th, from another one on for each algorithm."""
    turn = (fixtures.index(fixture) + SAMPLERS.index(cls)) % every == 0
    return turn or (cls, kind(fixture), check) in PLANTED
