"""Texts as models: words, announcements that are made up, and the skip-chain field over the words of a text."""

from pmpviz.models.text.announcements import announcement, announcements
from pmpviz.models.text.skip_chain import LINKS, Fit, Weights, fitted, links_of, skip_chain, trained
from pmpviz.models.text.words import MOST_WORDS, Words, read_words

__all__ = [
    "LINKS",
    "MOST_WORDS",
    "Fit",
    "Weights",
    "Words",
    "announcement",
    "announcements",
    "fitted",
    "links_of",
    "read_words",
    "skip_chain",
    "trained",
]
