"""What a person has done on the five spins so far: the noise as it stands, and where each draw has fallen."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from pmpviz.app.player import Event
from pmpviz.capabilities.home.spins import (
    LITTLE,
    LOOSE,
    MANY,
    SPINS,
    STATES,
    Little,
    Settled,
    draw_many,
    noise_of,
    settle,
)

MOST_NOISE = 6.0
MOST_DRAWN = 100_000
# One chance in twenty that as many exact draws would miss by more.
SURE = 0.05
# Samples of the law, by which it is known how far exact draws stray.
SIMULATED = 1000


def _nothing() -> Int[np.ndarray, " states"]:
    return np.zeros(STATES, np.int64)


@dataclass
class Hand:
    """One visitor's spins. Draws with random noise and those with noise set by hand are counted apart: only the
    former are samples, and only they are compared with the exact law."""

    little: Little = LOOSE
    noise: tuple[float, ...] = (0.0,) * SPINS
    drawn: int = 0
    """Random noises so far, and the number of the next one."""
    counts: Int[np.ndarray, " states"] = field(default_factory=_nothing)
    own: Int[np.ndarray, " states"] = field(default_factory=_nothing)
    missed: int = 0
    """Of the random ones, those for which max-product did not find the best state."""
    drops: int = 0
    """How often something has fallen into the histogram, ever."""
    last: str = "draw"
    """What fell last: draw, many or hand."""

    @classmethod
    def begun(cls) -> Hand:
        """With its first draw, so that something moves before anybody has touched it."""
        hand = cls()
        hand.draw()
        return hand

    def take(self, event: Event) -> None:
        """Do what was asked for; nothing where there is no such thing."""
        if event.type == "knob" and event.name == "noise" and 0 <= event.site < SPINS and math.isfinite(event.value):
            self.turn(event.site, event.value, event.done)
        elif event.type == "step":
            self.draw()
        elif event.type == "knob" and event.name == "more":
            self.draw_more()
        elif event.type == "mode" and 0 <= event.site < len(LITTLE):
            self.begin_anew(tuple(LITTLE.values())[event.site])
        elif event.type == "reset":
            self.begin_anew(self.little)

    def turn(self, spin: int, value: float, done: bool) -> None:
        """Another noise for a spin; where it is done, the state that comes of it falls into the histogram."""
        value = float(np.clip(value, -MOST_NOISE, MOST_NOISE))
        self.noise = (*self.noise[:spin], value, *self.noise[spin + 1 :])
        if done:
            self.own[self.settled().state] += 1
            self._fallen("hand")

    def draw(self) -> None:
        """One random noise."""
        if self.full:
            return
        self.noise = noise_of(self.drawn)
        found = self.settled()
        self.counts[found.state] += 1
        self.missed += found.state != found.best
        self.drawn += 1
        self._fallen("draw")

    def draw_more(self) -> None:
        """A thousand of them; the last one's noise is the one that is shown."""
        if self.full:
            return
        many = draw_many(self.little, self.drawn)
        self.counts += many.counts
        self.missed += many.missed
        self.drawn += MANY
        self.noise = noise_of(self.drawn - 1)
        self._fallen("many")

    def begin_anew(self, little: Little) -> None:
        """An empty histogram, of this model, and the first draw once more."""
        self.little, self.drawn, self.missed = little, 0, 0
        self.counts, self.own = _nothing(), _nothing()
        self.draw()

    def _fallen(self, what: str) -> None:
        self.drops, self.last = self.drops + 1, what

    @property
    def full(self) -> bool:
        """Whether no more draws are made."""
        return self.drawn + MANY > MOST_DRAWN

    def settled(self) -> Settled:
        """Max-product under the noise as it stands."""
        return settle(self.little, self.noise)

    @property
    def distance(self) -> float:
        """Total variation between the random draws and the exact law."""
        return distance(self.counts, self.little.law)


def distance(counts: Int[np.ndarray, " states"], law: Float[np.ndarray, " states"]) -> float:
    """Total variation, half of the sum of |share - p|."""
    return float(np.abs(counts / max(counts.sum(), 1) - law).sum() / 2)


def expected_distance(law: Float[np.ndarray, " states"], draws: int) -> float:
    """The mean of `distance` of so many exact draws: half of the sum of E|X/n - p|, X ~ Binomial(n, p) (de Moivre).

    E|X - n p| = 2 m C(n, m) p^m (1 - p)^(n - m + 1) with m = floor(n p) + 1.
    """
    return sum(_mean_deviation(draws, float(p)) for p in law) / 2


def _mean_deviation(n: int, p: float) -> float:
    if not 0.0 < p < 1.0:
        return 0.0
    m = math.floor(n * p) + 1
    choose = math.lgamma(n + 1) - math.lgamma(m + 1) - math.lgamma(n - m + 1)
    return math.exp(math.log(2 * m) + choose + m * math.log(p) + (n - m + 1) * math.log1p(-p)) / n


def farthest(law: Float[np.ndarray, " states"], draws: int) -> float:
    """The distance that of as many exact draws one sample in twenty exceeds, of SIMULATED samples."""
    samples = np.random.default_rng(0).multinomial(draws, law / law.sum(), SIMULATED)
    return float(np.quantile(np.abs(samples / draws - law).sum(1) / 2, 1 - SURE))


__all__ = ["Hand", "distance", "expected_distance", "farthest"]
