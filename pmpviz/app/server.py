"""What the server does as it starts: it makes Home ready before it opens to the first visitor, and keeps its theme."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from streamlit import config, delta_generator
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.pages_manager import PagesManager

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
        keep_theme()
        own_navigation()
        # At the first element of all Streamlit looks through the files of all modules for a notebook: .2 s, here alone.
        getattr(delta_generator, "_maybe_print_use_warning", lambda: None)()
        thread = threading.Thread(target=make_ready, name="make ready", daemon=True)
        thread.start()
        await asyncio.to_thread(thread.join, MOST_SECONDS)
        looking = asyncio.create_task(watch_loop())
        yield {}
        looking.cancel()
        thread.join(END_SECONDS)

    return ready


def own_navigation() -> None:
    """Have the first visitor's page come with the app's navigation, too.

    Until a script has called `st.navigation`, Streamlit takes the files in `pages/` for an app of its own: the page
    that is opened first after a start came beside a list of file names, until it was drawn again.
    """
    PagesManager.uses_pages_directory = False


def keep_theme() -> None:
    """Have Streamlit read its theme from its options once for every time that they change.

    It does so for every run of every fragment, six sections one after another out of all options there are: with forty
    pages that is a quarter of all that the server does. An inner name of Streamlit; where it is gone, it goes on so.
    """
    read = getattr(app_session, "_populate_theme_msg", None)
    if read is None:
        return

    @cache
    def theme(section: str) -> CustomThemeConfig:
        found = CustomThemeConfig()
        read(found, section)
        return found

    def told(message: CustomThemeConfig, section: str = "theme") -> None:
        # A section that says nothing stays absent.
        if theme(section).ByteSize():
            message.MergeFrom(theme(section))

    config.on_config_parsed(theme.cache_clear, force_connect=True)
    app_session._populate_theme_msg = told
