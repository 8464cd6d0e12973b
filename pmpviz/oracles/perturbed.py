"""What maxima under random perturbations need, whoever maximises: the noise, and all maxima by enumeration.

A low-dimensional perturbation adds gamma_i(x_i) to theta, one Gumbel number for every state of every variable (Hazan
and Jaakkola 2012). The numbers are centred, so that E max_k {a_k + gamma_k} = log sum_k exp a_k; the Gumbel of Hazan,
Maji and Jaakkola's theorem isn't, and would add .577 for every variable.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from pmpviz.oracles.potentials import Potentials, Structure
from pmpviz.types import Refusal

# Cells of the table (perturbations x states) that are worked on at once, and log2 of the states that are listed.
CELLS, MAX_LISTED = 1 << 20, 20


def gumbels(rng: np.random.Generator, count: int, structure: Structure) -> Float[np.ndarray, "count n k"]:
    """Centred Gumbel noise, mean 0 and variance pi^2 / 6; 0 where a variable has no such state."""
    noise = rng.gumbel(-np.euler_gamma, 1.0, (count, structure.n, structure.states))
    return np.where(structure.valid, noise, 0.0)


def table_of(potentials: Potentials) -> Float[np.ndarray, "..."]:
    """theta(x) of every state, one axis a variable; raises Refusal beyond 2^20 states."""
    s = potentials.structure
    log_states = float(np.log2(np.array(s.card, np.float64)).sum())
    if log_states > MAX_LISTED:
        raise Refusal(f"all states are listed, here 2^{log_states:.0f}; at most 2^{MAX_LISTED} can be")
    table = np.full(s.card, potentials.constant)
    for i, states in enumerate(s.card):
        table += potentials.unary[i, :states].reshape([states if v == i else 1 for v in range(s.n)])
    for i, j, pair in zip(s.i.tolist(), s.j.tolist(), potentials.table, strict=True):
        shape = [c if v in (i, j) else 1 for v, c in enumerate(s.card)]
        table += pair[: s.card[i], : s.card[j]].reshape(shape)
    return table


def expected_maxima(
    table: Float[np.ndarray, "..."], noise: Float[np.ndarray, "m n k"]
) -> tuple[list[Float[np.ndarray, "..."]], Float[np.ndarray, " m"]]:
    """(U_hat of every prefix, the maximum of the empty prefix under each perturbation).

    U_hat(x_1..x_j) is the mean over the bank of max_{x_{j+1}..x_n} theta(x) + sum_{i > j} gamma_i(x_i): entry j of the
    list has one axis for each of the first j variables, the last entry is theta. All by one backward maximisation.
    """
    card, count = table.shape, len(noise)
    sums = [np.zeros(card[:j]) for j in range(len(card))]
    roots, rows = [], max(1, CELLS // max(table.size, 1))
    for start in range(0, count, rows):
        # The perturbations lie on the last axis, so that every step runs along contiguous rows.
        bank = np.ascontiguousarray(noise[start : start + rows].transpose(1, 2, 0))
        best = np.broadcast_to(table[..., None], (*card, bank.shape[2]))
        for j in reversed(range(len(card))):
            best = _maximum(best, bank[j])
            sums[j] += best.sum(-1)
        roots.append(best.reshape(-1))
    return [*(total / count for total in sums), table], np.concatenate(roots)


def _maximum(best: Float[np.ndarray, "... k m"], noise: Float[np.ndarray, "k m"]) -> Float[np.ndarray, "... m"]:
    """max over the states k of the last variable but the perturbations' axis."""
    found = best[..., 0, :] + noise[0]
    for state in range(1, best.shape[-2]):
        np.maximum(found, best[..., state, :] + noise[state], out=found)
    return found


__all__ = ["expected_maxima", "gumbels", "table_of"]
