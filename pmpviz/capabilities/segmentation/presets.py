"""What the Segmentation page opens with: a plan, the question it answers, and what to notice in it."""

from __future__ import annotations

from pmpviz.capabilities.segmentation.plan import ScenePlan, expectation
from pmpviz.live.plan import Preset

WALK = expectation("barrier_frank_wolfe", oracle="qpbo", local_search=True, local_steps=8, rho_updates=0, tolerance=0.1)

SEGMENTATION: tuple[Preset, ...] = (
    Preset(
        "crf",
        "Learn the weights",
        "Do learned weights find an animal better than colour alone?",
        # From where colour alone decides plain gradients go up without going too far; Adam's momentum turned whole
        # scenes into animals and back.
        ScenePlan(trust=1.0, ascent="sgd", learning_rate=0.3, decay=0.1, lanes=(WALK, expectation("colour_gibbs"))),
        "Four weights are shared by all pixels: how far colour is trusted, a bias, how much neighbours agree, and how "
        "much more where their colours agree. Learning begins where each pixel goes by its own colour: the curve "
        "begins on the line of colour alone, and falls as neighbours are heard. Both lanes climb the likelihood: one "
        "with Frank-Wolfe's marginals, whose bound rises, one with Gibbs samples, which bound nothing. The scenes of "
        "the lower row were held out; what each lane's weights make of them, and the bound of their likelihood, TRBP "
        "says for both. Later wrong pixels may become more again, since it is the likelihood that is raised. "
        "reproduce bfw-crf learns the weights by marginals and by samples.",
        0.0,
    ),
)
