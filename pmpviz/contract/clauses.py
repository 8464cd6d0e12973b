"""The laws of one algorithm of any kind, as a list: what each says, and its trials on the models that it takes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax

from pmpviz.contract import detectors, forms, learning_detectors, said, suite, tables
from pmpviz.contract.detectors import Verdict
from pmpviz.contract.fixtures import EVERYDAY, FIXTURES, fixtures_of
from pmpviz.contract.learning_fixtures import FIXTURES as LEARNT
from pmpviz.learning.learner import SampledLearner
from pmpviz.plugins import spec_of
from pmpviz.types import brings

SEED = 20_240_601
BITS = ("six_sparse", "six_dense_clamped", "six_lattice")
OF_BITS = (
    detectors.chain_count,
    detectors.chunks,
    detectors.resumed,
    detectors.seeds,
    detectors.compiles_once,
    detectors.finite,
    detectors.clamped_stay,
    forms.brought,
)


@dataclass(frozen=True)
class Clause:
    """One law: its name, what it says, and its trials by the names of the models."""

    name: str
    words: str
    trials: tuple[tuple[str, Callable[[], Verdict]], ...]

    def judge(self) -> tuple[bool, str]:
        """(whether it holds, what was found): at the first model on which it is broken no more is tried."""
        for where, trial in self.trials:
            try:
                verdict = trial()
            except Exception as error:
                verdict = Verdict(False, found=f"{type(error).__name__}: {error}".splitlines()[0])
            if not verdict.passed:
                return False, f"{verdict.found} (on {where})" if where else verdict.found
        if not self.trials:
            return False, "there is no model that it could be tried on"
        return True, f"{len(self.trials)} models" if len(self.trials) > 1 else ""


def clauses_of(kind: str, entry: Any) -> list[Clause]:
    """The laws of an entry of the registry of this kind: sampler, learner, oracle, solver or model."""
    return list(_OF_KIND[kind](entry))


def _alone(check: Callable[[Any], Verdict], entry: Any) -> Clause:
    return Clause(_name(check), _first_line(check), (("", lambda: check(entry)),))


def _name(check: Any) -> str:
    return check.__name__.replace("_", " ")


def _first_line(check: Any) -> str:
    return (check.__doc__ or "").strip().splitlines()[0].rstrip(".")


def _over(check: Any, entry: Any, fixtures: list, words: str = "") -> Clause:
    def trial(fixture):
        key = jax.random.fold_in(jax.random.key(SEED), zlib.crc32(f"{spec_of(entry).id}-{fixture.name}".encode()))
        return lambda: check(entry(), fixture, key)

    name = _name(check)
    return Clause(name, words or _first_line(check), tuple((fixture.name, trial(fixture)) for fixture in fixtures))


def _sampler(cls: Any) -> Iterator[Clause]:
    yield from (_alone(check, cls) for check in (said.said, said.traced, said.refuses_in_a_sentence))
    try:
        checks = suite.law_checks(cls.spec)
    except AssertionError as error:
        reason = str(error)
        yield Clause("law", "A guarantee that can be tried", (("", lambda: Verdict(False, found=reason)),))
        checks = []
    for check, purpose in checks:
        yield _over(check, cls, [fixture for fixture in fixtures_of(cls, purpose) if fixture.name in EVERYDAY])
    taken = [fixture for fixture in FIXTURES if fixture.name in BITS and cls.spec.why_not(fixture.target) is None]
    for check in OF_BITS:
        yield _over(check, cls, taken)
    if forms.has_both_forms(cls):
        yield _over(forms.tile_forms, cls, taken)
    if brings(cls, "expected"):
        yield _over(forms.expected_means, cls, taken)


def _samples(cls: Any) -> bool:
    return issubclass(cls, SampledLearner) and brings(cls, "sample", SampledLearner)


def _learner(cls: Any) -> Iterator[Clause]:
    yield Clause("knobs", "The knobs are those that the spec names", (("", lambda: _verdict(said.knobs(cls))),))
    taken = [f for f in LEARNT if f.name in ("six_sparse", "srbm", "rbm") and cls.spec.why_not(f.model) is None]
    flat = [f for f in LEARNT if f.name in ("edgeless_sparse", "edgeless_srbm") and cls.spec.why_not(f.model) is None]
    d = learning_detectors
    if cls.spec.guarantee == "exact":
        yield _over(d.enumerated_gradient, cls, taken)
    elif cls.spec.guarantee == "invariant":
        yield _over(d.mean_gradient, cls, taken)
    elif _samples(cls):
        check = d.mean_after(3 if cls.spec.persistent else 1)
        check.__name__ = "exact_without_edges"
        yield _over(check, cls, flat, "Where no two variables interact the mean gradient is the enumerated one")
    for check in (d.own_samples, d.memory, d.seeds) if _samples(cls) else ():
        yield _over(check, cls, taken)
    for check in (d.chunks, d.adjusted, d.structure):
        yield _over(check, cls, taken[:1])


def _verdict(problem: str | None) -> Verdict:
    return Verdict(problem is None, found=problem or "")


def _oracle(cls: Any) -> Iterator[Clause]:
    yield Clause("knobs", "The knobs are those that the spec names", (("", lambda: _verdict(said.knobs(cls))),))
    for check in (tables.keeps_its_promise, tables.batches_as_single_problems):
        yield Clause(_name(check), _first_line(check), (("", partial(check, cls())),))


def _solver(cls: Any) -> Iterator[Clause]:
    yield Clause("knobs", "The knobs are those that the spec names", (("", lambda: _verdict(said.knobs(cls))),))
    for check in (tables.gives_distributions, tables.keeps_its_guarantee):
        yield Clause(_name(check), _first_line(check), (("", partial(check, cls())),))


def _model(builder: Any) -> Iterator[Clause]:
    yield _alone(tables.model_is_consistent, builder)


_OF_KIND: dict[str, Callable[[Any], Iterator[Clause]]] = {
    "sampler": _sampler,
    "learner": _learner,
    "oracle": _oracle,
    "solver": _solver,
    "model": _model,
}
