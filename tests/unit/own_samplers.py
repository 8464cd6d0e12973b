"""A sampler of one's own among the registered ones, for as long as a test lasts."""

from __future__ import annotations

import sys

from pmpviz import plugins


def register(request, cls) -> None:
    """Have the file of `cls` brought as people bring theirs, until the test of this `request` ends."""
    plugins.add(sys.modules[cls.__module__].__file__)
    request.addfinalizer(plugins.forget)
