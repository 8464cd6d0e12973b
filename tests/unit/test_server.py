"""What the server does as it starts, and what it adds to its pages."""

import asyncio
from pathlib import Path

from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.pages_manager import PagesManager

from pmpviz.app.head import ONE_STEP, InHead
from pmpviz.app.server import keep_theme, lifespan

SECTIONS = ("theme", "theme.light", "theme.dark", "theme.sidebar", "theme.light.sidebar", "theme.dark.sidebar")


def told() -> CustomThemeConfig:
    """A whole theme, as a page is told of it."""
    theme = CustomThemeConfig()
    parts = (theme, theme.light, theme.dark, theme.sidebar, theme.light.sidebar, theme.dark.sidebar)
    for part, section in zip(parts, SECTIONS, strict=True):
        app_session._populate_theme_msg(part, section)
    return theme


def test_the_theme_is_read_once_and_is_the_same(monkeypatch):
    reads, read = [], app_session._populate_theme_msg
    expected = told()
    assert expected.light.primary_color and not expected.HasField("sidebar"), "the app's own, of some sections"
    monkeypatch.setattr(app_session, "_populate_theme_msg", lambda m, s="theme": (reads.append(s), read(m, s)))
    keep_theme()
    assert told() == told() == expected
    assert sorted(reads) == sorted(SECTIONS)
    before = config.get_option("theme.light.primaryColor")
    try:
        config.set_option("theme.light.primaryColor", "#123456")
        config._on_config_parsed.send()
        assert told().light.primary_color == "#123456"
    finally:
        config.set_option("theme.light.primaryColor", before)


def test_without_the_inner_name_all_stays(monkeypatch):
    monkeypatch.delattr(app_session, "_populate_theme_msg")
    keep_theme()
    assert not hasattr(app_session, "_populate_theme_msg")


async def begun() -> None:
    """A server that starts, with nothing to make ready, and ends."""
    async with lifespan(lambda: None)(None):
        pass


def test_the_page_opened_first_after_a_start_has_the_apps_navigation(monkeypatch):
    """Streamlit takes `pages/` for an app of its own until a script has said otherwise."""
    app = str(Path(__file__).parents[2] / "app.py")
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    PagesManager(app)
    assert PagesManager.uses_pages_directory, "without it, files are listed"
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    monkeypatch.setattr(app_session, "_populate_theme_msg", app_session._populate_theme_msg)
    asyncio.run(begun())
    PagesManager(app)
    assert not PagesManager.uses_pages_directory


def answer(path: str, head: bytes = b"<head>", **headers: str) -> tuple[dict, bytes, list]:
    """(headers, body, headers that the server within was asked with) of a page behind the layer."""
    asked, sent = [], []

    async def within(scope, receive, send):
        asked.extend(scope["headers"])
        body = b"<html>" + head + b"</head>"
        length = (b"content-length", str(len(body)).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": body[:20], "more_body": True})
        await send({"type": "http.response.body", "body": body[20:]})

    async def keep(message):
        sent.append(message)

    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    asyncio.run(InHead(within)({"type": "http", "method": "GET", "path": path, "headers": given}, None, keep))
    return dict(sent[0]["headers"]), b"".join(message["body"] for message in sent[1:]), asked


def test_a_page_has_the_script_before_anything_of_its_own():
    headers, body, asked = answer("/messages", accept="text/html,*/*", accept_encoding="gzip", if_none_match="x")
    assert body == b"<html><head>" + ONE_STEP.encode() + b"</head>"
    assert int(headers[b"content-length"]) == len(body)
    assert [name for name, _ in asked] == [b"accept"]


def test_what_is_no_page_or_has_no_head_stays_as_it_is():
    headers, body, asked = answer("/static/a.js", accept="*/*", accept_encoding="gzip")
    assert body == b"<html><head></head>" and int(headers[b"content-length"]) == len(body)
    assert [name for name, _ in asked] == [b"accept", b"accept-encoding"]
    headers, body, _ = answer("/messages", head=b"", accept="text/html")
    assert body == b"<html></head>" and int(headers[b"content-length"]) == len(body)
