"""What the Landscape page opens with: a plan, the question it answers, and what to notice in it."""

from __future__ import annotations

from pmpviz.capabilities.landscape.plan import FORCED, GIBBS, KINDS, LandscapePlan
from pmpviz.live.plan import Preset

TWO, THREE, FAILURE, MEMORY = KINDS

LANDSCAPE: tuple[Preset, ...] = (
    Preset(
        "attractive",
        "Two spins that agree",
        "How does a rolling ball draw discrete states?",
        LandscapePlan(TWO, w=1.0, extra=2.8),
        "Drag the shift. At shift 2 the one well splits, into 00 and 11: there the largest eigenvalue λ₁ of the "
        "shifted couplings is 4, up to which one well is guaranteed (“With fields” is about that). The law of "
        "the states never changes: only the way to it does.",
        2.0,
    ),
    Preset(
        "independent",
        "Independent spins",
        "What landscape do spins have that do not interact?",
        LandscapePlan(TWO, w=0.0, h1=0.6, h2=-0.4, extra=2.0),
        "Without couplings no shift is needed; one that is added parts the four Gaussians along both axes alike, and "
        "the landscape stays a product of two.",
        2.0,
    ),
    Preset(
        "repulsive",
        "Two spins that differ",
        "Which configurations get the wells when spins repel each other?",
        LandscapePlan(TWO, w=-1.0, extra=3.5),
        "01 and 10 are likely now, and the landscape splits along the other diagonal, at shift 2 as for w = 1.",
        2.0,
    ),
    Preset(
        "strong",
        "A strong coupling",
        "Is there a shift at which a strong coupling has one well?",
        LandscapePlan(TWO, w=3.0, extra=0.2),
        "With |w| ≥ 2 the largest eigenvalue λ₁ is 2|w| ≥ 4 at shift 0 already: nothing is guaranteed from the start, "
        "and at w = 3 there are two wells at every shift of the slider. The ball crosses between them if its momentum "
        "carries it; block Gibbs has to be lucky.",
        2.0,
    ),
    Preset(
        "fields",
        "With fields",
        "Does the well part as soon as one well is no longer guaranteed?",
        LandscapePlan(TWO, w=1.0, h1=0.5, h2=-0.3, extra=3.0),
        "Beyond shift 2, where the largest eigenvalue λ₁ is 4, one well is no longer guaranteed; with fields a second "
        "one appears later, at a shift of about 3.6, where λ₁ is 5.6.",
        2.0,
    ),
    Preset(
        "failure",
        "The failure mode",
        "How long does block Gibbs hold on to an unlikely configuration?",
        LandscapePlan(FAILURE, t=2.0, diagonal=FORCED, extra=0.05, sampler=GIBBS),
        "exp(x₁t²/2 + x₂t² − x₁x₂t²), begun in state 10. With (t², 2t²) as the least shift the Gaussians stand so far "
        "apart that a sweep hardly ever leaves it; raise t. The uniform least shift mends most of it. The count of "
        "leavings is compared with its expectation by quadrature, here and in reproduce ms-failure.",
        2.0,
    ),
    Preset(
        "frustrated",
        "Three frustrated spins",
        "Where are the wells of three spins that all want to differ?",
        LandscapePlan(THREE, w=-2.0, extra=0.3),
        "Three dimensions, seen along the two principal axes: 000 and 111 fall onto each other in the middle, and six "
        "states stand around them. The shown landscape is the exact density of these two coordinates.",
        2.0,
    ),
    Preset(
        "hopfield",
        "Two remembered pictures",
        "What does it look like when many spins remember two pictures?",
        LandscapePlan(MEMORY, temperature=0.8, steps=3),
        "All Gaussians, one for each state (2⁹⁰⁰ at side 30), lie in a plane: one dimension for each picture. The ball "
        "rolls there, and the spins are drawn where it is. Drag the temperature: above 1.05 there is one well and "
        "noise; below it wells part for each picture and its negative, and the ball stays in the one it fell into. "
        "Fewer spins (side 10) are a heavier load: the wells are shallower in proportion, and the ball crosses. A cue "
        "for A tips all of it. The ball beats Gibbs sampling here, at equal seconds too: "
        "reproduce hopfield has by how much.",
        1.0,
    ),
    Preset(
        "alike",
        "Two pictures much alike",
        "Can two memories that resemble each other be told apart?",
        LandscapePlan(MEMORY, pictures="heart and apple", temperature=0.75, side=20, steps=5, coordinates="A = I"),
        "With an overlap of one half the well parts at T = 1.5 first, into both pictures at once and the negative of "
        "both; only below T = .5 do these part into one and the other. The two sides of the landscape differ in "
        "scale: compare Stretched (A = I), whose steps the narrow one limits, with Round.",
        1.0,
    ),
)


__all__ = ["LANDSCAPE"]
