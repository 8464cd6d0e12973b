"""MAP by outside solvers (extra `solvers`), each problem in a process of its own that is ended when its time is up."""

from __future__ import annotations

import atexit
import importlib.util
import json
import queue
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pmpviz.oracles.icm import MultiStart
from pmpviz.oracles.oracle import MapOracle, OracleSpec, Solution
from pmpviz.oracles.potentials import Potentials
from pmpviz.types import Param, Refusal, Style

# Seconds after its limit at which a process is ended; before it at which a solver is asked to stop by itself.
GRACE, EARLY = 0.5, 0.1
MOST_IDLE = 2
MOST_ENTRIES = 2_000_000


def installed(library: str) -> bool:
    """Whether a library can be imported."""
    return importlib.util.find_spec(library) is not None


class Process:
    """A running `solver_process`, which answers one problem at a time."""

    def __init__(self, solver: str):
        script = Path(__file__).with_name("solver_process.py")
        # -P: its own folder is no place to import from.
        command = [sys.executable, "-P", str(script), solver]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.ready = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.lines.put(line)
        self.lines.put(None)

    def wait_until_ready(self, deadline: float) -> None:
        """Raise `queue.Empty` where it has not started by then, and Refusal where it never will."""
        if not self.ready:
            self._line(deadline)
            self.ready = True

    def answer(self, problem: dict, deadline: float) -> dict:
        """Its answer; raises `queue.Empty` at the deadline (of `time.monotonic`), and Refusal where it ended."""
        try:
            print(json.dumps(problem), file=self.process.stdin, flush=True)
        except OSError:
            raise Refusal("the solver's process ended before it was asked; try again") from None
        return json.loads(self._line(deadline))

    def _line(self, deadline: float) -> str:
        line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
        if line is None:
            raise Refusal(f"the solver's process ended with code {self.process.wait()}; try a smaller model")
        return line

    def end(self) -> None:
        """End the process, and wait for its end."""
        self.process.kill()
        self.process.wait()


class Pool:
    """Processes that are idle, by solver: a start takes a second, a small problem milliseconds."""

    def __init__(self):
        self._idle: dict[str, list[Process]] = {}
        self._lock = threading.Lock()
        atexit.register(self.end)

    def take(self, solver: str) -> Process:
        """An idle process, or a new one."""
        with self._lock:
            idle = self._idle.setdefault(solver, [])
            while idle:
                process = idle.pop()
                if process.process.poll() is None:
                    return process
        return Process(solver)

    def give_back(self, solver: str, process: Process) -> None:
        """Keep a process for the next problem."""
        with self._lock:
            idle = self._idle.setdefault(solver, [])
            if len(idle) < MOST_IDLE:
                return idle.append(process)
        process.end()

    def end(self) -> None:
        """End all that are idle."""
        with self._lock:
            for processes in self._idle.values():
                for process in processes:
                    process.end()
            self._idle.clear()


POOL = Pool()


def _ask(solver: str, potentials: Potentials, seconds: float) -> dict | None:
    """The solver's answer, or None where its time was up."""
    begin, process = time.monotonic(), POOL.take(solver)
    try:
        process.wait_until_ready(begin + seconds)
    except queue.Empty:
        # It is left to start, for the next problem.
        POOL.give_back(solver, process)
        return None
    left = seconds - (time.monotonic() - begin)
    try:
        answer = process.answer(_problem(potentials) | {"seconds": max(left - EARLY, EARLY)}, begin + seconds + GRACE)
    except queue.Empty:
        process.end()
        return None
    except BaseException:
        process.end()
        raise
    POOL.give_back(solver, process)
    if "error" in answer:
        raise Refusal(f"the solver {solver} failed: {answer['error']}")
    return answer


def _problem(potentials: Potentials) -> dict:
    s = potentials.structure
    rows = [row[:states].tolist() for row, states in zip(potentials.unary, s.card, strict=True)]
    edges = list(zip(s.i.tolist(), s.j.tolist(), strict=True))
    tables = [
        table[: s.card[a], : s.card[b]].ravel().tolist() for table, (a, b) in zip(potentials.table, edges, strict=True)
    ]
    return {"card": list(s.card), "edges": edges, "unary": rows, "table": tables, "size": potentials.size}


def _solve(solver: str, potentials: Potentials, seconds: float) -> Solution:
    """The solver's configuration, or a better one of ICM's; its bound where it proved one."""
    begin = time.monotonic()
    if not potentials.n:
        return Solution.proved(potentials, np.zeros(0, np.int8))
    fallback = MultiStart(8).solve(potentials)
    answer = _ask(solver, potentials, seconds - (time.monotonic() - begin))
    if answer is None:
        return Solution.found(potentials, fallback.x, **{"timed out": seconds})
    x = fallback.x if answer["x"] is None else np.array(answer["x"], np.int8)
    x = x if potentials.value(x) >= fallback.value else fallback.x
    upper = None if answer["upper"] is None else answer["upper"] + potentials.constant
    if answer["optimal"] and upper is not None:
        return Solution.bounded(potentials, x, upper, seconds=time.monotonic() - begin)
    upper = upper if upper is None else max(upper, float(potentials.value(x)))
    return Solution.found(potentials, x, upper, **{"timed out": seconds})


def _why_not(library: str, label: str, potentials: Potentials) -> str | None:
    if not installed(library):
        return f"{label} is not installed; it comes with the extra: pip install 'pmpviz[solvers]'"
    if potentials.table.size > MOST_ENTRIES:
        return f"the edges' tables have {potentials.table.size:,} entries; {label} is given at most {MOST_ENTRIES:,}"
    return None


SECONDS = Param(
    "seconds", "time limit", 0.1, 3600.0, 10.0, scale="log", unit="s", help="wall clock; the best known is then given"
)


@dataclass(frozen=True)
class Toulbar2(MapOracle):
    """Branch and bound with soft arc consistency; exact in costs rounded to a 10^13th of their size."""

    seconds: float = 10.0

    spec = OracleSpec(
        id="toulbar2",
        label="toulbar2",
        style=Style("#8A8A86", "longdash", "circle"),
        timed=True,
        promise="exact",
        summary="An outside branch and bound (pytoulbar2), good on small dense models; stops at its time limit.",
        paper="Hurley et al. 2016, Multi-language evaluation of exact solvers in graphical model optimization",
        params=(SECONDS,),
        why_not=lambda potentials: _why_not("pytoulbar2", "toulbar2", potentials),
    )

    def solve(self, potentials: Potentials) -> Solution:
        """A proved maximum, or at the time limit the best configuration known (note "timed out")."""
        self.insist(potentials)
        return _solve("toulbar2", potentials, float(self.seconds))


@dataclass(frozen=True)
class Scip(MapOracle):
    """Branch and cut on the local polytope's program, within SCIP's own tolerances."""

    seconds: float = 10.0

    spec = OracleSpec(
        id="scip",
        label="SCIP",
        style=Style("#8A8A86", "longdash", "circle"),
        timed=True,
        promise="exact",
        summary="An outside branch and cut (PySCIPOpt), good on sparse frustrated models; stops at its time limit.",
        paper="Bolusani et al. 2024, The SCIP Optimization Suite 9.0",
        params=(SECONDS,),
        why_not=lambda potentials: _why_not("pyscipopt", "SCIP", potentials),
    )

    def solve(self, potentials: Potentials) -> Solution:
        """A proved maximum, or at the time limit the best configuration known (note "timed out")."""
        self.insist(potentials)
        return _solve("scip", potentials, float(self.seconds))


__all__ = ["Pool", "Scip", "Toulbar2", "installed"]
