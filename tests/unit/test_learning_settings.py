"""Learning plans as links and as command lines."""

import shlex

import pytest

from pmpviz.__main__ import _parser
from pmpviz.capabilities.learning.page import command
from pmpviz.capabilities.learning.plan import LearningPlan, learner
from pmpviz.capabilities.learning.presets import LEARNING
from pmpviz.learning import LEARNERS
from pmpviz.live.link import from_query, to_query
from pmpviz.live.plan import begins_anew, describe_change


@pytest.mark.parametrize("preset", LEARNING, ids=lambda preset: preset.id)
def test_a_link_gives_the_plan_back(preset):
    default = LearningPlan(data="bars:5x5", hidden=3, learning_rate=0.7, lanes=(learner("exact"),))
    assert from_query(to_query(preset.plan), default) == (preset.plan, [])


@pytest.mark.parametrize("cls", LEARNERS, ids=lambda cls: cls.spec.id)
def test_the_command_line_takes_what_the_page_says(cls):
    knobs = tuple((p.name, p.choices[-1] if p.choices else p.high) for p in cls.spec.params)
    plan = LearningPlan(batch=0, hidden=7, l1=0.25, lanes=(learner(cls.spec.id, **dict(knobs)),))
    args = _parser().parse_args(shlex.split(command(plan, plan.lanes[0]))[3:])
    found = args.learner, args.own_hidden, args.optimiser_l1, args.own_batch, args.optimiser_method
    assert found == (cls.spec.id, "7", "0.25", "1000000", "adam")
    assert {name: getattr(args, f"knob_{name}") for name, _ in knobs} == {name: str(v) for name, v in knobs}


def test_rates_change_in_mid_run_and_shapes_do_not():
    plan = LearningPlan()
    assert not begins_anew(plan, plan.replace(learning_rate=0.1, l2=0.5, method="sgd", budget=7))
    assert all(
        begins_anew(plan, plan.replace(**{name: value}))
        for name, value in (
            ("hidden", 3),
            ("data", "bars"),
            ("kind", "ising"),
            ("seed", 1),
            ("chains", 7),
            ("batch", 9),
            ("lanes", (learner("pmp"),)),
        )
    )
    faster = plan.replace(learning_rate=0.1, lanes=(learner("pcd", sweeps=3),))
    assert describe_change(plan, faster) == "learning rate 0.005 → 0.1, sweeps 1 → 3"


@pytest.mark.parametrize("seed", range(20))
def test_no_link_raises(seed):
    import random

    rng = random.Random(seed)
    letters = "abcxyz0123456789.,;:=+-_ %/\\\u00e9\n"
    for _ in range(20):
        query = {
            key: "".join(rng.choice(letters) for _ in range(rng.randrange(30)))
            for key in rng.sample(["data", "kind", "hidden", "lane1", "lane2", "learning_rate", "seed", "x", "v"], 4)
        }
        plan, notices = from_query(query, LEARNING[0].plan)
        assert isinstance(plan, LearningPlan) and all(isinstance(notice, str) for notice in notices)
