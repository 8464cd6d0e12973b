"""The Text page's lanes: marginals that come to the exact ones, under other weights and words that are held."""

from __future__ import annotations

import json
import shlex
import time
from types import SimpleNamespace

import numpy as np
import pytest

from pmpviz import exact
from pmpviz.__main__ import _parser
from pmpviz.app.presets import preset_of
from pmpviz.capabilities.text import lane as text_lane
from pmpviz.capabilities.text.answers import finding
from pmpviz.capabilities.text.lane import FIRST_KEPT, MOST_POINTS, errors, lane_of
from pmpviz.capabilities.text.live import Answer
from pmpviz.capabilities.text.page import commands
from pmpviz.capabilities.text.picture import _exact, _right, _sampled, _status, _traces
from pmpviz.capabilities.text.plan import TextPlan, reader
from pmpviz.capabilities.text.presets import TEXT
from pmpviz.capabilities.text.words import sentences, too_dear
from pmpviz.live.link import from_query, to_query
from pmpviz.live.plan import Settings
from pmpviz.models import build_spec, model_hash
from pmpviz.player.update import Cursors, Envelope
from pmpviz.player.wire import Payload

BAKER = "Dr. Baker talks in Baker Hall . Baker is glad ."


def target_of(plan: TextPlan):
    return plan.target(plan.words()[0])


@pytest.mark.parametrize("name", ["gibbs", "gaussian_chain", "bp", "barrier_frank_wolfe"])
def test_a_lanes_marginals_come_to_the_exact_ones_and_follow_a_change(name):
    plan = TextPlan(text=BAKER, lanes=(reader(name),))
    lane = lane_of(plan.lanes[0], plan, target_of(plan))
    lane.warm()
    for now in (plan, plan.replace(skip=2.0, said=((1, 1), (4, 0)))):
        if now is not plan:
            lane.change(now.lanes[0], target_of(now), exact.solve(target_of(plan)).p1)
            assert not len(lane.view("", False).points)
            # The curve goes on from where it was, and what it was stays.
            past = lane.view("", False).past
            assert len(past) == len(view.points) and np.array_equal(past[:, :2], view.points)
            assert past[-1, 2] == pytest.approx(errors(view.history[-1], exact.solve(target_of(plan)).p1), rel=1e-4)
        while lane.count < lane.since + 600 and not lane.over:
            lane.advance(64)
        view = lane.view("", False)
        far = np.abs(view.p1 - exact.solve(target_of(now)).p1).max()
        assert far < (0.03 if lane.unit == "sweeps" and name != "bp" else 0.12)
        assert len(view.points) == len(view.history) > 0 and view.points[-1, 0] <= lane.count
        assert view.points[0, 0] > lane.since
    assert view.p1[1] == 1 and view.p1[4] == 0


@pytest.mark.parametrize("name", ["gibbs", "gaussian_hmc", "bp", "barrier_frank_wolfe"])
def test_seconds_are_of_computing_alone_and_warming_up_changes_nothing(name, monkeypatch):
    """The first sweeps were said to take thirty times as long as they do: looking at them was counted."""
    plan = TextPlan(text=BAKER, lanes=(reader(name),))
    cold, warm = (lane_of(plan.lanes[0], plan, target_of(plan)) for _ in range(2))
    warm.warm()
    assert warm.count == 0 == warm.seconds
    looked, slept = text_lane.running.positions, []

    def look(run):
        begin = time.perf_counter()
        time.sleep(0.2)
        slept.append(time.perf_counter() - begin)
        return looked(run)

    monkeypatch.setattr(text_lane.running, "positions", look)
    for each in (cold, warm):
        each.warmed, begin = True, time.perf_counter()
        slept.clear()
        for _ in range(3):
            each.advance(1)
        took = time.perf_counter() - begin
    assert np.array_equal(cold.p1(), warm.p1()) and cold.count == warm.count
    # Computing takes what looking leaves of the time, on a busy machine, too.
    assert 0 < warm.seconds <= took - sum(slept)


