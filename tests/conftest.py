"""What holds for all tests."""

import gc

import jax
import pytest


@pytest.fixture(autouse=True, scope="module")
def _programs_end_with_their_module():
    """Compiled programs are given up after each module: a process may hold only so many pieces of memory, and every
    program takes some, so that thousands of them would end it."""
    yield
    jax.clear_caches()
    gc.collect()
