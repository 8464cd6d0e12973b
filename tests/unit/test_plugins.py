"""Algorithms of one's own: found, marked, run and judged; what is wrong with a file is one sentence."""

import importlib.metadata
import json
import os
import subprocess
import sys

import jax
import numpy as np
import pytest
from command_line import SMALL, cache, call, found, in_a_folder_of_its_own, refused  # noqa: F401

from pmpviz import plugins
from pmpviz.capabilities.sampling.code import command, script
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.experiments import registries, workloads
from pmpviz.io import load_samples
from pmpviz.learning import LEARNERS
from pmpviz.marginals import SOLVERS, make_solver
from pmpviz.models import BUILDERS, build_spec
from pmpviz.oracles import ORACLES
from pmpviz.player.style import SPARE, style_of
from pmpviz.runs import compile_clock, positions, retarget, start
from pmpviz.runs.run import advance
from pmpviz.samplers import SAMPLERS, make_sampler, sampler_class
from pmpviz.types import InputError, Target
from tests.guide import GUIDE, ROOT, STUMBLES, UNUSABLE, WRONG, changed


@pytest.fixture(autouse=True)
def none_left():
    plugins.forget()
    yield
    plugins.forget()


@pytest.fixture
def metropolis(tmp_path):
    path = tmp_path / "metropolis.py"
    path.write_text(GUIDE)
    return path


def test_a_file_stands_behind_the_others_and_is_called_yours(metropolis):
    before = list(SAMPLERS)
    plugins.add(metropolis)
    assert list(SAMPLERS) == [*before, SAMPLERS[-1]] and len(SAMPLERS) == len(before) + 1
    cls = sampler_class("metropolis")
    assert SAMPLERS.is_yours(cls) and not SAMPLERS.is_yours(before[0]) and SAMPLERS.yours == (cls,)
    assert cls.spec.label == "Metropolis (yours)" and style_of(cls.spec) in SPARE
    assert registries.troubles() == () and plugins.file_of(cls) == str(metropolis)
    plugins.add(metropolis)
    assert len(SAMPLERS) == len(before) + 1
    plugins.forget()
    assert list(SAMPLERS) == before


def test_the_environment_names_files(metropolis, monkeypatch, tmp_path):
    monkeypatch.setenv(plugins.ENVIRONMENT, f"{metropolis}:{tmp_path / 'none.py'}")
    assert "metropolis" in SAMPLERS.ids
    assert registries.troubles() == ("none.py is left out: there is no such file",)


def test_list_sample_and_bench_on_the_command_line(metropolis, monkeypatch):
    flag = ("--plugin", metropolis)
    rows = {row["id"]: row for row in found("list", "algorithms", *flag)["algorithms"]}
    assert rows["metropolis"]["label"] == "Metropolis (yours)"
    found("sample", SMALL, "--algorithm", "metropolis", "--sweeps", 5, "--chains", 20, "--out", "a.npz", *flag)
    assert load_samples("a.npz").shape == (20, 12)
    (row,) = [each for each in workloads.everyone_else() if each.algorithm == "metropolis"]
    monkeypatch.setattr(workloads, "ANY_MODEL", ("square:4x4",))
    code, out, _ = call("bench", "--json", "--workload", "metropolis-square-4x4", *flag)
    report = json.loads(out)
    assert row.name == "metropolis-square-64x64" and report["workloads"][0]["microseconds"] > 0 and code == 0


LAWS = [word for law in ("said", "exact_start", "brought") for word in ("--law", law)]


# Its exact start is in the whole contract, and every day that of a sampler that prepares, by the same command.
def test_the_contract_holds_for_the_guide(metropolis):
    code, out, err = call("contract", "--plugin", metropolis, "--law", "said", "--law", "brought")
    assert (code, err) == (0, "") and "2 of 2 laws hold" in out and "BROKEN" not in out
    assert out.startswith("metropolis: Metropolis (yours), sampler\n  holds   said:")


@pytest.mark.thorough
def test_the_whole_contract_holds_for_the_guide(metropolis):
    code, out, err = call("contract", "--plugin", metropolis)
    assert (code, err) == (0, "") and "14 of 14 laws hold" in out


def test_a_wrong_law_is_named_and_the_others_hold(tmp_path):
    (tmp_path / "hasty.py").write_text(WRONG)
    code, out, err = call("contract", "--plugin", tmp_path / "hasty.py", *LAWS)
    assert (code, err) == (2, "pmpviz: hasty breaks exact start\n")
    assert "  BROKEN  exact start: " in out and "on six_" in out and "2 of 3 laws hold" in out


