"""The verdict of a race after changes, and of a moment that is looked back at."""

import dataclasses

from pmpviz.capabilities.sampling import picture, standings, table, then, words
from pmpviz.capabilities.sampling.live import Stretch
from pmpviz.capabilities.sampling.plan import sampler
from pmpviz.player.update import Cursors, Desk
from pmpviz.player.wire import decode
from pmpviz.runs.schedule import Budget
from tests.unit.races import PLAN, energies, race, wait


def test_a_row_of_before_a_change_is_not_of_statistics_since_it(idle):
    view = race(idle, [0.5, 0.2, 0.1, 0.05, 0.02, 0.02, 0.001], since=8)
    rows = [dict(zip(table.COLUMNS, *table.rows(each), strict=True)) for each in (view.at(4), view.at(16))]
    assert [row["statistics since"] for row in rows] == ["n/a", "sweep 8"]


def test_a_moment_under_other_settings_is_no_verdict_of_the_present_ones(idle):
    view = race(idle, *[[0.5, 0.2, 0.1, 0.05, 0.02, 0.02, 0.001]] * 2, since=8)
    assert standings.verdict(view.at(4)).startswith("The settings were others then: they changed at sweep 8")


def changed(view, since, **now):
    """The view's two lanes with a change at sweeps of their own, `before` which its plan held, at a later moment."""
    plan, last = view.plan.replace(**now), max(since)
    lanes = [dataclasses.replace(view.lanes[0], past=False, since=at, sweep=99, points=()) for at in since]
    more = {"before": ((last, view.plan),), "marks": ((last, "T 1 → 2"),), "changed_at": {last: tuple(since)}}
    return dataclasses.replace(view, plan=plan, lanes=tuple(lanes), law_since=min(since), **more)


def test_of_a_moment_before_a_change_it_is_said_what_the_settings_were(idle):
    view = changed(idle, (80, 83), beta=0.5)
    told = "T was 1 then: the settings changed at sweeps 80 to 83, where the verdict begins anew."
    assert standings.verdict(view.at(24)) == standings.verdict(view.at(80)) == told
    assert standings.verdict(view.at(82)) == (
        "Only some lanes had changed then: T was 1 until sweeps 80 to 83, where the verdict begins anew."
    )
    assert "T was" not in standings.verdict(view.at(84))
    one = changed(idle, (80,), beta=0.5, lanes=(sampler("pmp", sweeps_per_draw=8, damping=0.1),), field=((0, 1.0),))
    assert words.found(one.at(80)) == (
        "T was 1, damping was 0.5 and no field was painted then: the settings changed at sweep 80, where the verdict "
        "begins anew."
    )


def test_of_a_moment_before_a_change_the_energy_is_judged_by_the_exact_one_of_then(begin):
    live = begin(PLAN)
    live.play()
    view = wait(live, lambda view: view.lanes and view.truth is not None)
    right, wrong = (energies(race(view, [0.5] * 4), *[off] * 4).lanes[0] for off in (1, 8.3))
    law = Stretch(0, 83, view.truth.energy)

    def said(law, *lanes):
        lanes = [dataclasses.replace(lane, label=f"Lane {k + 1}", sweep=4) for k, lane in enumerate(lanes)]
        now = changed(view, (80,) * len(lanes), beta=0.5)
        lanes = tuple(dataclasses.replace(lane, since=80, points=(), past=True) for lane in lanes)
        return then.under_others(dataclasses.replace(now, lanes=lanes, earlier=(law,), present=now.plan))

    assert said(law, wrong).endswith(" begins anew. By mean energy alone, then: 8.3 standard errors too high.")
    both = "By mean energy alone, then: Lane 1 and Lane 3 right within chance, Lane 2 8.3 standard errors too high."
    assert said(law, right, wrong, right).endswith(both)
    assert "energy" not in said(dataclasses.replace(law, exact=False), wrong)


def test_a_mark_and_the_exact_line_stand_at_the_sweep_of_each_lane(idle):
    view = dataclasses.replace(changed(idle, (80, 83), beta=0.5), energy=-3.0)
    meta, _ = decode(picture.update(view, Cursors(), Desk(), "none"))
    assert meta["marks"] == [[80, "T 1 → 2"], [83, "T 1 → 2"]]
    assert next(card for card in meta["traces"] if card["id"] == "energy")["exact"]["since"] == 80


