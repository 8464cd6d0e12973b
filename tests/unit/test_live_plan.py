"""A plan is one table: its link, its JSON and the words of a change follow from the fields of the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from pmpviz.live.link import from_query, to_query
from pmpviz.live.plan import (
    BETA,
    TEMPERATURE,
    Alias,
    Catalogue,
    Choice,
    Lanes,
    Settings,
    Text,
    begins_anew,
    choice,
    describe_change,
    knob,
    setting,
)
from pmpviz.types import InputError, Param


@dataclass(frozen=True)
class Heat:
    """What `Algorithm.spec` says of itself, as far as a plan asks."""

    id: str
    label: str
    params: tuple[Param, ...] = ()


class Annealing:
    spec = Heat(
        "annealing",
        "Annealing",
        (
            Param("steps", "Steps", 1, 100, 10, "int"),
            Param("cooling", "Cooling", 0, 0, "slow", "choice", choices=("slow", "fast")),
            Param("restarts", "Restarts", 0, 1, False, "bool"),
        ),
    )

    def __init__(self, steps=10, cooling=0, restarts=False):
        self.steps, self.cooling, self.restarts = steps, cooling, restarts


class Descent:
    spec = Heat("descent", "Descent")


CLASSES = (Annealing, Descent)


def class_of(name: str):
    found = next((cls for cls in CLASSES if cls.spec.id == name), None)
    if found is None:
        raise InputError(f"there is no descent {name!r}")
    return found


def known(text: str) -> None:
    if text not in ("hills", "lake"):
        raise InputError(f"there is no landscape {text}")


method = Catalogue(CLASSES, class_of, "method")


@dataclass(frozen=True)
class Walk(Settings):
    ANEW = ("place", "feet")
    TOLD: ClassVar = {"beta": "β", "pace": "pace", "place": "another place"}
    ALIASES: ClassVar = {"beta": Alias("T", TEMPERATURE), "feet": Alias("n")}

    place: str = Text("place", "place was", known).field("hills")
    beta: float = setting(BETA, 0.5)
    feet: int = knob("Feet", 1, 4, 2, "int", "How many.")
    pace: str = choice("Pace", ("walk", "run"), "How fast.")
    lanes: tuple[Choice, ...] = Lanes(method, 2).field((method("descent"),))


PLAN = Walk("lake", 2.0, 3, "run", (method("annealing", steps=20, cooling="fast"), method("descent")))


def test_the_table_names_its_knobs_and_gives_defaults():
    assert list(Walk.params()) == ["beta", "feet", "pace"]
    assert Walk.params()["feet"] == Param("feet", "Feet", 1, 4, 2, "int", "How many.")
    assert (Walk().beta, Walk().feet, Walk().pace) == (0.5, 2, "walk")


def test_a_link_holds_the_fields_in_their_order_and_gives_them_back():
    query = to_query(PLAN)
    assert list(query.items()) == [
        ("v", "1"),
        ("place", "lake"),
        ("beta", "2.0"),
        ("feet", "3"),
        ("pace", "run"),
        ("lane1", "annealing;steps=20;cooling=fast"),
        ("lane2", "descent"),
    ]
    assert from_query(query, Walk()) == (PLAN, [])
    assert from_query({}, PLAN) == (PLAN, [])


def test_every_fault_of_a_link_has_its_sentence():
    query = {"v": "2", "place": "moon", "T": "4", "n": "9", "pace": "fly", "lane1": "descent;x=1", "lane2": "fall"}
    plan, notices = from_query({**query, "shoe": "1"}, PLAN)
    assert plan == PLAN.replace(beta=0.25, feet=4, lanes=(method("descent"),))
    assert notices == [
        "this link is of version 2, and this is version 1: check the settings",
        "settings that do not exist were left out: shoe",
        "n = 9 is outside 1 to 4 and was set to 4",
        "pace = fly is not one of walk, run and was set to run",
        "there is no landscape moon; the place was set to lake",
        "lane1 gives descent the setting x, which it does not have",
        "lane2 was left out: there is no descent 'fall'",
    ]


def test_json_holds_every_knob_and_gives_the_plan_back():
    plain = PLAN.to_dict()
    assert plain["lanes"][0] == {"method": "annealing", "knobs": {"steps": 20, "cooling": "fast", "restarts": False}}
    assert Walk.from_dict(plain).to_dict() == plain


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"place": "moon"},
        {"feet": 9},
        {"lanes": [{"method": "fall"}]},
        {"lanes": [{"method": "annealing", "knobs": {"steps": 0}}]},
        {"lanes": [{"method": "descent"}] * 3},
        {"lanes": "descent"},
    ],
)
def test_json_that_is_out_of_range_is_refused(change):
    with pytest.raises(InputError):
        Walk.from_dict(PLAN.to_dict() | change)


def test_a_choice_builds_its_algorithm_and_says_what_is_not_by_default():
    lane = PLAN.lanes[0]
    built = lane.build()
    assert (type(built), built.steps, built.cooling) == (Annealing, 20, 1)
    assert lane.label == "Annealing, cooling fast"
    assert lane.with_knobs(lane.full_knobs) is lane
    assert lane.with_knobs(lane.full_knobs | {"restarts": True, "steps": 10}) == method(
        "annealing", cooling="fast", restarts=True
    )
    assert method("annealing").label == "Annealing" and method("annealing") != method("descent")


def test_a_change_is_taken_up_or_begins_anew_and_is_told():
    slow = PLAN.replace(lanes=(method("annealing", steps=5, cooling="slow"), method("descent")))
    assert not begins_anew(PLAN, slow.replace(beta=1.0, pace="walk"))
    assert describe_change(PLAN, slow.replace(beta=1.0, pace="walk")) == (
        "T 0.5 → 1, pace run → walk, lane 1: steps 20 → 5, lane 1: cooling fast → slow"
    )
    assert describe_change(PLAN, PLAN.replace(place="hills", feet=1)) == "another place"
    assert begins_anew(PLAN, PLAN.replace(feet=1)) and begins_anew(PLAN, PLAN.replace(place="hills"))
    assert begins_anew(PLAN, PLAN.replace(lanes=PLAN.lanes[:1])) and begins_anew(
        PLAN, PLAN.replace(lanes=PLAN.lanes[::-1])
    )
