"""What holds for all tests."""

import gc
import os

import jax
import pytest


def pytest_configure(config):
    """Programs that were compiled once are kept beside pytest's own cache: compiling is most of what tests take, and
    the processes that share the tests, and their modules, compile many of the same."""
    folder = os.environ.get("JAX_COMPILATION_CACHE_DIR") or str(config.rootpath / ".pytest_cache" / "programs")
    jax.config.update("jax_compilation_cache_dir", folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.05)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)


@pytest.fixture(autouse=True, scope="module")
def _programs_end_with_their_module():
    """Compiled programs are given up after each module: a process may hold only so many pieces of memory, and every
    program takes some, so that thousands of them would end it."""
    yield
    jax.clear_caches()
    gc.collect()
