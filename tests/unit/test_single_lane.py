"""What is said of one lane: its mean energy beside the exact one, and when it was right."""

import dataclasses
import math
import re

import numpy as np
import pytest

from pmpviz.capabilities.sampling import evidence, picture, standings, table, words
from pmpviz.capabilities.sampling.draws import Draws, DrawsView
from pmpviz.capabilities.sampling.equations import model_equation
from pmpviz.capabilities.sampling.first_right import right_since
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.capabilities.sampling.statistics import Summary
from pmpviz.live.store import Series
from pmpviz.models import build_spec
from pmpviz.models.tables import TableModel
from pmpviz.player.numbers import integer
from pmpviz.runs import run as running
from tests.unit.races import PLAN, disagreeing, wait


def test_a_single_lane_s_mean_energy_stands_beside_the_exact_one(begin):
    live = begin(Plan(model="square:8x8,J=0.3", chains=256, budget=1.0, lanes=(sampler("gibbs"),)))
    view = wait(live, lambda view: view.lanes and view.lanes[0].cold is None)
    assert words.found(view) == words.NOTHING_YET
    live.play()
    view = wait(live, lambda view: view.status == "done" and view.truth is not None)
    row = view.lanes[0].series.last
    x = np.asarray(live.ask(lambda live: running.positions(live.lanes[0].run), wait=20.0))
    energies = -np.array([view.model.log_weight(each) for each in x])
    assert row["energy:mean"] == pytest.approx(energies.mean(), rel=1e-4)
    assert row["energy:error"] == pytest.approx(energies.std(ddof=1) / 16, rel=1e-4)
    off = (energies.mean() - view.truth.energy) / row["energy:error"]
    said = words.found(view)
    assert off > 3 and said.startswith("Not yet right: mean energy") and "after 1 sweep, " in said
    far, deviations = said.split("after 1 sweep, ")[1].split(" standard errors) above the exact ")[0].split(" (")
    assert float(deviations) == pytest.approx(off, rel=0.06)
    assert float(far) == pytest.approx(energies.mean() - view.truth.energy, abs=row["energy:error"])
    # Where no exact one is known it stands beside the reference's, within both errors.
    for energy, begins in (((-3000.0, 0.5), "Not yet right: "), ((energies.mean(), 0.5), "Within chance now: ")):
        other = dataclasses.replace(view, truth=dataclasses.replace(view.truth, energy=None, sampled_energy=energy))
        assert words.found(other).startswith(begins) and " the reference samples' " in words.found(other)
    live.set_plan(live.plan.replace(budget=300.0))
    live.play()
    view = wait(live, lambda view: view.lanes[0].sweep == 300 and view.status == "done")
    last = view.lanes[0].series.last
    met = abs(last["energy:mean"] - view.truth.energy) <= evidence.rare(evidence.FAR, 256) * last["energy:error"]
    assert words.found(view).startswith("Right within chance, first after ") == met
    assert words.found(view.at(1)) == said
    # What was right once is not taken back where chance goes a little further.
    first = ", first after 9 sweeps"
    told = {since: words._apart(view.lanes[0], 3.5, 1.0, since, 256)[0] for since in ("", first)}
    assert told[""] == "Not yet right" and told[first].startswith(f"Right within chance{first}")
    # How far it is off is said all the same, and is nothing right where the chains disagree.
    assert words._apart(view.lanes[0], 3.5, 1.0, first, 256)[1] == "3.5 (3.5 standard errors) above"
    apart = disagreeing(view, 1.37).lanes[0]
    assert words._apart(apart, 3.5, 1.0, first, 256)[0] == (
        "Not for good yet: within chance, first after 9 sweeps, now 3.5 standard errors above again, and its "
        "chains still disagree (R-hat of the energy 1.37, 1 where alike)"
    )
    assert words._apart(apart, 1.5, 1.0, first, 256)[0].startswith(f"Right within chance{first}, though its chains")
    # Of what has not been seen to stay there nothing is said to have been right.
    assert words._apart(view.lanes[0], 1.5, 1.0, "", 256) == ("Within chance now", "1.5 above")
    unsure = "Not for sure yet: within chance now, though its chains still disagree "
    assert words._apart(apart, 1.5, 1.0, "", 256)[0].startswith(unsure)
    assert words._apart(apart, 2.5, 1.0, "", 256) == (
        "In doubt, and its chains still disagree (R-hat of the energy 1.37, 1 where alike)",
        "2.5 (2.5 standard errors) above",
    )
    # Few chains know their own error badly: what is far of many is chance of four.
    assert words._apart(view.lanes[0], 2.9, 1.0, "", 4)[0] == "Right within chance"
    assert words._apart(view.lanes[0], 7.4, 1.0, "", 4)[0] == "In doubt"
    assert words._apart(view.lanes[0], 2.9, 1.0, "", 256) == ("In doubt", "2.9 (2.9 standard errors) above")
    # Whoever subtracts what is printed gets what is told.
    for one, two, apart in (
        ("−2\u202f407.3", "−2\u202f570.3", "163.0"),
        ("−1\u202f000", "210.25", "1\u202f210"),
        ("1.0", "1.00", ""),
        ("2·10⁻⁵", "1", ""),
    ):
        assert words._between(one, two) == apart
    mean, exact = (float(each) for each in re.findall(r"−(\d+\.\d+)", said))
    decimals = len(far.partition(".")[2])
    assert far == f"{abs(mean - exact):.{decimals}f}"
    # The start is no wait for Play, nor a first sweep in the making.
    for playing in (False, True):
        then = dataclasses.replace(view, playing=playing).at(0)
        assert words.found(then) == standings.verdict(then) == words.AT_START


