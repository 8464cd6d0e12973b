"""A plan: every setting from which a run or a race follows bit for bit. Links, manifests and scripts carry one."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import jax

from pmpviz.live.plan import BETA, CHAINS, SEED
from pmpviz.runs import run as running
from pmpviz.runs.plan import STARTS, start_configuration, with_field
from pmpviz.samplers import make_sampler, sampler_class
from pmpviz.types import Evidence, InputError, Param, Target

VERSION = 1
UNITS = ("sweeps", "seconds", "updates")
STOPS = ("budget", "residual", "mmd", "rhat")
MAX_LANES = 4

START = Param("start", "Start", 0, 0, "random", scale="choice", choices=STARTS, help="Configuration at sweep 0.")
UNIT = Param("unit", "Budget in", 0, 0, "sweeps", scale="choice", choices=UNITS, help="What the lanes may each use.")
BUDGET = Param(
    "budget", "Budget", 0.0, 1e9, 0.0, help="Each lane stops when it has used this much; 0 goes on until paused."
)
STOP = Param(
    "stop",
    "Stop when",
    0,
    0,
    "budget",
    scale="choice",
    choices=STOPS,
    help="budget: only then. residual: all messages settled. mmd: MMD² at or below the threshold. "
    "rhat: R-hat of the energy at or below it.",
)
THRESHOLD = Param("threshold", "Threshold", 0.0, 10.0, 1e-3, help="Of the stop condition.")
SETTINGS = (BETA, CHAINS, SEED, START, UNIT, BUDGET, STOP, THRESHOLD)


@dataclass(frozen=True)
class LanePlan:
    """One algorithm and its knobs by name; knobs left out have their defaults."""

    algorithm: str
    knobs: tuple[tuple[str, Any], ...] = ()

    def build(self):
        """The algorithm with these knobs; raises InputError."""
        return make_sampler(self.algorithm, **dict(self.knobs))

    @property
    def full_knobs(self) -> dict[str, Any]:
        """Every knob of the algorithm with its value."""
        given = dict(self.knobs)
        return {p.name: given.get(p.name, p.default) for p in sampler_class(self.algorithm).spec.params}


@dataclass(frozen=True)
class Plan:
    """Model (a builder's spec, or `file:` and a content hash), settings, lanes and sparse edits.

    `field` holds (site, h) in spin units, added to the model's own; `clamp` holds (site, value).
    """

    model: str = "square:64x64"
    beta: float = 1.0
    chains: int = 64
    seed: int = 0
    start: str = "random"
    unit: str = "sweeps"
    budget: float = 0.0
    stop: str = "budget"
    threshold: float = 1e-3
    lanes: tuple[LanePlan, ...] = (LanePlan("pmp"),)
    field: tuple[tuple[int, float], ...] = ()
    clamp: tuple[tuple[int, int], ...] = ()

    def replace(self, **changes) -> Plan:
        """The same plan with some settings changed."""
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        plain = dataclasses.asdict(self)
        plain["lanes"] = [{"algorithm": lane.algorithm, "knobs": lane.full_knobs} for lane in self.lanes]
        return {"version": VERSION, **plain}

    @classmethod
    def from_dict(cls, plain: Any) -> Plan:
        """Plan from plain values; anything out of range raises InputError."""
        if not isinstance(plain, dict) or plain.get("version") != VERSION:
            raise InputError(f"this plan is not of version {VERSION}; export it again")
        values = {p.name: p.parse(plain[p.name]) for p in SETTINGS if p.name in plain}
        lanes = tuple(_lane(item) for item in _items(plain, "lanes", MAX_LANES)) or cls.lanes
        return cls(
            model=str(plain.get("model", cls.model)),
            lanes=lanes,
            field=tuple((int(_number(i)), _number(h)) for i, h in _pairs(plain, "field")),
            clamp=tuple((int(_number(i)), int(_number(v))) for i, v in _pairs(plain, "clamp")),
            **values,
        )

    def target(self, model: Any) -> Target:
        """The target on `model` (as resolved from `self.model`), with the painted field and the clamped sites."""
        return Target.of(with_field(model, self.field), Evidence.of(model.n, dict(self.clamp)), self.beta)

    def begin(self, model: Any) -> list[running.Run]:
        """One run a lane, all from the same start."""
        target, key = self.target(model), jax.random.key(self.seed)
        x0 = start_configuration(self.start, model, self.chains)
        return [running.start(lane.build(), target, key, self.chains, x0) for lane in self.lanes]


def begins_anew(old: Plan, new: Plan) -> bool:
    """Whether a run of the old plan cannot go on under the new one: another shape, start or seed."""
    shapes = [(p.model, p.chains, p.seed, p.start, [lane.algorithm for lane in p.lanes]) for p in (old, new)]
    return shapes[0] != shapes[1]


def describe_change(old: Plan, new: Plan) -> str:
    """What changed between two plans of the same shape, in words; empty where only the budget did."""
    parts = [f"β {old.beta:g} → {new.beta:g}"] if old.beta != new.beta else []
    for i, (a, b) in enumerate(zip(old.lanes, new.lanes, strict=True)):
        for name, value in b.full_knobs.items():
            if a.full_knobs[name] != value:
                lane = f" of lane {i + 1}" if len(new.lanes) > 1 else ""
                parts.append(f"{name.replace('_', ' ')}{lane} {a.full_knobs[name]:g} → {value:g}")
    if old.field != new.field:
        parts.append("field painted")
    if old.clamp != new.clamp:
        parts.append("sites clamped")
    return ", ".join(parts)


def _items(plain: dict, name: str, most: int) -> list:
    items = plain.get(name, [])
    if not isinstance(items, (list, tuple)) or len(items) > most:
        raise InputError(f"{name} of a plan is a list of at most {most} entries")
    return list(items)


def _pairs(plain: dict, name: str) -> list:
    pairs = _items(plain, name, 1_048_576)
    if not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
        raise InputError(f"{name} of a plan is a list of pairs (site, value)")
    return pairs


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e9:
        raise InputError(f"{str(value)[:40]!r} stands in a plan where a number belongs")
    return value


def _lane(item: Any) -> LanePlan:
    if not isinstance(item, dict) or not isinstance(item.get("knobs", {}), dict):
        raise InputError('a lane of a plan is {"algorithm": name, "knobs": {...}}')
    lane = LanePlan(str(item.get("algorithm")), tuple((str(k), v) for k, v in item.get("knobs", {}).items()))
    lane.build()
    return lane
