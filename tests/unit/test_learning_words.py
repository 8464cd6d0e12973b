"""What is said of a training: one sentence that answers, and beneath it likelihood and MMD, of the moment shown."""

import dataclasses
import math
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from pmpviz.capabilities.learning import picture
from pmpviz.capabilities.learning.lane import LearningLane, agreement, extent, likeness, shapes
from pmpviz.capabilities.learning.likelihood import Likelihood, LikelihoodJob, best_of, is_small
from pmpviz.capabilities.learning.live import LearningView
from pmpviz.capabilities.learning.plan import LearningPlan, learner, split
from pmpviz.capabilities.learning.verdict import _factor, mmd_note, scored, verdict
from pmpviz.capabilities.learning.words import BACK, more, numbers, offer
from pmpviz.capabilities.learning.words import said as said_of
from pmpviz.io.datasets import parse_dataset
from pmpviz.models import RBM
from pmpviz.player.update import Cursors, Desk, Envelope
from pmpviz.player.wire import decode

WIDE = RBM.of_layers(np.zeros((64, 64)))


def lane(
    label, *likelihoods, mmd2=(0.001,) * 4, iteration=64, agree=math.nan, guarantee="invariant", alike=0.05, spread=0.2
):
    told = {"noise": 0.01, "agree": agree, "alike": alike, "spread": spread}
    start = SimpleNamespace(mmd2=0.5, iteration=0, used=32.2, **told)
    looks = [SimpleNamespace(mmd2=each, iteration=iteration - k, used=20.6, **told) for k, each in enumerate(mmd2)]
    found = {"likelihoods": likelihoods, "independent": -206.0, "points": (start, *reversed(looks))}
    return SimpleNamespace(label=label, iteration=iteration, model=WIDE, guarantee=guarantee, **found)


def view_of(*lanes, held_out=True):
    return SimpleNamespace(lanes=lanes, held_out=held_out, status="", trouble=None)


def said(*lanes, held_out=True):
    view = view_of(*lanes, held_out=held_out)
    return " ".join([verdict(view), *numbers(view), more(view)]).strip()


def annealed(value, low, high, iteration=64, took=1.0):
    return Likelihood(iteration, took, value, low, high, False)


def test_nothing_is_said_before_anything_is_learned():
    assert said(lane("CD", iteration=0)) == "Nothing is learned yet, and what is seen is the random start: press Play."


def test_blobs_with_the_right_means_are_not_called_good():
    """MMD sees means: a model that is worse than independent pixels is said to be, whatever its MMD is."""
    assert "no better than pixels" in said(lane("CD", annealed(-206.02, -206.03, -206.01)))
    words = said(lane("CD", annealed(-350.0, -352.0, -348.0)))
    assert "worse than pixels that know nothing of each other (−206.0)" in words
    assert "−350.0 nats (estimated, within three standard errors −352.0 to −348.0) at iteration 64" in words
    assert "MMD² 0.00100 at iteration 64, no more than noise." in words
    assert "above noise." in said(lane("CD", annealed(-350.0, -352.0, -348.0), mmd2=(0.1,) * 4))


def test_lanes_are_compared_at_an_iteration_that_both_have_reached():
    apart = verdict(view_of(lane("CD", annealed(-120.0, -122, -118)), lane("PCD", annealed(-95.0, -97, -94))))
    by = "about 7·10¹⁰ times (25.0 nats) more probable with PCD than with CD"
    assert apart == f"At iteration 64 pictures are {by}. Samples of both are as near the data as chance allows."
    later = annealed(-90.0, -91.0, -89.0, 512, took=2.0)
    ahead = lane("PCD", annealed(-95.0, -97, -94), later, iteration=512)
    found = verdict(view_of(lane("CD", annealed(-120.0, -122, -118)), ahead))
    assert found == apart.replace("64 pictures", "64, the last that both have, pictures")
    alone = verdict(view_of(lane("CD", annealed(-120.0, -122, -118, 32)), ahead))
    assert alone.startswith(
        "CD is behind, at iteration 64 where PCD is at 512. "
        "In equal time (1.00 s of computing each, as far as both are scored) pictures are about "
    )
    assert alone.count("more probable") == 1
    assert alone.endswith(" −120.0 with CD at iteration 32, −90.00 with PCD at iteration 512.")
    assert verdict(view_of(lane("CD"), lane("PCD"))).startswith("No iteration at which the likelihood of both is known")


