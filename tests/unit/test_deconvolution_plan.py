"""Deconvolution plans: what they amount to, painted glyphs as bits, links and command lines."""

import random
import shlex

import numpy as np
import pytest

from pmpviz.__main__ import _parser
from pmpviz.capabilities.deconvolution import bitmaps
from pmpviz.capabilities.deconvolution.page import command
from pmpviz.capabilities.deconvolution.page.painter import checked
from pmpviz.capabilities.deconvolution.plan import MODEL, PRIORS, DeconvolutionPlan, conv_sampler, problem_of
from pmpviz.capabilities.deconvolution.presets import ARROW, DECONVOLUTION, RING
from pmpviz.live.link import from_query, to_query
from pmpviz.models.conv_or import or_convolution
from pmpviz.samplers import CONV_SAMPLERS
from pmpviz.types import InputError

SMALL = DeconvolutionPlan(data="painted", painted=(ARROW, RING), images=8, side=10, features=3)


# What a plan amounts to.


@pytest.mark.parametrize("preset", DECONVOLUTION, ids=lambda preset: preset.id)
def test_every_preset_is_a_problem_whose_truth_makes_its_images(preset):
    problem = problem_of(preset.plan)
    assert problem.glyphs is not None and problem.locations is not None
    made = np.asarray(or_convolution(problem.locations, problem.glyphs))
    np.testing.assert_array_equal(made, problem.images)
    assert problem.target.model.shape == problem.shape
    clamped = int(np.asarray(problem.target.evidence.mask).sum())
    given = int(problem.seen.sum())
    given += problem.glyphs.size if preset.plan.known_features == "given" else 0
    given += problem.locations.size if preset.plan.known_locations == "given" else 0
    assert clamped == given


def test_known_locations_and_features_take_the_size_of_the_glyphs():
    both = SMALL.replace(known_features="given", known_locations="given")
    problem = problem_of(both)
    s, w, x = problem.target.model.split(np.asarray(problem.target.evidence.value))
    np.testing.assert_array_equal(s, problem.locations)
    np.testing.assert_array_equal(w, problem.glyphs)
    np.testing.assert_array_equal(x, problem.images)
    assert np.asarray(problem.target.evidence.mask).all() and problem.clamped == (0, 1)


def test_a_margin_keeps_its_distance_and_flips_are_of_the_data_only():
    problem = problem_of(SMALL.replace(margin=2, side=14))
    assert not problem.images[:, :, :2].any() and not problem.images[:, :, :, -2:].any()
    flipped = problem_of(SMALL.replace(margin=2, side=14, flip=0.1))
    differ = (flipped.images != problem.images).mean()
    assert 0.05 < differ < 0.15
    np.testing.assert_array_equal(flipped.locations, problem.locations)


def test_whole_images_are_ors_of_glyphs_in_the_one_by_one_case():
    problem = problem_of(SMALL.replace(layout="whole image", rate=0.4))
    assert problem.shape[1:4] == (25, 1, 1) and problem.picture == (5, 5)
    chosen = problem.locations[:, :, 0, 0] @ problem.glyphs[:, :, 0, 0].T
    np.testing.assert_array_equal(problem.images[:, :, 0, 0], chosen > 0)


def test_half_of_every_image_is_hidden():
    problem = problem_of(SMALL.replace(known_images="half hidden"))
    assert problem.seen[:, :, :5].all() and not problem.seen[:, :, 5:].any()
    whole = problem_of(SMALL.replace(known_images="half hidden", layout="whole image", rate=0.4))
    rows = whole.seen.reshape(-1, 5, 5)
    assert rows[:, :2].all() and not rows[:, 2:].any()


def test_painted_pixels_are_clamped_and_the_others_free():
    text = "1" * 6 + "0" * 6 + "-" * 24
    problem = problem_of(SMALL.replace(clamped=((1, text), (2, "-" * 7))))
    _, known, _ = problem.target.model.split(np.asarray(problem.target.evidence.mask))
    _, value, _ = problem.target.model.split(np.asarray(problem.target.evidence.value))
    assert problem.clamped == (1,) and known.sum() == 12
    assert value[0, 1, 0].all() and not value[0, 1, 1:].any()


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"data": "runes"}, "there are no glyphs 'runes'"),
        ({"painted": ("0" * 25,)}, "paint one"),
        ({"painted": ("1" * 24,)}, "25 pixels"),
        ({"side": 4}, "give larger images"),
        ({"side": 6}, "give larger images"),
        ({"feature_height": 12, "feature_width": 12}, "does not fit"),
        ({"images": 200, "side": 32, "features": 12, "samples": 5}, "give at most"),
        ({"data": "file:" + "0" * 64}, "bring the file"),
        ({"noise": 0.9}, "noise"),
    ],
)
def test_what_does_not_fit_is_told_in_a_sentence(changes, words):
    with pytest.raises(InputError, match=words):
        problem_of(SMALL.replace(**changes))


def test_of_own_images_nothing_else_is_known():
    images = problem_of(SMALL).images
    own = SMALL.replace(data="file:" + "0" * 64)
    problem = problem_of(own, lambda _: images)
    assert problem.glyphs is None and problem.shape.images == 8
    with pytest.raises(InputError, match="leave both to be found"):
        problem_of(own.replace(known_features="given"), lambda _: images)


# Painted pixels.


