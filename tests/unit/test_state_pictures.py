"""Exported pictures of lattices of more than two states have the colours of the player."""

import io
from types import SimpleNamespace

import numpy as np
from PIL import Image

from pmpviz.capabilities.sampling import outlets
from pmpviz.models import build_spec
from pmpviz.models.space import PALETTE
from pmpviz.player.graph import unmet_pairs
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
