"""What the pages open with: a plan, the question it answers, and what to notice in it."""

from __future__ import annotations

from dataclasses import dataclass

from pmpviz.capabilities.sampling.plan import LanePlan, Plan
from pmpviz.models.presets import PRESETS as MODELS


@dataclass(frozen=True)
class PagePreset:
    """A named plan of a page: `speed` in sweeps a second (0: as fast as it goes), `notice` in Markdown."""

    id: str
    label: str
    question: str
    plan: Plan
    speed: float
    notice: str


def _lanes(*names: str) -> tuple[LanePlan, ...]:
    return tuple(LanePlan(name) for name in names)


HOME = PagePreset(
    "home",
    "Two samplers at the critical temperature",
    "Which of the two leaves its random start first?",
    Plan(model="square:64x64", chains=64, lanes=_lanes("colour_gibbs", "swendsen_wang")),
    20.0,
    "Gibbs flips one site at a time; Swendsen-Wang flips whole clusters.",
)

RACE: tuple[PagePreset, ...] = (
    PagePreset(
        "critical",
        "Critical lattice",
        "Which sampler forgets its start first at the critical temperature?",
        Plan(model="square:64x64", chains=512, budget=256.0, lanes=_lanes("colour_gibbs", "swendsen_wang")),
        0.0,
        "Local samplers need a number of sweeps that grows with the square of the side. Swendsen-Wang moves whole "
        "clusters and hardly slows down; one of its sweeps costs more, so look at the seconds too.",
    ),
    PagePreset(
        "paper-lattice",
        "Paper's lattice, θ = −0.1",
        "How many sweeps does each method need on the paper's lattice?",
        Plan(
            model="square:25x25,J=-0.2",
            chains=512,
            budget=64.0,
            lanes=_lanes("pmp", "gibbs", "gwg", "colour_gibbs"),
        ),
        0.0,
        "Perturb-and-max-product decodes one draw from scratch; its MMD falls as its messages converge, and stops at "
        "its own bias. The MCMC samplers start at random and go on to the noise.",
    ),
    PagePreset(
        "paper-graph",
        "Paper's random graph",
        "Which sampler finds its way on a sparse spin glass?",
        Plan(model="erdos_renyi:200", chains=512, budget=64.0, lanes=_lanes("pmp", "gibbs", "gwg", "colour_gibbs")),
        0.0,
        "Couplings of both signs with a weak field. No exact answer is tractable here (elimination width 41), so the "
        "reference is a labelled long run.",
    ),
    PagePreset(
        "stripes",
        "Striped states",
        "Which sampler leaves the stripes first?",
        Plan(
            model="square:64x64",
            beta=1.3,
            chains=128,
            start="stripes",
            budget=512.0,
            lanes=_lanes("colour_gibbs", "gwg", "swendsen_wang"),
        ),
        60.0,
        "Two straight walls cost energy only along their length, and no single flip lowers it: local samplers keep "
        "the stripes, clusters dissolve them at once.",
    ),
    PagePreset(
        "glass",
        "±J glass",
        "Who gets through the valleys of a spin glass?",
        Plan(
            model="square:32x32,couplings=glass,J=1",
            beta=0.6,
            chains=256,
            budget=256.0,
            lanes=_lanes("pmp", "colour_gibbs", "gwg", "swendsen_wang"),
        ),
        0.0,
        "Swendsen-Wang is exactly invariant here too, but frustration makes its clusters span the lattice, and they "
        "stop helping.",
    ),
    PagePreset(
        "strong-chain",
        "Strongly coupled chain",
        "How does news travel along a chain?",
        Plan(model="chain:64,J=3,field=first,h=1", chains=512, budget=128.0, lanes=_lanes("pmp", "gibbs", "gwg")),
        0.0,
        "Walls between up and down have to meet by a random walk under Gibbs; max-product carries real numbers and is "
        "done after as many sweeps as the chain is long (section 3 of the paper).",
    ),
    PagePreset(
        "clique",
        "Ten-node clique",
        "What does an approximate sampler get wrong on a small dense model?",
        Plan(model="clique:10,theta=2,seed=5", chains=2048, budget=64.0, lanes=_lanes("pmp", "gibbs", "gwg", "exact")),
        0.0,
        "Everything is exact here, so the errors can be read off: the MCMC lanes reach the noise, "
        "perturb-and-max-product keeps a bias.",
    ),
    PagePreset(
        "bars",
        "RBM of bars",
        "Who finds the right number of bars?",
        Plan(model="rbm:8x8x16", chains=256, budget=64.0, lanes=_lanes("pmp", "gibbs", "gwg")),
        0.0,
        "On average two of the sixteen hidden units are on. Gibbs draws a whole layer at once and starts with too "
        "many: it needs some fifty sweeps to lose them, because a unit goes off only after most of its pixels have. "
        "GWG needs fewer sweeps, each of which costs far more: look at the seconds. Perturb-and-max-product settles "
        "within sixteen sweeps, on three or four bars instead of two: a bias that more sweeps don't remove.",
    ),
)

BARS = PagePreset(
    "bars",
    "RBM of bars",
    "How long does a bar stand under block Gibbs?",
    Plan(model="rbm:8x8x16", chains=64, lanes=_lanes("colour_gibbs")),
    20.0,
    "The visible pixels are drawn given the hidden units, then the hidden units given the pixels. A unit and its bar "
    "hold each other up: once the first sweeps have forgotten the start, about four of ten bars still stand after 64 "
    "sweeps. Most pictures show one to three bars, often a row that crosses a column. Clamp four pixels of a row to "
    "1, and the rest of it follows.",
)


def _playground(preset) -> PagePreset:
    if preset.id == BARS.id:
        return BARS
    algorithm = "colour_gibbs" if preset.id in ("critical", "hot", "cold") else "pmp"
    plan = Plan(model=preset.spec, beta=preset.beta, chains=64, lanes=(LanePlan(algorithm),))
    return PagePreset(preset.id, preset.label, preset.lesson, plan, 20.0, preset.lesson)


PLAYGROUND: tuple[PagePreset, ...] = tuple(_playground(preset) for preset in MODELS)
