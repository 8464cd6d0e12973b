"""Walks of the presets of the Frank-Wolfe page, as its worker sees them."""

from dataclasses import replace
from functools import cache

import numpy as np

from pmpviz import exact
from pmpviz.app.presets import preset_of
from pmpviz.capabilities.marginals.lane import InferenceLane
from pmpviz.capabilities.marginals.live import InferenceView, Truth, names_of
from pmpviz.capabilities.marginals.presets import INFERENCE
from pmpviz.capabilities.marginals.segmented import segmented
from pmpviz.live.plan import resolve_model
from pmpviz.marginals.polytope import Cells
from pmpviz.marginals.projection import projection_of
from pmpviz.oracles import Potentials

MOST = 110


@cache
def view_of(name: str, most: int = MOST) -> InferenceView:
    """A preset's lanes at their ends, or after so many steps."""
    plan = preset_of(INFERENCE, name).plan
    model = resolve_model(plan.model, None)
    target = plan.target(model)
    potentials, _ = Potentials.of_target(target)
    projection, s, truth = projection_of(potentials), potentials.structure, None
    if exact.why_not(target) is None:
        solution = exact.solve(target)
        flat = Cells(s).flat(np.stack(solution.marginals), solution.pair_marginals(np.stack([s.i, s.j], 1)))
        truth = Truth(solution, projection.of(flat))
    lanes = [
        InferenceLane(lane, potentials, projection, 0, name)
        for lane, name in zip(plan.lanes, names_of(plan.lanes), strict=True)
    ]
    for lane in lanes:
        while not lane.state.reason and lane.count < most:
            lane.advance()
    shown = tuple(lane.view(None if truth is None else truth.solution.p1) for lane in lanes)
    built = {"model": model, "potentials": potentials, "projection": projection, "truth": truth}
    scene = segmented(plan.model, potentials)
    return InferenceView(run=1, plan=plan, lanes=shown, segmented=scene, **built)


@cache
def moved() -> InferenceView:
    """The triangle of a walk that goes on to new weights of its edges once its gap is small."""
    view = view_of("cube")
    return replace(view, plan=replace(view.plan, lanes=view.plan.lanes[:1]), lanes=view.lanes[:1])
