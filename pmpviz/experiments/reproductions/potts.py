"""Potts lattices at the critical coupling log(1 + sqrt q): energies that theory knows, and the two phases of q = 10.

Energies are minus the number of neighbours in the same state, a site. At the critical coupling of up to four states
that of the infinite lattice is -(1 + 1 / sqrt q) (Potts 1952); of more, two phases coexist (Baxter 1973).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import jax
import numpy as np

from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import bars
from pmpviz.models import build_spec
from pmpviz.models.state_builders import critical_potts
from pmpviz.runs import run as runs
from pmpviz.samplers import make_sampler
from pmpviz.types import Target

# Baxter's energies of the disordered and of the ordered phase, q = 10.
TEN_DISORDERED, TEN_ORDERED = -0.968203, -1.664253
STEP = 1e-4
# The energy of a critical torus nears the infinite lattice's as its side^(1/nu - 2); 1/nu is 1 and 6/5 (den Nijs 1979).
INVERSE_NU = {2: 1.0, 3: 1.2}
# Torus whose transfer matrix tells by how much.
SOLVED = 6


@dataclass(frozen=True)
class Setting:
    """Side of the squares, the strip that a transfer matrix solves, chains, sweeps, and those before the first."""

    side: int
    strip: tuple[int, int]
    chains: int
    sweeps: int
    burn_in: int
    phase_sweeps: int


FULL = Setting(64, (6, 24), 128, 2000, 400, 1000)
QUICK = Setting(64, (6, 24), 32, 192, 192, 300)


def strip_energy(width: int, length: int, q: int, J: float) -> float:
    """Exact energy a site of the torus of this width and length, by the transfer matrix of q^width states."""
    states = np.array(list(product(range(q), repeat=width)))
    own = (states == np.roll(states, 1, 1)).sum(1)
    between = (states[:, None] == states[None]).sum(2)

    def log_z(J: float) -> float:
        values = np.linalg.eigvalsh(np.exp(J * (between + (own[:, None] + own) / 2)))
        return length * math.log(values[-1]) + math.log(((values / values[-1]) ** length).sum())

    return -(log_z(J + STEP) - log_z(J - STEP)) / (2 * STEP) / (width * length)


def infinite_energy(q: int) -> float:
    """Energy a site of the infinite lattice at the critical coupling of up to four states."""
    return -(1 + 1 / math.sqrt(q))


def square_energy(side: int, q: int) -> float:
    """Energy a site of a square torus at the critical coupling, by finite-size scaling from the exact one of side 6.

    Of 64 x 64 it is within 1e-4: Kaufman's exact energy of q = 2 is met to 5e-5, and from sides of 5 and of 7 the same
    is found to 5e-5 for either q.
    """
    beyond = strip_energy(SOLVED, SOLVED, q, critical_potts(q)) - infinite_energy(q)
    return infinite_energy(q) + beyond * (side / SOLVED) ** (INVERSE_NU[q] - 2)


def energies(spec: str, sampler: str, setting: Setting, seed: int, start: int | None = None, sweeps: int = 0):
    """Energy a site of every chain, averaged over the sweeps; begun at random, or with all sites in one state."""
    model = build_spec(spec)
    x0 = None if start is None else np.full((setting.chains, model.n), start, np.int8)
    run = runs.start(make_sampler(sampler), Target.of(model), jax.random.key(seed), setting.chains, x0)
    burn_in, sweeps = (sweeps // 2, sweeps // 2) if sweeps else (setting.burn_in, setting.sweeps)
    run, _ = runs.advance(run, burn_in * run.quanta, record=False)
    parts: list[np.ndarray] = []
    while (left := sweeps - sum(len(part) for part in parts)) > 0:
        run, trace = runs.advance(run, min(left, runs.MAX_CHUNK_SWEEPS) * run.quanta)
        assert trace is not None
        parts.append(trace.energies)
    return np.concatenate(parts).mean(0) / model.n


def _mean(values: np.ndarray) -> tuple[float, float]:
    """(mean over the chains, its standard error)."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def _one_seed(setting: Setting, seed: int) -> dict[str, float]:
    found: dict[str, float] = {}
    whole: dict[int, float] = {}

    def put(name: str, values: np.ndarray, exact: float) -> None:
        mean, error = _mean(values)
        found[name] = mean
        found[f"{name}: standard errors from exact"] = (mean - exact) / error

    square, (width, length) = f"{setting.side}x{setting.side}", setting.strip
    for q in (2, 3):
        J = critical_potts(q)
        exact = strip_energy(width, length, q, J)
        words = f"energy, q = {q}, torus of {width} x {length}"
        found[f"{words}, exact"] = exact
        drawn = energies(f"potts:{width}x{length},q={q}", "swendsen_wang", setting, seed)
        put(f"{words}, Swendsen-Wang", drawn / J, exact)
        whole[q] = found[f"energy, q = {q}, {square}, exact"] = square_energy(setting.side, q)
        drawn = energies(f"potts:{square},q={q}", "swendsen_wang", setting, seed)
        put(f"energy, q = {q}, {square}, Swendsen-Wang", drawn / J, whole[q])
    # Ising spins of J / 2 count J / 2 for a pair that agrees and -J / 2 for one that does not; two pairs a site.
    J = critical_potts(2)
    ising = energies(f"square:{square},J={J / 2!r}", "swendsen_wang", setting, seed) / J - 1
    put(f"energy, Ising, {square}, Swendsen-Wang", ising, whole[2])
    for name, start in (("disordered", None), ("ordered", 0)):
        drawn = energies(f"potts:{square},q=10", "colour_gibbs", setting, seed, start, setting.phase_sweeps)
        found[f"energy, q = 10, {square}, {name} phase"] = float(drawn.mean() / critical_potts(10))
    return found


