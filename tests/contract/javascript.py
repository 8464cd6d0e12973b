"""Which way the browser's modules import each other: slices stand on the player, the player on itself, in no circle."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.contract.imports import ROOT

IMPORT = re.compile(r"""(?:^\s*(?:import|export)\s+(?:[^;"'()]*?\sfrom\s+)?|\bimport\()["']([^"']+)["']""", re.M)
ABROAD = re.compile(r"\.\./pmpviz\.(\w+)/(\w+\.js)")
PLAYER = "player/js"


def components(root: Path = ROOT) -> dict[str, str]:
    """The folder below `pmpviz` that each component is served from: `../pmpviz.NAME/` in an address is that folder."""
    table = tomllib.loads((root / "pmpviz" / "pyproject.toml").read_text(encoding="utf-8"))
    return {each["name"]: each["asset_dir"] for each in table["tool"]["streamlit"]["component"]["components"]}


def modules(root: Path = ROOT) -> Iterator[Path]:
    """Every module of the browser."""
    yield from sorted((root / "pmpviz").rglob("*.js"))


def imported(module: Path, root: Path = ROOT) -> Iterator[tuple[str, Path | None]]:
    """(what is written, the file that it is) of every import; None where it is no file of ours."""
    for written in IMPORT.findall(module.read_text(encoding="utf-8")):
        if abroad := ABROAD.fullmatch(written):
            folder = components(root).get(abroad[1])
            found = root / "pmpviz" / folder / abroad[2] if folder else None
        else:
            found = (module.parent / written).resolve() if written.startswith("./") else None
        yield written, found if found is not None and found.is_file() else None


def problems(root: Path = ROOT) -> list[str]:
    """One line for every import that finds no file, crosses from the player or a slice into a slice, or closes a
    circle."""
    found, edges = [], {}
    for module in modules(root):
        edges[module] = []
        for written, target in imported(module, root):
            if target is None:
                found.append(f"{module.relative_to(root)}: {written} is no file of ours")
            elif target.parent not in (module.parent, root / "pmpviz" / PLAYER):
                found.append(f"{module.relative_to(root)}: {written} belongs to another capability")
            else:
                edges[module].append(target)
    return found + [f"a circle of imports through {path.relative_to(root)}" for path in circles(edges)]


def circles(edges: dict[Path, list[Path]]) -> list[Path]:
    """The modules that reach themselves."""

    def reached(start: Path) -> set[Path]:
        seen, open_ = set(), list(edges[start])
        while open_:
            path = open_.pop()
            if path not in seen:
                seen.add(path)
                open_.extend(edges.get(path, []))
        return seen

    return [path for path in edges if path in reached(path)]
