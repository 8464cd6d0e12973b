"""The verdict of a race: first passages, energies, and who is nearest."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np

from pmpviz.capabilities.sampling import before_class, picture, standings, words
from pmpviz.capabilities.sampling.evidence import energy_now, how_far
from pmpviz.metrics.mmd import Reference
from pmpviz.metrics.noise import noise_band
from pmpviz.player.update import Cursors, Desk
from pmpviz.player.wire import decode
from tests.unit.races import PLAN, disagreeing, energies, race, wait


def test_nothing_is_said_before_anything_ran(idle):
    still = race(idle, [0.001], [0.5])
    assert standings.verdict(still) == "Nothing has run yet: press Play."
    # Lanes that ran under others go on from there, unlike those that begin anew.
    ran = tuple(dataclasses.replace(lane, sweep=9, since=9, points=()) for lane in still.lanes)
    assert standings.verdict(dataclasses.replace(still, lanes=ran)) == (
        "Nothing has run yet under these settings: press Play to go on from here, Reset to begin anew."
    )


def test_nobody_wins_by_a_reference_that_has_not_come_to_rest(idle):
    gone = race(idle, [0.5, 0.2, 0.004], [0.5, 0.2, 0.3])
    truth = SimpleNamespace(settled=False, check="its mean energy still fell by 62", exact=False, energy=None)
    said = standings.verdict(dataclasses.replace(gone, truth=truth))
    assert said == "No winner: the reference is a long run, and its mean energy still fell by 62."
    assert "Lane 1" in standings.verdict(gone)


def test_the_first_passage_stays_the_first_however_long_the_race_goes_on(idle):
    quick, slow = [0.5, 0.2, 0.1, 0.05, 0.02, 0.009], [0.5, 0.4, 0.3, 0.2, 0.1, 0.05]
    first = standings.verdict(race(idle, slow, quick))
    came = "Lane 2 first came within the noise of 16 samples after 8–16 sweeps"
    stays = "more draws change nothing in their law"
    assert first == f"{came}. Lane 1 had not after 16 sweeps (when last compared); {stays}."
    brief = standings.verdict(race(idle, slow, quick), brief=True)
    assert brief == f"{came}. Lane 1 had not, and {stays}."
    spikes = [0.02, 0.001, 0.03, 0.001]
    later = standings.verdict(race(idle, [*slow, 0.04, 0.03, 0.02, 0.005], [*quick, *spikes]))
    assert later == f"{came}, then Lane 1 after 128–256. By this run's seconds Lane 2 was first, too."
    ended = race(idle, [*slow, 0.04, 0.03, 0.02, 0.005], [*quick, *spikes])
    assert standings.verdict(ended, brief=True) == f"{came}, then Lane 1 after 128–256."
    # Who has left the noise again is said to have.
    out = standings.verdict(race(idle, slow, [*quick, 0.03]))
    assert out.startswith(f"{came}, though its MMD² is above it now. Lane 1 had not after 16")
    at_once = standings.verdict(race(idle, slow, [0.5, 0.2, 0.009]))
    assert "Lane 2 first came within the noise of 16 samples after 2 sweeps. Lane 1 had" in at_once
    assert "None is within the noise. Lane 2 is nearest" in standings.verdict(race(idle, slow, quick[:5]))


def test_samples_of_the_law_itself_neither_come_into_the_noise_nor_stay_above_it_but_by_chance(idle):
    def said(*curves):
        view = race(idle, *curves)
        lanes = (*view.lanes[:-1], dataclasses.replace(view.lanes[-1], label="Exact", guarantee="exact"))
        return standings.verdict(dataclasses.replace(view, lanes=lanes))

    chance = "Exact draws from the law itself: where it is above the noise, that is chance."
    slow, quick = [0.5, 0.4, 0.3, 0.2], [0.5, 0.2, 0.009, 0.008]
    for exact in ([0.02, 0.02, 0.02, 0.012], [0.02, 0.02, 0.02, 0.009]):
        assert said(slow, exact).startswith(f"{chance} Lane 1 has not come within it (MMD² 0.200 ")
        assert said(quick, exact).startswith("Lane 1 came within the noise of 16 samples after 2 sweeps. ")
        assert said(quick, exact).endswith(chance) and said(quick, exact).count("Exact") == 1
    assert said(slow, [0.005, 0.005, 0.005, 0.005]).startswith("Exact is within the noise from the start")
    # Where no noise is known nothing is above it.
    none = race(idle, slow, slow, high=math.nan)
    exact = dataclasses.replace(none.lanes[1], label="Exact", guarantee="exact")
    assert chance not in standings.verdict(dataclasses.replace(none, lanes=(none.lanes[0], exact)))


def test_what_a_sweep_of_the_first_takes_is_told_where_it_is_many_times_another_s(idle):
    """After fewer sweeps it may be the slower one for all that: nobody has been first by seconds yet."""
    view = race(idle, [0.5, 0.2, 0.1, 0.05, 0.02, 0.009], [0.5, 0.4, 0.3, 0.2, 0.1, 0.05])
    lanes = [dataclasses.replace(lane, kind="chain") for lane in view.lanes]
    for took, told in ((1.6, ". Its sweep takes 100 times as long as one of Lane 2"), (0.1, "")):
        took = dataclasses.replace(lanes[0], seconds=took), dataclasses.replace(lanes[1], seconds=0.016)
        raced = dataclasses.replace(view, lanes=took)
        said = standings.verdict(raced)
        assert said.startswith(
            f"Lane 1 first came within the noise of 16 samples after 8–16 sweeps{told}. Lane 2 had not "
        )
        assert "its sweep" not in standings.verdict(raced, brief=True), "a class has no room for it"
    # After another's name it says whose.
    second = race(idle, [0.5, 0.2, 0.1, 0.05, 0.02, 0.009], [0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.009])
    both = [dataclasses.replace(lane, kind="chain") for lane in second.lanes]
    both = dataclasses.replace(both[0], seconds=1.6), dataclasses.replace(both[1], seconds=0.016)
    said = standings.verdict(dataclasses.replace(second, lanes=both))
    assert "then Lane 2" in said and ". A sweep of Lane 1 takes " in said and "its sweep" not in said


def test_a_passage_is_counted_from_the_change_of_the_settings(idle):
    said = standings.verdict(race(idle, *[[0.5, 0.2, 0.1, 0.05, 0.02, 0.02, 0.001]] * 2, since=8))
    assert "Lane 1 and Lane 2 both came within the noise of 16 samples after 8–24 sweeps." in said
    assert "since the change at sweep 8" in said
    # A chain that is first looked at 64 sweeps after a change may have been there before.
    late = race(idle, *[[0.5] * 7 + [0.02, 0.001]] * 2, since=64)
    chains = [dataclasses.replace(lane, draws=None, points=lane.points[-1:]) for lane in late.lanes]
    said = standings.verdict(dataclasses.replace(late, lanes=tuple(chains)))
    assert said.startswith("Lane 1 and Lane 2 both came within the noise of 16 samples after up to 64 sweeps.")


def test_between_the_same_looks_nobody_is_first_and_seconds_may_say_another_one(idle):
    """Of two looks that are the same ones nobody knows whose passage was earlier."""
    view = race(idle, *[[0.5, 0.2, 0.1, 0.009]] * 2, [0.5, 0.2, 0.1, 0.05, 0.009])
    lanes = [dataclasses.replace(lane, since_seconds=-1.0 * (place > 0)) for place, lane in enumerate(view.lanes)]
    said = standings.verdict(dataclasses.replace(view, lanes=tuple(lanes)))
    together = "Lane 1 and Lane 2 both came within the noise of 16 samples after 2–4 sweeps, then Lane 3 after 4–8"
    assert said.startswith(together)
    assert said.endswith(". By this run's seconds Lane 1 was first.") and "first came" not in said
    # Some 100 ms are what else the machine does: of them nobody is the quicker one.
    assert "seconds" not in standings.verdict(view)
    alone = dataclasses.replace(view, lanes=(lanes[0], lanes[2]))
    said = standings.verdict(alone)
    came = " first came within the noise of 16 samples after 2–4 sweeps, then Lane 3 after 4–8"
    assert said.endswith(f"{came}. By this run's seconds Lane 1 was first, too.")


def test_a_race_by_seconds_says_them(idle):
    view = race(idle, [0.5, 0.2, 0.1, 0.009], [0.5, 0.2, 0.1, 0.05, 0.009])
    said = standings.verdict(dataclasses.replace(view, plan=view.plan.replace(unit="seconds")))
    assert said == "Lane 1 first came within the noise of 16 samples after 40.0 ms, then Lane 2 after 80.0 ms."


def test_a_lane_is_not_there_while_its_energy_is_far_off(begin):
    live = begin(PLAN)
    live.play()
    view = wait(live, lambda view: view.lanes and view.truth is not None)
    view = race(view, [0.5, 0.2, 0.1, 0.009, 0.009], [0.5, 0.2, 0.1, 0.05, 0.05])
    said = standings.verdict(energies(view, 50, 20, 10, 8.3, 7.5))
    assert said.startswith(
        "Lane 1's energy is still 7.5 standard errors too high, though by MMD² it came within the noise after 2–4 "
        "sweeps. Lane 2 has not come within it (MMD² 0.0500 after"
    )
    # Where the curve has come to the exact line since both were compared, it is said when that was.
    far = energies(view, 50, 20, 10, 8.3, 7.5)
    for lane in far.lanes:
        then = lane.points[-1].sweep + 1
        row = {"sweep": then, "energy:error": 0.1}
        row |= {f"energy:{kind}": view.truth.energy for kind in ("mean", "low", "high")}
        lane.series.append({name: np.array([value]) for name, value in row.items()})
    now = [dataclasses.replace(lane, sweep=lane.points[-1].sweep + 1) for lane in far.lanes]
    said = standings.verdict(dataclasses.replace(far, lanes=tuple(now)))
    compared = now[0].points[-1].sweep - now[0].since
    came = "Lane 1 came within the noise by MMD² after 2–4 sweeps"
    assert said.startswith(f"{came}, its energy not yet after {compared}. ")
    met = standings.verdict(energies(view, 50, 20, 10, 7.5, -2))
    by = "within the noise of 16 samples (by MMD² and energy)"
    assert met.startswith(f"Lane 1 first came {by} after 4–8 sweeps (by MMD² alone after 2–4). ")
    assert "off" not in met
    both = energies(race(view, *[[0.5, 0.2, 0.1, 0.009, 0.009]] * 2), 50, 20, 10, 8.3, 7.5)
    assert standings.verdict(both) == (
        "Lane 1 and Lane 2 cannot be told apart: all came within the noise by MMD² after 2–4 sweeps, and their "
        "energies are 7.5 standard errors off."
    )
    quick, slow = (energies(both, 50, 20, 10, *last).lanes[k] for k, last in enumerate(((1, 1), (9, 1))))
    said = standings.verdict(dataclasses.replace(both, lanes=(quick, slow)))
    assert said == f"Lane 1 first came {by} after 2–4 sweeps, then Lane 2 after 4–8 (by MMD² alone after 2–4)."
    apart = energies(both, 50, 20, 10, 8.3, 18).lanes[0]
    said = standings.verdict(dataclasses.replace(both, lanes=(apart, both.lanes[1])))
    # In one sentence: a class reads so many letters, and of all lanes.
    came = "Lane 1 and Lane 2 came within the noise by MMD² after 2–4 sweeps, and their energies are"
    assert said == f"{came} 18 and 7.5 standard errors off."
    begun = energies(race(view, *[[0.001] * 3] * 3), 50, 20, 10)
    assert standings.verdict(begun) == (
        "Lane 1, Lane 2 and Lane 3 are within the noise by MMD² from the start, and their energies are 10.0, 10.0 and "
        "10.0 standard errors off."
    )
    from_start = race(view, [0.001] * 5, [0.5, 0.2, 0.1, 0.05, 0.05])
    said = standings.verdict(energies(from_start, 50, 20, 10, 8, 6))
    assert said.startswith("Lane 1's energy is still 6.0 standard errors too high, though by MMD² it is within the ")
    said = standings.verdict(energies(from_start, 50, 20, 10, 2, 2))
    # By MMD² alone the random start is nearly the law already: what was won is the energy.
    came = (
        "Lane 1 first came within the noise of 16 samples by energy after 2–4 sweeps, by MMD² its start already was. "
    )
    assert said.startswith(came)
    said = standings.verdict(energies(from_start, 2, 2, 2, 2, 2))
    assert said.startswith("Lane 1 is within the noise from the start: MMD²")
    gone = standings.verdict(energies(view, 50, 20, 10, 1, 9))
    assert "after 2–4 sweeps, but its energy is now 9.0 standard errors too high. " in gone
    # What dipped below the noise by chance and rose again has come when both are there at one look.
    dipped = standings.verdict(energies(race(view, [0.5, 0.009, 0.05, 0.05, 0.009]), 50, 20, 2, 2, 2))
    assert dipped == f"Lane 1 first came {by} after 4–8 sweeps (by MMD² alone after 1)."


def test_chains_that_disagree_within_the_noise_are_said_to(idle):
    """All together have the law's marginals; each of them is still where it began."""
    came, still = [0.5, 0.2, 0.1, 0.05, 0.02, 0.009], [0.5, 0.4, 0.3, 0.2, 0.1, 0.05]
    view = race(idle, came, still)
    said = standings.verdict(disagreeing(view, 1.4))
    assert said.startswith(
        "Lane 1 first came within the noise of 16 samples after 8–16 sweeps, though its chains still disagree "
        "(R-hat of the energy 1.4"
    )
    assert said.count("still disagree") == 1, "of what is not within the noise nobody says that it has mixed"
    assert "still disagree" not in standings.verdict(disagreeing(view, 1.4, keeps=False)), "few sweeps, not few states"
    both = standings.verdict(disagreeing(race(idle, came, came), 1.4))
    assert (
        ", though the chains of Lane 1 and Lane 2 still disagree (R-hat of the energy 1.40 and 1.40, 1 where "
        "alike)." in both
    )
    home = standings.verdict(disagreeing(race(idle, [0.001] * 6, came), 1.4))
    assert "sees nothing wrong with the start itself, though its chains still disagree (R-hat of the energy 1.4" in home
    for agrees in (disagreeing(view, 1.05), disagreeing(view, 1.4, counted=63), view):
        assert "disagree" not in standings.verdict(agrees)


