"""What a model says of itself agrees with its log-weight on all states, in every layout, with and without evidence."""

import dataclasses

import jax
import numpy as np
import pytest

from pmpviz.contract.claims import capabilities
from pmpviz.contract.fixtures import BY_NAME, COLD, FIXTURES, case_id, layouts
from pmpviz.models import BUILDERS, RBM, Ising
from pmpviz.types import Evidence, Target

pytestmark = pytest.mark.brief

SMALL = {
    "square": ("3x3", {"couplings": "gaussian", "field": "random", "h": 1.0}),
    "triangular": ("3x3", {"J": -0.6, "field": "uniform"}),
    "honeycomb": ("2x4", {"periodic": False, "couplings": "glass"}),
    "cubic": ("2x2x2", {"periodic": False, "couplings": "gaussian"}),
    "chain": ("7", {"periodic": True, "J": -1.2, "field": "first"}),
    "complete": ("6", {"couplings": "sk", "sigma": 2.0, "field": "random"}),
    "clique": ("6", {"theta": 2.0}),
    "erdos_renyi": ("8", {"degree": 3}),
    "random_regular": ("8", {"degree": 3, "couplings": "glass"}),
    "tree": ("7", {"couplings": "gaussian", "field": "random"}),
    "announcement": ("9", {"seed": 3}),
    "rbm": ("2x2x3", {"pattern": "random"}),
    "segmentation": ("3x3", {"repel": 0.4, "noise": 0.4, "seed": 2}),
    "srbm": ("2x2x3", {"pattern": "random", "lateral": -0.8}),
    "potts": ("3x3", {"q": 3, "couplings": "gaussian", "field": "random", "h": 1.0}),
    "clock": ("2x4", {"q": 5, "J": -0.8, "periodic": False, "field": "uniform"}),
    "random_tables": ("3x4", {"q": 3, "spread": 1.5, "field": "first", "h": 2.0}),
}


def evidence(n: int, kind: str) -> Evidence:
    """Nothing, two sites, or every site clamped."""
    chosen = {"none": (), "some": (1, n - 1), "all": range(n)}[kind]
    return Evidence.of(n, {i: i % 2 for i in chosen})


@pytest.mark.parametrize("kind", ["none", "some", "all"])
@pytest.mark.parametrize("fixture", FIXTURES, ids=case_id)
def test_layouts(fixture, kind):
    verdict = capabilities(fixture.target.model, evidence(fixture.target.n, kind), float(fixture.target.beta))
    assert verdict.passed, verdict.found


@pytest.mark.parametrize("kind", ["none", "some"])
@pytest.mark.parametrize("builder", BUILDERS, ids=lambda builder: builder.id)
def test_builders(builder, kind):
    assert builder.id in SMALL, f"give {builder.id} a small size in SMALL"
    size, knobs = SMALL[builder.id]
    model = builder.build(size, **knobs)
    for layout, same in (layouts(model) if isinstance(model, Ising) else {"own": model}).items():
        verdict = capabilities(same, evidence(model.n, kind), 0.7)
        assert verdict.passed, f"{layout}: {verdict.found}"


@pytest.mark.parametrize("seed", range(5))
def test_spin_form_and_back_is_the_same_model(seed):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(6, 1)
    h, J = rng.normal(size=6), rng.normal(size=15)
    model = Ising.from_spin(h, i, j, J, constant=0.25)
    h2, i2, j2, J2, constant = model.to_spin()
    np.testing.assert_allclose(h2, h, atol=1e-5)
    np.testing.assert_allclose(J2, J, atol=1e-6)
    np.testing.assert_allclose(constant, 0.25, atol=1e-5)
    assert (i2 == i).all() and (j2 == j).all()


def test_target_is_a_tree_of_traced_leaves():
    target = Target.of(FIXTURES[0].target.model, beta=2)
    assert all(leaf.dtype in (np.float32, np.int32, np.int8, np.bool_) for leaf in jax.tree.leaves(target))
    assert jax.tree.structure(target) == jax.tree.structure(dataclasses.replace(target, beta=np.float32(3)))


class TestFixtures:
    """The small models are as hard as they claim: peaked, frustrated, not bipartite, and mixing within 60 sweeps."""

    laws = [fixture for fixture in FIXTURES if fixture.purpose == "law"]

    @pytest.mark.parametrize("fixture", laws, ids=case_id)
    def test_beta_matters(self, fixture):
        law = fixture.law
        states_in_use = np.exp(-(law.p @ np.log(law.p)))
        assert states_in_use < 0.7 * len(law.p)
        # An error of share e in beta shifts the law by a chi-square of about e^2 var(log_weight) a draw.
        assert law.p @ law.log_weight**2 - (law.p @ law.log_weight) ** 2 > 0.5

    @pytest.mark.parametrize("fixture", laws, ids=case_id)
    def test_frustrated(self, fixture):
        # No state satisfies every edge: the sum of |J| is out of reach.
        model = fixture.target.model
        _, i, j, J, _ = model.to_spin()
        s = 2.0 * fixture.law.states - 1
        assert ((s[:, i] * s[:, j]) @ J).max() < np.abs(J).sum() - 0.1

    # An RBM is bipartite by its nature; what a bipartite model could hide, the others show.
    @pytest.mark.parametrize("fixture", [f for f in laws if not isinstance(f.target.model, RBM)], ids=case_id)
    def test_not_bipartite(self, fixture):
        _, i, j, _ = fixture.target.model.pairwise()
        adjacent = np.zeros((fixture.target.n, fixture.target.n), int)
        adjacent[i, j] = adjacent[j, i] = 1
        assert np.trace(np.linalg.matrix_power(adjacent, 3)) > 0

    @pytest.mark.parametrize("fixture", [BY_NAME[name] for name in sorted(COLD)], ids=case_id)
    def test_sixty_sweeps_forget_the_start(self, fixture):
        assert second_eigenvalue(fixture) ** 60 < 1e-6


def second_eigenvalue(fixture) -> float:
    """Of one sequential Gibbs sweep, by building its kernel in float64."""
    law, target = fixture.law, fixture.target
    mask = np.asarray(target.evidence.mask)
    kernel = np.eye(len(law.p))
    for site in np.flatnonzero(~mask):
        turned = law.states.copy()
        turned[:, site] ^= 1
        other, here = law.index(turned), np.arange(len(law.p))
        step = np.zeros_like(kernel)
        stay = law.p / (law.p + law.p[other])
        step[here, here], step[here, other] = stay, 1 - stay
        kernel = kernel @ step
    return float(np.sort(np.abs(np.linalg.eigvals(kernel)))[-2])
