"""What the browser draws the lab from: the noise atlas, one perturbation with its answers, samples and their bars."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pmpviz.capabilities.perturbation.atlas import REPEATS
from pmpviz.capabilities.perturbation.findings import (
    FEW_STATES,
    added,
    counts,
    explained,
    falling,
    finding,
    left,
    long_run,
    missed,
)
from pmpviz.capabilities.perturbation.live import LabView, draws_before_map
from pmpviz.capabilities.perturbation.panels import average_rows, places
from pmpviz.capabilities.perturbation.parts import WALK_CALLS, Bench, expected_variation
from pmpviz.capabilities.perturbation.picture import (
    WITHIN,
    bound_rows,
    bound_words,
    ink,
    line_colour,
    styles,
)
from pmpviz.capabilities.perturbation.plan import LAYERS, MOST_DRAWS
from pmpviz.oracles import MapOracle, Solution
from pmpviz.player.numbers import configuration, integer, significant
from pmpviz.player.wire import Payload, encode

# Regions of states are told apart by colour; all but the most frequent ones share the last.
REGIONS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7A5195", "#A0522D", "#5A5A57",
    "#B9B9B5",
)  # fmt: skip
REST = ("#009E73", "#D55E00")
PERIODS = (2, 6, 24)
HALVES = "It leaves spins at 1/2 that it cannot decide; they are rounded to 0."
PLAIN = {
    "rest": "Colour: whether undamped messages come to rest.",
    "period": "Colour: after how many sweeps undamped messages repeat.",
    "fractional": "Colour: the share of spins that the linear program leaves between 0 and 1.",
}
# Two sites in the order in which their states are written.
LINE = np.array([[0.0, 0.5], [1.0, 0.5]])
MOST_BARS, MOST_NAMED = 24, 10
# The energy of so few spins is written out.
MOST_WRITTEN, SAME_WEIGHT = 3, 1e-6
SUBSCRIPTS = "₁₂₃"


def update(view: LabView, layer: str, dark: bool, preset: str = "", waits: bool = False) -> bytes:
    """The blob for the board; the question is that of the preset. What `waits` for its own model answers none."""
    payload = Payload()
    asked = replace(view, tally=None, tree=None) if waits else view
    return encode(
        {
            "atlas": _atlas(payload, view, layer),
            "layers": layers(view),
            "layer": layer,
            "colours": REGIONS,
            "shown": _shown(payload, view, dark),
            "shape": _shape(payload, view),
            "samples": _samples(payload, view),
            "averages": _averages(payload, view),
            "progress": progress(view),
            "bounds": _bounds(view, dark),
            "verdict": finding(asked, preset),
            "falling": falling(asked, preset),
            "counts": explained(counts(asked, preset)),
            "rows": _rows(asked, preset, dark),
            "waits": waits,
            "starts": not view.done,
        },
        payload.blobs,
    )


# The atlas.


def layers(view: LabView) -> list[dict[str, Any]]:
    """What the atlas can be coloured by: id, words, and how values become colours."""
    found = [
        {"id": "state", "label": "best state", "kind": "states"},
        {"id": "rest", "label": "max-product settles or not", "kind": "two",
         "words": ["settles", "never settles, undamped"], "colours": REST},
        {"id": "period", "label": "period of max-product", "kind": "scale", "low": -1.0, "high": 6.0,
         "ticks": [[-1, "none found"], [0, "settles"], *([float(np.log2(p)), str(p)] for p in PERIODS)]},
    ]  # fmt: skip
    if "linear_program" in view.plan.solvers:
        words = "fractional share of the LP"
        found.append({"id": "fractional", "label": words, "kind": "scale", "low": 0.0, "high": 1.0})
    labels, reasons = ((), ()) if view.bench is None else (view.bench.labels, view.bench.refusals)
    for place, (label, reason) in enumerate(zip(labels, reasons, strict=True)):
        more = ", 1/2 rounded to 0" if view.plan.solvers[place] == "linear_program" else ""
        if reason is None:
            words = f"energy lost by {label}{more}"
            found.append({"id": f"energy{place + 1}", "label": words, "kind": "scale", "low": 0.0})
    return found


def _spin(view: LabView, site: int) -> str:
    """`spin 15`, of a lattice with where it is in the pictures beside the map."""
    shape = None if view.bench is None else view.bench.target.model.shape
    if shape is None or len(shape) != 2:
        return f"spin {site + 1}"
    return f"spin {site + 1} (row {site // shape[1] + 1}, column {site % shape[1] + 1})"


def _atlas(payload: Payload, view: LabView, layer: str) -> dict[str, Any] | None:
    if view.atlas is None or view.bench is None:
        return None
    found, values = view.atlas, {}
    period = found.period
    layers_of = {
        "state": found.code,
        "rest": np.where(np.isnan(period), np.nan, period != 1),
        # Rest is 1; a period's logarithm tells 2 from 6 as well as 6 from 18.
        "period": np.log2(np.maximum(period, 0.5)),
        "fractional": found.fractional,
    } | {f"energy{s + 1}": lost for s, lost in enumerate(found.lost)}
    for name in LAYERS:
        if name in layers_of:
            values[name] = payload.add(layers_of[name])
    return {
        "reach": float(found.axis[-1]),
        "side": len(found.axis),
        "rows": found.rows,
        "stride": found.stride,
        "sites": found.sites,
        "spins": [_spin(view, site) for site in found.sites],
        "states": [_bits(state) for state in found.states],
        "regions": list(_regions(view).values()),
        "values": values,
        "best": payload.add(found.best),
        "shows": [payload.add(one, "<i4") for one in found.shows],
        "pictures": payload.add(found.pictures, "u1"),
        "words": atlas_words(view, layer),
    }


def _regions(view: LabView) -> dict[str, int]:
    """The colour of each state that appears: of few variables its own, else by how much of the map it has."""
    assert view.atlas is not None
    few, last = 2 ** len(view.atlas.states[0]) < len(REGIONS), len(REGIONS) - 1
    return {state: int(state, 2) if few else min(k, last) for k, state in enumerate(view.atlas.states)}


def _bits(state: str) -> str:
    return configuration(np.array([int(bit) for bit in state]))


def atlas_words(view: LabView, layer: str) -> str:
    """What a pixel is, and what its colour is."""
    if view.atlas is None or view.bench is None:
        return "The atlas is drawn after the first perturbations have been solved."
    found = view.atlas
    words = f"Each of {len(found.axis)} × {len(found.axis)} pixels: other noise of two spins, all else as shown"
    if view.bench.potentials.n == 2:
        words = "The plane is all the noise there is; a state comes as often as noise falls into its region; an empty "
        words += "dot is still falling, triangles lie beyond the map"
    row = f"Row {found.rows} of {len(found.axis)}."
    # Or dots of one colour in a region of another would contradict what a region is.
    dots = "near a border a dot may lie in another colour. " if view.bench.potentials.n == 2 else ""
    more = "" if found.done else f" Rough still: {dots}{row if dots else row.lower()}"
    return f"{words}. {_coloured(view, layer)}{more}"


def _coloured(view: LabView, layer: str) -> str:
    """What a layer's colours say, in plain words."""
    assert view.atlas is not None and view.bench is not None
    if layer == "state":
        return f"{integer(len(view.atlas.states))} states are best somewhere."
    if not layer.startswith("energy"):
        return PLAIN.get(layer, "")
    place = int(layer.removeprefix("energy")) - 1
    if place >= len(view.plan.solvers):
        return ""
    lost = f"Colour: what {view.bench.labels[place]}'s answer lacks of the best one, in nats, logs of probability."
    return f"{lost} {HALVES}" if view.plan.solvers[place] == "linear_program" else lost


