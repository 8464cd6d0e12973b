"""The benchmark: what it measures is filled in, and a checkout that cannot be used is refused in one sentence."""

from __future__ import annotations

import dataclasses
import json

import pytest

from pmpviz.experiments import bandwidth, bench
from pmpviz.experiments.reference import Reference
from pmpviz.experiments.workloads import WORKLOADS, ReferenceJob, choose
from pmpviz.models import build_spec
from pmpviz.samplers import make_sampler, sampler_class
from pmpviz.tiles import tile_of
from pmpviz.types import InputError, Target

SAMPLING = """
import jax
from jax import numpy as jnp
from jax.experimental import optimizers

CALLS = []

def sample(W, b, n_samples, n_steps, sampling_alg, rng):
    assert W.shape == (len(b), len(b)) and b.shape[1] == 1 and (W == W.T).all()
    assert optimizers.adam and jax.ops.index[3] == 3
    return jnp.zeros((n_samples, len(b))), None
"""


def _checkout(folder, sampling: str = SAMPLING):
    (folder / "pmap").mkdir()
    (folder / "pmap" / "__init__.py").write_text("")
    (folder / "pmap" / "ising_modeling.py").write_text(sampling)
    (folder / "pmap" / "rbm_modeling.py").write_text(
        "def sample(weight, visible_bias, hidden_bias, chains, steps, kind, key):\n    return weight[0]\n"
    )
    (folder / "pmap" / "conv_or_modeling.py").write_text("")
    (folder / "pmap" / "mmd.py").write_text(
        "from scipy.special import logsumexp\n\ndef logMMD(x, y):\n    return 0.0\n"
    )
    return str(folder)


def _small(name: str):
    workload = next(w for w in WORKLOADS if w.name == name)
    return dataclasses.replace(workload, chains=2, sweeps=2, reference=ReferenceJob("pmap", 2, 1))


def test_names_are_unique_and_models_and_samplers_exist():
    assert len({w.name for w in WORKLOADS}) == len(WORKLOADS)
    for workload in WORKLOADS:
        assert (workload.algorithm is None) == (workload.call is not None)
        if workload.algorithm is not None:
            assert workload.sampler().spec.why_not(workload.target()) is None
        assert workload.bytes_touched() > 0


def test_bytes_of_a_lattice_sweep():
    """25 x 25 torus: 1,250 edges, 2,500 messages read and written, 625 unaries, weights shared by a tile."""
    workload = next(w for w in WORKLOADS if w.name == "pmp-lattice-25")
    tile = tile_of(make_sampler("pmp"), Target.of(build_spec("square:25x25")))
    assert workload.bytes_touched() == 2500 * 8 + 625 * 4 + 1250 * 4 / tile


def test_a_row_is_filled_in_beside_a_reference(tmp_path):
    with Reference(_checkout(tmp_path)) as reference:
        row = bench.measure(_small("pmp-erdos-200"), 1e9, reference)
    low, high = row.ratio_range
    assert 0 < low <= row.ratio <= high and row.reference_microseconds > 0
    assert row.microseconds_range[0] <= row.microseconds <= row.microseconds_range[1]
    assert row.compile_seconds > 0 and row.temp_bytes > 0
    # A tile's state: messages, perturbation and decoded draw at least.
    target = _small("pmp-erdos-200").target()
    assert row.state_bytes > 4 * target.n * sampler_class("pmp").spec.tile(target.model)
    assert row.bandwidth_share == pytest.approx(row.bytes_touched / row.microseconds * 1e6 / 1e9)
    wide = dataclasses.replace(row, name="a-name-of-thirty-one-characters", temp_bytes=1_310_000_000)
    header, *lines = bench.table([row, wide]).splitlines()
    assert lines[0].startswith(row.name) and " 1.31 GB " in lines[1]
    assert {len(line) for line in lines} == {len(lines[0])} and header.find("temp") + 2 == lines[1].find("GB")
    assert json.loads(json.dumps(dataclasses.asdict(row)))["ratio"] == row.ratio


def test_an_rbm_is_timed_beside_a_reference(tmp_path):
    workload = next(w for w in WORKLOADS if w.name == "gibbs-rbm")
    small = dataclasses.replace(
        workload, spec="rbm:3x3x2,pattern=random", chains=2, sweeps=2, reference=ReferenceJob("rbm-gibbs", 2, 1)
    )
    with Reference(_checkout(tmp_path)) as reference:
        row = bench.measure(small, 1e9, reference)
    assert row.ratio > 0 and row.bytes_touched == 8.0 * 18 / 64 + 2.0 * 11


def test_without_a_reference_there_is_no_ratio():
    row = bench.measure(next(w for w in WORKLOADS if w.name == "kaufman-64"), 1e9)
    assert row.ratio is None and row.microseconds > 0 and row.temp_bytes is None


def test_json_is_one_object(capsys):
    assert bench.main(["kaufman-64"], None, True) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in answer["workloads"]] == ["kaufman-64"]
    assert answer["bytes_a_second"] > 0 and answer["machine"]


def test_text_names_the_machine_and_the_workload(capsys):
    assert bench.main(["kaufman-64"], None, False) == 0
    text = capsys.readouterr().out
    assert "kaufman-64" in text and "GB/s" in text


def test_one_core_gives_back_the_others():
    import os

    if not hasattr(os, "sched_getaffinity"):
        with bandwidth.one_core() as can:
            assert not can
        return
    before = os.sched_getaffinity(0)
    with bandwidth.one_core() as can:
        assert can and len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize(
    ("sampling", "reason"),
    [("import no_such_module_anywhere\n", "ModuleNotFoundError"), ("raise SystemExit(3)\n", "ended with code 3")],
)
def test_a_checkout_that_does_not_run_is_refused(tmp_path, sampling, reason):
    with pytest.raises(InputError, match=reason) as error, Reference(_checkout(tmp_path, sampling)):
        pass
    assert "\n" not in str(error.value)


def test_a_folder_without_the_code_is_refused(tmp_path):
    with pytest.raises(InputError, match="give the folder of a checkout"):
        bench.main(["kaufman-64"], str(tmp_path / "nowhere"), True)


def test_an_unknown_workload_is_refused():
    with pytest.raises(InputError, match="choose from pmp-lattice-25"):
        choose(["pmp-lattice-26"])
