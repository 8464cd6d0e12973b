"""The chains that walk over the landscape: how often they are in each state, and every roll of the first of them."""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, Int8

from pmpviz import keys
from pmpviz.capabilities.landscape.memory import Memory
from pmpviz.capabilities.landscape.plan import GIBBS, KINDS, MEMORY, MOST_STEPS, LandscapePlan
from pmpviz.capabilities.landscape.scene import Scene
from pmpviz.live.store import Series
from pmpviz.samplers import make_sampler
from pmpviz.samplers.gaussian_hmc import HmcState, landscape_of, traced
from pmpviz.types import Target

CHAINS = dict.fromkeys(KINDS, 512) | {KINDS[2]: 1024, MEMORY: 64}
MOST_ROLLS, MOST_LANDINGS, MOST_POINTS = 24, 400, 2048
# Where the chains of the failure mode begin: the state 10.
STUCK = 2


@dataclass(frozen=True)
class Roll:
    """One quantum of the first chain, in the two coordinates that are seen.

    `points`, `momenta` and H are those at the start and after each leapfrog step, `line` is how high above the first H
    the accept line is; of block Gibbs there is the way from the middle of the state's Gaussian to z alone. `x` is the
    configuration that was drawn, with the uniform numbers of the key `words`.
    """

    number: int
    before: int
    after: int
    points: Float[np.ndarray, "k 2"]
    momenta: Float[np.ndarray, "k 2"]
    energy: Float[np.ndarray, " k"]
    accepted: bool
    line: float
    x: Int8[np.ndarray, " n"]
    words: tuple[int, int]


@dataclass(frozen=True, eq=False)
class LandscapeLaneView:
    """An immutable picture of the chains: `counts[2^n]` since the last change of a setting, and what is known of them.

    `trace` has rows (quantum, largest error of a frequency, mean acceptance); `overlaps` are those of the first chain
    with the pictures A and B. `trials` and `left` count how often a chain stood in the state 10, and how often it
    was then elsewhere, `changed` how often one was in another state than before.
    """

    algorithm: str
    label: str
    guarantee: str
    count: int
    chains: int
    counts: Int[np.ndarray, " s"]
    rolls: tuple[Roll, ...]
    landings: tuple[tuple[float, float, int], ...]
    acceptance: float
    error: float
    trace: Float[np.ndarray, "k 3"]
    overlaps: Series
    trials: int
    left: int
    changed: int = 0
    done: bool = False


