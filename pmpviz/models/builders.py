"""Builders of Ising models, and all builders: a size and a few knobs in, the model in its 0/1 form out.

All knobs are in spin form, log p(s) = sum_edges J_ij s_i s_j + sum_i h_i s_i over s in {-1, 1}: J counts once per
edge, J > 0 is ferromagnetic. The perturb-and-max-product paper writes a symmetric W and counts each edge twice, so
its theta = W_ij is J / 2: `theta` may be given instead of `J` (J = 2 theta). Its bias enters as b's, so h = b.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from pmpviz.models import topologies
from pmpviz.models.builder import (
    COUPLING_STREAM,
    FIELD_STREAM,
    GRAPH_STREAM,
    SEED,
    Builder,
    Values,
    generator,
    periodic,
    strengths,
)
from pmpviz.models.couplings import DenseCouplings, Shape, ShiftCouplings, SparseCouplings, shift_colouring
from pmpviz.models.ising import Ising, spin_to_binary
from pmpviz.models.rbm import RBM, SRBM
from pmpviz.models.segmentation import SEGMENTATION, drawn_scene, log_odds, scene_couplings
from pmpviz.models.state_builders import STATE_BUILDERS
from pmpviz.models.text.skip_chain import ANNOUNCEMENT
from pmpviz.plugins import Registry
from pmpviz.types import InputError, Param

MAX_DENSE = 1 << 12
# Of a drawn picture, every pixel of which is looked up at 16 points.
MAX_PIXELS = 1 << 16
# Weights between the layers: the product of the three sides.
MAX_LAYER_PAIRS = 1 << 21

CRITICAL_SQUARE = math.log(1 + math.sqrt(2)) / 2
CRITICAL_TRIANGULAR = math.log(3) / 4
CRITICAL_HONEYCOMB = math.log(2 + math.sqrt(3)) / 2
CRITICAL_CUBIC = 0.2216546


def _fields(values: Values, n: int) -> Float[np.ndarray, " n"]:
    """h of each site in float64: none, the same everywhere, uniform on [-h, h], or on the first site alone."""
    kind, strength = values["field"], values["h"]
    if kind == "random":
        return generator(values, FIELD_STREAM).uniform(-abs(strength), abs(strength), n)
    h = np.zeros(n)
    if kind == "uniform":
        h[:] = strength
    elif kind == "first":
        h[0] = strength
    return h


def _lattice(kind: str) -> Callable[[Shape, Values], Ising]:
    def make(shape: Shape, values: Values) -> Ising:
        shifts, present = topologies.lattice(kind, shape, values["periodic"])
        if values["couplings"] == "frustrated":
            J = _villain(shape, values)
        else:
            J = strengths(values, present.shape)
        return lattice_model(shifts, present, J, _fields(values, math.prod(shape)))

    return make


def _villain(shape: Shape, values: Values) -> Float[np.ndarray, "2 h w"]:
    """Column bonds of every second column reversed: the four bonds of each plaquette multiply to -1 (Villain 1977)."""
    if values["periodic"] and shape[1] % 2:
        raise InputError("frustrated couplings need an even width on a torus; give one or periodic=false")
    J = np.full((2, *shape), float(values["J"]))
    J[1, :, 1::2] *= -1
    return J


def lattice_model(
    shifts: tuple[Shape, ...],
    present: np.ndarray,
    J: Float[np.ndarray, "d *shape"],
    h: Float[np.ndarray, " n"],
) -> Ising:
    """The 0/1 form of a spin lattice: w = 4 J, b_i = 2 h_i - 2 sum_j J_ij, constant sum J - sum h (float64)."""
    shape = present.shape[1:]
    J = np.where(present, J, 0.0)
    axes = tuple(range(len(shape)))
    load = sum(plane + np.roll(plane, shift, axes) for plane, shift in zip(J, shifts, strict=True))
    couplings = ShiftCouplings((4 * J).astype(np.float32), shape, shifts)
    colour = shift_colouring(shifts, present)
    return Ising.of(2 * h - 2 * np.reshape(load, -1), couplings, float(J.sum() - h.sum()), colour)


def dense_model(J: Float[np.ndarray, "n n"], h: Float[np.ndarray, " n"]) -> Ising:
    """The 0/1 form of a spin model on the complete graph; only the upper triangle of J is read."""
    J = np.triu(J, 1)
    J = J + J.T
    constant = float(J.sum() / 2 - h.sum())
    couplings = DenseCouplings((4 * J).astype(np.float32))
    return Ising.of(2 * h - 2 * J.sum(1), couplings, constant, np.arange(len(h)))


def _complete(size: Shape, values: Values) -> Ising:
    (n,) = size
    if values["couplings"] == "sk":
        rng = generator(values, COUPLING_STREAM)
        J = values["sigma"] / math.sqrt(n) * rng.standard_normal((n, n))
    else:
        J = strengths(values, (n, n))
    return dense_model(J, _fields(values, n))


def _clique(size: Shape, values: Values) -> Ising:
    (n,) = size
    theta = values["theta"]
    J = generator(values, COUPLING_STREAM).uniform(-theta, theta, (n, n))
    return dense_model(J, generator(values, FIELD_STREAM).uniform(-1, 1, n))


def _graph(values: Values, n: int, i: np.ndarray, j: np.ndarray) -> Ising:
    return Ising.from_spin(_fields(values, n), i, j, strengths(values, (len(i),)))


def _erdos_renyi(size: Shape, values: Values) -> Ising:
    rng = generator(values, GRAPH_STREAM)
    return _graph(values, size[0], *topologies.erdos_renyi(rng, size[0], values["degree"]))


def _random_regular(size: Shape, values: Values) -> Ising:
    rng = generator(values, GRAPH_STREAM)
    return _graph(values, size[0], *topologies.random_regular(rng, size[0], values["degree"]))


def _tree(size: Shape, values: Values) -> Ising:
    parent, child, depth = topologies.tree(size[0], values["branching"])
    J = strengths(values, (len(child),))
    bias, w, constant = spin_to_binary(_fields(values, size[0]), parent, child, J)
    return Ising.of(bias, SparseCouplings.from_edges(size[0], parent, child, w), constant, depth % 2)


def _knobs(
    J: float,
    *own: Param,
    kinds: tuple[str, ...] = ("uniform", "glass", "gaussian"),
    kind: str = "uniform",
    sigma: float = 1.0,
    field: str = "none",
) -> tuple[Param, ...]:
    """The knobs that all builders share, with this builder's own between the couplings and the seed."""
    return (
        Param("couplings", "Couplings", 0, 0, kind, "choice", _KINDS_HELP, choices=kinds),
        Param("J", "Coupling J", -10, 10, J, help="Per edge, over spins; positive aligns. Or theta = J/2."),
        Param("sigma", "Coupling spread", 0, 10, sigma, help="Standard deviation of J (sk: of J times sqrt n)."),
        Param("field", "Field", 0, 0, field, "choice", _FIELD_HELP, choices=("none", "uniform", "random", "first")),
        Param("h", "Field strength h", -10, 10, 0.1, help="Over spins: log-odds of 2h on a free site."),
        *own,
        SEED,
    )


