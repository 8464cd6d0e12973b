"""The exported script and command give the same numbers as the library, bit for bit."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pmpviz
from pmpviz import runs
from pmpviz.__main__ import main
from pmpviz.app.models import model_of
from pmpviz.capabilities.sampling import code
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.runs import truth
from tests.compiling import BRIEFLY, flags

# The processes that are compared compile alike.
pytestmark = pytest.mark.brief
PLAN = Plan(
    model="square:4x5,J=0.3,field=random,h=0.2",
    beta=0.7,
    chains=33,
    seed=5,
    start="stripes",
    lanes=(sampler("pmp", damping=0.25), sampler("gibbs")),
    field=((2, 0.5), (7, -0.1)),
    clamp=((0, 1), (19, 0)),
)
PLAIN = Plan(model="complete:6", beta=1 / 3, chains=16, seed=2**31 - 1, lanes=(sampler("gibbs"),))


def run_python(arguments: list[str], folder) -> str:
    root = str(Path(pmpviz.__file__).parents[1])
    environment = os.environ | {"PMPVIZ_CACHE": str(folder), "PYTHONPATH": root, "XLA_FLAGS": flags(BRIEFLY)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def final(plan: Plan, sweeps: int) -> list[tuple[np.ndarray, Any]]:
    """(samples, trace) of each lane, in chunks other than the script's."""
    done = []
    for run in plan.begin(model_of(plan.model)):
        trace = None
        while run.sweep < sweeps:
            run, trace = runs.advance(run, min(7, sweeps - run.sweep) * run.quanta)
        done.append((runs.counted(run), trace))
    return done


# One script in a process of its own, where nothing is there but what it imports; the other in this one.
@pytest.mark.parametrize("plan, apart", [(PLAN, True), (PLAIN, False)])
def test_the_script_gives_the_same_samples_and_numbers(plan, apart, tmp_path, monkeypatch, capsys):
    sweeps = 70
    if apart:
        (tmp_path / "again.py").write_text(code.script(plan, sweeps))
        printed = run_python(["again.py"], tmp_path).splitlines()
    else:
        monkeypatch.chdir(tmp_path)
        exec(code.script(plan, sweeps), {})
        printed = capsys.readouterr().out.splitlines()
    reference = truth.finish(truth.build(plan.target(model_of(plan.model)))).reference
    with np.load(tmp_path / "samples.npz") as file:
        names = ["x"] if len(plan.lanes) == 1 else [f"lane{i + 1}" for i in range(len(plan.lanes))]
        assert list(file) == names
        for name, lane, (x, trace) in zip(names, plan.lanes, final(plan, sweeps), strict=True):
            np.testing.assert_array_equal(file[name], x)
            energy, mean = trace.energies[-1].mean(), trace.means[-1].mean()
            mmd = reference.mmd2(x)
            assert f"{lane.algorithm}: sweep 70, energy {energy:.9g}, mean of x {mean:.9g}, MMD^2 {mmd:.9g}" in printed


def test_lanes_may_have_run_for_different_sweeps(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(code.script(PLAN.replace(chains=1), [3, 5]), {})
    printed = capsys.readouterr().out
    assert "pmp: sweep 2," in printed and "pmp: sweep 3," in printed and "gibbs: sweep 5," in printed
    assert "pmp: sweep 4," not in printed and "MMD" not in printed


def test_lanes_of_one_sampler_are_told_apart_by_what_differs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lanes = (sampler("pmp", damping=0.25), sampler("pmp", damping=0.5), sampler("gibbs"))
    exec(code.script(PLAIN.replace(chains=1, lanes=lanes), 1), {})
    said = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert said == ["PMP · damping 0.25", "PMP · damping 0.5", "gibbs"]


def test_a_run_that_has_not_begun_is_its_start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = PLAIN.replace(chains=1)
    exec(code.script(plan, 0), {})
    with np.load("samples.npz") as file:
        np.testing.assert_array_equal(file["x"], final(plan, 0)[0][0])


def test_a_sweep_is_a_line_whatever_the_number_of_states(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    plan = Plan(model="potts:4x4,q=10", chains=1, lanes=(sampler("gibbs"),))
    exec(code.script(plan, 2, states=10), {})
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(",")[0] for line in lines] == ["gibbs: sweep 1", "gibbs: sweep 2"]
    shares = final(plan, 2)[0][1].shares[-1].mean(0)
    assert json.loads(lines[-1].partition("shares of states ")[2]) == shares.tolist()


def test_the_command_writes_the_same_samples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = PLAN.replace(field=())
    (tmp_path / "clamped.evid").write_bytes(code.evidence_file(plan))
    words = shlex.split(code.command(plan, 0, 20))
    assert words[:3] == ["python", "-m", "pmpviz"]
    assert main(words[3:]) == 0
    with np.load(tmp_path / "samples.npz") as file:
        np.testing.assert_array_equal(file["x"], final(plan, 20)[0][0])


def test_the_command_names_every_knob():
    text = code.command(PLAIN.replace(lanes=PLAN.lanes), PLAN.lanes[0], 50)
    assert text == (
        "python -m pmpviz sample complete:6 --algorithm pmp --sweeps 50 --chains 16 --seed 2147483647 "
        "--damping 0.25 --sweeps-per-draw 64 --messages zero --beta 0.3333333333333333 --start random --out samples.npz"
    )


def test_limits_say_what_the_command_needs():
    assert code.command_limits(PLAIN) == []
    assert len(code.command_limits(PLAN.replace(model="file:" + "a" * 64))) == 3


def test_the_evidence_file_is_in_uai_grammar():
    assert code.evidence_file(PLAN) == b"2 0 1 19 0\n"
    assert code.evidence_file(PLAIN) == b"0\n"


def test_every_script_is_python():
    for plan in (PLAN, PLAIN, PLAN.replace(model="file:" + "a" * 64)):
        compile(code.script(plan, 50), "script", "exec")
