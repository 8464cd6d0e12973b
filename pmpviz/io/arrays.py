"""A model as named arrays and back, bit for bit: what .npz and JSON files hold."""

from __future__ import annotations

import math

import numpy as np

from pmpviz.models.couplings import LAYOUTS, Couplings
from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.factors import AndFactor, CardinalityFactor, OrFactor, TableFactor
from pmpviz.models.ising import Ising
from pmpviz.models.pairwise import Pairwise
from pmpviz.models.rbm import RBM, SRBM, LayeredModel
from pmpviz.models.tables import MAX_ENTRIES, MAX_VARIABLES, TableModel, check_card, check_scope
from pmpviz.types import InputError

Arrays = dict[str, np.ndarray]

LAYERS: dict[str, type] = dict.fromkeys(("constant", "weight", "visible_bias", "hidden_bias"), np.float32)
ISING = {"bias": np.float32, "constant": np.float32, "colour": np.int32}
STORED = {layout.file_kind: layout for layout in LAYOUTS if layout.file_kind is not None}
# The arrays of each kind of model, with their types. `n_states` and so on are as in the classes.
KINDS: dict[str, dict[str, type]] = {
    **{kind: {**ISING, **layout.file_arrays} for kind, layout in STORED.items()},
    "rbm": LAYERS,
    "srbm": {**LAYERS, "lateral": np.float32},
    "tables": {
        "card": np.int32,
        "arity": np.int32,
        "variables": np.int32,
        "values": np.float64,
        "constant": np.float64,
    },
    # Of every factor its kind (place in FACTORS), arity and, of cardinality factors, limits; its variables and, of
    # tables, its values follow one another.
    "factor-graph": {
        "card": np.int32,
        "unary": np.float64,
        "factor": np.int32,
        "arity": np.int32,
        "variables": np.int32,
        "limits": np.int32,
        "values": np.float64,
        "constant": np.float64,
    },
}
FACTORS = ("table", "or", "and", "cardinality")
Model = Ising | Pairwise | TableModel | FactorGraph


def to_arrays(model: Model) -> tuple[str, Arrays]:
    """(kind, arrays) of a model; the arrays have the types that KINDS names."""
    if isinstance(model, FactorGraph):
        return "factor-graph", _of_graph(model)
    model = model.to_tables() if isinstance(model, Pairwise) else model
    if isinstance(model, TableModel):
        factors = model.factors
        found = {
            "card": model.card,
            "arity": model.arity,
            "variables": [v for scope, _ in factors for v in scope],
            "values": np.concatenate([table.reshape(-1) for _, table in factors] or [np.zeros(0)]),
            "constant": model.constant,
        }
        return "tables", {name: np.asarray(found[name], dtype) for name, dtype in KINDS["tables"].items()}
    if isinstance(model, LayeredModel):
        kind = "srbm" if isinstance(model, SRBM) else "rbm"
        return kind, {name: np.asarray(getattr(model, name), dtype) for name, dtype in KINDS[kind].items()}
    couplings = model.couplings.stored()
    assert couplings.file_kind is not None
    kind = couplings.file_kind
    found = {"bias": model.bias, "constant": model.constant, "colour": model.colour}
    found |= {name: getattr(couplings, name) for name in couplings.file_arrays}
    return kind, {name: np.asarray(found[name], dtype) for name, dtype in KINDS[kind].items()}


def _of_graph(graph: FactorGraph) -> Arrays:
    factors = graph.factors()
    tables = [np.asarray(f.log_table).reshape(-1) for f in factors if isinstance(f, TableFactor)]
    limits = [[f.low, f.high] if isinstance(f, CardinalityFactor) else [0, 0] for f in factors]
    found = {
        "card": graph.card,
        "unary": np.concatenate([np.zeros(0), *(row[:c] for row, c in zip(graph.unary, graph.card, strict=True))]),
        "factor": [FACTORS.index(f.kind) for f in factors],
        "arity": [len(f.scope) for f in factors],
        "variables": [v for f in factors for v in f.scope],
        "limits": np.array(limits).reshape(-1, 2),
        "values": np.concatenate([np.zeros(0), *tables]),
        "constant": graph.constant,
    }
    return {name: np.asarray(found[name], dtype) for name, dtype in KINDS["factor-graph"].items()}


def from_arrays(kind: str, arrays: Arrays) -> Model:
    """The model of these arrays, which have KINDS' names and types; raises InputError where they don't fit."""
    if kind == "factor-graph":
        return _graph(arrays)
    if kind == "tables":
        return _tables(arrays)
    if kind in ("rbm", "srbm"):
        return _layered(arrays)
    n = len(arrays["bias"]) if arrays["bias"].ndim == 1 else 0
    _require(1 <= n <= MAX_VARIABLES, f"bias has shape {arrays['bias'].shape}; give 1 to {MAX_VARIABLES} numbers")
    _require(arrays["constant"].shape == (), "constant is no single number; give one")
    for name in ("bias", "constant", "weight"):
        _require(bool(np.isfinite(arrays[name]).all()), f"{name} holds a number that is not finite; mend it")
    couplings = STORED[kind].from_arrays(n, arrays)
    _check_colour(arrays["colour"], n, couplings)
    return Ising.of(arrays["bias"], couplings, arrays["constant"], arrays["colour"])


