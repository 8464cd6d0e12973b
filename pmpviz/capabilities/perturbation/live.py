"""The perturbation lab at work: one perturbation first, then statistics and the atlas, in small pieces."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from pmpviz import exact
from pmpviz.capabilities.perturbation.atlas import Atlas, AtlasMaker, centred, varied
from pmpviz.capabilities.perturbation.parts import (
    AttemptTree,
    Bench,
    Shown,
    Tally,
    Walked,
    attempt_tree,
    resolved,
    showing,
    state_law,
    walking,
)
from pmpviz.capabilities.perturbation.plan import MOST_DRAWS, MOST_SITES, LabPlan, not_perturbed
from pmpviz.live.plan import resolve_model
from pmpviz.live.worker import Watched, worker
from pmpviz.models import Ising
from pmpviz.types import Exact, InputError, Refusal

log = logging.getLogger(__name__)

CHUNK = 8
# Between pieces once the shown perturbation is solved: pages are drawn by the same process.
REST, WAITING = 0.02, 0.02
FIRST_DRAWS = 64
# Of so many variables a plane shows all the noise there is.
FLAT = 2
# Pictures are drawn anew at these numbers of perturbations: a browser takes longer to draw them than it takes to
# compute them.
SHOWN_AT = (8, 16, 32, 64, 128, 256, 512)


def draws_before_map(bench: Bench) -> int:
    """After how many perturbations the map is drawn: a scene's pictures come before it, and all samples that are to
    fall on it, so that all can be asked for; those of a solver with a time limit may take too long for that."""
    if bench.potentials.n == FLAT and not _timed(bench):
        return MOST_DRAWS
    return FIRST_DRAWS if bench.scene is not None or bench.potentials.n == FLAT else CHUNK


def _timed(bench: Bench) -> bool:
    return any(solver.spec.timed for solver in bench.solvers)


@dataclass(frozen=True, eq=False)
class LabView:
    """An immutable picture of the lab; what is not computed yet is None. `law` is exact p of the listed states."""

    plan: LabPlan
    bench: Bench | None = None
    shown: Shown | None = None
    tally: Tally | None = None
    law: np.ndarray | None = None
    truth: Exact | None = None
    no_truth: str = ""
    walked: Walked | None = None
    tree: AttemptTree | None = None
    atlas: Atlas | None = None
    doing: str = "building the model"
    trouble: str | None = None

    @property
    def done(self) -> bool:
        """Whether nothing more is to come."""
        return not self.doing or self.trouble is not None

    @property
    def solved(self) -> bool:
        """Whether all solvers have answered the shown perturbation."""
        if self.shown is None or any(self.shown.pending):
            return False
        return (self.shown.draw, self.shown.cross) == (self.plan.draw, self.plan.cross)


def bench_of(plan: LabPlan, files: Callable[[str], Any] | None = None) -> Bench:
    """The plan's problem; raises InputError and Refusal where the lab does not perturb its model."""
    model, scene = resolved(plan.model, lambda text: resolve_model(text, files))
    if not isinstance(model, Ising):
        raise InputError(not_perturbed(model))
    if model.n > MOST_SITES:
        raise InputError(f"the lab perturbs models of up to {MOST_SITES:,} variables; this one has {model.n:,}")
    bench = Bench.of(model, scene, plan.beta, plan.seed, plan.solvers, MOST_DRAWS)
    if bench.potentials.n < 2:
        raise Refusal("the lab needs at least two free variables; clamp fewer")
    return bench


def crossed(bench: Bench, plan: LabPlan) -> Float[np.ndarray, "n k"]:
    """The noise of the plan's draw, that of the two varied sites where the cross stands."""
    noise = bench.noise(min(plan.draw, MOST_DRAWS - 1), 1)[0]
    if plan.cross is not None:
        noise[list(varied(bench, (plan.first, plan.second))), 1] = plan.cross
    return noise