def run(request: Request, setting: Setting | None = None) -> Outcome:
    """Sampled energies beside exact ones."""
    setting = setting or (QUICK if request.quick else FULL)
    square = f"{setting.side}x{setting.side}"
    theory = {f"energy, q = {q}, {square}, Swendsen-Wang": infinite_energy(q) for q in (2, 3)}
    theory[f"energy, Ising, {square}, Swendsen-Wang"] = theory[f"energy, q = 2, {square}, Swendsen-Wang"]
    theory |= {f"energy, q = 10, {square}, disordered phase": TEN_DISORDERED}
    theory |= {f"energy, q = 10, {square}, ordered phase": TEN_ORDERED}
    rows = rows_of((_one_seed(setting, seed) for seed in range(request.seeds)), theory)
    shown = [row for row in rows if row.quantity in theory]
    series = {"ours": [row.ours for row in shown], "infinite lattice": [row.paper or 0.0 for row in shown]}
    figure = bars([row.quantity for row in shown], series, "Energies of Potts lattices", "energy a site")
    notes = (
        "in the paper's column: the infinite lattice's, by Potts (1952), and by Baxter (1973) for q = 10",
        f"a torus of {square} differs from the infinite lattice by its size, more so than the sampling's error: its "
        "own energy is the exact one of 6 x 6 carried on by finite-size scaling, good to 0.0001; the narrow torus is "
        "exact by its transfer matrix",
        f"{setting.chains} chains, {setting.sweeps} sweeps of Swendsen-Wang after {setting.burn_in}; the phases by "
        f"{setting.phase_sweeps // 2} sweeps of colour Gibbs after as many, begun at random and all alike: neither "
        "finds the other in this time",
    )
    return Outcome(rows, figure, notes)


REPRODUCTION = Reproduction(
    "potts",
    "Energies of Potts lattices at the critical coupling",
    "64 x 64, q = 2, 3 and 10, and a torus of 6 x 24; 128 chains, 2,000 sweeps",
    "32 chains, 192 sweeps",
    1,
    1,
    run,
    shown="race?preset=potts-3",
)

__all__ = ["REPRODUCTION", "energies", "strip_energy"]
