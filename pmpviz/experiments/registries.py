"""All registries that people may add to."""

from __future__ import annotations

from pmpviz import plugins
from pmpviz.learning import LEARNERS
from pmpviz.marginals import SOLVERS
from pmpviz.models import BUILDERS
from pmpviz.oracles import ORACLES
from pmpviz.plugins import Registry
from pmpviz.samplers import SAMPLERS

REGISTRIES: dict[str, Registry] = {
    "sampler": SAMPLERS,
    "learner": LEARNERS,
    "oracle": ORACLES,
    "solver": SOLVERS,
    "model": BUILDERS,
}


def troubles() -> tuple[str, ...]:
    """One sentence for everything that was brought and is left out, after all registries have looked."""
    for registry in REGISTRIES.values():
        assert registry.yours is not None
    plugins.unknown()
    return plugins.troubles()
