"""MNIST from OpenML by scikit-learn, with an end to the waiting."""

from __future__ import annotations

import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from pmpviz.io.datasets.source import Progress
from pmpviz.types import InputError

RETRIES = 1
PAUSE_SECONDS = 1.0
POLL_SECONDS = 0.25
# Until the first byte, and between one byte and the next (unpacking what has come takes its time, too).
CONNECT_SECONDS = 10.0
STALL_SECONDS = 120.0
EXPECTED_BYTES = 15_000_000
IMAGES, SIDE = 70_000, 28


class _Fetch(threading.Thread):
    """scikit-learn's download takes no timeout and a thread cannot be stopped: this one is left behind if it hangs."""

    def __init__(self, fetch, folder: str):
        super().__init__(daemon=True, name="openml")
        self.found = None
        self.error: Exception | None = None
        self._fetch, self._folder = fetch, folder

    def run(self) -> None:
        # Of the one more try nobody needs to hear; a filter for a while would not be safe beside other threads.
        warnings.filterwarnings("ignore", "A network error occurred while downloading")
        settings = {"version": 1, "as_frame": False, "n_retries": RETRIES, "delay": PAUSE_SECONDS}
        try:
            self.found = self._fetch("mnist_784", data_home=self._folder, **settings)
        except Exception as error:  # Whatever it is, the one who waits must hear of it.
            self.error = error


def download(
    progress: Progress | None = None,
) -> tuple[UInt8[np.ndarray, "70000 28 28"], UInt8[np.ndarray, " 70000"]]:
    """(images, labels) of MNIST, the 60,000 training images first; raises InputError with what to do if it fails.

    Calls `progress(share, words)` from this thread a few times a second.
    """
    from sklearn.datasets import fetch_openml  # A second of imports that nobody else needs.

    with tempfile.TemporaryDirectory(prefix="pmpviz-", ignore_cleanup_errors=True) as folder:
        fetch = _Fetch(fetch_openml, folder)
        fetch.start()
        _wait(fetch, Path(folder), progress)
    if fetch.found is None:
        raise _failure(_reason(fetch.error))
    if progress is not None:
        progress(1.0, "MNIST is here")
    return _arrays(fetch.found)


def _wait(fetch: _Fetch, folder: Path, progress: Progress | None) -> None:
    seen, since = 0, time.monotonic()
    while True:
        fetch.join(POLL_SECONDS)
        if not fetch.is_alive():
            return
        here = _bytes_in(folder)
        if here != seen:
            seen, since = here, time.monotonic()
        waited = time.monotonic() - since
        if waited > (STALL_SECONDS if seen else CONNECT_SECONDS):
            raise _failure(f"no answer for {waited:.0f} seconds")
        if progress is not None:
            progress(min(seen / EXPECTED_BYTES, 0.95), f"MNIST from OpenML: {seen / 1e6:.1f} MB")


def _bytes_in(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # Moved or removed meanwhile.
            continue
    return total


def _arrays(found) -> tuple[np.ndarray, np.ndarray]:
    data, target = np.asarray(found.data), np.asarray(found.target)
    if data.shape != (IMAGES, SIDE * SIDE) or target.shape != (IMAGES,):
        raise _failure(f"it holds {data.shape} numbers")
    if not np.isin(target.astype(str), list("0123456789")).all() or not 0 <= data.min() <= data.max() <= 255:
        raise _failure("it holds other data")
    return data.astype(np.uint8).reshape(IMAGES, SIDE, SIDE), target.astype(np.uint8)


def _reason(error: Exception | None) -> str:
    inner = getattr(error, "reason", None) or error
    reason = getattr(inner, "strerror", None) or str(inner) or type(error).__name__
    return " ".join(str(reason).split())[:100]


def _failure(reason: str) -> InputError:
    return InputError(
        f"MNIST could not be downloaded from OpenML ({reason}); put train-images-idx3-ubyte.gz and "
        "train-labels-idx1-ubyte.gz (or the two t10k files) into a folder and name it, as in mnist:folder=PATH"
    )
