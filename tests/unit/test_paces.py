"""How fast is computed, beside how fast is shown."""

import dataclasses
from types import SimpleNamespace

import pytest

from pmpviz.capabilities.sampling import words
from pmpviz.player.numbers import rate_words


@pytest.mark.parametrize(
    ("rate", "speed", "said"),
    [
        (454.0, 20.0, "could now compute 454 sweeps/s"),
        (454.0, 0.0, "now computes 454 sweeps/s"),
        (1.6, 60.0, "now computes 1.60 sweeps/s"),
        (0.0, 20.0, ""),
    ],
)
def test_a_rate_above_the_chosen_speed_is_what_could_be_computed(rate, speed, said):
    assert rate_words(rate, speed, "sweeps") == said
    # Who pauses, or is done, computes nothing now.
    assert rate_words(rate, speed, "sweeps", False) == (rate and f"last computed {rate:.3g} sweeps/s" or "").replace(
        "1.6 ", "1.60 "
    )


def test_the_slowest_lane_is_named_where_it_holds_the_others_up():
    @dataclasses.dataclass
    class Moving:
        label: str
        rate: float
        done: bool = False

    quick, slow = Moving("Gibbs", 300.0), Moving("Wolff", 1.6)
    view = SimpleNamespace(playing=True, lanes=[quick, slow])
    assert words.held_up(view, 60.0) == " Wolff computes 1.60 sweeps/s: the other waits for it."
    three = SimpleNamespace(playing=True, lanes=[quick, slow, quick])
    assert words.held_up(three, 60.0).endswith(": the others wait for it.")
    assert words.held_up(view, 1.0) == words.held_up(view, 0.0) == ""
    assert words.held_up(SimpleNamespace(playing=True, lanes=[slow]), 60.0) == ""
    assert words.held_up(SimpleNamespace(playing=True, lanes=[quick, dataclasses.replace(slow, done=True)]), 60.0) == ""
