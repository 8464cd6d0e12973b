"""Two remembered pictures: their plane against enumeration and the engine's relaxation, and what browsers redraw."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from pmpviz import exact
from pmpviz.capabilities.landscape.drawings import PAIRS, drawn
from pmpviz.capabilities.landscape.lane import LandscapeLane
from pmpviz.capabilities.landscape.live import LandscapeView
from pmpviz.capabilities.landscape.memory import SITES, Memory, memory_of
from pmpviz.capabilities.landscape.picture import memory_words, remembered
from pmpviz.capabilities.landscape.plan import GIBBS, HMC, MEMORY, LandscapePlan
from pmpviz.marginals.gaussian_log_z import log_landscape
from pmpviz.models.builders import dense_model
from pmpviz.models.gaussian.relaxation import relax
from pmpviz.types import Target

PLAN = LandscapePlan(MEMORY, temperature=0.9, side=8, cue=0.01, steps=3)
SAMPLERS = pytest.mark.parametrize("sampler", [HMC, GIBBS])


def small(beta: float, cue: float) -> Memory:
    """Ten spins that remember two patterns of the overlap .2."""
    pictures = np.where(np.random.default_rng(3).random((2, 10)) < 0.5, 1.0, -1.0)
    pictures[1] = pictures[0] * np.repeat([1.0, -1.0], [6, 4])
    model = dense_model(pictures.T @ pictures / 10, cue * pictures[0])
    return Memory(Target.of(model, beta=beta), pictures, cue)


@pytest.mark.parametrize(("beta", "cue"), [(0.5, 0.0), (1.4, 0.05), (2.0, -0.1)])
def test_log_z_of_a_few_spins_is_that_of_enumeration(beta, cue):
    memory = small(beta, cue)
    assert memory.log_z == pytest.approx(exact.solve(memory.target).log_z, abs=1e-6)


def test_the_largest_eigenvalue_and_the_shift_are_those_of_the_couplings():
    memory = small(1.4, 0.05)
    shifted = 1.4 * np.asarray(memory.target.model.couplings.matrix(), np.float64) + np.diag(memory.shift)
    np.testing.assert_allclose(np.linalg.eigvalsh(shifted)[-1], memory.largest, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.eigvalsh(shifted)[:-2], 0.0, atol=1e-6)


@pytest.mark.parametrize("cue", [0.0, 0.01])
def test_the_density_and_the_fields_are_those_of_the_low_rank_relaxation(cue):
    """The engine's own map turns the plane: its density at B's is compared by the fields that it gives all spins."""
    memory = memory_of(PLAN.replace(cue=cue, side=30))
    own, engines = memory.relaxation(), relax(memory.target, "low_rank")
    turn, *_ = np.linalg.lstsq(np.asarray(own.map.weight, np.float64), np.asarray(engines.map.weight, np.float64))
    np.testing.assert_allclose(turn @ turn.T, np.eye(2), atol=1e-4)
    z = memory.seen(np.zeros((2, 1))) * 0.3 + np.random.default_rng(1).normal(size=(2, 40)) * 4
    np.testing.assert_allclose(
        own.field(z.astype(np.float32)), engines.field((turn.T @ z).astype(np.float32)), atol=2e-3
    )
    assert np.ptp(memory.log_density(memory.seen(z).T) - log_landscape(own, z.T)) < 1e-3


def test_probabilities_of_the_nearest_picture_are_those_of_a_fine_grid():
    memory = memory_of(PLAN.replace(temperature=1.2))
    across = np.arange(-30, 30, 0.05) + 0.01
    seen = np.stack(np.meshgrid(across, across + 0.013), -1)
    weight = np.exp(memory.log_density(seen) - memory.log_density(seen).max())
    codes = memory.codes_seen(*np.moveaxis(seen, -1, 0))
    share = np.bincount(codes.ravel(), weight.ravel()) / weight.sum()
    np.testing.assert_allclose(memory.law, share, atol=2e-3)
    assert memory.law[0] > 1.2 * memory.law[2]


@SAMPLERS
def test_chains_come_to_the_law_above_the_split_and_only_spins_in_use_turn(sampler):
    plan = PLAN.replace(temperature=1.4, sampler=sampler)
    lane = LandscapeLane(plan, memory_of(plan))
    for _ in range(250):
        lane.advance()
    view = lane.view()
    assert np.abs(view.counts / view.counts.sum() - lane.scene.law).max() < 0.03
    assert not np.asarray(lane.state.x)[64:].any()
    assert len(view.overlaps.bins()) == 250


def test_chains_that_stay_are_called_draws_only_while_their_bars_are_within_chance():
    """In the cold a cue moves the law, and no chain: they stay where they fell, and the bars are off by nearly all."""
    plan = PLAN.replace(temperature=0.4, cue=0.01, side=30)
    memory = memory_of(plan)
    assert memory.law[0] > 0.95
    lane = LandscapeLane(plan, memory).view()

    def said(counts, codes) -> str:
        landings = tuple((0.0, 0.0, code) for code in codes)
        seen = dataclasses.replace(lane, counts=np.array(counts), count=len(codes), landings=landings, chains=64)
        return remembered(LandscapeView(run=0, plan=plan, scene=memory, lanes=(seen,)))

    stuck = said([160, 160, 160, 160], [2] * 10)
    assert stuck.startswith("The ball (one of 64 chains) stays: all its 10 stops were nearest to −A. ")
    off = float(re.search(r"Chains stay where they fell: the bars are off by ([\d.]+) \(chance alone: ", stuck)[1])
    assert off == pytest.approx(memory.law[0] - 0.25, abs=0.005)
    assert "Chains that stay are one draw each: the bars are off by " in said([64, 0, 0, 0], [0])
    moves = said([160, 160, 160, 160], [0, 0, 2])
    assert moves.startswith("Of the 3 stops of the ball (one of 64 chains), 2 nearest to A and 1 nearest to −A. ")
    assert re.search(r"The bars are off by 0\.\d+ at most\.$", moves)


@SAMPLERS
@pytest.mark.parametrize("coordinates", ["whitened", "A = I"])
def test_what_a_browser_draws_at_the_ball_is_what_the_engine_drew(sampler, coordinates):
    """The spins from p(s | z) where the ball rests, with the roll's own numbers: as js/memory.js has them."""
    plan = PLAN.replace(side=30, temperature=0.8, sampler=sampler, coordinates=coordinates)
    lane = LandscapeLane(plan, memory_of(plan))
    for _ in range(30):
        lane.advance()
    words = memory_words(plan, lane.scene)
    signs = [2.0 * np.unpackbits(np.array(bits, np.uint8))[:900] - 1 for bits in words["memory"]]
    for roll in lane.view().rolls:
        y = roll.points[-1 if roll.accepted else 0]
        pull = 2 * np.sqrt(1 / words["temperature"] / sum(words["groups"]))
        field = pull * (signs[0] * y[0] + signs[1] * y[1]) + 2 / words["temperature"] * words["cue"] * signs[0]
        spins = uniform(roll.words) < 1 / (1 + np.exp(-field))
        assert (spins != (roll.x[:900] > 0)).sum() <= 1  # Numbers of float32 may lie on the edge.


