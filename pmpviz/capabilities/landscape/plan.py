"""What the Landscape page is set to: a model of a few spins or of two pictures, and the sampler that walks over it."""

from __future__ import annotations

from dataclasses import dataclass

from pmpviz.capabilities.landscape.drawings import PAIRS
from pmpviz.live.plan import SEED, Settings, choice, knob, setting
from pmpviz.samplers.gaussian_hmc import COORDINATES

KINDS = ("two spins", "three spins", "failure mode", "two pictures")
MEMORY = KINDS[3]
GIBBS, HMC = "gaussian_gibbs", "gaussian_hmc"
SAMPLERS = {HMC: "HMC", GIBBS: "Block Gibbs"}
FORCED = "(t², 2t²)"
DIAGONALS = {kind: ("uniform", "least trace") for kind in KINDS} | {
    KINDS[2]: ("uniform", FORCED),
    MEMORY: ("uniform",),
}
MOST_STEPS, MOST_SIDE = 20, 30
# Of the states; none is a sampler's, whose ball and curves are seen among them.
COLOURS = ("#0072B2", "#7B5CC4", "#009E73", "#CC79A7", "#56B4E9", "#5A3E2B", "#C1272D", "#A3B800")


@dataclass(frozen=True)
class LandscapePlan(Settings):
    """`kind` says which of `w`, `h1`, `h2` and `t` count; the diagonal is the least of its form plus `extra`.

    Of two pictures, which remember themselves under the least shift, `pictures`, `temperature`, `side` and `cue` count.
    """

    kind: str = choice("Model", KINDS, "What the Gaussians relax.")
    w: float = knob("Coupling w", -4.0, 4.0, 1.0, help="w x₁x₂ in log p: above 0 the spins want to agree.")
    h1: float = knob("Field on spin 1", -2.0, 2.0, 0.0, help="0: both of its states are alike.")
    h2: float = knob("Field on spin 2", -2.0, 2.0, 0.0, help="0: both of its states are alike.")
    t: float = knob("t", 1.0, 5.0, 2.0, help="log p = x₁t²/2 + x₂t² − x₁x₂t² + const: the larger, the longer 10 holds.")
    pictures: str = choice("Pictures", tuple(PAIRS), "What the spins remember; a heart and an apple are much alike.")
    temperature: float = knob(
        "T", 0.3, 3.0, 0.9, help="Temperature, 1/β. At 1 plus the overlap of the pictures the well begins to part."
    )
    side: int = knob(
        "Side", 8, MOST_SIDE, MOST_SIDE, "int", "side × side spins remember two pictures: a load of 2/side²."
    )
    cue: float = knob("Cue for A", 0.0, 0.01, 0.0, help="A field h on every spin that points to the first picture.")
    diagonal: str = choice("Least shift", ("uniform", "least trace", FORCED), "The form of D at the left end.")
    extra: float = knob(
        "Shift (dots apart)",
        0.05,
        6.0,
        1.0,
        help="Added on the couplings' diagonal, alike for every spin, beyond the least D there is. It moves dots "
        "apart, not their probabilities.",
    )
    sampler: str = choice("Sampler", tuple(SAMPLERS), "What walks over the landscape.")
    coordinates: str = choice("Coordinates", COORDINATES, "The mass of the ball: that of z, or that of the fields Bz.")
    step: float = knob(
        "Step size", 0.05, 2.0, 1.0, help="Of the leapfrog, in units of m^(−1/4), m the number of Gaussians."
    )
    steps: int = knob("Mean steps", 1, MOST_STEPS, 5, "int", "L: a trajectory has 1 to 2L − 1, all as likely.")
    seed: int = setting(SEED)

    def mended(self, default: LandscapePlan) -> tuple[LandscapePlan, list[str]]:
        """A diagonal that this model does not have is the first of those that it has."""
        known = DIAGONALS[self.kind]
        if self.diagonal in known:
            return self, []
        return self.replace(diagonal=known[0]), [f"{self.kind} have no diagonal {self.diagonal}; it is {known[0]}"]


__all__ = [
    "COLOURS",
    "DIAGONALS",
    "FORCED",
    "GIBBS",
    "HMC",
    "KINDS",
    "MEMORY",
    "MOST_SIDE",
    "MOST_STEPS",
    "SAMPLERS",
    "LandscapePlan",
]
