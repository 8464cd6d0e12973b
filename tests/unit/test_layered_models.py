"""Models with a visible and a hidden layer on the pages: what they are, where they are drawn, what is said of them."""

from __future__ import annotations

import io
import re
import sys
import time

import numpy as np
import pytest
from PIL import Image

from pmpviz import exact
from pmpviz.app.model_picker import _load
from pmpviz.app.models import fit_size
from pmpviz.app.uploads import STORE, uploaded
from pmpviz.capabilities.sampling import equations, outlets
from pmpviz.capabilities.sampling import picture as payload
from pmpviz.capabilities.sampling import words as sentences
from pmpviz.capabilities.sampling.code import script
from pmpviz.capabilities.sampling.layers import layers_of
from pmpviz.capabilities.sampling.live import LiveRun
from pmpviz.capabilities.sampling.page import completion
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.io.npz import model_to_npz
from pmpviz.models import RBM, SRBM, build_spec, builder_of
from pmpviz.player.filters import MOST_SENT, filter_words, filters_image, sent_filters
from pmpviz.player.layered import image_shape, picture_of, picture_shape, site_words
from pmpviz.player.update import Cursors, Desk
from pmpviz.player.wire import Payload, decode
from pmpviz.types import InputError, Target

pytestmark = pytest.mark.brief

WAIT_SECONDS = 60


@pytest.mark.parametrize("spec", ["rbm:5x5x10", "rbm:4x6x10,strength=8"])
def test_the_hidden_units_of_bars_are_on_a_few_at_a_time(spec):
    model = build_spec(spec)
    x = exact.solve(Target.of(model)).sample(1, 500)
    on = x[:, model.visible :].sum(1)
    assert 0.5 < on.mean() < 4 and (on <= 7).all()


# Where.


@pytest.mark.parametrize(
    ("visible", "text", "shape"),
    [
        (784, "", (28, 28)),
        (900, "file:" + "a" * 64, (30, 30)),
        (12, "", (3, 4)),
        (13, "", (1, 13)),
        (1, "", (1, 1)),
        (12, "rbm:2x6x5", (2, 6)),
        (12, "srbm:6x2x5,lateral=1.0", (6, 2)),
        (64, "square:8x8", (8, 8)),
    ],
)
def test_the_visible_layer_is_an_image_of_the_builders_sides_or_of_the_most_nearly_square(visible, text, shape):
    assert image_shape(visible, text) == shape


def test_a_page_takes_as_many_weights_as_the_builder():
    assert fit_size(builder_of("rbm"), (28, 28, 500)) == ((28, 28, 500), None)
    size, notice = fit_size(builder_of("srbm"), (1000, 1000, 10))
    assert size == (128, 128, 10) and "weights" in notice


def test_a_site_is_a_pixel_or_a_hidden_unit_and_a_picture_has_the_pixels_alone():
    model = build_spec("rbm:2x3x4")
    names = [site_words(model, "rbm:2x3x4", site) for site in (0, 5, 6, 9)]
    assert names == ["visible pixel (1, 1)", "visible pixel (2, 3)", "hidden unit 1", "hidden unit 4"]
    assert picture_of(model, np.zeros((7, 10), np.int8)).shape == (7, 6)
    lattice = build_spec("square:3x4")
    assert site_words(lattice, "square:3x4", 5) == "6" and picture_shape(lattice) == (3, 4)
    assert picture_shape(build_spec("tree:5")) is None


def brought(model) -> str:
    """The plan's text of a model that comes from a file."""
    return f"file:{STORE.add('machine.npz', model_to_npz(model), _load).sha256}"


def machine() -> RBM:
    rng = np.random.default_rng(3)
    return RBM.of_layers(rng.normal(size=(5, 12)), rng.normal(size=12), rng.normal(size=5))


MODELS = {
    "rbm": lambda: ("rbm:3x4x5", (3, 4, 5)),
    "srbm": lambda: ("srbm:4x3x2", (4, 3, 2)),
    "file": lambda: (brought(machine()), (3, 4, 5)),
}


@pytest.fixture(params=MODELS)
def live(request):
    text, sides = MODELS[request.param]()
    run = LiveRun(Plan(model=text, lanes=(sampler("pmp"), sampler("gibbs")), chains=12), uploaded)
    run.sides = sides
    wait(run, lambda view: view.lanes)
    run.step()
    wait(run, lambda view: all(lane.sweep == 1 for lane in view.lanes))
    yield run
    run.close()


