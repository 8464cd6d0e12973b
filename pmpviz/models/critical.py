"""Where a lattice has its phase transition, for those of which it is known."""

from __future__ import annotations

from functools import lru_cache

from pmpviz.models.builders import CRITICAL_CUBIC, CRITICAL_HONEYCOMB, CRITICAL_SQUARE, CRITICAL_TRIANGULAR
from pmpviz.models.spec import parse_model_spec
from pmpviz.models.state_builders import critical_potts
from pmpviz.types import InputError

_ISING = {
    "square": CRITICAL_SQUARE,
    "triangular": CRITICAL_TRIANGULAR,
    "honeycomb": CRITICAL_HONEYCOMB,
    "cubic": CRITICAL_CUBIC,
}


@lru_cache(maxsize=64)
def critical_temperature(text: str) -> float | None:
    """T_c = J / K_c of the infinite lattice that a model's text describes, with K_c its critical coupling.

    None for a text of anything else than a lattice of equal couplings J > 0 without a field: Ising on the square,
    triangular, honeycomb or cubic lattice, Potts on the square one.
    """
    try:
        builder, _, values = parse_model_spec(text)
    except InputError:
        return None
    if values.get("field", "none") != "none" or values.get("couplings") not in ("uniform", "critical"):
        return None
    if values["couplings"] == "critical":
        return 1.0
    critical = _coupling(builder.id, values)
    return values["J"] / critical if critical is not None and values["J"] > 0 else None


def textbook_temperature(text: str) -> float | None:
    """T_c of the same lattice with J = 1; None where `critical_temperature` is, or no coupling is known."""
    if critical_temperature(text) is None:
        return None
    builder, _, values = parse_model_spec(text)
    critical = _coupling(builder.id, values)
    return None if critical is None else 1 / critical


def _coupling(lattice: str, values: dict) -> float | None:
    return critical_potts(values["q"]) if lattice == "potts" else _ISING.get(lattice)
