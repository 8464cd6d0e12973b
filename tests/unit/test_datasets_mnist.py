"""MNIST: its files, the download that may fail, and the contours."""

import gzip
import os
import struct
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.datasets

from pmpviz.io.datasets import mnist, openml, parse_dataset, zero_contour
from pmpviz.io.datasets.idx import idx_bytes, parse_idx
from pmpviz.types import InputError

FETCH = sklearn.datasets.fetch_openml
REAL = Path(os.environ.get("PMPVIZ_DATA", "")) / "mnist"


@pytest.fixture(autouse=True)
def apart(monkeypatch, tmp_path):
    """Neither this machine's files nor its network."""

    def fetch(*args, **kwargs):
        raise urllib.error.URLError(OSError(-3, "Temporary failure in name resolution"))

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    monkeypatch.setattr(openml, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(openml, "POLL_SECONDS", 0.01)
    monkeypatch.setenv("PMPVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PMPVIZ_DATA", raising=False)


def refusal(call, *args):
    with pytest.raises(InputError) as caught:
        call(*args)
    text = str(caught.value)
    assert 10 < len(text) < 400 and "\n" not in text
    return text


def idx(array):
    """Written here from the description of the format, apart from the program's own writer."""
    return (
        struct.pack(">BBBB", 0, 0, 8, array.ndim) + b"".join(struct.pack(">I", s) for s in array.shape) + bytes(array)
    )


def digits(count, seed=0):
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, (count, 28, 28)).astype(np.uint8)
    return images, (np.arange(count) % 10).astype(np.uint8)


def put(folder, prefix, images, labels, end="", dot="-"):
    folder.mkdir(parents=True, exist_ok=True)
    pack = gzip.compress if end else bytes
    (folder / f"{prefix}-images{dot}idx3-ubyte{end}").write_bytes(pack(idx(images)))
    (folder / f"{prefix}-labels{dot}idx1-ubyte{end}").write_bytes(pack(idx(labels)))


# ---- IDX


@pytest.mark.parametrize("shape", [(5,), (2, 3), (4, 3, 2), (0, 28, 28)])
def test_idx_files_are_read(shape):
    array = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    for data in (idx(array), gzip.compress(idx(array)), idx_bytes(array)):
        found = parse_idx(data, "a")
        assert found.shape == shape and np.array_equal(found, array)


def test_damaged_idx_files_are_refused():
    whole = idx(digits(3)[0])
    packed = gzip.compress(whole)
    assert "should hold 2352 bytes of data but holds 2351" in refusal(parse_idx, whole[:-1], "a")
    assert "but holds 2353" in refusal(parse_idx, whole + b"!", "a")
    assert "ends within its sizes" in refusal(parse_idx, whole[:9], "a")
    assert "cut short" in refusal(parse_idx, packed[:-20], "a")
    assert "damaged gzip" in refusal(parse_idx, packed[:30] + b"garbage" + packed[37:], "a")
    for garbage in (b"", b"\0", b"garbage!", b"\0\0\x0d\x03" + bytes(40), b"\0\0\x08\x09" + bytes(40)):
        assert "is no IDX file of bytes" in refusal(parse_idx, garbage, "a")
    assert "should hold" in refusal(parse_idx, b"\0\0\x08\x03" + b"\xff" * 12, "a")


def test_a_gzip_bomb_is_refused():
    bomb = gzip.compress(bytes(200_000 * 784 + 1000), compresslevel=1)
    assert len(bomb) < 2_000_000 and "give at most" in refusal(parse_idx, bomb, "a")


# ---- folders


@pytest.mark.parametrize(("end", "dot"), [("", "-"), (".gz", "-"), ("", "."), (".gz", ".")])
def test_a_named_folder_is_read(tmp_path, end, dot):
    images, labels = digits(30)
    put(tmp_path, "t10k", images, labels, end, dot)
    found = parse_dataset(f"mnist:folder={tmp_path}")
    assert np.array_equal(found.images, images > 127) and np.array_equal(found.labels, labels)
    assert found.shape == (28, 28) and found.name == "MNIST (test)"
    assert parse_dataset(f"mnist:folder={tmp_path},labels=2,count=5000").labels.tolist() == [2, 2, 2]
    assert parse_dataset(f"mnist:folder={tmp_path},labels=2,count=2").labels.tolist() == [2, 2]


