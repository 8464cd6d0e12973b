"""A live run: one to four lanes of one plan, advanced by the worker, commanded and read by pages."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pmpviz.capabilities.sampling import layers
from pmpviz.capabilities.sampling.lane import Lane, LaneView
from pmpviz.capabilities.sampling.plan import Plan
from pmpviz.exact import target_log_z
from pmpviz.live import background
from pmpviz.live.background import TruthJob
from pmpviz.live.job import LiveJob, warm
from pmpviz.live.lane_names import lane_names
from pmpviz.live.limits import limits
from pmpviz.live.plan import begins_anew, describe_change, resolve_model
from pmpviz.live.view import View
from pmpviz.live.worker import SLICE_SECONDS, waiting
from pmpviz.runs.run import MAX_CHUNK_SWEEPS
from pmpviz.runs.schedule import Budget
from pmpviz.runs.truth import Truth, build, known_energy, truth_key
from pmpviz.types import Target

log = logging.getLogger(__name__)

SUMMARY_SECONDS = 1.0
LOOK_SECONDS = 0.02
# Of the worker's time, what the summaries of all runs that it serves may take: those of long runs take milliseconds.
SUMMARY_SHARE = 0.1
BY_HAND = "flipped by hand"
NO_REFERENCE = "a reference needs at least two chains"


@dataclass(frozen=True)
class Stretch:
    """Between two sweeps one law was sampled, of this mean energy, exact or its reference's.

    Each lane comes to another law at a sweep of its own: `since` is that of the first lane, `until` that of the last.
    """

    since: int
    until: int
    energy: float
    exact: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class LiveView(View):
    """An immutable picture of a live run; `before` are the plans of earlier sweeps, each with the last one under it."""

    plan: Plan
    model: Any = None
    lanes: tuple[LaneView, ...] = ()
    truth: Truth | None = None
    truth_share: float = 0.0
    truth_trouble: str | None = None
    truth_left: float | None = None  # Seconds that the reference may still take.
    coming: str = ""  # Changes that were made and are not taken up yet, in words.
    energy: float | None = None  # Exact mean, where a formula gives it.
    layer: str = "none"  # What the lanes' layers are of.
    before: tuple[tuple[int, Plan], ...] = ()
    earlier: tuple[Stretch, ...] = ()  # Mean energies of the laws that were sampled before.
    law_since: int = 0  # The least sweep of a lane from which on it samples the present law.
    changed_at: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # Of each mark the sweeps of its lanes.
    present: Plan | None = None  # Of a moment that is looked back at: the plan of now.

    def before_change(self, changes: str) -> LiveView:
        """Without what belongs to settings that a person has changed: their statistics, exact values and reference."""
        lanes = tuple(lane.bare() for lane in self.lanes)
        return replace(self, lanes=lanes, truth=None, truth_share=0.0, truth_left=None, energy=None, coming=changes)

    def at(self, sweep: int) -> LiveView:
        """What had been measured at an earlier sweep, and under which plan."""
        plan = next((plan for last, plan in self.before if sweep <= last), self.plan)
        return replace(self, plan=plan, present=self.plan, lanes=tuple(lane.at(sweep) for lane in self.lanes))

    @property
    def marked(self) -> list[tuple[int, str]]:
        """The marks, each at the sweeps of the lanes that changed."""
        return [(sweep, words) for count, words in self.marks for sweep in self.changed_at.get(count, (count,))]


def known_law(exact: float | None, truth: Truth | None) -> tuple[float, float] | None:
    """The exact mean energy, or else the reference's, with its standard error; None where neither is known."""
    known = exact if truth is None else truth.energy
    if known is not None:
        return known, 0.0
    return None if truth is None else truth.sampled_energy


def energy_of(exact: float | None, truth: Truth | None) -> tuple[float | None, str]:
    """(the law's mean energy, whether that is `exact` or the `reference`'s); None where neither is known."""
    law = known_law(exact, truth)
    if law is None:
        return None, "exact"
    return law[0], "reference" if truth is not None and truth.energy is None else "exact"


def compile_ahead(plan: Plan, most: float = 0.0) -> None:
    """Compile what a live run of this plan will run, and begin its reference, before anybody has asked for one.

    So many seconds it waits for the reference, and compiles what is measured by it too.
    """
    model = resolve_model(plan.model)
    lanes = _lanes_of(plan, model, epoch=0)
    warm(lanes)
    job, until = _reference(plan.target(model)), time.monotonic() + most
    while job.unfinished and time.monotonic() < until:
        job.touch()
        time.sleep(LOOK_SECONDS)
    for lane in lanes:
        lane.measure(job.truth)


def _reference(target: Target) -> TruthJob:
    return background.request(truth_key(target), lambda: build(target, limits().check_reference))


def _shown(model: Any) -> Any:
    model.space.check_shown()
    return model


