"""A visitor of the app over Streamlit's own protocol: runs its fragments by their timers, as a browser does."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

from pmpviz.player.wire import decode

PATH = "/_stcore/stream"


class Visitor:
    """One session on `page`; `updates` are the times, since it came, at which the player was sent something new.

    The first is that of the first picture: an empty stage is none. `drawn` counts how often the whole page was drawn.
    """

    def __init__(self, address: str, page: str = "", query: str = "", component: str = "player"):
        self.address, self.page, self.query = address.replace("http", "ws", 1), page, query
        self.component, self.begun = component, time.monotonic()
        self.updates: list[float] = []
        self.bytes = self.drawn = 0
        self.player, self.fragment, self.last, self.playing = "", "", b"", True
        self._timers: dict[str, tuple[float, asyncio.Task]] = {}
        self._state: dict[str, str] = {}
        self.head: dict[str, Any] = {}  # Of the last update, once something was done.
        self._events, self._hash = 0, ""
        self._looked = False
        self._shown = asyncio.Event()

    async def stay(self) -> None:
        """Open the page and follow its timers until cancelled."""
        try:
            async with connect(
                self.address + PATH, subprotocols=["streamlit"], max_size=None, compression=None
            ) as self._socket:
                await self._run()
                async for message in self._socket:
                    self._take(message)
        finally:
            for _, task in self._timers.values():
                task.cancel()

    async def ask(self, type: str, **more: Any) -> None:
        """Do something on the player, as a hand does."""
        self._events += 1
        event = {"number": self._events, "type": type, **more}
        self._state[self.player] = json.dumps({"outbox": {"mount": "visitor", "events": [event]}})
        await self._run(self.fragment, by_timer=False)

    async def until(self, playing: bool) -> float:
        """Seconds until the player says that it plays, or stands."""
        begun = time.monotonic()
        while self.playing is not playing:
            self._shown.clear()
            await self._shown.wait()
        return time.monotonic() - begun

    @property
    def timers(self) -> int:
        """Fragments of the page that are run by a timer now."""
        return len(self._timers)

    async def _run(self, fragment: str = "", by_timer: bool = True) -> None:
        request = BackMsg()
        request.rerun_script.query_string = self.query
        request.rerun_script.page_name = "" if self._hash else self.page
        request.rerun_script.page_script_hash = self._hash
        request.rerun_script.fragment_id = fragment
        request.rerun_script.is_auto_rerun = bool(fragment) and by_timer
        for widget, value in self._state.items():
            request.rerun_script.widget_states.widgets.add(id=widget, json_value=value)
        await self._socket.send(request.SerializeToString())

    def _take(self, message: bytes) -> None:
        forward = ForwardMsg.FromString(message)
        kind = forward.WhichOneof("type")
        if kind == "navigation":
            self._hash = forward.navigation.page_script_hash  # Of the page that it is, whatever it was asked for by.
        if kind == "auto_rerun":
            self._tick(forward.auto_rerun.fragment_id, forward.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            for fragment in forward.stop_auto_rerun.fragment_ids:
                self._stop(fragment)
        elif kind == "new_session" and not forward.metadata.run.fragment_ids:
            self.drawn += 1
            for fragment in list(self._timers):
                self._stop(fragment)
        elif kind == "delta" and forward.delta.new_element.WhichOneof("type") == "bidi_component":
            self._show(forward.delta.new_element.bidi_component, forward.delta.fragment_id)

    def _show(self, component: Any, fragment: str) -> None:
        if component.component_name != f"pmpviz.{self.component}":
            return
        self.player, self.fragment, blob = component.id, fragment, component.bytes
        self.bytes += len(blob)
        head = decode(blob)[0] if self._events or not self._looked else {}
        self.head = head or self.head
        if self._events:
            self.playing = head["playing"]
        elif head.get("lanes"):
            self._looked = True
            if head.get("opens"):  # As a browser begins what is seen.
                self._begin = asyncio.ensure_future(self.ask("play"))
        if self._looked and blob != self.last:
            self.updates.append(time.monotonic() - self.begun)
        self.last = blob
        self._shown.set()

    def _tick(self, fragment: str, interval: float) -> None:
        if fragment in self._timers and self._timers[fragment][0] == interval:
            return
        self._stop(fragment)
        self._timers[fragment] = interval, asyncio.ensure_future(self._follow(fragment, interval))

    def _stop(self, fragment: str) -> None:
        if fragment in self._timers:
            self._timers.pop(fragment)[1].cancel()

    async def _follow(self, fragment: str, interval: float) -> None:
        while True:
            await asyncio.sleep(interval)
            await self._run(fragment)
