"""Model files that people brought, in memory, bounded, by the SHA-256 of their bytes."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from pmpviz.types import InputError

MOST_FILES = 32
MOST_BYTES = 512 * 2**20


@dataclass(frozen=True)
class Upload:
    """A model from a file: its name, the SHA-256 of its bytes, and the memory that it takes."""

    name: str
    sha256: str
    model: Any
    memory: int


class UploadStore:
    """The uploads last used, at most `most` of them and `most_bytes` in all; safe to use from many threads."""

    def __init__(self, most: int = MOST_FILES, most_bytes: int = MOST_BYTES):
        self._most, self._most_bytes = most, most_bytes
        self._held: OrderedDict[str, Upload] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, name: str, data: bytes, load: Callable[[str, bytes], Any]) -> Upload:
        """Read the file with `load`, or take it from the store; raises InputError where it holds no model."""
        digest = hashlib.sha256(data).hexdigest()
        held = self.find(digest)
        if held is not None:
            return held
        model = load(name, data)
        upload = Upload(name, digest, model, memory_of(model))
        if upload.memory > self._most_bytes:
            raise InputError(f"the model takes {upload.memory >> 20} MB; bring one of at most {self._most_bytes >> 20}")
        with self._lock:
            self._held[digest] = upload
            self._shrink()
        return upload

    def find(self, sha256: str) -> Upload | None:
        """The upload of this hash, or None where it never came or has made room for others."""
        with self._lock:
            upload = self._held.get(sha256)
            if upload is not None:
                self._held.move_to_end(sha256)
            return upload

    def _shrink(self) -> None:
        while len(self._held) > self._most or sum(u.memory for u in self._held.values()) > self._most_bytes:
            self._held.popitem(last=False)


def memory_of(model: Any) -> int:
    """Bytes of all arrays of a model."""
    return sum(np.asarray(leaf).nbytes for leaf in jax.tree.leaves(model))


STORE = UploadStore()


def uploaded(sha256: str) -> Any:
    """The model of an uploaded file; raises InputError asking for the file where it is not here."""
    upload = STORE.find(sha256)
    if upload is None:
        raise InputError(f"this model comes from a file that is not here (SHA-256 {sha256[:12]}...); bring the file")
    return upload.model
