"""Outside solvers: their time limit on the wall clock, what is given when it is up, and their processes' ends."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import numpy as np
import pytest

import pmpviz
from pmpviz.contract.oracle_models import of_spec
from pmpviz.oracles import Potentials, Solution, make_oracle, outside, solver_process
from pmpviz.types import Refusal
from tests.contract.oracle_files import of_file

LIBRARIES = {"toulbar2": "pytoulbar2", "scip": "pyscipopt"}
BOTH = [
    pytest.param(name, marks=pytest.mark.skipif(not outside.installed(library), reason=f"{library} is not installed"))
    for name, library in LIBRARIES.items()
]


def hard(n: int = 90) -> Potentials:
    """A dense spin glass that neither solves within seconds."""
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(n, 1)
    w = 8 * rng.normal(size=len(i))
    return Potentials.of_quadratic(-(np.bincount(i, w, n) + np.bincount(j, w, n)) / 2, i, j, w)


@pytest.fixture(autouse=True)
def _own_pool(monkeypatch):
    pool = outside.Pool()
    monkeypatch.setattr(outside, "POOL", pool)
    yield
    pool.end()


def processes(solver: str) -> list:
    return outside.POOL._idle.get(solver, [])


def gone(pid: int, within: float) -> bool:
    """Whether a process ends in time."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
                return True
            os.kill(pid, 0)
        except OSError:
            return True
        time.sleep(0.05)
    return False


@contextlib.contextmanager
def taking():
    """How long it takes on the wall clock, without what a busy machine keeps this process waiting meanwhile."""
    over, late, begin = threading.Event(), [0.0], time.monotonic()

    def watch():
        while not over.is_set():
            now = time.monotonic()
            time.sleep(0.01)
            late[0] += time.monotonic() - now - 0.01

    beside = threading.Thread(target=watch)
    beside.start()
    found = [0.0]
    try:
        yield lambda: found[0]
    finally:
        found[0] = time.monotonic() - begin
        over.set()
        beside.join()
        found[0] -= late[0]


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_missing_library_is_named_with_its_extra(name, monkeypatch):
    monkeypatch.setattr(outside, "installed", lambda library: library != LIBRARIES[name])
    oracle, potentials = make_oracle(name), of_spec("chain:4,J=0.3")
    assert "is not installed" in oracle.spec.why_not(potentials)
    with pytest.raises(Refusal, match=r"pip install 'pmpviz\[solvers\]'"):
        oracle.solve(potentials)


@pytest.mark.parametrize("name", BOTH)
def test_the_time_limit_holds_on_the_wall_clock(name):
    """Whether the solver stops by itself or is ended: what ICM found is given at least."""
    potentials = hard()
    make_oracle(name, seconds=60).solve(of_spec("chain:4,J=0.3"))
    least = make_oracle("multi_start", starts=8).solve(potentials).value
    for seconds in (0.4, 2.0):
        with taking() as took:
            solution = make_oracle(name, seconds=seconds).solve(potentials)
        assert took() < seconds + 1.0
        assert solution.notes == {"timed out": seconds} and not solution.exact and solution.value >= least
        assert solution.upper is None or solution.upper >= solution.value
    again = make_oracle(name, seconds=60).solve(of_spec("chain:4,J=0.3,h=0.1"))
    assert again.exact and again.x.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("seconds, whole", [(0.1, 1), (1.0, 1), (1.3, 1), (1.9, 2), (2.0, 2), (9.9, 10)])
def test_toulbar2_is_given_the_whole_seconds_that_its_parent_waits_for(seconds, whole, monkeypatch):
    asked = []

    class Recorder:
        """Takes a problem as toulbar2 does, and notes the limit."""

        def __init__(self, vac):
            self.AddVariable = self.AddFunction = lambda *given: None
            self.GetDDualBound = lambda: 0.0

        def Solve(self, timeLimit):  # noqa: N803
            asked.append(timeLimit)

    monkeypatch.setitem(sys.modules, "pytoulbar2", types.SimpleNamespace(CFN=Recorder))
    problem = outside._problem(of_spec("chain:4,J=0.3")) | {"seconds": seconds}
    assert solver_process.toulbar2(problem)["x"] is None
    assert asked == [whole] and type(asked[0]) is int
    assert whole == 1 or whole < seconds + outside.EARLY + outside.GRACE


