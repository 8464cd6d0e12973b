"""What leaves the app reads back to what was on screen."""

from __future__ import annotations

import csv
import io
import json
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from pmpviz import runs
from pmpviz.app import export
from pmpviz.app import manifest as manifests
from pmpviz.capabilities.landscape.live import LandscapeView
from pmpviz.capabilities.landscape.page import STAGE as LANDSCAPE_STAGE
from pmpviz.capabilities.landscape.presets import LANDSCAPE
from pmpviz.capabilities.landscape.scene import scene_of
from pmpviz.capabilities.marginals.page import STAGE as MARGINALS_STAGE
from pmpviz.capabilities.sampling.manifest import plan_files, read_manifest
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.io.npz import model_from_npz
from pmpviz.models import build_spec, model_hash
from pmpviz.player import pictures
from pmpviz.types import InputError
from tests.unit.walked import view_of

PLAN = Plan(
    model="square:5x6",
    beta=0.7,
    chains=7,
    lanes=(sampler("pmp", damping=0.25), sampler("gibbs")),
    field=((2, 0.1),),
    clamp=((0, 1),),
)


@pytest.fixture(scope="module")
def trace():
    run, trace = runs.advance(PLAN.begin(build_spec(PLAN.model))[0], 5)
    trace.metrics["mmd2"] = [(0, 0.0, 0.5), (1, 0.1, 0.25), (4, 0.4, 0.125)]
    return trace


