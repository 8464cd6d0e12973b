"""Tiny factor graphs by name, on which every message can be watched: `triangle:J=1.0` is parsed, never evaluated."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.factors import AndFactor, CardinalityFactor, Factor, OrFactor, TableFactor
from pmpviz.types import InputError, Param

MAX_TEXT = 300

Values = dict[str, Any]
# Places of the variables in the unit square, x to the right and y down.
Places = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class SmallGraph:
    """A family of tiny graphs; `positions` gives the variables' places in the unit square, x right and y down."""

    id: str
    label: str
    help: str
    params: tuple[Param, ...]
    make: Callable[..., FactorGraph]
    positions: Callable[..., Places]

    def build(self, **values: Any) -> FactorGraph:
        """The graph; knobs that are not given take their defaults. Raises InputError for bad ones."""
        return self.make(**self.resolve(values))

    def places(self, **values: Any) -> Places:
        """Where to draw the variables."""
        return self.positions(**self.resolve(values))

    def resolve(self, given: Mapping[str, Any]) -> Values:
        """All knobs, those given read and checked; raises InputError naming those that exist."""
        known = {p.name: p for p in self.params}
        for name in given:
            if name not in known:
                raise InputError(f"{self.id} has no parameter {name[:40]!r}; it has {', '.join(known) or 'none'}")
        return {name: p.parse(given[name]) if name in given else p.default for name, p in known.items()}


