"""What every update of a live player has, whatever is watched."""

from types import SimpleNamespace

import numpy as np
import pytest

from pmpviz.live.view import View
from pmpviz.player.style import style_of
from pmpviz.player.update import MOST_TRACE_POINTS, Cursors, Desk, Envelope, trace
from pmpviz.player.wire import decode
from pmpviz.samplers import sampler_class


def lane(algorithm: str, **more):
    return SimpleNamespace(algorithm=algorithm, label=algorithm, guarantee="exact", done=False, **more)


@pytest.fixture
def envelope() -> Envelope:
    lanes = (lane("gibbs", y=[1.0, 1e-9]), lane("gibbs", y=[2.0]), lane("pmp", y=[]))
    view = View(run=3, plan=None, epoch=4, begun=2, playing=True, lanes=lanes, marks=((7, "hotter"),))
    return Envelope(view, Cursors(), [sampler_class(each.algorithm).spec for each in lanes])


def test_the_head_says_what_the_view_says(envelope):
    desk = Desk(("play",), 5.0, ("mount", 9))
    meta, _ = decode(envelope.seal(desk, (1, 0), [envelope.lane(2, "sub", "still", n=4)], [], "said", unit="steps"))
    head = {"run": "3", "epoch": 4, "begun": 2, "playing": True, "trouble": "", "answered": ["mount", 9]}
    assert head.items() <= meta.items()
    assert meta["bar"] == ["play"] and meta["speed"] == {"value": 5.0, "options": [1, 5.0, 0]}
    assert (meta["announce"], meta["unit"], meta["marks"]) == ("said", "steps", [[7, "hotter"]])
    assert [(one["id"], one["sub"], one["status"], one["n"]) for one in meta["lanes"]] == [("2", "sub", "still", 4)]


@pytest.mark.parametrize(
    ("seconds", "done", "trouble", "again"),
    [(9.0, True, None, True), (9.0, False, None, False), (9.0, True, "broken", False), (200.0, True, None, False)],
)
def test_play_begins_anew_what_has_come_to_its_end_but_not_what_took_minutes(seconds, done, trouble, again):
    lanes = tuple(SimpleNamespace(**vars(lane("gibbs")) | {"done": each, "seconds": seconds}) for each in (True, done))
    view = View(run=3, plan=None, lanes=lanes, trouble=trouble)
    envelope = Envelope(view, Cursors(), [sampler_class("gibbs").spec] * 2)
    assert decode(envelope.seal(Desk((), 5.0, ("mount", 9)), (1,), [], [], ""))[0]["again"] == again


def test_a_class_is_spared_the_word_for_what_a_sampler_promises(envelope):
    def badges(desk):
        meta, _ = decode(envelope.seal(desk, (1, 0), [envelope.lane(0, "", "")], [], ""))
        return [(one["badge"], bool(one["badgeHelp"])) for one in meta["lanes"]]

    assert badges(Desk()) == [("exact", True)]
    assert badges(Desk(large=True)) == [("", False)]


def test_lanes_of_one_algorithm_look_different_and_one_alone_like_the_algorithm(envelope):
    first, second, alone = (envelope.lane(k, "", "") for k in range(3))
    assert all(first[part] != second[part] for part in ("colour", "dash", "marker"))
    assert alone["colour"] == style_of(sampler_class("pmp").spec).colour


def test_lines_are_floored_and_there_is_none_of_a_lane_without_points(envelope):
    lines = envelope.lines(lambda each: {"x": range(len(each.y)), "y": each.y}, 1e-6)
    assert [line["lane"] for line in lines] == ["0", "1"]
    heights = np.frombuffer(envelope.payload.blobs[lines[0]["y"]], "<f4")
    np.testing.assert_allclose(heights, [1.0, 1e-6])
    assert trace("energy", "Energy", "sweeps", lines)["exact"] is None


def test_a_long_line_is_folded_with_its_band_and_hides_no_extreme(envelope):
    x = np.arange(10.0 * MOST_TRACE_POINTS)
    y = np.where(x == 1234, 7.0, 0.0)
    line, *_ = envelope.lines(lambda each: {"x": x, "y": y, "low": y - 1})
    drawn = {name: np.frombuffer(envelope.payload.blobs[line[name]], "<f4") for name in ("x", "low", "least", "most")}
    assert {len(column) for column in drawn.values()} == {300}
    assert (drawn["most"].max(), drawn["least"].min(), drawn["low"].min()) == (7, 0, -1)
