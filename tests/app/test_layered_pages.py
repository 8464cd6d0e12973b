"""The Playground on models with a visible and a hidden layer, without a browser."""

from __future__ import annotations

import numpy as np
import pytest

from pmpviz.app.model_picker import _load
from pmpviz.app.presets import preset_of
from pmpviz.app.uploads import STORE
from pmpviz.capabilities.sampling.edits import unpack
from pmpviz.capabilities.sampling.presets import PLAYGROUND, RACE
from pmpviz.io.npz import model_to_npz
from pmpviz.live.link import to_query
from pmpviz.models import RBM
from tests.app.test_pages import algorithms, opened, own_cache, own_run, run, wait

__all__ = ["own_cache", "own_run"]


def brought() -> str:
    """The plan's text of an RBM of 12 pixels that comes from a file."""
    model = RBM.of_layers(np.random.default_rng(3).normal(size=(5, 12)))
    return f"file:{STORE.add('machine.npz', model_to_npz(model), _load).sha256}"


@pytest.mark.parametrize(
    ("model", "sides"),
    [("rbm:8x8x16", (8, 8, 16)), ("srbm:8x8x16", (8, 8, 16)), ("file", (3, 4, 5))],
    ids=lambda value: str(value).partition(":")[0],
)
def test_a_layered_model_shows_both_layers_and_its_weights(model, sides):
    test = opened("playground", model=brought() if model == "file" else model, chains="8", lane1="gibbs")
    found = wait(test, lambda u: u["lanes"])
    rows, cols, hidden = sides
    assert found["lanes"][0]["geometry"] == {"kind": "layers", "rows": rows, "cols": cols, "hidden": hidden}
    assert "Boltzmann machine" in found["alt"]
    assert len(test.get("image")) == 1
    assert any(f"the {hidden} hidden units" in caption.value for caption in test.caption)
    assert [button.key for button in test.button if button.key.startswith("comp")] == (
        ["complete:playground"] if rows == 8 else []
    )


def test_a_lattice_has_neither_weights_nor_a_picture_to_complete():
    test = opened("playground", model="square:8x8", chains="8", lane1="gibbs")
    wait(test, lambda u: u["lanes"])
    assert not test.get("image") and not any(box.key == "completion:playground" for box in test.selectbox)


def test_the_upper_half_of_a_digit_is_clamped_and_released():
    test = opened("playground", model="rbm:8x8x16", chains="8", lane1="gibbs")
    before = wait(test, lambda u: u["lanes"])
    test.selectbox("completion:playground").set_value("Digit 3")
    test.button("complete:playground").click()
    found = wait(run(test), lambda u: u["marks"])
    assert [text for _, text in found["marks"]] == ["sites clamped"] and found["begun"] == before["begun"]
    (text,) = (
        test.query_params["clamp"] if isinstance(test.query_params["clamp"], list) else [test.query_params["clamp"]]
    )
    assert [site for site, _ in unpack(text)] == list(range(32))
    assert found["clamped"] is not None
    test.button("release:playground").click()
    wait(run(test), lambda u: u["clamped"] is None)
    assert "clamp" not in test.query_params


@pytest.mark.parametrize(("page", "presets"), [("playground", PLAYGROUND), ("race", RACE)])
def test_the_presets_of_bars_open_as_they_are(page, presets):
    preset = preset_of(presets, "bars")
    test = opened(page, **to_query(preset.plan))
    assert algorithms(wait(test, lambda u: u["lanes"])) == [lane.algorithm for lane in preset.plan.lanes]
    assert not test.error and not test.warning