def parse_small_graph(text: str) -> tuple[SmallGraph, Values]:
    """(graph, all its knobs) of `id:name=value,...`; knobs may be left out. Raises InputError naming the choices."""
    if len(text) > MAX_TEXT:
        raise InputError(f"the graph's text has {len(text)} characters; give at most {MAX_TEXT}")
    id, _, rest = text.partition(":")
    graph = small_graph(id.strip())
    given: Values = {}
    for part in filter(None, map(str.strip, rest.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            known = ", ".join(p.name for p in graph.params) or "none"
            raise InputError(f"{part[:40]!r} is no name=value pair; {graph.id} takes {known}")
        if name in given:
            raise InputError(f"{name[:40]} is given twice; give it once")
        given[name] = value
    return graph, graph.resolve(given)


def small_graph(id: str) -> SmallGraph:
    """The graph of this id; raises InputError naming those that exist."""
    for graph in SMALL_GRAPHS:
        if graph.id == id:
            return graph
    raise InputError(f"there is no graph {id[:40]!r}; choose one of {', '.join(g.id for g in SMALL_GRAPHS)}")


def build_small_graph(text: str) -> FactorGraph:
    """The factor graph that a text describes; raises InputError as `parse_small_graph` does."""
    graph, values = parse_small_graph(text)
    return graph.make(**values)


def format_small_graph(graph: SmallGraph, values: Mapping[str, Any] | None = None) -> str:
    """The shortest text for this graph: the knobs that differ from their defaults; equal graphs have equal texts."""
    full = graph.resolve(values or {})
    changed = [f"{p.name}={full[p.name]}" for p in graph.params if full[p.name] != p.default]
    return f"{graph.id}:{','.join(changed)}" if changed else graph.id


def _spins(n: int, edges, couplings, fields) -> FactorGraph:
    """log_weight = sum h_i s_i + sum J_ij s_i s_j over s = 2 x - 1, in the spin form: zero messages favour no side."""
    unary = np.outer(fields, [-1.0, 1.0])
    table = np.array([[1.0, -1.0], [-1.0, 1.0]])
    factors = [TableFactor(edge, J * table) for edge, J in zip(edges, couplings, strict=True)]
    return FactorGraph.of((2,) * n, unary, factors)


def _fields(n: int, h: float, seed: int) -> Float[np.ndarray, " n"]:
    """Fields uniform on -h to h."""
    return np.random.default_rng(seed).uniform(-1.0, 1.0, n) * h


def _even(n: int, J: float, h: float, seed: int, edges) -> FactorGraph:
    return _spins(n, edges, [J] * len(edges), _fields(n, h, seed))


def _chain(length: int, J: float, h: float, seed: int) -> FactorGraph:
    return _even(length, J, h, seed, [(i, i + 1) for i in range(length - 1)])


def _tree(J: float, h: float, seed: int) -> FactorGraph:
    return _even(7, J, h, seed, [((i - 1) // 2, i) for i in range(1, 7)])


def _frustrated_cycle(length: int, J: float, h: float) -> FactorGraph:
    """J on all edges but the last, -J there; fields h and h / 2 on two neighbours, 0 elsewhere."""
    edges = [(i, (i + 1) % length) for i in range(length)]
    fields = np.zeros(length)
    fields[:2] = h, h / 2
    return _spins(length, edges, [J] * (length - 1) + [-J], fields)


def _grid(height: int, width: int) -> list[tuple[int, int]]:
    right = [(y * width + x, y * width + x + 1) for y in range(height) for x in range(width - 1)]
    down = [(y * width + x, (y + 1) * width + x) for y in range(height - 1) for x in range(width)]
    return right + down


def _lattice(J: float, h: float, seed: int) -> FactorGraph:
    return _even(9, J, h, seed, _grid(3, 3))


def _potts(J: float, h: float, seed: int) -> FactorGraph:
    """J where two neighbours share one of three colours; each variable has its own taste for the colours."""
    unary = np.random.default_rng(seed).uniform(-h, h, (6, 3))
    return FactorGraph.of((3,) * 6, unary, [TableFactor(edge, J * np.eye(3)) for edge in _grid(2, 3)])


def _log_odds(p: float) -> float:
    return math.log(p / (1.0 - p))


def _or(p: float, tops: int) -> FactorGraph:
    unary = [[0.0, _log_odds(p)]] * tops + [[0.0, 0.0]]
    return FactorGraph.of((2,) * (tops + 1), unary, [OrFactor(tuple(range(tops)), tops)])


def _and_or(p: float, pixel: float) -> FactorGraph:
    """Two locations s (0, 1) and two features w (2, 3): x = s0 w0 or s1 w1, as one pixel of a binary convolution."""
    factors: list[Factor] = [AndFactor((0, 2), 4), AndFactor((1, 3), 5), OrFactor((4, 5), 6)]
    own = _log_odds(p)
    unary = [[0.0, own], [0.0, 0.5 * own], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, pixel]]
    return FactorGraph.of((2,) * 7, unary, factors)


def _cardinality(low: int, high: int, h: float, seed: int) -> FactorGraph:
    unary = np.outer(_fields(4, h, seed), [0.0, 1.0])
    return FactorGraph.of((2,) * 4, unary, [CardinalityFactor((0, 1, 2, 3), low, high)])


def _wrong_model(theta: float, h: float) -> FactorGraph:
    """log p(s) = theta sum_{i<j} s_i s_j over four spins (perturb-and-max-product, section 5.1), and h s_0."""
    edges = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    return _spins(4, edges, [theta] * 6, [h, 0.0, 0.0, 0.0])


def _on_line(length: int, **_) -> Places:
    return tuple(((i + 0.5) / length, 0.5) for i in range(length))


def _on_circle(n: int) -> Places:
    turns = [math.tau * i / n - math.pi / 2 for i in range(n)]
    return tuple((0.5 + 0.4 * math.cos(t), 0.5 + 0.4 * math.sin(t)) for t in turns)


def _on_grid(height: int, width: int) -> Places:
    return tuple(((x + 0.5) / width, (y + 0.5) / height) for y in range(height) for x in range(width))


def _on_tree(**_) -> Places:
    rows = [(1 << depth, depth) for depth in range(3)]
    return tuple(((k + 0.5) / count, (depth + 0.5) / 3) for count, depth in rows for k in range(count))


def _under(tops: int, **_) -> Places:
    return (*(((i + 0.5) / tops, 0.2) for i in range(tops)), (0.5, 0.85))


def _on_square(**_) -> Places:
    return (0.15, 0.15), (0.85, 0.15), (0.85, 0.85), (0.15, 0.85)


_LAYERS: Places = ((0.15, 0.1), (0.85, 0.1), (0.4, 0.1), (0.6, 0.1), (0.275, 0.5), (0.725, 0.5), (0.5, 0.9))

_SEED = Param("seed", "Seed of the fields", 0, 2**31 - 1, 1, "int", "Which fields are drawn.", advanced=True)


def _coupling(default: float, low: float = -4.0) -> Param:
    return Param("J", "Coupling J", low, 4.0, default, help="Per edge, over spins; positive aligns.")


def _field(default: float, help: str = "Own fields are drawn from -h to h, over spins.") -> Param:
    return Param("h", "Field h", 0.0, 4.0, default, help=help)


_CYCLE = (
    _coupling(1.0, 0.0),
    _field(0.05, "Over spins: h on one variable, half of it on its neighbour, so that there is one best state."),
)

SMALL_GRAPHS: tuple[SmallGraph, ...] = (
    SmallGraph(
        "chain",
        "Chain",
        "Without loops: exact once every message has crossed.",
        (Param("length", "Length", 2, 16, 6, "int", "Variables."), _coupling(0.8), _field(0.6), _SEED),
        _chain,
        _on_line,
    ),
    SmallGraph(
        "tree",
        "Binary tree",
        "Seven variables without loops: two passes, from the leaves to the root and back, are exact.",
        (_coupling(0.8), _field(0.6), _SEED),
        _tree,
        _on_tree,
    ),
    SmallGraph(
        "triangle",
        "Frustrated triangle",
        "Two edges align, one opposes: no state pleases all three. Undamped max-product messages travel round for "
        "ever, damped ones come to rest.",
        _CYCLE,
        lambda **values: _frustrated_cycle(3, **values),
        lambda **_: _on_circle(3),
    ),
    SmallGraph(
        "cycle",
        "Frustrated 4-cycle",
        "Three edges align, one opposes: undamped max-product repeats itself every eight sweeps, damped it settles.",
        _CYCLE,
        lambda **values: _frustrated_cycle(4, **values),
        _on_square,
    ),
    SmallGraph(
        "lattice",
        "3 x 3 lattice",
        "Four small loops: messages settle, but beliefs are surer than they should be.",
        (_coupling(0.5), _field(0.4), _SEED),
        _lattice,
        lambda **_: _on_grid(3, 3),
    ),
    SmallGraph(
        "potts",
        "Potts, three colours",
        "Six variables of three colours on a 2 x 3 grid: a message is a row of three numbers.",
        (
            Param("J", "Coupling J", -4.0, 4.0, 1.0, help="Added where two neighbours share a colour."),
            _field(0.5, "Each variable's own log potentials of the colours are drawn from -h to h."),
            _SEED,
        ),
        _potts,
        lambda **_: _on_grid(2, 3),
    ),
    SmallGraph(
        "or_factor",
        "OR factor",
        "The bottom, the effect, is 1 if a top, a cause, is: hold it at 1, and one top besides, and watch the others.",
        (
            Param("tops", "Top variables", 1, 8, 3, "int", "Variables above the OR."),
            Param("p", "Prior of a top", 0.001, 0.999, 0.2, help="Probability that a top is 1, before all else."),
        ),
        _or,
        _under,
    ),
    SmallGraph(
        "and_or",
        "AND-OR",
        "A pixel of a binary convolution: it is on if a feature's pixel and its location are.",
        (
            Param("p", "Prior of a location", 0.001, 0.999, 0.2, help="The first's; the second's log-odds are half."),
            Param("pixel", "Evidence of the pixel", -10.0, 10.0, 3.0, help="Log-odds that the pixel was seen on."),
        ),
        _and_or,
        lambda **_: _LAYERS,
    ),
    SmallGraph(
        "cardinality",
        "Exactly 2 of 4",
        "A factor that counts: as many variables are 1 as it allows.",
        (
            Param("low", "At least", 0, 4, 2, "int", "Fewest ones allowed."),
            Param("high", "At most", 0, 4, 2, "int", "Most ones allowed."),
            Param("h", "Field h", 0.0, 4.0, 1.5, help="Log-odds of the variables are drawn from -h to h."),
            _SEED,
        ),
        _cardinality,
        _on_square,
    ),
    SmallGraph(
        "wrong_model",
        "Four nodes, all joined",
        "The model of perturb-and-max-product's section 5.1: Bethe's log Z is biased at every theta.",
        (
            Param("theta", "Coupling theta", -1.0, 1.0, 0.5, help="Of every pair, over spins."),
            Param("h", "Field h", 0.0, 1.0, 0.01, help="On the first spin: without it all messages stay 0."),
        ),
        _wrong_model,
        _on_square,
    ),
)

__all__ = [
    "SMALL_GRAPHS",
    "SmallGraph",
    "build_small_graph",
    "format_small_graph",
    "parse_small_graph",
    "small_graph",
]
