"""The five spins of Home: what they show is what the sampler does, and what they say of it is so."""

from __future__ import annotations

import itertools
import math
import re

import jax
import numpy as np
import pytest

from pmpviz.app.player import parse
from pmpviz.capabilities.home import spins
from pmpviz.capabilities.home.hand import MOST_DRAWN, MOST_NOISE, Hand, distance, expected_distance
from pmpviz.capabilities.home.picture import blob, exactly, reasons, words
from pmpviz.capabilities.home.spins import EDGES, LITTLE, LOOSE, MANY, SPINS, STATES, TIGHT
from pmpviz.player.numbers import significant
from pmpviz.player.wire import decode
from pmpviz.runs import advance, positions, start

SIGNS = np.array(list(itertools.product((-1, 1), repeat=SPINS)))


def law_of(little) -> np.ndarray:
    """Probabilities of the spin form, summed by hand."""
    weight = SIGNS @ little.h + sum(J * SIGNS[:, i] * SIGNS[:, j] for (i, j), J in zip(EDGES, little.J, strict=True))
    return np.exp(weight) / np.exp(weight).sum()


@pytest.mark.parametrize("little", LITTLE.values(), ids=LITTLE)
def test_the_law_is_that_of_the_spin_form(little):
    np.testing.assert_allclose(little.law, law_of(little), rtol=1e-5)


def test_totals_are_field_noise_and_messages_which_begin_at_nothing():
    noise = spins.noise_of(7)
    settled = spins.settle(TIGHT, noise)
    assert not settled.messages[0].any()
    own = 2 * np.array(TIGHT.h) + noise
    np.testing.assert_allclose(settled.totals, own + settled.messages.sum(2), atol=1e-4)
    assert settled.state == spins.numbers_of(settled.totals[-1] > 0)


def test_the_two_models_differ_in_strength_alone_and_what_is_said_of_the_tight_one_is_so():
    assert TIGHT.h == LOOSE.h and len({t / l for t, l in zip(TIGHT.J, LOOSE.J, strict=True)}) == 1
    p = sum(spins.draw_many(TIGHT, MANY * k).counts for k in range(20)) / (20 * MANY)
    best = int(TIGHT.law.argmax())
    turned, astray = STATES - 1 - best, [best ^ (1 << spin) for spin in range(SPINS)]
    assert 2.5 < p[turned] / TIGHT.law[turned] < 3 and p[astray].sum() < 0.6 * TIGHT.law[astray].sum()


def test_a_message_at_rest_is_max_product_in_the_spin_form():
    """At rest m = max over s of (J s s' + ...) as log-odds: |t + 2 J| / 2 - |t - 2 J| / 2, t the sender's total less
    what the receiver told it."""
    settled = spins.settle(LOOSE, spins.noise_of(3))
    last = settled.messages[-1]
    for (i, j), J in zip(EDGES, LOOSE.J, strict=True):
        for to, sender in ((i, j), (j, i)):
            t = settled.totals[-1, sender] - last[sender, to]
            wanted = (abs(t + 2 * J) - abs(t - 2 * J)) / 2
            assert last[to, sender] == pytest.approx(wanted, abs=0.02)


def test_without_couplings_each_spin_follows_its_own_noise():
    free = spins.Little("free", "", LOOSE.h, (0.0,) * len(EDGES), "")
    for draw in range(20):
        noise = spins.noise_of(draw)
        settled = spins.settle(free, noise)
        assert settled.state == settled.best == spins.numbers_of(2 * np.array(free.h) + noise > 0)


def test_a_thousand_draws_are_those_that_one_after_the_other_are():
    hand, same = Hand(little=TIGHT), Hand(little=TIGHT)
    hand.draw_more()
    for _ in range(MANY):
        same.draw()
    assert (hand.counts == same.counts).all() and hand.missed == same.missed and hand.drawn == same.drawn == MANY
    assert hand.noise == same.noise