def _lanes_of(plan: Plan, model: Any, epoch: int) -> list[Lane]:
    return [Lane(lane, run, epoch) for lane, run in zip(plan.lanes, plan.begin(model), strict=True)]


class LiveRun(LiveJob):
    """A run or a race. Owns the lanes; only the worker touches them."""

    view: LiveView
    view_type = LiveView
    beginning = "building the model"

    def __init__(self, plan: Plan, files: Callable[[str], Any] | None = None, speed: float = 0.0):
        super().__init__(plan, files, speed)
        self.layer = "none"
        self._model: Any = None
        self._energy: float | None = None
        self._resolved: str | None = None
        self._budget = Budget()
        self._before: list[tuple[int, Plan]] = []
        self._earlier: list[Stretch] = []
        self._came = 0, 0  # Between these sweeps the lanes came to the present law.
        self._places: dict[int, tuple[int, ...]] = {}
        self._summarised, self._summary_seconds = 0.0, 0.0
        self.begin()

    # Called by pages.

    @property
    def seen(self) -> LiveView:
        """Also without what belongs to settings that were changed, until the worker has taken the change up."""
        view, wanted = super().seen, self._wanted
        if view.plan == wanted or view.trouble is not None or self._begins_anew(view.plan, wanted):
            return view
        changes = describe_change(view.plan, wanted)
        return view.before_change(changes) if changes else view

    def set_layer(self, layer: str) -> None:
        """What is shown over the lattice: see `layers.layers_of`."""
        if layer != self.layer:
            self.layer = layer
            self.post(self._publish)

    def flip(self, sites: Sequence[int]) -> None:
        """Flip sites of chain 0 in every lane of kind `chain`."""
        self.post(lambda: self._flip(sites))

    # Called by the worker only.

    @property
    def model(self) -> Any:
        """The resolved model."""
        return self._model

    def _make_lanes(self) -> list[Lane]:
        self.reference, self._before, self._earlier = None, [], []
        self._came, self._places = (0, 0), {}
        if self._model is None or self._resolved != self.plan.model:
            self._model, self._resolved = _shown(resolve_model(self.plan.model, self._files)), self.plan.model
        self._budget = Budget(self.plan.unit, self.plan.budget)
        self._energy = known_energy(self.plan.target(self._model), target_log_z)
        return [self._at_its_start(place) for place in range(len(self.plan.lanes))]

    def _at_its_start(self, place: int) -> Lane:
        """A lane at its start, which may have to be compiled before there is a first picture."""
        lane = self.plan.lanes[place]
        if not self.view.lanes:
            self.view = replace(self.view, status=f"compiling the start of {lane.spec.label}")
        return Lane(lane, self.plan.begin_lane(self._model, place), self._epoch)

    def _pause(self) -> None:
        super()._pause()
        self._summarised = 0.0  # What stands still is summed up as it is.

    def _flip(self, sites: Sequence[int]) -> None:
        sites = [site for site in sites if 0 <= site < self._model.n]
        flipped = [lane for lane in self._lanes if lane.run.algorithm.spec.kind == "chain"]
        for lane in flipped:
            lane.flip(sites)
        if flipped and sites:
            self._note_places(flipped)
            which = f"site {sites[0] + 1}" if len(sites) == 1 else f"{len(sites)} sites"
            self._mark(f"{which} of chain 0 {BY_HAND}")

    def _begins_anew(self, before: Plan, plan: Plan) -> bool:
        """A lane that is added at the end, or taken away there, leaves the others as they are."""
        shared = min(len(before.lanes), len(plan.lanes))
        return begins_anew(before.replace(lanes=before.lanes[:shared]), plan.replace(lanes=plan.lanes[:shared]))

    def _adjust(self, before: Plan, plan: Plan) -> str:
        self._budget = Budget(plan.unit, plan.budget)
        changes = describe_change(before, plan)
        if not changes:
            return ""
        target = plan.target(self._model)
        self._before.append((self._furthest(), before))
        another = (before.beta, before.field, before.clamp) != (plan.beta, plan.field, plan.clamp)
        if another:
            self._note_energy()
        del self._lanes[len(plan.lanes) :]
        self._turn = [lane for lane in self._turn if lane in self._lanes]
        pairs = zip(self._lanes, plan.lanes, strict=False)
        changing = [(lane, lane_plan) for lane, lane_plan in pairs if another or lane_plan != lane.plan]
        self._note_places(lane for lane, _ in changing)
        for lane, lane_plan in changing:
            lane.change(lane_plan, target)
        for place in range(len(self._lanes), len(plan.lanes)):
            self._add(plan, place)
        if another:
            self.reference, self._energy = None, known_energy(target, target_log_z)
        return changes

    def _note_energy(self) -> None:
        """The mean energy under the settings that end here, for the curves of their sweeps."""
        truth = self.reference.truth if self.reference is not None else None
        energy, whose = energy_of(self._energy, truth)
        (first, last), until = self._came, self._furthest()
        if energy is not None and last < until:
            self._earlier.append(Stretch(first, until, energy, whose == "exact"))
        self._came = min((lane.count for lane in self._lanes), default=0), until

    def _furthest(self) -> int:
        return max((lane.count for lane in self._lanes), default=0)

    def _note_places(self, lanes: Iterable[Lane]) -> None:
        """The sweeps of lanes that change now, for the mark that comes."""
        if places := {lane.count for lane in lanes}:
            known = self._places.get(self._furthest(), ())
            self._places[self._furthest()] = tuple(sorted({*known, *places}))

    def _add(self, plan: Plan, place: int) -> None:
        """One more lane from the common start, compiled beside the others; it need not be given what they have had."""
        begun = lambda: Lane(plan.lanes[place], plan.begin_lane(self._model, place), self._epoch)  # noqa: E731
        lane = begun()
        lane.head_start = min((self._used(other) for other in self._lanes), default=0.0)
        lane.later = True
        self._lanes.append(lane)
        threading.Thread(target=self._prepare, args=(begun, lane), daemon=True).start()

    def _prepare(self, begun: Callable[[], Lane], lane: Lane) -> None:
        """Compile what a lane needs, by another one that is thrown away; then let it begin."""
        try:
            warm([begun()])
        except Exception:  # The worker comes upon it again, and says so.
            log.exception("a lane could not be compiled ahead")
        self.post(lambda: setattr(lane, "later", False), wait=0.0)

    def _later(self, lane: Lane) -> bool:
        return lane.later

    def _used(self, lane: Lane) -> float:
        return self._budget.used(lane.run) + lane.head_start

    def _allowance(self, lane: Lane) -> int:
        # The pace is of whole sweeps: one that is begun goes on.
        return 1 if lane.midway else min(self._allowed(lane), self._each_in_turn())

    def _each_in_turn(self) -> int:
        """Sweeps of a chunk that let every lane go on within one turn of the worker, where many wait for theirs."""
        if self._slice >= SLICE_SECONDS:
            return MAX_CHUNK_SWEEPS
        seconds = sum(1 / lane.rate for lane in self._lanes if lane.rate and not self._over(lane))
        return max(int(self._slice / seconds), 1) if seconds else 1

    def _advance(self, lane: Lane, most: int) -> bool:
        return lane.advance(self._budget_of(lane), most)

    def _budget_of(self, lane: Lane) -> Budget:
        """Counted from the last change of what the lane's statistics are of."""
        return replace(self._budget, before=lane.before)

    def _over(self, lane: Lane) -> bool:
        return lane.stopped or self._budget_of(lane).spent(lane.run)

    def _waiting(self) -> bool:
        making = self.view.truth is None and self.view.truth_trouble is None  # What is made is to be shown, too.
        return self._wants_truth() and (making or any(lane.waiting for lane in self._lanes))

    def _wants_truth(self) -> bool:
        return bool(self._lanes) and self.plan.chains > 1 and self._trouble is None

    def _look_around(self) -> None:
        """Ask for the reference once every lane moves, so that its making does not hold up the first picture."""
        moving = not self._playing or all(lane.run.quantum for lane in self._lanes)
        if self.reference is None and self._wants_truth() and moving and not self._cold():
            self.reference = _reference(self.plan.target(self._model))
        for lane in self._lanes:
            lane.measure(self.reference.truth if self.reference is not None else None)
            lane.check_stop(self.plan.stop, self.plan.threshold)

    def _lanes_view(self) -> tuple[LaneView, ...]:
        begun = time.monotonic()
        wait = max(SUMMARY_SECONDS, waiting() * self._summary_seconds / SUMMARY_SHARE)
        summarise = begun - self._summarised > wait
        truth = self.reference.truth if self.reference is not None else None
        names = lane_names([lane.plan for lane in self._lanes])
        for lane in self._lanes:
            lane.note_right(known_law(self._energy, truth))
        found = tuple(
            lane.view(self._over(lane), layers.layer(self.layer, lane.run, truth), summarise, name)
            for name, lane in zip(names, self._lanes, strict=True)
        )
        if summarise:
            self._summarised, self._summary_seconds = begun, time.monotonic() - begun
        return found

    def _extras(self) -> dict[str, Any]:
        job, trouble = self.reference, None if self.plan.chains > 1 else NO_REFERENCE
        own = {"model": self._model, "layer": self.layer, "before": tuple(self._before)}
        own |= {"energy": self._energy, "earlier": tuple(self._earlier), "law_since": self._came[0]}
        own |= {"changed_at": dict(self._places)}
        if job is None:
            return {**own, "truth_trouble": trouble}
        trouble = job.trouble and f"no reference could be made: {job.trouble}"
        return {**own, "truth": job.truth, "truth_share": job.share, "truth_trouble": trouble, "truth_left": job.left}
