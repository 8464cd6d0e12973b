"""What speaks of a lane beside MMD²: its mean energy against the exact one, and how often each joint state came."""

from __future__ import annotations

from pmpviz.capabilities.sampling.lane import LaneView
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.player.numbers import integer, significant

FAR = 4
"""Standard errors from which on a verdict speaks of the energy, too. It looks many times a minute: by chance alone one
look in 16,000 is as far off."""


def energies(lane: LaneView, sweep: int | None = None) -> dict[str, float]:
    """What is known of the lane at a sweep (its own one), or at the end of its last draw before, under these settings.

    Empty where nothing is.
    """
    at = lane.sweep if sweep is None else sweep
    draws = lane.draws if lane.draws is not None and lane.draws.length > 1 else None
    series, back = (draws.series, 2 * draws.length) if draws else (lane.series, 0)
    bins = series.bins(max(at - back, lane.since + 1), at)
    return {} if lane.making or not len(bins) else {name: float(values[-1]) for name, values in bins.mean.items()}


def exact_energy(view: LiveView) -> float | None:
    """The model's mean energy where it is known exactly."""
    return view.energy if view.truth is None else view.truth.energy


def energy_off(view: LiveView, lane: LaneView, sweep: int | None = None) -> float | None:
    """Standard errors from the exact mean energy, or else the reference's, to that over the lane's chains.

    None where it is not known.
    """
    exact, row = exact_energy(view), energies(lane, sweep)
    sampled = None if view.truth is None else view.truth.sampled_energy
    mean, error = (exact, 0.0) if exact is not None else sampled or (0.0, 0.0)
    if exact is None and sampled is None or not row.get("energy:error"):
        return None
    return (row["energy:mean"] - mean) / (error**2 + row["energy:error"] ** 2) ** 0.5


def off_then(view: LiveView, lane: LaneView, sweep: int) -> str:
    """How far the energy was off at the sweep at which a lane came within the noise; empty where chance explains it."""
    off = abs(energy_off(view, lane, sweep) or 0.0)
    return f", its energy then {significant(off, 2)} standard errors off" if off > FAR else ""


def off_now(view: LiveView, lane: LaneView, whose: str = "its energy") -> str:
    """How far the energy is off still; empty where chance explains it."""
    off, still = abs(energy_off(view, lane) or 0.0), "still " if lane.guarantee == "invariant" else ""
    return f", but {whose} is {still}{significant(off, 2)} standard errors off" if off > FAR else ""


def states_off(lane: LaneView) -> str:
    """That independent draws give other shares of the joint states than the law has, and not by chance; else empty."""
    states = lane.states
    if lane.draws is None or states is None or not states.beyond:
        return ""
    return (
        f"How often each state came is off by {significant(states.distance, 2)} in {integer(states.count)} draws; "
        f"as many exact ones are off by {significant(states.floor, 2)}."
    )
