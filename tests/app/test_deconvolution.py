"""The deconvolution page without a browser: plans reach the run, bad images and links are told, paintings are kept."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
from opened import WAIT_SECONDS, open_page, own_run, run, update  # noqa: F401
from streamlit.testing.v1 import AppTest

from pmpviz.capabilities.deconvolution.page import LEAD, _same_question, lead_of
from pmpviz.capabilities.deconvolution.presets import DECONVOLUTION
from pmpviz.live.handles import turned

SMALL = {
    "data": "painted",
    "painted": "3x3:f780-5d00",
    "images": "12",
    "side": "8",
    "features": "2",
    "feature_height": "3",
    "feature_width": "3",
    "samples": "1",
    "budget": "3",
}


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    """What these tests keep stays in their own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PMPVIZ_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def opened(**query: str) -> AppTest:
    return open_page("deconvolution", query)


def shown(test: AppTest) -> dict:
    """What the page has just sent to its stage; nothing where there is none."""
    from pmpviz.player.wire import decode

    blobs = [each.proto.bytes for each in test.get("bidi_component") if each.proto.bytes]
    return decode(blobs[0])[0] if blobs else {}


def wait(test: AppTest, condition) -> dict:
    """Run the page again until what it sends meets the condition."""
    until = time.monotonic() + WAIT_SECONDS
    while not condition(found := shown(test)):
        assert time.monotonic() < until, "the run did not get there in time"
        time.sleep(0.2)
        run(test)
    return found


def played(test: AppTest) -> AppTest:
    """The page, whose run was told to play."""
    AppTest.from_function(play, default_timeout=WAIT_SECONDS).run()
    return run(test)


def play():
    from pmpviz.app.session import held

    held("deconvolution").live.set_speed(0.0)
    held("deconvolution").live.play(wait=0.0)


def done(found: dict) -> bool:
    return bool(found.get("lanes")) and found["lanes"][0]["status"] == "done"


