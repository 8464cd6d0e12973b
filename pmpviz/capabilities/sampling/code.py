"""A plan as a Python script and as a command line, both of which give the numbers on screen again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any

from pmpviz import plugins
from pmpviz.capabilities.sampling.plan import Plan
from pmpviz.live.lane_names import lane_names
from pmpviz.live.link import text_of
from pmpviz.live.plan import Choice
from pmpviz.samplers import sampler_class

FILE_PREFIX = "file:"


def script(plan: Plan, sweeps: int | Sequence[int], states: int = 2) -> str:
    """A short Python script on the library that runs every lane of the plan for `sweeps` sweeps (or one number each).

    At each sweep at which the pages take metrics, and at the last, it prints the lane's mean energy, mean of x (or for
    more than two `states` the share of sites in each) and MMD^2 to the reference that the pages use, nan until a first
    draw is done; it writes the samples to samples.npz.
    A run is bitwise the same as on the page as long as no setting was changed in mid-run.
    """
    each = [sweeps] * len(plan.lanes) if isinstance(sweeps, int) else list(sweeps)
    settings = [*_brought(plan), _settings(plan, each)]
    parts = [_head(plan), _imports(plan), "", *settings, "", _model(plan), "", _RUN, _report(plan, states)]
    return "\n".join(parts)


def _files_of(lanes: Sequence[Choice]) -> list[str]:
    """The files of the lanes' algorithms that somebody has brought."""
    found = (plugins.file_of(sampler_class(lane.algorithm)) for lane in lanes)
    return list(dict.fromkeys(file for file in found if file is not None))


def _brought(plan: Plan) -> list[str]:
    return [f"plugins.add({_literal(file)})" for file in _files_of(plan.lanes)]


def _head(plan: Plan) -> str:
    names = ", ".join(lane.algorithm for lane in plan.lanes)
    use = "\n\nGive the model's file as the first argument.\n" if _is_file(plan) else ""
    return f'"""{plan.model} at beta = {plan.beta!r}, {plan.chains} chains: {names}.{use}"""\n'


def _is_file(plan: Plan) -> bool:
    return plan.model.startswith(FILE_PREFIX)


def _imports(plan: Plan) -> str:
    plain = ["import hashlib", "import pathlib", "import sys", ""] if _is_file(plan) else []
    helpers = [name for name, used in _helpers(plan).items() if used]
    several = ("countable, ", ", truth") if plan.chains > 1 else ("", "")
    own = [
        *(["from pmpviz import plugins"] if _files_of(plan.lanes) else []),
        "from pmpviz.io import load_model_bytes" if _is_file(plan) else "from pmpviz.models import build_spec",
        f"from pmpviz.runs import advance, {several[0]}counted, start{several[1]}",
        *([f"from pmpviz.runs.plan import {', '.join(helpers)}"] if helpers else []),
        "from pmpviz.runs.schedule import next_metric_sweep",
        "from pmpviz.samplers import make_sampler",
        f"from pmpviz.types import {'Evidence, ' if plan.clamp else ''}Target",
    ]
    return "\n".join([*plain, "import jax", "import numpy as np", "", *own])


def _helpers(plan: Plan) -> dict[str, bool]:
    return {"start_configuration": plan.start != "random", "with_field": bool(plan.field)}


def _settings(plan: Plan, sweeps: Sequence[int]) -> str:
    rows = zip(_names(plan.lanes), plan.lanes, sweeps, strict=True)
    lanes = "".join(f"    {_lane(*row)},\n" for row in rows)
    return f"CHAINS, SEED = {plan.chains}, {plan.seed}\nLANES = [  # name, algorithm, sweeps, knobs\n{lanes}]"


def _names(lanes: Sequence[Choice]) -> list[str]:
    """What the script calls each lane: its algorithm, and where that runs more than once the name on the page."""
    algorithms = [lane.algorithm for lane in lanes]
    pairs = zip(algorithms, lane_names(lanes), strict=True)
    return [name if algorithms.count(algorithm) > 1 else algorithm for algorithm, name in pairs]


