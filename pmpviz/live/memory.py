"""What a server that runs for long does about memory: collect now and then, and give back what visitors have left.

Streamlit would collect after every run of every fragment, all sessions' objects each time: with eight visitors that
took most of the processor. Here it is done once for all of them (`runner.postScriptGC` is off).
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jax

from pmpviz.live.limits import limits
from pmpviz.runs import compile_clock

# Longer than a lease: what has been left is known to be left by then.
LEAST_SECONDS = 8.0
# Collecting stops every thread: no more than this share of the time goes into it.
SHARE = 0.02

# What lets go of something when somebody has left; how many programs had been compiled when they were let go, and the
# bytes that the process took at rest.
forgetting: list[Callable[[], None]] = []
_let_go = [0]
_at_rest = [0]


class Tidy:
    """A job of the worker: it tidies up some seconds after somebody has asked for it, once for all who have.

    `alone` says whether nobody else is served.
    """

    def __init__(self, alone: Callable[[], bool]) -> None:
        self._next, self._asked, self._left, self._alone = 0.0, False, False, alone

    def ask(self, left: bool) -> None:
        """Something was compiled, or somebody has `left` whose memory is to be given back."""
        if not self._asked:
            self._next = max(self._next, time.monotonic() + LEAST_SECONDS)
        self._asked, self._left = True, self._left or left

    def due(self) -> float | None:
        """Some seconds after it was asked for, and not sooner than its share of the time allows."""
        return self._next if self._asked else None

    def work(self, seconds: float) -> None:
        """Tidy up after all who have asked till now."""
        left, begun = self._left, time.monotonic()
        self._asked = self._left = False
        if left:
            give_back(self._alone())
        else:
            settle()
        now = time.monotonic()
        self._next = now + max(LEAST_SECONDS, (now - begun) / SHARE)

    def fail(self, error: Exception) -> None:
        """Leave it for the next time."""


def settle() -> None:
    """Move everything imported, traced and compiled out of the collector's sight.

    With JAX and plotly imported it would take about 110 ms each time, with every other thread waiting; 4 ms after this.
    """
    gc.collect()
    gc.freeze()
    _at_rest[0] = _at_rest[0] or resident()


def forget_programs() -> None:
    """Let go of compiled programs where there are many: those that still run are compiled, or read from disk, again."""
    if compile_clock.compilations() - _let_go[0] >= limits().programs:
        _clear()


def _clear() -> None:
    _let_go[0] = compile_clock.compilations()
    jax.clear_caches()


def give_back(alone: bool = True) -> None:
    """Collect what is out of sight, too, and hand the system the pages that are empty now, which glibc would keep.

    Where nobody is left (`alone`), and the process takes much more than at rest, compiled programs are let go as well.
    """
    for forget in forgetting:
        forget()
    _hand_back()
    if alone and resident() > _at_rest[0] + limits().left_bytes and compile_clock.compilations() > _let_go[0]:
        _clear()
        _hand_back()
    _at_rest[0] = min(_at_rest[0], resident())


def _hand_back() -> None:
    gc.unfreeze()
    settle()
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)


def resident() -> int:
    """Bytes of this process that lie in memory; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


forgetting.append(forget_programs)

__all__ = ["Tidy", "forgetting", "give_back", "settle"]
