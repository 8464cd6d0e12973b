"""Every layout of the couplings against plain sums over a matrix, and a layout that is new to the program."""

import ast
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pmpviz import exact
from pmpviz.io.arrays import from_arrays, to_arrays
from pmpviz.learning.parameters import moments, with_parameters
from pmpviz.models import Ising, build_spec
from pmpviz.models.couplings import (
    LAYOUTS,
    Conditionals,
    DenseCouplings,
    LayeredCouplings,
    PairCouplings,
    to_dense,
    to_sparse,
)
from pmpviz.oracles import max_product
from pmpviz.oracles.icm import Icm
from pmpviz.oracles.potentials import Potentials
from pmpviz.runs.run import sample
from pmpviz.samplers import make_sampler
from pmpviz.types import Evidence, Target, pytree

pytestmark = pytest.mark.brief

ROOT = Path(__file__).resolve().parents[2]


@pytree(static=("size",))
class RingCouplings(PairCouplings):
    """A ring whose weights repeat: `weight[i % period]` couples site i with site i + 1."""

    weight: jax.Array
    size: int

    @property
    def n(self):
        return self.size

    def pairs(self):
        i = np.arange(self.n)
        return i, (i + 1) % self.n, self.weight[i % len(self.weight)]


def ring(n=9):
    return RingCouplings(np.array([1.5, -0.7, 0.4], np.float32), n)


def glass(spec="square:4x5,couplings=glass,J=1"):
    return build_spec(spec).couplings


def layered(lateral):
    rng = np.random.default_rng(4)
    within = np.triu(rng.normal(size=(7, 7)), 1)
    within = (within + within.T).astype(np.float32) if lateral else None
    return LayeredCouplings(rng.normal(size=(5, 7)).astype(np.float32), within)


COUPLINGS = {
    "lattice": glass,
    "open lattice": lambda: glass("square:4x5,couplings=glass,J=1,periodic=false"),
    "triangular": lambda: glass("triangular:4x4,couplings=glass,J=1"),
    "sparse": lambda: to_sparse(glass()),
    "many neighbours": lambda: to_sparse(to_dense(DenseCouplings(glass("complete:30").weight))),
    "dense": lambda: to_dense(glass()),
    "panels": lambda: glass("complete:30"),
    "halves": lambda: glass("complete:300"),
    "layers": lambda: layered(False),
    "layers with lateral weights": lambda: layered(True),
    "ring": ring,
}
EVERY = pytest.mark.parametrize("name", COUPLINGS)


def matrix_of(couplings):
    """The reference, from the edges alone."""
    matrix = np.zeros((couplings.n, couplings.n))
    for i, j, w in zip(*couplings.edges(), strict=True):
        matrix[i, j] += w
        matrix[j, i] += w
    return matrix


def states(n, count=6):
    return np.random.default_rng(n).integers(0, 2, (count, n)).astype(np.float32)


def test_every_registered_layout_is_among_the_tested():
    assert {type(make()) for make in COUPLINGS.values()} == {*LAYOUTS, RingCouplings}


@EVERY
def test_structure_is_that_of_the_edges(name):
    couplings = COUPLINGS[name]()
    i, j, w = couplings.edges()
    matrix = matrix_of(couplings)
    assert len(i) and (i != j).all() and (w != 0).all()
    assert len({frozenset(pair) for pair in zip(i.tolist(), j.tolist(), strict=True)}) == len(i)
    np.testing.assert_allclose(couplings.matrix(), matrix, atol=1e-6)
    neighbour, weight = (np.asarray(part) for part in couplings.neighbour_lists())
    listed = np.zeros_like(matrix)
    np.add.at(listed, (np.arange(couplings.n)[:, None], neighbour), weight)
    np.testing.assert_allclose(listed, matrix, atol=1e-6)
    colour = couplings.colour()
    assert (colour[i] != colour[j]).all()
    assert len(i) <= couplings.possible_edges() <= couplings.n * (couplings.n - 1) // 2
    np.testing.assert_allclose(couplings.scaled(jnp.float32(0.5)).matrix(), 0.5 * matrix, atol=1e-6)


@EVERY
def test_fields_and_energies(name):
    couplings = COUPLINGS[name]()
    matrix, bias = matrix_of(couplings), np.random.default_rng(1).normal(size=couplings.n)
    for x in states(couplings.n):
        np.testing.assert_allclose(couplings.field(x), matrix @ x, atol=2e-4)
        energy = bias @ x + x @ matrix @ x / 2
        np.testing.assert_allclose(couplings.log_weight(jnp.float32(bias), x), energy, rtol=1e-4, atol=1e-3)


