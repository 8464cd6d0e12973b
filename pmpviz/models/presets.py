"""Models worth opening first: each a spec's text, an inverse temperature and the one thing to see there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """A named model: `spec` is read by `parse_model_spec`, `beta` multiplies its log-weight."""

    id: str
    label: str
    spec: str
    beta: float
    lesson: str


PRESETS: tuple[Preset, ...] = (
    Preset(
        "critical",
        "Critical lattice",
        "square:64x64",
        1.0,
        "At the critical temperature clusters of every size appear, and local samplers slow down.",
    ),
    Preset(
        "hot",
        "Hot lattice",
        "square:64x64",
        0.5,
        "Well above the critical temperature sites hardly agree, and every sampler mixes in a few sweeps.",
    ),
    Preset(
        "cold",
        "Cold lattice",
        "square:64x64",
        1.5,
        "Below the critical temperature single-site samplers fall into stripes or one of two phases and stay.",
    ),
    Preset(
        "paper_lattice",
        "Paper's lattice",
        "square:25x25,theta=-0.1,periodic=true",
        1.0,
        "Neighbours prefer to differ, but an odd torus admits no chequerboard.",
    ),
    Preset(
        "paper_graph",
        "Paper's random graph",
        "erdos_renyi:200",
        1.0,
        "On this sparse spin glass with a weak field the elimination width rules exact answers out.",
    ),
    Preset(
        "paper_four",
        "Four spins",
        "complete:4,theta=0.25",
        1.0,
        "Small enough to compare every sampler's distribution with the exact one, state by state.",
    ),
    Preset(
        "glass",
        "±J glass",
        "square:32x32,couplings=glass,J=1",
        1.0,
        "Random signs make many valleys of nearly equal energy, and walls between them hold samplers.",
    ),
    Preset(
        "villain",
        "Fully frustrated",
        "square:32x32,couplings=frustrated,J=1",
        1.0,
        "In every square of four couplings at least one cannot be met, a quarter of all: no order survives.",
    ),
    Preset(
        "strong_chain",
        "Strongly coupled chain",
        "chain:64,J=3,field=first,h=1",
        1.0,
        "One end's field must be heard by the other: messages cross in 63 steps, a flipped island costs e^-12.",
    ),
    Preset(
        "triangular",
        "Triangular antiferromagnet",
        "triangular:24x24,J=-1",
        1.0,
        "Three spins cannot all differ from one another: disorder stays down to zero temperature.",
    ),
    Preset(
        "honeycomb",
        "Honeycomb lattice",
        "honeycomb:48x48",
        1.0,
        "With three neighbours instead of four, order needs a coupling of .658 instead of .441.",
    ),
    Preset(
        "cubic",
        "Cubic lattice",
        "cubic:16x16x16",
        1.0,
        "In three dimensions the critical coupling, .2217, is known from simulation alone.",
    ),
    Preset(
        "sk",
        "Sherrington-Kirkpatrick",
        "complete:64",
        1.5,
        "Every pair interacts with a random sign; below the glass temperature valleys form.",
    ),
    Preset(
        "regular",
        "Random regular graph",
        "random_regular:200,couplings=glass,J=1",
        1.0,
        "Locally a tree, globally full of long loops: where belief propagation is good until it is not.",
    ),
    Preset(
        "tree",
        "Balanced tree",
        "tree:31,J=1",
        1.0,
        "Without loops max-product finds the exact optimum in as many steps as the tree is wide.",
    ),
    Preset(
        "clique",
        "Ten-node clique, θ = 2",
        "clique:10,theta=2",
        1.0,
        "Strong couplings of both signs on every pair: small enough for the exact answer beside each sampler.",
    ),
    Preset(
        "bars",
        "RBM of bars",
        "rbm:8x8x16",
        1.0,
        "Each hidden unit switches a row or a column on: block Gibbs moves one layer at a time.",
    ),
)