def margin(draws: int, chance: float) -> float:
    """By how much the distance of so many exact draws exceeds its mean with at most this chance (McDiarmid: one draw
    moves it by at most 1/n)."""
    return math.sqrt(math.log(1 / chance) / (2 * draws))


def test_the_loose_model_is_met_and_the_tight_one_missed():
    for little, met in ((LOOSE, True), (TIGHT, False)):
        hand = Hand(little=little)
        hand.draw_more()
        assert words(hand).startswith("As good as exact draws" if met else "Not exact")
        assert little.why in reasons(hand)
    # As many exact draws are within it nineteen times of twenty, and these are told to be, until so many are drawn that
    # their own law is seen.
    rng, hand_of_exact = np.random.default_rng(5), Hand(little=LOOSE, drawn=20_000)
    within = 0
    for _ in range(400):
        hand_of_exact.counts = rng.multinomial(20_000, LOOSE.law)
        within += words(hand_of_exact).startswith("As good as exact draws")
    assert 0.9 < within / 400 < 0.985
    many = Hand(little=LOOSE)
    for _ in range(18):
        many.draw_more()
    assert words(many).startswith("Nearly exact: total variation 0.0")
    # As many exact draws are so far away at most once in a million times.
    assert hand.distance > expected_distance(TIGHT.law, MANY) + margin(MANY, 1e-6)


def test_the_law_of_the_loose_draws_is_within_a_twentieth_of_the_exact_one():
    """From 40,000 of them: their distance from their own law is below its mean and margin but once in a million."""
    hand = Hand(little=LOOSE)
    for _ in range(40):
        hand.draw_more()
    share = hand.counts / hand.drawn
    chance = np.sqrt(share * (1 - share) / hand.drawn).sum() / 2 + margin(hand.drawn, 1e-6)
    assert hand.distance + chance < 0.05


def test_the_mean_distance_of_exact_draws_is_that_of_drawing_them():
    rng, count = np.random.default_rng(0), 60
    trials = rng.multinomial(count, TIGHT.law, size=4000)
    found = np.array([distance(each, TIGHT.law) for each in trials])
    error = found.std() / math.sqrt(len(found))
    assert abs(found.mean() - expected_distance(TIGHT.law, count)) < 5 * error
    assert expected_distance(np.eye(STATES)[3], 10) == 0
    assert (found > expected_distance(TIGHT.law, count) + margin(count, 0.05)).mean() <= 0.05


def events(*raw):
    hand = Hand.begun()
    for each in raw:
        event = parse(each)
        if event is not None:
            hand.take(event)
    return hand


def test_noise_by_hand_falls_once_it_is_done_and_counts_apart():
    turn = {"type": "knob", "name": "noise", "site": 2, "value": 3.5}
    hand = events(turn, turn, {**turn, "value": -4.0, "done": True})
    assert hand.noise[2] == -4.0 and hand.own.sum() == 1 and hand.counts.sum() == hand.drawn == 1
    assert hand.own[hand.settled().state] == 1 and hand.last == "hand"
    before = hand.distance
    hand.turn(0, 6.0, done=True)
    assert hand.distance == before


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "knob", "name": "noise", "site": 9, "value": 1.0, "done": True},
        {"type": "knob", "name": "noise", "site": -1, "value": 1.0, "done": True},
        {"type": "knob", "name": "noise", "site": 0, "value": "nan", "done": True},
        {"type": "knob", "name": "noise", "site": 0, "value": math.inf, "done": True},
        {"type": "knob", "name": "T", "value": 1.0, "done": True},
        {"type": "mode", "site": 7},
        {"type": "fly"},
        [],
    ],
)
def test_what_is_no_event_does_nothing(raw):
    hand, same = events(raw), events()
    assert (hand.noise, hand.drops, hand.drawn) == (same.noise, same.drops, same.drawn)


