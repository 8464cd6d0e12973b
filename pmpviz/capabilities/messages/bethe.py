"""Bethe's log Z of recorded messages, at any moment of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from jaxtyping import Float

from pmpviz.messages.host import Kernel, soft_maximum


def states_of(kernel: Kernel) -> int:
    """Numbers that one factor's log Z_f is summed from."""
    return kernel.states**kernel.arity if kernel.kind == "table" else kernel.arity**2


def bethe_log_z(network: Any, into: Float[np.ndarray, "s e1 k"]) -> Float[np.ndarray, " s"]:
    """sum_f log Z_f + sum_i log Z_i - sum_fi log Z_fi + constant, stationary in the messages at a fixed point.

    Z_f sums psi_f times the messages into f, Z_i those into i with its own potentials, Z_fi the product of the two
    messages of an edge (Yedidia, Freeman and Weiss 2005, in terms of messages).
    """
    out = network.to_factors(into, np.arange(len(network.slot)))
    total = network.constant + soft_maximum(network.totals(into), -1, 1.0).sum(1)
    total -= soft_maximum(out + into[:, :-1], -1, 1.0).sum(1)
    return total + sum(mass.sum(1) for mass in log_partitions(network, into, out))


def log_partitions(network: Any, into, out=None) -> Iterator[Float[np.ndarray, "s f"]]:
    """log Z_f of the factors of each kernel of the recorded network.

    `out` are the messages to factors where they are known.
    """
    t = network.topology
    out = network.to_factors(into, np.arange(len(network.slot))) if out is None else out
    for number, kernel in enumerate(network.kernels):
        factor = np.flatnonzero(network.kernel_of == number)
        incoming = out[:, np.array([t.edges_of_factor[f] for f in factor], np.int64)]
        rows = np.tile(network.row_of[factor], len(into))
        yield kernel.log_partition(rows, incoming.reshape(-1, *incoming.shape[2:])).reshape(len(into), -1)


__all__ = ["bethe_log_z", "log_partitions", "states_of"]