def test_one_is_ahead_only_where_the_errors_allow_it():
    near = said(lane("CD", annealed(-96.0, -98, -94)), lane("PCD", annealed(-95.0, -97, math.inf)))
    assert near.startswith(
        "At iteration 64 it is within the errors of the estimates whether pictures are more probable "
    )
    open_end = said(lane("CD", annealed(-96.0, -98, -94)), lane("PCD", annealed(-80.0, -85, math.inf)))
    # exp(11.0) is 59,874.
    assert "pictures are at least 59\u202f000 times (11.0 nats) more probable with PCD" in open_end
    assert "; how much more is not known" in near and near.count("Independent pixels give −206.0 nats.") == 1
    blobs = said(lane("CD", annealed(-350.0, -352.0, -348.0)), lane("PCD", annealed(-95.0, -97, -94)))
    assert "nats) more probable with PCD than with CD" in blobs and "; CD does worse than independent pixels." in blobs
    fallen = lane("PCD", annealed(-90.0, -91, -89, 16), annealed(-350.0, -352.0, -348.0))
    told = verdict(view_of(lane("CD", annealed(-95.0, -97, -94)), fallen))
    assert "; PCD, best at iteration 16, was below independent pixels by then. Samples" in told
    both = [lane(name, annealed(-350.0, -352.0, -348.0)) for name in ("CD", "PCD")]
    assert "pictures are no more probable than by independent pixels, with CD or with PCD" in verdict(view_of(*both))
    names = ("PMP · 1 sweep an iteration", "PMP · 10 sweeps an iteration")
    told = verdict(view_of(*(lane(name, annealed(k, k, k)) for name, k in zip(names, (-99.0, -95.0), strict=True))))
    by = "about 55 times (4.00 nats) more probable with 10 sweeps an iteration than with 1 sweep an iteration"
    assert f"are {by}." in told
    level = verdict(
        view_of(*(lane(name, Likelihood(64, 1.0, k, k, k, True)) for name, k in (("CD", -95.02), ("PCD", -95.0))))
    )
    assert "pictures are as probable with PCD as with CD, to 0.020 nats." in level


def test_lanes_are_compared_by_seconds_too_where_that_is_another_matter_and_not_before_anything_is_learned():
    """At iteration 80 one lane was told to be ahead by 0.06 nats that was five behind after as long computing."""
    early, even = annealed(-205.81, -205.82, -205.80, 64, 2.4), annealed(-205.86, -205.87, -205.85, 80, 0.4)
    slow = lane("PMP", early, annealed(-205.80, -205.81, -205.79, 80, 3.0))
    told = verdict(view_of(slow, lane("Gibbs", even, annealed(-200.8, -200.9, -200.7, 640, 2.9))))
    early = "At iteration 80 it is too early to compare: pictures are hardly more probable than by independent pixels. "
    after = "In equal time (2.90 s of computing each, as far as both are scored)"
    ahead = f"{after} pictures are about 150 times (5.01 nats) more probable with Gibbs"
    assert told.startswith(f"{early}{ahead}. Samples of both")
    level = verdict(view_of(slow, lane("Gibbs", even, annealed(-205.7, -205.82, -205.6, 640, 2.9))))
    assert level.startswith(f"{early}{after} the errors leave open which is ahead. ")


def test_nothing_is_laid_to_errors_where_values_are_exact():
    """One that is measured next only when it has got past the other has no equal time with it yet."""

    def exact(value, iteration, took):
        return Likelihood(iteration, took, value, value, value, True)

    far = lane("Exact", exact(-8.0, 64, 1.0))
    for others, words in (
        ([exact(-10.0, 80, 0.5), exact(-7.0, 96, 1.5)], "scored) it is too early to say which is ahead. "),
        ([exact(-8.01, 80, 1.0)], "scored) neither is ahead by more than 0.05 nats. "),
        (
            [exact(-10.0, 80, 0.5), exact(-9.9, 96, 1.5)],
            "scored) pictures are about 7.4 times (2.00 nats) more probable with Exact. ",
        ),
    ):
        told = verdict(view_of(far, lane("PCD", *others)))
        assert words in told and "errors" not in told, told


