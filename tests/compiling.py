"""Programs of tests are compiled quickly, but where a test is marked `as_shipped`."""

from __future__ import annotations

import jax
from jax._src import compiler

# What tests compile runs for a moment: half the time of compiling it is saved, and the same arithmetic is done. Without
# any optimisation a little more would be saved, but the laws' many chains would run five times longer.
QUICKLY = (("xla_cpu_use_fusion_emitters", False), ("xla_backend_optimization_level", 1))
_now = {"quickly": False}


def install() -> None:
    """Let programs be compiled quickly from here on where they are asked to be.

    An inner name of JAX, whose own way takes options of single programs only; where it is gone, tests take longer.
    """
    real = getattr(compiler, "get_compile_options", None)

    def options(*args, **kwargs):
        found = real(*args, **kwargs)
        if _now["quickly"]:
            # What a program asks for itself comes last, and counts.
            found.env_option_overrides = [*QUICKLY, *found.env_option_overrides]
        return found

    if real is not None:
        compiler.get_compile_options = options


def compile_quickly(whether: bool) -> None:
    """Programs that were compiled the other way are given up."""
    if _now["quickly"] is not whether:
        jax.clear_caches()
        _now["quickly"] = whether
