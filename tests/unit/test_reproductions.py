"""Reproductions: the registry is complete, rows and figures have their shapes, and section 5.1 keeps its promises."""

import dataclasses
import importlib
import json
import pkgutil
import types
from pathlib import Path

import jax
import numpy as np
import plotly.graph_objects as go
import pytest
from command_line import cache, call, found, in_a_folder_of_its_own, refused  # noqa: F401

import pmpviz.experiments.reproductions as rooms
from pmpviz.capabilities import shown_on_home
from pmpviz.experiments.reproductions import (
    REPRODUCTIONS,
    barrier,
    barrier_rates,
    blind_deconvolution,
    descended,
    digits,
    figures,
    find,
    instances,
    keep,
    relaxed,
    semi_restricted,
    structured,
    twos,
    work,
    wrong_model,
    zeros,
)
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, Row, row
from pmpviz.io.datasets import parse_dataset
from pmpviz.learning import make_learner
from pmpviz.learning.optimiser import Optimiser
from pmpviz.learning.start import fresh_model
from pmpviz.models import RBM, build_spec
from pmpviz.runs import training, training_checkpoint
from pmpviz.types import InputError, Target
from tests.thorough import case

NAMES = ["pmp-5.1", "pmp-5.2", "pmp-5.3", "pmp-5.4-lattice", "pmp-5.4-erdos", "pmp-5.5", "pmp-b2", "pmp-b3"]
NAMES += ["pmp-lp", "pmp-b4"]
NAMES += ["pmp-5.6", "pmp-5.6-fresh", "srbm"]
NAMES += ["bfw-1", "bfw-1c", "bfw-1d", "bfw-cliques", "bfw-rates", "bfw-truncated", "bfw-characters"]
NAMES += ["bfw-segmentation"]
NAMES += ["hmj-segmentation", "bfw-crf", "uai-kinds", "hmj-spin-glass", "hmj-acceptance", "hmj-theorems"]
NAMES += ["hj-inflated"]
NAMES += ["ms-failure", "hopfield", "dhmc-2", "dhmc-3", "dhmc-log-z", "potts", "ms-ess", "ms-epsilon", "ms-hx", "ms-sw"]
NAMES += ["skip-chain"]


def test_the_registry_is_complete():
    assert [known.id for known in REPRODUCTIONS] == NAMES
    modules = [importlib.import_module(f"{rooms.__name__}.{m.name}") for m in pkgutil.iter_modules(rooms.__path__)]
    defined = [value for module in modules for value in vars(module).values() if isinstance(value, Reproduction)]
    assert {known.id for known in defined} == set(NAMES)
    for known in REPRODUCTIONS:
        assert find(known.id) is known and known.title and known.settings and known.quick_settings
        assert known.seeds >= known.quick_seeds >= 1


def test_every_experiment_of_the_continuous_papers_is_a_preset_that_names_it():
    presets = {f"{page}?preset={preset.id}": preset for _, page, presets in shown_on_home() for preset in presets}
    shown = {known.id: known.shown for known in REPRODUCTIONS if known.shown}
    for name, address in shown.items():
        assert f"reproduce {name}" in presets[address].notice, name
    assert set(shown) >= set(NAMES[NAMES.index("ms-failure") :]) | {"srbm"}


def test_a_row_is_a_mean_with_its_standard_deviation():
    assert row("x", [1.0]) == Row("x", None, 1.0, None)
    assert row("x", [1.0, 3.0], 2.5) == Row("x", 2.5, 2.0, pytest.approx(np.sqrt(2)))


def check(outcome: Outcome) -> dict[str, Row]:
    assert isinstance(outcome.figure, go.Figure) and outcome.figure.data
    assert all(np.isfinite(row.ours) for row in outcome.rows) and all(isinstance(note, str) for note in outcome.notes)
    found = {row.quantity: row for row in outcome.rows}
    assert len(found) == len(outcome.rows)
    return found


@pytest.fixture
def tiny(monkeypatch):
    """Section 5.1 in seconds: fewer draws and no lane of 10,000 chains."""
    sizes = wrong_model.Sizes(4000, 0)
    known = find("pmp-5.1")
    small = Reproduction(known.id, "T", "S", "Q", 2, 2, lambda request: wrong_model.run(request, sizes))
    monkeypatch.setattr(rooms, "REPRODUCTIONS", (small,))


