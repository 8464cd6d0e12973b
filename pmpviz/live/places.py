"""Where the nodes of a graph were dragged to."""

from __future__ import annotations

import re
from typing import Any

from pmpviz.live.plan import Special

MOST = 400
PLACE = re.compile(r"(\d{1,6})\.(\d{1,4})\.(\d{1,4})")
Places = tuple[tuple[int, float, float], ...]


class Dragged(Special):
    """The field `places`: (node, x, y), x to the right and y downwards, in thousandths of the picture's sides.

    In links `3.120.870-5.10.20`.
    """

    keys = ("places",)

    def write(self, plan: Any) -> dict[str, str]:
        """Nothing where nothing was dragged."""
        text = "-".join(f"{node}.{round(1000 * x)}.{round(1000 * y)}" for node, x, y in plan.places)
        return {"places": text} if text else {}

    def read(self, plan: Any, given: dict[str, str], notices: list[str]) -> Any:
        """Those that can be read."""
        if "places" not in given:
            return plan
        found = [PLACE.fullmatch(part) for part in given["places"].split("-")]
        known = [tuple(map(int, part.groups())) for part in found[:MOST] if part is not None]
        if len(known) < len(found):
            notices.append(f"{len(found) - len(known)} places of nodes cannot be read and were left out")
        return plan.replace(places=tuple((node, min(x, 1000) / 1000, min(y, 1000) / 1000) for node, x, y in known))


def moved(places: Places, node: int, x: float, y: float) -> Places:
    """The places with this node elsewhere."""
    there = {n: (a, b) for n, a, b in places} | {node: (round(x, 3), round(y, 3))}
    return tuple((n, *at) for n, at in sorted(there.items()))[:MOST]


PLACES = Dragged()