def test_a_law_that_raises_is_broken_with_its_reason(tmp_path):
    (tmp_path / "stumbles.py").write_text(STUMBLES)
    code, out, err = call("contract", "--plugin", tmp_path / "stumbles.py", "--law", "exact_start")
    assert code == 2 and "ZeroDivisionError" in out and err == "pmpviz: metropolis breaks exact start\n"
    err = refused("contract", "--plugin", tmp_path / "stumbles.py", "--law", "gravity")
    assert "there is no law 'gravity'" in err


@pytest.mark.parametrize("name", UNUSABLE)
def test_what_cannot_be_used_is_one_sentence_and_stops_nothing(name, tmp_path):
    code, reason = UNUSABLE[name]
    (tmp_path / f"{name}.py").write_text(code)
    before = list(SAMPLERS)
    status, out, err = call("list", "algorithms", "--plugin", tmp_path / f"{name}.py")
    assert status == 0 and "gibbs" in out and err.count("\n") == 1
    assert err.startswith(f"pmpviz: {name}.py is left out: ") and reason in err
    assert list(SAMPLERS) == before
    assert reason in refused("contract", "--plugin", tmp_path / f"{name}.py")


def test_a_flag_without_a_file_and_nothing_to_judge_are_refused():
    assert "--plugin needs a file" in refused("list", "--plugin")
    assert "--plugin needs a file" in refused("list", "--plugin", "--json")
    assert "there is nothing of yours" in refused("contract")
    assert "there is no 'metropolis'" in refused("contract", "--id", "metropolis")


def test_why_not_that_raises_is_a_sentence(tmp_path):
    (tmp_path / "fussy.py").write_text(changed(("lambda target: None if", "lambda target: 1 / 0 if")))
    plugins.add(tmp_path / "fussy.py")
    reason = sampler_class("metropolis").spec.why_not(Target.of(build_spec("square:3x3")))
    assert "cannot say whether it runs on this model (ZeroDivisionError" in reason


OTHERS = """
from dataclasses import dataclass, replace
import numpy as np
from pmpviz.learning.direct import ExactLearner
from pmpviz.marginals.exact_solver import ExactMarginals
from pmpviz.models import BUILDERS
from pmpviz.oracles.icm import Icm
from pmpviz.oracles.oracle import Solution
from pmpviz.types import pytree

RING = replace(next(b for b in BUILDERS if b.id == "chain"), id="ring", label="Ring")


@dataclass(frozen=True)
class Boastful(Icm):
    \"\"\"ICM that calls whatever it finds the maximum.\"\"\"

    spec = replace(Icm.spec, id="boastful", label="Boastful")

    def solve(self, potentials):
        return Solution.proved(potentials, super().solve(potentials).x)


@dataclass(frozen=True)
class Sum(ExactMarginals):
    \"\"\"Enumeration by another name.\"\"\"

    spec = replace(ExactMarginals.spec, id="sum", label="Sum")


@pytree
class Slope(ExactLearner):
    \"\"\"The exact gradient by another name.\"\"\"

    spec = replace(ExactLearner.spec, id="slope", label="Slope")
"""


def test_oracles_solvers_learners_and_models_come_in_by_the_same_door(tmp_path):
    (tmp_path / "others.py").write_text(OTHERS)
    code, out, err = call("contract", "--plugin", tmp_path / "others.py")
    ids = [registry.ids[-1] for registry in (ORACLES, SOLVERS, LEARNERS, BUILDERS)]
    assert ids == ["boastful", "sum", "slope", "ring"] and registries.troubles() == ()
    assert build_spec("ring:5").n == 5 and make_sampler("perturb_and_map", oracle="boastful").oracle == len(ORACLES) - 1
    assert make_solver("barrier_frank_wolfe", oracle="boastful").oracle == "boastful"
    assert code == 2 and err == "pmpviz: boastful breaks keeps its promise\n", out
    assert "it calls" in out and out.count("BROKEN") == 1


