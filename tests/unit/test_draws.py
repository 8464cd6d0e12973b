"""Finished draws are what is shown, counted and compared; the noise of the reference is that of samples."""

import numpy as np
import pytest

from pmpviz.capabilities.sampling import picture, standings, words
from pmpviz.capabilities.sampling.draws import DrawsView
from pmpviz.capabilities.sampling.lane import Lane
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.metrics.mmd import Reference
from pmpviz.metrics.noise import noise_band
from pmpviz.models import build_spec
from pmpviz.player.update import Cursors, Desk
from pmpviz.player.wire import decode
from pmpviz.runs.schedule import Budget
from tests.unit.races import PLAN, wait


def advanced(plan: Plan, sweeps: int, chunk: int = 64) -> Lane:
    model = build_spec(plan.model)
    lane = Lane(plan.lanes[0], plan.begin_lane(model, 0))
    lane.warm()
    while lane.count < sweeps:
        lane.advance(Budget(), min(chunk, sweeps - lane.count))
    return lane


@pytest.mark.parametrize("chunk", [1, 5, 64])
def test_finished_draws_are_what_the_algorithm_counts_and_end_where_a_new_noise_begins(chunk):
    lane = advanced(PLAN, 101, chunk)
    view = lane.view(False, None, False)
    assert view.draws.done == view.completed_draws == 12 and view.draws.age == 5
    assert lane.draws.series.bins().mean["sweep"].tolist() == list(range(8, 97, 8))
    energies = lane.series.bins().mean["energy:mean"]
    np.testing.assert_array_equal(lane.draws.series.bins().mean["energy:mean"], energies[7:96:8])


def test_a_draw_begun_under_other_settings_is_not_shown_as_finished():
    lane = advanced(PLAN, 13)
    lane.change(sampler("pmp", sweeps_per_draw=8, damping=0.1), lane.run.target)
    while lane.count < 40:
        lane.advance(Budget(), 40 - lane.count)
    assert lane.draws.series.bins().mean["sweep"].tolist() == [8, 24, 32, 40]
    assert lane.view(False, None, False).completed_draws == 3


def test_the_energy_of_draws_has_a_second_axis_and_the_draw_in_the_making_a_card_of_its_own(begin):
    live = begin(PLAN.replace(budget=101.0))
    wait(live, lambda view: view.lanes)
    live.play()
    view = wait(live, lambda view: view.status == "done")
    meta, blobs = decode(picture.update(view, Cursors(), Desk(), "none"))
    cards = {card["id"]: card for card in meta["traces"]}
    faint, draws = cards["energy"]["lines"]
    assert faint["faint"] and draws["dots"] and "12 finished draws" in cards["energy"]["unit"]
    read = lambda index: np.frombuffer(blobs[index], "<f4")  # noqa: E731
    assert read(cards["energy"]["upper"]["y"]).tolist() == list(range(1, 13))
    # Before a class finished draws alone, as in a race.
    large = decode(picture.update(view, Cursors(), Desk(large=True), "none"))[0]["traces"]
    alone = next(card for card in large if card["id"] == "energy")
    assert [line.get("dots", False) for line in alone["lines"]] == [True] and "faint" not in alone["unit"]
    making = cards["making"]
    assert making["title"] == "Draw 13 in the making: energy" and making["span"] == [0, 8]
    assert read(making["lines"][0]["x"]).tolist() == [1, 2, 3, 4, 5]
    assert making["lines"][0]["begun"] == 96 == meta["lanes"][0]["measured"]
    meta, blobs = decode(picture.update(view, Cursors(), Desk(at=24), "none"))
    assert next(card for card in meta["traces"] if card["id"] == "making")["title"] == "Draw 3, done: energy"
    meta, blobs = decode(picture.update(view, Cursors(), Desk(at=28), "none"))
    making = next(card for card in meta["traces"] if card["id"] == "making")
    assert making["title"] == "Draw 4 in the making: energy"
    assert np.frombuffer(blobs[making["lines"][0]["x"]], "<f4").tolist() == [1, 2, 3, 4]
    assert meta["lanes"][0]["sub"] == "looking back at sweep 28 · draw 4: sweep 4 of 8"


def two_hills(rng, rows):
    return (rng.random((rows, 24)) < np.where(rng.random((rows, 1)) < 0.5, 0.95, 0.05)).astype(np.int8)


