"""Live runs whose lanes have the metrics that a test gives them."""

import dataclasses
import time

import numpy as np

from pmpviz.capabilities.sampling.live import LiveRun
from pmpviz.capabilities.sampling.measures import MetricPoint
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.live.store import Series
from pmpviz.metrics.noise import NoiseBand

WAIT_SECONDS = 60
PLAN = Plan(model="square:4x4,J=0.2", chains=16, lanes=(sampler("pmp", sweeps_per_draw=8),))


def wait(live: LiveRun, condition, seconds: float = WAIT_SECONDS):
    until = time.monotonic() + seconds
    while not condition(live.view) and time.monotonic() < until:
        live.touch()
        time.sleep(0.02)
    assert condition(live.view)
    return live.view


def point(sweep, mmd2, high=0.01):
    return MetricPoint(sweep, sweep / 100, 0.0, mmd2, NoiseBand(-high, high, high), (), 0.0, 0.0)


def race(view, *curves, since=0, high=0.01):
    """The view's lane once for each curve of MMD^2 at sweeps 0, 1, 2, 4, 8, ..."""
    sweeps = [0, *(2**k for k in range(20))]
    lanes = []
    for place, curve in enumerate(curves):
        points = tuple(point(sweep, value, high) for sweep, value in zip(sweeps, curve, strict=False) if sweep >= since)
        more = {"points": points, "sweep": points[-1].sweep, "since": since, "since_seconds": since / 100}
        lanes.append(dataclasses.replace(view.lanes[0], label=f"Lane {place + 1}", **more))
    return dataclasses.replace(view, lanes=tuple(lanes))


def energies(view, *off):
    """The view's lanes with a mean energy so many standard errors off the exact one at each of their metrics."""
    lanes, truth = [], dataclasses.replace(view.truth, energy_deviation=0.1 * view.plan.chains**0.5)
    for lane in view.lanes:
        means = [view.truth.energy + 0.1 * each for each in off]
        series = Series(("sweep", "energy:error", *(names := [f"energy:{kind}" for kind in ("mean", "low", "high")])))
        points = [dataclasses.replace(p, energy=(mean, 0.1)) for p, mean in zip(lane.points, means, strict=True)]
        sweeps = np.array([point.sweep for point in points])
        series.append(
            {"sweep": sweeps, "energy:error": np.full(len(means), 0.1), **dict.fromkeys(names, np.array(means))}
        )
        more = {"series": series, "points": tuple(points), "draws": None, "guarantee": "invariant"}
        lanes.append(dataclasses.replace(lane, **more))
    return dataclasses.replace(view, lanes=tuple(lanes), truth=truth)


def disagreeing(view, rhat, counted=64, keeps=True):
    """The view's lanes as chains whose R-hat is of so many sweeps, at the end of which they still differ or not."""
    summary = dataclasses.replace(view.lanes[0].summary, rhat=rhat, counted=counted, keeps=keeps)
    lanes = [dataclasses.replace(lane, kind="chain", draws=None, summary=summary) for lane in view.lanes]
    return dataclasses.replace(view, lanes=tuple(lanes))
