"""Home, Playground and Race without a browser: plans reach the live run, notices and sentences reach the page."""

from __future__ import annotations

import time

import pytest
from opened import ROOT, WAIT_SECONDS, open_page, own_run, run, update  # noqa: F401
from streamlit.testing.v1 import AppTest

from pmpviz.app.presets import preset_like, preset_of
from pmpviz.capabilities import shown_on_home
from pmpviz.capabilities.deconvolution.presets import DECONVOLUTION
from pmpviz.capabilities.home.tiles import GROUPS, first_tiles
from pmpviz.capabilities.learning.presets import LEARNING
from pmpviz.capabilities.marginals.presets import INFERENCE
from pmpviz.capabilities.messages.presets import MESSAGES
from pmpviz.capabilities.perturbation.presets import PERTURBATION
from pmpviz.capabilities.sampling.presets import PLAYGROUND, RACE
from tests.thorough import case

SMALL = {"model": "square:6x6", "chains": "8"}


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    """References of these tests stay in their own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PMPVIZ_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def opened(page: str, **query: str) -> AppTest:
    return open_page(page, query)


def wait(test: AppTest, condition) -> dict:
    """Run the page again until its player's update meets the condition; the update."""
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        found = update(test)
        if found and condition(found):
            return found
        time.sleep(0.1)
        run(test)
    pytest.fail(f"not within {WAIT_SECONDS} s: {found}")


def algorithms(found: dict) -> list[str]:
    return [lane["algorithm"] for lane in found["lanes"]]


def tile_links(test):
    """(page, query) of every tile on Home."""
    return [(link.proto.page, link.proto.query_string) for link in test.get("page_link")]


def test_the_app_begins_at_home_and_its_first_run_has_no_fault():
    test = run(AppTest.from_file(str(ROOT / "app.py"), default_timeout=WAIT_SECONDS))
    assert algorithms(wait(test, lambda u: u["lanes"])) == ["colour_gibbs", "swendsen_wang"]
    rows = list(shown_on_home())
    first = {(tile.page, f"preset={tile.preset.id}") for _, tiles in first_tiles(rows) for tile in tiles}
    assert set(tile_links(test)) == first  # The others are drawn once somebody wants to see them.
    test.session_state["more"] = True
    links = tile_links(run(test))
    everything = {(page, f"preset={preset.id}") for _, page, presets in shown_on_home() for preset in presets}
    assert len(links) == len(set(links)) >= 30 and set(links) == everything
    first = [(page, f"preset={preset}") for group in GROUPS for page, preset in group.presets]
    assert links[: len(first)] == first
    heads = [each.value for each in test.markdown]
    assert all(f"##### {group.title}" in heads for group in GROUPS)


def test_the_first_tiles_are_questions():
    tiles = [tile for _, group in first_tiles(tuple(shown_on_home())) for tile in group]
    assert len(tiles) == sum(len(group.presets) for group in GROUPS)
    assert all(tile.words.endswith("?") for tile in tiles)


@pytest.mark.parametrize(
    ("page", "preset", "key", "choice"),
    [
        ("race", "bars", "race", "race_preset_choice"),
        ("text", "names", "text", "text_preset"),
        ("frank_wolfe", "triangle", "inference", "inference_preset"),
    ],
)
def test_the_choice_of_a_preset_follows_a_change_by_hand_at_once(page, preset, key, choice):
    test = opened(page, preset=preset)
    assert test.selectbox(key=choice).value == preset
    test.button(key=f"{key}_add").click()
    assert run(test).selectbox(key=choice).value == ""
    test.button(key=f"{key}_remove").click()
    assert run(test).selectbox(key=choice).value == preset


LISTED = {
    "learning": LEARNING,
    "deconvolution": DECONVOLUTION,
    "messages": MESSAGES,
    "frank_wolfe": INFERENCE,
}


def test_the_preset_of_a_plan_itself_comes_before_one_that_is_like_it():
    """And none is where none is like it."""
    for preset in MESSAGES:
        assert preset_like(MESSAGES, preset.plan, lambda a, b: True) is preset
    other = MESSAGES[0].plan.replace(sweeps=7)
    assert preset_like(MESSAGES, other, lambda a, b: True) is MESSAGES[0] and preset_like(MESSAGES, other) is None


