"""What the learning page opens with: a plan, the question it answers, and what to notice in it."""

from __future__ import annotations

from pmpviz.capabilities.learning.plan import LearningPlan, learner
from pmpviz.live.plan import Preset

LEARNING: tuple[Preset, ...] = (
    Preset(
        "digits",
        "RBM of digits",
        "How much of a picture does a hidden unit come to stand for?",
        LearningPlan(data="digits", hidden=64, learning_rate=0.003, lanes=(learner("pcd", sweeps=5),)),
        "The filters begin as noise, become parts of strokes, and narrow from then on: each hidden unit votes for ink "
        "where its weights are orange. "
        "The pictures in the stage are the model's own: persistent Gibbs chains that never see the data. MMD² is small "
        "long before they look like digits: it sees little but means of pixels. The likelihood rises from that of "
        "independent pixels on.",
    ),
    Preset(
        "strokes",
        "RBM of strokes",
        "What do hidden units make of strokes of a pen?",
        LearningPlan(data="strokes", hidden=100, learning_rate=0.005, lanes=(learner("pcd", sweeps=3),)),
        "The program draws these numerals itself, with a pen that wobbles. Point at a filter: the samples that use "
        "that stroke light up; point at a sample: its strokes are framed. On the way the likelihood falls by some ten "
        "nats and rises again, more than once. That is the model itself, which persistent chains overshoot, and not "
        "the estimate: annealing in 20,000 steps finds the same to 0.3 nats.",
    ),
    Preset(
        "pmp-gibbs",
        "PMP against Gibbs",
        "Which learns better, PMP or Gibbs?",
        LearningPlan(data="digits", hidden=64, lanes=(learner("pmp", sweeps=20), learner("gibbs_reset", sweeps=20))),
        "Both learners match the data's statistics with those of their own samples, begun anew for every gradient and "
        "left after 20 sweeps. What they learn are the parameters of that truncated sampler: look at the "
        "log-likelihood beside the MMD.",
    ),
    Preset(
        "descent",
        "Perturb and descend",
        "How far must perturb-and-descend lower its energy to learn?",
        LearningPlan(data="digits", hidden=16, lanes=(learner("descent", sweeps=1), learner("descent"))),
        "Both learners perturb the energy and lower it site by site from a random start (Appendix B.4 of the paper). "
        "After one sweep the samples look like digits, and their MMD² is noise; yet the exact likelihood falls far "
        "below that of pixels that know nothing of each other: what is learned is how to come from anywhere to a digit "
        "in one sweep, and no law. After ten sweeps a sample is nearly at rest, and its model is one of digits "
        "(reproduce pmp-b4).",
    ),
    Preset(
        "perturb-lp",
        "Perturb-and-LP",
        "Does a linear program learn as well as messages do?",
        LearningPlan(
            data="bars:4x4",
            hidden=12,
            chains=20,
            batch=0,
            learning_rate=0.02,
            lanes=(learner("pmp", sweeps=50), learner("perturb_lp")),
        ),
        "Both lanes perturb the energy in the same way; one looks for the maximum by messages, the other solves the "
        "linear relaxation exactly and rounds it. While hardly any variable comes out a half the two learn alike, the "
        "second in many times the seconds; the larger a model is, the more of them do (reproduce pmp-lp).",
    ),
    Preset(
        "bars",
        "Bars, exact likelihood",
        "How far is sampling from the exact gradient?",
        LearningPlan(
            data="bars:4x4", hidden=12, batch=0, learning_rate=0.02, lanes=(learner("exact"), learner("pcd", sweeps=1))
        ),
        "Thirty pictures, twelve hidden units: the likelihood is summed out exactly, and one lane climbs its gradient.",
    ),
    Preset(
        "shapes",
        "SRBM of shapes",
        "What is left to hidden units where pixels know their neighbours?",
        LearningPlan(
            data="glyphs:10x10", kind="srbm", hidden=36, learning_rate=0.01, lanes=(learner("pcd", sweeps=3),)
        ),
        "Lateral weights take over what neighbouring pixels agree on, at a tenth of the learning rate; the hidden "
        "units are free for the shapes.",
    ),
    Preset(
        "equivalent",
        "Gaussians for lateral weights",
        "Can Gaussian units stand for weights between pixels?",
        LearningPlan(
            data="digits",
            kind="gaussian_rbm",
            hidden=64,
            method="sgd",
            learning_rate=0.05,
            lanes=(learner("pcd", sweeps=3),),
        ),
        "A Gaussian unit for each pixel takes over what neighbouring pixels agree on. All units of a layer are drawn "
        "at once, where an SRBM's pixels follow one another: the paper learns ten times as fast on a graphics card. "
        "Where many chains keep a processor busy anyway, three such sweeps take longer than the one of the SRBM. "
        "Choose *srbm* with one sweep, or *rbm*, and compare the log-likelihood at the same seconds; reproduce srbm "
        "does so for all three.",
    ),
    Preset(
        "ising",
        "Ising model of zeros",
        "Can pairs of pixels alone say what a zero is?",
        LearningPlan(
            data="digits:labels=0",
            kind="ising",
            batch=0,
            learning_rate=0.01,
            start="zero",
            lanes=(learner("pmp", sweeps=50), learner("pcd", sweeps=10)),
        ),
        "A fully connected Ising model matches all means and pairs (section 5.3 of the paper, on small zeros).",
    ),
)