def wait(run: LiveRun, condition) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while not condition(run.view) and time.monotonic() < until:
        run.touch()
        time.sleep(0.02)
    assert condition(run.view), run.view.trouble


def update(run: LiveRun) -> dict:
    blob = payload.update(run.view, Cursors(), Desk(), tool="none")
    return decode(blob)[0]


def test_the_player_is_told_both_layers_and_gets_the_other_chains(live):
    rows, cols, hidden = live.sides
    for lane in update(live)["lanes"]:
        assert lane["geometry"] == {"kind": "layers", "rows": rows, "cols": cols, "hidden": hidden}
        assert lane["n"] == rows * cols + hidden and lane["strip"] is not None


def test_every_layer_that_applies_has_a_number_for_each_site(live):
    wait(live, lambda view: view.truth is not None)
    for layer in layers_of(("pmp", "swendsen_wang")):
        neither, first, second, both = [False, False], [True, False], [False, True], [True, True]
        # Perturb-and-max-product has made no draw yet whose marginals could be off.
        where = {"none": neither, "clusters": neither, "message magnitude": first, "marginal error": second}
        there = where.get(layer, both)
        live.set_layer(layer)
        wait(live, lambda view, there=there: [lane.layer is not None for lane in view.lanes] == there)
        assert all(lane.layer.shape == (live.view.model.n,) for lane in live.view.lanes if lane.layer is not None)
        named = {lane["layer"]["name"] for lane in update(live)["lanes"] if lane["layer"] is not None}
        if layer == "marginal error":
            (found,) = named
            assert re.fullmatch(r"error \(chance ±0\.\d+\)", found)
        else:
            assert named == ({layer} if any(there) else set())


def test_a_flipped_hidden_unit_and_clamped_pixels_reach_the_run(live):
    site = live.view.model.visible + 1
    before = frame(live, 1)
    live.flip([site])
    assert np.flatnonzero(frame(live, 1) != before).tolist() == [site]
    live.set_plan(live.plan.replace(clamp=((0, 1), (1, 0), (2, 1))))
    live.step()
    wait(live, lambda view: all(lane.sweep == 2 for lane in view.lanes))
    assert all(frame(live, lane)[:3].tolist() == [1, 0, 1] for lane in (0, 1))


def frame(run: LiveRun, lane: int) -> np.ndarray:
    return np.unpackbits(run.view.lanes[lane].ring.last(1))[: run.view.model.n]


def test_words_and_equations_are_those_of_layers(live):
    rows, cols, hidden = live.sides
    semi = isinstance(live.view.model, SRBM)
    words = sentences.computing(live.view, "cpu")
    assert words.startswith(f"{'Semi-r' if semi else 'R'}estricted Boltzmann machine of {rows * cols} visible")
    equation = equations.model_equation(live.view)
    assert "h^\\top W v" in equation and ("L v" in equation) is semi and "None" not in equation
    for lane in live.view.lanes:
        assert equations.algorithm_equation(live.view, lane)


def test_pictures_show_the_visible_layer(live):
    rows, cols, _ = live.sides
    for lane in (0, 1):
        with Image.open(io.BytesIO(outlets._picture(live.view, lane))) as image:
            assert image.width * rows == image.height * cols
            pixels = np.asarray(image.convert("L").resize((cols, rows), Image.Resampling.NEAREST))
        assert np.array_equal(pixels < 128, frame(live, lane)[: rows * cols].reshape(rows, cols) == 1)
    with Image.open(io.BytesIO(outlets._animation_of(live.view)())) as image:
        assert image.format == "GIF" and image.width * rows == image.height * cols