def test_a_run_knows_at_which_sweep_each_lane_took_a_change_up(begin):
    lanes = (sampler("gibbs"), sampler("gibbs"))
    live = begin(PLAN.replace(lanes=lanes))
    wait(live, lambda view: len(view.lanes) == 2 and all(lane.cold is None for lane in view.lanes))

    def apart(live):
        for lane, sweeps in zip(live.lanes, (3, 5), strict=True):
            while lane.count < sweeps:
                lane.advance(Budget(), 1)

    live.ask(apart, wait=20.0)
    live.set_plan(PLAN.replace(lanes=lanes, beta=0.5))
    view = wait(live, lambda view: view.changed_at)
    assert view.law_since == 3 and view.changed_at == {5: (3, 5)} and [lane.since for lane in view.lanes] == [3, 5]
    assert [(each.since, each.until) for each in view.earlier] in ([], [(0, 5)])


def test_of_a_moment_before_a_change_what_was_compared_is_not_kept(idle):
    view = changed(idle, (80, 83), beta=0.5)
    cells = {name: row for name, *row in zip(table.COLUMNS, *table.rows(view.at(24)), strict=True)}
    assert all(cells[name] == ["–", "–"] for name in ("MMD²", "noise", "compared at", "marginal L1", "pair error"))
    cells = {name: row for name, *row in zip(table.COLUMNS, *table.rows(view.at(90)), strict=True)}
    assert cells["MMD²"] == ["n/a", "n/a"]


def test_looking_back_says_what_was_known_then(idle):
    view = race(idle, [0.5, 0.2, 0.1, 0.05, 0.02, 0.009], [0.5, 0.4, 0.3, 0.2, 0.1, 0.05])
    assert "first came" in standings.verdict(view) and "None is within" in standings.verdict(view.at(8))
    assert view.at(8).lanes[0].sweep == 8 and view.at(8).lanes[0].point.sweep == 8
    assert view.at(8).lanes[0].summary.ess is None


def test_a_lane_has_not_come_within_the_noise_in_the_sweeps_that_were_measured(idle):
    """Not in those since, of which nobody knows."""
    quick, slow = ([0.5, 0.2, 0.1, 0.05, 0.02, last] for last in (0.009, 0.05))
    view = race(idle, quick, slow)
    late = dataclasses.replace(view, lanes=tuple(dataclasses.replace(lane, sweep=23) for lane in view.lanes))
    assert standings.verdict(late).endswith(
        ". Lane 2 had not after 16 sweeps (when last compared); more draws change nothing in their law."
    )


def test_who_begins_within_the_noise_has_not_won(idle):
    said = standings.verdict(race(idle, [0.5, 0.2, 0.1, 0.009], [0.001] * 4))
    assert said.startswith("Lane 1 came within the noise of 16 samples after 2–4 sweeps. ")
    assert said.endswith("Lane 2 is within the noise from the start.")
    said = standings.verdict(race(idle, [0.5, 0.2, 0.1, 0.05], [0.001] * 4))
    assert said.startswith("Lane 2 is within the noise from the start. Lane 1 has not come within it (MMD² 0.0500")


def test_a_lane_that_has_not_moved_is_not_compared(idle):
    view = dataclasses.replace(race(idle, [0.0113], [0.5, 0.0113], [0.5, 0.2]), playing=True)
    said = standings.verdict(view)
    assert "Lane 2 is nearest: MMD² 0.0113 after 1 sweep" in said and said.count("Lane 1") == 1
    # Before who is nearest: a class, which reads the first sentences alone, sees why a lane has no curve.
    assert said.startswith("None is within the noise. Lane 1 is still computing its first sweep. Lane 2 is nearest")
    assert "Lane 1 has made no sweep yet" in standings.verdict(dataclasses.replace(view, playing=False))


def test_lanes_are_compared_after_as_many_sweeps_also_where_one_was_measured_later(idle):
    """As the fewest sweeps decide; where seconds do, each by its last metrics, with its sweeps."""
    ahead = race(idle, [0.5, 0.2, 0.045], [0.5, 0.2, 0.0451, 0.02])
    assert standings.verdict(ahead).endswith("Lane 1 and Lane 2 are level: MMD² 0.0450 and 0.0451 after 2 sweeps.")
    far = standings.verdict(race(idle, [0.5, 0.05], [0.5, 5.0, 5.0, 5.0]))
    assert "100 times below Lane 2 after as many sweeps (" in far
    by_time = dataclasses.replace(ahead, plan=ahead.plan.replace(unit="seconds"))
    assert " after 2 sweeps" in standings.verdict(by_time) and " after 4 sweeps" in standings.verdict(by_time)


def test_the_order_behind_the_first_is_of_one_sweep_which_is_said_where_one_is_ahead(idle):
    came = [0.5, 0.001, 0.001]
    said = standings.verdict(race(idle, came, [0.5, 0.2, 0.1], [0.5, 0.4, 0.3, 0.02]))
    assert said.endswith("nearest Lane 2, then Lane 3 (MMD² 0.10 and 0.30 after 2 sweeps).")