_KINDS_HELP = (
    "uniform: J on every edge; glass: +J or -J at random; gaussian: normal with spread sigma; "
    "frustrated: no plaquette can be satisfied (Villain); sk: normal with spread sigma / sqrt n."
)
_FIELD_HELP = "uniform: h on every site; random: uniform on -h to h; first: h on the first site only."
_PERIODIC = periodic(True, "Opposite borders are joined (a torus).")
_OPEN = periodic(False, "The ends are joined (a ring).")


def _layers(shape: Shape, values: Values) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(weight[hidden, visible], visible bias, hidden bias) in 0/1 form."""
    height, width, hidden = shape
    strength = float(values["strength"])
    if values["pattern"] == "random":
        rng = generator(values, COUPLING_STREAM)
        weight = strength * rng.standard_normal((hidden, height * width))
        return weight, -weight.sum(0) / 2, -weight.sum(1) / 2
    bars = np.concatenate([np.repeat(np.eye(height), width, 1), np.tile(np.eye(width), (1, height))])
    # Rows and columns share a pixel, which draws them together; holding back all other pixels outweighs that, or all
    # units would be on at once.
    weight = strength * np.resize(bars - (1 - bars) / (height + width), (hidden, height * width))
    visible_bias = np.full(height * width, -strength / 2)
    return weight, visible_bias, -_gains(weight, visible_bias)


def _gains(weight: np.ndarray, visible_bias: np.ndarray) -> np.ndarray:
    """What each hidden unit alone adds to the log of the sum over the visible layer: with minus this as its bias, a
    single unit is on as often as none."""
    return (np.logaddexp(0, visible_bias + weight) - np.logaddexp(0, visible_bias)).sum(1)


def _biased(shape: Shape, values: Values) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The layers, with a random number on each unit's bias."""
    weight, *biases = _layers(shape, values)
    most = values["bias"]
    if not most:
        return weight, *biases
    height, width, hidden = shape
    more = generator(values, FIELD_STREAM).uniform(-most, most, height * width + hidden)
    return weight, biases[0] + more[: height * width], biases[1] + more[height * width :]


def _rbm(shape: Shape, values: Values) -> RBM:
    return RBM.of_layers(*_biased(shape, values))


def _srbm(shape: Shape, values: Values) -> SRBM:
    height, width, _ = shape
    weight, visible_bias, hidden_bias = _biased(shape, values)
    site = np.arange(height * width).reshape(height, width)
    lateral = np.zeros((height * width,) * 2)
    for one, other in ((site[:, :-1], site[:, 1:]), (site[:-1], site[1:])):
        lateral[one.ravel(), other.ravel()] = lateral[other.ravel(), one.ravel()] = values["lateral"]
    return SRBM.of_layers(weight, lateral, visible_bias - lateral.sum(1) / 2, hidden_bias)


def _segmentation(shape: Shape, values: Values) -> Ising:
    scene = drawn_scene(shape, values["noise"], values["seed"])
    field = values["trust"] * log_odds(scene, values["noise"]) / 2
    return lattice_model(*scene_couplings(scene, values), field.reshape(-1))


