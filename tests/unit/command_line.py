"""Commands called in this process, and what each must leave on the two outputs."""

from __future__ import annotations

import contextlib
import io
import json

import pytest

from pmpviz.__main__ import main
from pmpviz.io import save_model

LONGEST = 300
SMALL = "square:3x4,J=0.4,h=0.2,periodic=false"


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, cache, monkeypatch):
    monkeypatch.setenv("PMPVIZ_CACHE", str(cache))
    monkeypatch.chdir(tmp_path)


def call(*argv) -> tuple[int, str, str]:
    """(exit code, standard output, standard error) of a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in argv])
    return code, out.getvalue(), err.getvalue()


def found(*argv) -> dict:
    """What a command with --json prints: one object on one line, and nothing else."""
    code, out, err = call(*argv, "--json")
    assert (code, err) == (0, "") and out.count("\n") == 1
    result = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert isinstance(result, dict)
    return result


def refused(*argv) -> str:
    """The one line that a command with bad input leaves."""
    code, out, err = call(*argv)
    assert (code, out) == (2, ""), (argv, code, out, err)
    assert err.startswith("pmpviz: ") and err.endswith("\n") and err.count("\n") == 1, err
    assert len(err) <= LONGEST + 1 and err[:-1].isprintable() and len(err.splitlines()) == 1
    return err


def write(model, name: str) -> str:
    save_model(name, model)
    return name
