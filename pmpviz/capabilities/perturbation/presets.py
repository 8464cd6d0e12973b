"""What the perturbation lab opens with: a plan, the question it answers, and what to notice in it."""

from __future__ import annotations

from pmpviz.capabilities.perturbation.plan import LabPlan
from pmpviz.live.plan import Preset

THREE = ("max_product", "linear_program", "exact")

PERTURBATION: tuple[Preset, ...] = (
    Preset(
        "two-spins",
        "Two spins: the atlas",
        "Does each state come as often as it should?",
        LabPlan("chain:2,J=0.6,periodic=false,field=uniform,h=0.2", solvers=THREE),
        "With two spins the plane of the atlas is all the noise there is, and a state comes as often as the noise, "
        "logistic in both spins, falls into its region. The borders are straight: one number a spin cannot bend them "
        "so that this is the exact law, which is the bias of unary noise as geometry. Drag the cross over a border: "
        "the field changes a little, the answer at once. Samples fall into the regions and fill the bars; the lines "
        "are the exact law.",
    ),
    Preset(
        "glass",
        "6 x 6 spin glass",
        "Do three solvers find the same maximum under the same noise?",
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
    ),
    Preset(
        "triangle",
        "Frustrated ring: oscillation",
        "Where in noise space does max-product never come to rest?",
        LabPlan("chain:3,J=-1,periodic=true", solvers=THREE, layer="rest"),
        "Three spins that all want to differ. Where the noise decides nothing, undamped messages travel round the ring "
        "for ever: the map says where, and coloured by the period how they go round.",
    ),
    Preset(
        "clique",
        "Eight-spin clique",
        "How many attempts does exactness cost?",
        LabPlan("clique:8,theta=2", solvers=THREE),
        "The unbiased sampler fixes one variable after another by ratios of expected maxima; what is missing to "
        "probability 1 rejects: more often the more variables there are (reproduce hmj-acceptance). Perturb-and-MAP "
        "accepts always, and its histogram is off by more than its noise floor.",
    ),
    Preset(
        "prefixes",
        "Bounds of all prefixes",
        "Do bounds of the parts never exceed the bound of the whole?",
        LabPlan("square:3x4,couplings=gaussian,sigma=0.6,field=random,h=0.6,periodic=false", solvers=THREE),
        "An expected maximum bounds the log of the sum over all that begins with a prefix, and the bounds of its two "
        "ways to go on never exceed it: that is what makes them the unbiased sampler's probabilities. Averages over "
        "a bank of noise break it here and there, and are repaired. Every further variable costs acceptance (reproduce "
        "hmj-theorems).",
    ),
    Preset(
        "denoise",
        "A noisy picture",
        "What does one best answer hide?",
        LabPlan("scene:denoise", solvers=("max_product", "linear_program", "icm"), first=62, second=63),
        "An attractive model: the linear program is tight, and proves its maximum. The single MAP smooths thin strokes "
        "away; the average over perturbations keeps them, and says where it is unsure: along the boundary. That is "
        "what averaged samples are for: how far off a boundary is, they say better than the MAP does (reproduce "
        "hmj-segmentation).",
    ),
    Preset(
        "complete",
        "A hidden stroke",
        "Is the hidden part there?",
        LabPlan("scene:complete", solvers=THREE, first=81, second=93),
        "The right third of a glyph is hidden; edges of both signs reach over two pixels. The linear program has no "
        "opinion (grey nearly everywhere). The MAP leaves the second stroke out, as the safest single answer; many "
        "of the perturbed maxima draw it, and the exact marginals agree with them (reproduce bfw-characters).",
    ),
)


__all__ = ["PERTURBATION"]