def test_likelihoods_of_those_who_learn_a_sampler_are_said_to_be_those_of_boltzmann_machines():
    both = [annealed(-95.0, -97, -94), annealed(-120.0, -122, -118)]
    pmp, gibbs = lane("PMP", both[0], guarantee="approximate"), lane("Gibbs", both[1])
    assert "with PMP than with Gibbs, as Boltzmann machines. Samples" in verdict(view_of(pmp, gibbs))
    assert "machine" not in verdict(view_of(lane("PCD", both[0]), gibbs))
    early = lane("PMP", annealed(-205.9, -206.1, -205.8), guarantee="approximate")
    hardly = verdict(view_of(early, lane("Gibbs", annealed(-205.8, -205.9, -205.7))))
    assert "too early to compare them as Boltzmann machines: " in hardly
    assert "by this for the samplers" in mmd_note(view_of(pmp, gibbs)) and "samplers" not in mmd_note(view_of(gibbs))


def test_how_near_the_data_samples_are_is_said_of_the_iteration_that_is_compared():
    """As the chart shows it: within the noise, out of it, or now in and now out."""
    far, near, mixed = (
        lane(name, annealed(k, k, k), mmd2=mmd2)
        for name, k, mmd2 in (("CD", -99, (0.1,) * 4), ("PCD", -95, (0.001,) * 4), ("PCD", -95, (0.001, 0.1, 0.001)))
    )
    apart = "Samples of CD are unlike the data; those of PCD are as near the data as chance allows."
    assert verdict(view_of(far, near)).endswith(f"than with CD. {apart}")
    assert verdict(view_of(far, far)).endswith(" Samples of both are unlike the data.")
    assert verdict(view_of(mixed, mixed)).endswith(" Samples of both are at times unlike the data.")


def test_samples_are_judged_by_several_looks_and_not_by_one():
    assert "MMD² 0.100 at iteration 3, above noise, above it in 1 of the last 3 looks." in said(
        lane("CD", mmd2=(0.1, 0.001, 0.001), iteration=3)
    )
    assert "above it in 2 of the last 4 looks" in said(lane("CD", mmd2=(0.1, 0.001, 0.1, 0.001)))


def test_what_hidden_units_stand_for_is_said_in_one_sentence_and_its_numbers_beneath():
    """Noise is called noise, whose neighbouring weights agree by chance; strokes and patches of any sign are found."""
    noise = np.random.default_rng(0).normal(size=(40, 64))
    stroke = np.zeros((4, 8, 8))
    stroke[0, 2:4], stroke[1, :, 5:7], stroke[2, 3:6, 3:6], stroke[3, :2] = 1, -1, 1, -1
    found = [agreement(noise, (8, 8)), agreement(stroke.reshape(4, 64), (8, 8))]
    assert abs(found[0]) < 0.05 < 0.5 < found[1]
    parts = "Most of a hidden unit's weight lies on about 13 of the 64 pixels, and neighbouring "
    said = "The filters are still noise: ", parts
    for agree, words in zip(found, said, strict=True):
        view = view_of(lane("PCD", annealed(-95.0, -97, -94), agree=agree))
        assert verdict(view).startswith(words) and verdict(view).count(".") == 1
        by = "about 10⁴⁸ times (111 nats) more probable than by independent pixels"
        assert f"held-out pictures are {by}" in verdict(view)
        assert len(numbers(view)) == 1 and "MMD" not in numbers(view)[0] and "hidden" not in numbers(view)[0]
        told = " ".join([*numbers(view), more(view)])
        assert "A picture switches on 21 of the 64 hidden units, on average (32 before learning)." in told
        assert f"weights {agree:.2f}, in noise 0." in told and "−95.00 nats" in told
    assert agreement(np.zeros((4, 4)), (2, 2)) == 0


