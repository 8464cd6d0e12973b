"""What is watched follows from its settings alone: `Settings` is their table, `Choice` an algorithm with its knobs.

A capability's plan is one class, whose fields are `Param`s (`setting`) and `Special`s; links, JSON and the words of a
change follow from them.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pmpviz.live.lane_names import lane_names, told
from pmpviz.live.link import lane_text, read_checked, read_named
from pmpviz.models import build_spec
from pmpviz.types import InputError, Param, configured

VERSION = 1
ROW = "row"

BETA = Param(
    "beta",
    "Inverse temperature β",
    0.0,
    20.0,
    1.0,
    help="Multiplies the potentials: log p = β · log_weight − log Z. PMP's perturbations are never multiplied.",
)
TEMPERATURE = Param("T", "Temperature T", 0.05, 100.0, 1.0, help="T = 1/β: hot is disorder, cold is order.")
DRAGGED = Param("T", "Temperature T", 0.1, 10.0, 1.0, "log", TEMPERATURE.help)
SEED = Param("seed", "Seed", 0, 2**31 - 1, 0, scale="int", help="Of the run's random numbers; the model has its own.")
CHAINS = Param("chains", "Chains", 1, 4096, 64, scale="int", help="Independent copies; statistics are over them.")


def resolve_model(text: str, files: Callable[[str], Any] | None = None) -> Any:
    """The model that `text` names, a builder's spec or `file:HASH` looked up with `files`; raises InputError."""
    if text.startswith("file:"):
        if files is None:
            raise InputError("this plan names an uploaded model file; bring the file")
        return files(text[len("file:") :])
    return _built(text)


# From a small cache: a class runs one model in many sessions.
_built = functools.lru_cache(maxsize=8)(build_spec)


# Algorithms.


@dataclass(frozen=True, eq=False)
class Catalogue:
    """The algorithms that a lane chooses from; `word` is what one of them is called. Called, it makes a `Choice`."""

    classes: Sequence[Any]
    class_of: Callable[[str], Any]
    word: str = "algorithm"

    def __call__(self, algorithm: str, **knobs: Any) -> Choice:
        return Choice(algorithm, tuple(knobs.items()), self)

    def __repr__(self) -> str:
        return f"<{self.word}s>"


@dataclass(frozen=True)
class Choice:
    """One algorithm of a catalogue and its knobs by name; knobs left out have their defaults."""

    algorithm: str
    knobs: tuple[tuple[str, Any], ...]
    catalogue: Catalogue

    @functools.cached_property
    def spec(self) -> Any:
        """What the algorithm says of itself; raises InputError where there is none of this name."""
        return self.catalogue.class_of(self.algorithm).spec

    def build(self) -> Any:
        """The algorithm with these knobs; raises InputError."""
        return configured(self.catalogue.class_of(self.algorithm), dict(self.knobs))

    @property
    def full_knobs(self) -> dict[str, Any]:
        """Every knob of the algorithm with its value."""
        given = dict(self.knobs)
        return {p.name: given.get(p.name, p.default) for p in self.spec.params}

    def with_knobs(self, values: dict[str, Any]) -> Choice:
        """The same algorithm with these values, as few of them told as are not by default; itself where all are as
        they were."""
        if values == self.full_knobs:
            return self
        told = {p.name: values[p.name] for p in self.spec.params if values[p.name] != p.default}
        return self.catalogue(self.algorithm, **told)

    @property
    def label(self) -> str:
        """The algorithm's label, with what is chosen otherwise than by default."""
        known = {p.name: p for p in self.spec.params if p.scale in ("choice", "bool")}
        words = [told(known[k], v) for k, v in self.knobs if k in known and v != known[k].default]
        return ", ".join([self.spec.label, *words])


# The table.