def test_the_script_builds_the_model_again(live, tmp_path, monkeypatch, capsys):
    (tmp_path / "machine.npz").write_bytes(model_to_npz(machine()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["again.py", "machine.npz"])
    exec(compile(script(live.plan, 1), "again.py", "exec"), {"__name__": "again"})
    assert capsys.readouterr().out.count("sweep 1,") == 2
    saved = np.load(tmp_path / "samples.npz")
    assert np.array_equal(saved["lane2"][0], frame(live, 1))


# Filters.


def test_filters_are_blue_below_and_orange_above_zero_on_one_scale():
    weight = np.array([[0.0, 2.0, -1.0, 0.0], [0.0, 0.0, 0.0, -2.0]])
    light, dim = ((250, 249, 246), (0, 114, 178), [213, 94, 0]), ((20, 20, 18), (86, 180, 233), [255, 148, 56])
    for dark, (middle, negative, positive) in ((False, light), (True, dim)):
        found = filters_image(weight, (2, 2), dark)
        assert found.units == (0, 1) and found.limit == 2.0
        pixels = np.asarray(found.image)
        scale = (pixels.shape[0] - 8) // 2
        first = pixels[4 + scale // 2 :: scale, 4 + scale // 2 :: scale][:2, :2]
        assert first[0, 0].tolist() == list(middle) and first[0, 1].tolist() == positive
        assert np.abs(first[1, 0] - (np.array(middle) + negative) / 2).max() <= 1


def test_filters_come_in_order_or_by_norm_and_at_most_a_hundred():
    weight = np.random.default_rng(0).normal(size=(130, 6)) * np.arange(1, 131)[:, None]
    assert filters_image(weight, (2, 3)).units == tuple(range(100))
    units = filters_image(weight, (2, 3), by_norm=True).units
    norms = np.linalg.norm(weight[list(units)], axis=1)
    assert len(units) == 100 and (np.diff(norms) <= 0).all() and norms[0] == np.linalg.norm(weight, axis=1).max()


@pytest.mark.parametrize(
    ("hidden", "shape"), [(1, (1, 1)), (500, (28, 28)), (16, (8, 8)), (3, (1, 200)), (2, (900, 1))]
)
def test_filters_of_any_size_fit_a_page(hidden, shape):
    image = filters_image(np.zeros((hidden, shape[0] * shape[1])), shape).image
    assert image.width <= max(1004, 12 * (shape[1] + 4))


def test_weights_that_fill_no_image_are_refused():
    with pytest.raises(InputError, match="no images of 2 x 2"):
        filters_image(np.zeros((3, 5)), (2, 2))


# Completion.


def test_the_upper_half_is_clamped_and_hidden_units_stay_as_they_are():
    x = completion.picture("A row and a column")
    clamp = dict(completion.with_upper_half(((40, 1), (70, 1), (0, 0)), x))
    assert set(clamp) == {*range(32), 70} and clamp[70] == 1
    assert [clamp[site] for site in range(32)] == x[:4].ravel().tolist()


def test_digits_to_complete_are_those_named():
    pictures = [completion.picture(name) for name in completion.DIGITS]
    assert len({picture.tobytes() for picture in pictures}) == 10
    assert all(picture.shape == (8, 8) and 5 < picture.sum() < 50 for picture in pictures)


@pytest.mark.parametrize("hidden", [3, 90])
def test_filters_are_sent_each_on_its_own_scale_and_tell_which_unit_is_on(hidden):
    rng = np.random.default_rng(0)
    weight = rng.normal(0, np.geomspace(1e-3, 3, hidden)[:, None], (hidden, 12)).astype(np.float32)
    model = RBM.of_layers(weight, rng.normal(size=12).astype(np.float32), rng.normal(size=hidden).astype(np.float32))
    blobs = Payload()
    words = filter_words(blobs, sent_filters(model, (3, 4)), (3, 4), 10, 5)
    count = min(hidden, MOST_SENT)
    assert words["total"] == hidden
    sent = np.frombuffer(blobs.blobs[words["weight"]], "i1").reshape(count, 12)
    limit, bias = (np.frombuffer(blobs.blobs[words[name]], "<f4") for name in ("limit", "bias"))
    assert np.array_equal(words["units"], np.arange(count)) and (np.abs(sent).max(1) == 127).all()
    np.testing.assert_allclose(sent * limit[:, None] / 127, weight[:count], atol=(limit / 127).max())
    v = rng.integers(0, 2, (50, 12))
    field = v @ (sent * limit[:, None] / 127).T + bias
    true = np.asarray(model.hidden_mean(v))[:, :count]
    sure = np.abs(true - 0.5) > 0.05
    assert np.array_equal((field > 0)[sure], (true > 0.5)[sure])


def test_of_a_model_without_hidden_units_couplings_of_pixels_are_sent():
    model = build_spec("complete:9")
    blobs = Payload()
    words = filter_words(blobs, sent_filters(model, (3, 3)), (3, 3), 4, 2)
    assert not words["hidden"] and np.array_equal(words["units"], np.arange(9))
    sent = np.frombuffer(blobs.blobs[words["weight"]], "i1").reshape(9, 9)
    assert not np.diag(sent).any()
