"""What is said and drawn of a perturbation lab: verdicts, bounds, rough maps."""

import io
import json
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from pmpviz import exact
from pmpviz.app.presets import preset_of
from pmpviz.capabilities.perturbation import board, findings
from pmpviz.capabilities.perturbation import maps as perturbation_maps
from pmpviz.capabilities.perturbation import panels as perturbation_panels
from pmpviz.capabilities.perturbation import picture as perturbation
from pmpviz.capabilities.perturbation.atlas import AtlasMaker
from pmpviz.capabilities.perturbation.files import energies_csv, files, perturbation_npz
from pmpviz.capabilities.perturbation.live import LabView, bench_of, draws_before_map
from pmpviz.capabilities.perturbation.parts import (
    Tally,
    maxima_law,
    show,
    state_law,
)
from pmpviz.capabilities.perturbation.plan import MOST_DRAWS
from pmpviz.capabilities.perturbation.presets import PERTURBATION
from pmpviz.live.link import to_query
from pmpviz.oracles import Solution, make_oracle
from pmpviz.player.numbers import integer, significant
from pmpviz.player.wire import decode
from tests.unit.labs import CLIQUE, worked_off


def test_everything_is_computed_and_drawn():
    view = worked_off(CLIQUE)
    assert view.trouble is None and view.done and view.tally.draws == 512 and view.atlas.rows == len(view.atlas.axis)
    for dark in (False, True):
        panels = [*perturbation_panels.perturbed(view, dark), *perturbation_panels.averages(view, dark)]
        assert len(panels) == 6 + 7 and "energy" in panels[5].words
        assert [panel.title for panel in panels[:3]] == ["field", "noise", "field + noise"]
        head, blobs = decode(board.update(view, "state", dark))
        assert head["atlas"]["rows"] == head["atlas"]["side"] == len(view.atlas.axis)
        assert {layer["id"] for layer in head["layers"]} <= set(head["atlas"]["values"])
        places = np.frombuffer(blobs[head["samples"]["places"]], "<i4")
        order = np.argsort(-view.law, kind="stable")
        np.testing.assert_array_equal(np.bincount(places, minlength=64), view.tally.counts[order])
        assert all(Image.open(io.BytesIO(panel.picture)).size[0] >= 100 for panel in panels)
        for draw in (perturbation.lost, perturbation.bounds, perturbation_maps.tree):
            assert draw(view, dark).data
    assert "attempts came through" in perturbation_maps.tree_words(view)
    # How far bounds are broken stands beside how well they are known.
    known = significant(1.96 * np.std(view.tally.maxima, ddof=1) / np.sqrt(1000), 2)
    assert f"is known to ± {known}, 95 %), and" in findings.finding(view, "prefixes")
    assert f"is known to ± {known}, 95 %); raised" in perturbation_maps.tree_words(view)
    # Which bounds are meant is said, and that they are not those of the chart.
    held = perturbation_maps.tree_words(replace(view, tree=replace(view.tree, violations=0)))
    every = "one for every beginning of a configuration, averages over 1\u202f000 noises"
    assert f" bounds, {every}: all of them hold" in held
    assert "which has other noises than those of the chart of bounds" in held
    # Letters of its own size would stay small before a class.
    drawn = perturbation_maps.tree(view, False)
    assert {drawn.layout.legend.font.size, *(line.textfont.size for line in drawn.data)} == {None}
    assert perturbation.lost(view, False).layout.legend.font.size is None
    said = findings.counts(view)
    assert said.startswith("Best state missed under 512 noises: ")
    assert "attempts" not in findings.counts(view, "two-spins")
    # What a verdict says is not said again beneath it.
    assert "missed" not in findings.counts(view, "glass") and "attempts" not in findings.counts(view, "clique")
    assert "bounds" not in findings.counts(view, "prefixes")
    # One condition in the same words, whichever question it stands beside.
    broken = f"{integer(view.tree.violations)} of {integer(view.tree.total)}"
    one = f"{broken} bounds were less than their two parts add up to"
    assert f"{one}." in findings.counts(view, "clique") and f"{one}, by " in findings.finding(view, "prefixes")
    label, lost = next((label, one) for label, one in zip(view.bench.labels, view.tally.lost, strict=True) if max(one))
    count = int((np.array(lost) > 1e-6).sum())
    assert f"{label} {count}" in said
    # Misses are counted, and by how much is told of these alone.
    loss = significant(np.sum(lost) / count)
    assert f"{label} misses the maximum under {count} of 512 perturbations, then by {loss} nats" in " ".join(
        perturbation.lost_words(view)
    )
    assert f"{integer(view.tree.accepted)} of {integer(view.tree.attempts)} attempts" in said
    none = replace(view, tally=replace(view.tally, lost=[[0.0] * 512 for _ in view.bench.solvers]), tree=None)
    assert findings.counts(none) == "No solver missed the best state under any of 512 noises."
    assert findings.finding(none, "glass") == "Every solver found the best state under each of 512 noises."
    answer = findings.finding(view, "a model of one's own")
    assert answer.startswith(f"Not always: of 512 best states {label} missed {count}")
    assert "Exact none. LP relaxation leaves 100% of spins at 1/2 on average: " in answer
    assert f"{integer(view.tree.accepted)} of {integer(view.tree.attempts)} came through" in findings.finding(
        view, "clique"
    )
    pieces = findings.explained(said)
    assert "".join(words for words, _ in pieces) == said
    assert {words for words, meaning in pieces if meaning} == {"Best state missed", "attempts", "bounds"}
    assert json.loads(next(file.make() for file in files(view) if file.name == "settings.json")) == to_query(view.plan)
    exported = np.load(io.BytesIO(perturbation_npz(view)))
    assert {"noise", "field", "icm", "exact", "atlas_code"} <= set(exported.files)
    assert len(energies_csv(view).decode().splitlines()) == 1 + 512


