"""A text as words: what stands between them, what each of them looks like, and which of them may be linked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float

from pmpviz.models.text.lexicon import (
    ACTS,
    FIRST_NAMES,
    HOST_WORDS,
    PLACE_WORDS,
    SPEAKER_WORDS,
    SURNAMES,
    TITLES,
)
from pmpviz.types import InputError

MOST_WORDS = 10_000
MOST_CHARACTERS = 200_000

# A title or an initial with its full stop is one word; so is a sign.
_WORD = re.compile(r"(?:Dr|Prof|Mr|Mrs|Ms)\.|[A-Z]\.(?=\s+[A-Z])|\w+(?:[-'’]\w+)*|[^\w\s]")

FEATURES = (
    "any word",
    "capitalised",
    "an initial",
    "first name",
    "surname",
    "a title or a sign",
    "after a title",
    "after a speaker's mark",
    "before a speaker's act",
    "near a host's mark",
    "before a word of places",
    "first of a line",
)


@dataclass(frozen=True)
class Words:
    """A text of n words: word i is `text[start[i]:stop[i]]`."""

    text: str
    start: tuple[int, ...]
    stop: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words, signs among them."""
        return tuple(self.text[a:b] for a, b in zip(self.start, self.stop, strict=True))

    @property
    def gaps(self) -> tuple[str, ...]:
        """What stands before each word, and after the last one."""
        return tuple(self.text[a:b] for a, b in zip((0, *self.stop), (*self.start, len(self.text)), strict=True))

    def capitalised(self) -> Bool[np.ndarray, " n"]:
        """Which words begin with a capital letter and are longer than one letter, initials and titles left out."""
        return np.array([word[:1].isupper() and len(word) > 1 and word[-1] != "." for word in self.words], bool)


def read_words(text: str) -> Words:
    """The words of a text; raises InputError where it has none, too many, or no capitals."""
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"the text has {len(text):,} characters; give at most {MOST_CHARACTERS:,}")
    words = words_of(text)
    if not len(words):
        raise InputError("the text has no words; paste some")
    if len(words) > MOST_WORDS:
        raise InputError(f"the text has {len(words):,} words and signs; give at most {MOST_WORDS:,}")
    if not words.capitalised().any():
        raise InputError("the text has no capitalised word, by which names are told and linked; paste it as written")
    return words


def words_of(text: str) -> Words:
    """The words of any text."""
    found = list(_WORD.finditer(text))
    return Words(text, tuple(each.start() for each in found), tuple(each.end() for each in found))


def features(words: Words) -> Float[np.ndarray, "n f"]:
    """What of `FEATURES` each word has, 0 or 1: all that the model sees of it and of its neighbours."""
    text = words.words
    low = [word.lower() for word in text]
    around = ["", "", *low, "", ""]
    before_that, before, after, after_that = (around[shift : shift + len(low)] for shift in (0, 1, 3, 4))
    capital = words.capitalised()
    rows = [
        np.ones(len(text), bool),
        capital,
        [len(word) == 2 and word[1] == "." and word[0].isupper() for word in text],
        [word in FIRST_NAMES for word in text],
        [word in SURNAMES for word in text],
        [word in TITLES or not word[:1].isalpha() for word in low],
        [word in TITLES for word in before],
        [a in SPEAKER_WORDS or (a == ":" and b in SPEAKER_WORDS) for a, b in zip(before, before_that, strict=True)],
        [a in ACTS or (a == "will" and b in ACTS) for a, b in zip(after, after_that, strict=True)],
        [bool({a, b} & HOST_WORDS) for a, b in zip(before, before_that, strict=True)],
        [a in PLACE_WORDS for a in after],
        ["\n" in gap or not place for place, gap in enumerate(words.gaps[:-1])],
    ]
    return np.array(rows, np.float64).T


__all__ = ["FEATURES", "MOST_WORDS", "Words", "features", "read_words", "words_of"]