def test_words_that_are_held_are_not_told_as_found():
    plan = TextPlan(text=BAKER, said=((4, 1), (99, 1)), lanes=(reader("bp"),))
    words = plan.words()[0]
    view = SimpleNamespace(plan=plan, words=words, labels=None)
    p1 = np.zeros(len(words.words))
    p1[[1, 4]] = 0.9, 1.0
    assert (words.words[1], words.words[4]) == ("Baker", "Baker")
    assert finding(view, p1) == ("takes 1 word for the speaker's name: 1 of 3 places of Baker (p = 0.90 to 0.90)")
    p1[1] = 0.1
    assert finding(view, p1) == "takes no word for the speaker's name"


def test_the_verdict_says_what_is_found_missed_and_wrongly_taken():
    plan = preset_of(TEXT, "room").plan
    words, labels = plan.words()
    view = SimpleNamespace(plan=plan, words=words, labels=labels)
    truth = labels.astype(float)
    total = words.words.count("Quillfeather") + 1
    assert labels.sum() == total and [words.words[k] for k in np.flatnonzero(labels)[:2]] == ["Isolde", "Quillfeather"]
    assert finding(view, truth) == (
        f"finds all {total} words of the speaker's name and takes no other; Baker in none of its 4 places"
    )
    college = truth.copy()
    college[words.words.index("College")] = 0.6
    college[words.words.index("Isolde")] = 0.4
    assert finding(view, college) == (
        f"finds {total - 1} of the {total} words of the speaker's name, misses 1: Isolde; takes Baker in none of its 4 "
        "places, and 1 wrongly: College"
    )
    # Commas and colons are counted, and not quoted.
    signs = [k for k, word in enumerate(words.words) if word in (":", ",")]
    college[signs] = 0.6
    assert f", and {1 + len(signs)} wrongly: College and {len(signs)} signs" in finding(view, college)
    assert finding(view, 0 * truth).startswith(f"finds none of the {total} words")
    college[[k for k, word in enumerate(words.words) if word == "Hall"]] = 0.6
    assert f" wrongly: College, both places of Hall and {len(signs)} signs" in finding(view, college)
    # What is held was not found.
    held = SimpleNamespace(plan=plan.replace(said=((words.words.index("Isolde"), 1),)), words=words, labels=labels)
    assert f"all {total - 1} other words of the speaker's name" in finding(held, truth)
    assert plan.replace(text=BAKER).words()[1] is None


def test_the_line_of_a_lane_and_the_verdict_count_the_same_words():
    plan = preset_of(TEXT, "room").plan
    words, labels = plan.words()
    college, hall, n = words.words.index("College"), words.words.index("Hall"), len(words)
    p1 = labels.astype(float)
    p1[[college, hall]] = 1.0
    view = SimpleNamespace(plan=plan, words=words, labels=labels)
    assert _right(view, p1) == f"{n - 2} of {n} words right"
    # A word that a hand holds wrongly is no mistake of the reader.
    view.plan = plan.replace(said=((hall, 1),))
    assert _right(view, p1) == f"{n - 2} of the other {n - 1} words right"
    assert finding(view, p1).endswith("; takes Baker in none of its 4 places, and 1 wrongly: College")


def test_beneath_one_sample_its_own_words_are_counted():
    plan = preset_of(TEXT, "room").plan
    words, labels = plan.words()
    missed = labels.copy()
    missed[np.flatnonzero(labels)[0]] = 0
    lane = SimpleNamespace(count=20, unit="sweeps", sample=missed, p1=labels.astype(float), points=[0])
    view = SimpleNamespace(plan=plan, words=words, labels=labels, answer=None)
    n = len(words)
    assert (
        _sampled(view, lane, True) == "20 sweeps"
        and _sampled(view, lane, False) == f"20 sweeps · this sample: {n - 1} of {n} words right"
    )
    assert _status(view, lane, False) == f"20 sweeps · {n} of {n} words right"
    lane.count = 1
    assert _status(view, lane, False).startswith("1 sweep · ") and _sampled(view, lane, True) == "1 sweep"


