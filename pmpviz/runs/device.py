"""Where runs are computed, and the cache that keeps compiled programs between sessions."""

from __future__ import annotations

import os

import jax

from pmpviz.io.files import cache_folder


def prepare() -> None:
    """Switch on the persistent compilation cache in the user's cache folder; without a writable one go on without.

    A folder that JAX was given already (`JAX_COMPILATION_CACHE_DIR`) is kept.
    """
    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return
    folder = cache_folder() / "programs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)


def device_words() -> str:
    """The devices in words: `cpu`, `gpu`, `4 gpus`."""
    devices = jax.devices()
    kind = devices[0].platform
    return kind if len(devices) == 1 else f"{len(devices)} {kind}s"