_LAYER_KNOBS = (
    Param("pattern", "Weights", 0, 1, "bars", "choice", "What the hidden units stand for.", choices=("bars", "random")),
    Param("strength", "Strength", 0, 16, 4.0, help="0/1 weight of a bar's pixels, or the random weights' deviation."),
    Param("bias", "Random biases", 0, 16, 0.0, help="Added to every unit's log-odds: uniform on minus this to this."),
    SEED,
)

BUILDERS: Registry[Builder] = Registry(
    "pmpviz.models",
    (
        Builder(
            "square",
            "Square lattice",
            "Four neighbours a site; by default at the critical temperature of Onsager's solution.",
            ("height", "width"),
            (64, 64),
            _knobs(CRITICAL_SQUARE, _PERIODIC, kinds=("uniform", "glass", "gaussian", "frustrated")),
            _lattice("square"),
        ),
        Builder(
            "triangular",
            "Triangular lattice",
            "Six neighbours a site; J < 0 frustrates every triangle.",
            ("height", "width"),
            (48, 48),
            _knobs(CRITICAL_TRIANGULAR, _PERIODIC),
            _lattice("triangular"),
        ),
        Builder(
            "honeycomb",
            "Honeycomb lattice",
            "Three neighbours a site, laid out as a brick wall.",
            ("height", "width"),
            (48, 48),
            _knobs(CRITICAL_HONEYCOMB, _PERIODIC),
            _lattice("honeycomb"),
        ),
        Builder(
            "cubic",
            "Cubic lattice",
            "Six neighbours a site in three dimensions.",
            ("depth", "height", "width"),
            (16, 16, 16),
            _knobs(CRITICAL_CUBIC, _PERIODIC),
            _lattice("cubic"),
        ),
        Builder(
            "chain",
            "Chain",
            "A line or a ring: exactly solvable, and hard for Gibbs where the coupling is strong.",
            ("sites",),
            (64,),
            _knobs(1.0, _OPEN),
            _lattice("chain"),
        ),
        Builder(
            "tree",
            "Balanced tree",
            "A root with its children, level by level: messages are exact here.",
            ("sites",),
            (31,),
            _knobs(0.5, Param("branching", "Children", 1, 64, 2, "int", "Children of each site.")),
            _tree,
        ),
        Builder(
            "complete",
            "Complete graph",
            "Every pair interacts; by default the Sherrington-Kirkpatrick spin glass.",
            ("sites",),
            (64,),
            _knobs(0.1, kinds=("sk", "uniform", "glass", "gaussian"), kind="sk"),
            _complete,
            MAX_DENSE,
        ),
        Builder(
            "clique",
            "Random clique",
            "Fields uniform on -1 to 1, couplings uniform on -theta to theta (Frank-Wolfe paper, section 6).",
            ("sites",),
            (10,),
            (
                Param("theta", "Coupling range theta", 0, 16, 2.0, help="J is uniform on -theta to theta, per edge."),
                SEED,
            ),
            _clique,
            MAX_DENSE,
        ),
        Builder(
            "erdos_renyi",
            "Erdos-Renyi graph",
            "Random pairs interact; by default the perturb-and-max-product paper's model (Appendix B.1).",
            ("sites",),
            (200,),
            _knobs(
                0.5,
                Param("degree", "Mean degree", 0, 100, 4.0, help="Mean number of neighbours of a site."),
                kind="gaussian",
                field="uniform",
            ),
            _erdos_renyi,
            random_graph=True,
        ),
        Builder(
            "random_regular",
            "Random regular graph",
            "Every site has the same number of neighbours, chosen at random.",
            ("sites",),
            (200,),
            _knobs(0.5, Param("degree", "Degree", 1, 100, 3, "int", "Neighbours of each site.")),
            _random_regular,
            random_graph=True,
        ),
        Builder(
            "rbm",
            "Boltzmann machine (RBM)",
            "Restricted: an image layer and a hidden layer, hidden units that stand for bars, or random weights.",
            ("height", "width", "hidden"),
            (8, 8, 16),
            _LAYER_KNOBS,
            _rbm,
            MAX_LAYER_PAIRS,
        ),
        Builder(
            "srbm",
            "Semi-restricted (SRBM)",
            "An RBM whose neighbouring pixels interact as well.",
            ("height", "width", "hidden"),
            (8, 8, 16),
            (
                *_LAYER_KNOBS,
                Param("lateral", "Lateral coupling", -4, 4, 0.5, help="0/1 weight between neighbouring pixels."),
            ),
            _srbm,
            MAX_LAYER_PAIRS,
        ),
        ANNOUNCEMENT,
        Builder(
            "segmentation",
            "Segmentation",
            "Which pixels are the animal: log-odds of their colours, and couplings that edges of colour weaken.",
            ("height", "width"),
            (100, 120),
            SEGMENTATION,
            _segmentation,
            MAX_PIXELS,
        ),
        *STATE_BUILDERS,
    ),
    lambda thing: isinstance(thing, Builder),
)
