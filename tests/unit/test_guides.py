"""What the guides print is true: their code runs and does what they say."""

import re
from pathlib import Path

import jax
import numpy as np
import pytest

from pmpviz import exact, runs
from pmpviz.experiments import readme
from pmpviz.learning import LEARNERS
from pmpviz.marginals import SOLVERS
from pmpviz.models import build_spec
from pmpviz.samplers import SAMPLERS
from pmpviz.types import Evidence, Target

ROOT = Path(__file__).resolve().parents[2]


def python_of(path: str, place: int = 0) -> str:
    return re.findall(r"```python\n(.*?)```", (ROOT / path).read_text(), re.S)[place]


def test_the_sampler_of_the_guide_leaves_the_target_invariant():
    names: dict = {}
    exec(python_of("pmpviz/samplers/README.md"), names)  # the guide's own code
    model = build_spec("complete:5,J=0.6,h=0.3")
    target = Target.of(model, Evidence.of(5, {2: 1}), beta=1.3)
    truth = exact.solve(target)
    chains = 40_000
    run = runs.start(names["Metropolis"](), target, jax.random.key(7), chains, truth.sample(3, chains))
    run, trace = runs.advance(run, 3)
    x = runs.positions(run)
    deviations = (x.mean(0) - truth.p1) / np.sqrt(np.maximum(truth.p1 * (1 - truth.p1), 1e-12) / chains)
    assert (x[:, 2] == 1).all() and 0 < trace.info["acceptance"].mean() < 1
    assert np.abs(np.delete(deviations, 2)).max() < 5.5


def test_the_example_of_the_readme_runs(capsys):
    exec(python_of("README.md"), {})
    assert 0 < float(capsys.readouterr().out) < 0.1


def test_the_training_of_the_readme_learns():
    names: dict = {"jax": jax}
    exec(python_of("README.md", 1), names)
    fit, data = names["fit"], names["data"]
    before, after = names["model"].free_energy(data.x), fit.model.free_energy(data.x)
    noise = np.random.default_rng(0).integers(0, 2, data.x.shape).astype(np.int8)
    # What was learned prefers the data to noise by more than the base rates did.
    gain = (fit.model.free_energy(noise).mean() - after.mean()) - (names["model"].free_energy(noise) - before).mean()
    assert fit.iteration == 500 and gain > 5


def test_the_readme_has_the_tables_of_the_registries():
    text = (ROOT / "README.md").read_text()
    assert readme.rewritten(text) == text, "run `python -m pmpviz.experiments.readme`"
    for registry in (SAMPLERS, SOLVERS, LEARNERS):
        for cls in registry:
            assert re.search(rf"^\| `{cls.spec.id}` \|.*\| {cls.spec.guarantee} \|$", text, re.M)
    assert all((ROOT / path).is_file() for path in re.findall(r"\]\((assets/[^)]+)\)", text))


def test_a_table_that_is_not_the_registry_s_is_rewritten():
    text = (ROOT / "README.md").read_text()
    assert readme.rewritten(text.replace("| `gibbs` |", "| `gibs` |")) == text
    with pytest.raises(ValueError, match="## Learners"):
        readme.rewritten(text.replace("## Learners", "## Those who learn"))