def _lane(name: str, lane: Choice, sweeps: int) -> str:
    knobs = ", ".join(f"{_literal(name)}: {_literal(value)}" for name, value in lane.full_knobs.items())
    return f"({_literal(name)}, {_literal(lane.algorithm)}, {sweeps}, {{{knobs}}})"


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _model(plan: Plan) -> str:
    lines = _file_lines(plan) if _is_file(plan) else [f"model = build_spec({_literal(plan.model)})"]
    if plan.field:
        lines.append(f"model = with_field(model, {plan.field!r})")
    evidence = f"Evidence.of(model.n, {dict(plan.clamp)!r}), " if plan.clamp else ""
    random = plan.start == "random"
    lines += [
        f"target = Target.of(model, {evidence}beta={float(plan.beta)!r})",
        "x0 = None" if random else f"x0 = start_configuration({_literal(plan.start)}, model, CHAINS)",
    ]
    if plan.chains > 1:
        lines.append("reference = truth.finish(truth.build(target)).reference")
        lines.append('print("MMD^2 to", reference.source)')
    return "\n".join(lines)


def _file_lines(plan: Plan) -> list[str]:
    sha256 = plan.model[len(FILE_PREFIX) :]
    return [
        "path = pathlib.Path(sys.argv[1])",
        f'if hashlib.sha256(path.read_bytes()).hexdigest() != "{sha256}":',
        '    sys.exit(f"{path} is not the file that was on screen")',
        "model = load_model_bytes(path.name, path.read_bytes()).model",
    ]


_RUN = '''
def sample(name, algorithm, sweeps, knobs):
    """Final samples of one lane, int8 [chains, n]; prints its figures at the sweeps at which the pages take them."""
    run = start(make_sampler(algorithm, **knobs), target, jax.random.key(SEED), CHAINS, x0)
    while run.sweep < sweeps:
        until = min(next_metric_sweep(run.sweep), sweeps)
        run, trace = advance(run, (until - run.sweep) * run.quanta)
        report(name, run, trace)
    return counted(run)
'''

_REPORT = """
def report(name, run, trace):
    energy, {counted}{mmd}
    print(f"{{name}}: sweep {{run.sweep}}, energy {{energy:.9g}}, {counts}{shown}")


samples = [sample(*lane) for lane in LANES]
np.savez_compressed("samples.npz", {save})
"""


_MEAN = "mean = trace.energies[-1].mean(), trace.means[-1].mean()", "mean of x {mean:.9g}"
_SHARES = "shares = trace.energies[-1].mean(), trace.shares[-1].mean(0)", "shares of states {shares.tolist()}"


def _report(plan: Plan, states: int) -> str:
    counted, counts = _MEAN if states == 2 else _SHARES
    mmd = "\n    mmd2 = reference.mmd2(counted(run)) if countable(run) else float('nan')" if plan.chains > 1 else ""
    shown = ", MMD^2 {mmd2:.9g}" if plan.chains > 1 else ""
    save = "x=samples[0]" if len(plan.lanes) == 1 else '**{f"lane{i + 1}": x for i, x in enumerate(samples)}'
    return _REPORT.format(mmd=mmd, shown=shown, save=save, counted=counted, counts=counts)


def command(plan: Plan, lane: int | Choice, sweeps: int, out: str = "samples.npz") -> str:
    """The shell command that writes this lane's samples after `sweeps` sweeps; `lane` is its index or the lane."""
    chosen = plan.lanes[lane] if isinstance(lane, int) else lane
    words: list[Any] = ["python", "-m", "pmpviz", "sample", "MODEL.uai" if _is_file(plan) else plan.model]
    words += ["--algorithm", chosen.algorithm, "--sweeps", sweeps, "--chains", plan.chains, "--seed", plan.seed]
    for name, value in chosen.full_knobs.items():
        words += [f"--{name.replace('_', '-')}", value]
    words += ["--beta", float(plan.beta), "--start", plan.start]
    words += ["--evidence", "clamped.evid"] if plan.clamp else []
    words += [word for file in _files_of([chosen]) for word in (plugins.FLAG, file)]
    return shlex.join(text_of(word) for word in [*words, "--out", out])


def command_limits(plan: Plan) -> list[str]:
    """One sentence for each thing that the command needs beside it, or leaves out."""
    sentences = []
    if _is_file(plan):
        sentences.append("Put the path of your file in place of MODEL.uai.")
    if plan.clamp:
        sentences.append("Put clamped.evid from the export beside it: it holds the clamped sites.")
    if plan.field:
        sentences.append("The command leaves the painted field out; the script has it.")
    return sentences


def evidence_file(plan: Plan) -> bytes:
    """The clamped sites as a UAI evidence file: their number, then site and value of each."""
    clamp = dict(plan.clamp)
    words = [len(clamp), *(word for pair in clamp.items() for word in pair)]
    return (" ".join(map(str, words)) + "\n").encode()