def test_beside_one_sample_what_is_exact_says_that_it_is_being_computed_until_it_is_there():
    plan = preset_of(TEXT, "room").plan
    words, labels = plan.words()
    view = SimpleNamespace(plan=plan, words=words, labels=labels, answer=None)
    envelope = SimpleNamespace(payload=Payload())
    assert _exact(view, envelope) == {"words": "being computed"}
    view.answer = Answer(SimpleNamespace(p1=labels.astype(float), method="elimination", log_z=1.0))
    n = len(words)
    assert _exact(view, envelope)["sampled"] == f"no sample: words with p > ½ · {n} of {n} words right"


def reading(
    plan: TextPlan,
    answer: Answer | None,
    *lanes: tuple[str, int, np.ndarray],
    averaged: int = 0,
    playing: bool = False,
):
    """What the page would say: of lanes by name, sweeps and marginals."""
    words, labels = plan.words()
    shown = [
        SimpleNamespace(
            label=name,
            algorithm="gibbs",
            count=count,
            unit="sweeps",
            p1=p1,
            averaged=averaged,
            chains=64,
            history=np.zeros((0, len(words))),
            points=[0] * (count > 0 and p1 is not None),
        )
        for name, count, p1 in lanes
    ]
    links = np.zeros((7, 2), int)
    text = {"plan": plan, "words": words, "labels": labels, "links": links}
    return sentences(SimpleNamespace(**text, answer=answer, lanes=shown, playing=playing))


def test_of_several_lanes_the_nearest_is_named_first_and_all_are():
    plan = preset_of(TEXT, "room").plan
    truth = plan.words()[1].astype(float)
    answer = Answer(SimpleNamespace(p1=truth))
    said, doing = reading(plan, answer, ("Gibbs", 16, truth - 0.2), ("HMC", 12, truth - 0.1))
    assert said.startswith(
        "After 12 sweeps HMC reads best, with p off on average by 0.10, Gibbs by 0.20 after 16. Each finds "
    )
    assert said.endswith("; so does the exact answer.") and "7 links." in doing
    said, _ = reading(plan, answer, ("Gibbs", 16, truth - 0.2), ("HMC", 16, 0 * truth))
    assert "with p off on average by 0.20, HMC by 0.32. Of the 5 words" in said
    assert said.endswith("Of the 5 words of the speaker's name Gibbs finds 5, HMC 0, the exact answer 5.")
    wrong = truth.copy()
    wrong[0] = 1
    said, _ = reading(plan, answer, ("Gibbs", 16, wrong), ("HMC", 12, 0 * truth))
    assert "Gibbs finds 5 and 1 wrongly, HMC 0, " in said


def test_how_soon_each_lane_is_near_to_exact_is_told_first():
    """Of the last setting, from where on it stays near; the soonest by seconds first."""
    plan = preset_of(TEXT, "room").plan
    truth = plan.words()[1].astype(float)

    def lane(name: str, off: list[float], pace: float, past: float = 0.0):
        count = np.arange(1, len(off) + 1)
        return SimpleNamespace(
            label=name,
            algorithm="gibbs",
            unit="sweeps",
            count=len(off),
            chains=64,
            averaged=0,
            p1=truth - off[-1],
            history=np.array([truth - each for each in off]),
            points=np.column_stack([count + past, pace * (count + past)]),
            past=np.full((int(past > 0), 3), [past, pace * past, 0.1]),
        )

    gibbs = lane("Gibbs", [0.2, 0.009, 0.05, 0.008, 0.007], 0.5, past=8.0)
    chain = lane("Chain", [0.009, 0.004, 0.003, 0.003, 0.002], 0.04)
    view = SimpleNamespace(
        plan=plan, words=plan.words()[0], labels=plan.words()[1], links=np.zeros((7, 2), int),
        answer=Answer(SimpleNamespace(p1=truth)), lanes=[gibbs, chain],
    )  # fmt: skip
    first = "Within 0.01 of exact since the change: Chain after 1 sweep (40 ms), Gibbs 4 (2.0 s). After 5 sweeps "
    assert sentences(view)[0].startswith(first)
    view.lanes = [lane("Gibbs", [0.2, 0.009, 0.05], 0.5), chain]
    assert sentences(view)[0].startswith("Within 0.01 of exact: Chain after 1 sweep (40 ms), Gibbs not yet. ")
    view.lanes = [gibbs]
    assert "Within" not in sentences(view)[0]