def test_a_package_is_found_by_its_entry_points(metropolis, monkeypatch):
    monkeypatch.syspath_prepend(str(metropolis.parent))
    point = importlib.metadata.EntryPoint("metropolis", "metropolis:Metropolis", "pmpviz.samplers")
    gone = importlib.metadata.EntryPoint("gone", "gone:Gone", "pmpviz.samplers")
    real = importlib.metadata.entry_points

    def listed(**wanted):
        return (point, gone) if wanted.get("group") == "pmpviz.samplers" else real(**wanted)

    monkeypatch.setattr(importlib.metadata, "entry_points", listed)
    plugins.forget()
    assert SAMPLERS.yours[0].__name__ == "Metropolis" and plugins.file_of(SAMPLERS.yours[0]) is None
    (sentence,) = registries.troubles()
    assert sentence.startswith("gone of gone:Gone is left out: ModuleNotFoundError")


def test_the_page_s_script_and_command_bring_the_file_along(metropolis, tmp_path):
    plugins.add(metropolis)
    plan = Plan(model="square:3x3", chains=4, lanes=(sampler("metropolis"),))
    assert f"--plugin {metropolis}" in command(plan, 0, 3)
    assert f'plugins.add("{metropolis}")' in script(plan, 3) and "plugins" not in script(Plan(model="square:3x3"), 3)
    (tmp_path / "again.py").write_text(script(plan, 3))
    done = subprocess.run(
        [sys.executable, "again.py"],
        cwd=tmp_path,
        env=dict(os.environ, PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "metropolis: sweep 3" in done.stdout, done.stderr


PREPARED = """
import jax
import jax.numpy as jnp
from pmpviz.types import Algorithm, Spec, Overlay, pytree

CALLS = []


@pytree
class Ahead(Algorithm):
    \"\"\"Gibbs on a dense matrix that is made once a target.\"\"\"

    spec = Spec("ahead", "Ahead", "chain", "invariant", False, "Gibbs on a prepared matrix.", "none",
                overlays=(Overlay("pull"),))

    def prepare(self, target):
        CALLS.append(1)
        bias, i, j, w = target.model.pairwise()
        matrix = jnp.zeros((target.n, target.n)).at[i, j].add(w).at[j, i].add(w)
        return {"matrix": matrix, "bias": jnp.asarray(bias, jnp.float32), "scale": 1.0}

    def init(self, key, target, x0):
        return target.evidence.apply(x0)

    def step(self, key, target, x):
        ahead = target.prepared

        def one(i, x):
            field = target.beta * ahead["scale"] * (ahead["bias"][i] + ahead["matrix"][i] @ x)
            new = jax.random.bernoulli(jax.random.fold_in(key, i), jax.nn.sigmoid(field)).astype(x.dtype)
            return jnp.where(target.evidence.mask[i], x, x.at[i].set(new))

        return jax.lax.fori_loop(0, target.n, one, x), {}

    def position(self, target, x):
        return x

    def overlay(self, target, x, name):
        return jnp.abs(target.prepared["matrix"] @ x)
"""


def test_what_is_prepared_is_made_once_a_target_and_new_weights_compile_nothing(tmp_path):
    (tmp_path / "ahead.py").write_text(PREPARED)
    plugins.add(tmp_path / "ahead.py")
    algorithm = make_sampler("ahead")
    calls = sys.modules[type(algorithm).__module__].CALLS
    weak, strong = (Target.of(build_spec(f"complete:6,couplings=uniform,J={J}")) for J in (0.01, 5.0))
    run = start(algorithm, weak, jax.random.key(0), 32)
    for _ in range(3):
        run, _ = advance(run, 5)
    assert len(calls) == 1 and run.target.prepared["scale"].dtype == np.float32
    positions(run)
    before = compile_clock.compilations()
    run, _ = advance(retarget(run, strong), 20)
    assert len(calls) == 2 and compile_clock.compilations() == before
    # So strong a coupling aligns every chain: the new matrix is used.
    assert (np.ptp(positions(run), axis=1) == 0).all()


def test_a_sampler_that_prepares_keeps_the_contract(tmp_path):
    (tmp_path / "ahead.py").write_text(PREPARED)
    laws = [word for law in ("said", "exact_start", "compiles_once", "brought") for word in ("--law", law)]
    code, out, err = call("contract", "--plugin", tmp_path / "ahead.py", *laws)
    assert (code, err) == (0, "") and "4 of 4 laws hold" in out, out


def test_choices_are_read_by_their_names():
    with pytest.raises(InputError, match="oracle is 'boastful'"):
        make_sampler("perturb_and_map", oracle="boastful")
