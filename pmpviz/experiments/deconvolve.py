"""Takes images apart: `python -m pmpviz deconvolve IMAGES.npz --features 5 --feature-size 6x6 --out result.npz`."""

from __future__ import annotations

import io
import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from pmpviz.capabilities.deconvolution import posterior as deconvolution
from pmpviz.capabilities.deconvolution.posterior import Snapshot
from pmpviz.io.datasets.binary_images import images_of_npz
from pmpviz.io.files import check_outputs, read_bytes, write_bytes
from pmpviz.live.plan import SEED
from pmpviz.models.conv_or import CONV_PARAMS, ConvOR, ConvShape, clamp
from pmpviz.runs import device
from pmpviz.samplers import CONV_SAMPLERS, make_conv_sampler
from pmpviz.types import InputError, Param, Target

CHUNK = 10
MOST_SIDE, MOST_FEATURES = 64, 64

PARAMS = (
    Param("features", "Features", 1, MOST_FEATURES, 5, "int", "Features that are looked for."),
    Param("sweeps", "Sweeps", 1, 1_000_000, 1000, "int", "Updates of all messages, or full sweeps of a chain."),
    Param("samples", "Samples", 1, 64, 1, "int", "Posterior samples, each of noise of its own."),
    SEED,
    *CONV_PARAMS,
)


def add_flags(parser: ArgumentParser) -> None:
    """The flags of `deconvolve`, from the Params of the model and of the samplers."""
    parser.add_argument("images", help="an .npz file with binary images X, N x H x W or N x channels x H x W")
    parser.add_argument("--feature-size", default="6x6", help="height x width of a feature; 6x6 unless given")
    parser.add_argument("--algorithm", default="pmp", help=", ".join(cls.spec.id for cls in CONV_SAMPLERS))
    for param in PARAMS:
        words = f"{param.help} ({param.range_text()}, default {param.default})".replace("%", "%%")
        flag = f"--{param.name.replace('_', '-')}"
        parser.add_argument(flag, dest=f"own_{param.name}", metavar=param.name.upper(), help=words)
    for param in {p.name: p for cls in CONV_SAMPLERS for p in cls.spec.params}.values():
        words = f"{param.help} ({param.range_text()}, default {param.default})".replace("%", "%%")
        parser.add_argument(f"--{param.name}", dest=f"knob_{param.name}", metavar=param.name.upper(), help=words)
    parser.add_argument("--out", help="file for features, locations and reconstruction (.npz)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output, nothing else")


def main(args: dict[str, Any]) -> None:
    """Sample and say how well the images are explained. Raises InputError for anything that a person can mend."""
    device.prepare()
    own = {p.name: p.default if args[f"own_{p.name}"] is None else p.parse(args[f"own_{p.name}"]) for p in PARAMS}
    size = feature_size(args["feature_size"])
    knobs = {name.removeprefix("knob_"): value for name, value in args.items() if name.startswith("knob_")}
    algorithm = make_conv_sampler(args["algorithm"], **{k: v for k, v in knobs.items() if v is not None})
    if args["out"] is not None and not args["out"].lower().endswith(".npz"):
        raise InputError(f"the result cannot be written to {args['out'][:80]!r}; end it in .npz")
    check_outputs((args["images"],), (args["out"],))
    path = Path(args["images"])
    images = images_of_npz(read_bytes(path), path.name, size)
    model = ConvOR.of(ConvShape.of(images, own["features"], size), *(own[p.name] for p in CONV_PARAMS))
    run = deconvolution.begin(algorithm, Target.of(model, clamp(model, images)), own["seed"], own["samples"])
    shown = _sweeps(run, own["sweeps"])
    if args["out"] is not None:
        write_bytes(Path(args["out"]), _packed(shown))
    found = _found(algorithm, shown) | ({} if args["out"] is None else {"out": args["out"]})
    print(json.dumps(found) if args["json"] else _sentences(algorithm, found))


def feature_size(text: str) -> tuple[int, int]:
    """(height, width) of `6x6`; raises InputError for anything else."""
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdecimal() and len(part) < 4 and 1 <= int(part) <= MOST_SIDE for part in parts):
        raise InputError(f"the feature size is {text[:40]!r}; give height x width such as 6x6, {MOST_SIDE} at most")
    return int(parts[0]), int(parts[1])


def _sweeps(run: deconvolution.Run, sweeps: int) -> Snapshot:
    shown = deconvolution.snapshot(run)
    with tqdm(total=sweeps, unit="sweep", file=sys.stderr, disable=None) as bar:
        while run.quantum < sweeps * run.quanta:
            count = min(CHUNK * run.quanta, sweeps * run.quanta - run.quantum)
            run, shown = deconvolution.advance(run, count)
            bar.update(count // run.quanta)
            bar.set_postfix(wrong=int(shown.wrong.min()))
    return shown


def _packed(shown: Snapshot) -> bytes:
    buffer = io.BytesIO()
    names = ("features", "locations", "reconstruction", "belief", "wrong", "energy")
    np.savez_compressed(buffer, **{name: getattr(shown, name) for name in names})
    return buffer.getvalue()


def _found(algorithm, shown: Snapshot) -> dict[str, Any]:
    """What is printed: one entry a sample in every list."""
    return {
        "algorithm": algorithm.spec.id,
        "guarantee": algorithm.spec.guarantee,
        "sweeps": shown.sweep,
        "seconds": shown.seconds,
        "wrong_pixels": shown.wrong.tolist(),
        "explained_pixels": shown.explained.tolist(),
        "pixels_on": shown.on,
        "energy": [float(e) for e in shown.energy],
        "residual": [float(r) if np.isfinite(r) else None for r in shown.residual],
        "features_on": shown.features.sum((1, 3, 4)).tolist(),
        "locations_on": shown.locations.sum((1, 2, 3, 4)).tolist(),
    }


def _sentences(algorithm, found: dict[str, Any]) -> str:
    lines = [
        f"{algorithm.spec.label} ({algorithm.spec.guarantee}): {found['sweeps']:,.0f} sweeps, {found['seconds']:.2f} s"
    ]
    rows = zip(found["wrong_pixels"], found["explained_pixels"], found["locations_on"], found["energy"], strict=True)
    for place, (wrong, explained, locations, energy) in enumerate(rows):
        lines.append(
            f"sample {place}: {wrong:,} wrong pixels, {explained:,} of {found['pixels_on']:,} that are on explained by "
            f"{locations:,} places, energy {energy:.6g}"
        )
    return "\n".join(lines + ([f"wrote {found['out']}"] if "out" in found else []))


__all__ = ["add_flags", "feature_size", "main"]