def test_a_long_curve_keeps_its_beginning():
    plan = TextPlan(text=BAKER, lanes=(reader("gibbs"),))
    lane = lane_of(plan.lanes[0], plan, target_of(plan))
    lane.warm()
    while lane.count < 3 * MOST_POINTS:
        lane.advance(1)
    points = lane.view("", False).points
    assert len(points) < MOST_POINTS and points[:FIRST_KEPT, 0].tolist() == list(range(1, FIRST_KEPT + 1))
    assert (np.diff(points[:, 0]) > 0).all() and points[-1, 0] > 3 * MOST_POINTS - 10


def test_lanes_that_chance_alone_may_have_parted_are_level():
    plan = preset_of(TEXT, "room").plan
    sure = np.where(plan.words()[1] > 0, 0.9, 0.1)
    answer = Answer(SimpleNamespace(p1=sure))
    lanes = ("Gibbs", 32, sure + 0.014), ("HMC", 32, sure + 0.0062), ("Block", 32, sure - 0.09)
    # 8 sweeps of 64 chains: as many independent draws are off by 0.0133.
    said, doing = reading(plan, answer, *lanes, averaged=8)
    assert said.startswith(
        "After 32 sweeps HMC and Gibbs are level (within chance, 2\xa0×\xa00.013): p is off on average by "
    )
    assert "p is off on average by 0.0062 and 0.014, Block" in said
    assert ", Block by 0.090. Each finds" in said and doing.endswith(
        "; counts of as many independent draws would be off by about 0.013."
    )
    said, _ = reading(plan, answer, *lanes, averaged=800)
    assert said.startswith(
        "After 32 sweeps HMC reads best, with p off on average by 0.0062, Gibbs by 0.014, Block by 0.090. "
    )


def test_errors_a_decade_apart_are_not_called_level_and_all_that_are_ranked_say_what_they_average():
    plan = preset_of(TEXT, "room").plan
    sure = np.where(plan.words()[1] > 0, 0.9, 0.1)
    answer = Answer(SimpleNamespace(p1=sure))
    lanes = ("Gibbs", 32, sure + 0.0035), ("HMC", 32, sure + 0.00029)
    said, doing = reading(plan, answer, *lanes, averaged=8)
    assert said.startswith("After 32 sweeps HMC reads best, with p off on average by 2.9·10⁻⁴, Gibbs by 0.0035. ") or (
        said.startswith("After 32 sweeps HMC reads best, with p off on average by 0.00029, Gibbs by 0.0035. ")
    )
    given = "p given the other words"
    gibbs = f"Gibbs averages {given} over the last 8 of 32 sweeps of 64 chains"
    assert f"{gibbs}, HMC p given the other words over 8 of 32; " in doing


def test_what_is_exact_but_for_rounding_is_level_with_nothing_that_chance_leaves():
    """Without links a chain's labels are summed out, and no draw is left in its p."""
    plan = preset_of(TEXT, "room").plan
    sure = np.where(plan.words()[1] > 0, 0.9, 0.1)
    answer = Answer(SimpleNamespace(p1=sure))
    said, _ = reading(plan, answer, ("Gibbs", 32, sure + 0.0029), ("Chain", 32, sure + 5.8e-8), averaged=8)
    assert said.startswith("After 32 sweeps Chain reads best, with p off on average by 5.8·10⁻⁸, Gibbs by 0.0029. ")
    said, _ = reading(plan, answer, ("Gibbs", 32, sure + 0.0029), ("Chain", 32, sure + 0.0015), averaged=8)
    assert said.startswith("After 32 sweeps Chain and Gibbs are level ")


def test_where_all_is_right_one_is_invited_to_see_what_links_do():
    plan = preset_of(TEXT, "room").plan
    truth = plan.words()[1].astype(float)
    answer = Answer(SimpleNamespace(p1=truth))
    invitation = "So does the exact answer. Pull Links to 0: which are found then?"
    assert reading(plan, answer, ("Gibbs", 9, truth))[0].endswith(invitation)
    assert "Pull" not in reading(plan.replace(skip=0.0), answer, ("Gibbs", 9, truth))[0]
    assert "Pull" not in reading(plan, answer, ("Gibbs", 9, 0 * truth))[0]
    # Where there are no links, names are missed that links would find: that comes before what a class has no room for.
    few, _ = reading(plan.replace(skip=0.0), answer, ("Gibbs", 9, 0 * truth))
    assert " so far. The exact answer finds all 5 " in few and "Pull" not in few and "pull" not in few
    said, _ = reading(plan.replace(skip=0.0), answer, ("Gibbs", 90, 0 * truth))
    assert "of the speaker's name" in said and said.index("(the exact answer finds all") < said.index(
        "). Now pull Links to 1."
    )