def test_json_is_one_object_and_no_figure_is_written(tiny):
    result = found("reproduce", "pmp-5.1", "--quick", "--seeds", 1)
    assert list(result) == ["name", "rows", "seconds"] and result["name"] == "pmp-5.1" and result["seconds"] > 0
    assert all(set(row) == {"quantity", "paper", "ours", "spread"} for row in result["rows"])
    rows = {row["quantity"]: row for row in result["rows"]}
    assert rows["theta"]["paper"] == 0.331 and 0.31 < rows["theta"]["ours"] < 0.36 and rows["theta"]["spread"] is None
    assert 0.08 < rows["KL(p || Gibbs)"]["ours"] < 0.14
    assert rows["KL(p || PMP sampler)"]["ours"] < 0.016
    assert rows["KL(p || exact-MAP sampler)"]["ours"] < rows["KL(p || PMP sampler)"]["ours"]
    assert not list(Path().iterdir())


def test_words_and_a_figure_that_needs_no_network(tiny):
    code, out, err = call("reproduce", "pmp-5.1", "--quick", "--seeds", 1)
    assert (code, err) == (0, "") and "wrote pmpviz-pmp-5.1.html" in out and "0.331" in out and "KL(p || Gibbs)" in out
    assert "Plotly.newPlot" in Path("pmpviz-pmp-5.1.html").read_text()


@pytest.mark.parametrize(
    "argv, word",
    [
        (["reproduce"], "name"),
        (["reproduce", "pmp-9"], "pmp-5.1"),
        (["reproduce", "pmp-5.1", "--seeds", "0"], "seeds"),
        (["reproduce", "pmp-5.1", "--seeds", "x"], "seeds"),
        (["reproduce", "pmp-5.1", "--figure", "x.png"], ".html"),
        (["reproduce", "pmp-5.1", "--figure", "missing/x.html"], "missing"),
        (["reproduce", "pmp-5.1", "--keep", "kept"], "leave out --keep"),
        (["reproduce", "pmp-b3", "--keep", "/dev/null/kept"], "give --keep another folder"),
        (["reproduce", "pmp-b3", "--keep", ""], "give one"),
    ],
)
def test_bad_input_is_one_sentence(argv, word):
    assert word in refused(*argv)


def test_laws_and_moments_of_section_5_1():
    """p is that of the model that is learned, and its MAPs are what max-product looks for."""
    p = wrong_model.law(0.5)
    states = wrong_model.states_of(4)
    log = np.array([float(wrong_model.model_of(0.5).log_weight(x)) for x in states])
    np.testing.assert_allclose(p, np.exp(log) / np.exp(log).sum(), rtol=1e-5)
    spins = 2 * states - 1
    pairs = sum(p @ (spins[:, i] * spins[:, j]) for i in range(4) for j in range(i))
    difference = wrong_model.exact_moments(0.5)["theta"] - wrong_model.exact_moments(0.0)["theta"]
    assert float(difference) == pytest.approx(pairs, rel=1e-5)
    assert wrong_model.divergence(p, wrong_model.law(0.331)) == pytest.approx(0.119, abs=1e-3)


def test_exact_maps_under_the_perturbations_of_the_sampler_are_a_nearly_exact_sampler():
    x = np.asarray(wrong_model.exact_maps(wrong_model.model_of(0.332), wrong_model.noise(jax.random.key(1), 100_000)))
    shares, smoothed = wrong_model.frequencies(x)
    assert not smoothed and wrong_model.divergence(wrong_model.law(0.5), shares) < 1e-3


@pytest.mark.brief
def test_a_tiny_run_of_the_single_digit():
    setting = twos.Setting("digits:labels=2,count=60", 4, 3, 40)
    rows = check(twos.run(Request(True, 2), setting))
    assert set(rows) == {f"{w}, {m}" for w in ("log MMD^2", "training seconds") for m in twos.PAPER}
    assert all(row.spread is not None for row in rows.values())


@pytest.mark.brief
def test_a_tiny_run_of_linear_programs(monkeypatch):
    monkeypatch.setitem(vars(relaxed), "TASKS", (relaxed.TWOS,))
    rows = check(relaxed.run(Request(True, 1), relaxed.Setting(5, 2, 2, 3, 5)))
    assert len(rows) == 6 and rows["log MMD^2, LP, twos"].paper == -4.38
    assert 0 <= rows["share of variables that are fractional, twos"].ours <= 1
    assert rows["seconds a step, LP over PMP, twos"].ours > 0