def progress(view: LabView) -> str:
    """What the map still waits for."""
    draws = 0 if view.tally is None else view.tally.draws
    if view.bench is None or view.shown is None or any(view.shown.pending):
        return "the map comes after this perturbation"
    if draws < draws_before_map(view.bench):
        return f"the map comes after {draws_before_map(view.bench)} perturbations: {draws} are solved"
    if view.bench.scene is not None and view.walked is not None and view.doing.startswith("walking"):
        return f"the map comes after Frank-Wolfe's marginals: {view.walked.calls} of up to {WALK_CALLS} MAP calls"
    return "a rough map comes first: it is worked out"


# One perturbation.


def _shown(payload: Payload, view: LabView, dark: bool) -> dict[str, Any] | None:
    if view.shown is None or view.bench is None:
        return None
    shown, scene = view.shown, view.bench.scene
    rows = zip(view.bench.solvers, styles(view), shown.solutions, shown.pictures, shown.pending, strict=True)
    solvers = [
        {
            "label": solver.spec.label,
            "colour": line_colour(solver.spec.id, style, dark),
            "energy": None if found is None else -found.value,
            "picture": None if picture is None else payload.add(picture),
            "rounded": "" if found is None else rounded(found, view.bench.potentials.n),
            "settled": "" if found is None else settled(solver, found),
            "pending": pending,
        }
        for solver, style, found, picture, pending in rows
    ]
    seen = None if scene is None else payload.add(scene.seen.ravel())
    noise, field = payload.add(shown.noise), payload.add(shown.field)
    moved = shown.cross is not None
    return {"draw": shown.draw, "moved": moved, "noise": noise, "field": field, "solvers": solvers, "seen": seen,
            "formula": formula(view.bench)}  # fmt: skip