def test_attempts_and_missed_best_states_are_drawn_where_they_are_the_question():
    view = worked_off(CLIQUE)
    tree, rows = (
        view.tree,
        {name: board._rows(view, name, False) for name in ("clique", "prefixes", "glass", "triangle")},
    )
    assert tree.left[0] == tree.attempts and tree.left[-1] == tree.accepted and (np.diff(tree.left) <= 0).all()
    assert [tree.left[j] for j in range(len(tree.passed))] == [int(one.sum()) for one in tree.passed]
    assert rows["triangle"] is None
    # Bounds of the parts never add up to more than those before, and foretell how many attempts get so far.
    added = np.array([bar["share"] for bar in rows["prefixes"]["bars"]])
    assert added[0] == 1 and (np.diff(added) <= 1e-12).all() and added[-1] == pytest.approx(tree.acceptance)
    error = np.sqrt(added * (1 - added) / tree.attempts)
    assert (np.abs(np.array(tree.left) / tree.attempts - added) <= 5 * error).all()
    shares = [bar["share"] for bar in rows["clique"]["bars"]]
    np.testing.assert_allclose(shares, np.array(tree.left[1:]) / tree.attempts)
    missed = {bar["name"]: bar["count"] for bar in rows["glass"]["bars"]}
    assert missed["Exact"] == "0" and set(missed) == set(view.bench.labels)
    assert all(f"{label} missed {count}" in findings.finding(view, "glass") for label, count in [*missed.items()][:1])


