"""Section 5.4 and Figure 5: the Erdos-Renyi graph of 200 sites."""

from __future__ import annotations

import dataclasses

from pmpviz.experiments.reproductions.structured import ERDOS, SMALLER, structured

REPRODUCTION = structured(
    "pmp-5.4-erdos",
    "Learning a random graph from its samples",
    "200 sites of 4 neighbours on average, dense Ising model of spins, Adam 0.001, L1 0.01; 1000 iterations with 20 "
    "chains and 5 to 50 sweeps; 100,000 iterations with 256 chains and 5 to 100 updates (PMP: 10 root(updates) draws "
    "of 40 sweeps, as in the authors' code), and Gibbs and GWG for PMP's seconds; days",
    "500 iterations with 5 sweeps; 1000 with 10 updates, and PMP's draws 4.5 root(updates) of 10 sweeps",
    ERDOS,
    dataclasses.replace(ERDOS, share=4.5, pmp_sweeps=10, **SMALLER),
)
