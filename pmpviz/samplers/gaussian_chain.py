"""Gaussians beside a chain: distant couplings become Gaussians, given which all sites are drawn as one chain."""

from __future__ import annotations

from jaxtyping import Array, Float, Int8

from pmpviz import numerals
from pmpviz.models.gaussian.chain import ChainRelaxation, beside_chain, relax_beside_chain
from pmpviz.samplers import _gaussian, _states
from pmpviz.samplers._gaussian import GaussianState, draw_gaussians
from pmpviz.types import Algorithm, Info, Spec, Style, Target, pytree

MOST_BESIDE = 1 << 18


def _why_not(target: Target) -> str | None:
    if refused := _states.why_not_binary(target, "Gaussians beside a chain"):
        return refused.replace("needs", "need", 1)
    if (beside := beside_chain(target.model)) > MOST_BESIDE:
        return (
            f"the model has {beside:,} couplings beside the chain of its sites; give one with at most {MOST_BESIDE:,}"
        )
    return None


SPEC = Spec(
    id="gaussian_chain",
    label="Gaussians beside a chain",
    kind="chain",
    guarantee="invariant",
    reversible=True,
    summary="Couplings beside the chain of the sites become Gaussians, one for each set of sites that interact alike; "
    "given them all sites are drawn at once, filtering forward and drawing backward.",
    paper="after Martens and Sutskever 2010; Sutton and McCallum 2004; Carter and Kohn 1994",
    tile=lambda model: 64,
    why_not=_why_not,
    style=Style("#7A5195", "dash", "diamond"),
    overlays=(_gaussian.FIELD,),
    short="Gaussians + chain",
)


@pytree
class GaussianChain(Algorithm):
    """z ~ N(B's, I), then s ~ p(s | z), a chain: p(s | z) prop. to exp(sum_i s_i field_i + sum_i w_i s_i s_{i+1}).

    B B' is the couplings beside the chain with their shift D, field_i = a_i - d_i / 2 + (B z)_i. Two blocks, each drawn
    from its own conditional law.
    """

    spec = SPEC

    def prepare(self, target: Target) -> ChainRelaxation:
        """The chain, and the relaxation of the rest."""
        return relax_beside_chain(target)

    def init_tile(self, keys: Array, target: Target, x0: Int8[Array, "t n"]) -> GaussianState:
        """Start at x0 with the clamped sites at their values, and draw the Gaussians."""
        return _gaussian.begin(keys, target, target.prepared.relaxation, x0)

    def step_tile(self, keys: Array, target: Target, state: GaussianState) -> tuple[GaussianState, Info]:
        """One sweep: the Gaussians, then the whole chain."""
        z = draw_gaussians(keys, target.prepared.relaxation, state.x)
        u = _gaussian.numbers(keys, target.n)
        return GaussianState(target.prepared.draw(target.evidence, z, u), z), {}

    def position_tile(self, target: Target, state: GaussianState) -> Int8[Array, "t n"]:
        """The chains' configurations."""
        return state.x.T

    def expected_tile(self, target: Target, state: GaussianState) -> Float[Array, "t n"]:
        """p(s_i = 1 | z), all other sites summed out."""
        return target.prepared.mean(target.evidence, state.z).T

    def init(self, key: Array, target: Target, x0: Int8[Array, " n"]) -> GaussianState:
        """Single-chain form: a tile of one."""
        return self.init_tile(key[None], target, x0[None])

    def step(self, key: Array, target: Target, state: GaussianState) -> tuple[GaussianState, Info]:
        """Single-chain form of `step_tile`."""
        return self.step_tile(key[None], target, state)

    def position(self, target: Target, state: GaussianState) -> Int8[Array, " n"]:
        """Single-chain form of `position_tile`."""
        return self.position_tile(target, state)[0]

    def expected(self, target: Target, state: GaussianState) -> Float[Array, " n"]:
        """Single-chain form of `expected_tile`."""
        return self.expected_tile(target, state)[0]

    def overlay(self, target: Target, state: GaussianState, name: str) -> Float[Array, " n"]:
        """The fields that the Gaussians give, of state 1 against 0."""
        return target.prepared.relaxation.field(state.z)[:, 0]

    def equation(self, target: Target) -> str:
        """Both conditionals."""
        beta = numerals.katex(float(target.beta))
        return (
            r"z \sim \mathcal N(B^\top s, I),\quad p(s \mid z) \propto \exp\Big(\sum_i s_i\big((Bz)_i + "
            rf"{beta}\,a_i - \tfrac{{d_i}}{{2}}\big) + {beta}\sum_i w_{{i,i+1}}\, s_i s_{{i+1}}\Big)"
        )
