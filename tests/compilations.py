"""Which programs are compiled meanwhile, by name: others than those in question may be, beside them."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator

import jax

EVENT = "/jax/core/compile/backend_compile_duration"


@contextlib.contextmanager
def compiled(beside: str = "background") -> Iterator[Counter[str]]:
    """Count the programs that are compiled within it (or read from the cache), but those of the worker `beside`."""
    names: Counter[str] = Counter()

    def listen(event: str, seconds: float, fun_name: str = "", **_) -> None:
        if event == EVENT and beside not in threading.current_thread().name:
            names[fun_name] += 1

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        yield names
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