class LivePerturbation(Watched):
    """Works off a list of pieces, the shown perturbation first; a change of plan keeps what it does not touch.

    Pages call `set_plan`, `touch`, `close` and read `view`, which is replaced by one assignment.
    """

    queue = "solvers"

    def __init__(self, plan: LabPlan, files: Callable[[str], Any] | None = None):
        super().__init__()
        self._wanted, self._files = plan, files
        self._served, self._pieces = 0.0, self._all_of(plan)
        self.view = LabView(plan)
        self.begin()

    @property
    def busy(self) -> bool:
        """Whether there is something to come."""
        return not self.view.done or self.view.plan != self._wanted

    @property
    def waits(self) -> bool:
        """Whether what there is to see is of another model or other noise, or nothing yet."""
        return self.view.plan.sampled != self._wanted.sampled or (self.view.shown is None and not self.view.trouble)

    def set_plan(self, plan: LabPlan) -> None:
        """Adopt new settings at the next piece."""
        self._wanted = plan
        worker(self.queue).wake()

    def wait(self, seconds: float) -> None:
        """Until this plan's perturbation is solved by all, or for so long: a page then draws it at its first run."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.view.done:
            if self.view.plan == self._wanted and self.view.solved:
                return
            time.sleep(WAITING)

    # Called by the worker only.

    def due(self) -> float | None:
        """Since its last piece, so that labs take turns, while there is something to do and somebody to see it."""
        rest = REST if self.view.solved and self.view.plan == self._wanted else 0.0
        return self._served + rest if self.watched and self.busy else None

    def work(self, seconds: float) -> None:
        """Pieces for about that long; one piece may take longer."""
        if self.view.plan != self._wanted:
            self._begin(self._wanted)
        until = time.monotonic() + seconds
        try:
            while time.monotonic() < until and next(self._pieces, None) is not None:
                pass
        except InputError as error:
            self._set(trouble=str(error), doing="")
        self._served = time.monotonic()

    def fail(self, error: Exception) -> None:
        """Say so on the page."""
        self._set(trouble=f"the computation stopped: {str(error)[:200]}; change a setting", doing="")

    def _set(self, **changes) -> None:
        self.view = replace(self.view, **changes)

    def _begin(self, plan: LabPlan) -> None:
        before = self.view
        if before.trouble is None and before.bench is not None and before.plan.sampled == plan.sampled:
            same = (before.plan.first, before.plan.second) == (plan.first, plan.second)
            atlas = before.atlas if same and before.atlas is not None and before.atlas.done else None
            if atlas is not None and before.plan.draw != plan.draw:
                atlas = centred(atlas, before.bench, min(plan.draw, MOST_DRAWS - 1))
            self.view = replace(before, plan=plan, atlas=atlas, doing="solving this perturbation")
            self._pieces = self._rest_of(plan, before.bench, before.tally)
        else:
            self.view, self._pieces = LabView(plan), self._all_of(plan)
        self._served = 0.0

    def _all_of(self, plan: LabPlan) -> Iterator[bool]:
        """Everything, in the order in which a person looks at it."""
        bench = bench_of(plan, self._files)
        self._set(bench=bench, doing="solving this perturbation")
        yield True
        yield from self._rest_of(plan, bench, None)

    def _rest_of(self, plan: LabPlan, bench: Bench, tally: Tally | None) -> Iterator[bool]:
        draw = min(plan.draw, MOST_DRAWS - 1)
        for shown in showing(bench, draw, crossed(bench, plan)):
            self._set(shown=replace(shown, cross=plan.cross))
            yield True
        self._set(doing="trying other perturbations")
        if self.view.truth is None and not self.view.no_truth:
            self._find_truth(bench)
            yield True
        if self.view.tree is None and (tree := attempt_tree(bench, plan.seed)) is not None:
            self._set(tree=tree, law=state_law(bench))
            yield True
        tally = (tally or Tally.of(bench)).frozen()
        yield from self._more_draws(bench, tally, draws_before_map(bench))
        parts = [self._draw_atlas(bench, plan), self._more_draws(bench, tally, FIRST_DRAWS), self._walk(bench)]
        # Of a scene the pictures are the answer, and its map takes longest.
        yield from itertools.chain.from_iterable(parts if bench.scene is None else reversed(parts))
        yield from self._more_draws(bench, tally, MOST_DRAWS)
        self._set(doing="")

    def _walk(self, bench: Bench) -> Iterator[bool]:
        for walked in () if self.view.walked is not None else walking(bench):
            self._set(walked=walked, doing="walking to Frank-Wolfe's marginals")
            yield True

    def _draw_atlas(self, bench: Bench, plan: LabPlan) -> Iterator[bool]:
        if self.view.atlas is not None:
            return
        self._set(doing="drawing the noise atlas")
        maker = AtlasMaker(bench, min(plan.draw, MOST_DRAWS - 1), (plan.first, plan.second))
        for more in maker.drawing():
            if more:
                self._set(atlas=maker.atlas(), doing="drawing the noise atlas")
            yield True

    def _more_draws(self, bench: Bench, tally: Tally, most: int) -> Iterator[bool]:
        # A solver with a time limit may need all of it for one perturbation: others in the queue wait no longer.
        chunk = 1 if _timed(bench) else CHUNK
        while tally.draws < most:
            tally.add(bench, min(chunk, most - tally.draws))
            if tally.draws in SHOWN_AT or tally.draws == most:
                self._set(tally=tally.frozen(), doing="trying other perturbations")
            yield True

    def _find_truth(self, bench: Bench) -> None:
        if (reason := exact.why_not(bench.target)) is not None:
            self._set(no_truth=reason)
        else:
            self._set(truth=exact.solve(bench.target))


__all__ = ["LabView", "LivePerturbation", "bench_of", "draws_before_map"]
