"""What holds for all tests."""

import contextlib
import gc
import os
import sys

import jax
import pytest

from tests.compiling import AS_SHIPPED, BRIEFLY, QUICKLY, compile_by, install

BROWSER = "tests/browser/"
# That of the background worker of a page: what it works out is not held up by other tests.
NICENESS = 10
# Tracing makes and drops thousands of small objects, which Python would look through time and again.
COLLECT_AFTER = 200_000, 20, 100


def pytest_configure(config):
    """Programs that were compiled once are kept beside pytest's own cache: compiling is most of what tests take, and
    the processes that share the tests or that tests start, and their modules, compile many of the same. The smallest
    are the most: to read one takes a third of compiling it."""
    folder = os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(config.rootpath / ".pytest_cache" / "programs"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    jax.config.update("jax_compilation_cache_dir", folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    install()
    gc.set_threshold(*COLLECT_AFTER)


def pytest_collection_modifyitems(items):
    """The browser tests take longest and come first; the models of the pages without a browser are small."""
    items.sort(key=lambda item: not _in_browser(item.nodeid))
    for item in items:
        if item.nodeid.startswith("tests/app/"):
            item.add_marker("brief")


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
    if "PYTEST_XDIST_WORKER" in os.environ and not _in_browser(item.nodeid):
        _give_way()
    marked = {"as_shipped": AS_SHIPPED, "brief": BRIEFLY}
    compile_by(next((options for name, options in marked.items() if item.get_closest_marker(name)), QUICKLY))


def _give_way() -> None:
    """All threads of this process leave the processors to that of the browser tests, which waits for its pages most of
    the time, and whose pages have to keep up."""
    if sys.platform == "linux" and os.getpriority(os.PRIO_PROCESS, 0) < NICENESS:
        for thread in os.listdir("/proc/self/task"):
            with contextlib.suppress(ProcessLookupError):
                os.setpriority(os.PRIO_PROCESS, int(thread), NICENESS)


@pytest.fixture(autouse=True, scope="module")
def _programs_end_with_their_module():
    """Compiled programs are given up after each module: a process may hold only so many pieces of memory, and every
    program takes some, so that thousands of them would end it."""
    yield
    jax.clear_caches()
    gc.collect()
