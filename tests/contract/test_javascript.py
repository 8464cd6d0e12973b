"""The browser's modules know as little of each other as the rooms of the program do."""

import pytest

from tests.contract.imports import ROOT
from tests.contract.javascript import components, imported, modules, problems

TOML = '[[tool.streamlit.component.components]]\nname = "player"\nasset_dir = "player/js"\n'


def test_modules_stand_on_the_player_alone():
    assert problems() == []
    assert sum(len(list(imported(module))) for module in modules()) >= 70


def test_every_component_has_its_module_and_its_sheet():
    for name, folder in components().items():
        for ending in ("js", "css"):
            assert (ROOT / "pmpviz" / folder / f"{name}.{ending}").is_file()


@pytest.mark.parametrize(
    ("path", "code", "reason"),
    [
        ("player/js/b.js", 'import { a } from "./a.js";', "a circle of imports"),
        ("player/js/c.js", 'import "./lost.js";', "no file of ours"),
        ("player/js/d.js", 'import * as e from "https://somewhere/e.js";', "no file of ours"),
        ("capabilities/x/js/e.js", 'export { y } from "../pmpviz.y/y.js";', "another capability"),
    ],
)
def test_a_planted_import_is_found(tmp_path, path, code, reason):
    files = {
        "pyproject.toml": TOML + TOML.replace("player/js", "capabilities/y/js").replace('"player"', '"y"'),
        "player/js/a.js": 'import { b } from "./b.js";\nexport const a = b;' if path.endswith("/b.js") else "",
        "capabilities/y/js/y.js": "export const y = 1;",
        "capabilities/x/js/fine.js": 'import { a } from "../pmpviz.player/a.js";\n// import "./nowhere.js"',
        path: code,
    }
    for name, text in files.items():
        (tmp_path / "pmpviz" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pmpviz" / name).write_text(text)
    found = problems(tmp_path)
    assert found and all(reason in line for line in found)