def read_npz(data: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        return dict(file)


def pixels(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def test_samples_read_back():
    x = np.random.default_rng(0).integers(0, 2, (7, 30)).astype(np.int8)
    read = read_npz(export.samples_npz(x))
    assert list(read) == ["x"] and read["x"].dtype == np.int8
    np.testing.assert_array_equal(read["x"], x)
    assert list(read_npz(export.lanes_npz({"1 pmp": x}))) == ["x"]
    assert list(read_npz(export.lanes_npz({"1 pmp": x, "2 gibbs": x}))) == ["1 pmp", "2 gibbs"]


def test_traces_read_back_as_arrays(trace):
    table = export.LaneTable.of_trace("1", "pmp", trace)
    read = read_npz(export.traces_npz([table, export.LaneTable("2", "gibbs", {"sweep": np.arange(3)})]))
    np.testing.assert_array_equal(read["1/sweep"], [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(read["1/energy"], trace.energies.mean(1))
    np.testing.assert_array_equal(read["1/residual"], trace.info["residual"].mean(1))
    np.testing.assert_array_equal(read["1/mmd2"], trace.metrics["mmd2"])
    assert (read["1/energy_p10"] <= read["1/energy_p90"]).all()
    np.testing.assert_array_equal(read["2/sweep"], [0, 1, 2])


def test_traces_read_back_as_text(trace):
    tables = [export.LaneTable.of_trace("1", "pmp", trace), export.LaneTable("2", "gibbs", {"sweep": np.arange(2)})]
    rows = list(csv.DictReader(io.StringIO(export.traces_csv(tables).decode())))
    assert [(row["lane"], row["sweep"]) for row in rows] == [*(("1", str(s)) for s in range(6)), ("2", "0"), ("2", "1")]
    assert [row["mmd2"] for row in rows] == ["0.5", "0.25", "", "", "0.125", "", "", ""]
    energies = [float(row["energy"]) for row in rows[1:6]]
    np.testing.assert_array_equal(energies, trace.energies.mean(1).astype(np.float64))
    assert rows[-1]["energy"] == ""


def test_the_manifest_gives_the_plan_back():
    model = build_spec(PLAN.model)
    content = json.loads(
        manifests.manifest(PLAN, {"sweeps": 50, "figure": np.float32(0.5), "row": np.arange(2)}, model)
    )
    assert content["sweeps"] == 50 and content["figure"] == 0.5 and content["row"] == [0, 1]
    assert content["model_sha256"] == model_hash(model)
    assert content["versions"]["jax"] == jax.__version__ and content["versions"]["numpy"] == np.__version__
    assert content["device"] == jax.devices()[0].device_kind
    plan = Plan.from_dict(content["plan"])
    assert plan.replace(lanes=()) == PLAN.replace(lanes=())
    assert [lane.full_knobs for lane in plan.lanes] == [lane.full_knobs for lane in PLAN.lanes]
    assert read_manifest(manifests.manifest(PLAN)) == plan


@settings(max_examples=500, deadline=None)
@given(
    st.one_of(st.binary(max_size=60), st.recursive(st.none() | st.integers(), st.lists).map(json.dumps).map(str.encode))
)
def test_what_is_no_manifest_is_refused(data):
    with pytest.raises(InputError, match="manifest"):
        read_manifest(data)


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_a_damaged_manifest_gives_one_sentence(data):
    whole = manifests.manifest(PLAN)
    at = data.draw(st.integers(0, len(whole)))
    damaged = whole[:at] + data.draw(st.binary(max_size=3)) + whole[at + data.draw(st.integers(0, 5)) :]
    try:
        assert isinstance(read_manifest(damaged), Plan)
    except InputError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("dark", [False, True])
def test_a_lattice_is_square_pixels_of_ink_and_paper(dark):
    x = np.random.default_rng(1).integers(0, 2, 30).astype(np.int8)
    image = pixels(export_png(x, (5, 6), dark))
    inks = pictures.DARK if dark else pictures.LIGHT
    scale = pictures.SIDE // 6
    assert image.shape == (5 * scale, 6 * scale, 3)
    expected = np.where(x.reshape(5, 6)[..., None] == 1, inks.ink, inks.paper)
    np.testing.assert_array_equal(image, expected.repeat(scale, 0).repeat(scale, 1))


def export_png(x, shape, dark):
    return pictures.picture_png(x, shape, dark=dark)


def test_every_dimension_and_many_states_have_a_picture():
    assert pixels(pictures.picture_png(np.ones(12), (12,))).shape == (85, 1020, 3)
    cube = np.zeros((3, 4, 5), np.int8)
    cube[2] = 1
    image = np.asarray(pictures.lattice_image(cube.ravel(), (3, 4, 5), side=11))
    assert image.shape == (9, 11)
    assert (image[:4, 5] == 0).all() and (image[5:, :5] == 2).all() and (image[:4, :5] == 1).all()
    assert len(np.unique(pixels(pictures.picture_png(np.arange(4), (2, 2), states=4)).reshape(-1, 3), axis=0)) == 4
    assert pixels(pictures.picture_png(np.zeros(2000 * 2), (2000, 2))).shape == (2000, 2, 3)


def test_a_graph_is_circles_at_the_given_places():
    x = np.array([0, 1, 1])
    places = np.array([[0.0, 0.0], [10.0, 0.0], [5.0, 10.0]])
    image = pixels(pictures.picture_png(x, positions=places, edges=np.array([[0, 1]]), side=200))
    at = (pictures._placed(places, 400)[0] / 2).astype(int)
    assert [tuple(image[top, left]) for left, top in at] == [
        pictures.LIGHT.paper,
        pictures.LIGHT.ink,
        pictures.LIGHT.ink,
    ]
    middle = (at[0] + at[1]) // 2
    assert not (image[middle[1] - 2 : middle[1] + 3, middle[0]] == pictures.LIGHT.paper).all(), "the edge is drawn"
    other = (at[0] + at[2]) // 2
    assert (image[other[1] - 2 : other[1] + 3, other[0]] == pictures.LIGHT.paper).all(), "no other edge is"
    assert pixels(pictures.picture_png(np.ones(1), positions=np.zeros((1, 2)), side=50)).shape == (50, 50, 3)


def test_a_picture_needs_places_that_fit():
    for wrong in ({"shape": (4, 4)}, {"positions": np.zeros((2, 2))}, {}):
        with pytest.raises(InputError):
            pictures.picture_png(np.zeros(3), **wrong)


def test_an_animation_plays_every_frame_and_at_most_300():
    frames = np.random.default_rng(2).integers(0, 2, (700, 12)).astype(np.int8)
    with Image.open(io.BytesIO(pictures.animation_gif(frames[:5], (3, 4), side=8, per_second=10))) as image:
        assert image.n_frames == 5 and image.info["duration"] == 100 and image.info["loop"] == 0
        for index, frame in enumerate(frames[:5]):
            image.seek(index)
            shown = np.asarray(image.convert("RGB"))[::2, ::2]
            np.testing.assert_array_equal(shown[..., 0] < 128, frame.reshape(3, 4) == 1)
    with Image.open(io.BytesIO(pictures.animation_gif(frames, (3, 4), side=8))) as image:
        waits = []
        for index in range(image.n_frames):
            image.seek(index)
            waits.append(image.info["duration"])
        assert sum(waits) == 300 * 50, "equal frames in a row are one frame that stays longer"
    with pytest.raises(InputError, match="no frames"):
        pictures.animation_gif(frames[:0], (3, 4))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 300))
def test_frames_are_chosen_evenly(count, most):
    chosen = pictures.evenly(count, most)
    assert len(chosen) == min(count, most) and sorted(set(chosen)) == list(chosen)
    assert not count or (chosen[0], chosen[-1]) == (0, count - 1)


def test_a_run_that_was_changed_on_its_way_is_not_promised_again():
    plain, changed = (plan_files(PLAN, 50, marks=marks) for marks in ([(0, "β 1 → 0.5")], [(9, "β 1 → 0.5")]))
    flipped = plan_files(PLAN, 50, marks=[(0, "site 3 of chain 0 flipped by hand")])
    assert plain[1].help == "Same numbers, no app." and "changed_in_mid_run" not in json.loads(plain[0].make())
    for files in (changed, flipped):
        assert "its numbers are others" in files[1].help
    (flip,) = json.loads(flipped[0].make())["changed_in_mid_run"]
    assert flip["change"] == "site 3 of chain 0 flipped by hand (sites counted from 1)"
    assert json.loads(changed[0].make())["changed_in_mid_run"] == [{"sweep": 9, "change": "β 1 → 0.5"}]
    assert read_manifest(changed[0].make()).beta == PLAN.beta


def test_a_row_between_two_whole_sweeps_is_its_own():
    columns = {"sweep": np.array([0.0, 0.5, 1.0]), "energy": np.array([3.0, 2.0, 1.0])}
    rows = export.traces_csv([export.LaneTable("1", "gwg", columns)]).decode().splitlines()
    assert rows[1:] == ["1,gwg,0,,3.0", "1,gwg,0.5,,2.0", "1,gwg,1,,1.0"]


def test_files_are_made_when_asked_for(trace):
    x = np.zeros((7, 30), np.int8)
    made = []
    files = plan_files(PLAN, 50) + export.run_files(
        lambda: made.append("samples") or {"1": x},
        lambda: made.append("tables") or [export.LaneTable.of_trace("1", "pmp", trace)],
        lambda: pictures.picture_png(x[0], (5, 6)),
        lambda: pictures.animation_gif(x, (5, 6)),
    )
    assert made == []
    names = [file.name for file in files]
    assert names == [
        "manifest.json",
        "again.py",
        "clamped.evid",
        "samples.npz",
        "traces.npz",
        "traces.csv",
        "picture.png",
        "animation.gif",
    ]
    starts = dict(zip(names, (file.make()[:4] for file in files), strict=True))
    assert starts["samples.npz"] == starts["traces.npz"] == b"PK\x03\x04"
    assert starts["picture.png"] == b"\x89PNG" and starts["animation.gif"] == b"GIF8"
    assert made == ["samples", "tables", "tables"]


def test_a_file_is_there_until_the_browser_has_come_for_it(monkeypatch):
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    monkeypatch.setattr(export, "get_instance", lambda: SimpleNamespace(media_file_mgr=manager))
    context = SimpleNamespace(session_id="visitor")
    monkeypatch.setattr(export, "get_script_run_ctx", lambda: context)
    file = export.ExportFile("Samples", "samples.npz", "application/zip", lambda: b"samples")
    asked = manager.add_deferred(export.kept(file), file.mime, "0.1", file.name)
    address = manager.execute_deferred(asked)
    for _ in range(5):  # Runs of pages end.
        manager.remove_orphaned_files()
    found = manager._storage.get_file(address.rsplit("/", 1)[1])
    assert (found.content, found.filename) == (b"samples", "samples.npz")
    manager.clear_session_refs("visitor")
    manager.remove_orphaned_files()
    manager.remove_orphaned_files()
    with pytest.raises(MediaFileStorageError):
        manager._storage.get_file(address.rsplit("/", 1)[1])


def test_walks_and_landscapes_are_exported_with_the_model_that_they_are_of():
    walk = view_of("triangle")
    scene = scene_of(LANDSCAPE[0].plan)
    landscape = LandscapeView(run=0, plan=LANDSCAPE[0].plan, scene=scene)
    for view, files, model in (
        (walk, MARGINALS_STAGE._files, walk.model),
        (landscape, LANDSCAPE_STAGE._files, scene.target.model),
    ):
        first, *more = files(SimpleNamespace(view=view))
        assert first.name == "model.npz" and more
        bias, i, j, w = model_from_npz(first.make()).pairwise()
        assert [each.tolist() for each in (bias, i, j, w)] == [each.tolist() for each in model.pairwise()]
