"""What the Frank-Wolfe page opens with: a plan, the question it answers, and what to notice in it."""

from __future__ import annotations

from pmpviz.capabilities.marginals.plan import InferencePlan, solver
from pmpviz.live.plan import Choice, Preset


def _walk(**knobs) -> Choice:
    return solver("barrier_frank_wolfe", **knobs)


_VARIANTS = (
    _walk(rho_updates=0),
    _walk(rho_updates=0, contraction="fixed", delta=1e-4),
    _walk(rho_updates=0, contraction="none"),
)

# Each spin with a field of its own: without any, all marginals are 1/2 by symmetry, and teach nothing.
_TRIANGLE = "complete:3,J=-1,field=random,h=1"
_GLASS = "periodic=false,couplings=gaussian,sigma=2,field=random,h=1"

INFERENCE: tuple[Preset, ...] = (
    Preset(
        "edge",
        "One edge",
        "Can marginals be found by asking for best configurations?",
        InferencePlan("chain:2,J=0.5,periodic=false,field=random,h=0.6", lanes=(_walk(tolerance=0.001),)),
        "Two variables, four configurations: the marginal polytope, all that averages of configurations can be, is a "
        "tetrahedron. Each MAP call names one of its corners, and μ becomes an average of those named so far. On a "
        "tree the objective is exact: its maximum is log Z itself, and lies at the exact marginals.",
        0.5,
    ),
    Preset(
        "triangle",
        "Triangle",
        "How does a walk between configurations become marginals?",
        InferencePlan(_TRIANGLE, lanes=(_walk(tolerance=0.001, rho_updates=0),)),
        "Every MAP call names a corner of the tetrahedron, and μ moves towards it; the gap says how far the objective "
        "can still rise. Its end is an upper bound of log Z, and the marginals are near, not exact: without fields "
        "(`complete:3,J=-1`) they are 1/2 by symmetry, exactly, and the bound is still above. Three spins that all "
        "want to differ cannot: the corner where all three correlations are −1 belongs to the local polytope's cube, "
        "and to no distribution.",
        1.0,
    ),
    Preset(
        "cube",
        "Two polytopes",
        "What does a relaxation allow that no distribution has?",
        InferencePlan(
            _TRIANGLE,
            lanes=(_walk(tolerance=0.01), _walk(tolerance=0.01, polytope="local"), solver("trbp")),
        ),
        "Over the local polytope the walk leaves the tetrahedron: all three edges are anticorrelated more than any "
        "distribution can be, and the bound on log Z is looser. Tree-reweighted belief propagation ends near the same "
        "place by messages, with every ρ as it was.",
        1.0,
        lead="An average of real configurations stays in the tetrahedron. A relaxation asks only that neighbours "
        "agree: what it finds may lie outside, where no distribution is, and its bound on log Z is looser.",
    ),
    Preset(
        "grid",
        "4x4 glass",
        "How few MAP calls do good marginals take?",
        InferencePlan(f"square:4x4,{_GLASS}", lanes=(_walk(),)),
        "Most of the work is done by a dozen configurations. After the gap is small, ρ is moved towards better "
        "spanning trees, and the bound falls further.",
        5.0,
    ),
    Preset(
        "stall",
        "The barrier",
        "What does the barrier do?",
        InferencePlan("square:5x5,periodic=false,couplings=gaussian,sigma=1,field=random,h=2,seed=1", lanes=_VARIANTS),
        "All lanes walk in the same polytope, and average all answers found so far anew after each MAP call (a "
        "correction). The gradient is infinite on the polytope's faces, where probabilities are 0 or 1: without a "
        "barrier corrections lead there, and MAP calls bring little. The adaptive barrier keeps off the faces as long "
        "as that helps. Without corrections nothing leads there: plain Frank-Wolfe takes 32 MAP calls here.",
        5.0,
        lead="Where a probability is 0 or 1 the objective is infinitely steep, and steps from there go astray. A "
        "barrier, δ, keeps off: a fixed one, or one that shrinks as the walk gets on (adaptive). Who needs the fewest "
        "MAP calls to a small gap, the most that is still to gain, wins.",
    ),
    Preset(
        "clique",
        "Clique",
        "Which bound on log Z is tighter, by MAP calls or by messages?",
        InferencePlan("clique:10,theta=3", lanes=(_walk(), solver("trbp"), solver("bp"))),
        "Strong random couplings among ten variables: message passing over the local polytope is far off, and its "
        "bound is loose by tens of nats; a few dozen MAP calls are nearly exact.",
        5.0,
        lead="log Z, the log of all states' added weights, is hard to know. Each method proves it to be at most some "
        "number, the lower the better: the walk (FW) averages real configurations, tree-reweighted messages (TRBP) "
        "make neighbours agree; belief propagation (BP) proves nothing.",
    ),
    Preset(
        "rbm",
        "RBM",
        "Do marginals of a Boltzmann machine come within reach?",
        InferencePlan("rbm:4x4x12,pattern=random,strength=1,bias=2", lanes=(_walk(), solver("trbp"))),
        "Every unit has a bias of its own: without any, all marginals are 1/2 by symmetry. The exact oracle lists the "
        "hidden layer. What is left after the gap closes is the tree-reweighted entropy's "
        "error, not the optimiser's.",
        5.0,
    ),
    Preset(
        "ratios",
        "Ratios of maxima",
        "Which marginals come nearer: those of counts, or of expected maxima?",
        InferencePlan(
            "square:3x4,periodic=false,couplings=gaussian,sigma=1.5,field=random,h=1",
            lanes=(
                solver("perturb_and_map", perturbations=5000),
                solver("expected_maxima", perturbations=5000),
            ),
        ),
        "Two readings of the same perturbed maxima. Counting the states of the maxima keeps a bias however many there "
        "are; clamping each variable to each state and comparing the mean maxima is mostly nearer, at a MAP call a "
        "state. On larger spin glasses it is alike (reproduce hmj-spin-glass, up to 8 x 8).",
        5.0,
    ),
    Preset(
        "tree-theorem",
        "Copies on a tree",
        "What do copies of the variables do for perturbed maxima?",
        InferencePlan(
            "tree:15,couplings=gaussian,sigma=1,field=random,h=1",
            lanes=tuple(
                solver("inflated_maxima", inflation="tree", copies=copies, perturbations=5000) for copies in (1, 8, 64)
            ),
        ),
        "Gumbel noise on every pair of states of every edge, and 1, 8 or 64 copies of each variable behind its "
        "neighbour. The mean maximum falls to log Z with the copies, and every edge's frequencies at the maximum tend "
        "to its exact marginal: Hazan, Maji and Jaakkola's theorem for trees (reproduce hmj-theorems). Show the error "
        "of the marginals: what noise alone leaves fades with the steps, what one copy misses stays.",
        5.0,
    ),
    Preset(
        "inflated",
        "Inflated graphs",
        "Do copies of all variables tighten a bound?",
        InferencePlan(
            "square:3x3,periodic=false,couplings=gaussian,sigma=1,field=random,h=1",
            lanes=(
                solver("inflated_maxima", copies=1, perturbations=5000),
                solver("inflated_maxima", copies=16, perturbations=5000),
                solver("inflated_maxima", inflation="all", copies=2, perturbations=5000),
                solver("inflated_maxima", inflation="all", copies=12, perturbations=5000),
            ),
        ),
        "The mean perturbed maximum of one copy bounds log Z from above. Copies of every second pixel, each joined to "
        "the one copy of its neighbours, leave it a bound, and lower it. Copies of all pixels, all joined, fall "
        "through log Z and on, to naive mean field's value below it: an estimate that two copies happen to make good "
        "(reproduce hj-inflated).",
        5.0,
    ),
    Preset(
        "error-bars",
        "Error bars of log Z",
        "Does an error bar of log Z hold what it promises?",
        InferencePlan(
            "clique:10,theta=0.15",
            lanes=(solver("gaussian_log_z"), solver("gaussian_log_z", estimator="mirrored")),
        ),
        "Two estimates by the same draws, each with a bar that shrinks as they grow in number. On fifty weak models "
        "and fifty stronger ones bridge sampling's bar held the exact value in 96 and 100 of 100 (reproduce "
        "dhmc-log-z). The mirrored one's, as Zhang and others print it, in 0 and 60: it averages over the very draws "
        "that its Gaussian was fitted to, is too low, and its bar does not know. *Race another* brings Chib's "
        "estimate.",
        2.0,
    ),
    Preset(
        "segmentation",
        "Segmentation",
        "Which pixels are the animal, and where is that uncertain?",
        InferencePlan(
            "segmentation:100x120",
            lanes=(
                _walk(oracle="qpbo", local_search=True, local_steps=3, tolerance=30.0, rho_updates=4),
                solver("trbp", tolerance=1e-3),
            ),
        ),
        "12 000 pixels: every MAP call is a minimum cut of a graph with two nodes a pixel, and μ is uncertain where "
        "the configurations found differ: along the outline, at legs and tail. Messages (TRBP) find much the same; the "
        "single MAP configuration below says nothing of doubt (reproduce bfw-segmentation).",
        0.0,
    ),
)


__all__ = ["INFERENCE"]