def test_parts(tmp_path):
    put(tmp_path, "train", *digits(20, 1))
    put(tmp_path, "t10k", *digits(10, 2), end=".gz")
    sizes = {part: len(parse_dataset(f"mnist:folder={tmp_path},part={part}")) for part in mnist.PARTS}
    assert sizes == {"auto": 20, "train": 20, "test": 10, "all": 30}
    everything = parse_dataset(f"mnist:folder={tmp_path},part=all")
    assert np.array_equal(everything.images[:20], digits(20, 1)[0] > 127) and everything.name == "MNIST (all)"


def test_folders_that_lack_something_are_refused(tmp_path):
    assert "lacks the files train-images" in refusal(parse_dataset, f"mnist:folder={tmp_path}")
    assert "lacks the files" in refusal(parse_dataset, "mnist:folder=/no/such")
    assert "lacks the files" in refusal(parse_dataset, "mnist:folder=a\0b")
    put(tmp_path, "t10k", *digits(10))
    assert "lacks the files train-images" in refusal(parse_dataset, f"mnist:folder={tmp_path},part=all")
    put(tmp_path, "t10k", digits(10)[0], digits(9)[1])
    assert "10 images, but t10k-labels-idx1-ubyte has 9 labels" in refusal(parse_dataset, f"mnist:folder={tmp_path}")
    put(tmp_path, "t10k", digits(10)[0], digits(10)[1] + np.uint8(1))
    assert "the label 10" in refusal(parse_dataset, f"mnist:folder={tmp_path}")
    put(tmp_path, "t10k", digits(10)[0][:, :, :27], digits(10)[1])
    assert "10 x 28 x 27" in refusal(parse_dataset, f"mnist:folder={tmp_path}")
    put(tmp_path, "t10k", digits(5)[0], digits(5)[1])
    assert "no image of MNIST (test) has the label 7" in refusal(parse_dataset, f"mnist:folder={tmp_path},labels=7")


def test_the_data_folder_comes_before_the_cache(tmp_path, monkeypatch):
    put(tmp_path / "cache/pmpviz/mnist", "train", *digits(20))
    assert len(parse_dataset("mnist")) == 20
    monkeypatch.setenv("PMPVIZ_DATA", str(tmp_path))
    assert len(parse_dataset("mnist")) == 20
    put(tmp_path / "mnist", "t10k", *digits(10))
    assert parse_dataset("mnist").name == "MNIST (test)"
    # What was asked for and is not there is looked for further on.
    assert parse_dataset("mnist:part=train").name == "MNIST (train)"


@pytest.mark.skipif(not REAL.is_dir(), reason="PMPVIZ_DATA names no folder that holds mnist/")
def test_the_real_files():
    text = f"folder={REAL},part=test"
    found = parse_dataset(f"mnist:{text}")
    assert found.x.shape == (10_000, 784) and found.labels[:5].tolist() == [7, 2, 1, 0, 4]
    counts = np.bincount(found.labels)
    assert counts[0] == 980 and counts[2] == 1032
    assert len(parse_dataset(f"mnist:{text},labels=2,count=5000")) == 1032
    contours = parse_dataset(f"contours:{text},labels=0")
    assert contours.x.shape == (980, 900) and contours.shape == (30, 30)
    digit, contour = found.images[found.labels == 0], contours.images[:, 1:-1, 1:-1]
    assert not (digit & contour).any() and contours.x.any(1).all()


# ---- the download


def seventy_thousand():
    data = np.zeros((70_000, 784), np.uint8)
    data[:, 0] = np.arange(70_000) % 251
    return SimpleNamespace(data=data, target=np.array([str(i % 10) for i in range(70_000)], object))


def test_offline_says_what_to_do():
    started = time.monotonic()
    for text in ("mnist", "mnist:labels=2,count=5000,part=test", "contours:labels=0"):
        message = refusal(parse_dataset, text)
        assert "could not be downloaded from OpenML (Temporary failure in name resolution)" in message
        assert "put train-images-idx3-ubyte.gz and" in message and "mnist:folder=PATH" in message
    assert time.monotonic() - started < 5


def test_scikit_learn_itself_gives_up_after_one_more_try(monkeypatch):
    calls = []

    def offline(request, *args, **kwargs):
        calls.append(request.full_url)
        raise urllib.error.URLError("gone")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", FETCH)
    monkeypatch.setattr(urllib.request, "_opener", SimpleNamespace(open=offline))
    assert "(gone)" in refusal(parse_dataset, "mnist")
    assert len(calls) == 2 and all("openml.org" in call for call in calls)


