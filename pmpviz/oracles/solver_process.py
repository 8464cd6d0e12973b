"""A process that solves MAP problems with toulbar2 or SCIP, one line of JSON in, one out; run as a script of its own.

It imports nothing of this program, so that it starts fast, and ends with its input. What a solver prints is thrown
away. Should a solve outlast its limit by two seconds the kernel ends the process, even if the parent is gone.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
from typing import Any

# Costs are whole numbers, the potentials' sizes together this large: far below toulbar2's largest, far above rounding.
# Each function's costs are rounded: there are units enough for all of them to stay a 10^9th of the size. What is
# forbidden costs more than all the rest together, and no more than that.
# SCIP's tolerances are absolute: its objective is brought to a usual size.
UNITS, UNITS_A_FUNCTION, FORBIDDEN, USUAL = 1e13, 1e9, 4, 1e3
# Seconds by which toulbar2's whole ones may exceed the limit: the parent waits a little longer for the answer.
BEYOND = 0.4


def toulbar2(problem: dict) -> dict:
    """Depth-first branch and bound on soft local consistency, over whole costs (Hurley et al. 2016)."""
    from pytoulbar2 import CFN

    network, card = CFN(vac=1), problem["card"]
    for v, states in enumerate(card):
        network.AddVariable(f"x{v}", range(states))
    scopes = [[v] for v in range(len(card))] + [list(edge) for edge in problem["edges"]]
    units = max(UNITS, UNITS_A_FUNCTION * len(scopes))
    scale, shift, functions = units / problem["size"], 0.0, 0
    for scope, gains in zip(scopes, problem["unary"] + problem["table"], strict=True):
        top = max(gains)
        shift += top
        costs = [min(round((top - gain) * scale), round(FORBIDDEN * units)) for gain in gains]
        if any(costs):
            network.AddFunction(scope, costs)
            functions += 1
    # Its limit is in whole seconds of processor time: rounded up, unless the parent would end it before it answers.
    found = network.Solve(timeLimit=max(1, math.ceil(problem["seconds"] - BEYOND)))
    bound = network.GetDDualBound()
    # Costs being whole, a bound within half a unit of the configuration's cost proves it.
    done = found is not None and bound > found[1] - 0.5
    x = None if found is None else [int(state) for state in found[0]]
    # Every cost is rounded by at most half a unit.
    return {"x": x, "upper": shift - (bound - functions / 2) / scale, "optimal": done}


def scip(problem: dict) -> dict:
    """Branch and cut on the local polytope's program with whole-numbered states, linear in pairs of states."""
    from pyscipopt import Model, quicksum

    model = Model()
    model.hideOutput()
    model.setParam("limits/time", problem["seconds"])
    card, terms, scale = problem["card"], [], USUAL / problem["size"]
    states = [[model.addVar(vtype="B") for _ in range(count)] for count in card]
    for own, gains in zip(states, problem["unary"], strict=True):
        model.addCons(quicksum(own) == 1)
        terms += [scale * gain * one for gain, one in zip(gains, own, strict=True)]
    for (a, b), gains in zip(problem["edges"], problem["table"], strict=True):
        pairs = [[model.addVar(lb=0, ub=1) for _ in states[b]] for _ in states[a]]
        for row, own in zip(pairs, states[a], strict=True):
            model.addCons(quicksum(row) == own)
        for column, own in zip(zip(*pairs, strict=True), states[b], strict=True):
            model.addCons(quicksum(column) == own)
        terms += [scale * gain * one for gain, one in zip(gains, (p for row in pairs for p in row), strict=True)]
    model.setObjective(quicksum(terms), "maximize")
    model.optimizeNogil()
    x, done = None, model.getStatus() == "optimal"
    if model.getNSols():
        best: Any = model.getBestSol()
        shares = [[best[one] for one in own] for own in states]
        x = [own.index(max(own)) for own in shares]
    bound = model.getDualbound()
    return {"x": x, "upper": bound / scale if abs(bound) < model.infinity() else None, "optimal": done}


SOLVERS = {"toulbar2": toulbar2, "scip": scip}


def main(name: str) -> None:
    """Answer problems until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    __import__({"toulbar2": "pytoulbar2", "scip": "pyscipopt"}[name])
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        problem = json.loads(line)
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, problem["seconds"] + 2.0)
        try:
            answer = SOLVERS[name](problem)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:200]}
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
