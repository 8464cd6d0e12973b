"""Datasets: their parts, their texts, and those that are drawn."""

import contextlib
import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmpviz.io.datasets import DATASETS, Dataset, dataset_text, openml, parse_dataset, parse_dataset_text, source_of
from pmpviz.io.datasets import drawn as drawing
from pmpviz.types import InputError


def tiny(labels=(0, 1, 0, 2)):
    x = np.array([[0, 1], [1, 0], [1, 1], [0, 0]], np.int8)
    return Dataset(x, (1, 2), None if labels is None else np.array(labels, np.int32), "tiny")


def refusal(call, *args, **kwargs):
    with pytest.raises(InputError) as caught:
        call(*args, **kwargs)
    text = str(caught.value)
    assert 10 < len(text) < 400 and "\n" not in text
    return text


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """No files of MNIST, and nothing is downloaded."""
    import sklearn.datasets

    def fetch(*args, **kwargs):
        raise OSError("no network in the tests")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    monkeypatch.setattr(openml, "PAUSE_SECONDS", 0.01)
    monkeypatch.setenv("PMPVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PMPVIZ_DATA", raising=False)
    monkeypatch.chdir(tmp_path)


# ---- a dataset's parts


def test_only_keeps_order_and_labels():
    part = tiny().only([0, 2])
    assert part.x.tolist() == [[0, 1], [1, 1], [0, 0]] and part.labels.tolist() == [0, 0, 2]
    assert part.shape == (1, 2) and part.name == "tiny, labels 0, 2"


def test_only_refuses_what_leaves_nothing():
    assert refusal(tiny().only, [7]) == "no image of tiny has the label 7; choose from 0, 1, 2"
    assert "choose from 0, 1, 2" in refusal(tiny().only, [])
    assert "no labels" in refusal(tiny(None).only, [0])


def test_take():
    assert tiny().take(3).labels.tolist() == [0, 1, 0]
    assert len(tiny().take(9)) == 4
    assert "from 1 on" in refusal(tiny().take, 0)


def test_split_is_a_partition_fixed_by_the_seed():
    whole = parse_dataset("glyphs:count=101,noise=0.3")
    train, test = whole.split(0.2, 3)
    assert (len(train), len(test)) == (81, 20)
    joined = np.concatenate([train.x, test.x])
    assert sorted(row.tobytes() for row in joined) == sorted(row.tobytes() for row in whole.x)
    again, other = whole.split(0.2, 3)[1], whole.split(0.2, 4)[1]
    assert np.array_equal(test.x, again.x) and not np.array_equal(test.x, other.x)
    at = [int(np.flatnonzero((whole.x == row).all(1))[0]) for row in test.x]
    assert at == sorted(at) and np.array_equal(whole.labels[at], test.labels)


def test_split_leaves_an_image_on_each_side():
    for share in (1e-9, 1 - 1e-9):
        assert min(map(len, tiny().split(share, 0))) == 1
    for share in (0, 1, -0.5, float("nan")):
        assert "between 0 and 1" in refusal(tiny().split, share, 0)
    assert "needs two" in refusal(tiny().take(1).split, 0.5, 0)
    assert "seed" in refusal(tiny().split, 0.5, -1)


def test_a_dataset_is_checked():
    x = np.zeros((3, 4), np.int8)
    assert "images x 6" in refusal(Dataset, x, (2, 3), None, "a")
    assert "not 0 or 1" in refusal(Dataset, x + np.int8(2), (2, 2), None, "a")
    assert "not 0 or 1" in refusal(Dataset, x.astype(float), (2, 2), None, "a")
    assert "labels" in refusal(Dataset, x, (2, 2), np.zeros(2, np.int32), "a")
    assert Dataset(x, (2, 2), None, "a").images.shape == (3, 2, 2)


def test_written_numerals_differ_in_the_hand_and_are_told_apart():
    found = parse_dataset("strokes:count=400,seed=3")
    assert found.shape == (16, 16) and found.x.dtype == np.int8 and set(found.labels) == set(range(10))
    assert len(np.unique(found.x, axis=0)) == 400
    again, other = parse_dataset("strokes:count=400,seed=3"), parse_dataset("strokes:count=400,seed=4")
    assert np.array_equal(found.x, again.x) and not np.array_equal(found.x, other.x)
    still = parse_dataset("strokes:wobble=0,count=100")
    assert len(np.unique(still.x, axis=0)) == 10
    shapes = np.stack([still.x[still.labels == label][0] for label in range(10)])
    assert (np.abs(shapes[:, None] - shapes[None]).sum(2)[~np.eye(10, dtype=bool)] > 12).all()
    means = np.stack([found.x[found.labels == label].mean(0) for label in range(10)])
    nearest = np.square(other.x[:, None] - means).sum(2).argmin(1)
    assert (nearest == other.labels).mean() > 0.75
    assert set(parse_dataset("strokes:labels=3+8,count=50").labels) == {3, 8}


