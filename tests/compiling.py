"""Programs of tests are compiled quickly, but where a test is marked `as_shipped`."""

from __future__ import annotations

import os

import jax
from jax._src import compiler

# What the app's programs are, but compiled in one part: programs are small, and to cut one up only adds to the work.
AS_SHIPPED = (("xla_cpu_parallel_codegen_split_count", 1),)
# The same arithmetic is done, by simpler loops; JAX 0.11 has no such choice, and ends a program that makes it.
LOOPS = (("xla_cpu_use_fusion_emitters", False),) if jax.__version_info__ < (0, 11) else ()
SIMPLY = (*LOOPS, *AS_SHIPPED)
# What tests compile runs for a moment: more than half the time of compiling it is saved.
QUICKLY = (*SIMPLY, ("xla_backend_optimization_level", 1))
# Of what is left two thirds again; but what runs for long, as the many chains of a law do, runs five times longer.
BRIEFLY = (*SIMPLY, ("xla_backend_optimization_level", 0))
_now: dict[str, tuple[tuple[str, bool | int], ...]] = {"options": ()}


def flags(options: tuple[tuple[str, bool | int], ...]) -> str:
    """The environment's XLA_FLAGS for a process whose programs are all compiled by these options."""
    told = [f"--{name}={str(value).lower()}" for name, value in options]
    return " ".join([os.environ.get("XLA_FLAGS", ""), *told]).strip()


def install() -> None:
    """Let programs be compiled by the options of `compile_by` from here on.

    An inner name of JAX, whose own way takes options of single programs only; where it is gone, tests take longer.
    """
    real = getattr(compiler, "get_compile_options", None)

    def options(*args, **kwargs):
        found = real(*args, **kwargs)
        # What a program asks for itself comes last, and counts.
        found.env_option_overrides = [*_now["options"], *found.env_option_overrides]
        return found

    if real is not None:
        compiler.get_compile_options = options


def compile_by(options: tuple[tuple[str, bool | int], ...]) -> None:
    """Compile by these options; programs that were compiled by others are given up."""
    if _now["options"] != options:
        jax.clear_caches()
        _now["options"] = options
