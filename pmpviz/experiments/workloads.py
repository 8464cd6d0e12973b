"""What `bench` times: each workload names its model, its size, and the bytes that one unit of it must touch.

The bytes are a lower bound: what must be read and written once if nothing else stayed in memory, in the formats that
are used here (float32 messages, one byte a spin). E is the number of edges, n of sites, t of chains in a tile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pmpviz import exact, keys, tiles
from pmpviz.exact.kaufman import kaufman_log_z
from pmpviz.io.datasets.stamps import glyph_set, stamp
from pmpviz.metrics.mmd import mmd
from pmpviz.models import Ising, build_spec
from pmpviz.models.conv_or import ConvOR, ConvShape, clamp
from pmpviz.runs import run as running
from pmpviz.samplers import SAMPLERS, make_conv_sampler, make_sampler
from pmpviz.types import InputError, Target

MMD_ROWS, MMD_SITES = 5923, 900
CRITICAL_J = 0.44068679350977147
# Of a sampler that has no workload of its own: the first of these that it takes.
ANY_MODEL = ("square:64x64", "square:16x16", "complete:16", "square:3x3")
READ_AND_WRITTEN = "2 n: every spin read and written"


@dataclass(frozen=True)
class ReferenceJob:
    """The same work for the authors' code: `kind` is pmap, gibbs, gwg, rbm-pmap, rbm-gibbs, conv or mmd; a sampler's
    chains (of a convolution its images) and sweeps."""

    kind: str
    chains: int
    sweeps: int

    @property
    def units(self) -> int:
        """Units in one call: an MMD is one."""
        return 1 if self.kind == "mmd" else self.chains * self.sweeps


@dataclass(frozen=True)
class Workload:
    """One line of the benchmark. `spec` is the model's text, `algorithm` a sampler's id or None for a host function.
    A binary convolution comes from `made` instead, and its unit is a sweep of one of its `images`.

    `touched(model, tile)` are the bytes of a unit (a sweep of one chain, or a call), by the formula in words.
    """

    name: str
    title: str
    formula: str
    touched: Callable[[Ising | None, int], float]
    spec: str | None = None
    algorithm: str | None = None
    call: Callable[[], Any] | None = None
    chains: int = 1
    sweeps: int = 1
    reference: ReferenceJob | None = None
    made: Callable[[], Target] | None = None
    images: int = 1

    @property
    def unit(self) -> str:
        """What the microseconds are of."""
        return "call" if self.algorithm is None else "sweep and image" if self.made else "sweep and sample"

    @property
    def units(self) -> int:
        """Units in one timed call."""
        return self.chains * self.sweeps * self.images

    def sampler(self) -> Any:
        """The algorithm with its default knobs."""
        return (make_conv_sampler if self.made else make_sampler)(self.algorithm)

    def target(self) -> Target:
        """The sampler's target, at beta 1."""
        if self.made is not None:
            return self.made()
        assert self.spec is not None
        return Target.of(_model(self.spec))

    def run(self) -> Any:
        """One timed call."""
        if self.call is not None:
            return self.call()
        return running.sample(self.sampler(), self.target(), jax.random.key(0), self.chains, self.sweeps)

    def bytes_touched(self) -> float:
        """Bytes that a unit must touch."""
        if self.algorithm is None:
            return self.touched(None, 1)
        target = self.target()
        return self.touched(target.model, tiles.tile_of(self.sampler(), target))

    def memory(self) -> tuple[int | None, int | None]:
        """(temporary bytes of the compiled program, bytes of one tile's state); None where there is none."""
        if self.algorithm is None:
            return None, None
        algorithm, target = self.sampler(), self.target()
        if not algorithm.spec.jit:
            return None, None
        target = running.prepared(algorithm, target)
        index = tiles.tile_index(self.chains, tiles.tile_of(algorithm, target))
        first = jax.ShapeDtypeStruct((*index.shape, target.n), jnp.int8)
        words = jax.ShapeDtypeStruct((*index.shape, 2), jnp.uint32)
        lowered = running._sample.lower(algorithm, target, words, words, first, np.int32(0))
        chain_keys = keys.of_chains(jax.random.key(0), jnp.asarray(index[0]))
        x0 = jax.ShapeDtypeStruct(first.shape[1:], jnp.int8)
        state = jax.eval_shape(lambda x: algorithm.init_tile(chain_keys, target, x), x0)
        # A key's two words are counted as eight bytes.
        size = sum(leaf.size * getattr(leaf.dtype, "itemsize", 8) for leaf in jax.tree.leaves(state))
        analysis = lowered.compile().memory_analysis()
        return None if analysis is None else int(analysis.temp_size_in_bytes), int(size)


@cache
def _model(spec: str) -> Any:
    return build_spec(spec)


def _read_and_written(model: Ising, tile: int) -> float:
    return 2.0 * model.n


def _edges(model: Ising) -> int:
    return len(model.pairs())


def _messages(model: Ising, tile: int) -> float:
    return 16.0 * _edges(model) + 4.0 * model.n + 4.0 * _edges(model) / tile


