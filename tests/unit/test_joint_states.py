"""Joint states of small models are counted of all chains, under one setting, beside their exact probabilities."""

import dataclasses
import time

import jax
import numpy as np
import pytest

from pmpviz import runs
from pmpviz.capabilities.sampling import evidence
from pmpviz.capabilities.sampling.lane import Lane
from pmpviz.capabilities.sampling.live import LiveRun
from pmpviz.capabilities.sampling.picture import update
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.capabilities.sampling.states import StatesView, spread_of
from pmpviz.models import build_spec
from pmpviz.player.update import Cursors, Desk
from pmpviz.player.wire import decode
from pmpviz.runs.run import draws_done
from pmpviz.runs.schedule import Budget
from pmpviz.samplers import make_sampler
from pmpviz.types import Evidence, Target

FOUR = build_spec("complete:4,theta=0.25")


def lane_of(model, name="gibbs", chains=64, evidence=None, **knobs):
    target = Target.of(model, evidence)
    return Lane(sampler(name), runs.start(make_sampler(name, **knobs), target, jax.random.key(3), chains))


def swept(lane, chunks):
    for _ in range(chunks):
        lane.advance(Budget(), 16)
    return lane.view(False, None, False).states


def test_shares_go_to_the_law_and_names_are_the_states():
    states = swept(lane_of(FOUR, chains=512), 60)
    spins = np.array([[2 * int(bit) - 1 for bit in name] for name in states.names])
    weight = np.exp(0.25 * (spins.sum(1) ** 2 - 4))  # Every pair twice, as the paper's sum has it.
    assert len(states.names) == 16 and np.allclose(states.law, weight / weight.sum())
    assert states.count == 512 * 60 and states.shares.sum() == pytest.approx(1)
    # Independent samples of this size are off by .004 or so; the chains go over from one hill to the other slowly.
    assert states.distance < 0.05


@pytest.mark.parametrize("count", [64, 256, 2048])
def test_exact_draws_are_seldom_doubted_and_hardly_ever_called_wrong(count):
    """Of 1,000 sets: 0.140 in 256 draws of four spins is not right within chance, whatever the energy says."""
    law = lane_of(FOUR, chains=8).view(False, None, False).states.law
    shares = np.random.default_rng(count).multinomial(count, law, size=1_000) / count
    sets = [StatesView(("0000",), law, each, count, spread_of(law)) for each in shares]
    # About 7 and .1 of them: the distance has a longer tail on this side than the normal law.
    assert 0 < sum(each.doubted for each in sets) < 20
    assert not any(each.beyond for each in sets)
    off = dataclasses.replace(sets[0], shares=law + np.where(np.arange(16) == 0, 1, -1 / 15) * 0.14)
    assert off.distance == pytest.approx(0.14)
    assert (off.doubted, off.beyond) == {64: (False, False), 256: (True, False), 2048: (True, True)}[count]


def test_shares_that_no_chance_explains_are_told_before_what_many_fewer_samples_say():
    """Half of the draws of a fair coin: by chance .009 of 1,984 draws are off on average, and hardly ever .05."""
    law, view = np.array([0.5, 0.5]), StatesView(("0", "1"), np.array([0.5, 0.5]), np.array([0.6, 0.4]), 1984, 0.3)
    assert view.floor == pytest.approx(np.sqrt(0.25 * 2 / (np.pi * 1984)), rel=1e-3) and view.beyond
    assert not dataclasses.replace(view, shares=np.array([0.51, 0.49])).beyond
    assert not StatesView(("0", "1"), law, np.zeros(2), 0, 0.3).beyond
    lane = lane_of(FOUR, "pmp", chains=8, sweeps_per_draw=4)
    swept(lane, 2)
    shown = lane.view(False, None, False)
    off = evidence.states_off(dataclasses.replace(shown, states=view))
    assert off.startswith("Not right: how often each state came is off by 0.10 in 1\u202f984 draws")
    assert evidence.states_off(dataclasses.replace(shown, states=view, draws=None)) == ""
    # The law has a state as often as its reverse: which of them is favoured is what the first messages do.
    assert shown.knobs["messages"] == "zero"
    assert evidence.unlike(dataclasses.replace(shown, states=view)).startswith(" 0 and 1 are as likely, but first ")
    even = dataclasses.replace(view, shares=np.array([0.51, 0.49]))
    tilted = dataclasses.replace(view, law=np.array([0.6, 0.4]), shares=np.array([0.7, 0.3]))
    balanced = dataclasses.replace(shown, states=view, knobs={**shown.knobs, "messages": "balanced"})
    for each in (balanced, *(dataclasses.replace(shown, states=states) for states in (even, tilted))):
        assert evidence.unlike(each) == ""
    assert evidence.states_came(dataclasses.replace(shown, states=view)) == off.removeprefix("Not right: ")


def test_only_states_that_the_evidence_allows_are_named():
    states = swept(lane_of(FOUR, evidence=Evidence.of(4, {0: 1, 2: 0})), 3)
    assert states.names == ("00", "01", "10", "11")
    assert states.law == pytest.approx(np.full(4, 0.25), abs=0.2) and states.law[1] == pytest.approx(states.law[2])


def test_a_draw_counts_once():
    lane = lane_of(FOUR, "pmp", chains=8, sweeps_per_draw=32)
    for _ in range(40):
        lane.advance(Budget(), 8)
        done = draws_done(lane.run)
        assert lane.states.view().count <= 8 * done
    assert done > 1 and lane.states.view().count >= 8


def test_before_the_first_draw_there_are_no_samples_to_be_off():
    live = LiveRun(Plan(model="complete:4,theta=0.25", chains=8, lanes=(sampler("pmp"),)))
    try:
        until = time.monotonic() + 180
        while not live.view.lanes and time.monotonic() < until:
            live.touch()
            time.sleep(0.02)
        cards = decode(update(live.view, Cursors(), Desk(), "none"))[0]["traces"]
        assert next(card["unit"] for card in cards if card["id"] == "states") == "no samples yet; lines: exact p(x)"
    finally:
        live.close()


def test_a_change_begins_anew():
    lane = lane_of(FOUR)
    assert swept(lane, 3).count == 192
    lane.change(lane.plan, Target.of(FOUR, beta=0.0))
    assert lane.states.view().count == 0 and np.allclose(lane.states.view().law, 1 / 16)


@pytest.mark.parametrize("spec, count", [("complete:5,theta=0.1", 32), ("potts:3x1,q=3,J=0.5,periodic=false", 27)])
def test_up_to_thirty_two_states(spec, count):
    assert len(swept(lane_of(build_spec(spec)), 1).names) == count


@pytest.mark.parametrize("spec", ["complete:6,theta=0.1", "square:64x64"])
def test_more_states_are_not_listed(spec):
    assert swept(lane_of(build_spec(spec), chains=2), 1) is None
