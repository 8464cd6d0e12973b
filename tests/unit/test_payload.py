"""Updates of the player: every one says after which frame it begins, also where it brings none."""

import dataclasses
import time

import numpy as np

from pmpviz.capabilities.sampling import picture as payload
from pmpviz.capabilities.sampling.live import LiveRun
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.models import build_spec
from pmpviz.player import update as sending
from pmpviz.player.update import AGAIN_UPDATES, Cursors, Desk, geometry_of
from pmpviz.player.wire import Payload, decode

WAIT_SECONDS = 60


def test_clamped_sites_are_one_bit_each():
    live = LiveRun(Plan(model="square:4x3", lanes=(sampler("gibbs"),), chains=2, clamp=((0, 1), (9, 0))))
    until = time.monotonic() + WAIT_SECONDS
    while not live.view.lanes and time.monotonic() < until:
        live.touch()
        time.sleep(0.05)
    meta, blobs = decode(payload.update(live.view, Cursors(), Desk(), tool="none"))
    live.close()
    assert np.flatnonzero(np.unpackbits(np.frombuffer(blobs[meta["clamped"]], np.uint8), count=12)).tolist() == [0, 9]


def test_a_clamped_site_beyond_the_model_is_not_drawn():
    live = LiveRun(Plan(model="square:4x3", lanes=(sampler("gibbs"),), chains=2))
    until = time.monotonic() + WAIT_SECONDS
    while not live.view.lanes and time.monotonic() < until:
        live.touch()
        time.sleep(0.05)
    view = dataclasses.replace(live.view, plan=live.view.plan.replace(clamp=((100, 1),)))
    live.close()
    meta, _ = decode(payload.update(view, Cursors(), Desk(), tool="none"))
    assert meta["clamped"] is None


def test_an_update_without_new_frames_still_says_what_a_late_player_has_missed(monkeypatch):
    monkeypatch.setattr(sending, "AGAIN_SECONDS", -1.0)
    live = LiveRun(Plan(model="square:4x4", lanes=(sampler("gibbs"),), chains=2))
    until = time.monotonic() + WAIT_SECONDS
    while not live.view.lanes and time.monotonic() < until:
        live.touch()
        time.sleep(0.05)
    sent = Cursors()

    def update():
        meta, *_ = decode(payload.update(live.view, sent, Desk(), tool="none"))
        return meta["lanes"][0]["frames"]

    first = [update() for _ in range(AGAIN_UPDATES)]
    later = update()
    live.close()
    assert all(frames["since"] == -1 and frames["sweeps"] == [0] for frames in first)
    assert later["sweeps"] == [] and later["since"] == later["last"] == 0


def test_only_a_model_that_is_made_of_couplings_says_which_are_not_met():
    for strength, coupled in (1.0, True), (-1.0, True), (0.0, False):
        text = f"complete:4,J={strength}"
        found = geometry_of(Payload(), build_spec(text), text)
        assert found["kind"] == "graph" and found["coupled"] is coupled