@pytest.mark.parametrize("size", [1, 7, 8, 25, 144])
def test_bits_are_packed_and_unpacked(size):
    rng = random.Random(size)
    text = "".join(rng.choice("01") for _ in range(size))
    assert bitmaps.unpack(bitmaps.pack(text), size) == text
    some = "".join(rng.choice("01-") for _ in range(size))
    assert bitmaps.unpack_clamped(bitmaps.pack_clamped(some), size) == some
    assert bitmaps.text_of(bitmaps.clamped_of(some)) == some
    for damaged in (bitmaps.pack(text)[:-1], bitmaps.pack(text) + "00", "zz" * -(-size // 8)):
        with pytest.raises(InputError, match="packed bits"):
            bitmaps.unpack(damaged, size)


@pytest.mark.parametrize(
    "raw",
    [
        None,
        {},
        [],
        ["01"],
        ["0" * 26],
        [None],
        ["0" * 24 + "2"],
        ["0" * 24 + "-"],
        [["0"] * 25],
        ["0" * 25] * 9,
        "0" * 25,
    ],
)
def test_a_drawing_that_is_none_is_not_taken(raw):
    assert checked(raw, 25, False, 8) is None


def test_drawings_are_taken_and_features_keep_their_number():
    assert checked(["0" * 25, "1" * 25], 25, False, 8) == ("0" * 25, "1" * 25)
    assert checked(["-" * 25, "1" * 25], 25, True, 2) == ("-" * 25, "1" * 25)
    assert checked(["-" * 25], 25, True, 2) is None
    assert checked(["0" * 400], 400, False, 8) is None


# Links and command lines.


@pytest.mark.parametrize("preset", DECONVOLUTION, ids=lambda preset: preset.id)
def test_a_link_gives_the_plan_back(preset):
    default = SMALL.replace(noise=0.1, lanes=(conv_sampler("gibbs"),), painted=())
    plan = preset.plan if preset.plan.painted else preset.plan.replace(paint_height=5, paint_width=5)
    assert from_query(to_query(plan), default) == (plan, [])


def test_a_link_carries_paintings_bit_for_bit():
    text = "1-0" * 12
    plan = SMALL.replace(clamped=((0, text), (2, text[::-1])), painted=("1" * 12, "0" * 11 + "1"), paint_height=3)
    plan = plan.replace(paint_width=4, lanes=(conv_sampler("pmp", damping=0.25), conv_sampler("gwg")))
    assert from_query(to_query(plan), DeconvolutionPlan()) == (plan, [])


@pytest.mark.parametrize(
    "query, words, check",
    [
        ({"data": "runes"}, "there are no glyphs runes", lambda p: p.data == "paper"),
        ({"painted": "99x5:00"}, "cannot be read", lambda p: p.painted == ()),
        ({"painted": "5x5:zz"}, "cannot be read", lambda p: p.painted == ()),
        ({"painted": "5x5:ff"}, "glyph 1 was left out", lambda p: p.painted == ()),
        ({"painted": "2x2:" + "-".join(["f0"] * 9)}, "first 8", lambda p: len(p.painted) == 8),
        ({"clamped": "9:00.00"}, "no feature 9", lambda p: p.clamped == ()),
        ({"clamped": "x"}, "no feature x", lambda p: p.clamped == ()),
        ({"clamped": "1:00.00"}, "packed bits of 36", lambda p: p.clamped == ()),
        ({"lane1": "magic"}, "magic", lambda p: p.lanes == DeconvolutionPlan().lanes),
        ({"noise": "7"}, "outside", lambda p: p.noise == 0.2),
        ({"images": "many"}, "images", lambda p: p.images == 60),
        ({"layout": "sideways"}, "layout", lambda p: p.layout == "anywhere"),
        ({"colour": "red"}, "do not exist", lambda p: p == DeconvolutionPlan()),
    ],
)
def test_a_bad_link_is_mended_with_a_notice(query, words, check):
    plan, notices = from_query(query, DeconvolutionPlan())
    assert len(notices) == 1 and words in notices[0] and check(plan), notices


@pytest.mark.parametrize("seed", range(10))
def test_no_link_raises(seed):
    rng = random.Random(seed)
    letters = "abcf0123456789.,;:=+-_x %/\\\u00e9\n"
    for _ in range(20):
        names = rng.sample(["data", "painted", "clamped", "lane1", "noise", "features", "v", "layout"], 5)
        query = {name: "".join(rng.choice(letters) for _ in range(rng.randrange(30))) for name in names}
        plan, notices = from_query(query, SMALL)
        assert isinstance(plan, DeconvolutionPlan) and all(isinstance(notice, str) for notice in notices)


@pytest.mark.parametrize("cls", CONV_SAMPLERS, ids=lambda cls: cls.spec.id)
def test_the_command_line_takes_what_the_page_says(cls):
    knobs = tuple((p.name, p.high) for p in cls.spec.params)
    plan = SMALL.replace(feature_height=4, samples=3)
    args = _parser().parse_args(shlex.split(command(plan, conv_sampler(cls.spec.id, **dict(knobs))))[3:])
    assert (args.algorithm, args.feature_size, args.own_samples) == (cls.spec.id, "4x6", "3")
    names = [*MODEL[:1], *PRIORS]
    assert {name: getattr(args, f"own_{name}") for name in names} == {name: str(getattr(plan, name)) for name in names}
    assert {name: getattr(args, f"knob_{name}") for name, _ in knobs} == {name: str(value) for name, value in knobs}
