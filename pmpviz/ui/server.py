"""What the server does as it starts: it makes Home ready while the first visitor's browser is still opening."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

END_SECONDS = 10.0


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[dict[str, Any]]:
    """For `st.App`: serves at once, and meanwhile imports what pages need and compiles Home's programs."""
    ending = threading.Event()
    thread = threading.Thread(target=make_ready, args=[ending], name="make ready", daemon=True)
    thread.start()
    yield {}
    ending.set()
    thread.join(END_SECONDS)


def make_ready(ending: threading.Event) -> None:
    """Import everything, and compile what Home's race runs: a visitor's own race waits for no more than that.

    The imports are here because they take longer than the server's start, which they would hold up.
    """
    from pmpviz.experiments.presets import HOME
    from pmpviz.runs.live import compile_ahead
    from pmpviz.ui.session import prepare

    prepare()
    if not ending.is_set():
        compile_ahead(HOME.plan)