class Special:
    """Fields of a plan that are no `Param`: how they stand in links and in JSON. One may be of several fields.

    `keys` are the names that they take in a link. In JSON they stand as in links, unless a subclass says otherwise.
    """

    keys: tuple[str, ...] = ()

    def field(self, default: Any) -> Any:
        """A field of a `Settings` class that travels so."""
        return dataclasses.field(default=default, metadata={ROW: self})

    def write(self, plan: Any) -> dict[str, str]:
        """What a link says of these fields."""
        raise NotImplementedError

    def read(self, plan: Any, given: dict[str, str], notices: list[str]) -> Any:
        """The plan with these fields as a link has them, its faults added to the notices; never raises."""
        raise NotImplementedError

    def plain(self, plan: Any) -> dict[str, Any]:
        """Plain values of these fields, ready for JSON."""
        return dict(self.write(plan))

    def of_plain(self, plan: Any, plain: dict[str, Any]) -> Any:
        """The plan with these fields from plain values; raises InputError."""
        notices: list[str] = []
        plan = self.read(plan, {key: str(plain[key]) for key in self.keys if key in plain}, notices)
        if notices:
            raise InputError(notices[0])
        return plan


class Text(Special):
    """A field of text, such as a model or data, that `check` raises InputError for; `what` it is, with its verb."""

    def __init__(self, name: str, what: str, check: Callable[[str], Any]):
        self.keys, self.what, self.check = (name,), what, check

    def write(self, plan: Any) -> dict[str, str]:
        """The text itself."""
        return {name: getattr(plan, name) for name in self.keys}

    def read(self, plan: Any, given: dict[str, str], notices: list[str]) -> Any:
        """What is not in the link is checked, too: a file of the default may have gone."""
        (name,) = self.keys
        now = getattr(plan, name)
        return plan.replace(**{name: read_checked(self.what, given.get(name, now), now, self.check, notices)})


class Lanes(Special):
    """The field `lanes`: one to `most` choices of a catalogue, `lane1`, `lane2`, ... in links."""

    def __init__(self, catalogue: Catalogue, most: int):
        self.catalogue, self.most = catalogue, most
        self.keys = tuple(f"lane{i + 1}" for i in range(most))

    def write(self, plan: Any) -> dict[str, str]:
        """`lane1` = `pmp;damping=0.5`, ..."""
        lanes = zip(self.keys, plan.lanes, strict=False)
        return {name: lane_text(lane.algorithm, lane.knobs) for name, lane in lanes}

    def read(self, plan: Any, given: dict[str, str], notices: list[str]) -> Any:
        """Lanes that can be read, in their order over gaps; those of the plan where there is none."""
        class_of = self.catalogue.class_of
        found = [read_named(given[name], name, class_of, notices) for name in self.keys if name in given]
        lanes = tuple(Choice(*lane, self.catalogue) for lane in found if lane is not None)
        return plan.replace(lanes=lanes) if lanes else plan

    def plain(self, plan: Any) -> dict[str, Any]:
        """A list of an algorithm with all its knobs each."""
        return {"lanes": [{self.catalogue.word: lane.algorithm, "knobs": lane.full_knobs} for lane in plan.lanes]}

    def of_plain(self, plan: Any, plain: dict[str, Any]) -> Any:
        """The inverse of `plain`; raises InputError."""
        lanes = tuple(map(self._lane, items(plain, "lanes", self.most)))
        return plan.replace(lanes=lanes) if lanes else plan

    def _lane(self, item: Any) -> Choice:
        word = self.catalogue.word
        if not isinstance(item, dict) or not isinstance(item.get("knobs", {}), dict):
            raise InputError(f'a lane of a plan is {{"{word}": name, "knobs": {{...}}}}')
        knobs = tuple((str(k), v) for k, v in item.get("knobs", {}).items())
        lane = Choice(str(item.get(word)), knobs, self.catalogue)
        lane.build()
        return lane


