"""Where compiled programs are kept."""

import jax
import pytest

from pmpviz.io.files import cache_folder
from pmpviz.runs import device


@pytest.fixture
def kept():
    """JAX's folder as it is; it is set back afterwards."""
    names = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
    before = {name: getattr(jax.config, name) for name in names}
    yield before["jax_compilation_cache_dir"]
    for name, value in before.items():
        jax.config.update(name, value)


def test_a_folder_that_jax_was_given_is_kept(kept, tmp_path, monkeypatch):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "given"))
    monkeypatch.setenv("PMPVIZ_CACHE", str(tmp_path / "own"))
    device.prepare()
    assert jax.config.jax_compilation_cache_dir == kept and not (tmp_path / "own").exists()


def test_without_one_programs_go_to_the_cache(kept, tmp_path, monkeypatch):
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    monkeypatch.setenv("PMPVIZ_CACHE", str(tmp_path / "own"))
    device.prepare()
    folder = cache_folder() / "programs"
    assert folder.is_dir() and folder.is_relative_to(tmp_path) and jax.config.jax_compilation_cache_dir == str(folder)


def test_a_cache_that_cannot_be_written_is_gone_without(kept, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    monkeypatch.setenv("PMPVIZ_CACHE", str(tmp_path / "file"))
    device.prepare()
    assert jax.config.jax_compilation_cache_dir == kept
