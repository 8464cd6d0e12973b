"""Which way knowledge flows: the rooms of the house, and a walk over the imports that finds back edges."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Higher rooms may import lower ones and their neighbours on the same floor, as long as neighbours form no circle.
FLOORS: tuple[frozenset[str], ...] = (
    frozenset({"types"}),
    frozenset({"keys", "numerals", "plugins", "tiles"}),
    frozenset({"models"}),
    frozenset({"exact", "messages", "oracles"}),
    frozenset({"marginals", "samplers"}),
    frozenset({"learning"}),
    frozenset({"runs"}),
    frozenset({"live"}),
    frozenset({"player"}),
    frozenset({"app"}),
    frozenset({"capabilities"}),
    frozenset({"contract", "experiments", "pages"}),
    frozenset({"app.py", "pmpviz", "__main__"}),
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
# These stand on the lowest rooms alone, beside the tower, and are used from `learning` up.
BESIDE = frozenset({"metrics", "io"})
UNDER_BESIDE = frozenset({"types", "keys", "tiles", "models"})
ABOVE_BESIDE = FLOOR["learning"]
STREAMLIT_ROOMS = frozenset({"app", "pages", "app.py"})
# Within a slice these alone import streamlit: modules, or folders of modules.
STREAMLIT_MODULES = frozenset({"page", "controls"})
# What other slices may import of a slice.
HAND_OVER = "hand_over"


def sources(root: Path = ROOT) -> Iterator[Path]:
    """Every Python file of the program."""
    yield from sorted((root / "pmpviz").rglob("*.py"))
    yield from sorted((root / "pages").rglob("*.py"))
    if (root / "app.py").exists():
        yield root / "app.py"


def room_of(path: Path, root: Path = ROOT) -> str:
    """The room a file belongs to; the package's own `__init__` is the top."""
    parts = path.relative_to(root).with_suffix("").parts
    if parts[0] != "pmpviz":
        return "app.py" if parts == ("app",) else parts[0]
    return "pmpviz" if parts[1] == "__init__" else parts[1]


def imported(tree: ast.AST, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of every import, those inside functions and relative ones included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            prefix = [*base, *(node.module or "").split(".")] if node.module else list(base)
            yield from ((node.lineno, ".".join([*prefix, alias.name])) for alias in node.names)
        elif isinstance(node, ast.Call) and _is_import_call(node.func) and node.args:
            if isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
                yield node.lineno, node.args[0].value


def _is_import_call(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("import_module", "__import__")


def room_imported(name: str) -> str | None:
    """The room that a dotted name lies in; None for what is not ours."""
    parts = name.split(".")
    if parts[0] in ("pages", "app"):
        return "app.py" if parts[0] == "app" else parts[0]
    if parts[0] != "pmpviz" or parts[1:2] == ["__version__"]:
        return None
    return parts[1] if len(parts) > 1 else "pmpviz"


def forbidden(room: str, other: str) -> str | None:
    """Why `room` may not import `other`, or None."""
    for name in (room, other):
        if name not in FLOOR and name not in BESIDE:
            return f"{name} is no room of the house; give it a floor in tests/contract/imports.py"
    if room == other:
        return None
    if room in BESIDE:
        return None if other in UNDER_BESIDE else f"{room} stands on types and models alone, not on {other}"
    if other in BESIDE:
        return None if FLOOR[room] >= ABOVE_BESIDE else f"{room} is below learning and may not use {other}"
    return None if FLOOR[other] <= FLOOR[room] else f"{room} may not know of {other}, which is above it"


def slice_of(parts: tuple[str, ...]) -> str | None:
    """The slice that a path or a dotted name lies in."""
    return parts[2] if parts[:2] == ("pmpviz", "capabilities") and len(parts) > 3 else None


def may_draw(place: Path) -> bool:
    """Whether the file at this place may import streamlit."""
    if slice_of(place.parts):
        return not STREAMLIT_MODULES.isdisjoint(place.with_suffix("").parts[3:])
    return room_of(place, Path()) in STREAMLIT_ROOMS


def across_slices(place: Path, name: str) -> str | None:
    """Why a slice may not import this name of another slice, or None."""
    own, parts = slice_of(place.parts), tuple(name.split("."))
    other = parts[2] if parts[:2] == ("pmpviz", "capabilities") and len(parts) > 2 else None
    if own is None or other is None or own == other or HAND_OVER in parts:
        return None
    return f"slice {own} may use of slice {other} its {HAND_OVER} only"


def back_edges(root: Path = ROOT) -> list[str]:
    """One line for every import against the direction, of streamlit outside its rooms, or in a circle of rooms."""
    problems, edges = [], set()
    for path in sources(root):
        room, place = room_of(path, root), path.relative_to(root)
        package = place.with_suffix("").parts[:-1]
        for line, name in imported(ast.parse(path.read_text(encoding="utf-8")), package):
            if name.split(".")[0] == "streamlit" and not may_draw(place):
                problems.append(f"{place}:{line}: streamlit belongs to app, the slices' pages, pages and app.py")
            if reason := across_slices(place, name):
                problems.append(f"{place}:{line}: {reason}")
            other = room_imported(name)
            if other is None:
                continue
            edges.add((room, other))
            if reason := forbidden(room, other):
                problems.append(f"{place}:{line}: {reason}")
    circles = [f"{a} and {b} import each other" for a, b in sorted(edges) if a < b and (b, a) in edges]
    return problems + circles
