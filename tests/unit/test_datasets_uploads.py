"""A person's own images: archives and pictures, and one sentence for what is neither."""

import io
import struct
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pmpviz.io.datasets import (
    Dataset,
    dataset_from_folder,
    dataset_from_images,
    dataset_from_npz,
    parse_dataset,
    unzipped,
)
from pmpviz.io.datasets import uploads as reading
from pmpviz.io.npz import samples_to_npz
from pmpviz.types import InputError


def refusal(call, *args):
    with pytest.raises(InputError) as caught:
        call(*args)
    text = str(caught.value)
    assert 10 < len(text) < 400 and "\n" not in text
    return text


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def picture(array, form="PNG", mode=None):
    buffer = io.BytesIO()
    image = array if isinstance(array, Image.Image) else Image.fromarray(np.asarray(array), mode)
    image.save(buffer, form)
    return buffer.getvalue()


def random_images(count=6, height=3, width=4):
    return np.random.default_rng(0).integers(0, 2, (count, height, width)).astype(np.int8)


# ---- archives


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool, np.float32, np.float64, np.int64])
def test_zeros_and_ones_are_taken_as_they_are(dtype):
    images = random_images()
    for key in ("x", "images", "anything"):
        found = dataset_from_npz(npz(**{key: images.astype(dtype)}), "a.npz")
        assert np.array_equal(found.images, images) and found.x.dtype == np.int8
        assert found.shape == (3, 4) and found.note == "" and found.labels is None and found.name == "a.npz"


def test_rows_of_pixels():
    flat = random_images(5, 3, 3).reshape(5, 9)
    assert dataset_from_npz(npz(x=flat)).shape == (3, 3)
    assert dataset_from_npz(npz(x=flat[:, :7])).shape == (1, 7)
    assert np.array_equal(dataset_from_npz(samples_to_npz(flat)).x, flat)


def test_grey_is_halved_and_that_is_said():
    grey = np.array([[[0, 100], [127, 128]], [[254, 255], [1, 200]]], np.uint8)
    found = dataset_from_npz(npz(x=grey))
    assert found.x.tolist() == [[0, 0, 0, 1], [1, 1, 0, 1]]
    assert found.note == "on above 127.5, half of the range 0 to 255"
    spins = dataset_from_npz(npz(x=np.array([[-1, 1], [1, 1]])))
    assert spins.x.tolist() == [[0, 1], [1, 1]] and "half of the range -1 to 1" in spins.note


def test_labels_beside_the_images():
    images = random_images(4)
    for key in ("labels", "y"):
        found = dataset_from_npz(npz(**{key: np.array([3, 1, 3, 2]), "first": images}))
        assert found.labels.tolist() == [3, 1, 3, 2] and found.only([3]).labels.tolist() == [3, 3]
    for bad in (np.zeros(3, int), np.zeros(4), np.array([0, 0, 0, 2**40])):
        assert "give 4 whole numbers" in refusal(dataset_from_npz, npz(x=images, labels=bad))


@pytest.mark.parametrize(
    ("arrays", "part"),
    [
        ({}, "holds nothing"),
        ({"a": random_images(), "b": random_images()}, "holds a, b; give the images the name x"),
        ({"x": np.zeros(4)}, "N x H x W or N x D"),
        ({"x": np.zeros((2, 2, 2, 2))}, "N x H x W or N x D"),
        ({"x": np.array([["a", "b"]] * 2)}, "give numbers"),
        ({"x": np.ones((2, 2), complex)}, "give numbers"),
        ({"x": np.zeros((1, 4))}, "has 1 image; give 2 to 200000"),
        ({"x": np.zeros((0, 4))}, "has 0 images"),
        ({"x": np.zeros((200_001, 1), bool)}, "has 200001 images"),
        ({"x": np.zeros((2, 0))}, "give 1 to 4096 pixels"),
        ({"x": np.zeros((2, 65, 64))}, "65 x 64 pixels; give 1 to 4096"),
        ({"x": np.zeros((2, 1_000_000), np.int8)}, "give 1 to 4096 pixels"),
        ({"x": np.array([[0, np.nan]] * 2)}, "NaN or infinite"),
        ({"x": np.array([[0, -np.inf]] * 2)}, "NaN or infinite"),
        ({"x": np.full((2, 4), 7)}, "every pixel of the archive is 7"),
    ],
)
def test_archives_of_something_else_get_one_sentence(arrays, part):
    assert part in refusal(dataset_from_npz, npz(**arrays))


