"""A plan carries every setting, and the same plan gives the same run."""

import jax
import numpy as np
import pytest

from pmpviz import exact, runs
from pmpviz.app.presets import preset_of
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.capabilities.sampling.presets import HOME, PLAYGROUND, RACE
from pmpviz.live.plan import resolve_model
from pmpviz.models import build_spec
from pmpviz.runs.plan import start_configuration, with_field
from pmpviz.types import InputError, Target

PLAN = Plan(
    model="square:5x4,J=0.3",
    beta=0.7,
    chains=5,
    seed=3,
    start="stripes",
    unit="updates",
    budget=123.5,
    lanes=(sampler("pmp", damping=0.25), sampler("gibbs")),
    field=((3, 0.5), (7, -1.25)),
    clamp=((2, 1),),
)


def test_every_page_of_a_sampler_asks_a_question():
    assert [preset.question for preset in (HOME, *PLAYGROUND, *RACE) if not preset.question.endswith("?")] == []


def test_plan_survives_its_dictionary():
    back = Plan.from_dict(PLAN.to_dict())
    assert back.to_dict() == PLAN.to_dict()
    assert (back.beta, back.field, back.clamp) == (PLAN.beta, PLAN.field, PLAN.clamp)


def test_the_same_plan_gives_the_same_bits_and_another_seed_others():
    model = resolve_model(PLAN.model)

    def end(plan):
        return [runs.positions(runs.advance(run, 9)[0]) for run in plan.begin(model)]

    first, again, other = end(PLAN), end(Plan.from_dict(PLAN.to_dict())), end(PLAN.replace(seed=4))
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert all((a != b).any() for a, b in zip(first, other, strict=True))


def test_lanes_of_a_random_start_start_alike():
    plan = PLAN.replace(start="random", lanes=(sampler("gibbs"), sampler("colour_gibbs")), clamp=())
    a, b = (runs.positions(run) for run in plan.begin(resolve_model(plan.model)))
    assert (a == b).all() and 0 < a.mean() < 1


def test_news_of_a_chains_end_is_drowned_by_the_noise_of_all_its_sites():
    """As the race's preset says: the mean spin from the field to the far end, and what a draw at rest makes of it."""
    preset = preset_of(RACE, "strong-chain")
    plan = preset.plan
    model = resolve_model(plan.model)
    means = 2 * np.array(exact.solve(Target.of(model)).marginals)[:, 1] - 1
    assert means[[0, -1]].round(2).tolist() == [0.76, 0.56]
    assert all(part in preset.notice for part in ("0.76", "0.56"))
    lane = sampler("pmp", damping=0.0, sweeps_per_draw=1000)
    run, _ = runs.advance(plan.replace(lanes=(lane,)).begin(model)[0], 64)
    drawn = runs.positions(run)
    assert (runs.positions(runs.advance(run, 64)[0]) == drawn).all()
    error = 1 / np.sqrt(len(drawn))  # At most, of a mean of +-1.
    assert means[-1] - (2 * drawn[:, -1].mean() - 1) > 8 * error


def test_clamped_sites_hold_and_stripes_fill_half():
    model = resolve_model(PLAN.model)
    for run in PLAN.begin(model):
        run, _ = runs.advance(run, 5)
        assert (runs.positions(run)[:, 2] == 1).all()
    assert start_configuration("stripes", model, 2).sum(1).tolist() == [10, 10]


def test_a_painted_field_adds_h_s_to_the_log_weight():
    model = build_spec("square:4x3,J=0.2,h=0.1")
    painted = with_field(model, ((1, 0.75), (4, -0.5)))
    x = np.random.Generator(np.random.PCG64(0)).integers(0, 2, (20, 12)).astype(np.int8)
    before, after = (jax.vmap(m.log_weight)(x) for m in (model, painted))
    expected = 0.75 * (2.0 * x[:, 1] - 1) - 0.5 * (2.0 * x[:, 4] - 1)
    np.testing.assert_allclose(after - before, expected, atol=1e-5)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 99},
        {"beta": -1},
        {"chains": 0},
        {"seed": "x"},
        {"start": "sideways"},
        {"lanes": [{"algorithm": "nothing"}]},
        {"lanes": [{"algorithm": "pmp", "knobs": {"damping": 7}}]},
        {"lanes": [{"algorithm": "pmp", "knobs": {"speed": 7}}]},
        {"lanes": 5},
        {"lanes": [{"algorithm": "pmp"}] * 5},
        {"field": [[1, 2, 3]]},
        {"clamp": [["a", 1]]},
    ],
)
def test_a_bad_plan_is_refused_in_one_sentence(change):
    with pytest.raises(InputError) as caught:
        Plan.from_dict(PLAN.to_dict() | change)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("edit", [{"clamp": ((99, 1),)}, {"field": ((99, 1.0),)}])
def test_edits_outside_the_model_are_refused(edit):
    with pytest.raises(InputError, match="0 to 19"):
        PLAN.replace(**edit).begin(resolve_model(PLAN.model))
