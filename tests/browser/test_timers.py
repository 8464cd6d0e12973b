"""Pages that begin to move are fed from then on, and are not drawn anew for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.browser.conftest import WAIT_SECONDS
from tests.load.visitor import Visitor

LOOK_SECONDS = 0.05


async def until(true: Callable[[], bool]) -> None:
    """Wait until it is so."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not true():
            await asyncio.sleep(LOOK_SECONDS)


async def updated(visitor: Visitor, more: int) -> None:
    """Wait for so many more updates."""
    seen = len(visitor.updates)
    await until(lambda: len(visitor.updates) >= seen + more)


def follow(visitor: Visitor, story: Callable) -> None:
    """Have the visitor on the page while the story goes on; in a thread, for a browser has this one's loop."""

    async def followed() -> None:
        staying = asyncio.ensure_future(visitor.stay())
        try:
            await story(visitor)
        finally:
            staying.cancel()
            await asyncio.gather(staying, return_exceptions=True)

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, followed()).result()


def test_home_is_drawn_once_though_its_race_begins(server):
    async def story(visitor: Visitor) -> None:
        await until(lambda: bool(visitor.updates))
        await updated(visitor, 6)
        assert visitor.drawn == 1

    follow(Visitor(server), story)


PAGES = {"race": ("preset=critical&budget=0", "player", 1), "frank_wolfe": ("preset=glass&budget=0", "walk", 3)}
PAGES |= {"learning": ("preset=strokes&budget=0", "learning", 1)}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_stands_still_is_fed_from_play_on_with_what_is_beside_the_player(server, page):
    query, component, beside = PAGES[page]

    async def story(visitor: Visitor) -> None:
        await until(lambda: bool(visitor.updates))
        await visitor.ask("pause")
        await until(lambda: not visitor.timers and visitor.drawn > 1)
        drawn = visitor.drawn
        await visitor.ask("play")
        await updated(visitor, 4)
        assert visitor.drawn == drawn and visitor.timers == 1 + beside
        await visitor.ask("pause")
        await until(lambda: not visitor.timers)

    follow(Visitor(server, page, query, component), story)


def test_a_race_that_has_come_to_its_end_begins_anew_with_play(server):
    async def story(visitor: Visitor) -> None:
        await until(lambda: bool(visitor.updates))
        assert not visitor.head["again"]
        await visitor.ask("play")
        await until(lambda: visitor.head["again"] and not visitor.playing)
        begun = visitor.head["begun"]
        await visitor.ask("play")
        await until(lambda: visitor.head["begun"] > begun and visitor.head["again"])

    follow(Visitor(server, "race", "preset=critical&model=square:8x8&chains=16&budget=16"), story)
