"""The machine: its name, the memory bandwidth that a large triad reaches, and how to keep to one of its cores."""

from __future__ import annotations

import contextlib
import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path

import jax
import jax.numpy as jnp

TRIAD_BYTES = 1 << 28
# An accelerator is through with less before it has well begun.
ACCELERATED = 16
REPEATS = 7


def measure(total: int = TRIAD_BYTES, repeats: int = REPEATS) -> float:
    """Bytes a second of a = b + s c over arrays of `total` bytes in all (STREAM triad; three arrays are counted).

    An accelerator is given sixteen times as many. The best of `repeats` runs on JAX's default device, with as many
    cores as XLA takes.
    """
    count = max(total * (1 if jax.default_backend() == "cpu" else ACCELERATED) // 12, 1)
    triad = jax.jit(lambda b, c, s: b + s * c)
    b, c = jnp.ones(count, jnp.float32), jnp.full(count, 2.0, jnp.float32)
    jax.block_until_ready(triad(b, c, jnp.float32(0.5)))
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        jax.block_until_ready(triad(b, c, jnp.float32(0.5)))
        best = min(best, time.perf_counter() - begin)
    return 12 * count / best


@contextlib.contextmanager
def one_core() -> Iterator[bool]:
    """Keep this process, its threads and its children to one core; gives whether the system can.

    Programs then differ in the work they do and not in how many cores they find free.
    """
    tasks = Path("/proc/self/task")
    if not hasattr(os, "sched_setaffinity") or not tasks.is_dir():
        yield False
        return
    allowed = os.sched_getaffinity(0)
    _keep_to(tasks, {max(allowed)})
    try:
        yield True
    finally:
        _keep_to(tasks, allowed)


def _keep_to(tasks: Path, cores: set[int]) -> None:
    for task in tasks.iterdir():
        with contextlib.suppress(OSError):  # A thread may have ended meanwhile.
            os.sched_setaffinity(int(task.name), cores)


def machine() -> str:
    """Processor, cores that this process may use, accelerator if JAX has one, and JAX's version."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    parts = [_processor(), f"{cores} core{'s' * (cores != 1)}"]
    device = jax.devices()[0]
    if device.platform != "cpu":
        parts.append(device.device_kind)
    return ", ".join([*parts, f"JAX {jax.__version__}"])


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    known = [fields[name] for name in ("model name", "cpu family", "model") if name in fields]
    if not known:
        return platform.processor() or platform.machine()
    return known[0] if len(known) < 3 else f"{known[0]} (family {known[1]}, model {known[2]})"
