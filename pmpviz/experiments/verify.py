"""Checks exact answers and samplers on UAI files with known answers: `python -m pmpviz.experiments.verify FOLDER`.

FOLDER holds `uai/answers.json` (a list of {"file", "log_z", "marginals"}) and the files that it names. Marginals are
p(x = 1) of a two-state variable, or the probabilities of all states of any.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
from tqdm import tqdm

from pmpviz import exact, runs
from pmpviz.io import load_model
from pmpviz.io.files import read_text
from pmpviz.metrics.marginals import frequencies, marginal_l1, marginal_l1_floor
from pmpviz.samplers import make_sampler
from pmpviz.types import Exact, InputError, Target

CHAINS, SWEEPS, PMP_SWEEPS = 20_000, 300, 50
MIXING, TRAPPED = ("clique_5.uai", "clique_105.uai"), "grid5x5_1.uai"
CHAIN_SAMPLERS = ("gibbs", "colour_gibbs", "gwg")
LIMIT = 0.01


@dataclass(frozen=True)
class Solved:
    """Errors of one file's exact answer: of log Z relative, of the worst marginal, and the seconds it took."""

    file: str
    log_z: float
    marginal: float
    seconds: float
    method: str


@dataclass(frozen=True)
class Sampled:
    """Marginal L1 of one sampler on one file beside what as many independent draws of the truth show on average.

    `worst` is the largest deviation of a marginal in standard errors of independent draws.
    """

    file: str
    algorithm: str
    start: str
    sweeps: int
    l1: float
    floor: float
    worst: float
    seconds: float


def solve(folder: Path, answer: dict[str, Any]) -> Solved:
    """Solve one file as `python -m pmpviz exact` does and compare with its answer."""
    begin = time.perf_counter()
    loaded = load_model(folder / answer["file"])
    solved = exact.solve(Target.of(loaded.model), loaded.tables)
    seconds = time.perf_counter() - begin
    return Solved(
        answer["file"],
        abs(solved.log_z - answer["log_z"]) / abs(answer["log_z"]),
        worst_error(solved, answer),
        seconds,
        solved.method,
    )


def worst_error(solved: Exact, answer: dict[str, Any]) -> float:
    """The largest |p(x_i = k) - answer| over all variables and states; raises InputError where the states differ."""
    rows = [each if isinstance(each, list) else [1 - each, each] for each in answer["marginals"]]
    assert solved.marginals is not None
    if [len(row) for row in rows] != [len(row) for row in solved.marginals]:
        raise InputError(
            f"the answer of {answer['file']} has other variables or states than the file; mend answers.json"
        )
    return max(float(np.abs(p - row).max()) for p, row in zip(solved.marginals, rows, strict=True))


def worst_deviation(x: np.ndarray, solved: Exact) -> float:
    """The largest deviation of a state's share from its probability, in standard errors of independent draws."""
    assert solved.marginals is not None
    shares = frequencies(x, max(map(len, solved.marginals)))
    found = np.concatenate([row[: len(p)] for row, p in zip(shares, solved.marginals, strict=True)])
    p = np.concatenate(solved.marginals)
    return float((np.abs(found - p) / np.sqrt(np.maximum(p * (1 - p), 1e-12) / len(x))).max())


def sample(target: Target, solved: Exact, file: str, algorithm: str, start: str, sweeps: int) -> Sampled:
    """Run one sampler as `python -m pmpviz sample` does at seed 0 and compare its marginals with the exact ones."""
    assert solved.marginals is not None and solved.sample is not None
    begin = time.perf_counter()
    x0 = solved.sample(0, CHAINS) if start == "exact" else None
    x = runs.sample(make_sampler(algorithm), target, jax.random.key(0), CHAINS, sweeps, x0)
    return Sampled(
        file,
        algorithm,
        start,
        sweeps,
        marginal_l1(x, solved.marginals),
        marginal_l1_floor(solved.marginals, CHAINS),
        worst_deviation(x, solved),
        time.perf_counter() - begin,
    )


def compare(folder: Path) -> list[Sampled]:
    """All samplers on the three files, from random starts; on the file that traps them from exact starts too."""
    rows = []
    for file in (*MIXING, TRAPPED):
        loaded = load_model(folder / file)
        target = Target.of(loaded.model)
        solved = exact.solve(target, loaded.tables)
        plans = [(name, "random", SWEEPS) for name in CHAIN_SAMPLERS]
        plans += [(name, "exact", SWEEPS) for name in CHAIN_SAMPLERS if file == TRAPPED]
        plans += [("exact", "random", 1), ("pmp", "random", PMP_SWEEPS)]
        rows += [sample(target, solved, file, *plan) for plan in tqdm(plans, desc=file, file=sys.stderr, disable=None)]
    return rows


def failures(solved: list[Solved], sampled: list[Sampled]) -> list[str]:
    """What misses its limit: 1e-4 and 10 s for answers, marginal L1 0.01 for chains that can mix, 5 standard errors
    for the exact sampler."""
    wrong = [row.file for row in solved if max(row.log_z, row.marginal) > 1e-4 or row.seconds > 10]
    for row in sampled:
        mixes = row.algorithm in CHAIN_SAMPLERS and (row.file != TRAPPED or row.start == "exact")
        if (mixes and row.l1 > LIMIT) or (row.algorithm == "exact" and row.worst > 5):
            wrong.append(f"{row.algorithm} on {row.file} from {row.start}")
    return wrong


def table(solved: list[Solved], sampled: list[Sampled]) -> str:
    """Both tables as text: the worst exact answers, and every sampler."""
    lines = [f"exact on {len(solved)} files: worst of"]
    for name in ("log_z", "marginal", "seconds"):
        value, worst = max(((getattr(row, name), row) for row in solved), key=lambda pair: pair[0])
        lines.append(f"  {name:<10}{value:>10.3g}  {worst.file} ({worst.method})")
    lines.append(f"samplers, {CHAINS:,} chains, seed 0:")
    lines.append(f"  {'file':<16}{'algorithm':<14}{'start':<8}{'sweeps':>6}{'L1':>10}{'floor':>10}{'worst se':>10}")
    lines[-1] += f"{'seconds':>9}"
    for row in sampled:
        line = f"  {row.file:<16}{row.algorithm:<14}{row.start:<8}{row.sweeps:>6}{row.l1:>10.5f}{row.floor:>10.5f}"
        lines.append(line + f"{row.worst:>10.1f}{row.seconds:>9.1f}")
    lines.append("L1: mean over the variables of |share of x = 1 - p|; floor: what independent draws would show; worst")
    lines.append(f"se: the largest deviation in their standard errors. {TRAPPED} traps chains that start at random.")
    return "\n".join(lines)


def main(folder: str) -> int:
    """Check and print everything; 1 where a limit is missed, 2 where the folder holds no such data."""
    uai = Path(folder) / "uai"
    try:
        answers = json.loads(read_text(uai / "answers.json"))
        solved = [solve(uai, answer) for answer in tqdm(answers, file=sys.stderr, disable=None)]
        sampled = compare(uai)
    except InputError as error:
        print(f"verify: {error}", file=sys.stderr)
        return 2
    print(table(solved, sampled))
    wrong = failures(solved, sampled)
    print(f"missed: {'; '.join(wrong)}" if wrong else "all limits kept")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("give the folder that holds uai/answers.json: python -m pmpviz.experiments.verify FOLDER")
    sys.exit(main(sys.argv[1]))
