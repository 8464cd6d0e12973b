"""Section 5.4: the antiferromagnetic 25 x 25 lattice."""

from __future__ import annotations

import dataclasses

from pmpviz.experiments.reproductions.structured import LATTICE, SMALLER, structured

REPRODUCTION = structured(
    "pmp-5.4-lattice",
    "Learning a lattice from its samples",
    "25 x 25 torus, theta -0.1, dense Ising model of spins, Adam 0.001, L1 0.01; 1000 iterations with 20 chains and "
    "5 to 50 sweeps; 100,000 iterations with 256 chains and 5 to 100 updates (PMP: 4.5 root(updates) draws of 10 "
    "sweeps), and Gibbs and GWG for PMP's seconds; days",
    "15 x 15 torus; 500 iterations with 5 sweeps; 1000 with 10 updates",
    LATTICE,
    dataclasses.replace(LATTICE, model="square:15x15,theta=-0.1", **SMALLER),
)