# ---- texts


def test_digits():
    found = parse_dataset("digits")
    assert found.x.shape == (1797, 64) and found.shape == (8, 8) and found.x.dtype == np.int8
    assert np.bincount(found.labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    import sklearn.datasets

    assert np.array_equal(found.x, sklearn.datasets.load_digits().data >= 8)
    zeros = parse_dataset("digits:labels=0")
    assert len(zeros) == 178 and not zeros.labels.any()
    assert parse_dataset("digits: labels = 8+1 ,count=5").labels.tolist() == [1, 8, 1, 8, 1]
    low = parse_dataset("digits:threshold=1").x
    assert (low >= found.x).all() and low.sum() > found.x.sum()


def test_texts_and_values_are_inverse():
    for text in (
        "digits",
        "digits:count=5,labels=0+8",
        "bars:4x4",
        "bars:3x5,count=7,seed=2",
        "bars:4x4,labels=columns",
        "glyphs:12x12,count=500,noise=0.02",
        "strokes:side=20,wobble=0.5,count=60,labels=3+8",
        "mnist:part=test,count=5000,labels=2",
        "contours:labels=0,folder=a b/c",
    ):
        source, values = parse_dataset_text(text)
        assert dataset_text(source, **values) == dataset_text(source.id, **values) == text


def test_a_plus_lost_in_a_link_is_still_read():
    assert parse_dataset_text("digits:labels=0 8")[1]["labels"] == (0, 8)


def test_shorthands_and_names_mean_the_same():
    assert parse_dataset_text("bars:3x5")[1] == parse_dataset_text("bars:width=5,height=3")[1]
    assert parse_dataset_text("glyphs:labels=cross+ring")[1]["labels"] == (0, 2)
    assert parse_dataset_text("glyphs:labels=2+0")[1]["labels"] == (0, 2)
    source = source_of("digits")
    for labels in (3, [3], "3", np.array([3]), np.int32(3)):
        assert source.resolve({"labels": labels})["labels"] == (3,)
    assert source.resolve({"labels": None})["labels"] == ()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "choose one of digits, strokes, bars, glyphs, mnist, contours"),
        ("digit", "there is no dataset 'digit'; choose one of digits,"),
        ("digits:size=4", "it has threshold, count, labels"),
        ("digits:threshold=17", "a whole number from 1 to 16"),
        ("digits:count=many", "count is 'many'"),
        ("digits:labels=10", "no label '10'; choose from 0, 1,"),
        ("digits:labels=-1", "no label '-1'"),
        ("digits:labels=0++1++", "no label ''"),
        ("digits:labels=+", "no label ''"),
        ("digits:labels", "no name=value pair; digits takes threshold, count, labels"),
        ("digits:8x8", "no name=value pair"),
        ("bars:4x4x4", "or a size such as 4x4 first"),
        ("bars:13x4", "height is 13"),
        ("bars:4x4,height=4", "height is given twice"),
        ("bars:count=1,count=2", "count is given twice"),
        ("bars:,", "no name=value pair"),
        ("glyphs:noise=nan", "noise is nan"),
        ("glyphs:noise=.6", "0 to 0.5"),
        ("glyphs:labels=circle", "choose from cross, square, ring"),
        ("glyphs:folder=x", "no parameter 'folder'"),
        ("mnist:part=half", "one of auto, train, test, all"),
        ("x" * 2000, "at most 1000"),
        ("digits:" + "9" * 2000, "at most 1000"),
        ("__import__('os')", "there is no dataset"),
        ("/no/such/file.npz", "there is no file"),
        ("/no/such/folder", "cannot be read as a folder"),
    ],
)
def test_bad_texts_get_one_sentence(text, part):
    assert part in refusal(parse_dataset, text)


def test_a_stranger_names_no_path(tmp_path):
    for text in (str(tmp_path), f"{tmp_path}/a.npz", "a.npz", "."):
        assert "there is no dataset" in refusal(parse_dataset, text, files=False)
    assert "leave it out" in refusal(parse_dataset, f"mnist:folder={tmp_path}", files=False)


def test_a_folder_with_a_comma_has_no_text():
    assert "comma" in refusal(dataset_text, "mnist", folder="a,b")


WORDS = [
    "digits",
    "strokes",
    "bars",
    "glyphs",
    "mnist",
    "contours",
    ":",
    ",",
    "=",
    "x",
    "+",
    "4x4",
    "labels",
    "count",
    "folder",
]
WORDS += [
    "part",
    "all",
    "noise",
    "0",
    "2",
    "-1",
    "1e9",
    "nan",
    "é",
    "٣",
    "\0",
    "\n",
    ".",
    "/",
    "..",
    ".npz",
    "threshold",
]


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=30), st.lists(st.sampled_from(WORDS), max_size=8).map("".join)))
def test_any_text_is_a_dataset_or_one_sentence(text):
    with contextlib.suppress(InputError):
        source, values = parse_dataset_text(text)
        assert parse_dataset_text(dataset_text(source, **values))[1] == values


