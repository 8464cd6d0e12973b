"""The learning page without a browser: plans reach the training, settings change in mid-run, bad links are mended."""

from __future__ import annotations

import io
import time
import zipfile

import numpy as np
import pytest
from opened import WAIT_SECONDS, go_to, open_page, own_run, run, update  # noqa: F401
from PIL import Image
from streamlit.testing.v1 import AppTest

from pmpviz.capabilities.learning.page import PAGE, _alike
from pmpviz.io.datasets import parse_dataset

SMALL = {"data": "bars:3x3", "hidden": "4", "chains": "20", "batch": "0", "lane1": "exact"}


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    """What these tests keep stays in their own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PMPVIZ_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def opened(**query: str) -> AppTest:
    return open_page("learning", query)


def wait(test: AppTest, condition) -> dict:
    """Run the page again until its player's update meets the condition; the update."""
    until = time.monotonic() + WAIT_SECONDS
    while not condition(found := update(test)):
        assert time.monotonic() < until, "the training did not get there in time"
        time.sleep(0.2)
        run(test)
    return found


def live(test: AppTest):
    from pmpviz.app.session import held

    return held("learning").live


def playing() -> None:
    from pmpviz.app.session import held

    held("learning").live.play()


@pytest.mark.parametrize("preset", PAGE.presets, ids=lambda preset: preset.id)
def test_a_preset_asks_its_own_question_at_any_knob(preset):
    assert PAGE.preset_like(preset.plan, _alike) is preset
    assert PAGE.preset_like(preset.plan.replace(learning_rate=0.0031), _alike) is preset


def test_a_training_learns_and_says_its_exact_likelihood():
    test = opened(**SMALL)
    wait(test, lambda found: found["lanes"])
    AppTest.from_function(playing, default_timeout=WAIT_SECONDS).run()
    found = wait(test, lambda found: any(t["id"] == "likelihood" and t["lines"] for t in found["traces"]))
    assert found["unit"] == "iterations"
    trace = next(t for t in found["traces"] if t["id"] == "likelihood")
    assert "exact" in trace["unit"]
    assert found["lanes"][0]["geometry"] == {"kind": "grid", "rows": 17, "cols": 21}
    assert any("restricted Boltzmann machine (RBM) of 9 pixels and 4 hidden units" in line for line in found["said"])


def test_the_learning_rate_changes_in_mid_run_and_nothing_is_lost():
    test = opened(**SMALL)
    wait(test, lambda found: found["lanes"])
    AppTest.from_function(playing, default_timeout=WAIT_SECONDS).run()
    wait(test, lambda found: found["lanes"][0]["frames"]["sweeps"][-1:] > [2])
    before = update(test)
    go_to(test, "learning", learning_rate="0.05")
    found = wait(test, lambda found: found["marks"])
    assert "learning rate 0.003 → 0.05" in found["marks"][0][1]
    assert found["begun"] == before["begun"]
    assert found["marks"][0][0] >= before["lanes"][0]["frames"]["sweeps"][-1]


def test_what_is_of_the_settings_before_says_so_until_the_new_ones_have_begun(monkeypatch):
    from pmpviz.capabilities.learning.live import LiveLearning

    test = opened(**SMALL)
    assert not wait(test, lambda found: found["lanes"])["waits"]
    with monkeypatch.context() as patch:
        patch.setattr(LiveLearning, "set_plan", lambda job, plan: None)
        go_to(test, "learning", learning_rate="0.05")
        assert not update(test)["waits"], "a rate is taken up in mid-run"
        go_to(test, "learning", hidden="5")
        assert update(test)["waits"]
    run(test)
    wait(test, lambda found: found["lanes"] and not found["waits"])


@pytest.mark.parametrize(
    "query, words",
    [
        ({"data": "nothing:1"}, "there is no dataset"),
        ({"data": "mnist:folder=elsewhere"}, "names no folder"),
        ({"hidden": "1e9"}, "outside 1 to 1"),
        ({"lane1": "magic"}, "there is no learner"),
        ({"lane1": "pcd;sweeps=many"}, "sweeps"),
        ({"learning_rate": "-3"}, "learning"),
        ({"colour": "red"}, "do not exist"),
    ],
)
def test_a_bad_link_is_mended_with_a_notice(query, words):
    test = opened(**(SMALL | query))
    assert any(words in notice.value.replace("\\", "") for notice in test.warning), [w.value for w in test.warning]


def test_a_learner_that_cannot_says_so_once_and_the_page_goes_on():
    test = opened(**(SMALL | {"lane1": "pseudo_likelihood"}))
    found = wait(test, lambda found: found["trouble"])
    assert "needs every variable observed" in found["trouble"] and found["trouble"].endswith(".")
    assert not test.error
    go_to(test, "learning", kind="ising")
    wait(test, lambda found: found["lanes"])


# Own pictures.

