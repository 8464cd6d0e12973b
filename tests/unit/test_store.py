"""Flat memory: rings keep the last rows in order, series thin themselves out evenly."""

import numpy as np
import pytest

from pmpviz.live.store import MOST_POINTS, FrameRing, Series, Window


def fill(ring, first, last, step=7):
    for a in range(first, last, step):
        sweeps = np.arange(a, min(a + step, last))
        ring.append(sweeps, np.stack([sweeps % 256, sweeps // 256], 1).astype(np.uint8))


def test_ring_gives_back_what_was_put_in_and_keeps_the_last():
    ring = FrameRing(2)
    fill(ring, 0, ring.capacity + 100)
    found = ring.since(-1, 10**9)
    assert found.sweeps.tolist() == found.numbers.tolist() == list(range(100, ring.capacity + 100))
    assert (found.bits[:, 0] + 256 * found.bits[:, 1].astype(int) == found.sweeps).all()


def test_ring_is_dense_at_the_start_then_even_with_the_last_one_in():
    ring = FrameRing(2)
    fill(ring, 0, 1000)
    sweeps = ring.since(9, 5, dense_until=20).sweeps
    assert sweeps[:11].tolist() == list(range(10, 21))
    assert len(sweeps) == 16 and sweeps[-1] == 999
    assert np.ptp(np.diff(sweeps[11:])) <= 1


def test_ring_tells_a_frame_that_another_epoch_has_replaced_at_the_same_sweep():
    ring = FrameRing(1)
    ring.append(np.arange(3), np.zeros((3, 1), np.uint8), epoch=1)
    ring.append(np.array([2]), np.ones((1, 1), np.uint8), epoch=2)
    found = ring.since(1, 10)
    assert found.sweeps.tolist() == [2, 2] and found.epochs.tolist() == [1, 2] and found.bits[:, 0].tolist() == [0, 1]


def test_ring_of_large_frames_stays_within_its_memory():
    assert FrameRing(131_072).capacity * 131_072 <= 16 * 2**20


@pytest.mark.parametrize("block", [1, 13, 64])
def test_series_stays_capped_and_evenly_thinned(block):
    series = Series(("sweep", "twice"))
    total = 5 * MOST_POINTS
    for a in range(0, total, block):
        rows = np.arange(a, min(a + block, total))
        series.append({"sweep": rows, "twice": 2 * rows})
    columns = series.columns()
    steps = np.diff(columns["sweep"])
    assert MOST_POINTS / 2 <= len(columns["sweep"]) <= MOST_POINTS
    assert (columns["twice"] == 2 * columns["sweep"]).all()
    assert columns["sweep"][0] == 0 and (steps == steps[0]).all()


def test_window_holds_the_last_rows_in_order_and_the_first_chains():
    window = Window(4, 2)
    for a in range(0, 10, 3):
        window.append(np.arange(a, a + 3)[:, None] + np.array([[0.0, 0.5, 0.7]]))
    assert window.ordered().tolist() == [[8, 8.5], [9, 9.5], [10, 10.5], [11, 11.5]]
