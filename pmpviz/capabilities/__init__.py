"""What is watched: one slice a capability, with everything of it in one folder. Slices do not import each other.

`PAGES` names the pages in the order of the navigation; a page is one folder, one file in `pages/`, one line here.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules


@dataclass(frozen=True)
class PageEntry:
    """A page: the name of its file in `pages/` and of its address, its title, its icon, the slice that it opens.

    `presets` names the slice's tuple of presets that Home shows for this page; none where it is empty.
    """

    id: str
    title: str
    icon: str
    slice: str
    presets: str = ""


PAGES = (
    PageEntry("home", "Home", ":material/home:", "sampling"),
    PageEntry("playground", "Playground", ":material/grid_on:", "sampling", "PLAYGROUND"),
    PageEntry("race", "Race", ":material/flag:", "sampling", "RACE"),
    PageEntry("messages", "Messages", ":material/hub:", "messages", "MESSAGES"),
    PageEntry("learning", "Learning", ":material/school:", "learning", "LEARNING"),
    PageEntry("deconvolution", "Deconvolution", ":material/extension:", "deconvolution", "DECONVOLUTION"),
    PageEntry("frank_wolfe", "Frank-Wolfe", ":material/conversion_path:", "marginals", "INFERENCE"),
    PageEntry("perturbation_lab", "Perturbation lab", ":material/blur_on:", "perturbation", "PERTURBATION"),
)
# In the order in which Home shows them.
GALLERY = ("deconvolution", "frank_wolfe", "perturbation_lab", "messages", "learning", "race", "playground")


def modules() -> tuple[str, ...]:
    """Every module of every slice: what the pages are drawn by."""
    folders = {f"{__name__}.{page.slice}": Path(__file__).parent / page.slice for page in PAGES}
    return tuple(f"{slice}.{module.name}" for slice, at in folders.items() for module in iter_modules([str(at)]))


def presets_of(id: str) -> tuple:
    """The presets of a page."""
    page = next(page for page in PAGES if page.id == id)
    return getattr(import_module(f"{__name__}.{page.slice}.presets"), page.presets) if page.presets else ()


def make_ready() -> None:
    """Import everything, and compile what Home's race runs: a visitor's own race finds it compiled."""
    from pmpviz.app.session import prepare
    from pmpviz.capabilities.sampling.live import compile_ahead
    from pmpviz.capabilities.sampling.presets import HOME

    prepare(modules())
    compile_ahead(HOME.plan)
