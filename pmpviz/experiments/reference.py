"""The authors' code beside ours: a process that holds their checkout and is timed in turn with us."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from pmpviz.experiments.workloads import Workload, mmd_samples
from pmpviz.types import InputError

NEEDED = ("pmap/ising_modeling.py", "pmap/rbm_modeling.py", "pmap/conv_or_modeling.py", "pmap/mmd.py")


class Reference:
    """A process with the code of `path`; use it as a context. Raises InputError where the code cannot be used."""

    def __init__(self, path: str):
        self.path = Path(path)
        missing = [name for name in NEEDED if not (self.path / name).is_file()]
        if missing:
            raise InputError(
                f"{path} has no {missing[0]}; give the folder of a checkout of vicariousinc/perturb_and_max_product"
            )

    def __enter__(self) -> Reference:
        self._folder = tempfile.TemporaryDirectory()
        command = [sys.executable, "-m", "pmpviz.experiments.reference_process", str(self.path.resolve())]
        # The process must find this package wherever it is started.
        places = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, places))},
        )
        try:
            self._answer()
        except InputError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()

    def prepare(self, workload: Workload) -> None:
        """Send the workload's arrays; the job is compiled when this returns."""
        job = workload.reference
        assert job is not None
        file = Path(self._folder.name) / f"{workload.name}.npz"
        if job.kind == "mmd":
            x, y = mmd_samples()
            np.savez(file, x=x, y=y)
            steps = 1
        elif job.kind == "conv":
            target = workload.target()
            model, shape = target.model, target.model.shape
            image = float(model.noise_logit) * (2.0 * model.split(target.evidence.value)[2] - 1)
            fields = {"location": np.full(shape.s, model.location_logit), "image": image}
            np.savez(file, **fields, feature=np.full(shape.w, model.feature_logit))
            steps = job.sweeps
        elif job.kind.startswith("rbm"):
            model = workload.target().model
            np.savez(file, bias=model.bias, rbm_weight=np.asarray(model.couplings.weight))
            steps = job.sweeps
        else:
            bias, i, j, w = workload.target().model.pairwise()
            np.savez(file, bias=bias, i=i, j=j, w=w)
            # Max-product counts sweeps; the others count single sites.
            steps = job.sweeps * (1 if job.kind == "pmap" else len(bias))
        self._ask(kind=job.kind, file=str(file), chains=job.chains, steps=steps)

    def seconds(self) -> float:
        """Seconds of one call of the job that was prepared."""
        return self._ask()["seconds"]

    def _ask(self, **request) -> dict:
        assert self._process.stdin is not None
        try:
            print(json.dumps(request), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise InputError(f"the code in {self.path} stopped; give a checkout that runs") from None
        return self._answer()

    def _answer(self) -> dict:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        answer = json.loads(line) if line else {"error": f"its process ended with code {self._process.wait()}"}
        if "error" in answer:
            raise InputError(f"the code in {self.path} cannot be timed ({answer['error']}); give a checkout that runs")
        return answer
