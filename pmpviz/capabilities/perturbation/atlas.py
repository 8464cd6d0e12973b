"""The noise atlas: a 2-D slice of the perturbations, a MAP a pixel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, UInt8

from pmpviz.capabilities.perturbation.parts import Bench, picture_of, solved
from pmpviz.capabilities.perturbation.plan import REACH
from pmpviz.metrics.oscillation import HISTORY, find_period
from pmpviz.models import Ising
from pmpviz.oracles import Solution, max_product

ATLAS_SIDE, MOST_PICTURED = 32, 256
# Places a side of the rough map that comes first, which is one chunk of perturbations a row, and after how many rows of
# the whole one it is shown again: a browser takes longer to draw them than it takes to compute them.
ROUGH, ROWS = 8, 8
# Sweeps before the messages are watched for a repeat, and how nearly they must repeat.
SETTLE, REPEATS = 256, 1e-3


@dataclass(frozen=True, eq=False)
class Atlas:
    """A slice of noise space: the noise of two sites varies, that of all others is the shown perturbation's.

    Arrays [side, side], the row being the second site's noise, nan where not computed yet: `code` numbers the states
    of the maximum (`states`, most frequent first), `lost[s]` is a solver's energy above the least, `fractional` the
    share of fractional LP variables, `period` of max-product's messages (1: converged, 0: no repeat found), `best` the
    perturbed maximum. `shows[s]` is the place of a solver's answer among `pictures`, p(x_i = 1) of all variables in
    254ths; -1 where there is none, or pictures are too large to be kept.
    """

    axis: Float[np.ndarray, " side"]
    sites: tuple[int, int]
    centre: tuple[float, float]
    code: Float[np.ndarray, "side side"]
    states: tuple[str, ...]
    lost: tuple[Float[np.ndarray, "side side"], ...]
    fractional: Float[np.ndarray, "side side"]
    period: Float[np.ndarray, "side side"]
    rows: int
    best: Float[np.ndarray, "side side"]
    shows: tuple[Int[np.ndarray, "side side"], ...]
    pictures: UInt8[np.ndarray, "m n"]

    @property
    def done(self) -> bool:
        """Whether all rows are there."""
        return self.rows == len(self.axis)

    @property
    def stride(self) -> int:
        """From one place of the rough map to the next: the first is in the middle of so many."""
        return max(1, len(self.axis) // ROUGH)


def varied(bench: Bench, sites: tuple[int, int]) -> tuple[int, int]:
    """Which of the free variables these two sites are; the first two where they are not two free ones."""
    place = {int(v): k for k, v in enumerate(bench.problem.free)}
    free = [place[v] for v in sites if v in place]
    return (free[0], free[1]) if len(set(free)) == 2 else (0, min(1, len(place) - 1))


def centred(atlas: Atlas, bench: Bench, draw: int) -> Atlas | None:
    """The atlas around another draw's noise where its plane is all the noise there is; else None, as it is another."""
    if bench.potentials.n != len(atlas.sites):
        return None
    noise, (i, j) = bench.noise(draw, 1)[0], varied(bench, atlas.sites)
    return replace(atlas, centre=(float(noise[i, 1]), float(noise[j, 1])))


