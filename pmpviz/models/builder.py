"""What a builder of models is: its size, its knobs, and how they are read, completed and checked."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from pmpviz.models.couplings import Shape
from pmpviz.types import InputError, Param

MAX_SITES = 1 << 20

# The strength that each kind of couplings reads; those at the critical point have none.
_STRENGTH = {"uniform": "J", "glass": "J", "frustrated": "J", "gaussian": "sigma", "sk": "sigma", "critical": ""}

Values = dict[str, Any]


@dataclass(frozen=True)
class Builder:
    """A family of models. `size` names the numbers after the colon of a spec (`25x25` is height x width).

    The app's controls, the command line and the share link are generated from `params`; `make(size, values)` gets
    values that are complete and checked.
    """

    id: str
    label: str
    help: str
    size: tuple[str, ...]
    default_size: Shape
    params: tuple[Param, ...]
    make: Callable[[Shape, Values], Any]
    max_sites: int = MAX_SITES
    random_graph: bool = False

    def build(self, size: Shape | str | None = None, **params: Any) -> Any:
        """The model of this size; knobs not given take their defaults; raises InputError for bad ones."""
        return self.make(self.check_size(size), self.resolve(params))

    def check_size(self, size: Shape | str | None) -> Shape:
        """`size` as a tuple, read from text such as `25x25`; raises InputError naming the sides and the limit."""
        if size is None or size == "":
            return self.default_size
        if isinstance(size, str):
            sides = self._read_size(size)
        else:
            try:
                sides = tuple(operator.index(side) for side in size)
            except TypeError:
                raise self._bad_size(str(size)) from None
        if len(sides) != len(self.size) or min(sides, default=0) < 1:
            raise self._bad_size("x".join(map(str, sides)))
        if math.prod(sides) > self.max_sites:
            raise InputError(f"{self.id} of {math.prod(sides)} sites is too large; give at most {self.max_sites} sites")
        return sides

    def _read_size(self, text: str) -> Shape:
        if not re.fullmatch(r"[0-9]{1,9}(x[0-9]{1,9})*", text.strip().lower()):
            raise self._bad_size(text)
        return tuple(int(side) for side in text.strip().lower().split("x"))

    def _bad_size(self, text: str) -> InputError:
        example = f"{self.id}:{'x'.join(map(str, self.default_size))}"
        return InputError(f"{self.id} has no size {text[:40]!r}; give {' x '.join(self.size)}, as in {example}")

    @property
    def spins(self) -> bool:
        """Whether its J may be given as theta, J / 2: that of two-state spins."""
        return self.param("J") is not None and self.param("q") is None

    def param(self, name: str) -> Param | None:
        """The knob of this name, or None."""
        return next((p for p in self.params if p.name == name), None)

    def resolve(self, given: Mapping[str, Any]) -> Values:
        """All knobs: those given, read and checked; the defaults of the others and of those without effect.

        `theta` is read as J / 2 of spins. A strength given alone chooses the first kind that uses it (`h=0.1` means
        `field=uniform`). Raises InputError for an unknown name, a bad value, or both of J and theta.
        """
        self.check_names(given)
        values = {name: self._parse(name, value) for name, value in given.items()}
        if "theta" in values and self.param("theta") is None:
            if "J" in values:
                raise InputError("both J and theta are given; give one of them (J = 2 theta)")
            values["J"] = self._knob("J").check(2 * values.pop("theta"))
        full = {p.name: p.default for p in self.params} | self._implied(values) | values
        used = self._used(full)
        return {p.name: full[p.name] if p.name in used else p.default for p in self.params}

    def check_names(self, names: Iterable[str]) -> None:
        """Raise InputError naming the knobs that exist, for the first name that is none."""
        known = [p.name for p in self.params]
        if self.spins:
            known.append("theta")
        for name in names:
            if name not in known:
                raise InputError(f"{self.id} has no parameter {name[:40]!r}; it has {', '.join(known)}")

    def active(self, values: Mapping[str, Any]) -> tuple[Param, ...]:
        """The knobs that have an effect at these values (no `sigma` for uniform couplings, ...)."""
        used = self._used(self.resolve(values))
        return tuple(p for p in self.params if p.name in used)

    def _knob(self, name: str) -> Param:
        knob = self.param(name)
        assert knob is not None, name
        return knob

    def _parse(self, name: str, value: Any) -> Any:
        knob = self.param(name)
        if knob is not None:
            return knob.parse(value)
        limit = self._knob("J").high / 2
        return Param("theta", "theta", -limit, limit, 0.0).parse(value)

    def _implied(self, values: Values) -> Values:
        implied = {}
        couplings, field = self.param("couplings"), self.param("field")
        wanted = values.keys() & {"J", "sigma"}
        if couplings is not None and wanted and _STRENGTH[couplings.default] not in wanted:
            implied["couplings"] = next(kind for kind in couplings.choices if _STRENGTH[kind] in wanted)
        if field is not None and "h" in values and field.default == "none":
            implied["field"] = "uniform"
        return implied

    def _used(self, full: Values) -> set[str]:
        used = {p.name for p in self.params} - {"J", "sigma", "h", "seed"}
        if "couplings" in used:
            used.add(_STRENGTH[full["couplings"]])
        if full.get("field", "none") != "none":
            used.add("h")
        fixed = full.get("couplings") in ("uniform", "frustrated", "critical") and full.get("field") != "random"
        if self.random_graph or not fixed:
            used.add("seed")
        return used & {p.name for p in self.params}


COUPLING_STREAM, FIELD_STREAM, GRAPH_STREAM = range(3)


def generator(values: Values, stream: int) -> np.random.Generator:
    """Random numbers of the model's own seed; couplings, fields and graph don't disturb one another."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([values["seed"], stream])))


def strengths(values: Values, shape: Shape) -> Float[np.ndarray, "..."]:
    """J of each edge slot in float64 for all kinds but `frustrated` and `sk`."""
    kind = values["couplings"]
    if kind == "uniform":
        return np.full(shape, float(values["J"]))
    rng = generator(values, COUPLING_STREAM)
    if kind == "glass":
        return values["J"] * rng.choice([-1.0, 1.0], shape)
    return values["sigma"] * rng.standard_normal(shape)


SEED = Param("seed", "Model seed", 0, 2**31 - 1, 0, "int", "Draws the model's random couplings, fields and edges.")


def periodic(default: bool, help: str) -> Param:
    """The knob that joins opposite borders."""
    return Param("periodic", "Periodic", 0, 1, default, "bool", help)