def test_extreme_numbers_do_not_overflow():
    most = np.finfo(float).max
    assert dataset_from_npz(npz(x=np.array([[-most, most]] * 2))).x.tolist() == [[0, 1]] * 2
    assert dataset_from_npz(npz(x=np.array([[0, 2**64 - 1]] * 2, np.uint64))).x.tolist() == [[0, 1]] * 2


def test_nothing_is_unpickled_and_bombs_are_refused():
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    assert "give numbers" in refusal(dataset_from_npz, npz(x=np.array([Bomb(), Bomb()], object)))
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("x.npy", "w") as f,
    ):
        for _ in range(33):
            f.write(bytes(1 << 24))
    assert "unpacked, has" in refusal(dataset_from_npz, buffer.getvalue())


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_archives_get_one_sentence(data):
    whole = bytearray(npz(x=random_images(), labels=np.arange(6)))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    try:
        found = dataset_from_npz(bytes(whole), "a.npz")
    except InputError as error:
        assert 10 < len(str(error)) < 400 and "\n" not in str(error)
    else:
        assert isinstance(found, Dataset)


# ---- pictures


@pytest.mark.parametrize("form", ["PNG", "BMP", "GIF"])
def test_pictures_are_read_exactly(form):
    images = random_images(5)
    found = dataset_from_images([(f"{i}.x", picture(x.astype(np.uint8) * 255, form)) for i, x in enumerate(images)])
    assert np.array_equal(found.images, images) and found.shape == (3, 4) and found.labels is None
    assert found.name == "5 images" and found.note == "on above half of the brightness"


def test_a_jpeg_is_read():
    halves = np.zeros((16, 16), np.uint8)
    halves[:, 8:] = 255
    found = dataset_from_images([("a.jpg", picture(halves, "JPEG"))] * 2)
    assert np.array_equal(found.images[0], halves > 127)


def test_grey_colour_depth_and_transparency():
    ramp = np.array([[0, 127, 128, 255]], np.uint8)
    deep = np.array([[0, 32767, 32768, 65535]], np.uint16)
    clear = np.zeros((1, 4, 4), np.uint8)
    clear[..., 3] = [255, 129, 126, 0]  # Black ink, thinner and thinner, on the white page.
    palette = Image.fromarray(ramp).convert("P")
    files = [picture(ramp), picture(deep), picture(clear), picture(palette), picture(np.stack([ramp] * 3, -1))]
    found = dataset_from_images([(str(i), data) for i, data in enumerate(files)])
    assert found.x.tolist() == [[0, 0, 1, 1]] * 5


def test_an_animation_gives_its_first_frame():
    frames = [Image.fromarray(np.full((2, 2), v, np.uint8)) for v in (255, 0)]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])
    assert dataset_from_images([("a.gif", buffer.getvalue())] * 2).x.all()


