"""Renders the pictures of the gallery: `python -m pmpviz.experiments.gallery FOLDER`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pmpviz.capabilities.deconvolution.lane import DeconvolutionLane
from pmpviz.capabilities.deconvolution.picture import features_image, pictures_of
from pmpviz.capabilities.deconvolution.plan import DeconvolutionPlan, problem_of
from pmpviz.capabilities.deconvolution.presets import DECONVOLUTION
from pmpviz.capabilities.landscape.live import follows
from pmpviz.capabilities.landscape.plan import LandscapePlan
from pmpviz.capabilities.landscape.presets import LANDSCAPE
from pmpviz.capabilities.landscape.thumbnail import landscape_picture
from pmpviz.capabilities.learning.plan import LearningPlan, resolve_data, split
from pmpviz.capabilities.learning.presets import LEARNING
from pmpviz.capabilities.marginals.live import LiveInference
from pmpviz.capabilities.marginals.plan import MANY, InferencePlan
from pmpviz.capabilities.marginals.presets import INFERENCE
from pmpviz.capabilities.marginals.walk_picture import marginals_picture, walk_picture
from pmpviz.capabilities.messages.picture import places_of, tell
from pmpviz.capabilities.messages.plan import MessagePlan
from pmpviz.capabilities.messages.presets import MESSAGES
from pmpviz.capabilities.messages.thumbnail import graph_picture
from pmpviz.capabilities.perturbation.live import LabView, bench_of
from pmpviz.capabilities.perturbation.panels import averages, perturbed
from pmpviz.capabilities.perturbation.parts import Tally, show
from pmpviz.capabilities.perturbation.plan import LabPlan
from pmpviz.capabilities.perturbation.presets import PERTURBATION
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.capabilities.sampling.presets import PLAYGROUND, RACE
from pmpviz.capabilities.segmentation.lane import SceneLane
from pmpviz.capabilities.segmentation.plan import ScenePlan
from pmpviz.capabilities.segmentation.presets import SEGMENTATION
from pmpviz.capabilities.text.plan import TextPlan
from pmpviz.capabilities.text.presets import TEXT
from pmpviz.capabilities.text.thumbnail import text_picture
from pmpviz.live.plan import resolve_model
from pmpviz.models.conv_or import or_convolution
from pmpviz.models.small_graphs import build_small_graph
from pmpviz.player.filters import pictures_image, png
from pmpviz.player.graph import force_directed
from pmpviz.player.layered import picture_of, picture_shape
from pmpviz.player.pictures import colour_image, picture_png
from pmpviz.runs import run as running
from pmpviz.runs import training
from pmpviz.types import Evidence, Target

SWEEPS = 256
SIDE = 384
ITERATIONS, DREAMS = 1000, 36
WALK_SECONDS = 120.0
AVERAGED = 64
TAKEN_APART, MADE = 200, 16


def picture(plan: Plan) -> bytes:
    """PNG of chain 0 of the plan's last lane after 256 sweeps, or of its first, slower one where it begins with
    stripes; of a chain the first 64 of Gibbs, one a row."""
    model = resolve_model(plan.model)
    shape = picture_shape(model, plan.model)
    line = shape is not None and len(shape) == 1
    lanes = (sampler("gibbs"),) if line else plan.lanes[:1] if plan.start == "stripes" else plan.lanes
    run = plan.replace(chains=1, lanes=lanes).begin(model)[-1]
    if line:
        _, trace = running.advance(run, 64 * run.quanta)
        assert trace is not None
        rows = np.stack([trace.frame(k) for k in range(64)])
        return picture_png(rows.reshape(-1), shape=rows.shape, side=SIDE)
    while run.sweep < SWEEPS:
        run, _ = running.advance(run, 64 * run.quanta, record=False)
    x = running.positions(run)[0]
    if shape is not None:
        return picture_png(picture_of(model, x), shape=shape, side=SIDE, states=model.space.states)
    _, i, j, _ = model.pairwise()
    return picture_png(x, positions=force_directed(model.n, i, j), edges=np.stack([i, j], 1), side=SIDE)


def dream(plan: LearningPlan) -> bytes:
    """PNG of what the plan's first lane dreams after a few hundred iterations."""
    train, _ = split(resolve_data(plan.data))
    value = plan.begin(train)[0]
    while value.iteration < ITERATIONS:
        value, _ = training.advance(value, 50)
    pixels = train.shape[0] * train.shape[1]
    return png(pictures_image(value.fantasies[:DREAMS, :pixels], train.shape))


