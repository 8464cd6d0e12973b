"""Runs a sampler and writes what it drew: `python -m pmpviz sample MODEL --out samples.npz`."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import jax
import numpy as np
from tqdm import tqdm

from pmpviz import exact, runs
from pmpviz.io.npz import save_samples
from pmpviz.metrics.marginals import frequencies
from pmpviz.models.tables import TableModel
from pmpviz.runs import checkpoint, compile_clock
from pmpviz.runs.plan import STARTS, start_configuration
from pmpviz.runs.run import Run, check
from pmpviz.types import InputError, Param, Target

Arguments = dict[str, Any]

# Chains x variables; the state of a run takes a small multiple of this many bytes.
MOST_CELLS = 1 << 30
SECONDS_BETWEEN_SAVES = 1.0


def main(args: Arguments, algorithm, target: Target, tables: TableModel | None) -> None:
    """Draw, write and say what was drawn. `args`: sweeps, chains, seed, start, time_average, checkpoint, out,
    json.

    Raises InputError for anything that a person can mend.
    """
    begin = time.perf_counter()
    x, figures = run_samples(args, algorithm, target, tables)
    found = {"algorithm": algorithm.spec.id, "guarantee": algorithm.spec.guarantee, "n": target.n, "chains": len(x)}
    found |= figures | {"seconds": time.perf_counter() - begin}
    if args["out"] is not None:
        save_samples(args["out"], x)
        found["out"] = args["out"]
    if args["json"]:
        print(json.dumps(found))
        return
    print(
        f"{algorithm.spec.label} ({algorithm.spec.guarantee}): {len(x):,} chains, {found['sweeps']:,} sweeps, "
        f"mean energy {found['mean_energy']:.6g}, {found['seconds']:.2f} s of which "
        f"{found['compile_seconds']:.2f} s compiling" + (f"; wrote {args['out']}" if args["out"] else "")
    )
    if "time_average" in found:
        print(f"marginals averaged over the last {found['time_average']['sweeps']:,} sweeps:")
        for number, row in enumerate(found["time_average"]["marginals"]):
            print("\t".join([str(number), *(f"{p:.9f}" for p in row)]))


def _whole(name: str, text: Any, low: int, high: int) -> int:
    return Param(name, name, low, high, low, "int").parse(text)


def run_samples(
    args: Arguments, algorithm, target: Target, tables: TableModel | None
) -> tuple[np.ndarray, dict[str, Any]]:
    """(x, figures) of a run in chunks with a progress bar, checkpointed now and then and at the end if asked for."""
    compiled = compile_clock.seconds()
    run, sweeps = _begin(args, algorithm, target, tables)
    chunk = max(1, min(64, sweeps // 20))
    saved, averages = time.monotonic(), bool(args.get("time_average"))
    with tqdm(total=sweeps, initial=run.sweep, unit="sweep", file=sys.stderr, disable=None) as bar:
        while run.sweep < sweeps:
            count = min(chunk, sweeps - run.sweep)
            late = averages and run.sweep >= sweeps // 2
            run, _ = runs.advance(run, count * run.quanta, record=False, donate=True, mean=late)
            bar.update(count)
            if args["checkpoint"] is not None and time.monotonic() - saved > SECONDS_BETWEEN_SAVES:
                checkpoint.save(run, args["checkpoint"])
                saved = time.monotonic()
    if args["checkpoint"] is not None:
        checkpoint.save(run, args["checkpoint"])
    x = runs.counted(run)
    figures = {"sweeps": run.sweep, **_figures(target, x), **_time_average(run)}
    return x, figures | {"compile_seconds": compile_clock.seconds() - compiled}


def _time_average(run: Run) -> dict[str, Any]:
    """The marginals by what was expected of every chain at every sweep that was averaged."""
    average = run.time_average
    if average is None:
        return {}
    rows = np.stack([1 - average, average], 1) if average.ndim == 1 else average
    shares = [[float(p) for p in row[:states]] for row, states in zip(rows, run.target.model.card, strict=True)]
    return {"time_average": {"marginals": shares, "sweeps": run.averaged}}


def _figures(target: Target, x: np.ndarray) -> dict[str, Any]:
    """Mean energy and, as `exact` gives them, the share of every state of every variable."""
    energy = -np.mean(np.asarray(jax.lax.map(target.model.log_weight, x), np.float64))
    if not np.isfinite(energy):
        raise InputError("the energy exceeds the range of single precision; scale the weights down")
    card = target.model.card
    rows = frequencies(x, max(card))
    shares = [[float(p) for p in row[:states]] for row, states in zip(rows, card, strict=True)]
    return {"mean_energy": float(energy), "marginals": shares}


def _begin(args: Arguments, algorithm, target: Target, tables: TableModel | None) -> tuple[Run, int]:
    """(run, sweeps): a new run, or the one that the checkpoint holds."""
    check(algorithm, target, 1)
    quanta = algorithm.spec.quanta(target.model)
    sweeps = _whole("sweeps", args["sweeps"], 0, min(10**9, (2**31 - 1) // quanta))
    chains = _whole("chains", args["chains"], 1, 10**6)
    if not 0 < target.n * chains <= MOST_CELLS:
        cells = f"{chains:,} chains of {target.n:,} variables"
        raise InputError(f"{cells} cannot be run; give at least one variable and at most {MOST_CELLS:,} in all chains")
    resumed = args["checkpoint"] is not None and os.path.exists(args["checkpoint"])
    seed = _whole("seed", args["seed"], 0, 2**31 - 1)
    x0 = _start(args["start"], target, tables, 1 if resumed else chains, seed)
    run = runs.start(algorithm, target, jax.random.key(seed), chains, x0)
    if not resumed:
        return run, sweeps
    held = checkpoint.load(args["checkpoint"], run)
    if not np.array_equal(jax.random.key_data(held.key), jax.random.key_data(run.key)):
        raise InputError("the checkpoint was made with another seed; give the same one")
    if held.sweep > sweeps:
        raise InputError(f"the checkpoint holds {held.sweep} sweeps already; give at least as many")
    return held, sweeps


def _start(name: str, target: Target, tables: TableModel | None, chains: int, seed: int) -> np.ndarray | None:
    if name == "exact":
        solved = exact.solve(target, tables)
        if solved.sample is None:
            raise InputError(f"{solved.method} gives no samples; choose another start than exact")
        return solved.sample(seed, chains)
    if name not in STARTS:
        raise InputError(f"start is {name[:40]!r}; give one of {', '.join(STARTS)}, exact")
    return start_configuration(name, target.model, chains)


__all__ = ["main", "run_samples"]
