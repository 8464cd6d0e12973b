"""Marginal inference: one file an algorithm; adding one is a file and a line here."""

from __future__ import annotations

from pmpviz.marginals.barrier_frank_wolfe import BarrierFrankWolfe
from pmpviz.marginals.belief_propagation import BeliefPropagation, TreeReweightedBeliefPropagation
from pmpviz.marginals.chib import Chib
from pmpviz.marginals.exact_solver import ExactMarginals
from pmpviz.marginals.gaussian_log_z import GaussianLogZ
from pmpviz.marginals.inflated_maxima import InflatedMaxima
from pmpviz.marginals.perturbation_solvers import ExpectedMaxima, PerturbAndMap
from pmpviz.marginals.solver import Answer, Inferred, MarginalSolver, infer, stream
from pmpviz.plugins import Registry
from pmpviz.types import InputError, configured

SOLVERS: Registry[type[MarginalSolver]] = Registry(
    "pmpviz.solvers",
    (
        BarrierFrankWolfe,
        TreeReweightedBeliefPropagation,
        BeliefPropagation,
        PerturbAndMap,
        ExpectedMaxima,
        InflatedMaxima,
        GaussianLogZ,
        Chib,
        ExactMarginals,
    ),
    lambda thing: isinstance(thing, type) and issubclass(thing, MarginalSolver),
)


def solver_class(name: str) -> type[MarginalSolver]:
    """The algorithm registered under `name`; raises InputError naming the choices."""
    for cls in SOLVERS:
        if cls.spec.id == name:
            return cls
    names = ", ".join(cls.spec.id for cls in SOLVERS)
    raise InputError(f"there is no algorithm {name[:40]!r} for marginals; choose one of {names}")


def make_solver(name: str, **knobs) -> MarginalSolver:
    """An algorithm with its knobs checked against their ranges; raises InputError naming those that exist."""
    return configured(solver_class(name), knobs)


__all__ = ["SOLVERS", "Answer", "Inferred", "MarginalSolver", "infer", "make_solver", "solver_class", "stream"]