def walk(plan: InferencePlan) -> bytes:
    """PNG of the walks of all lanes to their ends; of many sites their marginals."""
    live = LiveInference(plan)
    try:
        live.run_to("end")
        until = time.monotonic() + WALK_SECONDS
        while not (live.view.lanes and all(lane.done for lane in live.view.lanes)) and time.monotonic() < until:
            live.touch()
            time.sleep(0.05)
        many = live.view.model is not None and live.view.model.n > MANY
        return png((marginals_picture if many else walk_picture)(live.view, SIDE))
    finally:
        live.close()


def maximum(plan: LabPlan) -> bytes:
    """PNG of the last solver's answer under the plan's perturbation; the average over many where it is a picture."""
    live = LabView(plan, bench=bench_of(plan))
    assert live.bench is not None
    if live.bench.scene is None:
        return perturbed(replace(live, shown=show(live.bench, plan.draw)), False)[-1].picture
    tally = Tally.of(live.bench)
    tally.add(live.bench, AVERAGED)
    return averages(replace(live, shown=show(live.bench, plan.draw), tally=tally), False)[2].picture


def messages(plan: MessagePlan) -> bytes:
    """PNG of the plan's graph with the beliefs and messages at the end of its run."""
    graph = build_small_graph(plan.graph)
    story = tell(plan, Target.of(graph, Evidence.of(graph.n, dict(plan.evidence))), places_of(plan.graph))
    return png(graph_picture(story))


def deconvolved(plan: DeconvolutionPlan) -> bytes:
    """PNG of the features that the plan's last lane finds; of its reconstructions where the features are given."""
    problem = problem_of(plan)
    lane = DeconvolutionLane(plan.lanes[-1], plan.replace(samples=1), problem)
    lane.warm()
    while lane.count < TAKEN_APART and not lane.rested:
        lane.advance(10)
    view = lane.view()
    assert view.features is not None and view.locations is not None
    if plan.known_features == "given":
        made = np.asarray(or_convolution(view.locations[0], view.features[0]))[:MADE]
        pictures = pictures_of(made, problem.picture)
        return png(pictures_image(pictures.reshape(len(pictures), -1), pictures.shape[1:]))
    return png(features_image(view.features[0][:, list(view.order[0])], problem))


def landscape(plan: LandscapePlan) -> bytes:
    """PNG of the plan's density over its two widest directions."""
    return png(landscape_picture(follows(plan), SIDE))


def read(plan: TextPlan) -> bytes:
    """PNG of the plan's text with its exact marginals."""
    return png(text_picture(plan, SIDE))


def segment(plan: ScenePlan) -> bytes:
    """PNG of p(animal) of all scenes by the plan's last lane when it has learned."""
    lane = SceneLane(plan.lanes[-1], plan, *plan.examples(), 0)
    while lane.count < plan.budget:
        lane.advance()
    lane.reveal()
    return png(colour_image(lane.p1[..., None].repeat(3, -1), SIDE))


def render(folder: Path, page: str, presets: tuple[Any, ...], draw: Callable[[Any], bytes]) -> None:
    """One picture a preset."""
    for preset in presets:
        (folder / f"{page}-{preset.id}.png").write_bytes(draw(preset.plan))
        print(f"{page}-{preset.id}.png", file=sys.stderr)


def main(folder: str) -> None:
    """All pictures."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    render(path, "deconvolution", DECONVOLUTION, deconvolved)
    render(path, "frank_wolfe", INFERENCE, walk)
    render(path, "landscape", LANDSCAPE, landscape)
    render(path, "learning", LEARNING, dream)
    render(path, "messages", MESSAGES, messages)
    render(path, "perturbation_lab", PERTURBATION, maximum)
    render(path, "race", RACE, picture)
    render(path, "playground", PLAYGROUND, picture)
    render(path, "segmentation", SEGMENTATION, segment)
    render(path, "text", TEXT, read)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("give the folder for the pictures: python -m pmpviz.experiments.gallery assets/gallery")
    main(sys.argv[1])