def _spins(model: Ising, tile: int) -> float:
    return 2.0 * _edges(model) + 2.0 * model.n + 4.0 * (2 * _edges(model) + model.n) / tile


def _matrix(model: Ising, tile: int) -> float:
    return 4.0 * model.n**2 / tile + 2.0 * model.n


def _twice_a_matrix(model: Ising, tile: int) -> float:
    return 8.0 * _edges(model) / tile + 2.0 * model.n


def _flips(model: Ising, tile: int) -> float:
    return 8.0 * (model.n + 2.0 * _edges(model))


def _gaussians(model: Ising, tile: int) -> float:
    return 8.0 * _edges(model) + 2.0 * model.n


def _maps(model: Ising, tile: int) -> float:
    return 48.0 * model.n**2 / tile + 8.0 * model.n


def _clusters(model: Ising, tile: int) -> float:
    return _edges(model) + 10.0 * model.n


PMP_BYTES = "16 E + 4 n + 4 E / t: every message read and written, the unaries and weights read"
GIBBS_BYTES = "2 E + 2 n + 4 (2 E + n) / t: every neighbour and site read, every site written, weights read"
GWG_BYTES = "8 (n + 2 E): of each of n proposals the log-weights of a site and its neighbours read and written"


def _pmp(name: str, spec: str, title: str, chains: int, sweeps: int, reference: ReferenceJob) -> Workload:
    return Workload(name, f"PMP, {title}", PMP_BYTES, _messages, spec, "pmp", None, chains, sweeps, reference)


def _gwg(name: str, spec: str, title: str, chains: int, sweeps: int, reference: ReferenceJob) -> Workload:
    return Workload(name, f"GWG, {title}", GWG_BYTES, _flips, spec, "gwg", None, chains, sweeps, reference)


@cache
def mmd_samples() -> tuple[np.ndarray, np.ndarray]:
    """Two sets of random configurations, int8 [5923, 900]."""
    rng = np.random.default_rng(0)
    return tuple(rng.integers(0, 2, (MMD_ROWS, MMD_SITES)).astype(np.int8) for _ in range(2))


def _mmd() -> float:
    return mmd(*mmd_samples(), unbiased=False)


CONV_IMAGES = 100


@cache
def convolution() -> Target:
    """Section 5.6: 100 images of 14 x 14 to be taken apart into 5 features of 6 x 6."""
    images, _ = stamp(42, glyph_set("paper").glyphs, CONV_IMAGES, 14, 14)
    model = ConvOR.of(ConvShape.of(images, 5, (6, 6)))
    return Target.of(model, clamp(model, images))


def _enumerate(n: int) -> Callable[[], Any]:
    def call():
        solution = exact.solve(Target.of(_model(f"complete:{n}")))
        return solution.log_z, solution.marginals

    return call


def _enumeration(n: int) -> Workload:
    return Workload(
        f"enumerate-{n}",
        f"exact log Z and marginals of {n} sites",
        "8 * 2^n: one float64 weight a state",
        lambda model, tile: 8.0 * 2**n,
        call=_enumerate(n),
    )


RBM_MNIST = "rbm:28x28x500,pattern=random,strength=0.1"
LATTICE_25, LATTICE_50, LATTICE_64 = "square:25x25,theta=-0.1", "square:50x50,theta=-0.1", "square:64x64"
POTTS_64 = "potts:64x64"