def test_any_text_loads_or_gets_one_sentence(offline):
    @settings(max_examples=100, deadline=None)
    @given(st.one_of(st.text(max_size=20), st.lists(st.sampled_from(WORDS), max_size=7).map("".join)))
    def check(text):
        try:
            found = parse_dataset(text)
        except InputError as error:
            assert len(str(error)) < 500
        else:
            assert isinstance(found, Dataset)

    check()


def test_the_registry_says_what_it_offers():
    assert len({source.id for source in DATASETS}) == len(DATASETS)
    for source in DATASETS:
        assert source.label and source.help.endswith(".") and source.label_names
        assert list(inspect.signature(source.load).parameters) == ["progress", "values"]
        for param in source.params:
            assert param.help.endswith(".") and param.parse(param.default) == param.default


# ---- bars and stripes


@pytest.mark.parametrize(("height", "width"), [(2, 2), (3, 3), (4, 4), (2, 5), (6, 3), (12, 12)])
def test_bars_and_stripes_are_all_there_once(height, width):
    found = parse_dataset(f"bars:{height}x{width}")
    assert len(np.unique(found.x, axis=0)) == len(found) == 2**height + 2**width - 2
    for image, label in zip(found.images, found.labels, strict=True):
        straight = image if label == 0 else image.T
        assert (straight == straight[:, :1]).all()


def test_every_bar_is_drawn_equally_often():
    found = parse_dataset("bars:2x3,count=20000,seed=1")
    _, counts = np.unique(found.x, axis=0, return_counts=True)
    assert len(counts) == 10
    expected = 2000
    assert ((counts - expected) ** 2 / expected).sum() < 33  # chi square, 9 degrees of freedom: p about 1e-4
    again = parse_dataset("bars:2x3,count=20000,seed=1")
    assert np.array_equal(found.x, again.x)
    assert not np.array_equal(found.x, parse_dataset("bars:2x3,count=20000,seed=2").x)


def test_bars_of_one_kind():
    columns = parse_dataset("bars:3x4,labels=columns")
    assert len(columns) == 14 and (columns.images == columns.images[:, :1]).all()
    assert len(parse_dataset("bars:3x4,labels=rows")) == 8


# ---- shapes


def test_stamps_differ_and_fill_their_box():
    for size in range(drawing.SMALLEST, drawing.LARGEST + 1):
        stamps = [drawing.stamp(name, size) for name in drawing.SHAPES]
        assert len({stamp.tobytes() for stamp in stamps}) == len(stamps)
        for stamp in stamps:
            assert stamp.any(0).all() and stamp.any(1).all()
    picture = ["#...#", "#...#", "#####", "#...#", "#...#"]
    assert ["".join(".#"[on] for on in row) for row in drawing.stamp("H", 5).astype(int)] == picture


def test_a_shape_without_noise_is_its_stamp():
    found = parse_dataset("glyphs:9x14,count=200,seed=5")
    assert found.x.shape == (200, 126) and found.shape == (9, 14)
    names = tuple(drawing.SHAPES)
    assert set(found.labels) == set(range(len(names)))
    for image, label in zip(found.images, found.labels, strict=True):
        rows, columns = np.flatnonzero(image.any(1)), np.flatnonzero(image.any(0))
        size = len(rows)
        box = image[rows[0] : rows[0] + size, columns[0] : columns[0] + size]
        assert np.array_equal(box, drawing.stamp(names[label], size))


def test_shapes_reach_every_edge_and_the_seed_decides():
    x = parse_dataset("glyphs:8x8,count=2000").images.any(0)
    assert x[0].any() and x[-1].any() and x[:, 0].any() and x[:, -1].any()
    a, b = parse_dataset("glyphs:count=50,seed=1"), parse_dataset("glyphs:count=50,seed=1")
    assert np.array_equal(a.x, b.x) and np.array_equal(a.labels, b.labels)
    assert not np.array_equal(a.x, parse_dataset("glyphs:count=50,seed=2").x)


def test_noise_flips_that_share_of_the_pixels():
    clean, noisy = parse_dataset("glyphs:count=2000"), parse_dataset("glyphs:count=2000,noise=0.1")
    assert abs((clean.x != noisy.x).mean() - 0.1) < 5 * np.sqrt(0.09 / clean.x.size)
    assert np.array_equal(clean.labels, noisy.labels)


def test_chosen_shapes_fill_the_count():
    found = parse_dataset("glyphs:count=40,labels=ring+L")
    assert len(found) == 40 and set(found.labels) == {2, 5}
