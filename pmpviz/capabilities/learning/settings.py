"""A learning plan as a link: to query and back, every value clamped with a notice, never an exception."""

from __future__ import annotations

from collections.abc import Mapping

from pmpviz.app.address import VERSION
from pmpviz.app.link_values import lane_text, read_checked, read_named, read_plain, text_of
from pmpviz.capabilities.learning.plan import MAX_LANES, SETTINGS, LearnerPlan, LearningPlan
from pmpviz.io.datasets import parse_dataset_text
from pmpviz.learning import learner_class
from pmpviz.learning.optimiser import OPTIMISER_PARAMS
from pmpviz.types import InputError

PLAIN = (*SETTINGS, *OPTIMISER_PARAMS)
LANES = tuple(f"lane{i + 1}" for i in range(MAX_LANES))
KEYS = ("v", "data", *(p.name for p in PLAIN), *LANES)


def plan_to_query(plan: LearningPlan) -> dict[str, str]:
    """The plan as query parameters: `v`, `data`, `kind`, ..., `lane1` = `pcd;sweeps=5`."""
    query = {"v": VERSION, "data": plan.data}
    query |= {p.name: text_of(getattr(plan, p.name)) for p in PLAIN}
    return query | {name: lane_text(lane.learner, lane.knobs) for name, lane in zip(LANES, plan.lanes, strict=False)}


def plan_from_query(params: Mapping[str, str], default: LearningPlan) -> tuple[LearningPlan, list[str]]:
    """(plan, notices) of a link; what is missing comes from `default`; never raises."""
    given = {str(key): str(value) for key, value in params.items()}
    notices: list[str] = []
    values = read_plain(given, PLAIN, KEYS, default, notices)
    lanes = [_read_lane(given[name], name, notices) for name in LANES if name in given]
    kept = tuple(lane for lane in lanes if lane is not None) or default.lanes
    data = read_checked("data were", given.get("data", default.data), default.data, _check_data, notices)
    return default.replace(data=data, lanes=kept, **values), notices


def _check_data(text: str) -> None:
    """Raise InputError where a link cannot name these data."""
    _, values = parse_dataset_text(text)
    if values.get("folder"):
        raise InputError("a link names no folder of the machine that it is opened on")


def _read_lane(text: str, lane: str, notices: list[str]) -> LearnerPlan | None:
    found = read_named(text, lane, learner_class, notices)
    return None if found is None else LearnerPlan(*found)
