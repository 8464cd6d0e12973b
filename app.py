"""The app: to `streamlit run` its server, which makes Home ready first; in a session its navigation."""

import streamlit as st

if st.runtime.exists():
    from pmpviz.ui.session import prepare

    st.set_page_config(page_title="pmpviz", page_icon="assets/icon.png", layout="wide")
    prepare()
    st.navigation(
        [
            st.Page("pages/home.py", title="Home", icon=":material/home:", default=True),
            st.Page("pages/playground.py", title="Playground", icon=":material/grid_on:"),
            st.Page("pages/race.py", title="Race", icon=":material/flag:"),
            st.Page("pages/messages.py", title="Messages", icon=":material/hub:"),
            st.Page("pages/learning.py", title="Learning", icon=":material/school:"),
            st.Page("pages/deconvolution.py", title="Deconvolution", icon=":material/extension:"),
            st.Page("pages/frank_wolfe.py", title="Frank-Wolfe", icon=":material/conversion_path:"),
            st.Page("pages/perturbation_lab.py", title="Perturbation lab", icon=":material/blur_on:"),
        ]
    ).run()
else:
    from pmpviz.ui.server import lifespan

    app = st.App(__file__, lifespan=lifespan)