def test_contours_are_pooled_to_squares(monkeypatch):
    images = types.SimpleNamespace(images=np.eye(30, dtype=np.int8)[None], shape=(30, 30))
    monkeypatch.setattr(relaxed, "parse_dataset", lambda text: images)
    task = relaxed.Task.of(relaxed.ZEROS, relaxed.Setting(5, 2, 2, 3, 5), 0)
    np.testing.assert_array_equal(task.x.reshape(6, 6), np.eye(6))
    assert task.shape == (6, 6) and task.start.couplings.possible_edges() == 36 * 35 // 2


@pytest.mark.brief
def test_a_tiny_run_of_coordinate_descent(cache):  # noqa: F811
    """Every way to learn with every sampler; what annealing adds is the difference of the two likelihoods."""
    learning = digits.Setting("digits:count=60", 4, 2, 0.01, 3, 40)
    rows = check(descended.run(Request(True, 1), descended.Setting(learning, (2, 5), (5, 50))))
    assert len(rows) == 1 + 4 * (3 * 2 * 2 + 2 * 2 + 1)
    for method in descended.methods_of(learning):
        exact, coarse = (rows[f"{what}, by {method.name}"].ours for what in ("exact log-likelihood", COARSE))
        assert rows[f"annealing in 5 steps above the exact, by {method.name}"].ours == pytest.approx(coarse - exact)


def test_annealing_from_the_base_rates_adds_nothing_to_a_machine_that_is_nothing_else():
    """Pixels that know nothing of each other: every likelihood is that of their rates, in any number of steps."""
    x = parse_dataset("digits:count=60").x
    rate = (x.sum(0) + 0.5) / (len(x) + 1)
    model = RBM.of_layers(np.zeros((3, x.shape[1])), np.log(rate / (1 - rate)), np.zeros(3))
    wanted = float(np.mean(x @ np.log(rate) + (1 - x) @ np.log1p(-rate)))
    found = descended.likelihoods(model, x, (1, 3), 0)
    assert found.pop("annealing in 1 steps above the exact") == pytest.approx(0, abs=1e-3)
    assert found.pop("annealing in 3 steps above the exact") == pytest.approx(0, abs=1e-3)
    assert len(found) == 3 and list(found.values()) == pytest.approx([wanted] * 3, abs=1e-3)


COARSE = "log-likelihood by annealing in 5 steps"


class Stop(Exception):
    """An interruption."""


def test_an_interrupted_reproduction_goes_on_where_it_was(monkeypatch, tmp_path):
    setting = twos.Setting("digits:labels=2,count=60", 4, 150, 40)
    whole = check(twos.run(Request(True, 1), setting))
    stream, begun = work.training.stream, []

    def stopping(training, iterations):
        begun.append(training.iteration)
        for done, trace in stream(training, iterations):
            yield done, trace
            if len(begun) == 2 and done.iteration > 50:
                raise Stop

    monkeypatch.setattr(keep, "SECONDS", -1.0)
    monkeypatch.setattr(work.training, "stream", stopping)
    with pytest.raises(Stop):
        twos.run(Request(True, 1, keep.Keep(str(tmp_path))), setting)
    monkeypatch.setattr(work.training, "stream", lambda t, n: begun.append(t.iteration) or stream(t, n))
    kept = keep.Keep(str(tmp_path))
    again = check(twos.run(Request(True, 1, kept), setting))
    # What was done is done, what was begun goes on, the rest starts; the figures are those of an undisturbed run.
    assert begun[:3] == [0, 0, 150] and 50 < begun[3] < 150 and begun[4:] == [0, 0]
    of_samples = [name for name in whole if name.startswith("log MMD^2")]
    assert [again[name].ours for name in of_samples] == [whole[name].ours for name in of_samples]
    assert len(kept.taken) == 2 and all(name in kept.note() for name in kept.taken)


def test_a_damaged_training_is_named_with_a_remedy(tmp_path):
    setting = twos.Setting("digits:labels=2,count=60", 4, 2, 40)
    twos.run(Request(True, 1, keep.Keep(str(tmp_path))), setting)
    damaged = sorted(tmp_path.iterdir())[0]
    damaged.write_bytes(damaged.read_bytes()[:100])
    with pytest.raises(InputError, match=rf"{damaged.name}.* remove it, or give --keep"):
        twos.run(Request(True, 1, keep.Keep(str(tmp_path))), setting)


