"""Announcements of seminars that are made up, with the words of the speaker's name marked.

They have what makes the task hard (Freitag's seminar announcements, as in Sutton and McCallum 2004): hosts with names
and titles, rooms, prizes and institutes called like people, names that no list knows, and surnames that come again
where nothing beside them tells what they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int8

from pmpviz.models.text import lexicon
from pmpviz.models.text.words import Words, words_of

# The name of the speaker is written between these.
OPEN, CLOSE = "‹", "›"
UNLISTED_SHARE = 0.35
MEAN_SENTENCES, MOST_SENTENCES, PLAIN_SHARE = 8, 34, 0.4


@dataclass(frozen=True)
class Person:
    """A name with a title."""

    title: str
    first: str
    last: str

    @property
    def full(self) -> str:
        """First name and surname."""
        return f"{self.first} {self.last}"


def announcement(seed: int, words: int | None = None) -> tuple[Words, Int8[np.ndarray, " n"]]:
    """(an announcement, 1 for each word of its speaker's name); of so many words where `words` is given.

    A short one is followed by others, and the last is cut.
    """
    rng = np.random.default_rng([seed, 2012])
    if words is None:
        return _read(_written(rng))
    parts: list[str] = []
    while sum(len(_read(part)[0]) for part in parts) < words:
        parts.append(_written(rng))
    found, labels = _read("\n\n".join(parts))
    return Words(found.text[: found.stop[words - 1]], found.start[:words], found.stop[:words]), labels[:words]


def announcements(first: int, count: int) -> list[tuple[Words, Int8[np.ndarray, " n"]]]:
    """Those of the seeds from `first` on."""
    return [announcement(seed) for seed in range(first, first + count)]


def _read(text: str) -> tuple[Words, Int8[np.ndarray, " n"]]:
    """The words of a text without its marks, and which of them stand between two."""
    plain, inside, spans = "", False, []
    for letter in text:
        if letter in OPEN + CLOSE:
            inside = letter == OPEN
            continue
        plain += letter
        spans.append(inside)
    words = words_of(plain)
    return words, np.array([spans[start] for start in words.start], np.int8)


def _written(rng: np.random.Generator) -> str:
    speaker, host = _person(rng), _person(rng)
    # Now and then the room, or the host, has the speaker's surname.
    room = speaker.last if rng.random() < 0.25 else _pick(rng, (host.last, *lexicon.SURNAMES, *lexicon.UNLISTED))
    if rng.random() < 0.1:
        host = Person(host.title, host.first, speaker.last)
    place = f"{room} {_pick(rng, lexicon.ROOMS)} {rng.integers(1, 400)}"
    parts = [_head(rng, speaker, place), _opening(rng, speaker), *_body(rng, speaker, host, place)]
    return "\n".join(parts)


def _person(rng: np.random.Generator) -> Person:
    def name(known, unknown):
        return _pick(rng, unknown if rng.random() < UNLISTED_SHARE else known)

    first = name(lexicon.FIRST_NAMES, lexicon.UNLISTED_FIRST)
    if rng.random() < 0.15:
        first = f"{first} {chr(65 + rng.integers(26))}."
    return Person(_pick(rng, ("Dr.", "Prof.", "Professor")), first, name(lexicon.SURNAMES, lexicon.UNLISTED))


def _head(rng: np.random.Generator, speaker: Person, place: str) -> str:
    day, month = _pick(rng, lexicon.DAYS), _pick(rng, lexicon.MONTHS)
    topic, other = _pick(rng, lexicon.TOPICS), _pick(rng, lexicon.TOPICS)
    lines = [f"Topic : {topic} and {other}", f"When : {day} , {rng.integers(1, 29)} {month} , {rng.integers(9, 18)}:30"]
    lines.append(f"Where : {place}")
    named = _pick(rng, (f"{speaker.title} {_marked(speaker.full)}", _marked(speaker.full)))
    if rng.random() < 0.75:
        school = _pick(rng, lexicon.SCHOOLS)
        lines.insert(int(rng.integers(len(lines) + 1)), f"{_pick(rng, ('Speaker', 'Who'))} : {named} , {school}")
    return "\n".join(lines) + "\n"


def _opening(rng: np.random.Generator, speaker: Person) -> str:
    topic, school = _pick(rng, lexicon.TOPICS), _pick(rng, lexicon.SCHOOLS)
    full = _marked(speaker.full)
    return _pick(
        rng,
        (
            f"{speaker.title} {full} talks about {topic} .",
            f"We are glad that {full} of {school} will speak on {topic} .",
            f"A lecture on {topic} by {full} , {school} .",
            f"{full} works at {school} . {speaker.title} {_marked(speaker.last)} will talk about {topic} .",
        ),
    )


def _body(rng: np.random.Generator, speaker: Person, host: Person, place: str) -> list[str]:
    """Sentences of chance; those about a surname alone are where links are needed."""
    last, count = _marked(speaker.last), 1 + min(int(rng.geometric(1 / MEAN_SENTENCES)), MOST_SENTENCES)
    return [
        _pick(rng, lexicon.SENTENCES) if rng.random() < PLAIN_SHARE else _pick(rng, _named(rng, last, host, place))
        for _ in range(count)
    ]


def _named(rng: np.random.Generator, last: str, host: Person, place: str) -> tuple[str, ...]:
    """Sentences in which somebody, or something called like somebody, is named."""
    somebody, topic = _pick(rng, (*lexicon.UNLISTED, *lexicon.SURNAMES)), _pick(rng, lexicon.TOPICS)
    return (
        f"{last} studied at {_pick(rng, lexicon.SCHOOLS)} .",
        f"In earlier years {last} and {host.last} met at the {_pick(rng, lexicon.SURNAMES)} Foundation .",
        f"The host is {host.title} {host.full} .",
        f"To meet {last} , write to {host.first} {host.last} .",
        f"A dinner with {last} follows at {_pick(rng, lexicon.UNLISTED)} Bridge .",
        f"Much of it goes back to {somebody} and {last} .",
        f"{' '.join(place.split()[:2])} is on {_pick(rng, lexicon.SURNAMES)} Street .",
        f"Professor {last} holds the {_pick(rng, lexicon.UNLISTED)} Prize .",
        f"The method of {last} is simple , and {last} shows why .",
        f"{host.last} will open the session on {topic} .",
        f"Theorems of {somebody} on {topic} are explained .",
    )


def _marked(name: str) -> str:
    return f"{OPEN}{name}{CLOSE}"


def _pick(rng: np.random.Generator, choices) -> str:
    return choices[int(rng.integers(len(choices)))]


__all__ = ["announcement", "announcements"]
