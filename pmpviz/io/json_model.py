"""Models as JSON that re-imports exactly: every float is written with all its digits.

    {"format": "pmpviz-model", "version": 1, "kind": ..., "arrays": {name: {"shape": [...], "data": [...]}}}

The kinds and arrays are those of the .npz files; `null` stands for -inf, the logarithm of a forbidden state.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from pmpviz.io.arrays import KINDS, Model, from_arrays, to_arrays
from pmpviz.io.files import check_size
from pmpviz.io.npz import FORMAT, VERSION, typed
from pmpviz.types import InputError


def model_to_json(model: Model) -> str:
    """The JSON text of a model."""
    kind, arrays = to_arrays(model)
    rows = {name: {"shape": list(array.shape), "data": _data(array)} for name, array in arrays.items()}
    return json.dumps({"format": FORMAT, "version": VERSION, "kind": kind, "arrays": rows}, allow_nan=False)


def _data(array: np.ndarray) -> list[Any]:
    # A float32 is written as the float64 it equals: its shortest digits give both back exactly.
    return [None if value == -math.inf else value for value in array.reshape(-1).tolist()]


def model_from_json(text: str, name: str = "the JSON text") -> Model:
    """The model of a JSON text, equal bit for bit to the one that was saved; raises InputError naming what is wrong."""
    check_size(len(text), name)
    try:
        return _model(_parse(text))
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _parse(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except InputError:
        raise
    except RecursionError:
        raise InputError("the JSON is nested too deeply; give a model as this program saves it") from None
    except ValueError as error:
        raise InputError(f"this is no JSON ({str(error)[:80]})") from None


def _refuse_constant(word: str) -> None:
    raise InputError(f"{word} is no JSON number; write null for a forbidden state's -inf")


def _model(content: Any) -> Model:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"this is no saved model: its format is not {FORMAT!r}")
    if content.get("version") != VERSION:
        raise InputError(f"it has another version than {VERSION}; save it again with this program")
    kind, rows = content.get("kind"), content.get("arrays")
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"its kind is {str(kind)[:40]!r}; give one of {', '.join(KINDS)}")
    if not isinstance(rows, dict):
        raise InputError("it has no arrays; give them by name")
    arrays = {name: _array(name, row, KINDS[kind].get(name, np.float64)) for name, row in rows.items()}
    return from_arrays(kind, typed(kind, arrays))


def _array(name: str, row: Any, dtype: type) -> np.ndarray:
    shape, data = (row.get("shape"), row.get("data")) if isinstance(row, dict) else (None, None)
    if not isinstance(shape, list) or not isinstance(data, list):
        raise InputError(f"the array {name[:40]!r} lacks a list as shape or data; give both")
    if len(shape) > 8 or not all(type(side) is int and side >= 0 for side in shape) or math.prod(shape) != len(data):
        raise InputError(f"the array {name[:40]!r} has {len(data)} numbers, which is not what its shape says")
    return np.array([_number(name, value, dtype) for value in data], dtype).reshape(shape)


def _number(name: str, value: Any, dtype: type) -> float:
    whole = np.issubdtype(dtype, np.integer)
    if value is None and not whole:
        return -math.inf
    if type(value) is int and abs(value) < 1 << 31:
        return value
    if type(value) is not float or whole or not math.isfinite(value):
        raise InputError(f"the array {name[:40]!r} holds {str(value)[:40]!r}; give finite numbers of its type")
    if dtype is np.float32 and abs(value) > float(np.finfo(np.float32).max):
        raise InputError(f"the array {name} holds {value:g}, too large for single precision; give smaller numbers")
    return value
