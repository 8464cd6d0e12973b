"""Save a run to a file and resume it bit for bit."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import jax
import numpy as np

from pmpviz.models import model_hash
from pmpviz.runs.run import Run
from pmpviz.types import InputError

FORMAT = "pmpviz-run-1"


def save(run: Run, path: str | os.PathLike) -> None:
    """Write the run's key, counters and state to `path` (npz, no pickle), whole or not at all."""
    leaves = [_plain(leaf) for leaf in jax.tree.leaves(run.state)]
    header: dict[str, Any] = {
        "format": FORMAT,
        "algorithm": run.algorithm.spec.id,
        "identity": _identity(run),
        "chains": run.chains,
        "quantum": run.quantum,
        "seconds": run.seconds,
        "leaves": len(leaves),
    }
    arrays = {f"leaf{i}": leaf for i, leaf in enumerate(leaves)}
    arrays["key"] = np.asarray(jax.random.key_data(run.key))
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    path = Path(path)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as part:
        np.savez(part, **arrays)
    os.replace(part.name, path)


def load(path: str | os.PathLike, fresh: Run) -> Run:
    """The run saved at `path`; `fresh` is a new run of the same algorithm, target and chains that it must match.

    Raises InputError where the file is not a checkpoint, or is one of another algorithm, model or number of chains.
    """
    header, key, leaves = _read(path)
    if header["algorithm"] != fresh.algorithm.spec.id or header["chains"] != fresh.chains:
        raise InputError(
            f"the checkpoint holds {header['chains']} chains of {header['algorithm']}; "
            f"resume it with those instead of {fresh.chains} of {fresh.algorithm.spec.id}"
        )
    if header["identity"] != _identity(fresh):
        raise InputError("the checkpoint was made with another model, evidence, beta or setting; use the same ones")
    like, tree = jax.tree.flatten(fresh.state)
    if len(like) != len(leaves) or any(not _fit(_plain(a), b) for a, b in zip(like, leaves, strict=True)):
        raise InputError("the checkpoint's state does not fit this version of the algorithm; start the run again")
    state = jax.tree.unflatten(tree, [_revive(b, a) for a, b in zip(like, leaves, strict=True)])
    return Run(
        fresh.algorithm, fresh.target, key, fresh.chains, state, int(header["quantum"]), float(header["seconds"])
    )


def _read(path):
    try:
        with np.load(path, allow_pickle=False) as file:
            header = json.loads(bytes(file["header"]).decode())
            if header["format"] != FORMAT:
                raise ValueError
            leaves = [file[f"leaf{i}"] for i in range(int(header["leaves"]))]
            int(header["quantum"]), float(header["seconds"]), header["identity"], header["algorithm"], header["chains"]
            return header, jax.random.wrap_key_data(file["key"]), leaves
    except OSError as error:
        raise InputError(f"the checkpoint {path} cannot be read: {error.strerror or 'it is not a file'}") from None
    except Exception:
        raise InputError(f"{path} is not a checkpoint of a run; give a file that `--checkpoint` wrote") from None


def _fit(like: np.ndarray, found: np.ndarray) -> bool:
    return like.shape == found.shape and like.dtype == found.dtype


def _identity(run: Run) -> str:
    digest = hashlib.sha256(model_hash(run.target.model).encode())
    for leaf in jax.tree.leaves((run.target.evidence, run.target.beta, run.algorithm)):
        digest.update(np.asarray(leaf).tobytes())
    return digest.hexdigest()


def _plain(leaf) -> np.ndarray:
    if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return np.asarray(jax.random.key_data(leaf))
    return np.asarray(leaf)


def _revive(array: np.ndarray, like):
    if isinstance(like, jax.Array) and jax.dtypes.issubdtype(like.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(array)
    return jax.numpy.asarray(array)
