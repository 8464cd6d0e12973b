"""Learns a model from images: `python -m pmpviz train DATA --out model.npz`."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from argparse import ArgumentParser
from dataclasses import dataclass
from typing import Any

import jax
from tqdm import tqdm

from pmpviz.capabilities.learning.command import OPTIMISER_FLAGS, PARAMS, knob_flag
from pmpviz.io import SUFFIXES, save_model
from pmpviz.io.datasets import Dataset, parse_dataset
from pmpviz.io.files import check_outputs
from pmpviz.learning import LEARNERS, make_learner
from pmpviz.learning.optimiser import OPTIMISER_PARAMS, Optimiser
from pmpviz.learning.start import fresh_model
from pmpviz.models import LayeredModel
from pmpviz.runs import compile_clock, device, training, training_checkpoint
from pmpviz.runs.training import Training, TrainingTrace
from pmpviz.types import InputError, Param

Arguments = dict[str, Any]

MOST_ITERATIONS = 10**9


@dataclass(frozen=True)
class Paths:
    """Where the model and the checkpoint are written."""

    out: str
    checkpoint: str


def add_flags(parser: ArgumentParser) -> None:
    """The flags of `train`, from the Params of learners and optimiser."""
    parser.add_argument("data", help="digits, mnist:labels=2, contours:labels=0, bars:4x4, an .npz, .zip or folder")
    parser.add_argument("--learner", default="pmp", help=", ".join(cls.spec.id for cls in LEARNERS))
    for param in PARAMS:
        words = f"{param.help} ({param.range_text()}, default {param.default})".replace("%", "%%")
        parser.add_argument(f"--{param.name}", dest=f"own_{param.name}", metavar=param.name.upper(), help=words)
    for param in OPTIMISER_PARAMS:
        flag = OPTIMISER_FLAGS[param.name].replace("_", "-")
        words = f"{param.help} ({param.range_text()}, default {param.default})".replace("%", "%%")
        parser.add_argument(f"--{flag}", dest=f"optimiser_{param.name}", metavar=flag.upper(), help=words)
    for name in _knobs():
        users = [(cls.spec.id, p) for cls in LEARNERS for p in cls.spec.params if p.name == name]
        words = "; ".join(f"{learner}: {p.help} {p.range_text()}, default {p.default}" for learner, p in users)
        flag = f"--{knob_flag(name)}"
        parser.add_argument(flag, dest=f"knob_{name}", metavar=name.upper(), help=words.replace("%", "%%"))
    parser.add_argument("--out", required=True, help="file for the learned model (.npz, .json or .uai)")
    parser.add_argument("--checkpoint", help="file that holds the training (OUT.training.npz if left out)")
    words = "go on from the checkpoint if there is one; rates, penalties and sweeps may change, and it is said"
    parser.add_argument("--resume", action="store_true", help=words)


def _knobs() -> tuple[str, ...]:
    return tuple(dict.fromkeys(param.name for cls in LEARNERS for param in cls.spec.params))


def main(args: Arguments) -> None:
    """Learn, save and say what was learned. Raises InputError for anything that a person can mend."""
    device.prepare()
    own = _read(args, "own_", PARAMS)
    paths = _paths(args)
    begun, iterations = _begin(args, own)
    begun, changed = _resumed(begun, paths, args["resume"])
    if begun.iteration > iterations:
        raise InputError(f"the checkpoint holds {begun.epoch:g} epochs already; give at least as many")
    for sentence in changed:
        print(f"pmpviz: from iteration {begun.iteration} on {sentence}", file=sys.stderr)
    compiled = compile_clock.seconds()
    done, last = _learn(begun, iterations, paths, own["every"])
    save_model(paths.out, done.model)
    found = _found(args, own, done, last) | {"resumed_from": begun.iteration, "changed": changed}
    found |= {"compile_seconds": compile_clock.seconds() - compiled, "out": paths.out, "checkpoint": paths.checkpoint}
    print(json.dumps(found) if args["json"] else _sentence(found))


def _read(args: Arguments, prefix: str, params: tuple[Param, ...]) -> Arguments:
    given = {p.name: args[prefix + p.name] for p in params}
    return {p.name: p.default if given[p.name] is None else p.parse(given[p.name]) for p in params}


def _paths(args: Arguments) -> Paths:
    if not args["out"].lower().endswith(SUFFIXES):
        raise InputError(f"the model cannot be written to {args['out'][:80]!r}; end it in {', '.join(SUFFIXES)}")
    paths = Paths(args["out"], args["checkpoint"] or f"{args['out']}.training.npz")
    data = args["data"] if os.path.exists(args["data"]) else None
    check_outputs((data,), (paths.out, paths.checkpoint))
    if os.path.exists(paths.checkpoint) and not args["resume"]:
        raise InputError(f"{paths.checkpoint[:120]!r} holds a training; add --resume to go on from it, or remove it")
    return paths


def _begin(args: Arguments, own: Arguments) -> tuple[Training, int]:
    """(the training before its first step, iterations to be done)."""
    knobs = {name: text for name in _knobs() if (text := args[f"knob_{name}"]) is not None}
    learner = make_learner(args["learner"], **knobs)
    optimiser = Optimiser(**_read(args, "optimiser_", OPTIMISER_PARAMS))
    data = _dataset(args["data"])
    model = fresh_model(own["model"], data.x, own["hidden"], own["start"], own["seed"])
    batch, key = min(own["batch"], len(data)), jax.random.key(own["seed"])
    begun = training.start(learner, model, data.x, key, optimiser, own["chains"], batch, own["form"])
    iterations = math.ceil(own["epochs"] * len(data) / batch)
    if iterations > MOST_ITERATIONS:
        raise InputError(f"this makes {iterations:,} learning steps; give at most {MOST_ITERATIONS:,}")
    return begun, iterations


def _dataset(text: str) -> Dataset:
    with tqdm(total=100, file=sys.stderr, disable=None, leave=False, unit="%") as bar:

        def tell(share: float, words: str) -> None:
            bar.set_description(words)
            bar.update(round(100 * share) - bar.n)

        return parse_dataset(text, progress=tell)


def _resumed(begun: Training, paths: Paths, resume: bool) -> tuple[Training, list[str]]:
    """(the training to go on with, what was changed about it)."""
    if not (resume and os.path.exists(paths.checkpoint)):
        return begun, []
    held = training_checkpoint.load(paths.checkpoint, begun)
    return held, training_checkpoint.changes(paths.checkpoint, begun)


def _learn(begun: Training, iterations: int, paths: Paths, every: float) -> tuple[Training, TrainingTrace | None]:
    """(the training when all is done, the trace of its last chunk), with checkpoints and a progress bar."""
    done, last, saved = begun, None, time.monotonic()
    with tqdm(total=iterations, initial=begun.iteration, unit="step", file=sys.stderr, disable=None) as bar:
        for done, last in training.stream(begun, iterations):
            bar.update(len(last.iterations))
            bar.set_postfix(epoch=f"{done.epoch:.2f}", gradient=f"{last.gradient_norm[-1]:.3g}")
            if time.monotonic() - saved >= every and done.iteration < iterations:
                training_checkpoint.save(done, paths.checkpoint)
                saved = time.monotonic()
    training_checkpoint.save(done, paths.checkpoint)
    return done, last


def _found(args: Arguments, own: Arguments, done: Training, last: TrainingTrace | None) -> Arguments:
    model, spec = done.structure, done.learner.spec
    hidden = model.hidden if isinstance(model, LayeredModel) else 0
    return {
        "data": args["data"],
        "images": len(done.data),
        "model": own["model"],
        "visible": model.n - hidden,
        "hidden": hidden,
        "learner": spec.id,
        "guarantee": spec.guarantee,
        "sampler": spec.sampler,
        "iterations": done.iteration,
        "epochs": done.epoch,
        "gradient_norm": None if last is None else float(last.gradient_norm[-1]),
        "weight_norm": None if last is None else float(last.weight_norm[-1]),
        "seconds": done.seconds,
    }


def _sentence(found: Arguments) -> str:
    units = f"{found['visible']} visible" + (f" and {found['hidden']} hidden" if found["hidden"] else "") + " units"
    return (
        f"{found['model']} of {units}, learned by {found['learner']} ({found['guarantee']}) from {found['images']:,} "
        f"images: {found['epochs']:.4g} epochs, {found['iterations']:,} steps, {found['seconds']:.2f} s and "
        f"{found['compile_seconds']:.2f} s compiling; wrote {found['out']}; "
        f"sample it with --algorithm {found['sampler']}"
    )