def begun_training(learner="pcd", seed=0, rate=0.1, form="binary", x=None, chains=2, **knobs):
    x = np.eye(4, dtype=np.int8) if x is None else x
    learner, optimiser = make_learner(learner, **knobs), Optimiser(learning_rate=rate)
    start = fresh_model("ising", x, 0, "zero", 0)
    return training.start(learner, start, x, jax.random.key(seed), optimiser, chains, 4, form=form)


@pytest.mark.brief
def test_a_training_is_known_by_all_that_it_follows_from():
    others = [{"learner": "gibbs_reset"}, {"seed": 1}, {"rate": 0.2}, {"form": "spin"}, {"chains": 3}, {"sweeps": 7}]
    others += [{"x": 1 - np.eye(4, dtype=np.int8)}]
    first, name = begun_training(), training_checkpoint.fingerprint
    assert len({name(first), name(first, ("gpu",)), *(name(begun_training(**other)) for other in others)}) == 9
    assert name(training.advance(first, 3)[0]) == name(begun_training())


@pytest.mark.brief
def test_a_kept_training_is_of_this_version_of_the_code(monkeypatch, tmp_path):
    """In the folder of --keep as in the cache of 5.5 and B.2, which took what an older version had learned."""
    monkeypatch.setenv("PMPVIZ_CACHE", str(tmp_path))
    images = parse_dataset("digits:labels=2,count=30")
    setting, method = digits.Setting("", 4, 1, 0.01, 1, 30), work.Method("PCD-1", "pcd", {"sweeps": 1})
    folder, held = digits._folder(), keep.Keep(str(tmp_path / "kept"))
    for versions in (1, 2, 3):
        for _ in range(2):
            digits.trained(setting, method, images, 0, held)
        assert len(list(folder.iterdir())) == len(list(held.folder.iterdir())) == versions
        changed = keep.jax if versions == 2 else keep
        monkeypatch.setattr(changed, "__version__", f"{changed.__version__}.{versions}")


@pytest.mark.brief
def test_a_tiny_run_of_structured_models():
    setting = structured.Setting("square:4x4,theta=-0.1", 20, (2,), 2, 0.01, (), 0, 0.01, 4.5, 10)
    rows = check(structured.run(Request(True, 1), setting, setting))
    assert len(rows) == 4 * 3 and rows["RMSE of W, PMP, 2 sweeps"].ours == pytest.approx(0.05, abs=0.02)


def test_gibbs_and_gwg_are_shown_at_pmps_seconds_too(monkeypatch):
    """PMP's chains are few enough for the paper's GPU; on a CPU it was given 5 to 90 times GWG's seconds unsaid."""
    setting = structured.Setting("square:4x4,theta=-0.1", 20, (), 0, 0.01, (5,), 6, 0.01, 4.5, 10)
    pace = {"pmp": 0.7, "gwg": 0.1}
    made = structured.learn

    def timed(first, *args):
        done = made(first, *args)
        return dataclasses.replace(done, seconds=done.iteration * pace.get(first.learner.spec.id, 0.1))

    three = [lane for lane in structured.persistent_methods(5, 4.5, 10) if lane[0].name in ("PMP", "Gibbs", "GWG")]
    monkeypatch.setattr(structured, "learn", timed)
    monkeypatch.setattr(structured, "persistent_methods", lambda *_: three)
    rows, _ = structured._one_seed(setting, 0, None)
    assert len(rows) == 5 * 3
    assert rows["training seconds, PMP, 5 updates"] == pytest.approx(4.2)
    for name, equal in structured.EQUAL.items():
        assert rows[f"training seconds, {name}, 5 updates"] == pytest.approx(0.6)
        assert rows[f"training seconds, {equal}, 5 updates"] == pytest.approx(4.2)
        assert rows[f"RMSE of W, {equal}, 5 updates"] != rows[f"RMSE of W, {name}, 5 updates"]
    words = structured._seconds_note(setting, [rows])
    assert "7 times at 5 updates" in words and all(equal in words for equal in structured.EQUAL.values())


def test_equal_seconds_are_iterations_at_the_pace_that_was_met():
    """Where PMP is the faster one, GWG starts anew and stops earlier."""
    lane = structured.Lane(structured.persistent_methods(5, 4.5, 10)[3][0], 256, 6, 0.01, 50)
    done = dataclasses.replace(begun_training(), iteration=6, seconds=0.6)
    longer, begun = structured.at_equal_seconds(lane, done, 4.2)
    assert (longer.method.learner, longer.method.name, longer.iterations) == ("gwg", structured.EQUAL["GWG"], 42)
    assert begun is done and lane.iterations == 6
    shorter, begun = structured.at_equal_seconds(lane, done, 0.3)
    assert shorter.iterations == 3 and begun is None


