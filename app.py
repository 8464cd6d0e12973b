"""The app: to `streamlit run` its server, which makes Home ready first; in a session its navigation."""

import streamlit as st

from pmpviz.capabilities import PAGES, make_ready, modules

if st.runtime.exists():
    from pmpviz.app.session import prepare

    st.set_page_config(page_title="pmpviz", page_icon="assets/icon.png", layout="wide")
    prepare(modules())
    pages = [
        st.Page(f"pages/{page.id}.py", title=page.title, icon=page.icon, default=page.id == "home") for page in PAGES
    ]
    st.navigation(pages).run()
else:
    from pmpviz.app.server import lifespan

    app = st.App(__file__, lifespan=lifespan(make_ready))
