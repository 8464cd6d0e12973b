"""Flat memory: rings keep the last rows in order, series put what is old into bins."""

import numpy as np
import pytest

from pmpviz.live.store import HALF_BINS, FrameRing, Series, Window, folded


def fill(ring, first, last, step=7):
    for a in range(first, last, step):
        sweeps = np.arange(a, min(a + step, last))
        ring.append(sweeps, np.stack([sweeps % 256, sweeps // 256], 1).astype(np.uint8))


@pytest.mark.parametrize("step", [7, 10_000])
def test_ring_gives_back_what_was_put_in_and_keeps_the_first_and_the_last(step):
    ring = FrameRing(2)
    fill(ring, 0, ring.capacity + 100, step)
    found = ring.since(-1, 10**9)
    assert found.sweeps.tolist() == found.numbers.tolist() == [*range(64), *range(164, ring.capacity + 100)]
    assert ring.last(2)[:, 0].tolist() == [(ring.capacity + 98) % 256, (ring.capacity + 99) % 256]
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


def sawtooth(total: int) -> dict[str, np.ndarray]:
    """As the energy of draws of 64 sweeps: high at first, low at the end of each."""
    sweeps = np.arange(1, total + 1)
    return {"sweep": sweeps, "energy": np.random.default_rng(3).normal(size=total) - 45.0 * ((sweeps - 1) % 64 > 9)}


@pytest.mark.parametrize("blocks", [(1, 3), (64, 65)])
def test_a_history_once_shown_never_changes(blocks):
    """Of 200,000 sweeps: at every zoom the first 10,000 look as they did when they were new."""
    total = 200_000 if blocks[0] > 1 else 20_000
    columns, series, before = sawtooth(total), Series(("sweep", "energy")), {}
    rng, at = np.random.default_rng(4), 0
    while at < total:
        end = min(at + int(rng.integers(*blocks)), total)
        series.append({name: values[at:end] for name, values in columns.items()})
        at = end
        if at >= 10_240:
            for last in (300, 1000, 4000, 10_000):
                bins = series.bins(1, last, most=480)
                shown = [part[name].tobytes() for part in (bins.mean, bins.least, bins.most) for name in part]
                assert before.setdefault(last, (bins.width, shown)) == (bins.width, shown)
    width, _ = before[10_000]
    bins, energy = series.bins(1, 10_000, most=480), columns["energy"][:10_048].reshape(-1, width)
    np.testing.assert_allclose(bins.mean["energy"], energy.mean(1), rtol=1e-5)
    np.testing.assert_allclose([bins.least["energy"], bins.most["energy"]], [energy.min(1), energy.max(1)], rtol=1e-6)


@pytest.mark.parametrize("total", [1, 5, 1023, 5000, 70_001])
def test_bins_hold_every_row_between_them_and_no_zoom_hides_an_outlier(total):
    rows, series = np.arange(total), Series(("sweep", "energy"))
    energy = np.where(rows == total // 3, 1e3, 0.0)
    series.append({"sweep": rows, "energy": energy})
    for first, last in ((0, total), (total // 3, total // 3), (total - 200, total)):
        for most in (4, 100, 480):
            bins = series.bins(first, last, most)
            assert len(bins) <= max(most, 4) and bins.width & (bins.width - 1) == 0
            held = (rows >= bins.least["sweep"][0]) & (rows <= bins.most["sweep"][-1])
            assert held[max(first, 0) : last + 1].all()
            assert bins.most["energy"].max() == energy[held].max() and bins.least["energy"].min() == energy[held].min()
    assert series.last == {"sweep": total - 1, "energy": energy[-1]}


@pytest.mark.parametrize("total", [1, 64, 300, 481, 2500, 9001, 70_001])
def test_graded_bins_hold_every_row_once_and_none_is_wide_where_it_lies(total):
    rows, series = np.arange(total), Series(("row", "seconds"))
    series.append({"row": rows, "seconds": 0.002 * rows})
    for most in (480, 1024):
        bins = series.graded(most)
        first, last = bins.least["row"], bins.most["row"]
        assert len(bins) <= most
        assert first[0] == 0 and last[-1] == total - 1 and (first[1:] == last[:-1] + 1).all()
        assert ((last - first) <= first / 16).all(), "a bin that a log axis shows to be wide"
        alone = min(total, 64)
        np.testing.assert_allclose(bins.mean["seconds"][:alone], 0.002 * rows[:alone], rtol=1e-6)


def test_memory_of_a_series_grows_with_the_logarithm_of_its_length_only():
    series = Series(("sweep",))
    series.append({"sweep": np.arange(300_000)})
    assert sum(len(part) for level in series._levels for part in level.kept()) <= 7 * 2 * HALF_BINS


def test_a_copy_stays_as_it_was():
    series = Series(("sweep",))
    series.append({"sweep": np.arange(9000)})
    copy = series.copy()
    before = copy.bins(most=480).table()
    series.append({"sweep": np.arange(9000, 30_000)})
    np.testing.assert_equal(copy.bins(most=480).table(), before)
    assert copy.last["sweep"] == 8999 and series.last["sweep"] == 29_999


def test_long_columns_are_folded_with_their_extremes():
    y = np.zeros(1000)
    y[777] = 5.0
    found = folded({"x": np.arange(1000), "y": y, "low": y - 1, "high": y + 1}, 480)
    assert {name: len(column) for name, column in found.items()} == dict.fromkeys(found, 250)
    assert found["most"].max() == 5 and found["high"].max() == 6 and found["low"].min() == -1
    assert found["y"].max() == 5 / 4 and found["x"][0] == 1.5
    assert set(folded({"x": [1.0], "y": [2.0]}, 480)) == {"x", "y"}


def test_window_holds_the_last_rows_in_order_and_the_first_chains():
    window = Window(4, 2)
    for a in range(0, 10, 3):
        window.append(np.arange(a, a + 3)[:, None] + np.array([[0.0, 0.5, 0.7]]))
    assert window.ordered().tolist() == [[8, 8.5], [9, 9.5], [10, 10.5], [11, 11.5]]