def test_patches_that_are_worth_little_and_a_training_that_got_worse_are_not_praised():
    """Weights may agree before a picture is any more probable, and still do when it has become less so."""
    early = verdict(view_of(lane("PCD", annealed(-205.8, -205.9, -205.7), agree=0.5)))
    only = "Held-out pictures are only about 1.2 times (0.20 nats) more probable than by independent pixels"
    lies = (
        "ost of a hidden unit's weight lies on about 13 of the 64 pixels, and neighbouring weights mostly share a sign."
    )
    assert early == f"{only}; m{lies}"
    late = view_of(lane("PCD", annealed(-205.8, -205.9, -205.7, 1), agree=0.5))
    assert verdict(late) == f"M{lies}"
    for found, far in ((annealed(-206.2, -206.4, -206.1), "less"), (annealed(-206.1, -206.2, -206.0), "no more")):
        none = verdict(view_of(lane("PCD", found, agree=0.5)))
        than = f"{far} probable than by independent pixels"
        assert none.startswith(f"Held-out pictures are {than}; most of a hidden unit's weight lies on about 13 of ")
    # Neither more nor less probable, by as little as the errors.
    for found in (annealed(-206.38, -206.6, -205.0), annealed(-205.99, -206.01, -205.98)):
        level = verdict(view_of(lane("PCD", found, agree=0.5)))
        untold = "The likelihood cannot be told yet from that of independent pixels"
        assert level.startswith(f"{untold}; most of a hidden unit's weight lies on ")
    # Where it was beyond them before, that is no news of a beginning.
    once = annealed(-203.0, -203.2, -202.8, 64)
    back = verdict(view_of(lane("PCD", once, annealed(-206.0, -206.1, -205.9, 80), agree=0.5)))
    fallen = (
        "At iteration 80 the likelihood has fallen back to that of independent pixels (at best, at iteration 64, about "
    )
    assert back.startswith(fallen) and "cannot be told" not in back
    before = annealed(-19.4, -19.6, -19.3, 1536)
    low = annealed(-22.6, -22.9, -22.1, 2048)
    # A single estimate may be far off.
    assert "worse" not in verdict(view_of(lane("PCD", before, low, agree=0.43)))
    worse = view_of(lane("PCD", before, annealed(-21.6, -21.9, -21.1, 1792), low, agree=0.43))
    far = "about 25 times (3.20 nats) more probable at iteration 1 536 than at 2 048"
    expected = f"It has got worse: held-out pictures were {far}."
    assert verdict(worse).replace("\u202f", " ") == expected
    found = lane("PCD", before, annealed(-19.9, -20.1, -19.7, 2048), agree=0.43)
    found.independent = -26.0
    told = verdict(view_of(found)).replace("\u202f", " ")
    assert told.endswith(
        "about 450 times (6.10 nats) more probable than by independent pixels (at best 740 times, at iteration 1 536)."
    )
    # What came out too high by chance, with no upper end, was not the best; nor is one that is level by the errors.
    by_chance = (annealed(-18.0, -22.0, math.inf, 1024), before, annealed(-19.45, -19.7, -19.3, 2048))
    assert "at best" not in verdict(view_of(lane("PCD", *by_chance, agree=0.43)))
    assert best_of(by_chance) is before
    found.likelihoods = (annealed(-25.9, -25.91, -25.89, 1536), annealed(-25.98, -25.99, -25.97, 2048))
    expected = "only 0.020 nats more probable than by independent pixels (at best 0.10 nats, at iteration"
    assert expected in verdict(view_of(found))


def test_what_was_measured_at_another_iteration_than_is_on_screen_names_it():
    """At iteration 152 stood what had been found at 80."""
    for found, words in (
        (annealed(-204.12, -204.3, -203.9, 80), "at iteration 80 held-out pictures are about 6.6 times (1.88 nats)"),
        (annealed(-206.2, -206.4, -206.1, 80), "At iteration 80 held-out pictures are less probable"),
        (annealed(-206.0, -206.1, -205.9, 80), "At iteration 80 the likelihood cannot be told yet"),
        (annealed(-204.12, -204.3, -203.9, 152), "sign; held-out pictures are about 6.6 times"),
    ):
        assert words in verdict(view_of(lane("PCD", found, agree=0.5, iteration=152)))


