"""The five spins as one blob for the browser, in the wire format of `player.wire.encode`. The JSON:

{answered: [mount, number], model: its id, models: [[id, label]], edges: [[i, j, J]], own: [fields, log-odds],
 noise: [n], most: the largest noise by hand, directed: [[from, to]], messages: float32 [moments, directed],
 totals: float32 [moments, n], state, best: number of a state, order: [states, the likeliest first],
 exact: [states], counts: [states] of random noises, own_counts: [states] of those by hand,
 drops: how often something fell, ever, last: draw | many | hand, full: no more draws,
 said: [[words, whether they are the verdict]], distance}
"""

from __future__ import annotations

import numpy as np

from pmpviz.capabilities.home.hand import MOST_DRAWN, MOST_NOISE, Hand, expected_distance, farthest
from pmpviz.capabilities.home.spins import EDGES, LITTLE, Little
from pmpviz.player.numbers import at_most, integer, significant
from pmpviz.player.wire import Payload, encode

# From so many draws on it is said whether they meet the exact law.
ENOUGH = 500
# Below it bars and exact lines are hardly seen apart.
NEARLY = 0.05
MEASURE = (
    "Total variation is half of the sum of all gaps between the bars and the exact lines: 0 where they agree, 1 where "
    "they have no state in common."
)

# In what the picture shows: a spin's own field is its log-odds, 2 h.
EXACT = (
    "A state’s score: a spin that is up adds half its field, one that is down takes it away (fields of spins 1 to 5: "
    "{fields}); a line adds {J} where its spins are as it pulls them, else it takes that away. Exactly, p(state) is in "
    "proportion to exp(score)."
)


def blob(hand: Hand, answered: tuple[str, int], large: bool = False) -> bytes:
    """What the browser draws of the spins, the settling and the histogram; of a `large` stage it says less."""
    payload, little, settled = Payload(), hand.little, hand.settled()
    directed = [pair for i, j in EDGES for pair in ((i, j), (j, i))]
    senders, receivers = np.array(directed).T
    update = {
        "answered": answered,
        "model": little.id,
        "models": [[each.id, each.label] for each in LITTLE.values()],
        "edges": [[*edge, J] for edge, J in zip(EDGES, little.J, strict=True)],
        "own": [2 * h for h in little.h],
        "noise": hand.noise,
        "most": MOST_NOISE,
        "directed": directed,
        "messages": payload.add(settled.messages[:, receivers, senders]),
        "totals": payload.add(settled.totals),
        "state": settled.state,
        "best": settled.best,
        "order": np.argsort(-little.law, kind="stable"),
        "exact": little.law,
        "counts": hand.counts,
        "own_counts": hand.own,
        "drops": hand.drops,
        "last": hand.last,
        "full": hand.full,
        "distance": hand.distance,
        "said": [[words(hand), True], *([reason, False] for reason in reasons(hand, large))],
    }
    return encode(update, payload.blobs)


def words(hand: Hand) -> str:
    """How far the random draws are from the exact law, and how far as many exact ones would be."""
    count = hand.drawn
    chance = expected_distance(hand.little.law, count)
    far = f"total variation {significant(hand.distance)}"
    if count == 1:
        return "One random draw is in the histogram, and tells little. Press “1 000 more”."
    far += f" after {integer(count)} random draws"
    if count < ENOUGH:
        off = f"as many exact draws are {significant(chance)} off on average"
        return f"{far[0].upper()}{far[1:]}: too few to judge, {off}. Press “1 000 more”."
    most = farthest(hand.little.law, count)
    if hand.distance <= most:
        exact = f"in 19 of 20 cases that of as many exact ones is within {at_most(most)}"
        return f"As good as exact draws so far: {far}; {exact}."
    if hand.distance < NEARLY:
        return f"Nearly exact: {far}, that of exact ones is {significant(chance)}: a small error is left."
    return f"Not exact: {far}, that of exact ones is {significant(chance)}; more do not help."


def exactly(little: Little) -> str:
    """How the exact probabilities come of the numbers that are shown, and of the strength that all lines have."""
    strength = {abs(J) for J in little.J}
    assert len(strength) == 1
    fields = ", ".join(f"{2 * h:g}".replace("-", "−") for h in little.h)
    return EXACT.format(J=f"{strength.pop():g}", fields=fields)


def reasons(hand: Hand, large: bool = False) -> list[str]:
    """Why the histogram meets the exact law or misses it, and where there is room what that law is."""
    found = [hand.little.why] if hand.drawn >= ENOUGH else [MEASURE, exactly(hand.little)]
    if hand.drawn >= ENOUGH and hand.missed:
        found.append(
            f"In {integer(hand.missed)} of {integer(hand.drawn)} draws max-product, going round the loops, did not "
            "find the best of the 32 states."
        )
    if hand.drawn >= ENOUGH and not large:
        found.append(exactly(hand.little))
    if own := int(hand.own.sum()):
        found.append(f"Noise set by hand is not random and counts apart (rings: {integer(own)}).")
    if hand.full:
        found.append(f"No more than {integer(MOST_DRAWN)} are drawn here: start over.")
    return found


__all__ = ["blob", "exactly", "reasons", "words"]