@pytest.mark.parametrize(
    ("page", "query", "shown"),
    [
        ("learning", {"preset": "bars", "learning_rate": "0.03"}, "bars"),
        ("learning", {"preset": "bars", "kind": "srbm"}, ""),
        ("deconvolution", {"preset": "complete", "noise": "0.01", "seed": "3"}, "complete"),
        ("deconvolution", {"preset": "complete", "known_images": "given"}, ""),
        ("messages", {"preset": "triangle", "sweeps": "60"}, "triangle"),
        ("messages", {"preset": "triangle", "damping": "0.4"}, "damped"),
        ("frank_wolfe", {"preset": "triangle"}, "triangle"),
        ("frank_wolfe", {"preset": "triangle", "beta": "0.9"}, ""),
    ],
)
def test_the_list_shows_the_preset_whose_question_the_page_asks(page, query, shown):
    test = opened(page, **query)
    assert not test.warning
    heads = [each.value for each in test.markdown if each.value.startswith("#### ")]
    asked = [preset.id for preset in LISTED[page] if any(preset.question in head for head in heads)]
    key = "inference_preset" if page == "frank_wolfe" else f"{page}_preset"
    assert asked == ([shown] if shown else []) and test.selectbox(key=key).value == shown


def test_a_preset_that_is_shown_at_other_settings_is_gone_back_to_by_way_of_another():
    test = opened("messages", preset="triangle", sweeps="60")
    for name in ("lattice", "triangle"):
        test.selectbox(key="messages_preset").select(name)
        run(test)
    assert test.session_state["plan:messages"][0] == preset_of(MESSAGES, "triangle").plan


@pytest.mark.parametrize(
    ("page", "presets"),
    [
        ("race", RACE),
        ("messages", MESSAGES),
        ("deconvolution", DECONVOLUTION),
        ("frank_wolfe", INFERENCE),
        ("perturbation_lab", PERTURBATION),
        ("learning", LEARNING),
    ],
)
def test_a_link_to_a_preset_opens_its_page_at_it(page, presets):
    preset = presets[-1]
    test = opened(page, preset=preset.id)
    assert test.session_state[f"plan:{page}"] == (preset.plan, [])
    assert any(preset.question in heading.value for heading in test.markdown)
    assert "preset" not in test.query_params and test.query_params


# One of few sites, and one with a layer of its own.
LIGHT = [preset for preset in PLAYGROUND if preset.id in ("clique", "gaussian-field")]


@pytest.mark.parametrize(("page", "presets"), [("race", RACE[1:3]), ("playground", LIGHT)])
def test_a_preset_that_is_chosen_from_the_list_is_the_page_s_plan(page, presets):
    test = opened(page, **{"class": "1"})
    for preset in presets:
        test.selectbox(key=f"{page}_preset_choice").select(preset.id)
        run(test)
        assert test.session_state[f"plan:{page}"][0] == preset.plan
        assert test.selectbox(key=f"{page}_preset_choice").value == preset.id
        assert not preset.layer or test.session_state[f"layer:{page}"] == preset.layer


# That the other two begin by themselves is seen in their own tests, which press nothing.
@pytest.mark.parametrize(
    "page, large",
    [
        case(page, large, name=f"{page}-{large}", everyday=large == "1" or page == "playground")
        for page in ("playground", "landscape", "segmentation")
        for large in "01"
    ],
)
def test_what_begins_by_itself_waits_for_play_before_a_class(page, large):
    test = opened(page, **{"class": large})
    # What is compiled for the first picture comes before what is asked for.
    ready = wait(test, lambda u: u.get("lanes") and u["playing"] == (large == "0"))
    begun = wait(test, lambda u: not u["said"][0].startswith("Compiling")) if large == "1" else ready
    assert large == "0" or ": press Play" in begun["said"][0]


def test_another_experiment_begins_where_it_differs_by_its_temperature_alone():
    """And nobody looks back at the one before any more."""
    test = opened("playground", preset="critical")
    before = wait(test, lambda u: u["lanes"] and u["lanes"][0]["sweep"] > 2)
    test.selectbox(key="playground_preset_choice").select("hot")
    after = wait(test, lambda u: u["lanes"] and u["lanes"][0]["sweep"] > 2 and u["begun"] > before["begun"])
    assert "statistics since" not in after["lanes"][0]["sub"]


def test_beside_a_preset_other_settings_count_and_an_unknown_one_is_named():
    test = opened("race", preset="stripes", seed="11")
    plan, notices = test.session_state["plan:race"]
    stripes = next(preset for preset in RACE if preset.id == "stripes")
    assert plan == stripes.plan.replace(seed=11) and not notices
    test = opened("race", preset="zebra", seed="11")
    plan, notices = test.session_state["plan:race"]
    assert plan == RACE[0].plan.replace(seed=11)
    assert len(notices) == 1 and "zebra" in notices[0] and "stripes" in notices[0]