class LandscapeLane:
    """Worker-side state of the chains; `advance` makes one quantum of them all."""

    def __init__(self, plan: LandscapePlan, scene: Scene | Memory):
        self.warmed, self.seconds, self.count = False, 0.0, 0
        self.state: Any = None  # Until the first quantum: its start is compiled, which the picture does not wait for.
        self._key, self._starts = jax.random.key(plan.seed), 0
        self.chains = CHAINS[plan.kind]
        self.change(plan, scene)

    @property
    def algorithm(self) -> str:
        """The sampler's id."""
        return self.sampler.spec.id

    def change(self, plan: LandscapePlan, scene: Scene | Memory) -> None:
        """Take up other settings: the states stay, the Gaussians are drawn anew, and statistics begin anew."""
        self.plan, self.scene = plan, scene
        self.sampler, self.target = prepared(plan, scene)
        if self.state is not None:
            self._restart(None if plan.kind == KINDS[2] else np.asarray(self.state.x).T)
        self.count, self._every = 0, 1
        self._counts = np.zeros(len(scene.law), np.int64)
        self._rolls: deque[Roll] = deque(maxlen=MOST_ROLLS)
        self._landings: deque[tuple[float, float, int]] = deque(maxlen=MOST_LANDINGS)
        self._trace: list[tuple[float, float, float]] = []
        self._overlaps = Series(("quantum", "A", "B"))
        self._accepted = self._error = 0.0
        self._trials = self._left = self._changed = 0

    def _restart(self, x0: Any) -> None:
        words = np.asarray(jax.random.key_data(self._keys(keys.INIT, self._starts)))
        if x0 is None and isinstance(self.scene, Scene) and self.plan.kind == KINDS[2]:
            x0 = np.tile(self.scene.states[STUCK], (self.chains, 1))
        elif x0 is None:
            x0 = np.asarray(self.target.model.space.random_start(words))
        self.state = self.sampler.init_tile(jax.random.wrap_key_data(words), self.target, np.asarray(x0, np.int8))
        self._starts += 1

    def _keys(self, role: int, number: int) -> Any:
        return keys.fold_in(keys.of_chains(keys.role(self._key, role), np.arange(self.chains)), number)

    def show(self, epoch: int) -> None:
        """There are no frames whose epoch would have to be told."""

    def warm(self) -> None:
        """Compile the start and a quantum."""
        self._begin()
        self._quantum()
        self.warmed = True

    def advance(self) -> None:
        """One quantum of every chain, and what is learnt of it."""
        begin = time.perf_counter()
        self._begin()
        before, codes = self.state, self._codes()
        state, info, words, told = self._quantum()
        self.state, self.count = state, self.count + 1
        now = self._codes()
        self._counts += np.bincount(now, minlength=len(self._counts))
        self._changed += int((codes != now).sum())
        self._trials += int((codes == STUCK).sum())
        self._left += int(((codes == STUCK) & (now != STUCK)).sum())
        if told is not None:
            self._accepted += float(info["acceptance"].mean())
            self._error += float(info["energy_error"].mean())
        self._rolls.append(self._roll(before, told, (int(codes[0]), int(now[0])), np.asarray(words)))
        self._landings.append((*(float(v) for v in self.scene.seen(state.z)[:, 0]), int(now[0])))
        self._note()
        self.seconds += time.perf_counter() - begin

    def _begin(self) -> None:
        if self.state is None:
            self._restart(None)

    def _quantum(self) -> Any:
        return _quantum(self.sampler, self.target, self.state, self._key, np.uint32(self._starts << 20 | self.count))

    def _codes(self) -> Int[np.ndarray, " t"]:
        return self.scene.codes(self.state.x, self.state.z)

    def _roll(self, before: Any, told: Any, ends: tuple[int, int], words: np.ndarray) -> Roll:
        scene, drawn = self.scene, (np.asarray(self.state.x)[:, 0], (int(words[0]), int(words[1])))
        if told is None:
            middle = scene.weight.T @ np.asarray(before.x)[:, :1]
            points = np.concatenate([scene.seen(middle), scene.seen(np.asarray(self.state.z)[:, :1])], 1).T
            return Roll(self.count, *ends, points, np.zeros((0, 2)), np.zeros(0), True, 0.0, *drawn)
        steps = int(told.steps)
        z, p, energy = (np.asarray(part)[: steps + 1, ..., 0] for part in (told.z, told.p, told.energy))
        moved = bool((np.asarray(self.state.z)[:, 0] != np.asarray(before.z)[:, 0]).any())
        places = scene.seen(z.T).T, scene.directions(p), energy
        return Roll(self.count, *ends, *places, moved, float(told.line[0]), *drawn)

    def _note(self) -> None:
        if isinstance(self.scene, Memory):
            own = self.scene.overlaps(np.asarray(self.state.x)[:, 0])
            self._overlaps.append({"quantum": np.array([self.count]), "A": own[:1], "B": own[1:]})
        if self.count % self._every:
            return
        share = self._counts / self._counts.sum()
        far = float(np.abs(share - self.scene.law).max())
        self._trace.append((float(self.count), far, self._accepted / self.count))
        if len(self._trace) >= MOST_POINTS:
            self._trace, self._every = self._trace[1::2], 2 * self._every

    def view(self) -> LandscapeLaneView:
        """What pages see."""
        spec, many = self.sampler.spec, max(self.count, 1)
        return LandscapeLaneView(
            algorithm=spec.id,
            label=spec.label,
            guarantee=spec.guarantee,
            count=self.count,
            chains=self.chains,
            counts=self._counts.copy(),
            rolls=tuple(self._rolls),
            landings=tuple(self._landings),
            acceptance=self._accepted / many,
            error=self._error / many,
            trace=np.array(self._trace).reshape(-1, 3),
            overlaps=self._overlaps,
            trials=self._trials,
            left=self._left,
            changed=self._changed,
        )


def prepared(plan: LandscapePlan, scene: Scene | Memory) -> tuple[Any, Target]:
    """The plan's sampler, and the target with the scene's relaxation as what it has prepared."""
    relaxation = scene.relaxation()
    if plan.sampler == GIBBS:
        return make_sampler(GIBBS), dataclasses.replace(scene.target, prepared=relaxation)
    landscape = landscape_of(relaxation, plan.coordinates == "A = I")
    sampler = make_sampler(plan.sampler, step_size=plan.step, leapfrog_steps=plan.steps)
    return sampler, dataclasses.replace(scene.target, prepared=landscape)


@jax.jit
def _quantum(sampler, target, state, key, number) -> Any:
    """(state, info, the first chain's key, what it did on its way) after one quantum."""
    chains = jnp.arange(state.x.shape[-1], dtype=jnp.int32)
    own = keys.fold_in(keys.of_chains(keys.role(key, keys.STEP), chains), number)
    after, info = sampler.step_tile(own, target, state)
    if not isinstance(state, HmcState):
        return after, info, jax.random.key_data(own[0]), None
    first = HmcState(state.x[:, :1], state.z[:, :1], state.count)
    return after, info, jax.random.key_data(own[0]), traced(sampler, own[:1], target, first, 2 * MOST_STEPS - 1)


__all__ = ["LandscapeLane", "LandscapeLaneView", "Roll", "prepared"]
