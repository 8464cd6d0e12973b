"""Home in three moves: a sampler by hand, samplers racing, and the tiles that open everything else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pmpviz.app.address import class_mode
from pmpviz.app.gallery import Tile, gallery
from pmpviz.app.player import answer_events, answered, player
from pmpviz.capabilities.home.hand import Hand
from pmpviz.capabilities.home.picture import blob
from pmpviz.capabilities.home.tiles import first_tiles, other_tiles
from pmpviz.capabilities.sampling import hand_over

KEY = "five_spins"
HAND = "hand on five spins"
# Tiles in a row.
FIRST, OTHERS = 5, 6
SENTENCE = (
    "Samplers of discrete energy-based models at work, computed while you watch, beside the exact answer where there "
    "is one."
)
QUESTION = "Perturb-and-max-product by hand: can a maximum be a random sample?"
HOW = (
    "Five spins, each up or down. Noise is added to the field of each; then neighbours send messages until they settle "
    "on the best configuration under that noise: one sample. **Drag the noise**: as you let go its best configuration "
    "falls into the histogram, as a ring apart from the random draws of the buttons."
)


def draw(rows: Sequence[tuple[str, str, Sequence[Any]]]) -> None:
    """The page; `rows` are (title, page, presets) of all pages that have presets."""
    hand_over.race_on_home(by_hand)
    st.markdown("#### Look further")
    gallery(first_tiles(rows), FIRST)
    st.fragment(_more, key="more")(other_tiles(rows))


def _more(rest: list[tuple[str, list[Tile]]]) -> None:
    """The other tiles, drawn once somebody wants to see them."""
    words = f"More: {sum(len(tiles) for _, tiles in rest)} other experiments, page by page"
    with st.expander(words, on_change="rerun", key="more") as more:
        if more.open:
            gallery(rest, OTHERS)


def by_hand() -> None:
    """The five spins, above the race."""
    st.container(key="class-fold-sentence").markdown(SENTENCE)
    # On one line before a class, too: a second one pushes what is beneath below the window.
    st.html(f"<style>.st-key-by_hand_question {{ --letters: {len(QUESTION)}; }}</style>")
    st.container(key="by_hand_question").markdown(f"#### {QUESTION}")
    st.container(key="class-fold-how").markdown(HOW)
    st.fragment(_spins, key="five-spins")()


def _spins() -> None:
    hand = st.session_state.get(HAND) or st.session_state.setdefault(HAND, Hand.begun())
    answer_events(KEY, hand.take)
    if player(blob(hand, answered(KEY), class_mode()), key=KEY, answer=hand.take, component="spins"):
        st.rerun(scope="fragment")


__all__ = ["draw"]
