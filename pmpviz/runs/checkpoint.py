"""Save a run to a file and resume it bit for bit."""

from __future__ import annotations

import hashlib
import os

import jax
import numpy as np

from pmpviz.models import model_hash
from pmpviz.runs import archive
from pmpviz.runs.run import Run
from pmpviz.types import InputError

FORMAT = "pmpviz-run-1"


def save(run: Run, path: str | os.PathLike) -> None:
    """Write the run's key, counters and state to `path` (npz, no pickle), whole or not at all."""
    archive.write(path, _header(run), run.key, run.state)


def load(path: str | os.PathLike, fresh: Run) -> Run:
    """The run saved at `path`; `fresh` is a new run of the same algorithm, target and chains that it must match.

    Raises InputError where the file is not a checkpoint, or is one of another algorithm, model or number of chains.
    """
    own = _header(fresh)
    header, key, leaves = archive.read(path, "run", own)
    if header["algorithm"] != own["algorithm"] or header["chains"] != own["chains"]:
        raise InputError(
            f"the checkpoint holds {header['chains']} chains of {header['algorithm']}; "
            f"resume it with those instead of {own['chains']} of {own['algorithm']}"
        )
    if header["identity"] != own["identity"]:
        raise InputError("the checkpoint was made with another model, evidence, beta or setting; use the same ones")
    state = archive.revive(leaves, fresh.state)
    return Run(
        fresh.algorithm, fresh.target, key, fresh.chains, state, int(header["quantum"]), float(header["seconds"])
    )


def _header(run: Run) -> archive.Header:
    return {
        "format": FORMAT,
        "algorithm": run.algorithm.spec.id,
        "identity": _identity(run),
        "chains": run.chains,
        "quantum": run.quantum,
        "seconds": run.seconds,
    }


def _identity(run: Run) -> str:
    digest = hashlib.sha256(model_hash(run.target.model).encode())
    for leaf in jax.tree.leaves((run.target.evidence, run.target.beta, run.algorithm)):
        digest.update(np.asarray(leaf).tobytes())
    return digest.hexdigest()
