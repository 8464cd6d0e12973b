"""What is watched: one slice a capability, with everything of it in one folder. Slices do not import each other.

`PAGES` names the pages in the order of the navigation: a page is one folder, one file in `pages/`, one line here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules


@dataclass(frozen=True)
class Capability:
    """A page: the name of its file in `pages/` and of its address, its title, its icon, the slice that it opens.

    `presets` names the slice's tuple of presets that Home shows for this page, none where it is empty; `row` is the
    place of its pictures on Home, counted from above. `ready` names a preset of the slice whose programs are compiled
    (see the slice's `live.compile_ahead`) before the server opens.
    """

    id: str
    title: str
    icon: str
    slice: str
    presets: str = ""
    row: int = 100
    ready: str = ""


PAGES = (
    Capability("home", "Home", ":material/home:", "home", ready="HOME"),
    Capability("playground", "Playground", ":material/grid_on:", "sampling", "PLAYGROUND", row=8),
    Capability("race", "Race", ":material/flag:", "sampling", "RACE", row=7),
    Capability("messages", "Messages", ":material/hub:", "messages", "MESSAGES", row=5),
    Capability("learning", "Learning", ":material/school:", "learning", "LEARNING", row=6),
    Capability("deconvolution", "Deconvolution", ":material/extension:", "deconvolution", "DECONVOLUTION", row=1),
    Capability("frank_wolfe", "Frank-Wolfe", ":material/conversion_path:", "marginals", "INFERENCE", row=2),
    Capability("perturbation_lab", "Perturbation lab", ":material/blur_on:", "perturbation", "PERTURBATION", row=3),
    Capability("landscape", "Landscape", ":material/landscape:", "landscape", "LANDSCAPE", row=4),
    Capability("text", "Text", ":material/article:", "text", "TEXT", row=9),
    Capability("segmentation", "Segmentation", ":material/pets:", "segmentation", "SEGMENTATION", row=10),
)


@cache
def modules() -> tuple[str, ...]:
    """Every module of every slice: what the pages are drawn by."""
    slices = dict.fromkeys(f"{__name__}.{page.slice}" for page in PAGES)
    return tuple(f"{slice}.{each.name}" for slice in slices for each in iter_modules(import_module(slice).__path__))


def shown_on_home() -> Iterator[tuple[str, str, tuple]]:
    """(title, id, presets) of the pages that Home shows pictures of, from above."""
    for page in sorted(PAGES, key=lambda page: page.row):
        if page.presets:
            yield page.title, page.id, getattr(import_module(f"{__name__}.{page.slice}.presets"), page.presets)


def make_ready() -> None:
    """Import everything, and compile what the first pages run: a visitor's own race finds it compiled."""
    from pmpviz.app.session import prepare

    prepare(modules())
    for page in PAGES:
        if page.ready:
            preset = getattr(import_module(f"{__name__}.{page.slice}.presets"), page.ready)
            import_module(f"{__name__}.{page.slice}.live").compile_ahead(preset.plan)