def rounded(found: Solution, n: int) -> str:
    """Before the energy of a relaxation's rounding: how many of n free variables it left undecided, its own bound."""
    share = float(found.notes.get("fractional") or 0.0)
    if not share:
        return ""
    bound = "" if found.upper is None else f", energy ≥ {significant(-found.upper, 5)}"
    return f"{integer(share * n)} of {integer(n)} at ½, grey{bound}; rounded: "


def formula(bench: Bench) -> str:
    """The energy of a few free spins by the field that is shown; empty of more."""
    n, potentials = bench.potentials.n, bench.potentials
    if not 1 < n <= MOST_WRITTEN or n < bench.target.n:
        return ""
    _, weights, constant = potentials.quadratic()
    x = [f"x{SUBSCRIPTS[k]}" for k in range(n)]
    terms = [(1.0, f"f{SUBSCRIPTS[k]}{x[k]}") for k in range(n)]
    pairs = zip(potentials.structure.i, potentials.structure.j, weights, strict=True)
    coupled = [(w, f"{significant(abs(w))} {x[i]}{x[j]}") for i, j, w in pairs]
    numbers = [*coupled, (constant, significant(abs(constant)))]
    written = "".join(f" {'+' if value >= 0 else '−'} {word}" for value, word in terms + numbers).removeprefix(" + ")
    spins = f" {significant(weights[0])} between 0 and 1 is J = {significant(weights[0] / 4)} between spins ±1."
    same = spins if np.ptp(weights) < SAME_WEIGHT else ""
    return f"Energy: −({written}), f the field + noise, x 0 or 1.{same}"


def settled(solver: MapOracle, found: Solution) -> str:
    """Whether a solver's messages have come to rest, in words; nothing of one that passes none."""
    change = found.notes.get("residual")
    if change is None:
        return ""
    if float(change) > REPEATS:
        return f"not settled in {getattr(solver, 'sweeps', 0):g} sweeps"
    return f"settles, damped by {getattr(solver, 'damping', 0.0):g}"


def _shape(payload: Payload, view: LabView) -> dict[str, Any] | None:
    """Rows and columns of a lattice, or nodes and edges."""
    if view.bench is None:
        return None
    scene, model = view.bench.scene, view.bench.target.model
    shape = model.shape if scene is None else scene.shape
    if shape is not None and len(shape) == 2:
        return {"rows": shape[0], "cols": shape[1]}
    _, i, j, _ = model.pairwise()
    nodes = LINE if model.n == 2 else places(model.n, tuple(i.tolist()), tuple(j.tolist()))
    return {"nodes": payload.add(nodes), "edges": payload.add(np.stack([i, j], 1), "<i4")}


# Many perturbations.


