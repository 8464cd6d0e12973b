"""What runs and trainings are saved as: a header of plain numbers and texts, a key, and the leaves of a tree."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import jax
import numpy as np

from pmpviz.types import InputError

Header = dict[str, Any]


def write(path: str | os.PathLike, header: Header, key: jax.Array, tree: Any) -> None:
    """Write header, key and the tree's leaves to `path` (npz, no pickle), whole or not at all."""
    leaves = [_plain(leaf) for leaf in jax.tree.leaves(tree)]
    arrays = {f"leaf{i}": leaf for i, leaf in enumerate(leaves)}
    arrays["key"] = _plain(key)
    arrays["header"] = np.frombuffer(json.dumps({**header, "leaves": len(leaves)}).encode(), np.uint8)
    path = Path(path)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as part:
        np.savez(part, **arrays)
    os.replace(part.name, path)


def read(path: str | os.PathLike, kind: str, like: Header) -> tuple[Header, jax.Array, list[np.ndarray]]:
    """(header, key, leaves) of a file; `kind` says in messages what it should be a checkpoint of.

    Raises InputError where it cannot be read, is of another format than `like`, or its header lacks an entry of
    `like` or holds one of another type.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            header = json.loads(bytes(file["header"]).decode())
            if header["format"] != like["format"] or any(not _alike(header[name], like[name]) for name in like):
                raise ValueError
            leaves = [file[f"leaf{i}"] for i in range(int(header["leaves"]))]
            return header, jax.random.wrap_key_data(file["key"]), leaves
    except OSError as error:
        raise InputError(f"the checkpoint {path} cannot be read: {error.strerror or 'it is not a file'}") from None
    except Exception:
        raise InputError(f"{path} is not a checkpoint of a {kind}; give a file that `--checkpoint` wrote") from None


def _alike(found: Any, like: Any) -> bool:
    return isinstance(found, (int, float)) if isinstance(like, (int, float)) else isinstance(found, type(like))


def revive(leaves: list[np.ndarray], like: Any) -> Any:
    """The tree of these leaves in the form of `like`; raises InputError where they do not fit it."""
    wanted, tree = jax.tree.flatten(like)
    if len(wanted) != len(leaves) or any(not _fit(_plain(a), b) for a, b in zip(wanted, leaves, strict=True)):
        raise InputError("the checkpoint's state does not fit this version of the algorithm; start the run again")
    return jax.tree.unflatten(tree, [_revived(b, a) for a, b in zip(wanted, leaves, strict=True)])


def _fit(like: np.ndarray, found: np.ndarray) -> bool:
    return like.shape == found.shape and like.dtype == found.dtype


def _is_key(leaf) -> bool:
    return isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _plain(leaf) -> np.ndarray:
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _revived(array: np.ndarray, like):
    return jax.random.wrap_key_data(array) if _is_key(like) else jax.numpy.asarray(array)
