"""The app: to `streamlit run` its server, which makes Home ready first; in a session its navigation."""

import sys

import streamlit as st

from pmpviz.app.brought import bring, say_what_is_left_out
from pmpviz.capabilities import PAGES, make_ready, modules
from pmpviz.experiments.registries import troubles

bring(sys.argv[1:])

if st.runtime.exists():
    from pmpviz.app.delivery import deliver
    from pmpviz.app.echo import sent
    from pmpviz.app.pace import in_turn
    from pmpviz.app.session import prepare
    from pmpviz.app.widgets import kept

    st.set_page_config(page_title="pmpviz", page_icon="assets/icon.png", layout="wide")
    prepare(modules())
    pages = [
        st.Page(f"pages/{page.id}.py", title=page.title, icon=page.icon, default=page.id == "home") for page in PAGES
    ]
    page = st.navigation(pages)
    try:
        with in_turn():
            say_what_is_left_out(troubles)
            page.run()
            kept()
        deliver()
    finally:
        sent()
else:
    from starlette.middleware import Middleware

    from pmpviz.app.head import InHead
    from pmpviz.app.server import lifespan

    app = st.App(__file__, lifespan=lifespan(make_ready), middleware=[Middleware(InHead)])
