"""Marginals and log Z of a model from the command line: `python -m pmpviz infer`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from pmpviz.io.files import check_outputs, write_bytes
from pmpviz.io.uai import write_mar, write_pr
from pmpviz.marginals import Inferred, MarginalSolver, infer
from pmpviz.marginals.anytime import Limit
from pmpviz.marginals.plain import as_object
from pmpviz.models.tables import TableModel
from pmpviz.types import InputError, Param, Target

SUFFIXES = {".mar": "marginals", ".pr": "log Z"}


def flags(classes: Sequence[Any]) -> dict[str, tuple[Param, str]]:
    """Every knob of every algorithm once: the first one's Param, and words on who has it in what range."""
    found: dict[str, tuple[Param, str]] = {}
    for cls in classes:
        for param in cls.spec.params:
            owners = [(c.spec.id, p) for c in classes for p in c.spec.params if p.name == param.name]
            ranges = "; ".join(f"{owner}: {p.range_text()}, default {p.default}" for owner, p in owners)
            found.setdefault(param.name, (param, f"{param.help} ({ranges})".replace("%", "%%")))
    return found


def main(
    algorithm: MarginalSolver,
    target: Target,
    tables: TableModel | None,
    out: str | None,
    as_json: bool,
    limit: Limit | None = None,
) -> None:
    """Infer to the end or to the limit, print, and write the file.

    Raises InputError before the work where the file's name does not fit.
    """
    suffix = Path(out).suffix.lower() if out is not None else ".mar"
    if suffix not in SUFFIXES:
        raise InputError(f"the answer cannot be written to {str(out)[:80]!r}; end it in .MAR or .PR")
    if suffix == ".pr" and "objective" not in algorithm.spec.metrics:
        raise InputError(f"{algorithm.spec.id} gives no estimate of log Z; write the marginals (.MAR) instead")
    check_outputs((), (out,))
    found = _watched(algorithm, target, tables, limit)
    if limit is not None:
        limit.over()
    if out is not None:
        write_bytes(Path(out), (write_mar(found.marginals) if suffix == ".mar" else _pr(found)).encode())
    if as_json:
        print(json.dumps(as_object(algorithm, found)), flush=True)
        return
    print(_table(algorithm, found) + (f"\nwrote {out}" if out is not None else ""), flush=True)


def _pr(found: Inferred) -> str:
    if found.answer.log_z is None:
        raise InputError(f"there is no estimate of log Z ({found.reason}); write the marginals (.MAR) instead")
    return write_pr(float(found.answer.log_z))


def _watched(algorithm: MarginalSolver, target: Target, tables: TableModel | None, limit: Limit | None) -> Inferred:
    with tqdm(unit=f" {algorithm.spec.update}", disable=None) as bar:

        def progress(state) -> None:
            last = state.trace[-1] if state.trace else {}
            known = {"bound": last.get("best_bound", last.get("bound")), "gap": last.get("gap")}
            shown = {name: f"{value:.6g}" for name, value in known.items() if value is not None}
            bar.set_postfix(shown, refresh=False) if shown else None
            bar.update(len(state.trace) - bar.n)

        return infer(algorithm.unhurried(), target, tables, progress, limit)


def _table(algorithm: MarginalSolver, found: Inferred) -> str:
    answer, spec = found.answer, algorithm.spec
    promise = "no bound" if spec.guarantee == "bound" and answer.bound is None else spec.guarantee
    lines = [f"{spec.label} ({promise}): {found.reason}; {found.seconds:.2f} s"]
    lines += [found.words] if found.words else []
    for name, value in (("log Z", answer.log_z), ("log Z at most", answer.bound), ("log Z at least", answer.lower)):
        if value is not None:
            error = answer.standard_error if name == "log Z" and answer.mean_maximum is None else None
            lines.append(f"{name} = {value:.9g}" + ("" if error is None else f" +- {error:.3g}"))
    if answer.mean_maximum is not None:
        error = answer.standard_error or 0.0
        lines.append(f"mean perturbed maximum = {answer.mean_maximum:.9g} +- {error:.3g}, above log Z on average")
    if answer.log_z is not None and answer.bound is None:
        lines.append("this log Z bounds nothing")
    if answer.oracle_calls:
        lines.append(f"{answer.oracle_calls:,} MAP calls" + (f", last gap {answer.gap:.4g}" if answer.gap else ""))
    rows = ("\t".join([str(i), *(f"{p:.9f}" for p in row)]) for i, row in enumerate(found.marginals))
    return "\n".join([*lines, *rows])


__all__ = ["as_object", "flags", "main"]
