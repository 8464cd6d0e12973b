"""Wolff's single-cluster sampling (1989) for binary pairwise models of any signs and fields, by a ghost spin."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pmpviz.samplers import _states, swendsen_wang
from pmpviz.samplers.swendsen_wang import ClusterState, SwendsenWang
from pmpviz.types import Info, Overlay, Spec, Style, Target, pytree

CLUSTERS = 8


def _why_not(target: Target) -> str | None:
    if refused := _states.why_not_binary(target, "Wolff's sampler"):
        return refused
    reason = swendsen_wang.SPEC.why_not(target)
    return None if reason is None else reason.replace("Swendsen-Wang", "Wolff's sampler")


SPEC = Spec(
    id="wolff",
    label="Wolff",
    kind="chain",
    guarantee="invariant",
    reversible=True,
    summary="Grows the cluster of one site at random, or of a ghost spin that stands for the fields, and turns it; "
    "large clusters are turned the most often.",
    paper="Wolff 1989; the ghost spin of Coniglio, de Liberto, Monroy and Peruggi 1989",
    metrics=("flips",),
    quanta=lambda model: CLUSTERS,
    update="cluster",
    updates_per_sweep=lambda model: CLUSTERS,
    tile=swendsen_wang.SPEC.tile,
    why_not=_why_not,
    style=Style("#8C4F9F", "dashdot", "triangle"),
    overlays=(Overlay("clusters", "labels"),),
)


@pytree
class Wolff(SwendsenWang):
    """The fields are bonds to a ghost spin that points up: p(bond) = 1 - exp(-2 |beta h_i|) where h_i s_i > 0, always
    where i is clamped. One of the n + 1 spins is drawn uniformly and its cluster turns; a cluster with the ghost turns
    relative to it, which is to say that all sites outside it turn.

    Eight clusters make a sweep. This is one cluster of those that Swendsen and Wang turn at random, chosen by its size.
    """

    spec = SPEC

    def step_tile(self, keys: Array, target: Target, state: ClusterState) -> tuple[ClusterState, Info]:
        """One cluster. `flips` is the share of sites that turned."""
        spin = 2.0 * state.x.astype(jnp.float32) - 1.0
        label = swendsen_wang._labels(swendsen_wang._bonds(keys, target, spin), spin.shape)
        turned = _turned(keys, target, spin, label)
        info = {"flips": turned.astype(jnp.float32).mean(1)}
        return ClusterState(state.x ^ turned.astype(jnp.int8), label), info

    def equation(self, target: Target) -> str:
        """Bonds between sites and to the ghost."""
        return (
            r"p(i \sim j) = 1 - e^{-\beta |w_{ij}|/2},\quad p(i \sim \text{ghost}) = 1 - e^{-2 \beta |h_i|},\quad "
            r"h_i = \tfrac{b_i}{2} + \textstyle\sum_j \tfrac{w_{ij}}{4}"
        )


def _to_ghost(chain_keys: Array, target: Target, spin: Float[Array, "t n"]) -> Bool[Array, "t n"]:
    """Which sites are bonded to the ghost."""
    model = target.model
    field = target.beta * (0.5 * model.bias + 0.25 * model.couplings.field(jnp.ones(model.n)))
    counter = jnp.uint32(model.couplings.bond_counters) + jnp.arange(model.n, dtype=jnp.uint32)
    u = swendsen_wang._numbers(chain_keys, counter)
    return _bonded(field, spin, u) | target.evidence.mask


def _bonded(field, spin, u):
    return (field * spin > 0) & (u < -jnp.expm1(-2.0 * jnp.abs(field)))


def _turned(chain_keys: Array, target: Target, spin: Float[Array, "t n"], label) -> Bool[Array, "t n"]:
    """Whether each site turns: it is in the cluster of the spin that was drawn, or, where that is the ghost's, not."""
    n = target.n
    bonded = swendsen_wang._sums(label, _to_ghost(chain_keys, target, spin).astype(jnp.int32))
    ghosts = swendsen_wang._of_label(bonded, label) > 0
    number = jnp.uint32(target.model.couplings.bond_counters + n)
    u = swendsen_wang._numbers(chain_keys, number)
    seed = jnp.minimum((u * (n + 1)).astype(jnp.int32), n)[:, None]
    site = jnp.minimum(seed, n - 1)
    its_label, its_ghost = (jnp.take_along_axis(a, site, 1) for a in (label, ghosts))
    return jnp.where((seed == n) | its_ghost, ~ghosts, label == its_label)


__all__ = ["Wolff"]
