"""Writes the README's tables of algorithms from the registries: `python -m pmpviz.experiments.readme`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from pmpviz.learning import LEARNERS
from pmpviz.marginals import SOLVERS
from pmpviz.plugins import Registry
from pmpviz.samplers import SAMPLERS

README = Path(__file__).resolve().parents[2] / "README.md"
HEADINGS: dict[str, Registry] = {
    "## Algorithms": SAMPLERS,
    "## Marginals and log Z": SOLVERS,
    "## Learners": LEARNERS,
}
HEAD = "| id | | says of itself |\n|---|---|---|\n"


def table(registry: Registry) -> str:
    """One row for each of the program's own algorithms: id, what it is and does, its guarantee."""
    return HEAD + "".join(_row(cls.spec) for cls in registry.own)


def _row(spec: Any) -> str:
    words = f"**{spec.label}**: {spec.summary} ({spec.paper})" if spec.paper else f"**{spec.label}**: {spec.summary}"
    return f"| `{spec.id}` | {' '.join(words.split()).replace('|', chr(92) + '|')} | {spec.guarantee} |\n"


def rewritten(text: str) -> str:
    """The README with the tables below these headings as the registries have them now."""
    for heading, registry in HEADINGS.items():
        found = re.search(rf"(?<=^{re.escape(heading)}\n\n)(\|.*\n)+", text, re.M)
        if found is None:
            raise ValueError(f"the README has no table below {heading!r}")
        text = text[: found.start()] + table(registry) + text[found.end() :]
    return text


def main() -> int:
    """Rewrite the README where it differs."""
    before = README.read_text(encoding="utf-8")
    after = rewritten(before)
    if after != before:
        README.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