def test_noise_is_capped_and_draws_end():
    assert events({"type": "knob", "name": "noise", "site": 0, "value": 1e9}).noise[0] == MOST_NOISE
    hand = events(*[{"type": "knob", "name": "more"}] * 150)
    assert MOST_DRAWN - MANY < hand.drawn <= MOST_DRAWN and hand.full
    assert any("start over" in reason for reason in reasons(hand))


def test_another_model_and_starting_over_empty_the_histogram():
    hand = events({"type": "knob", "name": "more"}, {"type": "mode", "site": 1})
    assert hand.little is TIGHT and hand.counts.sum() == hand.drawn == 1
    drops = hand.drops
    hand.take(parse({"type": "reset"}))
    assert hand.little is TIGHT and hand.drawn == 1 and hand.drops == drops + 1


def test_the_blob_has_every_moment():
    hand = events({"type": "step"})
    update, blobs = decode(blob(hand, ("mount", 3)))
    settled = hand.settled()
    messages = np.frombuffer(blobs[update["messages"]], "<f4").reshape(len(settled.totals), -1)
    for k, (sender, receiver) in enumerate(update["directed"]):
        np.testing.assert_allclose(messages[:, k], settled.messages[:, receiver, sender], atol=1e-6)
    assert update["answered"] == ["mount", 3] and sum(update["counts"]) == 2
    assert sorted(update["order"]) == list(range(STATES)) and update["exact"] == LOOSE.law.tolist()


def test_the_sampler_of_the_other_pages_gives_the_same_draws():
    run = start(spins.SAMPLER, TIGHT.target, jax.random.key(spins.SEED), 64)
    run, _ = advance(run, spins.SWEEPS)
    wanted = [spins.settle(TIGHT, spins.noise_of(chain)).state for chain in range(64)]
    assert spins.numbers_of(np.asarray(positions(run))).tolist() == wanted


def test_the_bar_that_comes_too_often_is_the_third_and_the_first_turned_over():
    order = np.argsort(-TIGHT.law, kind="stable")
    hand = Hand(little=TIGHT)
    for _ in range(4):
        hand.draw_more()
    turned = order[2]
    assert turned == 2**5 - 1 - order[0]
    assert 2.3 < hand.counts[turned] / hand.drawn / TIGHT.law[turned] < 3.2


def test_a_few_draws_are_not_praised_for_what_exact_ones_have_as_well():
    """One draw is further off the less likely its state: what is lower than the mean by chance is no better."""
    hand = Hand(little=LOOSE)
    hand.draw()
    assert words(hand).startswith("One random draw is in the histogram, and tells little. Press ")
    hand.draw()
    off = f"{significant(expected_distance(LOOSE.law, 2))} off on average"
    assert f"after 2 random draws: too few to judge, as many exact draws are {off}. " in words(hand)


@pytest.mark.parametrize("little", [LOOSE, TIGHT], ids=lambda little: little.id)
def test_the_exact_bars_follow_from_the_numbers_and_words_on_screen(little):
    """Own fields as they are told beside a spin that is pointed at, and what the words say of spins and lines."""
    hand, told = Hand(little=little), exactly(little)
    hand.draw()
    assert told in reasons(hand) and "a spin that is up adds half its field, one that is down takes it away" in told
    update, _ = decode(blob(hand, ("mount", 1)))
    (J,) = {float(found) for found in re.findall(r"a line adds (0\.\d+) where its spins are as it pulls them", told)}
    fields = re.search(r"fields of spins 1 to 5: ([^)]*)\)", told)[1].replace("−", "-")
    assert [float(field) for field in fields.split(", ")] == pytest.approx(update["own"], abs=1e-6)
    s = 2.0 * spins.all_states() - 1
    own = np.round(update["own"], 2)
    has_its_way = sum(np.sign(pull) * s[:, i] * s[:, j] for i, j, pull in update["edges"])
    weight = np.exp(s @ own / 2 + J * has_its_way)
    np.testing.assert_allclose(weight / weight.sum(), update["exact"], atol=1e-6)
