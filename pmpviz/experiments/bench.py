"""Times every workload: microseconds a unit, compilation apart, memory, and the share of the memory bandwidth reached.

With a checkout of the authors' code the two are timed in turn, in one session, and their ratio is stated with its
spread. On a CPU everything is kept to one core: throughput a core is what is compared.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from tqdm import tqdm

from pmpviz.experiments import bandwidth
from pmpviz.experiments.reference import Reference
from pmpviz.experiments.workloads import WORKLOADS, Workload, choose
from pmpviz.runs import compile_clock

__all__ = ["WORKLOADS", "Row", "main", "measure", "table"]

PAIRS = 5
LEAST_SECONDS = 0.2


@dataclass(frozen=True)
class Row:
    """What was measured of one workload; times are medians, with the least and the largest of five.

    `unit` is what `microseconds` are of; `bandwidth_share` is bytes_touched / time over the triad's bandwidth.
    `reference_microseconds` and `ratio` (theirs / ours, pair by pair) are None without a counterpart.
    """

    name: str
    title: str
    unit: str
    chains: int
    sweeps: int
    microseconds: float
    microseconds_range: tuple[float, float]
    compile_seconds: float
    temp_bytes: int | None
    state_bytes: int | None
    bytes_touched: float
    bytes_formula: str
    bandwidth_share: float
    reference_chains: int | None = None
    reference_microseconds: float | None = None
    ratio: float | None = None
    ratio_range: tuple[float, float] | None = None


def measure(workload: Workload, bytes_a_second: float, reference: Reference | None = None) -> Row:
    """Time five calls of the workload, each followed by one of the reference where it has a counterpart."""
    compiled, begin = compile_clock.seconds(), time.perf_counter()
    workload.run()
    compile_seconds = compile_clock.seconds() - compiled
    repeats = _repeats(time.perf_counter() - begin - compile_seconds)
    if reference is not None and workload.reference is not None:
        reference.prepare(workload)
    ours, theirs = [], []
    for _ in range(PAIRS):
        ours.append(_microseconds(workload, repeats))
        if reference is not None and workload.reference is not None:
            theirs.append(reference.seconds() * 1e6 / workload.reference.units)
    temp, state = workload.memory()
    touched = workload.bytes_touched()
    middle = statistics.median(ours)
    row = Row(
        workload.name,
        workload.title,
        workload.unit,
        workload.chains,
        workload.sweeps,
        middle,
        (min(ours), max(ours)),
        compile_seconds,
        temp,
        state,
        touched,
        workload.formula,
        touched / (middle * 1e-6) / bytes_a_second,
    )
    return _beside(row, workload, ours, theirs) if theirs else row


def _repeats(seconds: float) -> int:
    return max(1, round(LEAST_SECONDS / max(seconds, 1e-6)))


def _microseconds(workload: Workload, repeats: int) -> float:
    begin = time.perf_counter()
    for _ in range(repeats):
        workload.run()
    return (time.perf_counter() - begin) * 1e6 / (repeats * workload.units)


def _beside(row: Row, workload: Workload, ours: list[float], theirs: list[float]) -> Row:
    ratios = [their / our for their, our in zip(theirs, ours, strict=True)]
    return replace(
        row,
        reference_chains=workload.reference.chains if workload.reference else None,
        reference_microseconds=statistics.median(theirs),
        ratio=statistics.median(ratios),
        ratio_range=(min(ratios), max(ratios)),
    )


def table(rows: Iterable[Row]) -> str:
    """The rows as text, one line a workload."""
    rows = list(rows)
    width = max(map(len, ("workload", *(row.name for row in rows))))
    lines = [f"{'workload':<{width}}{'us':>12}{'(range)':>26}{'compile s':>11}{'temp':>10}{'state':>10}"]
    lines[0] += f"{'of memory':>11}{'reference us':>14}{'ratio':>9}  (range)"
    for row in rows:
        spread = f"({row.microseconds_range[0]:.4g} - {row.microseconds_range[1]:.4g})"
        line = f"{row.name:<{width}}{row.microseconds:>12.4g}{spread:>26}{row.compile_seconds:>11.2f}"
        line += f"{_size(row.temp_bytes):>10}{_size(row.state_bytes):>10}{row.bandwidth_share:>11.2%}"
        if row.ratio is not None and row.ratio_range is not None:
            line += f"{row.reference_microseconds:>14.4g}{row.ratio:>9.4g}"
            line += f"  ({row.ratio_range[0]:.4g} - {row.ratio_range[1]:.4g})"
        lines.append(line)
    return "\n".join(lines)


def _size(count: int | None) -> str:
    if count is None:
        return "-"
    return f"{count / 1e6:.3g} MB" if count < 0.9995e9 else f"{count / 1e9:.3g} GB"


def notes(rows: Iterable[Row]) -> str:
    """What the columns mean, and the bytes that each kind of workload must touch."""
    formulas = dict.fromkeys((row.bytes_formula, row.unit) for row in rows)
    lines = [
        "us: microseconds of one sweep of one sample, or of one call; of memory: share of the bandwidth reached if"
    ]
    lines.append("only the bytes that must be touched moved, which are (E edges, n sites, t chains a tile):")
    return "\n".join(lines + [f"  {formula} [a {unit}]" for formula, unit in formulas])


def main(workloads: list[str] | None, reference: str | None, as_json: bool) -> int:
    """Time the named workloads (all where None), beside the checkout at `reference` where given, and print them.

    Raises InputError for an unknown workload or a checkout that cannot be used.
    """
    chosen = choose(workloads)
    with contextlib.ExitStack() as stack:
        stack.enter_context(bandwidth.one_core())
        machine = bandwidth.machine()
        other = stack.enter_context(Reference(reference)) if reference is not None else None
        speed, rows = bandwidth.measure(), []
        bar = tqdm(chosen, file=sys.stderr, unit="workload")
        for workload in bar:
            bar.set_postfix_str(workload.name)
            rows.append(measure(workload, speed, other))
    if as_json:
        print(json.dumps({"machine": machine, "bytes_a_second": speed, "workloads": [asdict(row) for row in rows]}))
        return 0
    print(f"{machine}; triad {speed / 1e9:.3g} GB/s")
    print(table(rows))
    print(notes(rows))
    return 0