def test_over_how_many_pixels_filters_spread_is_told_only_where_they_are_parts_of_the_picture():
    """Filters of one pattern and noise are none: neighbouring pixels agree in these, too."""
    rng, row = np.random.default_rng(1), np.zeros((8, 8))
    row[:, :1] = row[:, -1:] = 1.0
    noise = rng.normal(size=(64, 64))
    broad = np.kron(rng.normal(size=(64, 4, 4)), np.ones((2, 2))).reshape(64, 64)
    small = np.zeros((64, 8, 8))
    for k in range(64):
        small[k, k % 7 : k % 7 + 2, k // 10 : k // 10 + 2] = rng.choice([-1, 1])
    lone = rng.choice([-1, 1], (64, 64)) * (rng.random((64, 64)) < 0.02)
    unit, whose = "Most of a hidden unit's weight lies on", "of the 64 pixels, and neighbouring weights"
    for weight, words in (
        (noise, "The filters are still noise: "),
        (noise * 0.3 + row.reshape(64), "The filters are alike: much of each "),
        (broad, f"{unit} about 25 {whose} mostly "),
        (
            small.reshape(64, 64) + 0.05 * noise,
            f"{unit} about 4 {whose} mostly ",
        ),
        (
            small.reshape(64, 64) + 1.2 * lone,
            f"{unit} about 5 {whose} often ",
        ),
    ):
        agree, alike, spread = shapes(RBM.of_layers(weight), (8, 8))
        told = verdict(view_of(lane("PCD", agree=agree, alike=alike, spread=spread)))
        assert told.startswith(words), (told, agree, alike, spread)
    # How far they spread before is told where it was much farther.
    now = lane("PCD", agree=0.4, spread=0.1)
    now.points[1].spread = 0.3
    assert verdict(view_of(now)).startswith(f"{unit} about 6 of the 64 pixels (19 at iteration 61), and neighbouring ")
    assert abs(likeness(noise)) < 0.01 and abs(extent(noise) - 1 / 3) < 0.03
    assert likeness(noise[:1]) == 0 and likeness(np.ones((3, 4))) == 1 and extent(np.eye(4)) == 0.25


def test_pictures_that_no_model_has_drawn_are_called_the_random_start():
    plan = LearningPlan(data="bars:3x3", hidden=4, chains=20, batch=0)
    train, test = split(parse_dataset(plan.data))
    lane = LearningLane(plan.lanes[0], plan.begin(train)[0], train, test, 0)
    lane.likelihoods.close()
    for name, short in (("random start · ", "Random start"), ("its samples · ", "The model's samples")):
        view = LearningView(run=0, plan=plan, train=train, test=test, lanes=(lane.view(False),))
        (small,), (large,) = (
            decode(picture.update(view, Cursors(), Desk(large=large)))[0]["lanes"] for large in (False, True)
        )
        assert small["badge"].startswith(name) and large["short"] == short and large["label"].startswith(short)
        lane.advance(1)


def test_scores_beneath_a_comparison_are_called_the_latest_where_they_are_of_other_moments():
    """140 times (4.91 nats) in equal time stood above numbers that are 4.85 apart."""
    both = lane("PMP", annealed(-95.0, -97, -94)), lane("Gibbs", annealed(-99.0, -99.5, -98.0))
    assert numbers(view_of(*both))[0].startswith("PMP: ")
    later = lane("Gibbs", annealed(-99.0, -99.5, -98.0), annealed(-90.0, -91, -89, 80), iteration=80)
    assert numbers(view_of(both[0], later))[0].startswith("Latest scores. PMP: ")


def test_one_who_looks_back_is_shown_and_told_that_moment():
    """Filters, verdict and numbers are those that were kept last before it."""
    plan = LearningPlan(data="bars:6x6", hidden=5, chains=20, batch=0)
    train, test = split(parse_dataset(plan.data))
    lane = LearningLane(plan.lanes[0], plan.begin(train)[0], train, test, 0)
    lane.likelihoods.close()
    weights = [np.asarray(lane.training.model.weight)]
    while lane.count < 9:
        lane.advance(1)
        weights.append(np.asarray(lane.training.model.weight))
    lane.likelihoods.found = [annealed(-30.0, -31, -29, 2), annealed(-20.0, -21, -19, 8)]
    view = LearningView(run=0, plan=plan, train=train, test=test, lanes=(lane.view(False),))
    for at, of in ((None, 9), (9, 8), (3, 3), (0, 0)):
        found, payload = decode(picture.update(view, Cursors(), Desk(at=at)))
        filters = found["lanes"][0]["filters"]
        sent = np.frombuffer(payload[filters["weight"]], "i1").reshape(5, 36)
        limit = np.frombuffer(payload[filters["limit"]], "<f4")[:, None]
        assert filters["iteration"] == of and filters["total"] == 5 and found["of"] == at
        np.testing.assert_allclose(sent * limit / 127, weights[of], atol=limit.max() / 200)
        told = " ".join(found["said"])
        back = f"Looking back at iteration {at}" + ("" if at == of else f", filters of {of}") + ": "
        assert told.startswith(back) == (at is not None)
        assert ("−20.00 nats" in told) == (at in (None, 9)) and ("−30.00 nats" in told) == (at == 3)
        assert "press Play" not in told


def test_what_learning_raises_is_the_first_curve_and_what_mmd_cannot_see_stands_beneath_its_own():
    plan = LearningPlan(data="bars:3x3", hidden=4, chains=20, batch=0)
    train, test = split(parse_dataset(plan.data))
    lane = LearningLane(plan.lanes[0], plan.begin(train)[0], train, test, 0)
    lane.likelihoods.close()
    view = LearningView(run=0, plan=plan, train=train, test=test, lanes=(lane.view(False),))
    first, second, third = decode(picture.update(view, Cursors(), Desk()))[0]["traces"][:3]
    assert first["id"] == "likelihood" and first["exact"]["label"] == "independent pixels"
    assert first["exact"]["y"] == lane.likelihoods.independent
    assert first["least"] == 1, "nats: the axis does not zoom into noise"
    assert second["id"] == "reconstruction" and third["id"] == "mmd-iterations"
    assert "which are learned first" in third["note"]
    lane.likelihoods.found.append(Likelihood(0, 0.0, -6.0, -6.0, -6.0, True))
    before = LearningView(run=0, plan=plan, train=train, test=test, lanes=(lane.view(False),))
    assert decode(picture.update(before, Cursors(), Desk()))[0]["traces"][0]["lines"] == []
    # Of two lanes of which one is far behind a class, which sees one curve, sees that of equal time.
    lane.likelihoods.found.append(Likelihood(9, 2.5, -5.0, -5.0, -5.0, True))
    quick, slow = (dataclasses.replace(lane.view(False), iteration=count) for count in (9, 4))
    for other, large, x in ((slow, True, "seconds"), (slow, False, "iterations"), (quick, True, "iterations")):
        both = LearningView(run=0, plan=plan, train=train, test=test, lanes=(quick, other))
        meta, payload = decode(picture.update(both, Cursors(), Desk(large=large)))
        assert meta["traces"][0]["x"] == x and meta["traces"][0]["title"].startswith("Log-likelihood")
        timed = next(card for card in meta["traces"] if card["id"] == "likelihood-seconds")
        assert np.frombuffer(payload[timed["lines"][0]["x"]], "<f4").tolist() == [0.0, 2.5]


def test_a_curve_begins_before_the_first_step_and_a_pause_says_that_scores_still_arrive(monkeypatch):
    plan = LearningPlan(data="bars:6x6", hidden=30, chains=20, batch=0)
    train, test = split(parse_dataset(plan.data))
    asked = []
    monkeypatch.setattr(LikelihoodJob, "ask", lambda job, model, iteration, *_: asked.append(iteration))
    lane = LearningLane(plan.lanes[0], plan.begin(train)[0], train, test, 0)
    assert not asked and not is_small(lane.training.model), "nothing is compiled before Play"
    lane.advance(1)
    lane.advance(1)
    assert asked == [0, 1, 2]
    lane.likelihoods._wanted = [None]
    for playing, late, at in ((False, True, None), (True, False, None), (False, False, 1)):
        view = LearningView(run=0, plan=plan, train=train, test=test, playing=playing, lanes=(lane.view(False),))
        assert said_of(view, at, "cpu")[0].endswith(" Scores still arrive.") == late


def test_two_trainings_by_one_algorithm_have_two_hues():
    for name, other in (("descent", picture.BLUE), ("gibbs_reset", picture.ORANGE)):
        plan = LearningPlan(data="bars:3x3", hidden=4, chains=20, batch=0, lanes=(learner(name), learner(name)))
        train, test = split(parse_dataset(plan.data))
        lanes = [
            LearningLane(of, value, train, test, 0) for of, value in zip(plan.lanes, plan.begin(train), strict=True)
        ]
        for lane in lanes:
            lane.likelihoods.close()
        view = LearningView(run=0, plan=plan, train=train, test=test, lanes=tuple(lane.view(False) for lane in lanes))
        first, second = decode(picture.update(view, Cursors(), Desk()))[0]["lanes"]
        assert second["colour"] == other != first["colour"]


def test_all_curves_of_iterations_end_at_the_same_one_and_a_class_is_sent_a_row_of_the_data():
    plan = LearningPlan(data="bars:4x4", hidden=4, chains=20, batch=0)
    train, test = split(parse_dataset(plan.data))
    lane = LearningLane(plan.lanes[0], plan.begin(train)[0], train, test, 0)
    lane.likelihoods.close()
    while lane.count < 9:
        lane.advance(1)
    view = LearningView(run=0, plan=plan, train=train, test=test, lanes=(lane.view(False),))
    found, payload = decode(picture.update(view, Cursors(), Desk(large=True)))
    assert all(trace["span"] == [0, 9] for trace in found["traces"])
    row = found["data"]
    bits = np.unpackbits(np.frombuffer(payload[row["bits"]], "u1"), count=row["rows"] * row["cols"])
    pictures = bits.reshape(6, 5 * 5 + 1)[1:5, 1:].reshape(4, 5, 5)[..., :4].transpose(1, 0, 2)
    spread = np.linspace(0, len(train.x) - 1, 5).astype(int)
    assert spread[0] == 0 and spread[-1] == len(train.x) - 1, "from all over the data"
    np.testing.assert_array_equal(pictures, train.x[spread].reshape(5, 4, 4))
    assert decode(picture.update(view, Cursors(), Desk()))[0]["data"] is None


def test_what_is_scored_is_named_by_the_datas_own_split():
    """Of few pictures none are held out; of many some are."""
    for text, held_out in (("bars:4x4", False), ("bars:6x6", True)):
        train, test = split(parse_dataset(text))
        view = LearningView(run=0, plan=LearningPlan(data=text), train=train, test=test)
        assert view.held_out == held_out and scored(view) == ("held-out data" if held_out else "all the data")
    words = said(lane("PCD", annealed(-9.0, -9.1, -8.9)), held_out=False)
    assert "A picture has log probability −9.000" in words and "held-out" not in words


def test_a_lane_at_its_best_within_its_steps_is_not_told_to_go_back():
    exact = [Likelihood(k, 0.0, -3.528 - 1e-4 * k, -3.528 - 1e-4 * k, -3.528 - 1e-4 * k, True) for k in range(5)]
    worse = [Likelihood(k, 0.0, -7.3 - 0.2 * k, -7.3 - 0.2 * k, -7.3 - 0.2 * k, True) for k in range(5)]
    view = SimpleNamespace(lanes=(lane("Exact", *exact), lane("PCD", *worse)), held_out=False)
    expected = "PCD: log probability of a picture −7.300 at iteration 0, −8.100 at iteration 4."
    assert offer(view) == f"All the data were more probable before. {expected} {BACK}"
    assert offer(SimpleNamespace(lanes=view.lanes[:1], held_out=False)) == ""
    assert "before. Log probability of a" in offer(SimpleNamespace(lanes=view.lanes[1:], held_out=False))


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_independent_pixels_are_given_what_their_rates_say(rate):
    x = (np.random.default_rng(0).random((5000, 3)) < rate).astype(np.int8)
    found = LikelihoodJob(jax.random.key(0), x, x).independent
    entropy = -3 * (rate * math.log(rate) + (1 - rate) * math.log(1 - rate))
    assert found == pytest.approx(-entropy, rel=0.05)


def drawn(*lanes):
    """The lines of the chart of the likelihood: their columns by name."""
    lanes = [SimpleNamespace(**vars(lane), algorithm="pcd", independent=-9.0) for lane in lanes]
    view = SimpleNamespace(lanes=lanes, plan=SimpleNamespace(), held_out=True)
    envelope = Envelope(view, Cursors())
    card = picture._likelihood(envelope, view)
    names = ("y", "low", "high")
    blobs = envelope.payload.blobs
    return [{name: np.frombuffer(blobs[line[name]], "<f4") for name in names} for line in card["lines"]]


@pytest.mark.parametrize("units", [4, 24])
def test_the_band_of_the_likelihood_holds_its_line(units):
    """Exact and annealed: a great log Z is a small likelihood, so that the ends of its bar change places."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2, (20, units)).astype(np.int8)
    job = LikelihoodJob(jax.random.key(1), x, x)
    for iteration, spread in enumerate((0.1, 0.5, 1.5)):
        model = RBM.of_layers(rng.normal(0, spread, (units, units)), np.zeros(units), np.zeros(units))
        job.found.append(Likelihood(iteration, 0.0, *job._bar(model, iteration), is_small(model)))
    (line,) = drawn(SimpleNamespace(label="PCD", likelihoods=tuple(job.found), model=model, iteration=2))
    assert len(line["y"]) == 3 and np.all((line["low"] <= line["y"]) & (line["y"] <= line["high"]))
    assert np.all(line["low"] == line["high"]) == (units == 4)


def test_the_factor_is_that_of_the_nats_as_they_are_printed():
    """Beside 13 nats stood 440 000 times, and beneath it numbers that are 13.29 nats apart."""
    told = [_factor(nats).replace("\u202f", " ") for nats in (13.286, 13.314, 24.47, 6.825, 0.2)]
    assert told[0] == told[1] == "about 600 000 times (13.3 nats)"
    assert told[2:] == ["about 4·10¹⁰ times (24.5 nats)", "about 930 times (6.83 nats)", "about 1.2 times (0.20 nats)"]


def test_where_one_lane_is_far_ahead_they_are_compared_in_equal_time():
    """At iteration 0, which both had, it was too early to compare: beside curves of hundreds of iterations."""
    begun, far = annealed(-206.0, -207.0, -205.5, 0, took=0.1), annealed(-95.0, -97.0, -94.0, 512, took=2.0)
    slow = lane("PCD", begun, annealed(-120.0, -122.0, -118.0, 10, took=2.5), iteration=10)
    fast = lane("CD", begun, far, annealed(-90.0, -91.0, -89.0, 1024, took=4.0), iteration=1024)
    words = verdict(view_of(fast, slow))
    assert (
        words.startswith("PCD is behind, at iteration 10 where CD is at 1\u202f024. In equal time (")
        and "more probable with CD" in words
    )
    common = annealed(-180.0, -181.0, -179.0, 8, took=2.0)
    words = verdict(view_of(lane("CD", common, far, iteration=512), lane("PCD", common, iteration=8)))
    assert words.startswith("In equal time (2.00 s of computing each, as far as both are scored) pictures are about ")
    assert " At iteration 8, the last that both have, " in words
    words = verdict(view_of(fast, lane("PCD", begun, iteration=10)))
    assert words.endswith("Too early to compare: of PCD no likelihood after iteration 0 is known.")
