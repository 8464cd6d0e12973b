"""Painted fields and clamped sites as short text in a link: site steps and values, JSON, compressed, base64."""

from __future__ import annotations

import base64
import binascii
import json
import math
import zlib
from collections.abc import Sequence
from typing import Any

from pmpviz.live.plan import Special, items
from pmpviz.models.ising import Ising
from pmpviz.types import InputError

MOST_TEXT = 2048
MOST_PLAIN = 1 << 20
Pairs = Sequence[tuple[int, float]]


def encode(field: Pairs, clamp: Pairs) -> dict[str, str]:
    """`field` and `clamp` of a query, those that fit into 2 kB together; clamped sites first."""
    texts, left = {}, MOST_TEXT
    for name, pairs in (("clamp", clamp), ("field", field)):
        text = pack(pairs) if pairs else ""
        if text and len(text) <= left:
            texts[name] = text
            left -= len(text)
    return texts


def too_large(field: Pairs, clamp: Pairs) -> list[str]:
    """What `encode` leaves out, in words with its size."""
    held = encode(field, clamp)
    words = {"clamp": f"set of {len(clamp):,} clamped sites", "field": f"field painted on {len(field):,} sites"}
    return [words[name] for name, pairs in (("clamp", clamp), ("field", field)) if pairs and name not in held]


def pack(pairs: Pairs) -> str:
    """(site, value) pairs, in their order, as URL-safe text."""
    sites = [int(site) for site, _ in pairs]
    steps = [b - a for a, b in zip([0, *sites[:-1]], sites, strict=True)]
    plain = json.dumps([steps, [value for _, value in pairs]], separators=(",", ":"))
    return base64.urlsafe_b64encode(zlib.compress(plain.encode(), 9)).decode().rstrip("=")


def unpack(text: str) -> list[tuple[int, float]]:
    """The pairs of `pack`; raises InputError for anything else."""
    try:
        return _pairs(json.loads(_plain(text)))
    except (ValueError, TypeError, RecursionError, OverflowError, zlib.error, binascii.Error):
        raise InputError("the painted sites in this link cannot be read and were left out") from None


def _plain(text: str) -> bytes:
    if len(text) > 2 * MOST_TEXT:
        raise ValueError
    data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    inflate = zlib.decompressobj()
    plain = inflate.decompress(data, MOST_PLAIN)
    if not inflate.eof:
        raise ValueError
    return plain


def _pairs(content: Any) -> list[tuple[int, float]]:
    steps, values = content
    pairs, site = [], 0
    for step, value in zip(steps, values, strict=True):
        if type(step) is not int or type(value) not in (int, float) or not math.isfinite(value) or abs(value) >= 1e9:
            raise ValueError
        site += step
        pairs.append((site, value))
    return pairs


def within(plan: Any, model: Any) -> tuple[Any, str | None]:
    """(the plan with only those edits that its model can take, notice or None)."""
    if not plan.field and not plan.clamp:
        return plan, None
    card = model.card
    field = tuple((i, h) for i, h in plan.field if 0 <= i < len(card) and isinstance(model, Ising))
    clamp = tuple((i, v) for i, v in plan.clamp if 0 <= i < len(card) and 0 <= v < card[i])
    lost = len(plan.field) + len(plan.clamp) - len(field) - len(clamp)
    notice = f"{lost} of the painted or clamped sites do not fit the model and were left out" if lost else None
    return plan.replace(field=field, clamp=clamp), notice


class Edits(Special):
    """The fields `field` and `clamp`: in links as far as they fit, in JSON as lists of (site, value)."""

    keys = ("field", "clamp")

    def write(self, plan: Any) -> dict[str, str]:
        """Those that fit into 2 kB together."""
        return encode(plan.field, plan.clamp)

    def read(self, plan: Any, given: dict[str, str], notices: list[str]) -> Any:
        """Whether the model has these sites is not asked here."""
        kinds = {"field": float, "clamp": int}
        try:
            edits = {key: [(i, kinds[key](v)) for i, v in unpack(given[key])] for key in self.keys if key in given}
            return plan.replace(**{key: tuple(pairs) for key, pairs in edits.items()})
        except InputError as error:
            notices.append(str(error))
            return plan

    def plain(self, plan: Any) -> dict[str, Any]:
        """All of them."""
        return {"field": plan.field, "clamp": plan.clamp}

    def of_plain(self, plan: Any, plain: dict[str, Any]) -> Any:
        """The inverse of `plain`; raises InputError."""
        field = tuple((int(_number(i)), _number(h)) for i, h in _sites(plain, "field"))
        clamp = tuple((int(_number(i)), int(_number(v))) for i, v in _sites(plain, "clamp"))
        return plan.replace(field=field, clamp=clamp)


def _sites(plain: dict[str, Any], name: str) -> list[Any]:
    pairs = items(plain, name, MOST_PLAIN)
    if not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
        raise InputError(f"{name} of a plan is a list of pairs (site, value)")
    return pairs


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e9:
        raise InputError(f"{str(value)[:40]!r} stands in a plan where a number belongs")
    return value


EDITS = Edits()