def test_of_several_above_the_noise_the_nearest_is_named_where_the_noise_can_tell(idle):
    first = [0.5, 0.2, 0.009]
    said = standings.verdict(race(idle, first, [0.5, 0.4, 0.3], [0.5, 0.3, 0.1], [0.5, 0.3, 0.304]))
    assert said.endswith(
        ". The others had not after 2 sweeps (when last compared), nearest Lane 3, then Lane 2 and Lane 4 level "
        "(MMD² 0.10, 0.30 and 0.30)."
    )
    assert "nearest" not in standings.verdict(race(idle, first, [0.5, 0.4, 0.3], [0.5, 0.3, 0.304]))


def test_an_energy_that_stays_wrong_decides_and_is_said_first(begin):
    """MMD² has all four within the noise from the start; class mode's one chart is that of the energy."""
    live = begin(PLAN)
    live.play()
    view = wait(live, lambda view: view.lanes and view.truth is not None)
    view = race(view, *[[0.001] * 4] * 4)
    wrong, *right = [energies(view, *off).lanes[k] for k, off in enumerate([[109] * 4, *[[50, 20, 2, 2]] * 3])]
    view = dataclasses.replace(
        energies(view, *[2] * 4), lanes=(dataclasses.replace(wrong, guarantee="approximate"), *right)
    )
    assert standings.verdict(view) == (
        "Lane 1: energy 109 standard errors too high, MMD² within the noise. The others came within it by energy after "
        "2 sweeps, by MMD² their start already was."
    )

    def first(view, large, what="id", energy=None):
        view = dataclasses.replace(view, energy=energy)
        return decode(picture.update(view, Cursors(), Desk(large=large), "none"))[0]["traces"][0][what]

    assert [first(view, large) for large in (False, True)] == ["mmd-sweeps", "energy"]
    # So it is where MMD² alone was there first, and remains so; where both were there at once MMD² is seen.
    assert first(dataclasses.replace(view, lanes=tuple(right)), True) == "energy"
    both = energies(race(view, [0.5, 0.2, 0.009, 0.009], [0.5, 0.2, 0.1, 0.009]), 50, 20, 2, 2)
    assert first(both, True) == "mmd-sweeps"
    # Nothing beneath the pictures is told before a class: there the chart says of how many chains it is.
    assert first(both, True, "title") == f"MMD² to the law, {PLAN.chains} chains"
    # While there is nothing to compare samples with, a class sees what is there.
    assert [first(dataclasses.replace(both, truth=None), large) for large in (True, False)] == ["energy", "mmd-sweeps"]
    # Where a formula gives the energy a class sees it from the start on, and nothing changes in mid-race.
    unbegun = dataclasses.replace(view, lanes=tuple(dataclasses.replace(each, points=()) for each in view.lanes))
    for seen in (unbegun, both, view):
        assert [first(seen, True, what, energy=-3.0) for what in ("id", "title")] == ["energy", "Energy"]
        assert first(seen, False, energy=-3.0) == "mmd-sweeps"
    later = energies(race(view, [0.5, 0.2, 0.009, 0.009, 0.009], [0.5, 0.2, 0.1, 0.09, 0.08]), 50, 20, 9, 2, 2)
    for lanes in (later.lanes, [dataclasses.replace(lane, points=lane.points[:3], sweep=2) for lane in later.lanes]):
        assert first(dataclasses.replace(later, lanes=tuple(lanes)), True) == "energy"


