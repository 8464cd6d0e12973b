"""Effective resistance between the ends of every edge, on the filled edges of a sparse elimination alone."""

from __future__ import annotations

import heapq
from collections import Counter

import numpy as np
from jaxtyping import Float, Int

Scopes = list[list[int]]


def edge_resistances(
    n: int, i: Int[np.ndarray, " e"], j: Int[np.ndarray, " e"], w: Float[np.ndarray, " e"]
) -> Float[np.ndarray, " e"] | None:
    """Resistance between i[e] and j[e] in the network of conductances w > 0; None where a matrix would be smaller.

    Node after node, of lowest degree first, is replaced by edges between its neighbours (star to mesh), w_ab += w_va
    w_vb / d, d = sum_a w_va; and is put back by R_va = 1 / d + sum_b p_b R_ab - sum_bc p_b p_c R_bc / 2 with p_b =
    w_vb / d. All R_ab that this asks for are between neighbours of v, which the mesh has joined: each node has a small
    matrix of them, a part of that of the first of its neighbours to go. No conductances are subtracted.
    """
    if (scopes := _scopes(n, i, j)) is None:
        return None
    place = np.empty(n, np.int64)
    place[[scope[0] for scope in scopes]] = np.arange(n)
    later = [np.sort(place[scope[1:]]) for scope in scopes]
    first, second = np.sort([place[i], place[j]], axis=0)
    own: list[list[int]] = [[] for _ in range(n)]
    for e, k in enumerate(first.tolist()):
        own[k].append(e)
    shares, inverse = _eliminated(later, own, second, w)
    return _put_back(later, own, second, shares, inverse, len(w))


def _scopes(n: int, i: np.ndarray, j: np.ndarray) -> Scopes | None:
    """Each node with those it is joined to when it goes; None where their squares exceed a matrix of all nodes."""
    graph: list[set[int]] = [set() for _ in range(n)]
    for a, b in zip(i.tolist(), j.tolist(), strict=True):
        graph[a].add(b)
        graph[b].add(a)
    heap, gone, found, cells = [(len(joined), v) for v, joined in enumerate(graph)], [False] * n, [], 0
    heapq.heapify(heap)
    while heap:
        degree, v = heapq.heappop(heap)
        if gone[v] or degree != len(graph[v]):
            continue
        gone[v], joined = True, graph[v]
        found.append([v, *joined])
        cells += (1 + len(joined)) ** 2
        if cells > n * n:
            return None
        for u in joined:
            graph[u] |= joined
            graph[u] -= {u, v}
            heapq.heappush(heap, (len(graph[u]), u))
    return found


def _eliminated(later: list[np.ndarray], own: list[list[int]], second: np.ndarray, w: np.ndarray):
    """(p_b of every node, 1 / d): star to mesh, each node's mesh handed on to the first of its neighbours to go."""
    waiting: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in later]
    shares, inverse = [], np.zeros(len(later))
    for k, others in enumerate(later):
        front = np.zeros((1 + len(others),) * 2)
        np.add.at(front[0], 1 + np.searchsorted(others, second[own[k]]), w[own[k]])
        here = np.append(k, others)
        for nodes, mesh in waiting[k]:
            at = np.searchsorted(here, nodes)
            front[np.ix_(at, at)] += mesh
        waiting[k] = []
        row = front[0, 1:]
        total = row.sum()
        share = row / total if total > 0 else row
        inverse[k] = 1.0 / total if total > 0 else 0.0
        shares.append(share)
        if len(others):
            waiting[others[0]].append((others, front[1:, 1:] + np.outer(row, share)))
    return shares, inverse


def _put_back(later, own, second, shares, inverse: np.ndarray, edges: int) -> Float[np.ndarray, " e"]:
    found = np.zeros(edges)
    asked = Counter(int(others[0]) for others in later if len(others))
    held: dict[int, np.ndarray] = {}
    for k in reversed(range(len(later))):
        others, p = later[k], shares[k]
        matrix = np.zeros((1 + len(others),) * 2)
        if len(others):
            parent = int(others[0])
            at = np.searchsorted(np.append(parent, later[parent]), others)
            known = held[parent][np.ix_(at, at)]
            toward = known @ p
            matrix[1:, 1:] = known
            matrix[0, 1:] = matrix[1:, 0] = inverse[k] + toward - p @ toward / 2
            asked[parent] -= 1
            if not asked[parent]:
                del held[parent]
        found[own[k]] = matrix[0, 1 + np.searchsorted(others, second[own[k]])]
        if asked[k]:
            held[k] = matrix
    return found


__all__ = ["edge_resistances"]