def test_what_is_too_dear_or_not_read_yet_is_said_before_all_else():
    plan = preset_of(TEXT, "room").plan
    truth = plan.words()[1].astype(float)
    why = "elimination needs tables of 2^27 entries (width 26); the limit is 2^24: use a smaller model"
    said, _ = reading(plan, Answer(why_not=why), ("Gibbs", 9, truth))
    assert said.startswith(
        "The exact answer is too dear here, tables of 2²⁷ numbers where 2²⁴ is the limit; with links × 1, Gibbs "
    )
    assert reading(plan, None, ("Gibbs", 9, truth), ("HMC", 9, truth))[0].startswith(
        "With links × 1, each finds all 5 "
    )
    assert reading(plan, None, ("Gibbs", 9, truth), ("HMC", 9, 0 * truth))[0].startswith("With links × 1, of the 5 ")
    said, _ = reading(plan, None, ("Gibbs", 9, truth))
    assert said.startswith("With links × 1, Gibbs finds")
    assert reading(plan, None, ("Gibbs", 0, None))[0].startswith("Nothing is read yet: press Play")
    said, doing = reading(plan.replace(skip=0.0), None, ("Gibbs", 13, None))
    assert said.startswith("Under this setting nothing is read yet: press Play") and "7 links, without weight." in doing
    # What plays on after a click or a knob needs no Play, and nothing that was found is called a start.
    assert reading(plan, None, ("Gibbs", 13, None), playing=True)[0].startswith(
        "Being read again under the new setting"
    )
    assert reading(plan, None, ("Gibbs", 0, None), playing=True)[0].startswith("Nothing is read yet: press Play")


def test_until_what_is_exact_of_a_new_setting_is_there_the_curves_before_it_stay():
    plan = preset_of(TEXT, "room").plan
    past = np.array([[1.0, 0.1, 0.2], [2.0, 0.2, 0.1]])
    lane = SimpleNamespace(algorithm="gibbs", label="Gibbs", unit="sweeps", past=past, points=np.array([[3.0, 0.3]]))
    view = SimpleNamespace(plan=plan, lanes=[lane], answer=None)

    def drawn() -> list[int]:
        envelope = Envelope(view, Cursors())
        _traces(envelope, view)
        return [len(np.frombuffer(blob, np.float32)) for blob in envelope.payload.blobs]

    assert drawn() == [2, 2, 2, 2]
    view.answer = Answer(why_not="too dear")
    assert _traces(Envelope(view, Cursors()), view) == []
    view.answer, lane.past = None, past[:0]
    assert _traces(Envelope(view, Cursors()), view) == []


def test_who_else_stands_in_the_pages_own_text_is_told_wherever_a_hand_leaves_them_free():
    plan = preset_of(TEXT, "room").plan
    words, labels = plan.words()
    at = [k for k, word in enumerate(words.words) if word == "Baker"]
    view = SimpleNamespace(plan=plan.replace(said=((at[0], 1),)), words=words, labels=labels)
    p1 = labels.astype(float)
    p1[at[0]] = 1.0
    assert finding(view, p1).endswith("no other; Baker in none of its 3 other places")
    p1[at[2:]] = 0.55
    assert finding(view, p1).endswith("and takes 2 wrongly: 2 of 4 places of Baker")


