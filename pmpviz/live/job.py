"""What is watched, whatever it computes: advanced by the worker, commanded and read by pages."""

from __future__ import annotations

import itertools
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from pmpviz.live.background import TruthJob
from pmpviz.live.plan import all_merged, merged_words, present
from pmpviz.live.view import View, status_of
from pmpviz.live.worker import SLICE_SECONDS, Watched, worker
from pmpviz.types import InputError

log = logging.getLogger(__name__)

POST_WAIT_SECONDS = 0.5
SETTLE_SECONDS = 3.0
PACE_SECONDS = 0.2
WAIT_SECONDS = 0.2
PUBLISH_SECONDS = 0.1
GESTURE_SECONDS = 2.0

_numbers = itertools.count()
_compiling = threading.Lock()


def warm(lanes: list[Any]) -> None:
    """Compile side by side what the first lane of each algorithm needs; the others then find it compiled.

    One call at a time: a second one for the same programs finds them compiled.
    """
    first = list({lane.algorithm: lane for lane in reversed(lanes)}.values())
    with _compiling, ThreadPoolExecutor(len(first)) as pool:
        list(pool.map(lambda lane: lane.warm(), first))


class LiveJob(Watched):
    """Commands from pages, a lease, play, pause and step, a pace, turns of lanes, and the view.

    Pages call `post`, `play`, ... and read `view`, which is replaced by one assignment; only the worker touches the
    rest. A subclass gives `_make_lanes`, `_advance` and `_lanes_view`, and where it differs `_over`, `_used`,
    `_begins_anew`, `_adjust`, `_extras`, `_waiting` and `_look_around`. `reference` is what the view waits for from
    the background.
    """

    view: Any
    view_type: type[View] = View
    beginning = "building"

    def __init__(self, plan: Any, files: Callable[[str], Any] | None = None, speed: float = 0.0):
        super().__init__()
        self.plan, self.speed, self._files = plan, speed, files
        self._wanted, self._number = plan, next(_numbers)
        self._commands: deque[tuple[Callable[[], None], threading.Event]] = deque()
        self._serving = self._starting = False
        self._stepped = threading.Event()
        self._trouble: str | None = None
        self._playing, self._epoch, self._begun = False, 0, 0
        self._paces: dict[int, tuple[float, float]] = {}  # Of each lane: when its pace began, and at which step.
        self._next_due, self._published, self._slice = 0.0, 0.0, SLICE_SECONDS
        self._marks: list[tuple[int, str]] = []
        self._lasting: list[str] = []  # Words of the changes that a reset does not undo.
        self._changed = -GESTURE_SECONDS
        self._lanes: list[Any] = []
        self._changed_at: dict[int, float] = {}  # Of each lane: its step when settings last changed.
        self._turn: list[Any] = []  # Lanes that still have to make the step that was asked for.
        self.reference: TruthJob | None = None
        self.view = self.view_type(run=self._number, plan=plan, status=self.beginning)

    def begin(self) -> None:
        """Have the worker make the lanes: the last thing that a subclass does as it is made."""
        self.post(self._restart, wait=0.0)
        super().begin()

    # Called by pages.

    def touch(self) -> None:
        """Keep the lease, that of the reference too."""
        super().touch()
        if (reference := self.reference) is not None:
            reference.touch()

    def post(self, command: Callable[[], None], wait: float = POST_WAIT_SECONDS) -> None:
        """Have the worker do this between chunks, first in first out; waits a moment for it."""
        done = threading.Event()
        self._commands.append((command, done))
        worker(self.queue).wake()
        if wait:
            done.wait(wait)

    def play(self, wait: float = POST_WAIT_SECONDS) -> None:
        """Go on."""
        self._starting = True
        self.post(self._play, wait)

    def pause(self) -> None:
        """Stop after the chunk in hand."""
        self._starting = False
        self.post(self._pause)

    def step(self) -> None:
        """One step of every lane; waits a moment for it."""
        self._starting = False
        self._stepped.clear()
        self.post(self._step, wait=0.0)
        self._stepped.wait(POST_WAIT_SECONDS)

    @property
    def busy(self) -> bool:
        """Whether something that was asked for is not in the view yet."""
        return bool(self._commands or self._serving or self._turn)

    @property
    def seen(self) -> Any:
        """The view, playing from the moment that Play was asked for: a worker that compiles comes to it later."""
        view = self.view
        return replace(view, playing=True) if self._starting and view.trouble is None else view

    @property
    def settled(self) -> bool:
        """Whether the view has been as it is for so long that every page has had time to draw it."""
        return time.monotonic() - self._published > SETTLE_SECONDS

    def reset(self) -> None:
        """Back to the start with the same seed."""
        self.post(self._reset)

    def set_speed(self, speed: float) -> None:
        """Steps a second of every lane; 0 is as fast as it goes."""
        if speed != self.speed:
            self.speed = speed
            self.post(self._repace)

    def set_plan(self, plan: Any) -> None:
        """Adopt new settings: in mid-run where the shape allows it, else from the start.

        While the worker is busy only the last of several settings is adopted.
        """
        if plan != self._wanted:
            self._wanted = plan
            self.post(lambda: self._adopt(self._wanted))

    def waits_for(self, plan: Any) -> bool:
        """Whether the view is of a run that these settings begin anew: it is no answer to what is asked by them."""
        view = self.view
        another = bool(view.lanes) and view.trouble is None and plan != view.plan
        return another and self._begins_anew(view.plan, plan)

    def ask(self, question: Callable[[Any], Any], wait: float = POST_WAIT_SECONDS) -> Any:
        """The worker's answer to a question about its state, or None where it takes longer than `wait`."""
        answers: list[Any] = []
        self.post(lambda: answers.append(question(self)), wait)
        return answers[0] if answers else None

    def publish(self) -> None:
        """Bring the view up to date (worker thread only)."""
        self._publish()

    # Called by the worker only.

    @property
    def lanes(self) -> list[Any]:
        """The lanes (worker thread only)."""
        return self._lanes

    def due(self) -> float | None:
        """At once with commands; while playing when the pace allows; never when unwatched."""
        if self._commands:
            return 0.0
        if not self.watched:
            return None
        if self._cold():
            return 0.0
        if self._turn or self._playing:
            return self._next_due
        return self._published + WAIT_SECONDS if self._waiting() else None

    def work(self, seconds: float) -> None:
        """Commands first, then compile what is new, then chunks until the time is over, then publish."""
        self._slice = seconds
        while self._commands:
            self._serving = True
            self._obey(*self._commands.popleft())
        if cold := self._cold():
            warm(cold)
            self._repace()
        until = time.monotonic() + seconds
        self._serving = bool(self._turn)
        try:
            while (self._playing or self._turn) and self._advance_one() and time.monotonic() < until:
                pass
            self._look_around()
            if not self._playing or time.monotonic() - self._published > PUBLISH_SECONDS:
                self._publish()
        finally:
            self._serving = False
        if not self._turn:
            self._stepped.set()

    def fail(self, error: Exception) -> None:
        """Stop and say so, a person's own mistake in its own words; the settings stay."""
        self._starting = False
        words = f"the computation stopped: {str(error)[:200] or type(error).__name__}; change a setting or reset"
        self._halt(str(error) if isinstance(error, InputError) else words)

    def _cold(self) -> list[Any]:
        return [] if self._trouble else [lane for lane in self._lanes if not lane.warmed and not self._later(lane)]

    def _later(self, lane: Any) -> bool:
        """Whether a lane is being compiled elsewhere, and the others need not wait for it."""
        return False

    def _waiting(self) -> bool:
        return False

    def _look_around(self) -> None:
        """What is to be done after each slice, before it is published."""

    def _obey(self, command: Callable[[], None], done: threading.Event) -> None:
        try:
            command()
            self._publish()
        except Exception as error:  # Before the poster goes on: its page is to say so.
            if not isinstance(error, InputError):
                log.exception("a command failed")
            self.fail(error)
        finally:
            self._serving = False
            done.set()

    def _halt(self, sentence: str) -> None:
        self._playing, self._turn = False, []
        self._publish(trouble=sentence)
        self._trouble = sentence

    def _begin_anew(self) -> None:
        """A new epoch without lanes, marks and trouble."""
        self._trouble, self._epoch, self._marks, self._turn = None, self._epoch + 1, [], []
        self._begun, self._lanes, self._lasting = self._epoch, [], []

    def _play(self) -> None:
        self._playing, self._starting = self._trouble is None, False
        self._repace()

    def _pause(self) -> None:
        self._playing, self._turn = False, []

    def _step(self) -> None:
        self._playing, self._next_due = False, 0.0
        self._turn = [lane for lane in self._lanes if not self._over(lane)]

    def _repace(self) -> None:
        self._paces, self._next_due = {}, 0.0

    def _allowed(self, lane: Any) -> int:
        """Steps that the pace allows a lane, counted from where it was when the pace began."""
        if not self.speed:
            return 10**9
        now, count = time.monotonic(), int(lane.count)
        begun, before = self._paces.setdefault(id(lane), (now, count))
        allowed = int(min(now - begun, 3600.0) * self.speed) - int(count - before)
        if allowed > max(self.speed, 1):
            self._paces[id(lane)] = now, count  # It can't keep the pace: do not let it run after a debt.
            return 1
        if allowed < 1:
            self._next_due = time.monotonic() + PACE_SECONDS
        return allowed

    def _mark(self, text: str, lasting: bool = False) -> None:
        """Mark what a person has just done; what is `lasting` holds after a reset, too, and one gesture is one mark."""
        count = max((lane.count for lane in self._lanes), default=0)
        now = time.monotonic()
        same = lasting and self._marks and self._lasting and now - self._changed < GESTURE_SECONDS
        joined = merged_words(self._marks[-1][1], text) if same else None
        if joined is None:
            self._marks.append((count, text))
        else:
            self._marks[-1:] = [(self._marks[-1][0], joined)] if joined else []
        if lasting:
            self._changed = now
            self._lasting.append(text)
        self._epoch += 1
        for lane in self._lanes:
            lane.show(self._epoch)

    def _reset(self) -> None:
        """Back to the start: what was changed and still holds is marked there."""
        lasting = self._lasting
        self._restart()
        self._lasting = lasting
        if words := self._surviving(lasting):
            self._marks = [(0, words)]

    def _surviving(self, lasting: list[str]) -> str:
        gone = {word for name, word in getattr(self.plan, "TOLD", {}).items() if not getattr(self.plan, name)}
        return ", ".join(present(words) for words in all_merged(lasting).split(", ") if words not in gone)

    def _restart(self) -> None:
        self._begin_anew()
        self._lanes, self._changed_at = self._make_lanes(), {}
        self._repace()

    def _adopt(self, plan: Any) -> None:
        before, self.plan = self.plan, plan
        if plan == before and self._trouble is None:
            return
        if self._trouble is not None or not self._lanes or self._begins_anew(before, plan):
            self._restart()
        elif changes := self._adjust(before, plan):
            self._changed_at = {id(lane): lane.count for lane in self._lanes}
            self._mark(changes, lasting=True)

    def _advance_one(self) -> bool:
        """One chunk: of a lane that is to make a step, else of the one that has used least; False for none now."""
        if self._cold():
            return False  # Equal shares begin when all lanes are compiled.
        waiting = [lane for lane in self._lanes if not self._over(lane)]
        self._turn = [lane for lane in self._turn if not self._over(lane)]
        if not waiting or not (self._turn or self._playing):
            self._pause()
            return False
        if self._turn:
            if self._advance(self._turn[0], 1):
                self._turn.pop(0)
            return True
        for lane in sorted((lane for lane in waiting if lane.warmed), key=self._used):
            if (allowed := self._allowance(lane)) >= 1:
                self._advance(lane, allowed)
                self._next_due = time.monotonic()
                return True
        return False

    def _publish(self, trouble: str | None = None) -> None:
        self._published = time.monotonic()
        try:
            lanes = self._lanes_view()
        except Exception:
            if not (trouble or self._trouble):
                raise
            lanes = self.view.lanes  # What failed is how they are shown: they stay as they were, and it is said.
        self.view = self.view_type(
            run=self._number,
            plan=self.plan,
            epoch=self._epoch,
            begun=self._begun,
            playing=self._playing,
            status=status_of(lanes, self._playing),
            trouble=trouble or self._trouble,
            lanes=lanes,
            marks=tuple(self._marks),
            **self._extras(),
        )

    # Given by the subclass.

    def _make_lanes(self) -> list[Any]:
        """The lanes of the plan at their start; raises InputError."""
        raise NotImplementedError

    def _advance(self, lane: Any, most: int) -> bool:
        """One chunk of a lane, of at most so many steps; whether it ended a step."""
        raise NotImplementedError

    def _lanes_view(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _extras(self) -> dict[str, Any]:
        """What the view has beside its head."""
        return {}

    def _over(self, lane: Any) -> bool:
        """Whether a lane is to make no further step now."""
        return self._left(lane) <= 0

    def _left(self, lane: Any) -> float:
        """Steps until the end of the budget, which is counted from the last change of the settings."""
        return self.plan.budget - (lane.count - self._changed_at.get(id(lane), 0)) if self.plan.budget else math.inf

    def _used(self, lane: Any) -> float:
        """What is shared out equally among the lanes: seconds, so that each gets as far as it does."""
        return lane.seconds

    def _allowance(self, lane: Any) -> int:
        """Steps that a lane may make now."""
        return self._allowed(lane)

    def _begins_anew(self, before: Any, plan: Any) -> bool:
        """Whether a change of the plan needs other lanes."""
        return True

    def _adjust(self, before: Any, plan: Any) -> str:
        """Take up a change that needs no other lanes; words for its mark, or none."""
        return ""
