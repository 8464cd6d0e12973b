"""Maximum likelihood by sampling: learners, one class each; adding one is a class and a line here."""

from __future__ import annotations

from typing import Any

from pmpviz.learning.chain_learners import DescentLearner, GibbsResetLearner, GwgLearner, GwgResetLearner, PcdLearner
from pmpviz.learning.direct import ExactLearner, PseudoLikelihoodLearner
from pmpviz.learning.learner import LearnerSpec
from pmpviz.learning.linear_program import PerturbLpLearner
from pmpviz.learning.pmp import PersistentPmpLearner, PmpLearner
from pmpviz.plugins import Registry
from pmpviz.types import InputError, configured

LEARNERS: Registry[Any] = Registry(
    "pmpviz.learners",
    (
        PmpLearner,
        PersistentPmpLearner,
        GibbsResetLearner,
        PcdLearner,
        GwgResetLearner,
        GwgLearner,
        DescentLearner,
        PerturbLpLearner,
        PseudoLikelihoodLearner,
        ExactLearner,
    ),
    lambda thing: isinstance(thing, type) and isinstance(getattr(thing, "spec", None), LearnerSpec),
)


def learner_class(name: str):
    """The learner registered under `name`; raises InputError naming the choices."""
    for cls in LEARNERS:
        if cls.spec.id == name:
            return cls
    names = ", ".join(cls.spec.id for cls in LEARNERS)
    raise InputError(f"there is no learner {name[:40]!r}; choose one of {names}")


def make_learner(name: str, **knobs):
    """A learner with its knobs checked against their ranges; unknown knobs raise InputError naming the known ones."""
    return configured(learner_class(name), knobs)
