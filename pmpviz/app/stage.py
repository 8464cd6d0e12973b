"""A page's live player: what was done on it is answered, then it is shown an update, and the next one is timed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pmpviz.app.address import class_mode, end_gesture, kept_plan, note_plan, turn_back
from pmpviz.app.asked import Asked, ask_for, asked_on
from pmpviz.app.delivery import deliver
from pmpviz.app.export import ExportFile, export_dialog
from pmpviz.app.pace import of_fragment, pace, set_timer, this_fragment, timed
from pmpviz.app.page import Page, switch_class_mode
from pmpviz.app.player import Event, answer_events, answered, player, waits
from pmpviz.app.session import Held, begins_anew, held, held_live
from pmpviz.app.share import changed
from pmpviz.app.uploads import uploaded
from pmpviz.app.words import sentence
from pmpviz.live.handles import handle_of, turned
from pmpviz.live.job import LiveJob
from pmpviz.live.view import View, again
from pmpviz.player.update import Desk

TICK_SECONDS = 0.4
SLOW_SECONDS = 1.0
# So long words must have stood on a page before it is drawn again to take them out of its updates.
STILL_SECONDS = 30.0
NOT_LOOKED_BACK = "That is where it stands, not the moment that is looked back at."


class Turn:
    """One run of the fragment that holds the player of a page.

    It begins by answering what was done; the stage's `answer` says of each event whether the whole page must be drawn
    again, which is then so of the turn: `changed`. `view`, `sent`, `kept`, `hover` and `desk` are what an update is
    made of; see `show`.
    """

    def __init__(self, stage: Stage, holder: Held) -> None:
        if holder.live is None:  # Given up meanwhile: the page's script makes another.
            st.rerun()
        self.live, self.sent = holder.live, holder.sent
        self.live.touch()
        self._key, self._answer = f"player-{stage.id}", stage.answer
        early = pace.wait(id(holder), holder.every) if holder.every and of_fragment() else 0.0
        if early and not waits(self._key):
            time.sleep(early)
        self.changed = any(answer_events(self._key, stage.answer))
        self.view = self.live.seen
        holder.seen_by(self.view.begun)
        self.kept, self.hover = holder.kept, holder.hover
        heard = None if self.live.busy else answered(self._key)
        plan = kept_plan(stage.id, self.live.view.plan)
        handles, late = stage.handles(plan), self.live.waits_for(plan)
        self.desk = Desk(stage.bar, stage.speed, heard, handles, class_mode(), holder.window, holder.at, late)

    def show(self, update: bytes, component: str = "player") -> None:
        """Show an update, and answer what has come meanwhile."""
        late = player(update, key=self._key, answer=self._answer, component=component)
        self.changed = self.changed or any(late)


class Stage:
    """The live player of a page, in a fragment of its own, and the dialogs that it asks for.

    A capability gives the kind of its live job as `job`, `_update`, `_files` and `_shared`, and where it differs the
    bar, the speed at first (steps a second; 0 is as fast as it goes), `_above`, `_below`, `answer`, `_waiting`, ...
    """

    job: Callable[..., LiveJob]
    bar: tuple[str, ...] = ("play", "step", "reset", "seed", "speed", "share", "export", "class")
    component = "player"
    first_speed = 0.0
    autoplay = False
    # So many seconds it waits for the first picture, which else would come with the next update.
    patience = 0.0
    # Whether what the page draws beneath its player is of the lanes, and waits for them.
    tells_lanes = False

    def __init__(self, page: Page):
        self.page = page

    @property
    def id(self) -> str:
        """The page's."""
        return self.page.id

    @property
    def speed(self) -> float:
        """Steps a second, as chosen on the page; 0 is as fast as it goes."""
        return st.session_state.get(f"speed:{self.id}", self.first_speed)

    @property
    def view(self) -> Any:
        """What the page's job shows now; None before the first `job_of`."""
        live = held(self.id).live
        return None if live is None else live.view

    def job_of(self, plan: Any) -> Any:
        """This session's job, told the plan."""
        make, before = lambda: self.job(plan, uploaded, self.speed), held(self.id).live
        in_mid_run = before is not None and not before.waits_for(plan)
        # Before a class the question comes before its answer: all wait for Play.
        job = held_live(self.id, make, plan, self.speed, self.autoplay and not class_mode())
        if begins_anew(self.id):
            if class_mode():
                job.pause()
            if in_mid_run:
                job.reset()
        return job

    def draw(self, plan: Any) -> None:
        """The player, fed while something moves, and the dialog that was asked for."""
        job, holder = self.job_of(plan), held(self.id)
        if self.patience and not job.view.lanes and job.view.trouble is None:
            job.ask(lambda _job: None, self.patience)
        every = self.tick(job)
        holder.every, holder.timer, holder.slow = every, timed(every), set()
        holder.beneath, holder.drawn = self._beneath(holder.live.seen), time.monotonic()
        holder.empty = not holder.live.seen.lanes
        st.fragment(self._turn, run_every=holder.timer, key=f"stage-{self.id}")(holder)
        place = st.empty()  # Kept without words too, so that what follows stays where it is, open or closed.
        if holder.beneath:
            place.caption(holder.beneath)
        self.show_asked()

    def beside(self, name: str, drawn: Callable[[], None], every: float | None) -> None:
        """Something that is drawn anew once a second while the player is fed."""
        slow, holder = timed(SLOW_SECONDS if every else None), held(self.id)

        def noted() -> None:
            holder.slow.add(this_fragment())
            drawn()

        st.fragment(noted, run_every=slow, key=f"{name}-{self.id}")()

    def _turn(self, holder: Held) -> None:
        begun = time.thread_time()
        turn = Turn(self, holder)
        self._above(turn.view)
        turn.show(self._update(turn), self.component)
        self._below(turn.view)
        words = self._beneath(turn.view)
        if words and not holder.beneath:
            st.caption(words)
        # A page that is drawn again gives the files of an open dialog other addresses: one on its way would be lost.
        every = self.tick(turn.live)
        anew = (every is None and holder.every is not None) or _moved(words, holder)
        anew = anew or (self.tells_lanes and holder.empty and bool(turn.view.lanes))
        if turn.changed or (anew and asked_on(self.id) is None):
            st.rerun()
        pace.took(id(holder), time.thread_time() - begun)
        if every is not None:
            self._time(holder, every)

    def _time(self, holder: Held, every: float) -> None:
        """Have the fragments of the page run so often from now on: what begins to move need not be drawn anew."""
        timer = timed(every, holder.timer)
        if timer is not None and timer != holder.timer:
            set_timer(this_fragment(), timer)
        if holder.every is None:
            for fragment in holder.slow:
                set_timer(fragment, timed(SLOW_SECONDS))
            if of_fragment():  # Where another run began before this is on its way there would be no timer at all.
                deliver()
        holder.every, holder.timer = every, timer

    def tick(self, live: LiveJob) -> float | None:
        """Seconds to the next update, None where nothing will be new.

        Few while something moves, or what was asked for or the first picture come; more while the page waits for
        something else, or a browser may not have drawn the last of it.
        """
        view = live.view
        if live.busy or view.playing or (not view.lanes and view.trouble is None):
            return TICK_SECONDS
        if view.trouble is None and self._waiting(view):
            return SLOW_SECONDS
        return None if live.settled else TICK_SECONDS

    def change(self, plan: Any, gesture: str = "") -> None:
        """Keep another plan, and have the page's job adopt it; the page, drawn again, writes it into the address."""
        note_plan(self.id, plan, gesture)
        held(self.id).live.set_plan(plan)

    def show_asked(self) -> None:
        """Open the dialog that was asked for, and keep it open over the page's runs until it is dismissed."""
        asked = asked_on(self.id)
        if asked is None:
            return
        if asked.name == "share":
            sentences, commands = self._shared(asked.view.plan)
            self.page.share(asked.view.plan, [*changed(asked.view.marks), *sentences], commands)
        elif asked.name == "code":
            self._show_code(asked)
        else:
            back = "" if held(self.id).at is None else f" {NOT_LOOKED_BACK}"
            export_dialog(self._files(asked), self._moment(asked.view) + back)

    def handles(self, plan: Any) -> list[dict[str, Any]]:
        """The page's own knobs in this plan, as the browser is told of them."""
        found = (handle_of(plan, name) for name in self.knobs(plan))
        return [handle.words for handle in found if handle is not None]

    # Given by the capability.

    def knobs(self, plan: Any) -> Sequence[str]:
        """The names (see `live.handles.Handle`) of the one or two knobs that the page's question is about."""
        return ()

    def _update(self, turn: Turn) -> bytes:
        """The blob for the player."""
        raise NotImplementedError

    def _files(self, asked: Asked) -> list[ExportFile]:
        """What the export offers."""
        raise NotImplementedError

    def _shared(self, plan: Any) -> tuple[Sequence[str], Sequence[str]]:
        """(sentences on a link, command lines of the same)."""
        raise NotImplementedError

    def _moment(self, view: Any) -> str:
        """A sentence on what state the export is of."""
        return "The run as it is now."

    def _show_code(self, asked: Asked) -> None:
        """The dialog of the run as code."""

    def _above(self, view: View) -> None:
        """What stands between the question and the player."""

    def _beneath(self, view: Any) -> str:
        """Words beneath the player that seldom change, and are left to the page: every update would be the dearer.

        Empty while they do change: then `_below` draws them.
        """
        return ""

    def _below(self, view: View) -> None:
        """What stands beneath the player."""
        if view.trouble:
            st.error(sentence(view.trouble))

    def _waiting(self, view: Any) -> bool:
        """Whether a page that stands still waits for something from the background."""
        return False

    def _more_of(self, job: LiveJob) -> Any:
        """What an export needs besides the view, noted when it is asked for (worker thread only)."""
        return None

    def answer(self, event: Event) -> bool:
        """Do what any player may ask for; True where the whole page must be drawn again."""
        live = held(self.id).live
        if event.type == "play" and again(live.view):
            live.reset()
        if event.type in ("play", "pause", "step", "reset"):
            getattr(live, event.type)()
            return event.type == "pause"
        if event.type == "mount":
            held(self.id).sent.clear()
        elif event.type == "zoom":
            held(self.id).window = event.window
        elif event.type in ("look", "live"):
            held(self.id).at = event.sweep if event.type == "look" else None
        elif event.type == "seed" and "seed" in self.bar:
            plan = kept_plan(self.id, live.view.plan)
            self.change(plan.replace(seed=(plan.seed + 1) % 2**31))
            return True
        elif event.type in ("undo", "redo"):
            plan = turn_back(self.id, forward=event.type == "redo")
            if plan is not None:
                live.set_plan(plan)
            return plan is not None
        elif event.type == "speed":
            st.session_state[f"speed:{self.id}"] = event.speed
            live.set_speed(event.speed)
            return True
        elif event.type == "knob":
            return self._turn_knob(event)
        elif event.type == "class":
            switch_class_mode()
            return True
        elif event.type in ("share", "code", "export"):
            ask_for(event.type, self.id, live, self._more_of if event.type == "export" else lambda job: None)
            return True
        return False

    def _turn_knob(self, event: Event) -> bool:
        """A tick of a knob that is being dragged is taken up alone; the page follows when it is let go."""
        if math.isfinite(event.value):
            plan = kept_plan(self.id, held(self.id).live.view.plan)
            self.change(turned(plan, event.name, event.value), event.name)
        if event.done:
            end_gesture(self.id)
        return event.done


def _moved(words: str, holder: Held) -> bool:
    """Whether the words that the page has under its player hold no longer, or new ones have stood for long enough."""
    return words != holder.beneath and (bool(holder.beneath) or time.monotonic() - holder.drawn > STILL_SECONDS)


__all__ = ["Stage", "Turn"]
