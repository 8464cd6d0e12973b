"""What samplers share whose draws take several sweeps each: the count of draws, and which configurations count."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Int8

from pmpviz.types import Algorithm, Info, Param, Target


def sweeps_a_draw(default: int, words: str) -> Param:
    """The knob `sweeps_per_draw`; `words` say what happens after so many sweeps."""
    return Param("sweeps_per_draw", "Sweeps a draw", 1, 100_000, default, scale="int", unit="sweeps", help=words)


class RefinedDraws(Algorithm):
    """Base of the samplers that refine one draw for `sweeps_per_draw` sweeps and then begin the next.

    Their states have, a tile each, `age` (sweeps spent on this draw), `draw` (its index), `first` (the index of the
    first draw that is wholly of the present target and knobs) and what `completed_tile` needs.
    """

    sweeps_per_draw: Int[Array, ""]

    def completed_tile(self, target: Target, state: Any) -> Int8[Array, "t n"]:
        """The last completed draw."""
        raise NotImplementedError

    def counted_tile(self, target: Target, state: Any) -> Int8[Array, "t n"]:
        """The last completed draw of the present target and knobs; until there is one the draw in the making."""
        unfinished = (state.draw > state.first) & (state.age < self.sweeps_per_draw)
        return jnp.where(unfinished, self.completed_tile(target, state), self.position_tile(target, state))

    def begin_anew(self, state: Any) -> Any:
        """The state of all tiles under a new target or knobs: no draw that was begun under the old ones counts.

        The draw in the making goes on, with its perturbation. On the host, which compiles nothing.
        """
        begun = np.asarray(state.draw) + (np.asarray(state.age) > 0)
        return dataclasses.replace(state, first=begun.astype(np.int32))

    def draws_done(self, state: Any) -> int:
        """Draws that a chain has completed under the present target and knobs; the state is of all tiles."""
        draw, age, first = (int(np.ravel(leaf)[0]) for leaf in (state.draw, state.age, state.first))
        return max(draw - first + int(age >= self.sweeps_per_draw), 0)

    def draw_sweeps(self) -> int:
        """As many as the knob says."""
        return int(np.asarray(self.sweeps_per_draw))

    def init(self, key: Array, target: Target, x0: Int8[Array, " n"]) -> Any:
        """Single-chain form: a tile of one."""
        return self.init_tile(key[None], target, x0[None])

    def step(self, key: Array, target: Target, state: Any) -> tuple[Any, Info]:
        """Single-chain form of `step_tile`."""
        state, info = self.step_tile(key[None], target, state)
        return state, {name: value[0] for name, value in info.items()}

    def position(self, target: Target, state: Any) -> Int8[Array, " n"]:
        """Single-chain form of `position_tile`."""
        return self.position_tile(target, state)[0]


__all__ = ["RefinedDraws", "sweeps_a_draw"]
