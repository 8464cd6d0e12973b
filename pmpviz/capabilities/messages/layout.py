"""Where the variables and factors of a small factor graph are drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from pmpviz.player.graph import force_directed

# Places of a pairwise factor on its edge, of which it takes the first that is free, and how near to another node is
# too near: as a share of the shortest way between two variables, and of the whole picture.
ALONG = (0.5, 0.36, 0.64, 0.28, 0.72)
CLEARANCE, LEAST_CLEARANCE = 0.25, 0.06
# A factor of three variables or more that meets another node moves off on circles.
TURNS = 12
ZIGZAG = 0.5


def layout(
    n: int, scopes: Sequence[Sequence[int]], given: Float[np.ndarray, "n 2"] | None = None
) -> tuple[Float[np.ndarray, "n 2"], Float[np.ndarray, "f 2"]]:
    """(places of the variables, places of the factors), any scale, y downwards.

    Variables stand where `given` says, else where springs put the whole factor graph. A factor of two variables stands
    on the edge between them, a larger one in the middle of its variables, both off their place where that is taken; a
    factor of one variable stands beside it.
    """
    variables = _sprung(n, scopes) if given is None else _bent(np.asarray(given, np.float64))
    taken = [tuple(at) for at in variables]
    shortest = _shortest(variables)
    clearance = max(CLEARANCE * shortest, LEAST_CLEARANCE * float(np.ptp(variables, axis=0).max(initial=0.0)))
    places, crossed = [], _crossed(variables, scopes, CLEARANCE * shortest)
    for scope, meets in zip(scopes, crossed, strict=True):
        candidates = _candidates(variables, tuple(scope), shortest)
        place = _free(candidates[1:] if meets else candidates, taken, clearance)
        taken.append(place)
        places.append(place)
    return variables, np.array(places, np.float64).reshape(-1, 2)


def _sprung(n: int, scopes: Sequence[Sequence[int]]) -> Float[np.ndarray, "n 2"]:
    """Springs between variables that share a factor: larger factors pull all their variables together."""
    pairs = {tuple(sorted((a, b))) for scope in scopes for a in scope for b in scope if a != b}
    ends = np.array(sorted(pairs), int).reshape(-1, 2)
    return force_directed(n, ends[:, 0], ends[:, 1])


def _bent(at: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
    """The places, a level line of three variables or more bent to a zigzag: its edges then have room for messages."""
    if len(at) < 3 or np.ptp(at[:, 1]) > 1e-9:
        return at
    return at + np.array([0.0, ZIGZAG]) * (np.arange(len(at)) % 2 - 0.5)[:, None]


def _shortest(at: Float[np.ndarray, "n 2"]) -> float:
    if len(at) < 2:
        return 1.0
    away = np.sqrt(((at[:, None] - at[None]) ** 2).sum(-1))
    return float(away[~np.eye(len(at), dtype=bool)].min())


def _crossed(at: Float[np.ndarray, "n 2"], scopes: Sequence[Sequence[int]], clearance: float) -> list[bool]:
    """For each factor whether it is one of two whose edges cross in the middle: neither then stands there."""
    middles = np.array(
        [
            at[list(scope)].mean(0) if len(scope) == 2 else np.full(2, 1e9 * (1 + place))
            for place, scope in enumerate(scopes)
        ]
    ).reshape(-1, 2)
    near = np.abs(middles[:, None] - middles[None]).max(2) < clearance
    return (near.sum(1) > 1).tolist()


def _candidates(at: Float[np.ndarray, "n 2"], scope: tuple[int, ...], step: float) -> list[np.ndarray]:
    if len(scope) == 2:
        a, b = at[scope[0]], at[scope[1]]
        return [a + share * (b - a) for share in ALONG]
    middle = at[list(scope)].mean(0)
    start = 1 if len(scope) == 1 else 0
    circles = [(0.0, 0.0)] if not start else []
    circles += [(0.6 * r, 2 * np.pi * k / TURNS) for r in (1, 2) for k in range(TURNS)]
    return [middle + step * radius * np.array([np.cos(turn), np.sin(turn)]) for radius, turn in circles]


def _free(candidates: list[np.ndarray], taken: list[tuple], clearance: float) -> tuple[float, float]:
    """The first candidate that is clear of all nodes, else the one that is farthest from its nearest."""
    nodes = np.array(taken)
    nearest = [float(np.sqrt(((nodes - at) ** 2).sum(1)).min()) for at in candidates]
    best = next((k for k, away in enumerate(nearest) if away >= clearance), int(np.argmax(nearest)))
    return float(candidates[best][0]), float(candidates[best][1])


__all__ = ["layout"]