def test_links_of_one_weight_find_every_quillfeather_and_no_baker_and_stronger_ones_take_him():
    plan = preset_of(TEXT, "room").plan
    words, labels = plan.words()
    told = {
        skip: finding(SimpleNamespace(plan=plan, words=words, labels=labels), exact.solve(target_of(of)).p1)
        for skip in (1.0, 1.3, 1.5)
        for of in [plan.replace(skip=skip)]
    }
    assert "misses 2: 2 of 4 places of Quillfeather" in told[1.0] and "Baker in none of its 4" in told[1.0]
    assert told[1.3].startswith("finds all 5 words") and "Baker in none of its 4 places" in told[1.3]
    assert told[1.5].startswith("finds all 5 words") and "2 of 4 places of Baker" in told[1.5]


def test_no_preset_sends_a_reader_of_the_page_to_a_command_line():
    assert not [preset.id for preset in TEXT if "python -m" in preset.notice]
    plan = preset_of(TEXT, "digest").plan
    target = target_of(plan)
    words = too_dear(exact.why_not(target))
    assert words == "too dear: width 26 makes tables of 2²⁷ numbers; the limit is 2²⁴"
    why = "elimination takes at most 9 variables, and 10 are free: use a smaller model or `infer --algorithm bp`"
    assert too_dear(why) == "elimination takes at most 9 variables, and 10 are free"


def test_a_name_is_told_with_how_many_of_its_places():
    plan = preset_of(TEXT, "room").plan
    words, labels = plan.words()
    some = labels.astype(float)
    some[np.flatnonzero(labels)[-2:]] = 0
    some[[k for k, word in enumerate(words.words) if word == "Hall"]] = 1
    told = finding(SimpleNamespace(plan=plan, words=words, labels=labels), some)
    assert (
        "misses 2: 2 of 4 places of Quillfeather; "
        "takes Baker in none of its 4 places, and 2 wrongly: both places of Hall" in told
    )


def test_places_of_names_that_have_a_word_in_common_add_up_to_the_count_before_them():
    plan = preset_of(TEXT, "names").plan
    words, labels = plan.words()
    at = np.flatnonzero(labels)
    assert [words.words[k] for k in at[:2]] == ["Nadia", "Khan"]
    missed = [*at[:2], *[k for k in at if words.words[k] == "Khan" and words.words[k - 1] != "Nadia"][:4]]
    p1 = labels.astype(float)
    p1[missed] = 0
    told = finding(SimpleNamespace(plan=plan, words=words, labels=labels), p1)
    assert f"misses {len(missed)}: 1 of 2 places of Nadia and 5 of 8 places of Khan, and takes" in told


def test_the_command_line_has_the_announcement_and_the_knobs_to_the_last_digit():
    plan = TextPlan(number=1017, chain=1.2345678, skip=0.1, links="consecutive", said=((3, 1),))
    plan = plan.replace(lanes=(reader("gibbs"), reader("bp", damping=0.123456789)))
    words, _ = plan.words()
    (line,) = commands(plan, len(words))
    args = _parser().parse_args(shlex.split(line)[3:])
    assert model_hash(build_spec(args.model)) == model_hash(plan.model(words))
    assert (args.algorithm, args.knob_damping) == ("bp", "0.123456789")


def test_a_run_forgets_its_start():
    plan = TextPlan(text=BAKER, chains=8)
    lane = lane_of(plan.lanes[0], plan, target_of(plan))
    lane.warm()
    for _ in range(12):
        lane.advance(4)
    swept = lane.count
    first = lane._marks[0][0]
    assert swept / 4 <= first <= swept / 2
    assert lane.view("", False).averaged == swept - first


def test_a_link_brings_text_and_words_back_and_leaves_out_what_is_too_long():
    plan = TextPlan(text=BAKER, said=((1, 1), (4, 0)), links="consecutive", skip=0.5)
    assert from_query(to_query(plan), TextPlan()) == (plan, [])
    long = plan.replace(text="Baker " * 600)
    assert "text" not in to_query(long) and Settings.to_dict(long)["text"] == long.text
    assert TextPlan.from_dict(long.to_dict()) == long
    assert "said" not in to_query(long), "of the words of another text it would be said"


def test_an_announcement_is_read_from_an_export_as_it_was():
    plan = TextPlan(number=1017, said=((3, 1),), chain=1 / 3)
    read = TextPlan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert to_query(read) == to_query(plan) and (read.text, read.said, read.chain) == ("", ((3, 1),), 1 / 3)
