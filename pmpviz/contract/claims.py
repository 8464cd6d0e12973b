"""What a model says of itself, against its edge sum on all states."""

from __future__ import annotations

import jax
import numpy as np

from pmpviz.contract.detectors import Verdict
from pmpviz.contract.laws import all_states, edge_sum, table_sum
from pmpviz.models.pairwise import Pairwise
from pmpviz.types import Evidence, Target

# Configurations at which the forms of a model of more than two states are compared.
MOST_STATES = 200


def capabilities(model, evidence: Evidence, beta: float) -> Verdict:
    """log_weight, local_field, blocks, pairwise, to_spin and the target's forms agree on all consistent states.

    Of more than two states log_weight and conditional_logits agree with the tables.
    """
    if isinstance(model, Pairwise):
        return _of_states(Target.of(model, evidence, beta))
    target = Target.of(model, evidence, beta)
    states = all_states(model.n)
    mask, value = np.asarray(evidence.mask), np.asarray(evidence.value)
    states = states[(states[:, mask] == value[mask]).all(1)]
    free = np.flatnonzero(~mask)
    weight, field = edge_sum(model, states), _field(model, states)[:, free]
    said = _claims(target, states)
    problems = [
        (said["log_weight"], weight, "log_weight"),
        (said["target_log_weight"], beta * weight, "the target's log_weight"),
        (said["local_field"][:, free], field, "local_field"),
        (said["target_local_field"][:, free], beta * field, "the target's local_field"),
        (spin_weight(model, states), weight, "to_spin"),
        (said["applied"], states, "evidence on consistent states"),
        (said["applied_to_others"][:, mask], np.tile(value[mask], (len(states), 1)), "evidence"),
    ]
    scale = max(np.abs(weight).max(), 1.0)
    for got, wanted, name in problems:
        # Float32: a few units in the last place of the largest term.
        if not np.allclose(got, wanted, rtol=0, atol=2e-6 * scale * max(beta, 1)):
            return Verdict(False, found=f"{name} disagrees with the edge sum")
    return blocks_are_independent(model)


@jax.jit
def _claims(target: Target, states) -> dict[str, jax.Array]:
    """What model and target say of each state, compiled as the samplers see it."""
    return {
        "log_weight": jax.vmap(target.model.log_weight)(states),
        "target_log_weight": jax.vmap(target.log_weight)(states),
        "local_field": jax.vmap(target.model.local_field)(states),
        "target_local_field": jax.vmap(target.local_field)(states),
        "applied": jax.vmap(target.evidence.apply)(states),
        "applied_to_others": jax.vmap(target.evidence.apply)(1 - states),
    }


def _of_states(target: Target) -> Verdict:
    model, tables = target.model, target.model.to_tables()
    rng = np.random.default_rng(0)
    states = rng.integers(0, np.array(model.card), (MOST_STATES, model.n)).astype(np.int8)
    weight = table_sum(tables, states)
    said = np.asarray(jax.jit(jax.vmap(target.log_weight))(states))
    logits = np.asarray(jax.jit(jax.vmap(target.conditional_logits))(states))
    scale = 2e-6 * max(np.abs(weight).max(), 1.0) * max(float(target.beta), 1)
    if not np.allclose(said, float(target.beta) * weight, rtol=0, atol=scale):
        return Verdict(False, found="log_weight disagrees with the tables")
    for site, states_of in enumerate(model.card):
        other = states.copy()
        other[:, site] = (states[:, site] + 1) % states_of
        gain = np.take_along_axis(logits[:, site], np.stack([other[:, site], states[:, site]], 1).astype(int), 1)
        wanted = float(target.beta) * (table_sum(tables, other) - weight)
        if not np.allclose(gain[:, 0] - gain[:, 1], wanted, rtol=0, atol=scale):
            return Verdict(False, found=f"conditional_logits of site {site} disagree with the tables")
    return _independent(model, *model.pairs().T)


def _field(model, states: np.ndarray) -> np.ndarray:
    """Log-odds of every site as a difference of two log-weights in float64."""
    field = np.empty(states.shape)
    for site in range(states.shape[1]):
        one, zero = states.copy(), states.copy()
        one[:, site], zero[:, site] = 1, 0
        field[:, site] = edge_sum(model, one) - edge_sum(model, zero)
    return field


def spin_weight(model, states: np.ndarray) -> np.ndarray:
    """h.s + sum J s s + constant of the model's spin form."""
    h, i, j, J, constant = model.to_spin()
    s = 2.0 * states - 1
    return s @ h + (s[:, i] * s[:, j]) @ J + constant


def blocks_are_independent(model) -> Verdict:
    """Blocks part the sites, and no edge lies within one."""
    _, i, j, w = model.pairwise()
    return _independent(model, i[w != 0], j[w != 0])


def _independent(model, i: np.ndarray, j: np.ndarray) -> Verdict:
    blocks = model.blocks()
    if sorted(np.concatenate(blocks).tolist()) != list(range(model.n)):
        return Verdict(False, found="blocks do not part the sites")
    block_of = np.empty(model.n, int)
    for number, block in enumerate(blocks):
        block_of[block] = number
    return Verdict(not (block_of[i] == block_of[j]).any(), found="an edge lies within a block")
