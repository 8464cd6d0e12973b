"""What the Text page is set to: a text, how its words are linked, what is said of them, and who finds the names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pmpviz.live.plan import CHAINS, SEED, Catalogue, Choice, Lanes, Settings, Special, knob, setting
from pmpviz.marginals.barrier_frank_wolfe import BarrierFrankWolfe
from pmpviz.marginals.belief_propagation import BeliefPropagation
from pmpviz.models import Ising
from pmpviz.models.text import Words, announcement, read_words, skip_chain, trained
from pmpviz.models.text.skip_chain import CHAIN, LINKED, NUMBER, SKIP
from pmpviz.samplers import SAMPLERS, sampler_class
from pmpviz.types import Evidence, InputError, Target

SOLVERS = (BarrierFrankWolfe, BeliefPropagation)
MOST_LINKED = 3000
# Of a longer text all words are sampled and these are shown.
MOST_SHOWN = 2000
# A text of the page's own, whose speaker is known, and who else stands in it.
BAKER = """Where : Baker Hall 12
Speaker : Isolde Quillfeather , Northfield College

Quillfeather talks about Random Graphs . Baker Hall is on Turner Street .
A dinner with Quillfeather follows at Ashdown Bridge .
Much of it goes back to Baker and Quillfeather .
The host is Dr. Baker ."""
SPEAKERS = {BAKER: ("Isolde", "Quillfeather")}
OTHERS = {BAKER: ("Baker",)}
SAID = re.compile(r"(\d{1,5})\.([01])")


def class_of(name: str) -> Any:
    """The sampler or solver of this id; raises InputError naming the samplers."""
    return next((cls for cls in SOLVERS if cls.spec.id == name), None) or sampler_class(name)


reader = Catalogue((*SAMPLERS, *SOLVERS), class_of)


class Pasted(Special):
    """The field `text`, empty for an announcement; a long one is left out of links."""

    keys = ("text",)

    def write(self, plan: Any) -> dict[str, str]:
        """The text itself, up to 3,000 characters."""
        return {"text": plan.text} if 0 < len(plan.text) <= MOST_LINKED else {}

    def read(self, plan: Any, given: dict[str, str], notices: list[str]) -> Any:
        """A text that can be read, or none; else the plan as it was."""
        try:
            read_words(given.get("text") or "The")
        except InputError as error:
            notices.append(f"the text in this link was left out: {error}")
            return plan
        return plan.replace(text=given.get("text", plan.text))

    def plain(self, plan: Any) -> dict[str, Any]:
        """All of it."""
        return {"text": plan.text}


class Said(Special):
    """The field `said`: (word, label) of the words that a person has labelled; in links `3.1-17.0`."""

    keys = ("said",)

    def write(self, plan: Any) -> dict[str, str]:
        """Nothing where nothing was said, or where the text that it is said of is left out."""
        return self.plain(plan) if len(plan.text) <= MOST_LINKED else {}

    def plain(self, plan: Any) -> dict[str, str]:
        """All of it."""
        return {"said": "-".join(f"{word}.{label}" for word, label in plan.said)} if plan.said else {}

    def read(self, plan: Any, given: dict[str, str], notices: list[str]) -> Any:
        """Those that can be read."""
        found = [SAID.fullmatch(part) for part in given.get("said", "").split("-") if part]
        if None in found:
            notices.append("some of what was said of words cannot be read and was left out")
        said = {int(each[1]): int(each[2]) for each in found if each is not None}
        return plan.replace(said=tuple(sorted(said.items()))) if "said" in given else plan


@dataclass(frozen=True)
class TextPlan(Settings):
    """A text, or the number of an announcement; the trained weights of chain and links are multiplied."""

    ANEW: ClassVar = ("text", "number", "links", "chains", "seed")
    TOLD: ClassVar = {"chain": "chain", "skip": "links", "said": "words labelled"}

    text: str = Pasted().field("")
    number: int = setting(NUMBER)
    links: str = setting(LINKED)
    chain: float = setting(CHAIN)
    skip: float = setting(SKIP)
    chains: int = setting(CHAINS)
    seed: int = setting(SEED)
    budget: float = knob("Budget", 0, 1e9, 0.0, help="Sweeps after which all lanes stop; 0 goes on until paused.")
    said: tuple[tuple[int, int], ...] = Said().field(())
    lanes: tuple[Choice, ...] = Lanes(reader, 3).field((reader("gibbs"),))

    def words(self) -> tuple[Words, Any]:
        """(the words, the true labels or None where nobody knows them); raises InputError."""
        if not self.text:
            return announcement(self.number)
        words, names = read_words(self.text), SPEAKERS.get(self.text)
        return words, None if names is None else np.array([word in names for word in words.words], np.int8)

    def model(self, words: Words) -> Ising:
        """The field over the words, with trained weights."""
        return skip_chain(words, trained(self.links).weights, self.links, self.chain, self.skip)

    def target(self, words: Words) -> Target:
        """The target with what is said of words as evidence."""
        said = {word: label for word, label in self.said if word < len(words)}
        return Target.of(self.model(words), Evidence.of(len(words), said))


__all__ = ["BAKER", "OTHERS", "SOLVERS", "TextPlan", "reader"]