def npz(**arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def test_painted_glyphs_become_images_and_features():
    found = shown(opened(**SMALL))
    assert not found["playing"] and found["speed"]["value"] == 2
    found = wait(played(opened(**SMALL)), done)
    shape = {"features": 2, "rows": 3, "cols": 3, "shown": 12, "height": 8, "width": 8}
    assert found["shape"] == shape and found["truth"]["count"] == 2
    assert found["lanes"][0]["frames"]["sweeps"][-1] == 3
    assert [name for name, _ in found["numbers"]][:4] == [
        "at sweep",
        "wrong pixels",
        "explained ink",
        "glyphs found",
    ]


def test_a_preset_and_what_is_known():
    test = opened(**SMALL)
    test.selectbox(key="deconvolution_preset").set_value("generate")
    run(test)
    found = wait(test, lambda found: bool(found.get("lanes")) and not found["observed"])
    assert found["images"] is None and found["shape"]["features"] == 4
    assert any("make up when nothing is seen" in line.value for line in test.markdown)


def test_lanes_are_added_and_one_is_kept():
    test = opened(**SMALL)
    test.multiselect(key="deconvolution_lanes").set_value(["gibbs", "pmp"])
    run(test)
    found = wait(test, lambda found: len(found.get("lanes", ())) == 2)
    assert [lane["algorithm"] for lane in found["lanes"]] == ["pmp", "gibbs"]
    assert test.query_params["lane2"] in ("gibbs", ["gibbs"])
    test.multiselect(key="deconvolution_lanes").set_value([])
    run(test)
    assert any("at least one" in info.value for info in test.info)


def test_nothing_painted_says_how_to_begin():
    test = opened(**(SMALL | {"painted": "3x3:0000"}))
    assert any("Nothing is painted yet" in info.value for info in test.info)
    assert not shown(test)


def test_painted_glyphs_are_cut_to_another_size():
    test = opened(**SMALL)
    test.slider(key="deconvolution_paint_width").set_value(2)
    run(test)
    painted = test.query_params["painted"]
    assert (painted[0] if isinstance(painted, list) else painted).startswith("3x2:")


@pytest.mark.parametrize(
    "data, words",
    [
        (npz(X=np.zeros((0, 8, 8), np.int8)), "is empty"),
        (npz(X=np.full((4, 8, 8), 0.5)), "pixels that are 0 or 1"),
        (npz(X=np.zeros((4, 2, 8), np.int8)), "images of at least 3 x 3"),
        (npz(X=np.zeros((60, 128, 128), np.int8), y=np.zeros(3)), "give at most"),
        (npz(a=np.zeros(3), b=np.zeros(3)), "give the images the name X"),
        (b"no archive", "damaged or no NumPy archive"),
    ],
    ids=["empty", "grey", "small", "large", "unnamed", "damaged"],
)
def test_bad_images_get_one_sentence_with_what_would_do(data, words):
    test = opened(**(SMALL | {"features": "12"}))
    test.selectbox(key="deconvolution_data").set_value("file")
    run(test)
    test.file_uploader(key="deconvolution_files").set_value([("own.npz", data, "application/zip")])
    run(test)
    said = [error.value.replace("\\", "") for error in test.error]
    assert len(said) == 1 and words in said[0] and said[0].endswith("."), said


def test_own_images_are_taken_apart():
    test = opened(**SMALL)
    test.selectbox(key="deconvolution_data").set_value("file")
    run(test)
    images = np.random.default_rng(0).integers(0, 2, (5, 7, 6)).astype(np.int8)
    test.file_uploader(key="deconvolution_files").set_value([("own.npz", npz(images=images), "application/zip")])
    run(test)
    found = wait(played(test), lambda found: done(found) and found["total"] == 5)
    assert found["truth"] == {"bits": None} and found["shape"]["height"] == 7
    assert not test.error


@pytest.mark.parametrize(
    "query, words",
    [
        ({"data": "runes"}, "there are no glyphs"),
        ({"painted": "5x5:ff"}, "packed bits"),
        ({"clamped": "7:00.00"}, "no feature 7"),
        ({"lane1": "magic"}, "no algorithm"),
        ({"samples": "99"}, "outside 1 to 5"),
        ({"colour": "red"}, "do not exist"),
    ],
)
def test_a_bad_link_is_mended_with_a_notice(query, words):
    test = opened(**(SMALL | query))
    assert any(words in notice.value.replace("\\", "") for notice in test.warning), [w.value for w in test.warning]


def test_a_plan_that_does_not_fit_is_told_and_the_page_goes_on():
    test = opened(**(SMALL | {"feature_height": "9"}))
    until = time.monotonic() + WAIT_SECONDS
    while not test.error:
        assert time.monotonic() < until
        time.sleep(0.2)
        run(test)
    assert "does not fit into images of 8 x 8" in test.error[0].value.replace("\\", "")
    test.slider(key="deconvolution_feature_height").set_value(3)
    run(test)
    wait(test, lambda found: bool(found.get("lanes")))


def test_a_knob_leaves_the_question_which_follows_model_and_data():
    for preset in DECONVOLUTION:
        assert [each.id for each in DECONVOLUTION if _same_question(each.plan, preset.plan)] == [preset.id]
    paper = DECONVOLUTION[0].plan
    turned_on = turned(turned(paper, "lane1.damping", 0.7), "noise", 0.01).replace(seed=3, samples=1)
    # The lines above say what is at work: what every lane does where there are several.
    beside = next(preset.plan for preset in DECONVOLUTION if len(preset.plan.lanes) == 3)
    assert lead_of(paper) == LEAD
    assert all(f"{name} " in lead_of(beside) for name in ("(PMP) solves", "GWG flips", "Gibbs draws"))
    assert turned_on.lanes != paper.lanes and _same_question(paper, turned_on)
    assert not _same_question(paper, paper.replace(known_features="given"))
    assert not _same_question(paper, paper.replace(data="letters"))