@EVERY
def test_a_single_flip_changes_the_fields_of_the_neighbours(name):
    couplings = COUPLINGS[name]()
    neighbour, weight = (np.asarray(part) for part in couplings.neighbour_lists())
    x = states(couplings.n, 1)[0]
    for site in range(0, couplings.n, 3):
        turned = x.copy()
        turned[site] = 1 - x[site]
        field = np.array(couplings.field(x), np.float64)
        np.add.at(field, neighbour[site], (turned[site] - x[site]) * weight[site])
        np.testing.assert_allclose(field, couplings.field(turned), atol=2e-4)


update = jax.jit(max_product.update)


def said(total, weight):
    return np.clip(total + weight, 0, None) - np.clip(total, 0, None)


@EVERY
@pytest.mark.parametrize("start", max_product.STARTS)
def test_messages(name, start):
    couplings, damping = COUPLINGS[name](), 0.3
    matrix, field = matrix_of(couplings), np.random.default_rng(2).normal(size=(couplings.n, 2))
    messages = max_product.first_messages(couplings, 2, jnp.int32(max_product.STARTS.index(start)))
    # reference[i, j] is what j hears from i.
    reference = np.repeat((0.5 * matrix if start == "balanced" else 0 * matrix)[..., None], 2, axis=2)
    for _ in range(3):
        messages, residual = update(couplings, jnp.float32(field), messages, damping)
        belief = field + reference.sum(0)
        change = said(belief[:, None] - reference.swapaxes(0, 1), matrix[..., None]) - reference
        reference = reference + (1 - damping) * change
        np.testing.assert_allclose(residual, np.abs(change).max((0, 1)), atol=2e-3)
    np.testing.assert_allclose(couplings.belief(jnp.float32(field), messages), field + reference.sum(0), atol=2e-3)
    neighbour, weight = (np.asarray(part) for part in couplings.neighbour_lists())
    into = np.where(weight[..., None] != 0, couplings.to_site(messages), 0.0)
    heard = np.zeros_like(reference)
    np.add.at(heard, (neighbour, np.arange(couplings.n)[:, None]), into)
    np.testing.assert_allclose(heard, reference, atol=1e-3)
    assert np.abs(reference).max() > 0.1


@EVERY
def test_a_sweep_is_that_of_one_site_after_another(name):
    couplings, chains = COUPLINGS[name](), 3
    n, rng, beta = couplings.n, np.random.default_rng(3), np.float32(0.7)
    matrix, bias = matrix_of(couplings), rng.normal(size=n).astype(np.float32)
    bar = jnp.float32(rng.normal(size=(n + 1, chains)))
    mask, value = np.arange(n) % 5 == 2, (np.arange(n) % 2).astype(np.int8)

    def numbers(site):
        return bar[site]

    conditionals = Conditionals(beta, bias, mask, value, numbers, lambda u, field: field > u, lambda u: u)
    order, start = couplings.order_of_sites(), states(n, chains).T.astype(np.int8)
    for first, last in ((0, None), (2, n - 3)):

        @jax.jit
        def swept(start, first=first, last=last):
            return order.collect(couplings.sweep(conditionals, order, order.spread(start), first, last))

        x = swept(start)
        expected = start.copy()
        for site in range(first, n if last is None else last):
            drawn = beta * (bias[site] + matrix[site] @ expected) > np.asarray(bar[site])
            expected[site] = value[site] if mask[site] else drawn
        assert (np.asarray(x) == expected).all()
        assert (expected != start).any()


@EVERY
def test_bonds_join_neighbours_and_both_ends_read_one_number(name):
    couplings, chains = COUPLINGS[name](), 2
    n, matrix = couplings.n, matrix_of(couplings)
    spin = 2 * states(n, chains) - 1
    seen = []

    def numbers(counter):
        seen.append(np.asarray(counter))
        return jax.vmap(lambda c: jax.random.uniform(jax.random.key(c)))(counter.reshape(-1)).reshape(
            1, *counter.shape
        ) * jnp.ones((chains,) + (1,) * counter.ndim)

    least = jax.jit(
        couplings.bonds(jnp.asarray(spin), numbers, lambda weight, product, u: (weight * product > 0) & (u < 0.5))
    )
    bonded = np.zeros((chains, n, n), bool)
    for site in range(n):
        bonded[:, site] = np.asarray(least(jnp.full((chains, n), n, jnp.int32).at[:, site].set(-1))) == -1
    off = bonded & ~np.eye(n, dtype=bool)
    allowed = matrix * spin[:, :, None] * spin[:, None] > 0
    assert (off == off.swapaxes(1, 2)).all() and not (off & ~allowed).any()
    assert 0.2 < off.sum() / allowed.sum() < 0.8
    assert seen[0].max() < couplings.bond_counters