WORKLOADS: tuple[Workload, ...] = (
    _pmp("pmp-lattice-25", LATTICE_25, "lattice 25 x 25", 112, 50, ReferenceJob("pmap", 100, 5)),
    _pmp("pmp-lattice-50", LATTICE_50, "lattice 50 x 50", 32, 50, ReferenceJob("pmap", 16, 2)),
    _pmp("pmp-erdos-200", "erdos_renyi:200", "Erdos-Renyi, 200 sites", 128, 50, ReferenceJob("pmap", 100, 50)),
    _pmp("pmp-dense-100", "complete:100", "dense, 100 sites", 112, 50, ReferenceJob("pmap", 100, 50)),
    _pmp("pmp-dense-300", "complete:300", "dense, 300 sites", 32, 50, ReferenceJob("pmap", 100, 20)),
    _pmp("pmp-dense-900", "complete:900", "dense, 900 sites", 8, 20, ReferenceJob("pmap", 100, 5)),
    Workload(
        "gibbs-lattice-50",
        "colour-parallel Gibbs, lattice 50 x 50",
        GIBBS_BYTES,
        _spins,
        LATTICE_50,
        "colour_gibbs",
        None,
        128,
        50,
        ReferenceJob("gibbs", 100, 2),
    ),
    Workload(
        "gaussian-lattice-50",
        "Gaussian block Gibbs in the edge form, lattice 50 x 50",
        "8 E + 2 n: a Gaussian an edge written and read, every site read and written",
        _gaussians,
        LATTICE_50,
        "gaussian_gibbs",
        None,
        128,
        20,
    ),
    Workload(
        "hmc-dense-100",
        "Hamiltonian Monte Carlo, dense, 100 sites",
        "48 n^2 / t + 8 n: the map read twice for each of six gradients, every Gaussian read and written",
        _maps,
        "complete:100",
        "gaussian_hmc",
        None,
        128,
        # So many that the eigenvectors, found once a call, are a small share of it.
        500,
    ),
    Workload(
        "gibbs-dense-900",
        "Gibbs, dense, 900 sites",
        "4 n^2 / t + 2 n: the matrix read once a tile, every site read and written",
        _matrix,
        "complete:900",
        "gibbs",
        None,
        128,
        10,
        ReferenceJob("gibbs", 100, 10),
    ),
    _pmp("pmp-rbm", RBM_MNIST, "RBM, 784 x 500", 8, 20, ReferenceJob("rbm-pmap", 20, 10)),
    Workload(
        "gibbs-rbm",
        "block Gibbs, RBM, 784 x 500",
        "8 h v / t + 2 n: the matrix read twice a tile, every unit read and written",
        _twice_a_matrix,
        RBM_MNIST,
        "gibbs",
        None,
        128,
        50,
        ReferenceJob("rbm-gibbs", 100, 20),
    ),
    Workload(
        "pmp-convolution",
        "PMP, binary convolution, 14 x 14, 5 features of 6 x 6",
        "16 a: two messages read and written of each of a ANDs of an image",
        lambda model, tile: 16.0 * convolution().model.shape.ands,
        algorithm="pmp",
        sweeps=20,
        reference=ReferenceJob("conv", CONV_IMAGES, 5),
        made=convolution,
        images=CONV_IMAGES,
    ),
    _gwg("gwg-lattice-64", LATTICE_64, "lattice 64 x 64", 16, 2, ReferenceJob("gwg", 4, 1)),
    _gwg("gwg-erdos-200", "erdos_renyi:200", "Erdos-Renyi, 200 sites", 128, 5, ReferenceJob("gwg", 100, 2)),
    _gwg("gwg-dense-100", "complete:100", "dense, 100 sites", 128, 5, ReferenceJob("gwg", 100, 5)),
    Workload(
        "sw-lattice-64",
        "Swendsen-Wang, critical lattice 64 x 64",
        "E + 10 n: every bond, every site read and written with its label",
        _clusters,
        LATTICE_64,
        "swendsen_wang",
        None,
        32,
        5,
    ),
    Workload(
        "gibbs-potts-64",
        "colour-parallel Gibbs, three-state Potts lattice 64 x 64",
        GIBBS_BYTES,
        _spins,
        POTTS_64,
        "colour_gibbs",
        None,
        64,
        50,
    ),
    Workload(
        "sw-potts-64",
        "Swendsen-Wang, three-state Potts lattice 64 x 64",
        "E + 10 n: every bond, every site read and written with its label",
        _clusters,
        POTTS_64,
        "swendsen_wang",
        None,
        32,
        5,
    ),
    Workload(
        "mmd-5923x900",
        "MMD, 5923 samples against 5923 of 900 sites",
        "2 m n / 8: every configuration read once, one bit a site",
        lambda model, tile: 2 * MMD_ROWS * MMD_SITES / 8,
        call=_mmd,
        reference=ReferenceJob("mmd", MMD_ROWS, 1),
    ),
    _enumeration(20),
    _enumeration(24),
    Workload(
        "kaufman-64",
        "exact log Z of the critical lattice 64 x 64 (Kaufman)",
        "8 * 2 * 64: one float64 a mode",
        lambda model, tile: 8.0 * 2 * 64,
        call=lambda: kaufman_log_z(64, 64, CRITICAL_J),
    ),
)


def everyone_else() -> tuple[Workload, ...]:
    """A workload for each compiled sampler, and each that somebody has brought, that has none of its own."""
    timed = {workload.algorithm for workload in WORKLOADS if workload.made is None}
    rest = [cls for cls in SAMPLERS if cls.spec.id not in timed and (cls.spec.jit or SAMPLERS.is_yours(cls))]
    found = []
    for cls in rest:
        spec = next((spec for spec in ANY_MODEL if cls.spec.why_not(Target.of(_model(spec))) is None), None)
        if spec is not None:
            name = f"{cls.spec.id}-{spec.split(':')[0]}-{spec.split(':')[1]}"
            title = f"{cls.spec.label}, {spec}"
            found.append(Workload(name, title, READ_AND_WRITTEN, _read_and_written, spec, cls.spec.id, None, 16, 4))
    return tuple(found)


def choose(names: list[str] | None) -> tuple[Workload, ...]:
    """The workloads of these names, all where None; raises InputError naming the choices for an unknown one."""
    everything = (*WORKLOADS, *everyone_else())
    if not names:
        return everything
    known = {workload.name: workload for workload in everything}
    for name in names:
        if name not in known:
            raise InputError(f"there is no workload {name[:40]!r}; choose from {', '.join(known)}")
    return tuple(known[name] for name in dict.fromkeys(names))