@pytest.mark.parametrize("chains", (2, 4, 16))
def test_a_mean_of_few_chains_is_beyond_chance_as_seldom_as_one_of_many(chains):
    """Within 4.5 standard errors of the share of the normal law beyond two standard deviations."""
    values, share = np.random.default_rng(0).normal(size=(40_000, chains)), math.erfc(math.sqrt(2.0))
    off = np.abs(values.mean(1)) / (values.std(1, ddof=1) / math.sqrt(chains))
    assert abs((off > evidence.rare(2, chains)).mean() - share) < 4.5 * math.sqrt(share * (1 - share) / len(values))


def test_a_single_lane_says_after_how_many_sweeps_its_energy_was_right(begin):
    """The present says nothing of how soon; once it is known the first passage stays the first, however long one looks,
    and it is known once as many sweeps again are made."""
    law = (0.0, 0.0)

    def of(means):
        series = Series(("sweep", "energy:mean", "energy:error"))
        columns = {"sweep": np.arange(1.0, len(means) + 1), "energy:mean": means, "energy:error": np.ones(len(means))}
        series.append(columns)
        return series

    def passed(sweeps, right, chains=256):
        return right_since(of(np.where(np.arange(1, sweeps + 1) < right, 9.0, 1.0)), 0, sweeps, law, chains)

    assert passed(300, 40) == passed(80, 40) == (40, 40)
    assert passed(300, 1) == passed(2, 1) == (1, 1)
    assert passed(79, 40) is passed(40, 99) is None
    # One that touches the exact value as it falls, and is beyond it on average for as long again, was not right then.
    slow = of(np.concatenate([np.full(39, 9.0), [1.9], np.full(60, 1.6), np.full(200, 0.5)]))
    start, end = right_since(slow, 0, 300, law, 256)
    assert 55 < start <= end < 75
    assert passed(300, 40, chains=4) is None, "of four chains chance allows nearly everything"
    start, end = passed(20_000, 40)
    assert start <= 40 <= end < 100
    # A run is looked at again and again: what is told of it never changes.
    live = begin(Plan(model="square:8x8,J=0.3", chains=256, budget=300.0, lanes=(sampler("gibbs"),)))
    wait(live, lambda view: view.lanes and view.lanes[0].cold is None)
    live.play()
    wait(live, lambda view: view.status == "done" and view.truth is not None)
    lane = live.view.lanes[0]
    assert lane.right is not None and lane.right == live.ask(lambda run: run.lanes[0].right)
    first, *_, last = range(lane.since + 2 * lane.right[1], lane.sweep + 1)
    told = {evidence.first_right(lane.at(sweep)) for sweep in (first, (first + last) // 2, last)}
    assert told == {evidence.first_right(lane)} != {""}
    assert evidence.first_right(lane.at(first - 1)) == ""
    # Nor does a class, which reads of the lane itself, hear before of what was known then.
    assert lane.at(first).right == lane.right and lane.at(first - 1).right is None


def test_where_no_law_is_known_a_single_lane_says_whether_its_energy_is_at_rest(begin):
    live = begin(Plan(model="square:8x8,J=0.3", chains=256, lanes=(sampler("gibbs"),)))
    view = wait(live, lambda view: view.lanes and view.lanes[0].cold is None)

    def said(sweeps, slope):
        series = Series(("sweep", "energy:mean", "energy:error"))
        sweep = np.arange(1.0, sweeps + 1)
        series.append({"sweep": sweep, "energy:mean": slope * sweep, "energy:error": np.ones(sweeps)})
        lane = dataclasses.replace(view.lanes[0], series=series, sweep=sweeps, points=())
        return words.found(dataclasses.replace(view, lanes=(lane,), truth=None, energy=None))

    assert "; in the last 100 sweeps this mean has fallen by 50; the reference to compare it with is" in said(200, -0.5)
    assert "; in the last 100 sweeps this mean has risen by 50; the" in said(200, 0.5)
    assert "; in the last 100 sweeps this mean has moved by chance alone; the" in said(200, 0.01)
    assert "since" not in said(100, -9.0), "of few sweeps nobody knows"


def test_where_a_clamp_has_taken_the_exact_value_it_is_said(begin):
    live = begin(Plan(model="square:8x8,J=0.3", chains=256, budget=3.0, lanes=(sampler("gibbs"),)))
    wait(live, lambda view: view.lanes and view.lanes[0].cold is None)
    live.play()
    view = wait(live, lambda view: view.status == "done")
    clamped = dataclasses.replace(view, plan=view.plan.replace(clamp=((0, 1),)), truth=None, energy=None)
    clamped = dataclasses.replace(clamped, lanes=(dataclasses.replace(view.lanes[0], points=()),))
    assert "; with clamped sites no exact value is known, and the reference to" in words.found(clamped)
    # While a reference is made the exact energy answers a race.
    waits = dataclasses.replace(clamped, plan=view.plan, energy=-1e4, lanes=clamped.lanes * 2)
    said = standings.verdict(waits)
    assert said.startswith("By energy alone: Gibbs and Gibbs have energies ")
    assert " standard errors off the exact one. For the rest the reference " in said and said.endswith("being made.")
    # In the cold all chains are in one state: their own error is that of rounding, and tells nothing.
    for off, told in ((0.05, "Gibbs and Gibbs are right within chance"), (5.0, "Gibbs and Gibbs have energies ")):
        series = Series(("sweep", "energy:mean", "energy:error"))
        series.append({"sweep": np.arange(1.0, 3), "energy:mean": np.full(2, off - 3610), "energy:error": [1e-4, 1e-4]})
        lane = dataclasses.replace(waits.lanes[0], series=series, sweep=2)
        cold = dataclasses.replace(waits, energy=-3610.0, lanes=(lane, lane))
        assert standings.verdict(cold).startswith(f"By energy alone: {told}")


def test_no_speed_is_told_before_a_sweep_is_done(idle):
    lane = dataclasses.replace(idle.lanes[0], sweep=0, rate=0.141)
    assert "sweeps/s" not in picture._sub(lane, 60.0)
    assert picture._sub(dataclasses.replace(lane, sweep=1), 60.0).endswith(" · now computes 0.141 sweeps/s")
    # Of several lanes, which wait for each other, what a sweep takes is told.
    own = dataclasses.replace(lane, sweep=2, seconds=14.2)
    assert " · 7.10 s a sweep · 14.2 s of computing" in picture._sub(own, 60.0, several=True)


def test_statistics_of_draws_count_since_the_first_one_that_was_begun_under_the_settings(idle):
    series = Series(("sweep", "draw"))
    lane = dataclasses.replace(idle.lanes[0], since=5, sweep=12, points=(), completed_draws=0, summary=Summary())
    late = dataclasses.replace(lane, draws=DrawsView(series, 0, 4, 8, whole=False))
    assert dict(zip(table.COLUMNS, table._row(late), strict=True))["statistics since"] == "sweep 16"
    begun = dataclasses.replace(lane, sweep=18, draws=DrawsView(series, 0, 2, 8))
    assert dict(zip(table.COLUMNS, table._row(begun), strict=True))["statistics since"] == "sweep 16"


def test_the_equation_has_the_constant_that_the_energies_of_the_charts_have(idle):
    model = build_spec("square:4x4,J=0.2")
    constant = float(model.log_weight(np.zeros(16, np.int8)))
    assert constant and rf"E(x) = -\sum_i b_i x_i - \sum_{{i<j}} w_{{ij}} x_i x_j - {constant:.2f}" in model_equation(
        idle
    )


def test_a_single_lane_of_draws_speaks_of_finished_ones(begin):
    live = begin(PLAN.replace(budget=7.0))
    wait(live, lambda view: view.lanes)
    live.play()
    view = wait(live, lambda view: view.status == "done")
    assert words.found(view) == "Perturb-and-max-product: its first draw, of 8 sweeps, is not done."
    live.set_plan(PLAN.replace(budget=21.0))
    live.play()
    view = wait(live, lambda view: view.status == "done" and view.lanes[0].sweep == 21)
    assert "in draw 2 of each chain, " in words.found(view) and " the exact " in words.found(view)


@pytest.mark.parametrize(
    ("model", "settle"), [("square:8x8,couplings=frustrated,J=1", False), ("square:8x8,J=0.4", True)]
)
def test_of_draws_that_are_not_right_it_is_said_whether_their_messages_settle(begin, model, settle):
    lanes = (sampler("pmp", sweeps_per_draw=64),)
    live = begin(Plan(model=model, chains=256, budget=64.0, lanes=lanes))
    wait(live, lambda view: view.lanes)
    live.play()
    view = wait(live, lambda view: view.status == "done" and view.truth is not None)
    residual = view.lanes[0].draws.series.last["residual:mean"]
    change = "" if settle else f", and messages do not settle (they change by some {residual:.2g})"
    assert (residual < words.UNREST) == settle
    assert words.found(view).startswith(f"Too {'low' if settle else 'high'}{change}: mean energy ")


def test_between_draws_before_and_after_a_change_of_the_settings_there_is_none():
    draws = Draws(("sweep", "energy:mean"))

    def sweeps(*numbers):
        draws.append({"sweep": np.array(numbers), "energy:mean": np.zeros(len(numbers))}, 4)

    sweeps(*range(1, 7))
    draws.renew()
    draws.renew()  # Of one stroke of a knob.
    sweeps(*range(7, 17))
    view = draws.view(4)
    assert view.changes == ((6, 1),) and view.series.bins(0, 16).mean["sweep"].tolist() == [4, 12, 16]


def test_draws_are_counted_from_a_change_of_the_settings_as_beneath_the_picture(idle):
    series = Series(("sweep", "draw"))
    series.append({"sweep": np.array([8, 16, 32, 40]), "draw": np.array([1, 2, 3, 4])})
    lane = dataclasses.replace(idle.lanes[0], sweep=45, draws=DrawsView(series, 4, 5, 8), completed_draws=4)
    assert words._in_draw(lane, 4) == "in draw 4 of each chain" and picture._counted(lane) == "4 draws a chain"
    assert picture._draws(lane) == (4, 40, 8, "")
    changed = dataclasses.replace(lane.draws, changes=((20, 2),))
    late = dataclasses.replace(lane, since=20, completed_draws=2, draws=changed)
    assert picture._draws(late) == (2, 40, 8, " since sweep 20")
    assert words._in_draw(late, 4) == "in draw 2 of each chain since sweep 20"
    assert picture._counted(late) == "2 draws a chain since sweep 20"


def test_draws_of_a_long_run_are_counted_from_a_change_that_its_curve_has_only_in_bins(idle):
    draws, until = Draws(("sweep",)), 30_005

    def sweeps(first, last):
        draws.append({"sweep": np.arange(first, last + 1)}, 8)

    sweeps(1, 12_019)
    draws.renew()
    sweeps(12_020, until)
    lane = dataclasses.replace(idle.lanes[0], since=12_019, sweep=until, draws=draws.view(8))
    number = int(lane.draws.series.last["draw"])
    made = (until - 12_024) // 8  # The draw that was being made at the change is of neither.
    assert words._in_draw(lane, number) == f"in draw {integer(made)} of each chain since sweep {integer(12_019)}"


def test_zeros_that_may_part_the_states_are_told_of_chains(begin):
    view = wait(begin(PLAN), lambda view: view.lanes and view.truth is not None)

    def told(kind: str, table: list) -> bool:
        lanes = tuple(dataclasses.replace(lane, kind=kind) for lane in view.lanes)
        model = TableModel.of((2, 2), [((0, 1), np.array(table))])
        return "may part" in words.reference_words(dataclasses.replace(view, model=model, lanes=lanes))

    zeros = [[0.0, -np.inf], [-np.inf, 0.0]]
    assert told("chain", zeros) and not told("draw", zeros) and not told("chain", [[0.0, 1.0], [1.0, 0.0]])
