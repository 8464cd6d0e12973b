"""The sampler of the guide as a file of one's own, and files that are wrong in one way each."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GUIDE = re.findall(r"```python\n(.*?)```", (ROOT / "pmpviz/samplers/README.md").read_text(), re.S)[0]


def changed(*changes: tuple[str, str]) -> str:
    """The guide's code with pieces of it replaced, each of which it holds."""
    code = GUIDE
    for old, new in changes:
        assert old in code, old
        code = code.replace(old, new)
    return code


# Accepts as if the target were hotter: the wrong law.
WRONG = changed(('id="metropolis"', 'id="hasty"'), ("< gain", "< 0.5 * gain"))
STUMBLES = changed(("x, accepted = carry", "x, accepted = carry\n            1 / 0"))
# File by file, what is to be said of it.
UNUSABLE = {
    "raises": ("raise ValueError('no luck')", "ValueError: no luck"),
    "leaves": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "syntax": ("def f(:", "SyntaxError"),
    "empty": ("x = 1", "it holds no algorithm"),
    "taken": (changed(('id="metropolis"', 'id="gibbs"')), "there is another 'gibbs'"),
    "nameless": (changed(('id="metropolis"', 'id="Metro polis"')), "is no word of small letters"),
    "plain": (changed(("class Metropolis(Algorithm)", "class Metropolis")), "let it inherit pmpviz.types.Algorithm"),
    "leaf": (changed(("@pytree\n", "")), "put @pytree"),
    "half": (changed(("def position", "def placement")), "it has not all of init, step and position"),
    "knobless": (changed(("    spec = SPEC", "    spec = SPEC\n    knob: float")), "missing 1 required"),
    "kindless": (changed(('kind="chain"', 'kind="walk"')), "is no sampler, learner, oracle, solver or model builder"),
}
