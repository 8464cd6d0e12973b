"""A live run: one to four lanes of one plan, advanced by the worker, commanded and read by pages."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pmpviz.runs import background, layers
from pmpviz.runs.lane import Lane, LaneView
from pmpviz.runs.plan import Plan, begins_anew, describe_change, resolve_model
from pmpviz.runs.schedule import Budget
from pmpviz.runs.truth import Truth
from pmpviz.runs.worker import LEASE_SECONDS, worker
from pmpviz.types import InputError

log = logging.getLogger(__name__)

POST_WAIT_SECONDS = 0.5
SUMMARY_SECONDS = 1.0
PACE_SECONDS = 0.1
PUBLISH_SECONDS = 0.1
WAIT_SECONDS = 0.2
SETTLE_SECONDS = 3.0
NO_REFERENCE = "a reference needs at least two chains"

_numbers = itertools.count()


@dataclass(frozen=True)
class LiveView:
    """An immutable picture of a live run, published by one assignment.

    `run` numbers the runs of this process. `epoch` goes up with every change of the settings and with every restart;
    `begun` is the epoch of the last restart, since which the frames belong together.
    """

    run: int
    epoch: int
    begun: int
    playing: bool
    status: str
    trouble: str | None
    plan: Plan
    model: Any
    lanes: tuple[LaneView, ...]
    truth: Truth | None
    truth_share: float
    truth_trouble: str | None
    marks: tuple[tuple[int, str], ...]


class LiveRun:
    """Owns the lanes. Pages call `post`, `play`, ... and read `view`; only the worker touches the lanes."""

    def __init__(self, plan: Plan, files: Callable[[str], Any] | None = None, speed: float = 0.0):
        self.plan, self.speed, self.layer = plan, speed, "none"
        self._wanted = plan
        self._number = next(_numbers)
        self._files = files
        self._commands: deque[tuple[Callable[[], None], threading.Event]] = deque()
        self._serving, self._stepped = False, threading.Event()
        self._touched = time.monotonic()
        self._playing, self._epoch, self._begun, self._steps = False, 0, 0, 0
        self._model: Any = None
        self._lanes: list[Lane] = []
        self._marks: list[tuple[int, str]] = []
        self._truth_job: background.TruthJob | None = None
        self._pace_start, self._pace_sweep, self._next_due, self._summarised = 0.0, 0, 0.0, 0.0
        self.view = LiveView(self._number, 0, 0, False, "building the model", None, plan, None, (), None, 0.0, None, ())
        self.post(self._restart, wait=0.0)
        worker().add(self)

    # Called by pages.

    def touch(self) -> None:
        """Keep the lease: a run that nobody looks at for 6 s stops."""
        self._touched = time.monotonic()
        if self._truth_job is not None:
            self._truth_job.touch()
        worker().wake()

    def post(self, command: Callable[[], None], wait: float = POST_WAIT_SECONDS) -> None:
        """Have the worker do this between chunks, first in first out; waits a moment for it."""
        done = threading.Event()
        self._commands.append((command, done))
        worker().wake()
        if wait:
            done.wait(wait)

    def play(self) -> None:
        """Go on."""
        self.post(self._play)

    def pause(self) -> None:
        """Stop after the chunk in hand."""
        self.post(self._pause)

    def step(self) -> None:
        """One sweep of every lane; waits a moment for it."""
        self._stepped.clear()
        self.post(self._step, wait=0.0)
        self._stepped.wait(POST_WAIT_SECONDS)

    @property
    def busy(self) -> bool:
        """Whether something that was asked for is not in the view yet."""
        return bool(self._commands) or self._serving or self._steps > 0

    @property
    def settled(self) -> bool:
        """Whether the view has been as it is for so long that every page has had time to draw it."""
        return time.monotonic() - self._published > SETTLE_SECONDS

    def reset(self) -> None:
        """Back to sweep 0 with the same seed."""
        self.post(self._restart)

    def set_speed(self, speed: float) -> None:
        """Sweeps a second of every lane; 0 is as fast as it goes."""
        if speed != self.speed:
            self.speed = speed
            self.post(self._repace)

    def set_layer(self, layer: str) -> None:
        """What is shown over the lattice: see `layers.LAYERS`."""
        if layer != self.layer:
            self.layer = layer
            self.post(self._publish)

    def set_plan(self, plan: Plan) -> None:
        """Adopt new settings: in mid-run where the shape allows it, else from the start.

        While the worker is busy only the last of several settings is adopted.
        """
        if plan != self._wanted:
            self._wanted = plan
            self.post(lambda: self._adopt(self._wanted))

    def ask(self, question: Callable[[LiveRun], Any], wait: float = POST_WAIT_SECONDS) -> Any:
        """The worker's answer to a question about its state, or None where it takes longer than `wait`."""
        answers: list[Any] = []
        self.post(lambda: answers.append(question(self)), wait)
        return answers[0] if answers else None

    def flip(self, site: int) -> None:
        """Flip a site of chain 0 in every lane of kind `chain`."""
        self.post(lambda: self._flip(site))

    def publish(self) -> None:
        """Bring the view up to date (worker thread only)."""
        self._publish()

    def close(self) -> None:
        """Give up the place in the worker's queue."""
        worker().remove(self)

    # Called by the worker only.

    @property
    def model(self) -> Any:
        """The resolved model."""
        return self._model

    @property
    def lanes(self) -> list[Lane]:
        """The lanes (worker thread only)."""
        return self._lanes

    def due(self) -> float | None:
        """At once with commands; while playing when the pace allows; never when unwatched."""
        if self._commands:
            return 0.0
        if time.monotonic() - self._touched > LEASE_SECONDS:
            return None
        if self._cold():
            return 0.0
        if self._steps or self._playing:
            return self._next_due
        return self._published + WAIT_SECONDS if self._waiting() else None

    def work(self, seconds: float) -> None:
        """Commands first, then compile what is new, then chunks for the lane that has used least, then publish."""
        while self._commands:
            self._serving = True
            self._obey(*self._commands.popleft())
        if cold := self._cold():
            cold[0].warm()
            self._repace()
        until = time.monotonic() + seconds
        while (self._playing or self._steps) and self._advance_one() and time.monotonic() < until:
            pass
        self._look_for_truth()
        if not self._playing or time.monotonic() - self._published > PUBLISH_SECONDS:
            self._publish()
        if not self._steps:
            self._stepped.set()

    def _cold(self) -> list[Lane]:
        return [] if self._trouble else [lane for lane in self._lanes if not lane.warmed]

    def _obey(self, command: Callable[[], None], done: threading.Event) -> None:
        try:
            command()
        except InputError as error:
            self._halt(str(error))
        except Exception as error:  # Before the poster goes on: its page is to say so.
            log.exception("a command failed")
            self.fail(error)
        finally:
            self._publish()
            self._serving = False
            done.set()

    def fail(self, error: Exception) -> None:
        """Stop and say so; the settings stay."""
        self._halt(f"the computation stopped: {str(error)[:200] or type(error).__name__}; change a setting or reset")

    def _halt(self, sentence: str) -> None:
        self._playing, self._steps = False, 0
        self._publish(trouble=sentence)
        self._trouble = sentence

    _trouble: str | None = None

    def _restart(self) -> None:
        self._trouble, self._epoch, self._marks, self._steps = None, self._epoch + 1, [], 0
        self._begun, self._lanes, self._truth_job = self._epoch, [], None
        if self._model is None or self._resolved != self.plan.model:
            self._model, self._resolved = resolve_model(self.plan.model, self._files), self.plan.model
        runs = self.plan.begin(self._model)
        self._lanes = [Lane(plan, run, self._epoch) for plan, run in zip(self.plan.lanes, runs, strict=True)]
        self._budget = Budget(self.plan.unit, self.plan.budget)
        self._repace()

    _resolved: str | None = None
    _published = 0.0
    _budget = Budget()

    def _play(self) -> None:
        self._playing = self._trouble is None
        self._repace()

    def _pause(self) -> None:
        self._playing, self._steps = False, 0
        self._summarised = 0.0  # What stands still is summed up as it is.

    def _step(self) -> None:
        self._playing, self._steps = False, len(self._lanes)
        self._next_due = 0.0

    def _repace(self) -> None:
        self._pace_start, self._next_due = time.monotonic(), 0.0
        self._pace_sweep = min((lane.run.sweep for lane in self._lanes), default=0)

    def _flip(self, site: int) -> None:
        for lane in self._lanes:
            if lane.run.algorithm.spec.kind == "chain" and 0 <= site < self._model.n:
                lane.flip(site)
        self._mark(f"site {site} of chain 0 flipped by hand")

    def _mark(self, text: str) -> None:
        sweep = max((lane.run.sweep for lane in self._lanes), default=0)
        self._marks.append((sweep, text))
        self._epoch += 1
        for lane in self._lanes:
            lane.show(self._epoch)

    def _adopt(self, plan: Plan) -> None:
        old, self.plan = self.plan, plan
        if plan == old and self._trouble is None:
            return
        if self._trouble is not None or not self._lanes or begins_anew(old, plan):
            self._restart()
            return
        self._budget = Budget(plan.unit, plan.budget)
        changes = describe_change(old, plan)
        if changes:
            target = plan.target(self._model)
            for lane, lane_plan in zip(self._lanes, plan.lanes, strict=True):
                lane.change(lane_plan, target)
            self._mark(changes)
            if (old.beta, old.field, old.clamp) != (plan.beta, plan.field, plan.clamp):
                self._forget_truth()

    def _forget_truth(self) -> None:
        for lane in self._lanes:
            lane.points.clear()
            lane.waiting.clear()
        self._truth_job = None

    def _advance_one(self) -> bool:
        open_lanes = [lane for lane in self._lanes if not self._over(lane)]
        if not open_lanes:
            self._playing, self._steps = False, 0
            return False
        lane = min(open_lanes, key=lambda item: self._budget.used(item.run))
        if self._steps:
            lane = min(open_lanes, key=lambda item: item.run.sweep)
            lane.advance(self._budget, 1)
            self._steps -= 1
            return True
        allowed = self._allowed(lane)
        if allowed < 1:
            self._next_due = time.monotonic() + PACE_SECONDS
            return False
        lane.advance(self._budget, allowed)
        self._next_due = time.monotonic()
        return True

    def _over(self, lane: Lane) -> bool:
        return lane.stopped or self._budget.spent(lane.run)

    def _allowed(self, lane: Lane) -> int:
        if not self.speed:
            return 10**9
        passed = min(time.monotonic() - self._pace_start, 3600.0)
        allowed = int(passed * self.speed) - (lane.run.sweep - self._pace_sweep)
        if allowed > max(self.speed, 1):
            self._repace()  # The lane can't keep the pace: do not let it run after a debt.
            return 1
        return allowed

    def _waiting(self) -> bool:
        return self._wants_truth() and any(lane.waiting for lane in self._lanes)

    def _wants_truth(self) -> bool:
        return bool(self._lanes) and self.plan.chains > 1 and self._trouble is None

    def _look_for_truth(self) -> None:
        """Ask for the reference once every lane moves, so that its making does not hold up the first picture."""
        moving = not self._playing or all(lane.run.quantum for lane in self._lanes)
        if self._truth_job is None and self._wants_truth() and moving and not self._cold():
            self._truth_job = background.request(self.plan.target(self._model))
        if self._truth_job is not None:
            for lane in self._lanes:
                lane.measure(self._truth_job.truth)
        for lane in self._lanes:
            lane.check_stop(self.plan.stop, self.plan.threshold)

    def _publish(self, trouble: str | None = None) -> None:
        now = self._published = time.monotonic()
        summarise = now - self._summarised > SUMMARY_SECONDS
        if summarise:
            self._summarised = now
        job = self._truth_job
        truth = job.truth if job is not None else None
        lanes = tuple(
            lane.view(self._over(lane), layers.layer(self.layer, lane.run, truth), summarise) for lane in self._lanes
        )
        self.view = LiveView(
            self._number,
            self._epoch,
            self._begun,
            self._playing,
            self._status(lanes),
            trouble or self._trouble,
            self.plan,
            self._model,
            lanes,
            truth,
            job.share if job is not None else 0.0,
            job.trouble if job is not None else None if self.plan.chains > 1 else NO_REFERENCE,
            tuple(self._marks),
        )

    def _status(self, lanes: tuple[LaneView, ...]) -> str:
        if lanes and all(lane.done for lane in lanes):
            return "done"
        return "running" if self._playing else "paused"