@pytest.mark.parametrize(
    ("page", "asked"),
    [
        ("home", ["colour_gibbs", "swendsen_wang"]),
        ("playground", ["gwg"]),
        ("race", ["pmp", "gibbs", "colour_gibbs"]),
    ],
)
def test_a_page_runs_and_its_lanes_are_those_asked_for(page, asked):
    lanes = {f"lane{i + 1}": name for i, name in enumerate(asked)}
    test = opened(page, **SMALL, **lanes)
    found = wait(test, lambda u: u["lanes"])
    assert algorithms(found) == asked
    assert found["playing"] is False and not any(lane["sweep"] for lane in found["lanes"])
    # What the browser begins once it is seen.
    assert found["opens"] is (page == "home") and found["trouble"] == ""
    assert {lane["n"] for lane in found["lanes"]} == {36}


def test_a_preset_of_the_playground_starts_moving_and_other_settings_wait():
    assert wait(opened("playground"), lambda u: u["lanes"])["playing"] is True
    test = opened("playground", preset="paper_four")
    assert wait(test, lambda u: u["lanes"])["playing"] is True


def test_a_change_of_temperature_reaches_the_run_without_a_restart():
    test = opened("playground", **SMALL, lane1="gibbs")
    before = wait(test, lambda u: u["lanes"])
    test.number_input("playground_run_beta").set_value(0.5)
    after = wait(run(test), lambda u: u["epoch"] > before["epoch"])
    assert after["begun"] == before["begun"] and after["run"] == before["run"]
    assert [text for _, text in after["marks"]] == ["T 1 → 2"]
    assert test.query_params["beta"] in ("0.5", ["0.5"])


def test_another_size_and_another_seed_begin_anew():
    test = opened("playground", **SMALL, lane1="gibbs")
    before = wait(test, lambda u: u["lanes"])
    test.number_input("playground_model_square_height").set_value(5)
    after = wait(run(test), lambda u: u["lanes"] and u["begun"] > before["begun"])
    assert after["lanes"][0]["n"] == 30 and after["lanes"][0]["frames"]["sweeps"][0] == 0
    test.number_input("playground_run_seed").set_value(9)
    again = wait(run(test), lambda u: u["lanes"] and u["begun"] > after["begun"])
    assert again["marks"] == []


def test_another_algorithm_and_a_lane_more():
    test = opened("race", **SMALL, lane1="gibbs", lane2="gwg")
    wait(test, lambda u: algorithms(u) == ["gibbs", "gwg"])
    test.selectbox("race_lane0_algorithm").set_value("colour_gibbs")
    wait(run(test), lambda u: algorithms(u) == ["colour_gibbs", "gwg"])
    test.button("race_add").click()
    assert len(wait(run(test), lambda u: len(u["lanes"]) == 3)["lanes"]) == 3
    test.button("race_remove").click()
    assert algorithms(wait(run(test), lambda u: len(u["lanes"]) == 2)) == ["colour_gibbs", "gwg"]


def test_values_out_of_range_are_clamped_with_a_notice_and_no_error():
    test = opened("race", T="-9", n="99999", model="square:4x4")
    words = " ".join(box.value for box in test.warning)
    assert "T = -9" in words.replace("\\", "") and "n = 99999" in words.replace("\\", "")
    assert not test.error


def test_where_an_algorithm_is_refused_others_that_run_are_offered_in_its_place():
    test = opened("race", model="square:16x16", chains="8", lane1="exact", lane2="gibbs")
    wait(test, lambda u: u["trouble"])
    offered = [button.key for button in test.button if (button.key or "").startswith("race_instead")]
    assert 1 < len(offered) <= 4 and all(key.startswith("race_instead0_") for key in offered)
    assert "race_instead0_gibbs" not in offered
    test.button(key=offered[0]).click()
    wait(run(test), lambda u: algorithms(u) == [offered[0].removeprefix("race_instead0_"), "gibbs"])
    assert not test.error and not [button for button in test.button if "instead" in (button.key or "")]


def test_a_missing_file_is_asked_for_and_nothing_runs():
    test = opened("playground", model="file:" + "a" * 64)
    assert any("model is a file" in box.value for box in test.info)
    assert not test.get("bidi_component")


def test_a_model_that_cannot_be_built_is_one_sentence_and_the_run_goes_on():
    test = opened("playground", model="random_regular:8", chains="8", lane1="gibbs")
    before = wait(test, lambda u: u["lanes"])
    test.number_input("playground_model_random_regular_degree").set_value(9)
    run(test)
    (box,) = test.error
    assert box.value.endswith(".") and ". " not in box.value
    found = update(test)
    assert (found["run"], found["begun"], found["trouble"]) == (before["run"], before["begun"], "")
