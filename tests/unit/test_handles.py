"""The knobs beside the picture: which there are, what they are set to, and what turning one makes of a plan."""

import math

import pytest

from pmpviz.capabilities.learning.plan import LearningPlan
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.live.handles import handle_of, turned

PLAN = Plan(beta=0.5, lanes=(sampler("pmp", damping=0.25), sampler("gibbs")))


def test_a_handle_has_the_range_and_the_value_of_its_knob():
    damping, temperature = handle_of(PLAN, "lane1.damping"), handle_of(PLAN, "T")
    assert (damping.value, damping.param.name) == (0.25, "damping")
    assert temperature.value == 2.0 and temperature.words["scale"] == "log"
    assert handle_of(LearningPlan(), "learning_rate").value == LearningPlan().learning_rate


@pytest.mark.parametrize("name", ["", "lane2.damping", "lane3.damping", "lane1", "lanes", "model", "start", "lane1.x"])
def test_a_name_that_is_no_number_of_the_plan_turns_nothing(name):
    assert handle_of(PLAN, name) is None
    assert turned(PLAN, name, 0.5) is PLAN


def test_turning_changes_that_knob_alone_and_stays_in_its_range():
    assert turned(PLAN, "lane1.damping", 0.75).lanes == (sampler("pmp", damping=0.75), sampler("gibbs"))
    assert turned(PLAN, "T", 4.0) == PLAN.replace(beta=0.25)
    high = handle_of(PLAN, "lane1.damping").param.high
    assert turned(PLAN, "lane1.damping", 1e9).lanes[0].full_knobs["damping"] == high
    assert turned(PLAN, "seed", 7.4).seed == 7


def test_at_beta_0_the_temperature_is_at_the_end_of_its_range():
    handle = handle_of(PLAN.replace(beta=0.0), "T")
    assert handle.value == handle.param.high and math.isfinite(handle.value)


@pytest.mark.parametrize(
    "model, note",
    [
        ("square:8x8", " (critical 1)"),
        ("square:8x8,J=1", " (critical 2.27)"),  # Onsager: 2 / asinh(1).
        ("potts:8x8,q=4,J=1", " (critical 0.91)"),  # 1 / log 3.
        ("square:8x8,J=-1", ""),
        ("square:8x8,J=1,field=uniform,h=0.5", ""),
        ("square:8x8,couplings=glass,J=1", ""),
        ("clique:5", ""),
        ("file:0", ""),
    ],
)
def test_temperature_says_where_the_lattice_is_critical(model, note):
    assert handle_of(PLAN.replace(model=model), "T").words["label"] == f"Temperature T{note}"


def test_who_knows_the_critical_temperature_of_books_is_told_why_it_is_1_here():
    helps = {text: handle_of(PLAN.replace(model=text), "T").words["help"] for text in ("square:8x8", "square:8x8,J=1")}
    assert helps["square:8x8"].endswith(" so that T = 1 is critical; books with J = 1 have T = 2.27 there.")
    assert "books" not in helps["square:8x8,J=1"]
