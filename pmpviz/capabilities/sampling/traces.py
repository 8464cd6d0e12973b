"""The curves beside the picture: energy, magnetisation, MMD^2, ..., of the lanes and of the curves that are kept."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from pmpviz.capabilities.sampling import words as sentences
from pmpviz.capabilities.sampling.draws import DrawsView
from pmpviz.capabilities.sampling.evidence import CHANCE, chance_of_energy, shows_energy
from pmpviz.capabilities.sampling.kept import Kept
from pmpviz.capabilities.sampling.lane import LaneView, bands, share_name
from pmpviz.capabilities.sampling.live import LiveView, energy_of
from pmpviz.capabilities.sampling.states import StatesView
from pmpviz.live.store import Bins, Series
from pmpviz.metrics.marginals import marginal_table
from pmpviz.metrics.noise import NoiseBand
from pmpviz.models.ising import Ising
from pmpviz.models.space import PALETTE
from pmpviz.player.model_words import listed
from pmpviz.player.numbers import integer, significant
from pmpviz.player.style import Style
from pmpviz.player.update import MOST_TRACE_POINTS, Envelope, short_name, trace
from pmpviz.samplers import sampler_class

ORDERS = ("means", "pairs", "triples", "fours", "more")
# Variables whose marginals are drawn beside the exact ones.
MOST_MARGINALS = 6
LEAST_RESIDUAL = 1e-7
# The band of the noise, from the bottom of its chart on, spans this ratio at least.
LEAST_BAND = 3.0
FLAGS = ("faint", "dots", "cut", "breaks")
# What the shade is, of which the verdict's mean is the middle and no edge.
SHADE = "shade: 8 of 10 chains"
# How wide the band about the law's energy is, in what a verdict counts how far off a lane's is.
BAND = f"; band: ± {CHANCE} standard errors"
EVERYTHING = (-np.inf, np.inf)


@dataclass(frozen=True)
class Scene:
    """What the curves are made of: `then` is the view at the moment that is looked back at, the view itself else.

    `window` is the stretch of sweeps that is zoomed into; `large` says that one card alone is in view.
    """

    envelope: Envelope
    view: LiveView
    then: LiveView
    kept: tuple[Kept, ...] = ()
    window: tuple[float, float] = EVERYTHING
    at: int | None = None
    large: bool = False

    def lines(self, columns_of: Any, floor: float | None = None) -> list[dict[str, Any]]:
        """A line for each kept curve, behind, and one or two for each lane: `columns_of` gives their columns."""
        found = []
        for number, kept in enumerate(self.kept):
            more = {"ghost": True, "name": kept.name(self.view.plan)}
            found += self._drawn(f"kept{number}", kept.style, columns_of(kept), floor, more)
        for index, lane in enumerate(self.view.lanes):
            style = self.envelope.styles[index]
            found += self._drawn(str(index), style, columns_of(lane), floor, {"name": lane.label})
        return found

    def _drawn(self, id: str, style: Style, found: Iterable[Mapping[str, Any]], floor, more: dict) -> list[dict]:
        lines = []
        for given in found:
            columns = {k: v for k, v in given.items() if k not in FLAGS}
            flags = {k: v for k, v in given.items() if k in FLAGS}
            if len(columns["x"]):
                lines.append({**self.envelope.line(id, style, columns, floor), **flags, **more})
        return lines


def traces(scene: Scene) -> list[dict]:
    """The cards, the most telling first."""
    view = scene.view
    if not view.lanes:
        return []
    mmd, energy, space = _mmd(scene, "sweeps"), _series(scene, "energy", "Energy"), view.model.space
    states = _states(scene)
    by_order = [_spectrum(scene)] if space.own is None else []
    if len(view.lanes) > 1:
        beside = [] if space.binary else [_marginals(scene.then)]
        # What decides is seen first: MMD^2 and the energy. A class sees one of them: the energy where a formula gives
        # it, from the start on, else the one that decided, and while there is nothing yet to compare samples with.
        found = [mmd, energy, *states, _mmd(scene, "seconds"), *by_order, *beside]
        waits = view.truth is None and not view.truth_trouble and any(lane.moved for lane in view.lanes)
        if scene.large and (shows_energy(view) or waits):
            found.sort(key=lambda card: card is not energy)
        return found
    found = [*states, energy, *_making(scene)]
    if space.binary:
        found.append(_series(scene, "magnetisation", "Magnetisation"))
    else:
        found += [_shares(scene), _marginals(scene.then)]
    if isinstance(view.model, Ising) and view.model.shape is not None:
        found.append(_series(scene, "absolute_magnetisation", "Mean |magnetisation|"))
    for name in [key[:-5] for key in view.lanes[0].series.names if key.endswith(":mean")]:
        if name not in bands(space):
            found.append(_series(scene, name, name.replace("_", " ").capitalize(), log=name == "residual"))
    return [*found, _flips(scene), mmd, *by_order]


def _band(series: Series, name: str, window: tuple[float, float]) -> dict[str, np.ndarray]:
    """Mean over the chains with the range of its bins, and the 10-90 % band of the chains."""
    if f"{name}:mean" not in series.names:
        return {"x": np.zeros(0)}
    bins = _bins(series, window)
    columns = {"x": bins.mean["sweep"], "y": bins.mean[f"{name}:mean"]}
    columns |= {"low": bins.least[f"{name}:low"], "high": bins.most[f"{name}:high"]}
    if bins.width > 1:
        columns |= {"least": bins.least[f"{name}:mean"], "most": bins.most[f"{name}:mean"]}
    return columns


def _bins(series: Series, window: tuple[float, float]) -> Bins:
    """The stretch in bins: of all of a run the first ones finest, so that its curve begins where it began."""
    return series.graded(MOST_TRACE_POINTS) if window == EVERYTHING else series.bins(*window, most=MOST_TRACE_POINTS)


FAINT = "faint: every sweep, cut at the frame"


def _lines_of(
    lane: LaneView | Kept, name: str, window: tuple[float, float], several: bool = False, large: bool = False
) -> list[dict[str, Any]]:
    """Of a lane whose draws take several sweeps: the finished draws, before all sweeps in a faint line. Among `several`
    lanes what it makes before its first draw is done is no sample beside theirs, and as faint; later on a class, to
    whom how a draw begins looks like an excursion, sees finished draws alone, of one lane too."""
    sweeps = _band(lane.series, name, window)
    if lane.draws is None or lane.draws.length < 2 or (lane.draws.done < 2 and not several):
        return [sweeps]
    faint = {k: v for k, v in sweeps.items() if k not in ("low", "high")} | {"faint": True}
    if not lane.draws.done:
        return [faint]
    # How a draw begins, far from where it ends, would leave the finished ones no room on the axis.
    # Draws before a change of the settings and after it are none that follow each other.
    breaks = {"breaks": [sweep for sweep, _ in lane.draws.changes]} if lane.draws.changes else {}
    draws = {**_band(lane.draws.series, name, window), "dots": True, **breaks}
    return [draws] if large else [{**faint, "cut": True}, draws]


def _series(scene: Scene, name: str, title: str, log: bool = False) -> dict:
    view, exact, more = scene.view, None, {}
    if name == "energy":
        exact, more = _exact_energy(scene), {"help": sentences.ENERGY, "unit": SHADE if view.plan.chains > 1 else ""}
    lanes = view.lanes
    if len(lanes) > 1:
        more |= {"unit": _of_several(scene)}
    if len(lanes) == 1 and (draws := lanes[0].draws) is not None and draws.length > 1:
        faint = [FAINT] if draws.done > 1 and not scene.large else []
        more |= {"unit": ", ".join([*_finished(scene, draws), *faint]), **_upper(scene, draws)}
    several = len(lanes) > 1
    lines = scene.lines(
        lambda lane: _lines_of(lane, name, scene.window, several, scene.large), LEAST_RESIDUAL if log else None
    )
    return trace(name, title, "sweeps", lines, log, exact=exact, empty=sentences.waiting(view), **more)


def _of_several(scene: Scene) -> str:
    """What is drawn of draws that take several sweeps, and where curves begin that start alike."""
    slow = _drawn_slowly(scene.view)
    if making := [lane for lane in slow if lane.draws is not None and not lane.draws.done]:
        return (
            f"faint: {_short_names(making)}, first {'new ' if any(lane.since for lane in making) else ''}draw not done"
        )
    if slow:
        return "dots: finished draws" + ("" if scene.large else f", {FAINT}")
    if not any(lane.moved for lane in scene.view.lanes):
        # Beside the exact line a class has no room for what stands there elsewhere.
        return BAND.removeprefix("; ") if scene.large and chance_of_energy(scene.view) else ""
    return SHADE if scene.large else f"from sweep 1 on; {SHADE}"


def _exact_energy(scene: Scene) -> dict | None:
    """That of the present law, or else the reference's, from the first sweep of a lane under it on; those of earlier
    laws, each over its own sweeps."""
    view = scene.view
    energy, whose = energy_of(view.energy, view.truth)
    earlier = [{"y": each.energy, "since": each.since, "until": each.until} for each in view.earlier]
    if energy is None and not earlier:
        return None
    label = "" if energy is None else f"{whose} {significant(energy, 4)}"
    chance = chance_of_energy(view) if energy is not None and len(view.lanes) > 1 else None
    if chance:
        label += BAND
    return {"y": energy, "label": label, "since": view.law_since, "earlier": earlier, "chance": chance or 0}


def _upper(scene: Scene, draws: DrawsView) -> dict:
    """A second axis, of finished draws: the sweeps at which they ended, and their numbers."""
    bins, payload = draws.series.bins(*scene.window, most=MOST_TRACE_POINTS), scene.envelope.payload
    if not len(bins):
        return {}
    places = {"x": payload.add(bins.mean["sweep"]), "y": payload.add(bins.mean["draw"])}
    return {"upper": {"label": "draws", **places}}


def _making(scene: Scene) -> list[dict]:
    """The draw in the making: the energy over its own sweeps."""
    lane, at = scene.view.lanes[0], scene.at
    draws = lane.draws
    if draws is None or draws.length < 2:
        return []
    now = lane.sweep - draws.age, draws.done + int(draws.age < draws.length)
    place = now if at is None else draws.being_made(at)
    if place is None:
        return []
    begin, number = place
    bins = lane.series.bins(begin + 1, lane.sweep if at is None else at, most=MOST_TRACE_POINTS)
    names = {"y": "mean", "low": "low", "high": "high"}
    columns = {"x": bins.mean["sweep"] - begin, **{k: bins.mean[f"energy:{v}"] for k, v in names.items()}}
    line = scene.envelope.line("0", scene.envelope.styles[0], columns) if len(bins) else None
    exact = _exact_energy(scene)
    here = {"since": 0, "earlier": []}
    done = (lane.sweep if at is None else at) - begin == draws.length
    title = f"Draw {integer(number)}{', done' if done else ' in the making'}: energy"
    more = {
        "span": [0, draws.length],
        "exact": None if exact is None or exact["y"] is None else exact | here,
        "unit": f"of {integer(draws.length)} sweeps",
    }
    # From `begun` on sweeps are counted: the line ends at the picture on screen, as those over all sweeps do.
    lines = [{**line, "name": lane.label, "begun": begin}] if line else []
    return [trace("making", title, "sweeps of this draw", lines, **more)]


def _finished(scene: Scene, draws: DrawsView) -> list[str]:
    """How many draws there are, or were at the moment that is looked back at; nothing where that is not known."""
    done = draws.done
    if scene.at is not None:
        if (making := draws.being_made(scene.at + 1)) is None:
            return []
        done = making[1] - 1
    return [f"{integer(done)} finished draw{'' if done == 1 else 's'} a chain"]


def _flips(scene: Scene) -> dict:
    def columns(lane: LaneView | Kept) -> list[dict]:
        bins = _bins(lane.series, scene.window)
        found = {"x": bins.mean["sweep"], "y": bins.mean["flips"]}
        return [found if bins.width == 1 else {**found, "least": bins.least["flips"], "most": bins.most["flips"]}]

    title = "Flipped sites of chain 0" if scene.view.model.space.binary else "Changed sites of chain 0"
    return trace("flips", title, "sweeps", scene.lines(columns), unit="share")


def _colours(view: LiveView) -> tuple[str, ...]:
    return view.model.space.palette or PALETTE[:2]


def _shares(scene: Scene) -> dict:
    """Share of the sites in each state over the sweeps; where they are known, the exact ones beside."""
    view, lane, lines = scene.view, scene.view.lanes[0], []
    exact = view.truth.shares if view.truth is not None and view.truth.exact else None
    for state, colour in enumerate(_colours(view)):
        columns = _band(lane.series, share_name(state), scene.window)
        if len(columns["x"]):
            line = scene.envelope.line("0", Style(colour, "solid", "circle"), columns)
            line |= {"name": view.model.space.legend[state]} | ({} if exact is None else {"exact": float(exact[state])})
            lines.append(line)
    unit = "of the sites" if exact is None else "of the sites, exact dashed"
    return trace("shares", "Share of each state", "sweeps", lines, unit=unit)


def _marginals(view: LiveView) -> dict:
    """Of one lane each variable's states beside the reference's; of more, or of many variables, their means."""
    rows: list[tuple[str, np.ndarray]] = []
    tables = [(lane.label, lane.frequencies) for lane in view.lanes if lane.frequencies is not None]
    if view.truth is not None:
        tables.append(("exact" if view.truth.exact else "reference", marginal_table(view.truth.marginals)))
    if len(view.lanes) == 1 and view.model.n <= MOST_MARGINALS:
        for site in range(view.model.n):
            rows += [
                (f"x{site} {'samples' if place == 0 else name}", t[site]) for place, (name, t) in enumerate(tables)
            ]
    else:
        rows = [(name, table.mean(0)) for name, table in tables]
    bars = {"names": list(view.model.space.legend), "colours": list(_colours(view))}
    bars["rows"] = [{"label": label, "colour": "#8A8A86", "values": values.tolist()} for label, values in rows]
    unit = "each variable" if len(view.lanes) == 1 and view.model.n <= MOST_MARGINALS else "mean over the variables"
    return trace("marginals", "Probability of each state", "sweeps", [], unit=unit, bars=bars)


def _states(scene: Scene) -> list[dict]:
    """How often each joint state of a model of few came, beside its exact probability."""
    lanes = zip(scene.then.lanes, scene.envelope.styles, strict=True)
    found = [(lane.label, style.colour, lane.states) for lane, style in lanes if lane.states is not None]
    if not found:
        return []
    first, several = found[0][2], len(found) > 1
    rows = [{"label": label, "colour": c, "values": states.shares.tolist()} for label, c, states in found]
    begun = scene.then.lanes[0].since
    since = f" since sweep {integer(begun)}" if begun else ""
    unit = f"{integer(first.count)} samples{since}, {_off(first)}"
    unit = "lines: exact p(x)" if several or not first.count else unit
    if not any(states.count for _, _, states in found):
        unit = f"no samples yet; {unit}"
    columns = {"names": list(first.names), "law": first.law.tolist(), "rows": rows}
    each = [f"{label}: {_off(states)}" for label, _, states in found if states.count]
    told = "\n".join([OFF, *(each if several else [])])
    return [trace("states", "How often each state", "states", [], unit=unit, columns=columns, help=told)]


OFF = (
    "The lines are the exact probabilities. Off by: half the sum of the gaps to them. Beside it what as many "
    "independent exact samples are off on average; the samples of a chain depend on each other, and are off by more."
)


def _off(states: StatesView) -> str:
    return f"off by {significant(states.distance, 2)}, as many exact samples {significant(states.floor, 2)} on average"


def _mmd(scene: Scene, x: str) -> dict:
    def columns(lane: LaneView | Kept) -> list[dict]:
        # By sweeps also under earlier settings, without a line from there to here.
        points: list[tuple[int, float, float]] = []
        for measured in (*(lane.earlier if x == "sweeps" else ()), lane.points):
            if points and measured:
                points.append((*points[-1][:2], math.nan))
            points += [(p.sweep, p.seconds, p.mmd2) for p in measured]
        at, times, y = zip(*points, strict=True) if points else ((), (), ())
        return [{"x": at if x == "sweeps" else times, "y": y, "at": at}]

    noise = _noise(scene.view)
    ends = [points[-1] for lane in scene.view.lanes for points in lane.earlier[-1:]]
    scale = noise or next((p.band for p in ends if p.band.known), None)
    floor = 10.0 ** math.floor(math.log10(scale.high / LEAST_BAND)) if scale else 1e-8  # A decade's end: the axis' own.
    long_run = scene.view.truth is not None and not scene.view.truth.exact
    label = f"noise: {'samples like the reference' if long_run else 'exact samples'} lie here, too"
    band = {"low": floor, "high": noise.high, "label": label} if noise else None
    if band and x == "sweeps" and scene.view.law_since:
        band |= {"since": scene.view.law_since}
    # What one in a thousand is above is asked once a lane is beyond the band again: how far does chance go? Before that
    # it would be a second level that decides nothing, and a class has none to tell apart.
    if band and noise and not scene.large and _beyond_again(scene.view):
        band |= {"most": noise.most}
    title = "MMD² over seconds" if x == "seconds" else "MMD², distance to the law"
    if scene.large and x == "sweeps" and len(scene.view.lanes) > 1:
        # A class reads nothing beneath the pictures: of more chains the noise is less, and others come first within it.
        title = f"MMD² to the law, {integer(scene.view.plan.chains)} chains"
    unknown = "no noise known" if any(lane.points for lane in scene.view.lanes) else ""
    foot = ("" if scene.large else f"at its foot all that is below {significant(floor, 1)}") if noise else unknown
    unit = "; ".join(part for part in (foot, _from_draws(scene.view)) if part)
    told = sentences.mmd_help(scene.view) + (f" {sentences.SHARED_CORES}" if x == "seconds" else "")
    more = {"empty": sentences.nothing_yet(scene.view), "help": told}
    if x == "sweeps":  # The axis of the energy beneath it, of which a change of the settings takes nothing away.
        more["span"] = [0, max(lane.sweep for lane in scene.view.lanes)]
    return trace(f"mmd-{x}", title, x, scene.lines(columns, floor), True, unit=unit, band=band, **more)


def _beyond_again(view: LiveView) -> bool:
    """Whether some lane that was within the noise band was measured beyond it later."""
    return any(a.within and not b.within for lane in view.lanes for a, b in pairwise(lane.points))


def _from_draws(view: LiveView) -> str:
    """Why curves of draws begin later than those of chains, in short; empty where none does."""
    late = _drawn_slowly(view)
    if not late or len(view.lanes) == 1:
        return ""
    return f"{_short_names(late)} from {'its first draw' if len(late) == 1 else 'their first draws'} on"


def _drawn_slowly(view: LiveView) -> list[LaneView]:
    """The lanes whose draws take several sweeps."""
    return [lane for lane in view.lanes if lane.draws is not None and lane.draws.length > 1]


def _short_names(lanes: list[LaneView]) -> str:
    return listed([short_name(lane.label, sampler_class(lane.algorithm).spec) for lane in lanes])


def _noise(view: LiveView) -> NoiseBand | None:
    """The noise band of what was measured last."""
    return next((p.band for lane in view.lanes for p in lane.points[-1:] if p.band.known), None)


def _spectrum(scene: Scene) -> dict:
    """MMD^2 by order: bars that are never drawn longer than the noise makes them worth."""
    rows, band = [], _noise(scene.then)
    noise = band.high if band else 0.0
    for lane, style in zip(scene.then.lanes, scene.envelope.styles, strict=True):
        if lane.points:
            rows.append({"label": lane.label, "colour": style.colour, "values": list(lane.points[-1].spectrum)})
    full = max([4 * noise, *(_sum(row["values"]) for row in rows)])
    low = max([0.0, *(_sum(row["values"], -1) for row in rows)])
    unit = f"full width {significant(full + low)}" if rows else ""
    bars = {"names": list(ORDERS), "rows": rows, "full": full, "low": low, "noise": noise}
    return trace("spectrum", "MMD² by order", "sweeps", [], unit=unit, bars=bars, help=sentences.mmd_help(scene.view))


def _sum(values: list[float], sign: int = 1) -> float:
    """Of those of this sign: MMD^2 is an estimate, which may be negative."""
    return sum(max(sign * value, 0.0) for value in values)
