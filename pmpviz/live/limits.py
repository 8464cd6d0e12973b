"""What a page may ask of the server: the one table of limits, each with the sentence that refuses more.

`PMPVIZ_LIMITS`, as `sites=65536 reference_seconds=600`, sets other ones than the table's.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from functools import cache

from pmpviz.numerals import integer
from pmpviz.types import InputError

VARIABLE = "PMPVIZ_LIMITS"
# After this share of its time a reference that is expected to take so many times as much is given up.
EARLY, FAR = 0.15, 2.0


@dataclass(frozen=True)
class Limits:
    """The table. A number of 32 bits takes 4 bytes, and a lane holds some copies of its chains' numbers."""

    sites: int = 1 << 18
    """Of a lattice."""
    graph_sites: int = 10_000
    """Of a graph that is drawn site by site."""
    dense_sites: int = 1024
    """Of a model in which every pair interacts."""
    messages: int = 1 << 26
    """Both messages of every coupling of every chain of one lane, by which large models have fewer chains."""
    reference_states: int = 1 << 26
    """Variables of all samples of a reference."""
    reference_seconds: int = 120
    """That a reference may compute for."""
    references: int = 16
    """That are kept for whoever asks next, ..."""
    reference_bytes: int = 1 << 26
    """... and the memory that those which nobody looks at take together."""
    programs: int = 400
    """That are compiled before all are let go: JAX keeps every one for every shape that anybody has tried, ..."""
    left_bytes: int = 96 << 20
    """... or which are let go because so much more memory than before is still taken when somebody has left."""

    def check_reference(self, samples: int, variables: int) -> None:
        """Refuse a long run that would hold too much; raises InputError."""
        if samples * variables > self.reference_states:
            most = self.reference_states // samples
            raise InputError(
                f"a long run of {variables:,} variables would take too much of this server's memory: choose a model of "
                f"at most {most:,}"
            )

    def check_seconds(self, seconds: float, share: float, expected: float) -> None:
        """Refuse to go on with a reference that has had its time, or is soon seen to take far more of it.

        `seconds` of computing made this share of it; all of it is `expected` to take so many. Raises InputError.
        """
        given = f"this server gives it no more than {self.reference_seconds:,} seconds of computing"
        if seconds > self.reference_seconds:
            done = f"{given}, in which {share:.0%} of it was done"
            raise InputError(f"{done}: choose a smaller model, or reset in a minute to try once more")
        if seconds > EARLY * self.reference_seconds and expected > FAR * self.reference_seconds:
            raise InputError(f"it would take some {integer(expected)} seconds, and {given}: choose a smaller model")


def read_limits(text: str) -> Limits:
    """The table with the changes of a text such as `sites=65536 references=4`; raises InputError."""
    known = {field.name for field in fields(Limits)}
    changes = {}
    for part in text.split():
        name, _, value = part.partition("=")
        if name not in known or not value.isdecimal() or not int(value):
            raise InputError(f"{VARIABLE} is NAME=NUMBER of {', '.join(sorted(known))}, not {part!r}")
        changes[name] = int(value)
    return replace(Limits(), **changes)


@cache
def limits() -> Limits:
    """The limits of this process."""
    return read_limits(os.environ.get(VARIABLE, ""))


__all__ = ["Limits", "limits", "read_limits"]