def test_what_an_approximate_lane_that_has_not_come_gets_wrong_is_said(begin):
    live = begin(PLAN)
    live.play()
    view = wait(live, lambda view: view.lanes and view.truth is not None)
    view = race(view, [0.5, 0.2, 0.1, 0.05], [0.5, 0.2, 0.009, 0.009])
    wrong, view = energies(view, -12, -12, -12, -12).lanes[0], energies(view, 1, 1, 1, 1)
    right, said = view.lanes[1], {}
    for guarantee in ("approximate", "invariant"):
        lanes = (dataclasses.replace(wrong, guarantee=guarantee), right)
        said[guarantee] = standings.verdict(dataclasses.replace(view, lanes=lanes))
    assert "Lane 1 had not after " in said["approximate"]
    assert said["approximate"].endswith(
        "; its energy is 12 standard errors too low; more draws change nothing in their law."
    )
    assert said["invariant"].endswith("(when last compared)."), "time will mend it"


def test_a_class_reads_of_the_energies_that_it_sees(begin):
    """MMD^2, by which a desk is told who came, is not on screen there."""
    live = begin(PLAN)
    live.play()
    view = wait(live, lambda view: view.lanes and view.truth is not None)
    view = race(view, *([[0.5, 0.2, 0.1, 0.009, 0.009]] * 2))
    falls = energies(view, 90, 40, 0.5, 0.5, 0.5).lanes[0]
    off, view = energies(view, 40, 40, 40, 40, 40).lanes[0], energies(view, 1, 1, 1, 1, 1)
    falls = dataclasses.replace(falls, kind="chain", right=(2, 2))
    lanes = falls, dataclasses.replace(off, guarantee="approximate")
    told = before_class.energy_verdict(dataclasses.replace(view, lanes=lanes))
    wrong = f"Lane 1 stays {how_far(energy_now(view, off))}"
    assert told == f"Right energy: Lane 1 after 2 sweeps; {wrong}."
    assert "MMD" not in told and "40 standard errors too high" in told
    chains = tuple(dataclasses.replace(lane, guarantee="invariant") for lane in (off, off))
    none = before_class.energy_verdict(dataclasses.replace(view, lanes=chains))
    assert none.startswith("No energy is right yet: Lane 1 is ") and "stays" not in none
    # Where another law is coming, no energy is known, or MMD^2 sees what it does not, the verdict is that of a desk.
    late = tuple(dataclasses.replace(lane, since=2) for lane in lanes)
    assert not before_class.energy_verdict(dataclasses.replace(view, lanes=late)), "sweeps are counted from there"
    far = energies(race(view, *([[0.5, 0.2, 0.1, 0.1, 0.1]] * 2)), 1, 1, 1, 1, 1)
    assert not before_class.energy_verdict(far) and "noise" in standings.verdict(far)
    assert not before_class.energy_verdict(dataclasses.replace(view, coming="T 2"))
    gone = SimpleNamespace(settled=True, energy=None, sampled_energy=None, energy_deviation=float("nan"))
    assert not before_class.energy_verdict(dataclasses.replace(view, energy=None, truth=gone))
    for large in (True, False):
        said = decode(picture.update(view, Cursors(), Desk(large=large), "none"))[0]["said"][0]
        assert ("Right energy" in said) is large