def test_pmp_gets_fewer_chains_where_the_others_make_few_updates():
    lanes = structured.persistent_methods(50, 4.5, 10)
    assert [(method.learner, chains) for method, chains in lanes] == [
        ("pmp", 31),
        ("pmp", 31),
        ("pcd", 256),
        ("gwg", 256),
        ("persistent_pmp", 31),
    ]
    for method, _ in (*lanes, *structured.reset_methods(5)):
        assert method.make() is not None and method.sampler is not None


def test_samples_start_from_the_first_messages_of_the_training():
    for lanes in (structured.persistent_methods(50, 4.5, 10), structured.reset_methods(5)):
        found = {method.name: method for method, _ in lanes if method.learner.endswith("pmp")}
        for name, method in found.items():
            wanted = 0 if name == "PMP 0/1" else 1
            assert (method.make().messages, method.sampler.messages) == (wanted, wanted)
    assert structured.Method("PMP", "pmp", {"sweeps": 5}).sampler.messages == 0


def test_pooling_keeps_what_is_on():
    images = np.zeros((1, 4, 6), np.int8)
    images[0, 1, 5] = 1
    np.testing.assert_array_equal(zeros.pooled(images, 2), [[0, 0, 1, 0, 0, 0]])
    np.testing.assert_array_equal(zeros.pooled(images, 1), images.reshape(1, -1))


def test_diversity_of_samples():
    data = parse_dataset("digits")
    np.testing.assert_array_equal(digits.nearest_labels(data.x, data), data.labels)
    assert digits.entropy(np.arange(10)) == pytest.approx(np.log(10)) and digits.entropy(np.full(5, 4)) == 0


def test_a_mosaic_keeps_its_pictures_apart():
    sheet = figures.mosaic(np.ones((7, 6), np.int8), (2, 3))
    assert sheet.shape == (5, 19) and sheet.sum() == 42 and not sheet[2].any()
    assert json.loads(figures.pictures({"a": np.ones((5, 6))}, (2, 3), "t").to_json())["data"]


@pytest.fixture
def few_instances(monkeypatch):
    """One grid of 3x3, one clique a strength and a small RBM, made by the paper's recipe."""
    monkeypatch.delenv("PMPVIZ_DATA", raising=False)
    monkeypatch.setattr(barrier, "grids", lambda side, most: instances.grids(3, 1))
    small = instances.Instance("rbm", Target.of(build_spec("rbm:2x2x3,pattern=random,strength=1")))
    monkeypatch.setattr(barrier, "rbm", lambda: small)
    monkeypatch.setattr(barrier, "THETAS", (0.5, 4.0))
    monkeypatch.setattr(barrier, "PERTURBATIONS", 100)


def test_contraction_and_correction(few_instances):
    rows = check(barrier.contractions(Request(True, 1)))
    assert len(rows) == 2 * len(barrier.VARIANTS) * 6
    assert rows["cliques, M_delta, correction: share that reaches it"].ours == 1
    assert all(row.ours >= -1e-6 for name, row in rows.items() if "bound" in name)


def test_heuristic_oracles_and_an_rbm(few_instances, monkeypatch):
    rows = check(barrier.heuristics(Request(True, 1)))
    assert len(rows) == 3 * len(barrier.ORACLE_LANES)
    assert rows["5x5, exact oracle: L1, rho optimised"].ours < 0.3
    assert all(row.paper is None for row in check(barrier.boltzmann(Request(True, 1))).values())
    small = instances.Instance(barrier.PAPERS_OWN, barrier.rbm().target)
    monkeypatch.setattr(barrier, "rbm", lambda: small)
    rows = check(barrier.boltzmann(Request(True, 1)))
    marginal, local = (rows[f"{p}: best bound - log Z"] for p in (barrier.EXACT, barrier.LOCAL))
    assert (marginal.paper, local.paper) == (5.3, 187)
    marginal, local = marginal.ours, local.ours
    assert -1e-6 <= marginal <= local + 0.5


