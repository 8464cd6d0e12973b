"""What holds for all tests."""

import gc
import os

import jax
import pytest

from tests.compiling import compile_quickly, install

BROWSER = "tests/browser/"


def pytest_configure(config):
    """Programs that were compiled once are kept beside pytest's own cache: compiling is most of what tests take, and
    the processes that share the tests or that tests start, and their modules, compile many of the same."""
    folder = os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(config.rootpath / ".pytest_cache" / "programs"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.05")
    jax.config.update("jax_compilation_cache_dir", folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.05)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    install()


def pytest_collection_modifyitems(items):
    """The browser tests take longest and come first."""
    items.sort(key=lambda item: not _in_browser(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With `--dist loadfile` all browser tests are one file's: they share one Chromium and one server, which two
    processes would have to start twice and side by side."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return BROWSER if _in_browser(nodeid) else super()._split_scope(nodeid)

    return Scheduling(config, log) if config.option.dist == "loadfile" else None


def _in_browser(nodeid: str) -> bool:
    return nodeid.startswith(BROWSER)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Before the fixtures, which may compile."""
    compile_quickly(item.get_closest_marker("as_shipped") is None)


@pytest.fixture(autouse=True, scope="module")
def _programs_end_with_their_module():
    """Compiled programs are given up after each module: a process may hold only so many pieces of memory, and every
    program takes some, so that thousands of them would end it."""
    yield
    jax.clear_caches()
    gc.collect()
