"""Files in and out: UAI, .npz and JSON models, evidence, samples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pmpviz.io.arrays import Model
from pmpviz.io.files import decode, read_bytes, write_bytes
from pmpviz.io.json_model import model_from_json, model_to_json
from pmpviz.io.npz import load_samples, model_from_npz, model_to_npz, save_samples
from pmpviz.io.uai import parse_uai, read_evid, read_uai, write_evid, write_uai
from pmpviz.models.factor_graph import FactorGraph, as_graph
from pmpviz.models.ising import Ising
from pmpviz.models.pairwise import Pairwise
from pmpviz.models.tables import TableModel
from pmpviz.types import InputError, Refusal

SUFFIXES = (".uai", ".npz", ".json")


@dataclass(frozen=True)
class Loaded:
    """A model from a file: `Ising` where it fits, else `Pairwise`, else `TableModel`.

    `tables` are the file's own values in float64.

    `tables` is None for a saved `Ising`, whose arrays are the file's own values. `why_not_ising` is the reason where
    `model` is no `Ising`. `graph` is a saved factor graph: `model` is then the same with its logical factors written
    out, or the graph itself where they are too large for that.
    """

    model: Model
    tables: TableModel | None
    name: str
    why_not_ising: str | None = None
    graph: FactorGraph | None = None

    def as_graph(self) -> FactorGraph:
        """The factor graph of the file, from its own values."""
        return self.graph or as_graph(self.model if self.tables is None else self.tables)


def load_model(path: str | Path) -> Loaded:
    """The model of a .uai, .npz or .json file; raises InputError with what is wrong and where."""
    path = Path(path)
    _suffix(path.name)
    return load_model_bytes(path.name, read_bytes(path))


def load_model_bytes(name: str, data: bytes) -> Loaded:
    """The model of an uploaded file; its format is known by the name's suffix. Raises InputError as `load_model`."""
    suffix = _suffix(name)
    model: Model
    if suffix == ".npz":
        model = model_from_npz(data, name)
    elif suffix == ".json":
        model = model_from_json(decode(data, name), name)
    else:
        model = parse_uai(decode(data, name), name)
    if isinstance(model, Ising):
        return Loaded(model, None, name)
    graph = model if isinstance(model, FactorGraph) else None
    try:
        tables = model if isinstance(model, TableModel) else model.to_tables()
    except Refusal as reason:
        return Loaded(model, None, name, str(reason), graph)
    try:
        return Loaded(tables.to_ising(), tables, name, None, graph)
    except InputError as reason:
        return Loaded(_of_states(tables), tables, name, str(reason), graph)


def _of_states(tables: TableModel) -> Pairwise | TableModel:
    try:
        return Pairwise.from_tables(tables)
    except InputError:
        return tables


def save_model(path: str | Path, model: Model) -> None:
    """Write a model in the format of the path's suffix; raises InputError where that can't be done.

    .npz and .json keep every bit and the layout of the couplings; .uai keeps linear values of the tables.
    """
    suffix = _suffix(Path(path).name)
    if suffix == ".npz":
        data = model_to_npz(model)
    else:
        data = (model_to_json(model) if suffix == ".json" else write_uai(model)).encode()
    write_bytes(Path(path), data)


def _suffix(name: str) -> str:
    suffix = Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{name[:80]!r} ends in none of {', '.join(SUFFIXES)}; rename it or choose another file")
    return suffix


__all__ = [
    "Loaded",
    "load_model",
    "load_model_bytes",
    "load_samples",
    "read_evid",
    "read_uai",
    "save_model",
    "save_samples",
    "write_evid",
    "write_uai",
]