def _layered(arrays: Arrays) -> RBM | SRBM:
    _require(arrays["constant"].shape == (), "constant is no single number; give one")
    for name, values in arrays.items():
        _require(bool(np.isfinite(values).all()), f"{name} holds a number that is not finite; mend it")
    _require(sum(arrays["weight"].shape) <= MAX_VARIABLES, f"give at most {MAX_VARIABLES} units")
    return (SRBM if "lateral" in arrays else RBM).of_layers(**arrays)


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise InputError(problem)


def _check_colour(colour: np.ndarray, n: int, couplings: Couplings) -> None:
    _require(
        colour.shape == (n,) and bool(((colour >= 0) & (colour < n)).all()),
        f"colour must be {n} whole numbers below {n}",
    )
    i, j, _ = couplings.edges()
    _require(bool((colour[i] != colour[j]).all()), "two sites that interact have one colour; give them two")


def _check_rows(arrays: Arrays, names: tuple[str, ...]) -> None:
    """One row of numbers each, a constant that is one number, arities that the variables' length adds up to."""
    for name in names:
        _require(arrays[name].ndim == 1, f"{name} has shape {arrays[name].shape}; give one row")
    _require(arrays["constant"].shape == (), "constant is no single number; give one")
    _require(not np.isnan(arrays["constant"]) and arrays["constant"] != np.inf, "constant is not finite; mend it")
    check_card(arrays["card"].tolist())
    arity = arrays["arity"]
    _require(bool((arity >= 1).all()), "arity holds a number below 1; give factors variables")
    total = int(arity.sum(dtype=np.int64))
    _require(total == len(arrays["variables"]), "arity does not add up to the length of variables")


class _Values:
    """Numbers taken from a row one table after another."""

    def __init__(self, values: np.ndarray):
        _require(len(values) <= MAX_ENTRIES, f"the tables have {len(values)} entries; give at most {MAX_ENTRIES}")
        self.values, self.at = values, 0

    def table(self, place: int, shape: list[int]) -> np.ndarray:
        stop = self.at + math.prod(shape)
        _require(stop <= len(self.values), f"values ends within the table of factor {place}")
        found, self.at = self.values[self.at : stop].reshape(shape), stop
        return found

    def end(self) -> None:
        _require(self.at == len(self.values), f"values has {len(self.values) - self.at} numbers left over")


def _scopes(arrays: Arrays) -> list[tuple[int, ...]]:
    states, start, found = arrays["card"].tolist(), 0, []
    for place, size in enumerate(arrays["arity"].tolist()):
        found.append(tuple(arrays["variables"][start : start + size].tolist()))
        check_scope(states, place, found[-1])
        start += size
    return found


def _tables(arrays: Arrays) -> TableModel:
    _check_rows(arrays, ("card", "arity", "variables", "values"))
    states, values = arrays["card"].tolist(), _Values(arrays["values"])
    factors = [(scope, values.table(f, [states[v] for v in scope])) for f, scope in enumerate(_scopes(arrays))]
    values.end()
    return TableModel.of(states, factors, arrays["constant"])


def _graph(arrays: Arrays) -> FactorGraph:
    _check_rows(arrays, ("card", "arity", "variables", "values", "unary", "factor"))
    kind, limits, states = arrays["factor"], arrays["limits"], arrays["card"].tolist()
    count = len(arrays["arity"])
    _require(kind.shape == (count,) and limits.shape == (count, 2), "factor, arity and limits differ in length")
    _require(bool(((kind >= 0) & (kind < len(FACTORS))).all()), f"factor holds no kind from 0 to {len(FACTORS) - 1}")
    _require(len(arrays["unary"]) == sum(states), f"unary has {len(arrays['unary'])} numbers; give {sum(states)}")
    values, factors = _Values(arrays["values"]), []
    for place, scope in enumerate(_scopes(arrays)):
        name = FACTORS[kind[place]]
        if name == "table":
            _require(len(scope) > 1, f"the table of factor {place} has one variable; add it to unary")
            factors.append(TableFactor(scope, values.table(place, [states[v] for v in scope])))
        elif name == "cardinality":
            factors.append(CardinalityFactor(scope, *limits[place].tolist()))
        else:
            factors.append((OrFactor if name == "or" else AndFactor)(scope[:-1], scope[-1]))
    values.end()
    rows = np.split(arrays["unary"], np.cumsum(states)[:-1]) if states else []
    return FactorGraph.of(states, rows, factors, arrays["constant"])