def test_the_verdict_on_two_spins_says_which_states_come_too_often_and_which_too_seldom():
    own = bench_of(PERTURBATION[0].plan)
    tally = Tally.of(own)
    law, none = state_law(own), LabView(PERTURBATION[0].plan, own)
    assert findings.finding(none, "two-spins") == ""
    tally.add(own, 512)
    said = findings.finding(replace(none, tally=tally, law=law), "two-spins")
    # Which states by the maxima's own law, of which the samples are the evidence: the same ones whatever the seed.
    often = "states 00 (0.32, exactly 0.24) and 11 (0.58, exactly 0.54) come too often"
    seldom = "states 01 and 10 (0.052, exactly 0.11) come too seldom"
    why = "No: chance alone does not explain these 512 samples."
    assert said.startswith(f"{why} In the long run (dashes) {often}, {seldom}. {findings.ONE_A_SITE}.")
    for seed in range(1, 5):
        other = bench_of(PERTURBATION[0].plan.replace(seed=seed))
        others = Tally.of(other)
        others.add(other, 512)
        assert findings.finding(replace(none, bench=other, tally=others, law=law), "two-spins") == said
    # While they fall, what is said is of those that fell.
    falling = dict(findings.falling(replace(none, tally=tally, law=law), "two-spins"))
    assert falling[512] == said and list(falling) == list(range(1, 513))
    some = replace(tally, draws=304, counts=np.bincount(tally.codes[:304], minlength=4))
    assert falling[304] == findings.finding(replace(none, tally=some, law=law), "two-spins") != said
    assert findings.falling(replace(none, tally=tally, law=law), "glass") == []
    # Until chance no longer explains how far off the maxima's own law is, nothing is said that is taken back.
    own_law = maxima_law(own)
    share = tally.counts / 512
    assert (np.abs(share - own_law) <= 4 * np.sqrt(own_law * (1 - own_law) / 512)).all()
    gap, few = np.abs(own_law - law), 270
    assert (gap > 3 * np.sqrt(law * (1 - law) / few)).any()
    assert not (gap > 3 * np.sqrt(law * (1 - law) / (few - 10))).any()
    assert all(("too few to judge" in words) == (count < few) for count, words in falling.items())
    assert falling[few - 1].endswith("some 270 are enough (at three standard errors).")
    assert falling[few + 1].startswith("No: chance alone does not explain these 271 samples. ")
    # The shares that it tells are the dashes of the bars, which are not those of the samples.
    bars = decode(board.update(replace(none, tally=tally, law=law), "state", False, "two-spins"))[0]["samples"]
    np.testing.assert_allclose(bars["run"], own_law[np.argsort(-law, kind="stable")])
    assert bars["few"] == few
    # The verdict and the bars, which count every sample, are of as many.
    assert all(f"{count} sample" in words for count, words in falling.items())
    # Draws of the law itself are no further off than chance allows.
    fair = replace(tally, counts=np.rint(512 * law).astype(int))
    assert "than chance allows" in findings.finding(replace(none, tally=fair, law=law), "two-spins")


def test_bounds_that_are_the_maxima_themselves_are_one_row_with_them():
    own = bench_of(PERTURBATION[0].plan)
    tally = Tally.of(own)
    tally.add(own, 16)
    view = LabView(PERTURBATION[0].plan, own, tally=tally)
    assert [row[0] for row in perturbation.bound_rows(view)] == ["mean of exact maxima: a bound"]
    assert perturbation.bounds_help(view).endswith("Every solver's answers and bounds are the same here.")
    tally.lost[0][3] = 0.5
    assert len(perturbation.bound_rows(view)) == 2 and perturbation.bounds_help(view) == perturbation.BOUNDS


@pytest.mark.parametrize("means", [(3.0,), (1.2, 2.0, 9.0), (0.0, 1.9, 2.1), (1.0, 3.0)])
def test_names_of_bounds_stand_on_one_side_of_the_line_of_log_z_and_have_room_there(means, monkeypatch):
    log_z, style = 2.0, perturbation.styles(LabView(CLIQUE))[0]
    rows = [(f"mean of {mean}", mean, 0.05, style, "bound") for mean in means]
    monkeypatch.setattr(perturbation, "bound_rows", lambda view: rows)
    figure = perturbation.bounds(SimpleNamespace(truth=SimpleNamespace(log_z=log_z)), False)
    low, high = figure.layout.xaxis.range
    names = [each for each in figure.layout.annotations if "log Z" not in each.text]
    assert len(names) == len(means) and low < min(means) and high > max(means)
    right = names[0].xanchor == "left"
    (said,) = [each for each in figure.layout.annotations if "log Z" in each.text]
    assert said.xanchor == names[0].xanchor  # Else its first letters are cut off where the line is near an edge.
    assert all(each.x == log_z and each.xshift * (1 if right else -1) > 0 for each in names)
    assert (high - log_z if right else log_z - low) > 0.65 * (high - low)