OWN = np.random.default_rng(0).integers(0, 2, (12, 4, 5)).astype(bool)


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def png(picture: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(picture.astype(np.uint8) * 255).save(file, "PNG")
    return file.getvalue()


def zipped(**files: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return file.getvalue()


FOLDER = {f"{place:02}.png": png(picture) for place, picture in enumerate(OWN)}
GOOD = {
    "bool": {"own.npz": npz(images=OWN)},
    "0 and 1": {"own.npz": npz(x=OWN.astype(np.uint8))},
    "0 and 255": {"own.npz": npz(anything=OWN.astype(np.uint8) * 255)},
    "float": {"own.npz": npz(images=OWN * 0.8 + 0.1)},
    "folder": FOLDER,
    "zip": {"own.zip": zipped(**{f"folder/{name}": data for name, data in FOLDER.items()})},
}
BAD = {
    "is damaged or no NumPy archive": {"own.npz": b"not an archive"},
    "is damaged or no .zip archive": {"own.zip": GOOD["zip"]["own.zip"][:-40]},
    "holds no images": {"own.zip": zipped(words=b"no picture")},
    "has 1 image; give 2": {"a.png": FOLDER["00.png"]},
    "holds a, b; give the images the name x or images": {"own.npz": npz(a=OWN, b=OWN)},
    "has float64 of shape (12,)": {"own.npz": npz(x=np.zeros(12))},
    "NaN or infinite": {"own.npz": npz(x=np.full((3, 4, 5), np.nan))},
    "very pixel of own.npz is 7; give images of at least two values": {"own.npz": npz(x=np.full((3, 4, 5), 7))},
    "give images of one size": {"a.png": FOLDER["00.png"], "b.png": png(OWN[0].T)},
    ".png is damaged or no picture": {"a.png": FOLDER["00.png"], "b.png": b"garbage"},
    "give 1 to 4096 pixels": {"own.npz": npz(x=np.zeros((2, 65, 64), bool))},
    "bring one archive, or pictures only": {"own.npz": GOOD["bool"]["own.npz"], "a.png": FOLDER["00.png"]},
}


def bring(test: AppTest, files: dict[str, bytes]) -> None:
    test.file_uploader(key="learning_files").set_value([(*file, "application/octet-stream") for file in files.items()])
    run(test)


def asked_for_own() -> AppTest:
    """The page some moments after own pictures were chosen: nothing but that has happened."""
    test = opened(**SMALL)
    test.selectbox(key="learning_data").set_value("file")
    for _ in range(3):
        run(test)
    assert test.selectbox(key="learning_data").value == "file"
    return test


@pytest.mark.parametrize("kind", GOOD)
def test_own_pictures_are_learned_from(kind):
    from pmpviz.app.uploads import STORE

    test = asked_for_own()
    bring(test, GOOD[kind])
    assert test.selectbox(key="learning_data").value == "file" and not test.error
    address = test.query_params["data"]
    text = address if isinstance(address, str) else address[0]
    assert np.array_equal(STORE.find(text.removeprefix("file:")).model.images, OWN)
    assert test.session_state["plan:learning"][0].data == text


def test_own_pictures_reach_the_stage():
    test = asked_for_own()
    bring(test, GOOD["zip"])
    found = wait(test, lambda found: found["lanes"] and "from 12 pictures" in str(found["said"]))
    assert not found["trouble"] and not test.error


def test_pictures_that_cannot_be_read_get_one_sentence_and_the_page_goes_on():
    test = asked_for_own()
    for words, files in BAD.items():
        bring(test, files)
        said = [error.value.replace("\\", "") for error in test.error]
        assert len(said) == 1 and words in said[0] and said[0].endswith("."), (words, said)
        assert test.session_state["plan:learning"][0].data == SMALL["data"]
        assert test.selectbox(key="learning_data").value == "file"
    bring(test, GOOD["bool"])
    assert not test.error


def test_what_was_learned_opens_in_the_playground(monkeypatch):
    import streamlit as st

    went = []
    monkeypatch.setattr(st, "switch_page", went.append)
    test = opened(**SMALL)
    wait(test, lambda found: found["lanes"])
    test.button(key="learning_to_playground").click()
    run(test)
    assert went == ["pages/playground.py"]
    plan = test.session_state["plan:playground"][0]
    from pmpviz.app.models import model_of
    from pmpviz.models import RBM

    model = model_of(plan.model)
    assert isinstance(model, RBM) and (model.visible, model.hidden) == (9, 4)


def test_half_of_a_picture_that_was_held_out_is_completed_in_the_playground(monkeypatch):
    import streamlit as st

    went = []
    monkeypatch.setattr(st, "switch_page", went.append)
    test = opened(**SMALL)
    wait(test, lambda found: found["lanes"])
    test.button(key="learning_to_completion").click()
    run(test)
    plan = test.session_state["plan:playground"][0]
    assert went == ["pages/playground.py"] and [site for site, _ in plan.clamp] == list(range(3))
    upper = {tuple(image[:1].ravel().tolist()) for image in parse_dataset(SMALL["data"]).images}
    assert tuple(value for _, value in plan.clamp) in upper