def uniform(words) -> np.ndarray:
    """The numbers of 900 sites, in whole-number arithmetic."""

    def mixed(h):
        h = ((h ^ (h >> 16)) * 0x21F0AAAD) & 0xFFFFFFFF
        h = ((h ^ (h >> 15)) * 0x735A2D97) & 0xFFFFFFFF
        return h ^ (h >> 15)

    starts = (((2**31 + i) * 0x9E3779B9 + words[0]) & 0xFFFFFFFF for i in range(900))
    return np.array([((mixed(mixed(start) ^ words[1]) >> 9) + 0.5) * 2.0**-23 for start in starts])


def test_another_size_compiles_nothing_and_another_temperature_keeps_the_spins():
    lane = LandscapeLane(PLAN, memory_of(PLAN))
    lane.advance()
    before = np.asarray(lane.state.x)
    for changed in (PLAN.replace(temperature=1.2), PLAN.replace(side=30, pictures="heart and apple")):
        lane.change(changed, memory_of(changed))
        np.testing.assert_array_equal(np.asarray(lane.state.x)[:64], before[:64])
        assert lane.view().counts.sum() == 0 and lane.state.x.shape == (SITES, lane.chains)


@pytest.mark.parametrize("pair", PAIRS)
def test_pictures_keep_their_overlap_on_smaller_lattices(pair):
    one, two = PAIRS[pair]
    found = [(drawn(one, side) * drawn(two, side)).mean() for side in (30, 20, 12)]
    assert np.ptp(found) < 0.15
    assert all(abs(drawn(name, 30).mean()) < 0.35 for name in (one, two))
