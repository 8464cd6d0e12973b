"""`python -m pmpviz deconvolve`: what it prints and writes, and bad input in one sentence."""

import numpy as np
import pytest
from command_line import cache, call, found, in_a_folder_of_its_own, refused  # noqa: F401

from pmpviz.io.datasets.stamps import glyph_set, stamp
from pmpviz.models.conv_or import or_convolution
from pmpviz.samplers import CONV_SAMPLERS

GIVEN = ("--features", "3", "--feature-size", "4x3", "--location-prior", "1e-6")


@pytest.fixture
def images():
    glyphs = glyph_set("bars").glyphs[:2, 1:4, 1:4]
    made = stamp(3, glyphs, 6, 8, 7, rate=0.05, at_least=2)[0]
    np.savez("images.npz", X=made)
    return made


@pytest.mark.parametrize("name", [cls.spec.id for cls in CONV_SAMPLERS])
def test_figures_agree_with_what_is_written(images, name):
    told = ("--algorithm", name, "--sweeps", "12", "--samples", "2", "--seed", "4", "--out", "result.npz")
    result = found("deconvolve", "images.npz", *GIVEN, *told)
    assert (result["algorithm"], result["sweeps"], result["out"]) == (name, 12, "result.npz")
    with np.load("result.npz") as written:
        features, locations, made = written["features"], written["locations"], written["reconstruction"]
        assert features.shape == (2, 1, 3, 4, 3) and locations.shape == (2, 6, 3, 5, 5)
    for sample in range(2):
        assert np.array_equal(made[sample], or_convolution(locations[sample], features[sample]))
        assert result["wrong_pixels"][sample] == (made[sample] != images).sum()
        assert result["explained_pixels"][sample] == (made[sample] & images).sum()
        assert result["locations_on"][sample] == locations[sample].sum()
    assert result["pixels_on"] == images.sum()
    again = found("deconvolve", "images.npz", *GIVEN, *told)
    assert again | {"seconds": 0} == result | {"seconds": 0}
    code, out, err = call("deconvolve", "images.npz", *GIVEN, *told)
    assert (code, err) == (0, "") and f"sample 1: {result['wrong_pixels'][1]:,} wrong pixels" in out


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (("--feature-size", "9x3"), "at least 9 x 3"),
        (("--feature-size", "6"), "height x width such as 6x6"),
        (("--features", "0"), "a whole number from 1 to 64"),
        (("--convention", "mine"), "one of exact, authors"),
        (("--algorithm", "annealing"), "choose one of pmp, gwg, gibbs"),
        (("--algorithm", "gibbs", "--damping", "0.5"), "gibbs has no setting 'damping'"),
        (("--out", "result.json"), "end it in .npz"),
        (("--out", "images.npz"), "named twice"),
        (("--noise", "0.9"), "a number from 1e-100 to 0.5"),
    ],
)
def test_bad_input_is_one_sentence(images, told, words):
    assert words in refused("deconvolve", "images.npz", *told)


def test_bad_files_are_one_sentence(images):
    assert "there is no file" in refused("deconvolve", "nothing.npz")
    np.savez("grey.npz", X=np.full((3, 8, 8), 0.5))
    assert "pixels that are 0 or 1" in refused("deconvolve", "grey.npz")
    np.savez("empty.npz", X=np.zeros((0, 8, 8)))
    assert "is empty" in refused("deconvolve", "empty.npz")
    np.savez("large.npz", X=np.zeros((100, 64, 64), np.int8))
    wide = ("--features", "10", "--feature-size", "24x24")
    assert "GiB; give at most" in refused("deconvolve", "large.npz", *wide)