def test_toulbar2_proves_large_models_too(monkeypatch):
    """The rounding of 50,000 functions' costs is no gap between its bound and its configuration."""

    class Solved:
        """Says that the first state of every variable has the least cost, and proves it."""

        def __init__(self, vac):
            self.cost, self.largest, self.count = 0, 0, 0

        def AddVariable(self, name, states):  # noqa: N802
            self.count += 1

        def AddFunction(self, scope, costs):  # noqa: N802
            self.cost += costs[0]
            self.largest = max(self.largest, *costs)

        def GetDDualBound(self):  # noqa: N802
            return float(self.cost)

        def Solve(self, timeLimit):  # noqa: N803
            assert self.largest < 1e17
            return [0] * self.count, float(self.cost)

    monkeypatch.setitem(sys.modules, "pytoulbar2", types.SimpleNamespace(CFN=Solved))
    rng, n = np.random.default_rng(0), 25_000
    potentials = Potentials.of_quadratic(-rng.random(n), np.arange(n - 1), np.arange(1, n), -rng.random(n - 1))
    assert potentials.structure.forbidden is None
    answer = solver_process.toulbar2(outside._problem(potentials) | {"seconds": 1.0})
    assert answer["optimal"]
    assert Solution.bounded(potentials, np.zeros(n, np.int64), answer["upper"] + potentials.constant).exact


@pytest.mark.parametrize("name", BOTH)
def test_a_start_that_takes_too_long_is_no_failure(name):
    potentials = of_spec("square:3x3,J=0.4,h=0.1")
    with taking() as took:
        solution = make_oracle(name, seconds=0.1).solve(potentials)
    assert took() < 1.1 and (solution.exact or solution.notes == {"timed out": 0.1})
    assert make_oracle(name, seconds=60).solve(potentials).exact


@pytest.mark.parametrize("name", BOTH)
def test_a_process_is_used_again_and_a_lost_one_replaced(name):
    oracle, potentials = make_oracle(name, seconds=60), of_spec("square:3x3,J=0.4,h=0.1")
    oracle.solve(potentials)
    (first,) = processes(name)
    oracle.solve(potentials)
    assert processes(name) == [first]
    first.process.kill()
    first.process.wait()
    assert oracle.solve(potentials).exact and processes(name) != [first]
    (second,) = processes(name)
    outside.POOL.end()
    assert second.process.poll() is not None


@pytest.mark.parametrize("name", BOTH)
def test_a_process_ends_with_its_parent(name):
    """Idle, it ends at once; in the middle of a solve, when its limit is over."""
    code = (
        "import sys, threading, time, numpy as np\n"
        "from pmpviz.oracles import Potentials, make_oracle, outside\n"
        "i, j = np.triu_indices(90, 1)\n"
        "w = 8 * np.random.default_rng(0).normal(size=len(i))\n"
        "b = -(np.bincount(i, w, 90) + np.bincount(j, w, 90)) / 2\n"
        f"make_oracle('{name}', seconds=60).solve(Potentials.of_quadratic([1.0], [], [], []))\n"
        f"print(outside.POOL._idle['{name}'][0].process.pid, flush=True)\n"
        "if sys.argv[1] == 'busy':\n"
        f"    make_oracle('{name}', seconds=1.5).solve(Potentials.of_quadratic(b, i, j, w))\n"
        "time.sleep(60)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(pmpviz.__file__).parents[1])}
    for state, within in (("idle", 30.0), ("busy", 30.0)):
        command = [sys.executable, "-c", code, state]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as parent:
            child = int(parent.stdout.readline())
            time.sleep(0.3)
            os.kill(parent.pid, signal.SIGKILL)
        assert gone(child, within), state


@pytest.mark.parametrize("name", BOTH)
def test_real_files(name):
    for file in ("clique_445.uai", "grid5x5_1.uai"):
        potentials = of_file(file) or of_spec("square:4x5,J=0.7,h=0.1,periodic=false")
        solution = make_oracle(name, seconds=60).solve(potentials)
        truth = make_oracle("exact").solve(potentials)
        assert solution.exact and solution.value == pytest.approx(truth.value, abs=1e-6)


@pytest.mark.parametrize("name", BOTH)
def test_what_fails_inside_is_told_in_a_sentence(name, monkeypatch):
    monkeypatch.setattr(outside, "_problem", lambda potentials: {"card": [2], "nothing": 0})
    with pytest.raises(Refusal, match=f"the solver {name} failed: KeyError"):
        make_oracle(name, seconds=60).solve(of_spec("chain:4,J=0.3"))
