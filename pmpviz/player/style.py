"""One colour, dash and marker an algorithm, in every plot, lane header and table (Okabe-Ito set)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Style:
    """Colour (hex), dash (`solid`, `dash`, `dot`, `dashdot`, `longdash`) and marker of an algorithm."""

    colour: str
    dash: str
    marker: str


STYLES = {
    "pmp": Style("#D55E00", "solid", "circle"),
    "gibbs": Style("#0072B2", "dash", "square"),
    "colour_gibbs": Style("#56B4E9", "dash", "triangle"),
    "gwg": Style("#009E73", "dot", "diamond"),
    "swendsen_wang": Style("#CC79A7", "dashdot", "cross"),
    "exact": Style("#8A8A86", "solid", "star"),
    # Exact ones in the colour of the text, as good as grey on either ground; noise with any solver is PMP's relative.
    "gumbel_table": Style("#8A8A86", "dot", "diamond"),
    "unbiased": Style("#8A8A86", "dashdot", "square"),
    "perturb_and_map": Style("#5B6C8F", "longdash", "triangle"),
    # Learners: those that share a sampler's name share its style.
    "persistent_pmp": Style("#D55E00", "dot", "diamond"),
    "gibbs_reset": Style("#0072B2", "dash", "square"),
    "pcd": Style("#56B4E9", "solid", "triangle"),
    "gwg_reset": Style("#009E73", "dash", "diamond"),
    "descent": Style("#B88A00", "longdash", "cross"),
    "pseudo_likelihood": Style("#CC79A7", "dashdot", "square"),
    "perturb_lp": Style("#8A8A86", "dash", "square"),
    # MAP solvers: max-product as PMP, which runs it, exact ones as exact, relaxations in greys with open markers.
    "max_product": Style("#D55E00", "solid", "circle"),
    "enumeration": Style("#8A8A86", "solid", "star"),
    "elimination": Style("#8A8A86", "solid", "star"),
    "bipartite": Style("#8A8A86", "solid", "star"),
    "linear_program": Style("#6F6F6B", "dash", "square"),
    "mplp": Style("#A8A8A4", "dot", "diamond"),
    "trws": Style("#5A5A57", "dashdot", "triangle"),
    "qpbo": Style("#B9B9B5", "longdash", "square"),
    "graph_cut": Style("#7D7D79", "dot", "square"),
    "icm": Style("#0072B2", "dash", "square"),
    "multi_start": Style("#56B4E9", "dash", "triangle"),
    "annealing": Style("#009E73", "dot", "diamond"),
    "best_of": Style("#CC79A7", "dashdot", "cross"),
    # Marginal inference.
    "barrier_frank_wolfe": Style("#7B4FB5", "solid", "circle"),
    "trbp": Style("#1B8A8A", "dash", "square"),
    "bp": Style("#A0522D", "dot", "triangle"),
    "expected_maxima": Style("#9C6ADE", "dashdot", "diamond"),
}
# Lanes of one algorithm with different knobs: the first has the algorithm's style, the others these.
VARIANTS = (
    Style("#D1457B", "dash", "square"),
    Style("#3D85C6", "dot", "diamond"),
    Style("#7F8C1A", "dashdot", "triangle"),
)
OTHER = Style("#8A8A86", "longdash", "circle")
GUARANTEES = {
    "invariant": "invariant: leaves the target distribution unchanged",
    "exact": "exact: every draw has the target distribution",
    "bound": "bound: what it computes bounds the truth",
    "approximate": "approximate: its distribution is not the target's, even in the limit",
}


def style_of(algorithm: str) -> Style:
    """Style of an algorithm id."""
    return STYLES.get(algorithm, OTHER)


def styles_of(algorithms: list[str]) -> list[Style]:
    """Styles of lanes that may run one algorithm several times: every lane has one of its own."""
    found: list[Style] = []
    for place, algorithm in enumerate(algorithms):
        before = algorithms[:place].count(algorithm)
        found.append(VARIANTS[(before - 1) % len(VARIANTS)] if before else style_of(algorithm))
    return found
