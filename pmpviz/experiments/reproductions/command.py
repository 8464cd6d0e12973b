"""Runs one reproduction and prints it: `python -m pmpviz reproduce NAME`."""

from __future__ import annotations

import json
import time
from dataclasses import asdict

from pmpviz.experiments.reproductions import find
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request
from pmpviz.experiments.reproductions.figures import write
from pmpviz.experiments.reproductions.keep import Keep
from pmpviz.io.files import check_outputs
from pmpviz.runs import device
from pmpviz.types import InputError, Param

MOST_SEEDS = 100


def main(name: str, quick: bool, seeds: str | None, figure: str | None, as_json: bool, keep: str | None = None) -> None:
    """Reproduce and print; raises InputError for an unknown name, a bad number or a file that cannot be written."""
    chosen = find(name)
    count = chosen.quick_seeds if quick else chosen.seeds
    if seeds is not None:
        count = Param("seeds", "Seeds", 1, MOST_SEEDS, 1, "int").parse(seeds)
    path = figure if figure is not None or as_json else f"pmpviz-{chosen.id}.html"
    if path is not None and not path.lower().endswith(".html"):
        raise InputError(f"the figure cannot be written to {path[:80]!r}; end it in .html")
    check_outputs((), (path,))
    if keep is not None and not chosen.keeps:
        raise InputError(f"{chosen.id} has no long training to keep; leave out --keep")
    kept = None if keep is None else Keep(keep)
    device.prepare()
    begin = time.perf_counter()
    outcome = chosen.run(Request(quick, count, kept))
    seconds = time.perf_counter() - begin
    if path is not None:
        write(outcome.figure, path)
    if as_json:
        rows = [asdict(row) for row in outcome.rows]
        print(json.dumps({"name": chosen.id, "rows": rows, "seconds": seconds}))
        return
    print(table(chosen, outcome, quick, count, seconds))
    if kept is not None:
        print(kept.note())
    print(f"wrote {path}")


def table(chosen: Reproduction, outcome: Outcome, quick: bool, seeds: int, seconds: float) -> str:
    """The rows as text, with the setting above and what a reader must know below."""
    setting = chosen.quick_settings if quick else chosen.settings
    lines = [f"{chosen.title} ({chosen.id}{', quick' if quick else ''})", setting]
    width = max(len(row.quantity) for row in outcome.rows) + 2
    lines.append(f"{'quantity':<{width}}{'paper':>10}{'ours':>12}{'spread':>10}")
    for row in outcome.rows:
        lines.append(f"{row.quantity:<{width}}{_number(row.paper):>10}{_number(row.ours):>12}{_number(row.spread):>10}")
    lines += outcome.notes
    if chosen.shown:
        lines.append(f"to be watched in the app: /{chosen.shown}")
    return "\n".join([*lines, f"{seeds} seed{'s' * (seeds > 1)}, {seconds:.1f} s"])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
