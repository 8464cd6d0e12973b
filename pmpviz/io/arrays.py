"""A model as named arrays and back, bit for bit: what .npz and JSON files hold."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pmpviz.models.couplings import Couplings, DenseCouplings, ShiftCouplings, SparseCouplings
from pmpviz.models.ising import Ising
from pmpviz.models.rbm import RBM, SRBM, LayeredModel
from pmpviz.models.tables import MAX_ENTRIES, MAX_VARIABLES, TableModel, check_card, check_scope
from pmpviz.types import InputError

Arrays = dict[str, np.ndarray]

LAYERS: dict[str, type] = dict.fromkeys(("constant", "weight", "visible_bias", "hidden_bias"), np.float32)
ISING = {"bias": np.float32, "constant": np.float32, "colour": np.int32}
# The arrays of each kind of model, with their types. `n_states` and so on are as in the classes.
KINDS: dict[str, dict[str, type]] = {
    "ising-lattice": {**ISING, "weight": np.float32, "shifts": np.int32},
    "ising-sparse": {**ISING, "weight": np.float32, "neighbour": np.int32, "reverse": np.int32},
    "ising-dense": {**ISING, "weight": np.float32},
    "rbm": LAYERS,
    "srbm": {**LAYERS, "lateral": np.float32},
    "tables": {
        "card": np.int32,
        "arity": np.int32,
        "variables": np.int32,
        "values": np.float64,
        "constant": np.float64,
    },
}


def to_arrays(model: Ising | TableModel) -> tuple[str, Arrays]:
    """(kind, arrays) of a model; the arrays have the types that KINDS names."""
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
    couplings = model.couplings
    found = {"bias": model.bias, "constant": model.constant, "colour": model.colour, "weight": couplings.weight}
    if isinstance(couplings, ShiftCouplings):
        kind, found["shifts"] = "ising-lattice", couplings.shifts
    elif isinstance(couplings, SparseCouplings):
        kind, found["neighbour"], found["reverse"] = "ising-sparse", couplings.neighbour, couplings.reverse
    else:
        kind = "ising-dense"
    return kind, {name: np.asarray(found[name], dtype) for name, dtype in KINDS[kind].items()}


def from_arrays(kind: str, arrays: Arrays) -> Ising | TableModel:
    """The model of these arrays, which have KINDS' names and types; raises InputError where they don't fit."""
    if kind == "tables":
        return _tables(arrays)
    if kind in ("rbm", "srbm"):
        return _layered(arrays)
    n = len(arrays["bias"]) if arrays["bias"].ndim == 1 else 0
    _require(1 <= n <= MAX_VARIABLES, f"bias has shape {arrays['bias'].shape}; give 1 to {MAX_VARIABLES} numbers")
    _require(arrays["constant"].shape == (), "constant is no single number; give one")
    for name in ("bias", "constant", "weight"):
        _require(bool(np.isfinite(arrays[name]).all()), f"{name} holds a number that is not finite; mend it")
    build: Callable[[int, Arrays], Couplings] = {
        "ising-lattice": _lattice,
        "ising-sparse": _sparse,
        "ising-dense": _dense,
    }[kind]
    couplings = build(n, arrays)
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


def _lattice(n: int, arrays: Arrays) -> ShiftCouplings:
    weight, shifts = arrays["weight"], arrays["shifts"]
    sides = weight.shape[1:]
    _require(1 <= len(sides) <= 3, f"weight has {weight.ndim} axes; give shifts x one to three sides")
    _require(math.prod(sides) == n, f"the lattice {sides} does not have the {n} sites of bias")
    _require(
        shifts.shape == (len(weight), len(sides)), f"shifts has shape {shifts.shape}, weight {weight.shape}; match them"
    )
    couplings = ShiftCouplings(weight, sides, tuple(tuple(shift) for shift in shifts.tolist()))
    _require(bool((np.abs(shifts) < max(2, *sides)).all()), "a shift is longer than the lattice; shorten it")
    i, j, _ = couplings.edges()
    _require(bool((i != j).all()), "a shift joins a site to itself; set those weights to 0")
    return couplings


def _sparse(n: int, arrays: Arrays) -> SparseCouplings:
    neighbour, weight, reverse = arrays["neighbour"], arrays["weight"], arrays["reverse"]
    shape = weight.shape
    _require(
        len(shape) == 2 and shape[0] == n and shape[1] >= 1, f"weight has shape {shape}; give {n} rows of neighbours"
    )
    _require(neighbour.shape == shape and reverse.shape == shape, "neighbour, reverse and weight differ in shape")
    _require(bool(((neighbour >= 0) & (neighbour < n)).all()), f"neighbour names a site outside 0 to {n - 1}")
    flat = np.arange(weight.size).reshape(shape)
    _require(bool(((reverse >= 0) & (reverse < weight.size)).all()), "reverse names a slot that does not exist")
    site = np.arange(n)[:, None]
    padded = neighbour == site
    _require(bool((weight[padded] == 0).all() and (reverse == flat)[padded].all()), "a padded slot is not empty")
    there = reverse.reshape(-1)
    mutual = (there[reverse] == flat) & (weight.reshape(-1)[reverse] == weight)
    mutual &= (neighbour.reshape(-1)[reverse] == site) & (reverse // shape[1] == neighbour)
    _require(bool(mutual.all()), "neighbour, reverse and weight do not describe the same edges from both ends")
    # The numbering of the slots follows from which are padded.
    used = np.flatnonzero(~padded)
    number = np.full(weight.size, len(used))
    number[used] = np.arange(len(used))
    entry = np.append(used, 0).astype(np.int32)
    return SparseCouplings(neighbour, weight, reverse, number.reshape(shape).astype(np.int32), entry)


def _dense(n: int, arrays: Arrays) -> DenseCouplings:
    weight = arrays["weight"]
    _require(weight.shape == (n, n), f"weight has shape {weight.shape}; {n} sites need ({n}, {n})")
    _require(bool((weight == weight.T).all()), "weight is not symmetric; give the same weight both ways")
    _require(not np.diag(weight).any(), "weight joins a site to itself; set its diagonal to 0")
    return DenseCouplings(weight)


def _check_colour(colour: np.ndarray, n: int, couplings: Couplings) -> None:
    _require(
        colour.shape == (n,) and bool(((colour >= 0) & (colour < n)).all()),
        f"colour must be {n} whole numbers below {n}",
    )
    i, j, _ = couplings.edges()
    _require(bool((colour[i] != colour[j]).all()), "two sites that interact have one colour; give them two")


def _tables(arrays: Arrays) -> TableModel:
    card, arity, variables, values = (arrays[name] for name in ("card", "arity", "variables", "values"))
    for name in ("card", "arity", "variables", "values"):
        _require(arrays[name].ndim == 1, f"{name} has shape {arrays[name].shape}; give one row")
    _require(arrays["constant"].shape == (), "constant is no single number; give one")
    _require(not np.isnan(arrays["constant"]) and arrays["constant"] != np.inf, "constant is not finite; mend it")
    check_card(card.tolist())
    _require(bool((arity >= 1).all()), "arity holds a number below 1; give factors variables")
    _require(int(arity.sum(dtype=np.int64)) == len(variables), "arity does not add up to the length of variables")
    states, factors, scope_at, value_at = card.tolist(), [], 0, 0
    for place, size in enumerate(arity.tolist()):
        scope = tuple(variables[scope_at : scope_at + size].tolist())
        check_scope(states, place, scope)
        shape = [states[v] for v in scope]
        entries = math.prod(shape)
        _require(value_at + entries <= len(values), f"values ends within the table of factor {place}")
        factors.append((scope, values[value_at : value_at + entries].reshape(shape)))
        scope_at, value_at = scope_at + size, value_at + entries
    _require(value_at == len(values), f"values has {len(values) - value_at} numbers left over")
    _require(len(values) <= MAX_ENTRIES, f"the tables have {len(values)} entries; give at most {MAX_ENTRIES}")
    return TableModel.of(states, factors, arrays["constant"])
