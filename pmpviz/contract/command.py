"""`python -m pmpviz contract`: the laws of algorithms that somebody brings, one line each."""

from __future__ import annotations

import json
import time
from typing import Any

from pmpviz import plugins
from pmpviz.contract.clauses import Clause, clauses_of
from pmpviz.experiments.registries import REGISTRIES, troubles
from pmpviz.plugins import spec_of
from pmpviz.types import InputError


def main(ids: list[str] | None, laws: list[str] | None, as_json: bool) -> None:
    """Try the laws (those of these names, or all) of the algorithms of these ids, or of all that people have brought.

    Raises InputError where a law is broken, where there is nothing to try, or for an unknown name.
    """
    chosen = _chosen(ids)
    report: list[dict[str, Any]] = []
    broken: list[str] = [] if ids else list(plugins.troubles())
    for kind, entry in chosen:
        spec = spec_of(entry)
        wanted = _wanted(clauses_of(kind, entry), laws)
        if not as_json:
            print(f"{spec.id}: {spec.label}, {kind}", flush=True)
        rows: list[dict[str, Any]] = []
        for clause in wanted:
            begin = time.perf_counter()
            holds, found = clause.judge()
            rows.append({"law": clause.name, "says": clause.words, "holds": holds, "found": found})
            if not as_json:
                _print(clause.name, clause.words, holds, found, time.perf_counter() - begin)
        report.append({"id": spec.id, "kind": kind, "laws": rows})
        lost = [row["law"] for row in rows if not row["holds"]]
        broken += [f"{spec.id} breaks {', '.join(lost)}"] if lost else []
        if not as_json:
            print(f"  {sum(row['holds'] for row in rows)} of {len(rows)} laws hold", flush=True)
    if as_json:
        print(json.dumps(report))
    if broken:
        raise InputError("; ".join(broken))


def _wanted(clauses: list[Clause], laws: list[str] | None) -> list[Clause]:
    if not laws:
        return clauses
    names = [clause.name for clause in clauses]
    for law in laws:
        if law.replace("_", " ") not in names:
            raise InputError(f"there is no law {law[:40]!r} for it; choose from {', '.join(names)}")
    return [clause for clause in clauses if clause.name in {law.replace("_", " ") for law in laws}]


def _print(name: str, words: str, holds: bool, found: str, seconds: float) -> None:
    head = "holds " if holds else "BROKEN"
    tail = f"{found}, {seconds:.1f} s" if found and holds else f"{seconds:.1f} s"
    print(f"  {head}  {name}: {words} ({tail})", flush=True)
    if not holds:
        print(f"          {found}", flush=True)


def _chosen(ids: list[str] | None) -> list[tuple[str, Any]]:
    left_out = troubles()
    if not ids:
        yours = [(kind, entry) for kind, registry in REGISTRIES.items() for entry in registry.yours]
        if not yours:
            raise InputError(
                "; ".join(left_out) or "there is nothing of yours; give --plugin FILE.py, or an algorithm's --id"
            )
        return yours
    found = [(kind, e) for kind, registry in REGISTRIES.items() for e in registry if spec_of(e).id in ids]
    for id in ids:
        if id not in {spec_of(entry).id for _, entry in found}:
            raise InputError(f"there is no {id[:40]!r} among all that can be run; see `python -m pmpviz list`")
    return found
