"""Runs the authors' code in a process of its own: `python -m pmpviz.experiments.reference_process CHECKOUT`.

Reads one JSON object a line and answers each with one: {"kind", "file", "chains", "steps"} prepares (and compiles) a
job from an .npz file, {} runs it once and answers {"seconds"}. The checkout is from 2021: what JAX has since moved is
put in place before it is imported. Nothing of it is copied.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import types
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def _module(name: str, **members) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module
    return module


class _Index:
    """What `jax.ops.index` was: it gives back the index it is given."""

    def __getitem__(self, index):
        return index


def _stand_in() -> None:
    """Old names of JAX, and scipy's logsumexp where there is no scipy."""
    from jax.example_libraries import optimizers

    jax.experimental.optimizers = optimizers  # type: ignore[attr-defined]
    sys.modules["jax.experimental.optimizers"] = optimizers
    _module("jax.config", config=jax.config)
    jax.ops.index = _Index()  # type: ignore[attr-defined]
    jax.ops.index_update = lambda x, index, y: x.at[index].set(y)  # type: ignore[attr-defined]
    try:
        importlib.import_module("scipy.special")
    except ImportError:
        _module("scipy", special=_module("scipy.special", logsumexp=_logsumexp))


def _logsumexp(a: np.ndarray) -> float:
    return a.max() + np.log(np.exp(a - a.max()).sum())


class Job:
    """One call of the reference, ready to be timed."""

    def __init__(self, code, request: dict[str, Any]):
        self.code, self.kind = code, request["kind"]
        self.chains, self.steps, self.calls = request["chains"], request["steps"], 0
        with np.load(request["file"], allow_pickle=False) as file:
            arrays = {name: file[name] for name in file}
        if self.kind == "mmd":
            self.samples = arrays["x"].astype(np.float64), arrays["y"].astype(np.float64)
            return
        if self.kind == "conv":
            self.fields = [jnp.asarray(arrays[name], jnp.float32) for name in ("image", "location", "feature")]
            self.seconds()
            return
        if self.kind.startswith("rbm"):
            visible = arrays["rbm_weight"].shape[1]
            bias = arrays["bias"].astype(np.float32)
            self.layers = [jnp.asarray(a) for a in (arrays["rbm_weight"], bias[None, :visible], bias[None, visible:])]
            self.seconds()
            return
        n = len(arrays["bias"])
        weight = np.zeros((n, n), np.float32)
        weight[arrays["i"], arrays["j"]] = weight[arrays["j"], arrays["i"]] = arrays["w"]
        self.weight, self.bias = jnp.asarray(weight), jnp.asarray(arrays["bias"], jnp.float32)[:, None]
        # The first call compiles; later ones are what is timed.
        self.seconds()

    def seconds(self) -> float:
        """Seconds of one call."""
        self.calls += 1
        begin = time.perf_counter()
        if self.kind == "mmd":
            self.code["mmd"].logMMD(*self.samples)
        elif self.kind == "conv":
            image, location, feature = self.fields
            one, other = jax.random.split(jax.random.PRNGKey(self.calls))
            location = location + jax.random.logistic(one, location.shape)
            feature = feature + jax.random.logistic(other, feature.shape)
            jax.block_until_ready(self.code["conv"].min_energy(image, location, feature, self.steps))
        elif self.kind.startswith("rbm"):
            key, kind = jax.random.PRNGKey(self.calls), self.kind.removeprefix("rbm-")
            sample = self.code["rbm"].sample
            jax.block_until_ready(sample(*self.layers, self.chains, self.steps, kind, key))
        else:
            key = jax.random.PRNGKey(self.calls)
            jax.block_until_ready(
                self.code["ising"].sample(self.weight, self.bias, self.chains, self.steps, self.kind, key)
            )
        return time.perf_counter() - begin


def main(checkout: str) -> None:
    """Answer requests on standard input until it ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(**fields) -> None:
        print(json.dumps(fields), file=answers, flush=True)

    try:
        _stand_in()
        sys.path.insert(0, checkout)
        names = {
            "ising": "pmap.ising_modeling",
            "rbm": "pmap.rbm_modeling",
            "conv": "pmap.conv_or_modeling",
            "mmd": "pmap.mmd",
        }
        code = {name: importlib.import_module(module) for name, module in names.items()}
        answer(ready=True)
        job: Job | None = None
        for line in sys.stdin:
            request = json.loads(line)
            if request:
                job = Job(code, request)
                answer(ready=True)
            else:
                assert job is not None
                answer(seconds=job.seconds())
    except Exception as error:  # The parent says in one sentence what went wrong here, whatever it was.
        answer(error=f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else 'no reason given'}")


if __name__ == "__main__":
    main(sys.argv[1])