def test_the_verdict_on_a_scene_names_what_the_single_best_answer_leaves_out_beside_the_exact_marginals():
    for name, words in (
        ("denoise", "The cross in the ring: of its 9 pixels"),
        ("complete", "Of its 12 pixels of ink the single best answer"),
    ):
        plan = preset_of(PERTURBATION, name).plan
        own = bench_of(plan)
        tally = Tally.of(own)
        tally.add(own, 8)
        truth = exact.solve(own.target)
        view = LabView(plan, own, show(own, 0), tally, truth=truth)
        scene = own.scene
        ink = (scene.detail if name == "denoise" else (scene.drawn > 0) & np.isnan(scene.seen)).ravel()
        said, alone = findings.finding(view, name), int(view.shown.alone[ink].sum())
        whose = {"denoise": "LP relaxation", "complete": "the exact solver"}[name]
        assert said.startswith(words) and f"draws {alone or 'none'}, those of {whose} under 8 noises " in said
        assert said.endswith(f"and the exact marginals {significant(truth.p1[ink].sum(), 2)}.")
        solver = plan.solvers[int(np.argmin([np.mean(lost) for lost in tally.lost]))]
        unary = own.potentials.unary + own.noise(0, 8)
        found = make_oracle(solver).solve_batch(own.potentials, unary)
        drawn = np.array([own.problem.all_states(each.x[None])[0][ink].sum() for each in found])
        error = significant(1.96 * np.std(drawn, ddof=1) / np.sqrt(8), 2)
        assert f"{significant(drawn.mean(), 2)} on average so far (± {error}, 95 %) and " in said
    plan = preset_of(PERTURBATION, "denoise").plan
    unsure = ((truth := exact.solve(bench_of(plan).target)).p1 > 0.1) & (truth.p1 < 0.9)
    own = bench_of(plan)
    tally = Tally.of(own)
    tally.add(own, 8)
    assert f"{unsure.sum()} by the exact marginals" in findings.counts(
        LabView(plan, own, tally=tally, truth=truth), "denoise"
    )


def test_every_preset_has_an_answer_of_its_own_and_messages_that_do_not_settle_say_so():
    assert set(findings.ANSWERS) == {preset.id for preset in PERTURBATION}
    solver = make_oracle("max_product")
    still, restless = (Solution(np.zeros(2, np.int8), 1.0, notes={"residual": change}) for change in (1e-6, 0.7))
    assert board.settled(solver, still) == "settles, damped by 0.5"
    assert board.settled(solver, restless) == "not settled in 100 sweeps"
    assert board.settled(make_oracle("icm"), Solution(np.zeros(2, np.int8), 1.0)) == ""


def test_the_energy_of_two_spins_can_be_worked_out_from_what_is_written():
    """Of every solver's answer, with the field that is shown; J is that of the chain."""
    bench = bench_of(PERTURBATION[0].plan)
    written = board.formula(bench)
    assert written.startswith("Energy: −(f₁x₁ + f₂x₂ + 2.40 x₁x₂ + 0.200), f the field + noise, x 0 or 1.")
    assert written.endswith(" 2.40 between 0 and 1 is J = 0.600 between spins ±1.")
    for draw in range(4):
        shown = show(bench, draw)
        for found in shown.solutions:
            x = found.x.astype(float)
            assert found.value == pytest.approx(shown.field @ x + 2.4 * x[0] * x[1] + 0.2, abs=1e-5)
    assert board.formula(bench_of(PERTURBATION[1].plan)) == ""


def test_what_a_relaxation_rounds_is_told_with_what_it_loses():
    plan = PERTURBATION[1].plan
    bench = bench_of(plan)
    place = plan.solvers.index("linear_program")
    found = show(bench, 0).solutions[place]
    grey = int((np.abs(found.relaxed[0][:, 1] - 0.5) < 1e-6).sum())
    assert grey and board.rounded(found, bench.target.n) == (
        f"{grey} of 36 at ½, grey, energy ≥ {significant(-found.upper, 5)}; rounded: "
    )
    # Where some are held, of the free ones: as many as the picture has.
    plan_of_scene = preset_of(PERTURBATION, "complete").plan
    scene = bench_of(plan_of_scene)
    view = LabView(plan_of_scene, scene, show(scene, 0))
    solver = plan_of_scene.solvers.index("linear_program")
    head, blobs = decode(board.update(view, "state", False, "complete"))
    told = head["shown"]["solvers"][solver]
    grey = np.abs(np.frombuffer(blobs[told["picture"]], "<f4") - 0.5) < 0.499
    assert grey.any() and told["rounded"].startswith(f"{grey.sum()} of 48 at ½, grey, ")
    # What stands behind it is the energy of the rounding: a relaxation's own is no worse than the best.
    best = show(bench, 0).solutions[plan.solvers.index("exact")]
    assert found.value < best.value <= found.upper + 1e-6
    assert not found.x[np.abs(found.relaxed[0][:, 1] - 0.5) < 1e-6].any()
    tally = Tally.of(bench)
    tally.add(bench, 4)
    view = LabView(plan=plan, bench=bench, tally=tally)
    share = f"{np.mean(tally.fractional[place]):.0%}"
    assert f" LP relaxation leaves {share} of spins at 1/2 on average: " in findings.finding(view, "glass")
    # While more are to come it is said of which noises a statistic is.
    assert " of the first 4 perturbations" in " ".join(perturbation.lost_words(view))
    view = replace(view, shown=show(bench, 0))
    assert "mean of the first 4" in [words for _, words, *_ in perturbation_panels.average_rows(view)]