def test_rates_of_the_theorems_and_calls_cut_short(few_instances, monkeypatch):
    monkeypatch.setattr(barrier_rates, "grids", lambda side, most: instances.grids(3, 1))
    rows = check(barrier_rates.rates(Request(True, 1), barrier_rates.Setting(60, 1)))
    assert rows["adaptive delta: exponent of k"].paper == -0.5 and rows["adaptive delta: exponent of k"].ours < -0.5
    final = {name: rows[f"{name}: sub-optimality after 60"].ours for name in barrier_rates.VARIANTS}
    assert min(final.values()) >= -1e-9 and final["fixed delta .0001"] < final["fixed delta .01"]
    assert barrier_rates.exponent(3.0 / np.arange(1, 100) ** 2) == pytest.approx(-2)
    rows = check(barrier_rates.truncated(Request(True, 1), (1, 100)))
    cut, exactly = (rows[f"{name}: best bound - log Z"].ours for name in ("TRW-S, 1 sweeps", "exact"))
    assert cut >= exactly - 0.5 and exactly >= -1e-9


def test_strengths_of_coupling(few_instances):
    rows = check(barrier.strengths(Request(True, 1)))
    assert rows["theta 0.5: L1, marginal, first rho"].paper == 0.078
    assert rows["theta 0.5: bound - log Z, marginal"].ours >= -1e-9
    assert rows["theta 0.5: bound - log Z, local"].ours >= rows["theta 0.5: bound - log Z, marginal"].ours - 0.5


def test_instances_are_files_where_they_are_and_made_elsewhere(few_instances, monkeypatch):
    made = instances.cliques(2.0, 2)
    assert [each.target.n for each in made] == [10, 10] and "recipe" in instances.source()
    assert made[0].exact.log_z != made[1].exact.log_z and len(instances.grids(3, 2)) == 2
    monkeypatch.setenv("PMPVIZ_DATA", "no such folder")
    assert [each.name for each in instances.cliques(2.0, 2)] == [each.name for each in made]


# Both chains go by the same way; that of all sites one after the other has its program compiled for it alone.
@pytest.mark.parametrize(
    "chains", [case({"gwg"}, name="gwg", everyday=True), case({"gibbs"}, name="gibbs", everyday=False)]
)
def test_a_tiny_run_of_blind_deconvolution(monkeypatch, chains):
    named = {name: each for name, each in blind_deconvolution.CHAINS.items() if name in chains}
    monkeypatch.setattr(blind_deconvolution, "CHAINS", named)
    monkeypatch.setattr(blind_deconvolution, "IMAGES", 20)
    monkeypatch.setattr(blind_deconvolution, "SWEEPS", 30)
    rows = check(blind_deconvolution.run(Request(False, 1)))
    reach = rows["stamps out of reach, exact, stamps within reach"].ours
    assert 0 <= rows["glyphs of 4 found, exact"].ours <= rows["glyphs of 4 within 2 pixels, exact"].ours <= 4
    (name,) = (name for name, _ in named.values())
    assert rows[f"{name} at PMP's seconds, features known: glyphs found"].ours == 4 and reach >= 0
    assert rows["seconds, exact"].ours > 0


def test_stamps_that_no_place_of_a_feature_reaches():
    data = blind_deconvolution.Data.of("paper", 0, 0)
    features = np.zeros((1, 1, 5, 6, 6), np.int8)
    features[0, 0, :4, :5, :5] = data.glyphs
    shown = types.SimpleNamespace(features=features)
    last = data.places[:, :, 9, :].sum() + data.places[:, :, :9, 9].sum()
    assert blind_deconvolution.out_of_reach(shown, data) == last > 0
    features[0, 0, 0] = 0
    lost = data.places[:, 0].sum() + data.places[:, 1:, 9, :].sum() + data.places[:, 1:, :9, 9].sum()
    assert blind_deconvolution.out_of_reach(shown, data) == lost


def test_a_tiny_run_of_machines_under_pcd():
    """The pixels' frequencies alone are -log-probable by their entropies; all machines come to know more."""
    setting = semi_restricted.Setting("bars:3x3", 6, (1, 3000), 0.2, 50, 200)
    rows = check(semi_restricted.run(Request(True, 1), setting))
    x = parse_dataset("bars:3x3").x.mean(0)
    apart = (x * np.log(x) + (1 - x) * np.log1p(-x)).sum()
    for name in semi_restricted.KINDS:
        early, late = (rows[f"training log p, {name}, {epochs} epochs"].ours for epochs in (1, 3000))
        assert late > early and late > apart + 0.5
    last = [rows[f"test log p, {name}, 3000 epochs"].ours for name in ("SRBM", "RBM")]
    assert rows["test log p, SRBM less RBM, at the end"].ours == pytest.approx(last[0] - last[1])
    assert rows["training seconds, SRBM over equivalent RBM"].paper == 10
