"""What the server does as it starts."""

from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

from pmpviz.app.server import keep_theme

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
