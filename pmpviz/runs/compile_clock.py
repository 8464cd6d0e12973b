"""Counts compilations and the seconds they take, per thread, so that run time is reported without them."""

from __future__ import annotations

import threading

import jax

_local = threading.local()
_lock = threading.Lock()
_total = {"compilations": 0}
_COMPILE_EVENT = "/jax/core/compile/backend_compile_duration"


def _listen(event: str, seconds: float, **_) -> None:
    if not event.startswith("/jax/core/compile/"):
        return
    _local.seconds = getattr(_local, "seconds", 0.0) + seconds
    if event == _COMPILE_EVENT:
        with _lock:
            _total["compilations"] += 1


jax.monitoring.register_event_duration_secs_listener(_listen)


def seconds() -> float:
    """Seconds that this thread has spent tracing, lowering and compiling so far."""
    return getattr(_local, "seconds", 0.0)


def compilations() -> int:
    """Programs compiled (or read from the compilation cache) by this process so far."""
    return _total["compilations"]
