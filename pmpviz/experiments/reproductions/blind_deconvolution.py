"""Section 5.6: features and locations from images alone, where Gibbs-with-gradients fails."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int8

from pmpviz.capabilities.deconvolution import posterior as deconvolution
from pmpviz.capabilities.deconvolution.posterior import Snapshot
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import pictures
from pmpviz.io.datasets.stamps import glyph_set, stamp
from pmpviz.models.conv_or import ConvOR, ConvShape, clamp
from pmpviz.samplers import make_conv_sampler
from pmpviz.types import Target

IMAGES, SIDE, FEATURES, FEATURE = 100, 14, 5, 6
DATA_SEED, FIRST_SEED, SWEEPS, QUICK_SWEEPS = 42, 40, 1000, 300
# The authors' prior, which their code counts once for each of 36 pixels; and about what that makes of it.
AUTHORS, EXACT = (0.01, "authors"), (1e-75, "exact")
LANES = ("authors' convention", "exact", "exact, stamps within reach")
CHUNK = 100
# Chains for PMP's seconds: what they are called, and the quanta between two looks at the clock.
CHAINS = {"gwg": ("GWG", CHUNK), "gibbs": ("Gibbs", 1)}
OTHER_SETS = ("letters", "bars", "arrows", "digits", "corners")


@dataclass(frozen=True, eq=False)
class Data:
    """Glyphs, images stamped with them, and where."""

    glyphs: Int8[np.ndarray, "g a b"]
    images: Int8[np.ndarray, "n 1 height width"]
    places: Int8[np.ndarray, "n g h w"]

    @classmethod
    def of(cls, name: str, seed: int, margin: int) -> Data:
        """100 images of 14 x 14 with at least three stamps each."""
        glyphs = glyph_set(name).glyphs
        return cls(glyphs, *stamp(seed, glyphs, IMAGES, SIDE, SIDE, margin=margin))

    def target(self, prior: float, convention: str, known: str = "nothing", noise: float = 1e-100) -> Target:
        """The posterior given the images, and the features or the locations where known: glyph g is feature g, at its
        first row and column."""
        shape = ConvShape(IMAGES, 1, SIDE, SIDE, FEATURES, FEATURE, FEATURE)
        model = ConvOR.of(shape, prior, noise=noise, convention=convention)
        features, places = np.zeros(shape.w, int), np.zeros(shape.s, int)
        features[0, : len(self.glyphs), : self.glyphs.shape[1], : self.glyphs.shape[2]] = self.glyphs
        rows, columns = shape.locations
        places[:, : len(self.glyphs)] = self.places[:, :, :rows, :columns]
        given = {"features": {"features": features}, "locations": {"locations": places}, "nothing": {}}[known]
        return Target.of(model, clamp(model, self.images, **given))


def sampled(data: Data, prior: float, convention: str, seed: int, sweeps: int) -> Snapshot:
    """PMP after so many sweeps at damping 0.5."""
    run = deconvolution.begin(make_conv_sampler("pmp"), data.target(prior, convention), seed, 1)
    shown = deconvolution.snapshot(run)
    while run.quantum < sweeps:
        run, shown = deconvolution.advance(run, min(CHUNK, sweeps - run.quantum))
    return shown


def chain_for(data: Data, seed: int, seconds: float, known: str, sampler: str) -> Snapshot:
    """A chain for that many seconds, with nothing, the features or the locations clamped to the truth."""
    run = deconvolution.begin(make_conv_sampler(sampler), data.target(*EXACT, known), seed, 1)
    run, shown = deconvolution.advance(run, 1)
    first = run.seconds
    # The first quantum may hold what is not the chain's own time: it is one of many.
    while run.seconds - first < seconds:
        run, shown = deconvolution.advance(run, CHAINS[sampler][1])
    return shown


def found_glyphs(shown: Snapshot, data: Data, within: int = 0) -> int:
    """Generating glyphs that are among the features up to a shift, and up to so many pixels."""
    return sum(one.mismatches <= within for one in deconvolution.recovered(shown.features[0], data.glyphs[None]))


def out_of_reach(shown: Snapshot, data: Data) -> int:
    """Stamps that no feature can be placed at: of a feature of 6 x 6 there are 9 x 9 places, of a glyph 10 x 10."""
    reached = np.zeros(data.places.shape[1:], bool)
    last = SIDE - FEATURE
    for f in range(FEATURES):
        for g, one in enumerate(deconvolution.recovered(shown.features[:1, 0, f : f + 1], data.glyphs[None])):
            if not one.mismatches:
                rows, columns = (slice(max(shift, 0), max(shift + last + 1, 0)) for shift in one.shift)
                reached[g, rows, columns] = True
    return int((data.places.astype(bool) & ~reached).sum())


def one_seed(seed: int, sweeps: int, with_chain: bool) -> tuple[dict[str, float], Snapshot]:
    """(figures of one posterior sample in three settings, the sample in the authors')."""
    found: dict[str, float] = {}
    kept: Snapshot | None = None
    paper, inner = Data.of("paper", DATA_SEED, 0), Data.of("paper", DATA_SEED, FEATURE - 5)
    for name, data, setting in zip(LANES, (paper, paper, inner), (AUTHORS, EXACT, EXACT), strict=True):
        shown = sampled(data, *setting, seed, sweeps)
        kept = kept or shown
        found[f"glyphs of 4 found, {name}"] = found_glyphs(shown, data)
        found[f"glyphs of 4 within 2 pixels, {name}"] = found_glyphs(shown, data, 2)
        found[f"wrong pixels of 19,600, {name}"] = float(shown.wrong[0])
        found[f"stamps out of reach, {name}"] = out_of_reach(shown, data)
        found[f"seconds, {name}"] = shown.seconds
    if with_chain:
        seconds = found["seconds, exact, stamps within reach"]
        for (sampler, (name, _)), known in itertools.product(CHAINS.items(), ("nothing", "features", "locations")):
            shown = chain_for(inner, seed, seconds, known, sampler)
            found[f"{name} at PMP's seconds, {known} known: wrong pixels"] = float(shown.wrong[0])
            found[f"{name} at PMP's seconds, {known} known: glyphs found"] = found_glyphs(shown, inner)
    assert kept is not None
    return found, kept


def run(request: Request) -> Outcome:
    """Posterior samples of consecutive seeds."""
    sweeps = QUICK_SWEEPS if request.quick else SWEEPS
    begun = time.perf_counter()
    done = [one_seed(FIRST_SEED + seed, sweeps, not request.quick) for seed in range(request.seeds)]
    model = Data.of("paper", DATA_SEED, 0).target(*AUTHORS).model
    messages = 2 * 4 * IMAGES * model.shape.ands
    notes = [
        f"{sweeps} sweeps; glyphs found and wrong pixels of seeds {FIRST_SEED} to {FIRST_SEED + request.seeds - 1}:",
        *(_by_seed(name, [found for found, _ in done]) for name in LANES),
        f"messages of one sample: {messages / 1e6:.3g} MB; {time.perf_counter() - begun:.0f} s in all",
        "a glyph of 5 x 5 has 10 x 10 places, a feature of 6 x 6 has 9 x 9: stamps at the far edges cannot be "
        "explained by a feature that holds the glyph near its first row or column, whatever the sampler",
    ]
    blocks = {f"seed {FIRST_SEED + seed}": shown.features[0, 0] for seed, (_, shown) in enumerate(done)}
    figure = pictures(blocks, (FEATURE, FEATURE), "Section 5.6: features of the posterior samples")
    return Outcome(rows_of(found for found, _ in done), figure, tuple(notes))


def _by_seed(lane: str, found: list[dict[str, float]]) -> str:
    pairs = [(one[f"glyphs of 4 found, {lane}"], one[f"wrong pixels of 19,600, {lane}"]) for one in found]
    return f"  {lane}: " + ", ".join(f"{glyphs:.0f} with {wrong:.0f}" for glyphs, wrong in pairs)


def _fresh(quick: bool) -> Iterator[tuple[str, int]]:
    if quick:
        yield from (("paper", 100), ("letters", 100))
        return
    yield from itertools.product(("paper",), range(100, 110))
    yield from itertools.product(OTHER_SETS, (100, 101))


def run_fresh(request: Request) -> Outcome:
    """Data and glyphs that nothing was chosen on: how often everything is found, and nothing is wrong."""
    rows, notes, blocks = [], [], {}
    for seed in range(request.seeds):
        found: dict[str, float] = {}
        for where, margin in (("within reach", FEATURE - 5), ("anywhere", 0)):
            each: dict[str, list[tuple[int, int, int]]] = {}
            for name, data_seed in _fresh(request.quick):
                data = Data.of(name, data_seed, margin)
                shown = sampled(data, *EXACT, FIRST_SEED + seed, QUICK_SWEEPS if request.quick else SWEEPS)
                each.setdefault(name, []).append((found_glyphs(shown, data), len(data.glyphs), int(shown.wrong[0])))
                blocks[f"{name}, data {data_seed}, {where}, seed {FIRST_SEED + seed}"] = shown.features[0, 0]
            found |= {f"{quantity}, stamps {where}": value for quantity, value in _success(each).items()}
            for name, results in each.items():
                words = ", ".join(f"{glyphs} of {known} with {wrong} wrong" for glyphs, known, wrong in results)
                notes.append(f"{glyph_set(name).label}, stamps {where}: {words}")
        rows.append(found)
    figure = pictures(blocks, (FEATURE, FEATURE), "Features found in data of other seeds and glyphs")
    return Outcome(rows_of(rows), figure, tuple(notes))


def _success(each: dict[str, list[tuple[int, int, int]]]) -> dict[str, float]:
    groups = {"the paper's glyphs": each["paper"]}
    groups["other glyphs"] = [one for name, results in each.items() if name != "paper" for one in results]
    found: dict[str, float] = {}
    for name, results in groups.items():
        found[f"share with all glyphs found, {name}"] = float(np.mean([g == known for g, known, _ in results]))
        found[f"share with 0 wrong pixels, {name}"] = float(np.mean([wrong == 0 for *_, wrong in results]))
        found[f"wrong pixels, {name}"] = float(np.mean([wrong for *_, wrong in results]))
    return found


REPRODUCTION = Reproduction(
    "pmp-5.6",
    "Blind deconvolution of binary images",
    "100 images of 14 x 14 stamped with 4 glyphs of 5 x 5, taken apart into 5 features of 6 x 6; 1000 sweeps, damping "
    "0.5; priors .01 (authors' convention) or 1e-75 (exact) and .25; Gibbs-with-gradients and Gibbs for PMP's seconds",
    "300 sweeps, without chains",
    5,
    2,
    run,
    shown="deconvolution?preset=gwg",
)
FRESH = Reproduction(
    "pmp-5.6-fresh",
    "Blind deconvolution of data that nothing was chosen on",
    "ten other seeds of the data, and two each of five other sets of glyphs (" + ", ".join(OTHER_SETS) + "); stamps a "
    "pixel from the edge, within reach of all features, or anywhere; exact convention, prior 1e-75, 1000 sweeps",
    "one seed of the paper's glyphs and one of letters, 300 sweeps",
    1,
    1,
    run_fresh,
)

__all__ = ["FRESH", "REPRODUCTION"]