def items(plain: dict[str, Any], name: str, most: int) -> list[Any]:
    """The list under `name`, empty where there is none; raises InputError where it is no list or too long."""
    found = plain.get(name, [])
    if not isinstance(found, (list, tuple)) or len(found) > most:
        raise InputError(f"{name} of a plan is a list of at most {most} entries")
    return list(found)


def setting(param: Param, default: Any = None) -> Any:
    """A field of a `Settings` class that is this knob, of the same name; its default may be another one."""
    return dataclasses.field(default=param.default if default is None else default, metadata={ROW: param})


def knob(
    label: str, low: float, high: float, default: Any, scale: str = "linear", help: str = "", unit: str = ""
) -> Any:
    """A field of a `Settings` class that is a `Param` of its name."""
    return setting(Param("", label, low, high, default, scale, help, unit))


def choice(label: str, choices: Sequence[str], help: str, default: str = "", advanced: bool = False) -> Any:
    """A field of a `Settings` class that is one of a few words, the first of them by default."""
    default = default or choices[0]
    return setting(Param("", label, 0, 0, default, "choice", help, "", tuple(choices), advanced))


@dataclass(frozen=True)
class Alias:
    """Another name of a knob in links; with `inverse`, a knob of which this one is the inverse (T of beta)."""

    name: str
    inverse: Param | None = None


@dataclass(frozen=True)
class Settings:
    """A plan: every setting from which what is watched follows; a subclass's fields are its table.

    `ANEW` names the fields whose change cannot be taken up in mid-run, `TOLD` those whose change is told, with the
    word for a knob and the whole sentence for anything else.
    """

    ANEW: ClassVar[tuple[str, ...]] = ()
    TOLD: ClassVar[dict[str, str]] = {}
    ALIASES: ClassVar[dict[str, Alias]] = {}

    @classmethod
    def rows(cls) -> dict[str, Param | Special]:
        """The table, in the order of the fields; what is of several fields stands at the first."""
        return _rows(cls)

    @classmethod
    def params(cls) -> dict[str, Param]:
        """The knobs among the fields."""
        return {name: row for name, row in cls.rows().items() if isinstance(row, Param)}

    @classmethod
    def specials(cls) -> list[Special]:
        """What else there is among the fields."""
        return [row for row in cls.rows().values() if isinstance(row, Special)]

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """Every name that a link may give."""
        aliases = (alias.name for alias in cls.ALIASES.values())
        return (*cls.params(), *aliases, *(key for special in cls.specials() for key in special.keys))

    def replace(self, **changes: Any) -> Self:
        """The same plan with some settings changed."""
        return dataclasses.replace(self, **changes)

    def mended(self, default: Any) -> tuple[Self, list[str]]:
        """(the plan with what does not fit together mended, notices); `default` is what may be fallen back on."""
        return self, []

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        plain: dict[str, Any] = {"version": VERSION}
        for name, row in self.rows().items():
            plain |= {name: getattr(self, name)} if isinstance(row, Param) else row.plain(self)
        return plain

    @classmethod
    def from_dict(cls, plain: Any) -> Self:
        """Plan from plain values; anything out of range raises InputError."""
        if not isinstance(plain, dict) or plain.get("version") != VERSION:
            raise InputError(f"this plan is not of version {VERSION}; export it again")
        plan = cls(**{name: p.parse(plain[name]) for name, p in cls.params().items() if name in plain})
        for special in cls.specials():
            plan = special.of_plain(plan, plain)
        return plan


@functools.cache
def _rows(cls: type[Settings]) -> dict[str, Param | Special]:
    rows: dict[str, Param | Special] = {}
    for field in dataclasses.fields(cls):
        row = field.metadata.get(ROW)
        if isinstance(row, Param):
            row = dataclasses.replace(row, name=field.name)
        if row is not None and row not in rows.values():
            rows[field.name] = row
    return rows


# Changes.


