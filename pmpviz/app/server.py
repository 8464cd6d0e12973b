"""What the server does as it starts: it makes Home ready before it opens to the first visitor."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from pmpviz.app.pace import watch_loop

MOST_SECONDS = 30.0
END_SECONDS = 10.0
WORDS = "Making Home ready: the page opens in some seconds, sooner at later starts."


def lifespan(make_ready: Callable[[], None]) -> Callable[[Any], Any]:
    """For `st.App`: `make_ready` in a thread, then serves; after 30 s it serves anyway.

    Beside a browser that is loading the app both would take longer, and neither the page nor the race would move.
    """

    @asynccontextmanager
    async def ready(_app: Any) -> AsyncIterator[dict[str, Any]]:
        print(f"  {WORDS}", file=sys.stderr, flush=True)
        thread = threading.Thread(target=make_ready, name="make ready", daemon=True)
        thread.start()
        await asyncio.to_thread(thread.join, MOST_SECONDS)
        looking = asyncio.create_task(watch_loop())
        yield {}
        looking.cancel()
        thread.join(END_SECONDS)

    return ready