@EVERY
def test_statistics_are_the_gradient_of_the_energy_by_each_edge(name):
    couplings = COUPLINGS[name]()
    x = jnp.asarray(states(couplings.n, 11))

    def energy(weight):
        one = couplings.with_weight(weight)
        return jax.vmap(lambda row: one.log_weight(jnp.zeros(couplings.n), row))(x).mean()

    gradient = jax.jit(lambda weight: couplings.both_ways(jax.grad(energy)(weight)))(jnp.asarray(couplings.weight))
    may, means = couplings.may_change(), jax.jit(couplings.pair_means)(x)
    assert means.shape == np.shape(couplings.weight) == may.shape
    assert may[np.asarray(couplings.weight) != 0].all()
    np.testing.assert_allclose(np.asarray(means)[may], np.asarray(gradient)[may], atol=1e-5)
    entries = jax.jit(lambda x: couplings.entries_of(x.T @ x / len(x)))(x)
    np.testing.assert_allclose(np.asarray(entries)[may], np.asarray(means)[may], atol=1e-5)


def ring_model():
    return Ising.of(np.linspace(-1, 1, 9), ring())


@pytest.mark.parametrize("sampler", ["gibbs", "colour_gibbs", "gwg", "swendsen_wang", "pmp"])
def test_a_new_layout_is_sampled_as_the_same_model_in_another(sampler):
    model, key = ring_model(), jax.random.key(5)
    algorithm = make_sampler(sampler)
    one, other = (
        sample(algorithm, Target.of(each, Evidence.of(9, {4: 1}), beta=0.8), key, 40, 30)
        for each in (model, model.as_layout("sparse"))
    )
    assert (np.asarray(one) == np.asarray(other)).all() and 0.1 < np.asarray(one).mean() < 0.9


def test_gibbs_on_a_new_layout_has_the_exact_marginals():
    target, chains = Target.of(ring_model(), Evidence.of(9, {4: 1}), beta=0.8), 20_000
    truth = exact.solve(target)
    x = np.asarray(sample(make_sampler("gibbs"), target, jax.random.key(6), chains, 30))
    deviations = (x.mean(0) - truth.p1) / np.sqrt(np.maximum(truth.p1 * (1 - truth.p1), 1e-12) / chains)
    assert (x[:, 4] == 1).all() and np.abs(np.delete(deviations, 4)).max() < 5.5


def test_icm_on_a_new_layout_ends_where_no_flip_gains():
    model = ring_model()
    found = Icm().solve(Potentials.of_target(Target.of(model))[0]).x
    gain = (1 - 2 * np.asarray(found)) * np.asarray(model.local_field(jnp.asarray(found)))
    assert gain.max() <= 1e-6
    assert (found == Icm().solve(Potentials.of_target(Target.of(model.as_layout("dense")))[0]).x).all()


def test_a_new_layout_is_learned_by_its_own_numbers():
    """Three numbers stand for nine edges; the log-likelihood's gradient by them is that of differences."""
    model, data = ring_model(), states(9, 5).astype(np.int8)

    def log_likelihood(weight):
        each = with_parameters(model, {"bias": model.bias, "weight": weight})
        x = np.asarray((np.arange(1 << 9)[:, None] >> np.arange(9)) & 1, np.int8)
        log_z = jax.nn.logsumexp(jax.vmap(each.log_weight)(jnp.asarray(x)))
        return jax.vmap(each.log_weight)(jnp.asarray(data)).mean() - log_z

    draws = exact.solve(Target.of(model)).sample(1, 1 << 17)
    expected = jax.jit(jax.grad(log_likelihood))(jnp.asarray(model.couplings.weight))
    found = moments(model, data)["weight"] - moments(model, draws)["weight"]
    assert found.shape == (3,)
    np.testing.assert_allclose(found, expected, atol=6 * 3 / np.sqrt(1 << 17))


def test_a_new_layout_is_kept_in_files_as_neighbour_lists():
    model = ring_model()
    kind, arrays = to_arrays(model)
    assert kind == "ising-sparse"
    np.testing.assert_array_equal(matrix_of(from_arrays(kind, arrays).couplings), matrix_of(model.couplings))


def test_a_layout_that_lacks_something_is_no_layout():
    @pytree
    class Unfinished(PairCouplings):
        weight: jax.Array

        @property
        def n(self):
            return 3

    with pytest.raises(TypeError, match="pairs"):
        Unfinished(np.ones(3, np.float32))


# Kaufman's solution exists for one layout alone.
# The contract of learners says for itself where the weights lie: a layout is not to be its own judge.
MAY_ASK = {"pmpviz/exact/kaufman.py": 1, "pmpviz/contract/learning_fixtures.py": 2}


def test_no_algorithm_asks_which_layout_it_has():
    asked: dict[str, int] = {}
    for path in sorted((ROOT / "pmpviz").rglob("*.py")):
        source = path.read_text()
        if "ouplings" not in source and "DENSE" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "type"):
                text = ast.unparse(node)
                if "Couplings" in text or "DENSE" in text or text.startswith("type(") and "couplings" in text:
                    place = str(path.relative_to(ROOT))
                    asked[place] = asked.get(place, 0) + 1
    assert asked == MAY_ASK
