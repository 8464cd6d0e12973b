"""How often pages are fed, by what it costs and how the server's loop gets on."""

import threading

import pytest

from pmpviz.app import pace as paced
from pmpviz.app.pace import LOOKS, MESSAGES, MOST_SECONDS, MOST_WAIT_SECONDS, RECENT_SECONDS, SHARE, Pace, Turns, timed

LEAST = 0.4


class Served:
    """A pace that pages have been fed at, by a clock of its own."""

    def __init__(self, pages, cost):
        self.now = 0.0
        self.pace = Pace(lambda: self.now)
        for _ in range(100):
            self.feed(pages, cost)

    def feed(self, pages, cost):
        self.now += 0.1
        for page in range(pages):
            self.pace.took(page, cost)

    def look(self, seconds, times=LOOKS):
        for _ in range(times):
            self.pace.turned(seconds)


def test_a_page_alone_is_fed_as_often_as_it_likes():
    assert Served(1, 0.002).pace.seconds(LEAST) == LEAST
    assert Pace().seconds(LEAST) == LEAST


@pytest.mark.parametrize("pages", [30, 60])
def test_many_pages_share_the_processor_alike(pages):
    wanted = Served(pages, 0.006).pace.seconds(LEAST)
    assert wanted == pytest.approx(pages * 0.006 / SHARE)
    assert pages * 0.006 / wanted == pytest.approx(SHARE)


def test_the_pace_is_got_back_when_the_others_have_left():
    served = Served(60, 0.003)
    assert served.pace.seconds(LEAST) > LEAST
    served.now += RECENT_SECONDS
    served.feed(1, 0.003)
    assert served.pace.seconds(LEAST) == LEAST


def test_a_slow_loop_is_given_the_time_to_send_every_message():
    served = Served(40, 0.001)
    served.look(0.003)
    assert served.pace.seconds(LEAST) == pytest.approx(40 * MESSAGES * 0.003)
    served.look(0.0001)
    assert served.pace.seconds(LEAST) == LEAST


def test_a_single_slow_turn_of_the_loop_changes_nothing():
    served = Served(40, 0.001)
    served.look(0.0001)
    served.look(1.0, times=1)
    assert served.pace.seconds(LEAST) == LEAST


def test_nobody_waits_longer_than_the_most():
    served = Served(500, 0.01)
    served.look(1.0)
    assert served.pace.seconds(LEAST) == MOST_SECONDS
    assert served.pace.seconds(MOST_SECONDS + 1) == MOST_SECONDS + 1


def test_a_page_that_asks_too_often_waits_a_moment_and_one_in_time_does_not():
    served = Served(60, 0.003)
    wanted = served.pace.seconds(LEAST)
    assert served.pace.wait(0, LEAST) == MOST_WAIT_SECONDS
    served.now += wanted
    assert served.pace.wait(0, LEAST) == 0
    assert served.pace.wait("new", LEAST) == 0
    assert Served(1, 0.002).pace.wait(0, LEAST) == 0  # A click among few is answered at once.


def test_a_timer_is_set_anew_only_where_it_matters(monkeypatch):
    served = Served(60, 0.003)
    monkeypatch.setattr(paced, "pace", served.pace)
    wanted = served.pace.seconds(LEAST)
    assert timed(None) is None
    assert timed(LEAST) == timed(LEAST, LEAST) == wanted
    assert timed(LEAST, wanted * 1.1) == wanted * 1.1
    assert timed(LEAST, wanted * 2) == wanted


def test_pages_are_drawn_one_after_another():
    in_turn, drawn, begun, may_end = Turns(60, 60), [], threading.Event(), threading.Event()

    def draw(name: str) -> None:
        with in_turn():
            drawn.append(name)
            begun.set()
            may_end.wait(60)

    pages = [threading.Thread(target=draw, args=(name,)) for name in ("first", "second")]
    pages[0].start()
    assert begun.wait(60)
    pages[1].start()
    pages[1].join(0.2)
    assert drawn == ["first"]
    may_end.set()
    for page in pages:
        page.join(60)
    assert drawn == ["first", "second"]
    with pytest.raises(ValueError), in_turn():
        raise ValueError
    with in_turn():
        drawn.append("third")


@pytest.mark.parametrize("seconds", [(0.01, 60), (60, 0.01)])
def test_no_page_waits_for_ever_or_for_one_that_takes_long(seconds):
    in_turn = Turns(*seconds)
    with in_turn(), in_turn():
        with in_turn():
            pass
