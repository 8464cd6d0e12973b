"""The controls of lanes: which algorithms there are, and each one's knobs."""

from __future__ import annotations

from typing import Any

from pmpviz.app.widgets import bind, param_control, pressed, select
from pmpviz.app.words import as_text
from pmpviz.live.plan import Catalogue, Choice, Lanes

BOX_LETTERS = 24


def lane_control(lane: Choice, key: str, box: Any, target: Any = None) -> Choice:
    """One lane: its algorithm with what it guarantees, and the algorithm's knobs, advanced ones folded.

    Algorithms that cannot run on `target` are listed with the reason; that of the chosen one is the stage's to say.
    """
    catalogue, word = lane.catalogue, lane.catalogue.word
    reasons = refusals(catalogue, target)
    labels = {cls.spec.id: name_in_box(cls.spec) for cls in catalogue.classes}
    chosen = bind(f"{key}_{word}", lane.algorithm)
    usable = {id: label for id, label in labels.items() if id not in reasons or id in (lane.algorithm, chosen)}
    lane = lane if chosen == lane.algorithm else catalogue(chosen)
    select(box, word.capitalize(), usable, f"{key}_{word}", help=as_text(lane.spec.paper))
    box.caption(f"**{lane.spec.guarantee.capitalize()}.** {as_text(lane.spec.summary)}")
    lane = knobs_control(lane, f"{key}_{chosen}", box)
    left_out = [f"- {labels[id]}: {as_text(reason)}" for id, reason in reasons.items() if id != chosen]
    if left_out:
        box.expander("Not on this model").markdown("\n".join(left_out))
    return lane


def name_in_box(spec: Any) -> str:
    """An algorithm's name, as much of it as a box of the side bar shows."""
    return spec.label if len(spec.label) <= BOX_LETTERS else spec.short or spec.label


def refusals(catalogue: Catalogue, target: Any) -> dict[str, str]:
    """Why algorithms cannot run on a target, by their ids; nothing where there is no target to ask about."""
    if target is None:
        return {}
    reasons = {cls.spec.id: cls.spec.why_not(target) for cls in catalogue.classes}
    return {id: reason for id, reason in reasons.items() if reason}


def knobs_control(lane: Choice, key: str, box: Any) -> Choice:
    """The knobs of a lane's algorithm, advanced ones folded."""
    before, params = lane.full_knobs, lane.spec.params
    fold = box.expander("Advanced") if any(p.advanced for p in params) else None
    return lane.with_knobs(
        {p.name: param_control(p, f"{key}_{p.name}", before[p.name], fold if p.advanced else box) for p in params}
    )


def lanes_control(
    plan: Any, key: str, box: Any, target: Any = None, least: int = 1, opened: int = 1, add: str = "Race another"
) -> Any:
    """The plan with its lanes: at least `least` and as many as the plan holds, the first `opened` unfolded.

    `target` is as in `lane_control`; an added lane takes the first algorithm that runs on it and is not raced yet.
    """
    row, lanes = plan.rows()["lanes"], list(plan.lanes)
    plus, minus = box.columns(2)
    if pressed(plus, add, f"{key}_add", disabled=len(lanes) >= row.most, width="stretch"):
        lanes.append(_another(row, lanes, target))
    if pressed(minus, "Remove", f"{key}_remove", disabled=len(lanes) <= least, width="stretch"):
        lanes.pop()
    name = "Lane" if row.catalogue.word == "algorithm" else row.catalogue.word.capitalize()
    for index, lane in enumerate(lanes):
        into = box.expander(f"{name} {index + 1}", expanded=index < opened) if len(lanes) > 1 else box
        lanes[index] = lane_control(lane, f"{key}_lane{index}", into, target)
    return plan.replace(lanes=tuple(lanes))


def _another(row: Lanes, lanes: list[Choice], target: Any) -> Choice:
    raced, refused = {lane.algorithm for lane in lanes}, refusals(row.catalogue, target)
    usable = [cls.spec.id for cls in row.catalogue.classes if cls.spec.id not in refused]
    spare = [id for id in usable if id not in raced] or usable or [lanes[0].algorithm]
    return row.catalogue(spare[0])


__all__ = ["knobs_control", "lane_control", "lanes_control", "name_in_box", "refusals"]