def test_the_share_of_a_map_that_is_half_filled_is_that_of_its_rough_one():
    """Its upper half never rests, its lower half does: the rows that are filled by now are all of the upper one."""
    side, none = 32, np.full((32, 32), np.nan)
    never = np.where(np.arange(side)[:, None] < side // 2, 0.0, 1.0) + np.zeros(side)
    maker = AtlasMaker(bench_of(preset_of(PERTURBATION, "triangle").plan), 0, (0, 1))
    half = replace(maker.atlas(), period=none.copy())
    rough = slice(half.stride // 2, None, half.stride)
    half.period[rough, rough] = never[rough, rough]
    half.period[: side // 4] = never[: side // 4]
    # A rough map tells it roughly.
    for atlas, share in ((half, "about 50%"), (replace(half, period=never), "50%")):
        assert f"on {share} of this map" in findings._rest(SimpleNamespace(atlas=atlas))
    assert not findings._rest(SimpleNamespace(atlas=replace(half, period=none)))


def test_a_rough_map_is_shown_at_once_and_samples_that_are_to_fall_on_it_are_there():
    for preset, layer in (("two-spins", "state"), ("triangle", "rest")):
        plan = preset_of(PERTURBATION, preset).plan
        bench = bench_of(plan)
        maker = AtlasMaker(bench, 0, (0, 1))
        pieces = maker.drawing()
        while not next(pieces):
            pass
        view = LabView(plan, bench, show(bench, 0), Tally.of(bench), atlas=maker.atlas())
        view.tally.add(bench, 64)
        assert draws_before_map(bench) == (MOST_DRAWS if preset == "two-spins" else 8)
        head, _ = decode(board.update(view, layer, False, preset))
        assert head["atlas"]["rows"] == 0 and "Rough still: " in head["atlas"]["words"]
        # A dot of another colour than its region's is no contradiction while borders are rough.
        falls = "near a border a dot may lie in another colour. Row 0 of 32."
        assert head["atlas"]["words"].endswith(falls if preset == "two-spins" else "Rough still: row 0 of 32.")
        # What the map's colours are, not how many states those of another layer have.
        assert ("states are best somewhere" in head["atlas"]["words"]) == (layer == "state")
        # While another model is waited for, its question has no answer of this one's.
        waiting, _ = decode(board.update(view, layer, False, preset, waits=True))
        assert waiting["waits"] and not waiting["verdict"] and not waiting["falling"] and not waiting["counts"]
        # Before there is an answer the board says that it begins, and not where nothing more comes.
        assert waiting["starts"] and not decode(board.update(replace(view, doing=""), layer, False))[0]["starts"]
        for _ in pieces:
            pass
        head, _ = decode(board.update(replace(view, atlas=maker.atlas()), "state", False, preset))
        assert head["atlas"]["rows"] == 32


# A session draws while another one's thread has come halfway through pandas.
HALF_IMPORTED = """
import sys, threading
from importlib.abc import MetaPathFinder

half, drawn = threading.Event(), threading.Event()

class Slow(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.startswith("pandas.") and not half.is_set():
            half.set()
            drawn.wait(1)

sys.meta_path.insert(0, Slow())
other = threading.Thread(target=lambda: __import__("pandas"))
import plotly.graph_objects
from pmpviz.capabilities.perturbation.picture import empty
other.start()
half.wait()
empty().add_scatter(x=[0], y=[1], hoverinfo="skip")
drawn.set()
other.join()
"""


def test_what_is_drawn_while_another_session_imports_pandas_is_drawn():
    subprocess.run([sys.executable, "-c", HALF_IMPORTED], check=True, timeout=120)