class AtlasMaker:
    """Computes an atlas piece by piece."""

    def __init__(self, bench: Bench, draw: int, sites: tuple[int, int], side: int = ATLAS_SIDE):
        self._free = varied(bench, sites)
        self.sites = (int(bench.problem.free[self._free[0]]), int(bench.problem.free[self._free[1]]))
        self._bench, self._noise = bench, bench.noise(draw, 1)[0]
        self.axis = np.linspace(-REACH, REACH, side)
        self.rows, blank = 0, np.full((side, side), np.nan)
        self._code, self._fractional, self._period = blank.copy(), blank.copy(), blank.copy()
        self._lost = [blank.copy() for _ in bench.solvers]
        self._best = blank.copy()
        self._shows = [np.full((side, side), -1) for _ in bench.solvers]
        self._pictures: dict[bytes, int] = {}
        self._seen: dict[bytes, int] = {}
        self._watch = Watch(bench)

    @property
    def done(self) -> bool:
        """Whether all rows are worked out."""
        return self.rows == len(self.axis)

    def drawing(self) -> Iterator[bool]:
        """Works the map out piece by piece, a rough one of all of it first; each time whether there is more to see.

        A row of the rough map is as many perturbations as a chunk of the tally, for which all is compiled; the messages
        are watched after it is seen.
        """
        every = range(len(self.axis))
        rough = every[len(every) // ROUGH // 2 :: len(every) // ROUGH] if len(every) >= 2 * ROUGH else range(0)
        for r in rough:
            self._solve([(r, c) for c in rough])
            yield r == rough[-1]
        places = [(r, c) for r in rough for c in rough]
        for first in range(0, len(places), len(every)):
            self._look(places[first : first + len(every)])
            yield first + len(every) >= len(places)
        for r in every:
            self._solve([(r, c) for c in every])
            self._look([(r, c) for c in every])
            self.rows += 1
            yield self.rows % ROWS == 0 or self.done

    def _unary(self, places: list[tuple[int, int]]) -> Float[np.ndarray, "b n k"]:
        rows, columns = np.array(places).T
        noise = np.repeat(self._noise[None], len(places), 0)
        noise[:, self._free[0], 1], noise[:, self._free[1], 1] = self.axis[columns], self.axis[rows]
        return self._bench.potentials.unary + noise

    def _solve(self, places: list[tuple[int, int]]) -> None:
        by_solver, known = solved(self._bench, self._unary(places))
        for s, solutions in enumerate(by_solver):
            self._note(s, places, solutions, known)
        for place, best in zip(places, known, strict=True):
            if best is not None:
                self._code[place] = self._seen.setdefault(best.x.tobytes(), len(self._seen))
                self._best[place] = best.value

    def _look(self, places: list[tuple[int, int]]) -> None:
        """Whether max-product's messages come to rest there."""
        self._period[tuple(np.array(places).T)] = self._watch.periods(self._unary(places))

    def _note(self, s: int, places: list, found: list[Solution], known: list[Solution | None]) -> None:
        for place, one, best in zip(places, found, known, strict=False):
            if self._bench.target.n <= MOST_PICTURED:
                picture = np.round(254 * picture_of(self._bench, one)).astype(np.uint8).tobytes()
                self._shows[s][place] = self._pictures.setdefault(picture, len(self._pictures))
            if best is not None:
                self._lost[s][place] = max(0.0, best.value - one.value)
            if "fractional" in one.notes:
                self._fractional[place] = float(one.notes["fractional"])

    def atlas(self) -> Atlas:
        """What is worked out so far."""
        count = np.bincount(self._code[~np.isnan(self._code)].astype(int))
        order = np.argsort(-count, kind="stable")
        rank = np.empty(len(order))
        rank[order] = np.arange(len(order))
        inside = ~np.isnan(self._code)
        code = self._code.copy()
        code[inside] = rank[self._code[inside].astype(int)]
        names = ["".join(map(str, np.frombuffer(x, np.int8))) for x in self._seen]
        i, j = self._free
        return Atlas(
            self.axis,
            self.sites,
            (float(self._noise[i, 1]), float(self._noise[j, 1])),
            code,
            tuple(names[k] for k in order),
            tuple(one.copy() for one in self._lost),
            self._fractional.copy(),
            self._period.copy(),
            self.rows,
            self._best.copy(),
            tuple(one.copy() for one in self._shows),
            np.frombuffer(b"".join(self._pictures), np.uint8).reshape(-1, self._bench.target.n),
        )


class Watch:
    """Runs undamped max-product on many unaries at once and says with which period its messages end."""

    def __init__(self, bench: Bench):
        bias, weight, _ = bench.potentials.quadratic()
        s = bench.potentials.structure
        self._potentials, self._couplings = bench.potentials, Ising.from_edges(bias, s.i, s.j, weight).couplings

    def periods(self, unary: Float[np.ndarray, "b n k"]) -> Float[np.ndarray, " b"]:
        """1 where the messages came to rest, their period where they repeat, 0 where neither within 64 sweeps."""
        fields = [self._potentials.with_values(one).quadratic()[0] for one in unary]
        rows = np.asarray(_tail(self._couplings, np.array(fields, np.float32).T))
        scale = max(1.0, float(np.abs(rows[-1]).max(initial=0)))
        found = np.zeros(len(unary))
        for b in range(len(unary)):
            own = rows[:, :, b]
            at_rest = np.abs(own[-1] - own[-2]).max(initial=0) <= REPEATS * scale
            found[b] = 1 if at_rest else find_period(own, REPEATS * scale) or 0
        return found


@jax.jit
def _tail(couplings, fields: Float[np.ndarray, "n b"]):
    """Total fields of the last 64 of 320 undamped sweeps, [64, n, b]."""
    update = partial(max_product.update, couplings, fields, damping=jnp.float32(0.0))

    def sweep(messages, _):
        messages, _ = update(messages)
        return messages, max_product.belief(couplings, fields, messages)

    start = max_product.zero_messages(couplings, fields.shape[1])
    settled = jax.lax.fori_loop(0, SETTLE, lambda _, m: update(m)[0], start)
    return jax.lax.scan(sweep, settled, None, length=HISTORY)[1]


__all__ = ["REPEATS", "Atlas", "AtlasMaker", "Watch", "varied"]
