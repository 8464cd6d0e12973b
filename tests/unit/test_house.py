"""The house as its guide draws it is the house that is there."""

import re

import pytest

from tests.contract.imports import BESIDE, FLOORS, ROOT

GUIDE = (ROOT / "pmpviz" / "README.md").read_text(encoding="utf-8")
JOURNEY = re.findall(r"^\| `([\w/.]+\.(?:py|js))` \| (.*) \|$", GUIDE, re.M)


def drawn(text: str) -> list[frozenset[str]]:
    """The rooms of each floor of the picture: what stands before two spaces and the floor's words."""
    lines = re.search(r"```\n(types.*?)```", text, re.S)[1].splitlines()
    return [frozenset(re.split(r" {2,}", line[:40].strip())) for line in lines]


def test_the_picture_has_the_floors_that_the_imports_are_held_to():
    assert drawn(GUIDE) == list(FLOORS)
    assert drawn(GUIDE.replace("marginals  samplers", "marginals          ")) != list(FLOORS)
    for room in BESIDE:
        assert f"`{room}`" in GUIDE


def test_every_room_is_in_the_picture():
    there = {path.stem if path.suffix == ".py" else path.name for path in (ROOT / "pmpviz").iterdir()}
    rooms = frozenset().union(*FLOORS) | BESIDE
    assert {name for name in there if not name.startswith(("_", ".")) and name not in ("pyproject", "README")} - {
        "pyproject.toml",
        "README.md",
    } <= rooms


def test_a_slice_has_a_line_and_a_line_has_a_slice():
    line = next(line for line in GUIDE.splitlines() if line.startswith("capabilities "))
    folders = {path.parent.name for path in (ROOT / "pmpviz/capabilities").glob("*/__init__.py")}
    assert set(line[40:].split()) == folders


@pytest.mark.parametrize(("file", "words"), JOURNEY)
def test_the_journey_of_a_slider_passes_here(file, words):
    name = re.findall(r"`(\w+)`", words)[0]
    assert re.search(rf"\b{name}\b", (ROOT / "pmpviz" / file).read_text(encoding="utf-8"))


def test_the_journey_is_short():
    assert 15 <= len(JOURNEY) <= 20


def test_what_the_guide_points_at_is_there():
    for path in re.findall(r"`(tests/[\w/]+\.py)`", GUIDE):
        assert (ROOT / path).is_file()
    assert (ROOT / "pmpviz" / "samplers" / "README.md").is_file()


def test_every_displayed_equation_has_its_fences_on_lines_of_their_own():
    """Between fences on the lines of what they hold the first line is lost, and one that begins with + is a list."""
    pages = {path: path.read_text(encoding="utf-8") for path in (ROOT / "pmpviz").rglob("*.py")}
    fenced = {path: [line for line in text.splitlines() if "$$" in line] for path, text in pages.items()}
    assert sum(map(len, fenced.values())) > 20
    assert not {
        str(path): line
        for path, lines in fenced.items()
        for line in lines
        if line.strip() != "$$" and line.count("$$") % 2
    }