def _rows(view: LabView, preset: str, dark: bool) -> dict[str, Any] | None:
    """What the question is about as a bar each: best states that solvers missed, attempts that go on, bounds."""
    if fixed := left(view, preset):
        assert view.tree is not None
        of, title = view.tree.attempts, f"Of {integer(view.tree.attempts)} attempts still going, by spins fixed"
        bars = [(str(spins), count, ink(dark)) for spins, count in fixed]
    elif sums := added(view, preset):
        title = "Bounds of all parts added up: share of the whole's, by spins fixed"
        told = [{"name": f"{j}", "share": p, "count": f"{p:.1%}", "colour": ink(dark)} for j, p in sums]
        return {"title": title, "bars": told, "first": True}
    elif lost := missed(view, preset):
        assert view.tally is not None
        of, title = view.tally.draws, f"Best state missed, under {integer(view.tally.draws)} noises"
        colours = {solver.spec.label: line_colour(solver.spec.id, style, dark) for solver, style in _styled(view)}
        bars = [(label, count, colours[label]) for label, count in lost]
    else:
        return None
    told = [{"name": name, "share": n / of, "count": integer(n), "colour": colour} for name, n, colour in bars]
    return {"title": title, "bars": told, "first": bool(fixed)}


def _styled(view: LabView) -> Any:
    assert view.bench is not None
    return zip(view.bench.solvers, styles(view), strict=True)


def _averages(payload: Payload, view: LabView) -> list[dict[str, Any]] | None:
    """Of a scene, whose pictures are its answer, the averages too; None where the page draws them beneath."""
    if view.bench is None or view.bench.scene is None:
        return None
    rows = average_rows(view)
    return [
        {"title": title, "words": words, "values": payload.add(values), "kind": kind}
        for title, words, values, kind in rows
    ]


def _bounds(view: LabView, dark: bool) -> dict[str, Any]:
    """What maxima under noise say of log Z: in words, and each estimate with its 95 % bar beside the exact value."""
    estimates = [
        {
            "name": name.removeprefix("mean of "),
            "mean": mean,
            "error": WITHIN * error,
            "colour": line_colour("exact" if kind == "exact" else "", style, dark),
            "open": kind != "exact",
        }
        for name, mean, error, style, kind in bound_rows(view)
    ]
    exact = None if view.truth is None else float(view.truth.log_z)
    return {"words": bound_words(view), "estimates": estimates, "exact": exact}


def _samples(payload: Payload, view: LabView) -> dict[str, Any] | None:
    """Which state each perturbation chose, in the order of the exact law, and where it lies if noise is a plane."""
    tally, bench = view.tally, view.bench
    if tally is None or bench is None or view.law is None or not tally.codes:
        return None
    order = np.argsort(-view.law, kind="stable")
    place = np.empty(len(order), int)
    place[order] = np.arange(len(order))
    names = ["".join(map(str, state)) for state in _states(order[:MOST_BARS], bench)]
    few = len(order) < len(REGIONS)
    regions = {} if few or view.atlas is None else _regions(view)
    flat = bench.potentials.n == 2 and len(tally.codes) == tally.draws
    points = bench.noise(0, tally.draws)[:, :, 1] if flat else None
    few, run = (long_run(view) if flat else None) or (0, None)
    return {
        "places": payload.add(place[np.array(tally.codes)], "<i4"),
        "law": payload.add(view.law[order]),
        "names": names,
        "readable": len(names[0]) <= MOST_NAMED,
        "regions": [int(name, 2) if few else regions.get(name, len(REGIONS) - 1) for name in names],
        "points": None if points is None else payload.add(points),
        "floors": _floors(view),
        "most": MOST_DRAWS,
        "run": None if run is None else run[order],
        "few": few,
    }


def _floors(view: LabView) -> list[tuple[int, float]]:
    """(after how many samples, the distance that as many exact draws have), of all samples where it is one alone."""
    assert view.tally is not None and view.law is not None
    if view.tally.counts is None:
        return []
    draws = view.tally.draws
    some = range(1, draws + 1) if len(view.law) <= FEW_STATES else [draws]
    return [(count, expected_variation(count, view.law)) for count in some]


def _states(codes: np.ndarray, bench: Bench) -> np.ndarray:
    n = bench.potentials.n
    free = (codes[:, None] >> np.arange(n)[::-1]) & 1
    return free.astype(np.int8)


__all__ = ["atlas_words", "formula", "layers", "rounded", "settled", "update"]
