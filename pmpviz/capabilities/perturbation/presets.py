"""What the perturbation lab opens with: a plan, the question it answers, and what to notice in it."""

from __future__ import annotations

from pmpviz.capabilities.perturbation.plan import LabPlan
from pmpviz.live.plan import Preset

THREE = ("max_product", "linear_program", "exact")

PERTURBATION: tuple[Preset, ...] = (
    Preset(
        "two-spins",
        "Two spins: the atlas",
        "Sampled as the best under noise, does each state come as often as it should?",
        LabPlan("chain:2,J=0.6,periodic=false,field=uniform,h=0.2", solvers=THREE),
        "With two spins the plane of the atlas is all the noise there is, and a state comes as often as the noise, "
        "logistic in both spins, falls into its region. The borders are straight: one number a spin cannot bend them "
        "so that this is the exact law, which is the bias of unary noise as geometry. Drag the cross over a border: "
        "the field changes a little, the answer at once. Samples fall into the regions and fill the bars; the lines "
        "are the exact law.",
        lead="To sample, noise is added to each spin, and three solvers seek the best state. A dot is noise on both "
        "spins, its region the best state: bars count them, lines are the model's own probabilities. Drag the cross.",
    ),
    Preset(
        "glass",
        "6 x 6 spin glass",
        "Do three solvers find the same best state under the same noise?",
        LabPlan(
            "square:6x6,couplings=gaussian,sigma=1.2,field=random,h=0.5,seed=2",
            solvers=THREE,
            first=14,
            second=15,
            layer="energy2",
        ),
        "All solvers are given the same perturbation. Where couplings frustrate one another the linear program leaves "
        "variables between 0 and 1, in grey, and rounding them loses energy; max-product mostly finds the maximum, or "
        "oscillates.",
        lead="Three solvers seek the best state of 36 spins under the same noise: messages, a linear program (LP) that "
        "lets spins be 0, 1 or between, and an exact one. Drag the cross: it sets the noise of two.",
    ),
    Preset(
        "triangle",
        "Frustrated ring: oscillation",
        "Under which noise do max-product's messages never settle?",
        LabPlan("chain:3,J=-1,periodic=true", solvers=THREE, layer="rest"),
        "Three spins that all want to differ. Where the noise decides nothing, undamped messages travel round the ring "
        "for ever: the map says where, and coloured by the period how they go round.",
        lead="Max-product passes messages round three spins that all want to differ. Drag the cross: it sets the noise "
        "of two.",
    ),
    Preset(
        "clique",
        "Eight-spin clique",
        "How many attempts does an exact sample cost?",
        LabPlan("clique:8,theta=2", solvers=THREE),
        "The unbiased sampler fixes one variable after another by ratios of expected maxima; what is missing to "
        "probability 1 rejects: more often the more variables there are (reproduce hmj-acceptance). Perturb-and-MAP "
        "accepts always, and its histogram is off by more than its noise floor.",
        lead="The exact sampler fixes spin after spin. Its two chances add up to less than 1: with the rest it begins "
        "again.",
    ),
    Preset(
        "prefixes",
        "Bounds of all prefixes",
        "Do the bounds of the parts add up to no more than that of the whole?",
        LabPlan("square:3x4,couplings=gaussian,sigma=0.6,field=random,h=0.6,periodic=false", solvers=THREE),
        "An expected maximum bounds the log of the sum over all that begins with a prefix, and the bounds of its two "
        "ways to go on never exceed it: that is what makes them the unbiased sampler's probabilities. Averages over "
        "a bank of noise break it here and there, and are repaired. Every further variable costs acceptance (reproduce "
        "hmj-theorems).",
        lead="Each beginning of a state has a bound, its best value under noise on average; the exact sampler goes by "
        "it.",
    ),
    Preset(
        "denoise",
        "A noisy picture",
        "What does the single best answer leave out?",
        LabPlan("scene:denoise", solvers=("max_product", "linear_program", "icm"), first=62, second=63),
        "An attractive model: the linear program is tight, and proves its maximum. The single MAP smooths thin strokes "
        "away; the average over perturbations keeps them, and says where it is unsure: along the boundary. That is "
        "what averaged samples are for: how far off a boundary is, they say better than the MAP does (reproduce "
        "hmj-segmentation).",
        lead="A noisy picture is restored once as it is, then under noise, again and again: the greyer, the less sure.",
    ),
    Preset(
        "complete",
        "A hidden stroke",
        "How much of the hidden stroke is drawn?",
        LabPlan("scene:complete", solvers=THREE, first=81, second=93),
        "The right third of a glyph is hidden; edges of both signs reach over two pixels. The linear program has no "
        "opinion (grey nearly everywhere). The MAP leaves the second stroke out, as the safest single answer; some "
        "of the perturbed maxima draw it, and the exact marginals are between the two (reproduce bfw-characters).",
        lead="A part of a picture is hidden, and filled in once as it is, then under noise, again and again.",
    ),
)

__all__ = ["PERTURBATION"]