def test_an_answer_that_never_comes_is_not_waited_for(monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *args, **kwargs: release.wait(30))
    monkeypatch.setattr(openml, "CONNECT_SECONDS", 0.1)
    started = time.monotonic()
    assert "no answer for" in refusal(parse_dataset, "mnist")
    release.set()
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("error", [ValueError("no such data"), ImportError("pandas"), RuntimeError("\n odd")])
def test_other_troubles_are_told_too(monkeypatch, error):
    def fetch(*args, **kwargs):
        raise error

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    assert "could not be downloaded" in refusal(parse_dataset, "mnist")


def test_other_data_than_mnist_is_refused(monkeypatch):
    full = seventy_thousand()
    strange = [(np.zeros((5, 784)), np.zeros(5)), (full.data, full.target + "0"), (full.data * 2.0, full.target)]
    for data, target in strange:
        other = SimpleNamespace(data=data, target=target)
        monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *args, other=other, **kwargs: other)
        assert "could not be downloaded" in refusal(parse_dataset, "mnist")


def test_a_cache_that_cannot_be_written_is_told_before_the_download(monkeypatch, tmp_path):
    (tmp_path / "taken").write_text("a file")
    monkeypatch.setenv("PMPVIZ_CACHE", str(tmp_path / "taken"))
    assert "set PMPVIZ_CACHE" in refusal(parse_dataset, "mnist")


def test_what_was_downloaded_is_kept_and_the_progress_is_told(monkeypatch, tmp_path):
    calls, told = [], []

    def fetch(name, *, version, as_frame, data_home, n_retries, delay):
        calls.append((name, version, as_frame))
        (Path(data_home) / "part").write_bytes(bytes(3_000_000))
        time.sleep(0.2)
        return seventy_thousand()

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    test = parse_dataset("mnist:part=test", progress=lambda share, words: told.append((share, words)))
    assert calls == [("mnist_784", 1, False)]
    assert len(test) == 10_000 and np.array_equal(test.x[:, 0], np.arange(60_000, 70_000) % 251 > 127)
    assert np.array_equal(test.labels, np.arange(10_000) % 10)
    shares = [share for share, _ in told]
    assert shares == sorted(shares) and shares[-1] == 1 and any(0 < share < 1 for share in shares)
    assert "MNIST from OpenML: 3.0 MB" in [words for _, words in told]
    assert len(parse_dataset("mnist")) == 60_000 and len(calls) == 1
    assert len(list((tmp_path / "cache/pmpviz/mnist").iterdir())) == 4


# ---- contours


def drawn(*rows):
    return np.array([[[int(c == "#") for c in row] for row in rows]], np.int8)


def test_the_contour_of_a_small_drawing():
    picture = drawn(
        "....#",
        ".##..",
        ".#.#.",
        ".###.",
        "#....",
    )
    contour = drawn(
        ".......",
        "..###..",
        ".#..##.",
        ".#.#.#.",
        ".#...#.",
        "..###..",
        ".......",
    )
    assert np.array_equal(zero_contour(picture), contour)
    assert zero_contour(picture).dtype == np.int8


def test_contours_agree_with_the_definition_pixel_by_pixel():
    x = (np.random.default_rng(0).random((20, 6, 7)) < 0.3).astype(np.int8)
    found = zero_contour(x)
    assert found.shape == (20, 8, 9)
    for n, i, j in np.ndindex(20, 8, 9):
        inside = 1 <= i <= 6 and 1 <= j <= 7
        near = [(i - 2, j - 1), (i, j - 1), (i - 1, j - 2), (i - 1, j)]
        on = inside and any(0 <= r < 6 and 0 <= c < 7 and x[n, r, c] for r, c in near)
        assert found[n, i, j] == (on and not x[n, i - 1, j - 1])


def test_contours_come_from_the_digits(tmp_path):
    images, labels = digits(20)
    put(tmp_path, "train", images, labels)
    found = parse_dataset(f"contours:folder={tmp_path},labels=0+3")
    chosen = np.isin(labels, [0, 3])
    assert np.array_equal(found.images, zero_contour((images[chosen] > 127).astype(np.int8)))
    assert found.shape == (30, 30) and found.labels.tolist() == [0, 3, 0, 3]
    assert not found.images[:, 0].any() and not found.images[:, :, -1].any()
    assert found.name == "MNIST contours (train), labels 0, 3"
