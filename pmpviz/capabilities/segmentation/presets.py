"""What the Segmentation page opens with: a plan, the question it answers, and what to notice in it."""

from __future__ import annotations

from pmpviz.capabilities.segmentation.plan import ScenePlan, expectation
from pmpviz.live.plan import Preset

WALK = expectation("barrier_frank_wolfe", oracle="qpbo", local_search=True, local_steps=8, rho_updates=0, tolerance=0.1)

SEGMENTATION: tuple[Preset, ...] = (
    Preset(
        "crf",
        "Learn the weights",
        "Do learned weights tell an animal from its ground better than colour alone?",
        ScenePlan(lanes=(WALK, expectation("colour_gibbs"))),
        "Four weights are shared by all pixels: how far colour is trusted, a bias, how much neighbours agree, and how "
        "much more where their colours agree. At first all four move by the learning rate. Both lanes climb the "
        "likelihood: one with Frank-Wolfe's marginals, whose bound rises, one with Gibbs samples, which bound nothing. "
        "The scenes of the lower row were held out; what each lane's weights make of them, and the bound of their "
        "likelihood, TRBP says for both. At iteration 0 every pixel is undecided, then bodies stand out. "
        "Wrong pixels may become more for a while, since it is not these that are counted. reproduce bfw-crf "
        "learns them by marginals and by samples.",
        0.0,
    ),
)
