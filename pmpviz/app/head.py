"""A script that stands in every page before Streamlit's own, so that it is there when these begin."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Server = Callable[[Message, Callable[[], Awaitable[Message]], Send], Awaitable[None]]

# Streamlit makes every new address a step of the browser's history: Back would have to be pressed twice on each page,
# and once for each setting that was moved. Here a step is a page; settings have an undo of their own. And a page that
# answers late, when Back was pressed again meanwhile, would be pushed over the one that is wanted. The first address is
# written before any element of a page is drawn, so that no element can bring this.
# A class sees nothing of the sidebar while its page is loading.
# And a Space that is pressed before a page has what it plays is kept for it: what plays takes the key for itself.
ONE_STEP = """<script>
{
  let back = false;
  addEventListener("popstate", () => (back = true), true);
  addEventListener("pointerdown", (event) => (back = back && event.button > 2), true);
  addEventListener("keydown", (event) => (back = back && event.altKey), true);
  const waits = (event) => event.key === " " && event.target === document.body && !event.defaultPrevented;
  addEventListener("keydown", (event) => waits(event) && (window.pmpvizSpace = performance.now()));
  if (new URLSearchParams(location.search).get("class") === "1") {
    const plain = document.head.appendChild(document.createElement("style"));
    plain.textContent = "[data-testid=stSidebar] { display: none; }";
    const [begin, shown] = [performance.now(), () => document.querySelector(".pv-large")];
    const watch = setInterval(() => {
      if (!shown() && performance.now() - begin < 30000) return;
      plain.remove();
      clearInterval(watch);
    }, 200);
  }
  const push = history.pushState;
  history.pushState = (state, title, address) => {
    const same = new URL(address ?? "", location).pathname === location.pathname;
    if (same || !back) (same ? history.replaceState : push).call(history, state, title, address);
  };
}
</script>"""
HEAD = b"<head>"
# A page that was kept, or comes packed, could not be added to.
LEFT_OUT = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")


class InHead:
    """A layer of the server (ASGI) that puts `script` first into the head of every page that a browser goes to."""

    def __init__(self, app: Server, script: str = ONE_STEP):
        self.app, self.script = app, script.encode()

    async def __call__(self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Send) -> None:
        if not _asks_for_page(scope):
            return await self.app(scope, receive, send)
        headers = [(name, value) for name, value in scope["headers"] if name not in LEFT_OUT]
        await self.app({**scope, "headers": headers}, receive, _Adding(self.script, send))


class _Adding:
    """Holds an answer's beginning until its first piece is there, to which the script is added."""

    def __init__(self, script: bytes, send: Send):
        self._script, self._send = script, send
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        start, self._start = self._start, None
        if start is not None:
            message = self._added(start, message)
            await self._send(start)
        await self._send(message)

    def _added(self, start: Message, message: Message) -> Message:
        before = message.get("body", b"")
        after = before.replace(HEAD, HEAD + self._script, 1)
        start["headers"] = [
            (name, str(int(value) + len(after) - len(before)).encode() if name == b"content-length" else value)
            for name, value in start["headers"]
        ]
        return {**message, "body": after} if after != before else message


def _asks_for_page(scope: Message) -> bool:
    wanted = dict(scope.get("headers", ())).get(b"accept", b"")
    return scope["type"] == "http" and scope["method"] == "GET" and b"text/html" in wanted


__all__ = ["ONE_STEP", "InHead"]
