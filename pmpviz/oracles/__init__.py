"""MAP oracles: one file an algorithm; adding one is a file and a line here.

Beside them stand the kernels that samplers use directly: `max_product` and `linear_program`.
"""

from __future__ import annotations

from pmpviz.oracles.annealing import Annealing
from pmpviz.oracles.best_of import BestOf
from pmpviz.oracles.bipartite import BipartiteEnumeration
from pmpviz.oracles.exact import Elimination, Enumeration, Exact
from pmpviz.oracles.graph_cut import GraphCut, Qpbo
from pmpviz.oracles.icm import Icm, MultiStart
from pmpviz.oracles.local_polytope import LocalPolytope
from pmpviz.oracles.message_passing import MaxProduct
from pmpviz.oracles.mplp import Mplp
from pmpviz.oracles.oracle import PROMISES, MapOracle, OracleSpec, Solution
from pmpviz.oracles.outside import Scip, Toulbar2
from pmpviz.oracles.potentials import Potentials, Structure
from pmpviz.oracles.trws import TrwS
from pmpviz.plugins import Registry
from pmpviz.types import InputError, configured

ORACLES: Registry[type[MapOracle]] = Registry(
    "pmpviz.oracles",
    (
        Exact,
        Enumeration,
        Elimination,
        BipartiteEnumeration,
        LocalPolytope,
        Icm,
        MultiStart,
        MaxProduct,
        Mplp,
        TrwS,
        GraphCut,
        Qpbo,
        Annealing,
        BestOf,
        Toulbar2,
        Scip,
    ),
    lambda thing: isinstance(thing, type) and issubclass(thing, MapOracle),
)


def oracle_class(name: str) -> type[MapOracle]:
    """The oracle registered under `name`; raises InputError naming the choices."""
    for cls in ORACLES:
        if cls.spec.id == name:
            return cls
    names = ", ".join(cls.spec.id for cls in ORACLES)
    raise InputError(f"there is no oracle {name[:40]!r}; choose one of {names}")


def make_oracle(name: str, **knobs) -> MapOracle:
    """An oracle with its knobs checked against their ranges; unknown knobs raise InputError naming the known ones."""
    return configured(oracle_class(name), knobs)


__all__ = [
    "ORACLES",
    "PROMISES",
    "MapOracle",
    "OracleSpec",
    "Potentials",
    "Solution",
    "Structure",
    "make_oracle",
    "oracle_class",
]
