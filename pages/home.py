"""Home: two samplers already racing, and pictures that open every other page at a preset."""

import streamlit as st

from pmpviz.app.gallery import gallery
from pmpviz.capabilities import GALLERY, PAGES, presets_of
from pmpviz.capabilities.sampling.page import open_page
from pmpviz.capabilities.sampling.presets import HOME
from pmpviz.capabilities.sampling.stage import stage

page = open_page("home", HOME, autoplay=True)
page = page.with_plan(page.plan)
st.markdown(f"#### {page.preset.question}")
stage(page)
st.caption(
    "Both lattices started from the same random configuration at the critical temperature, and are computed now. "
    "Space pauses, N steps, and the slider under the pictures goes back in time."
)
st.markdown("#### Look further")
titles = {page.id: page.title for page in PAGES}
gallery((titles[id], id, presets_of(id)) for id in GALLERY)
