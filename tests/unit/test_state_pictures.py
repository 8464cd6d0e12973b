"""Exported pictures of lattices of more than two states have the colours of the player."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from pmpviz.capabilities.sampling import outlets
from pmpviz.capabilities.sampling.layers import layers_of
from pmpviz.models import build_spec
from pmpviz.models.space import PALETTE
from pmpviz.player.graph import lattice_bonds, unmet_pairs
from pmpviz.player.pictures import UNMET, graph_image

MODEL = build_spec("potts:4x5,q=3")
STATES = (np.arange(20) % 3).astype(np.int8)


def view():
    """What an export sees of a lane that shows `STATES`."""
    packed = np.asarray(MODEL.space.pack(STATES[None]))
    lane = SimpleNamespace(ring=SimpleNamespace(last=lambda count: packed))
    return SimpleNamespace(model=MODEL, lanes=[lane], plan=SimpleNamespace(model="potts:4x5,q=3"))


def colours(image: Image.Image) -> np.ndarray:
    return np.asarray(image.convert("RGB").resize((5, 4), Image.Resampling.NEAREST)).reshape(20, 3)


def test_a_picture_and_an_animation_show_each_state_in_its_own_colour():
    expected = np.array([[int(PALETTE[k][at : at + 2], 16) for at in (1, 3, 5)] for k in STATES])
    with Image.open(io.BytesIO(outlets._picture(view()))) as image:
        assert np.array_equal(colours(image), expected)
    with Image.open(io.BytesIO(outlets._animation_of(view())())) as image:
        assert np.abs(colours(image).astype(int) - expected).max() <= 8


def test_couplings_that_a_state_does_not_meet_are_red_in_a_picture_and_none_of_other_models():
    model = build_spec("complete:3,J=1")
    pairs = model.pairs()
    for x, red in ([0, 0, 0], 0), ([1, 0, 0], 2):
        unmet = unmet_pairs(model, pairs, np.array(x))
        assert unmet.sum() == red
        image = graph_image(np.array(x), np.array([[0, 0], [1, 0], [0, 1]]), pairs, unmet=unmet)
        pixels = np.asarray(image).reshape(-1, 3).astype(int)
        assert bool((np.abs(pixels - UNMET[0]).max(1) < 9).sum() > 20) is bool(red)
    against = build_spec("complete:3,J=-1")
    assert unmet_pairs(against, pairs, np.array([1, 1, 0])).tolist() == [True, False, False]
    potts = build_spec("potts:3x3,q=3")
    assert not unmet_pairs(potts, potts.pairs(), np.arange(9) % 3).any()


@pytest.mark.parametrize(
    "spec",
    [
        "square:3x4,J=0.7",
        "square:4x5,couplings=glass,J=1",
        "square:6x4,couplings=frustrated,periodic=false",
        "honeycomb:4x6",
    ],
)
def test_bonds_of_a_lattice_are_its_couplings_to_the_right_and_down(spec):
    model = build_spec(spec)
    bonds = lattice_bonds(model).reshape(2, *model.shape)
    found = {}
    for site, (row, col) in enumerate(np.ndindex(*model.shape)):
        for axis, (down, right) in enumerate(((0, 1), (1, 0))):
            if bonds[axis, row, col]:
                other = (row + down) % model.shape[0] * model.shape[1] + (col + right) % model.shape[1]
                found[frozenset((site, other))] = bonds[axis, row, col]
    _, i, j, w = model.pairwise()
    assert found == {
        frozenset(pair): np.float32(weight) for *pair, weight in zip(i.tolist(), j.tolist(), w, strict=True)
    }


@pytest.mark.parametrize(
    "spec", ["triangular:4x4", "cubic:3x3x3", "chain:9", "complete:9", "potts:4x4", "square:80x80"]
)
def test_other_models_have_no_bonds_to_be_drawn_and_no_layer_of_them(spec):
    model = build_spec(spec)
    assert lattice_bonds(model) is None
    assert "bonds" not in layers_of((), model) and "bonds" in layers_of((), build_spec("square:4x4"))