def begins_anew(old: Any, new: Any) -> bool:
    """Whether what the old plan has begun cannot go on under the new one: another shape, start, seed or algorithm."""
    if any(getattr(old, name) != getattr(new, name) for name in new.ANEW):
        return True
    return [lane.algorithm for lane in old.lanes] != [lane.algorithm for lane in new.lanes]


def describe_change(old: Any, new: Any) -> str:
    """What changed between two plans of the same shape, in words; empty where nothing that is told did."""
    changed = {name: word for name, word in new.TOLD.items() if getattr(old, name) != getattr(new, name)}
    knobs, params = [], new.params()
    for name, word in changed.items():
        values = getattr(old, name), getattr(new, name)
        if name == BETA.name:  # As the slider beside the picture has it.
            word, values = DRAGGED.name, tuple(_digits(1 / beta) if beta else "∞" for beta in values)
        if name in params:
            knobs.append(_arrow(word, *values))
    for i, (a, b) in enumerate(zip(old.lanes, new.lanes, strict=False)):
        before, lane = a.full_knobs, f"lane {i + 1}: " if len(new.lanes) > 1 else ""
        for name, value in b.full_knobs.items():
            if before[name] != value:
                knobs.append(_arrow(lane + name.replace("_", " "), before[name], value))
    names = lane_names(new.lanes)[len(old.lanes) :] + lane_names(old.lanes)[len(new.lanes) :]
    lanes = [f"{name} {'added' if len(new.lanes) > len(old.lanes) else 'removed'}" for name in names]
    return ", ".join([*knobs, *(word for name, word in changed.items() if name not in params), *lanes])


def merged_words(first: str, then: str) -> str | None:
    """The words of two changes of the same things as one, empty where the second undoes the first; None of others.

    `β 1 → 0.9` and `β 0.9 → 0.5` are `β 1 → 0.5`.
    """
    before, after = before_and_after(first), before_and_after(then)
    if list(before) != list(after):
        return None
    told = {name: (before[name][0], after[name][1]) for name in before}
    return ", ".join(_one_change(name, *told[name]) for name in told if not told[name][0] or len(set(told[name])) > 1)


def all_merged(changes: Sequence[str]) -> str:
    """The words of many changes, one after another, as one."""
    told: dict[str, tuple[str, str]] = {}
    for words in changes:
        for name, (before, after) in before_and_after(words).items():
            told[name] = (told.get(name, (before,))[0], after)
    return ", ".join(_one_change(name, *pair) for name, pair in told.items() if not pair[0] or len(set(pair)) > 1)


def present(words: str) -> str:
    """The words of one change without what was before it: `T 1 → 2` is `T 2`."""
    [(name, (_, now))] = before_and_after(words).items()
    return f"{name} {now}" if now else name


def before_and_after(words: str) -> dict[str, tuple[str, str]]:
    """What changed, by its name, with its values before and after; two empty ones where it has none."""
    found = (re.fullmatch(r"(.*) (\S+) → (\S+)", part) or part for part in words.split(", "))
    return dict((part, ("", "")) if isinstance(part, str) else (part[1], (part[2], part[3])) for part in found)


def _one_change(name: str, before: str, after: str) -> str:
    return f"{name} {before} → {after}" if before else name


def _digits(value: float) -> str:
    return f"{value:.3g}"


def _arrow(word: str, before: Any, now: Any) -> str:
    texts = [value if isinstance(value, str) else f"{value:g}" for value in (before, now)]
    return f"{word} {texts[0]} → {texts[1]}"


# Presets.


@dataclass(frozen=True)
class Preset:
    """A named plan of a page, the question that it answers, and what to `notice` in it, in Markdown.

    `speed` is in sweeps, iterations or steps a second (0: as fast as it goes); None leaves it to the page, as an empty
    `layer` does what is laid over the picture. A `lead` says in a line what is seen and what a hand can do, where the
    page's own does not.
    """

    id: str
    label: str
    question: str
    plan: Any
    notice: str
    speed: float | None = None
    layer: str = ""
    lead: str = ""