@pytest.mark.parametrize("rows", [64, 800])  # Fewer and more than the reference has.
def test_the_noise_band_holds_nine_of_ten_independent_samples_of_a_law_with_two_hills(rows):
    """Its share outside is 10 % within 4.5 standard errors, and of the uncertainty of the reference's own quantiles."""
    rng = np.random.default_rng(5)
    counts, beyond = [], []
    for _ in range(40):
        reference = Reference.of(two_hills(rng, 400))
        band = noise_band(reference, rows)
        found = [reference.mmd2(two_hills(rng, rows)) for _ in range(10)]
        counts.append(np.mean([band.low <= each <= band.high for each in found]))
        beyond.append(np.mean([each > band.most for each in found]))
    error = np.std(counts, ddof=1) / np.sqrt(len(counts))
    assert abs(np.mean(counts) - 0.9) < 4.5 * error + 0.01
    # One in a thousand is expected; of 400 more than five would come once in ten thousand times.
    assert sum(beyond) * 10 <= 5 and band.most > 1.5 * band.high


def test_there_is_no_band_of_one_draw():
    assert not noise_band(Reference.of(two_hills(np.random.default_rng(0), 50)), 1).known


def test_finished_draws_are_counted_at_the_moment_that_is_looked_back_at(begin):
    live = begin(PLAN.replace(budget=21.0))
    wait(live, lambda view: view.lanes)
    live.play()
    view = wait(live, lambda view: view.status == "done")
    said = []
    for at in (7, 8, 15, 16, None):
        cards = decode(picture.update(view, Cursors(), Desk(at=at), "none"))[0]["traces"]
        said.append(next(card for card in cards if card["id"] == "energy")["unit"].split(" a chain")[0])
    one, two = "1 finished draw", "2 finished draws"
    assert said == ["0 finished draws", one, one, two, two]


@pytest.mark.parametrize(("algorithm", "length"), [("pmp", 20), ("perturb_and_descend", 10)])
def test_only_finished_draws_are_compared_with_the_reference(begin, algorithm, length):
    lanes = (sampler(algorithm, sweeps_per_draw=length), sampler("gibbs"))
    live = begin(PLAN.replace(lanes=lanes, budget=9.0))
    wait(live, lambda view: view.lanes)
    live.play()
    view = wait(live, lambda view: view.status == "done" and view.lanes[1].points)
    assert not view.lanes[0].points and view.lanes[0].making == (9, length)
    assert f"its first draw, of {length} sweeps, is not done" in standings.verdict(view)
    assert decode(picture.update(view, Cursors(), Desk(), "none"))[0]["lanes"][0]["sub"].startswith(
        f"first draw: sweep 9 of {length}"
    )
    # Beside samples of the other lane what it makes is drawn as none, and said to be none at the chart.
    cards = {card["id"]: card for card in decode(picture.update(view, Cursors(), Desk(), "none"))[0]["traces"]}
    assert [line.get("faint", False) for line in cards["energy"]["lines"]] == [True, False]
    assert cards["energy"]["unit"].startswith("faint: ") and cards["energy"]["unit"].endswith(", first draw not done")
    live.set_plan(live.plan.replace(budget=66.0))
    live.play()
    view = wait(live, lambda view: view.lanes[0].sweep == 66 and view.status == "done" and view.lanes[0].points)
    assert [point.sweep for point in view.lanes[0].points] == [s for s in (16, 32, 64, 66) if s >= length]
    assert not view.lanes[0].making and "first draw" not in standings.verdict(view)


def test_a_draw_begun_before_a_change_is_not_the_first_that_counts():
    lane = advanced(PLAN, 13)
    lane.change(sampler("pmp", sweeps_per_draw=8, damping=0.1), lane.run.target)
    lane.advance(Budget(), 1)
    view = lane.view(False, None, False)
    assert view.making == (0, 8)
    assert words.first_draw(view) == "its first draw under the new settings begins in 2 sweeps"
    while lane.count < 20:
        lane.advance(Budget(), 1)
    view = lane.view(False, None, False)
    assert words.first_draw(view) == "its first draw, of 8 sweeps, is not done" and not lane.waiting
    # A draw that was older than the new ones will be has no sweep left.
    assert DrawsView(view.draws.series, 0, 50, 20, whole=False).before == 0
    while lane.count < 24:
        lane.advance(Budget(), 1)
    assert lane.view(False, None, False).making is None