def test_those_that_have_not_come_are_named_together(idle):
    quick, slow = [0.5, 0.2, 0.009, 0.009, 0.009], [0.5, 0.4, 0.3, 0.2, 0.1]
    said = standings.verdict(race(idle, quick, slow, slow))
    assert said.endswith("after 2 sweeps. The others had not after 8 sweeps (when last compared).")
    assert standings.verdict(race(idle, quick, quick, slow, slow[:4])).endswith(
        "Lane 3 and Lane 4 had not after 4–8 sweeps (when last compared)."
    )


def test_metrics_know_the_energy_that_the_lane_had_then(begin):
    live = begin(PLAN, speed=60.0)  # Of a longer run only means of several sweeps are held.
    live.play()
    view = wait(live, lambda view: view.lanes and len(view.lanes[0].points) > 3)
    lane = view.lanes[0]
    held = [(point, lane.series.bins(point.sweep, point.sweep)) for point in lane.points[1:]]
    known = [(point, bins.mean) for point, bins in held if bins.width == 1]
    assert known
    for point, row in known:
        np.testing.assert_allclose(point.energy, (row["energy:mean"][0], row["energy:error"][0]), rtol=1e-6)


def test_where_the_reference_is_one_state_there_is_no_noise_to_be_judged_by(idle):
    rows = np.zeros((400, 5), np.int8)
    rows[:3, 0] = 1
    assert not noise_band(Reference.of(rows), 64).known
    said = standings.verdict(race(idle, [0.5, 0.2], [0.5, 0.0], high=float("nan")))
    assert said == f"{words.NO_NOISE} MMD²: Lane 2 0.00 and Lane 1 0.200."


def test_lanes_that_the_noise_cannot_tell_apart_are_level(idle):
    said = standings.verdict(race(idle, [0.5, 0.2, 0.045], [0.5, 0.2, 0.0451], [0.5, 0.4, 0.3]))
    assert "Lane 1 and Lane 2 are level: MMD² 0.0450 and 0.0451 after 2 sweeps; " in said and "nearest" not in said
    assert said.endswith("; Lane 3 0.300.")  # Nobody is left out.


def test_of_three_none_is_left_out_where_none_is_within_the_noise(idle):
    said = standings.verdict(race(idle, [0.5, 0.2, 0.1], [0.5, 0.3, 0.2], [0.5, 0.4, 0.3]))
    assert said.endswith(
        "Lane 1 is nearest: MMD² 0.100 after 2 sweeps and 20.0 ms; Lane 2 0.200 (20.0 ms) and Lane 3 0.300 (20.0 ms)."
    )