def header_only(width, height):
    """A PNG that promises these sizes and holds no pixel."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


def test_sizes_are_checked_before_anything_is_decoded(monkeypatch):
    monkeypatch.setattr(reading, "_grey", lambda image: pytest.fail("decoded"))
    wide = refusal(dataset_from_images, [("wide.png", header_only(1_000_000, 1))] * 2)
    assert wide == "wide.png has images of 1 x 1000000 pixels; give 1 to 4096 pixels, such as 64 x 64"
    with pytest.warns(Image.DecompressionBombWarning):
        assert "1000000 pixels" in refusal(dataset_from_images, [("a.png", header_only(1_000_000, 100))])
    assert "far too many pixels" in refusal(dataset_from_images, [("a.png", header_only(1_000_000, 1_000_000))])


def test_pictures_that_do_not_fit_get_one_sentence():
    good = picture(np.zeros((3, 4), np.uint8))
    other = picture(np.zeros((4, 3), np.uint8))
    assert refusal(dataset_from_images, [("a.png", good), ("b.png", good), ("c.png", other)]) == (
        "a.png has 3 x 4 pixels but c.png has 4 x 3; give images of one size"
    )
    assert "has 1 image; give 2" in refusal(dataset_from_images, [("a.png", good)])
    assert "has 0 images" in refusal(dataset_from_images, [])
    for data in (b"", b"not a picture", npz(x=random_images()), good[:-30], header_only(3, 4)):
        assert "b.png is damaged or no picture" in refusal(dataset_from_images, [("a.png", good), ("b.png", data)])
    tiff = picture(np.zeros((3, 4), np.uint8), "TIFF")
    assert "give PNG, JPEG, BMP, GIF" in refusal(dataset_from_images, [("a.png", tiff)])
    assert "give at most" in refusal(dataset_from_images, [("a.png", good + bytes(1 << 24))])


def test_no_more_pictures_than_allowed_are_read(monkeypatch):
    monkeypatch.setattr(reading, "MAX_IMAGES", 3)
    endless = iter(lambda: ("a.png", picture(np.zeros((3, 4), np.uint8))), None)
    assert "has 4 images; give 2 to 3" in refusal(dataset_from_images, endless)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_pictures_get_one_sentence(data):
    form = data.draw(st.sampled_from(["PNG", "JPEG", "BMP", "GIF"]))
    whole = bytearray(picture(random_images(1)[0].astype(np.uint8) * 255, form))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    try:
        dataset_from_images([("a", bytes(whole))] * 2)
    except InputError as error:
        assert 10 < len(str(error)) < 400 and "\n" not in str(error)


# ---- folders and paths


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path):
    images = random_images(3)
    for name, x in zip(("b.PNG", "a.gif", "c.bmp"), images, strict=True):
        (tmp_path / name).write_bytes(picture(x.astype(np.uint8) * 255, name[2:].upper()))
    (tmp_path / "notes.txt").write_text("no picture")
    (tmp_path / "within.png").mkdir()
    for found in (dataset_from_folder(tmp_path), parse_dataset(str(tmp_path))):
        assert np.array_equal(found.images, images[[1, 0, 2]]) and found.name == tmp_path.name


def test_folders_of_nothing_get_one_sentence(tmp_path):
    assert "holds no images; put files ending in .png" in refusal(dataset_from_folder, tmp_path)
    assert "cannot be read as a folder" in refusal(dataset_from_folder, tmp_path / "none")
    (tmp_path / "a.png").write_bytes(b"garbage")
    assert "cannot be read as a folder" in refusal(dataset_from_folder, tmp_path / "a.png")
    assert "has 1 image" in refusal(dataset_from_folder, tmp_path)
    (tmp_path / "b.png").write_bytes(b"garbage")
    assert "a.png is damaged or no picture" in refusal(dataset_from_folder, tmp_path)


def test_the_path_of_an_archive(tmp_path, monkeypatch):
    images = random_images()
    (tmp_path / "mine.npz").write_bytes(npz(x=images))
    monkeypatch.chdir(tmp_path)
    for text in (f"{tmp_path}/mine.npz", "mine.npz", " ./mine.npz "):
        assert np.array_equal(parse_dataset(text).images, images)
    (tmp_path / "pictures").mkdir()
    assert "holds no images" in refusal(parse_dataset, "pictures")


# ---- archives of pictures


def zipped(files, **more):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **more) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def test_a_zip_is_read_in_the_order_of_its_names(tmp_path):
    images = random_images(3)
    names = ("set/b.png", "set/a.PNG", "c.png")
    files = {name: picture(x.astype(np.uint8) * 255) for name, x in zip(names, images, strict=True)}
    data = zipped(files | {"__MACOSX/set/._a.png": b"of no use", "set/": b"", "read.me": b"words"})
    assert np.array_equal(dataset_from_images(unzipped(data)).images, images[[2, 1, 0]])
    (tmp_path / "mine.zip").write_bytes(data)
    found = parse_dataset(str(tmp_path / "mine.zip"))
    assert np.array_equal(found.images, images[[2, 1, 0]]) and found.name == "mine.zip"


def test_zips_of_something_else_get_one_sentence(monkeypatch):
    read = lambda data: dataset_from_images(unzipped(data, "own.zip"))  # noqa: E731
    one = picture(np.zeros((3, 4), np.uint8))
    assert "holds no images" in refusal(read, zipped({"a.txt": b"words"}))
    assert "has 1 image" in refusal(read, zipped({"a.png": one}))
    assert "is damaged or no .zip" in refusal(read, b"words")
    assert "b.png is damaged or no picture" in refusal(read, zipped({"a.png": one, "b.png": b"words"}))
    locked = bytearray(zipped({"a.png": one, "b.png": one}))
    at = locked.index(b"PK\x01\x02")
    locked[at + 8] |= 1
    assert "locked with a password" in refusal(read, bytes(locked))
    bomb = zipped({"a.png": one, "b.png": bytes((1 << 24) + 1)}, compression=zipfile.ZIP_DEFLATED)
    assert "b.png has 16777217 bytes" in refusal(read, bomb)
    monkeypatch.setattr(reading, "MAX_IMAGES", 3)
    assert "has 4 images; give 2 to 3" in refusal(read, zipped({f"{k}.png": one for k in range(4)}))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_damaged_zips_get_one_sentence(data):
    whole = bytearray(zipped({name: picture(np.zeros((3, 4), np.uint8)) for name in ("a.png", "b.png")}))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    try:
        dataset_from_images(unzipped(bytes(whole)))
    except InputError as error:
        assert 10 < len(str(error)) < 400 and "\n" not in str(error)
