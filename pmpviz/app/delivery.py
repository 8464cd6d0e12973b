"""What a page's script has drawn is handed to the browser before the next run of its fragments begins.

Streamlit forgets what a fragment has drawn, and was not sent yet, as soon as the fragment runs again, but still tells
the browser that the page's script came to its end: the browser then takes what it has not heard of for gone, and the
player, with a stroke in the making or a look back, is put in the page anew.
"""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import Any

from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

MOST_SECONDS = 2.0
# Between two looks, at first and at most: many pages that wait would keep the server from what they wait for.
LOOK_SECONDS, MOST_LOOK_SECONDS = 0.004, 0.064


def deliver(most: float = MOST_SECONDS) -> bool:
    """Wait until all that this run has drawn is on its way; False where that takes more than so many seconds."""
    session, until = _session(), time.monotonic() + most
    if session is None:
        return True
    # What was drawn is handed to the loop in order: behind it comes this.
    heard: Future[None] = Future()
    session._event_loop.call_soon_threadsafe(heard.set_result, None)
    try:
        heard.result(most)
    except TimeoutError:
        return False
    look = LOOK_SECONDS
    while not session._browser_queue.is_empty():
        if time.monotonic() > until:
            return False
        time.sleep(look)
        look = min(2 * look, MOST_LOOK_SECONDS)
    return True


def _session() -> Any:
    """The session that this run is of; None where there is none, as in a test of a page without a server."""
    context = get_script_run_ctx()
    if context is None:
        return None
    manager = getattr(get_instance(), "_session_mgr", None)
    info = manager.get_active_session_info(context.session_id) if manager else None
    return info.session if info else None
