"""What the guides print is true: their code runs and does what they say."""

import re
from pathlib import Path

import jax
import numpy as np

from pmpviz import exact, runs
from pmpviz.models import build_spec
from pmpviz.samplers import SAMPLERS
from pmpviz.types import Evidence, Target

ROOT = Path(__file__).resolve().parents[2]


def python_of(path: str) -> str:
    return re.search(r"```python\n(.*?)```", (ROOT / path).read_text(), re.S).group(1)


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


def test_the_readme_names_every_algorithm():
    text = (ROOT / "README.md").read_text()
    assert all(f"| `{cls.spec.id}` |" in text and f"| {cls.spec.guarantee} |" in text for cls in SAMPLERS)
    assert all((ROOT / path).is_file() for path in re.findall(r"\]\((assets/[^)]+)\)", text))
