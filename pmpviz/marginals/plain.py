"""A marginal solver's answer as plain values, for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pmpviz.marginals import Inferred, MarginalSolver


def as_object(algorithm: MarginalSolver, found: Inferred) -> dict[str, Any]:
    """What `--json` prints; numbers that are not finite are null."""
    answer = found.answer
    return {
        "algorithm": algorithm.spec.id,
        "guarantee": algorithm.spec.guarantee,
        "marginals": [[float(p) for p in row] for row in found.marginals],
        "log_z": _finite(answer.log_z),
        "log_z_bound": _finite(answer.bound),
        "mean_maximum": _finite(answer.mean_maximum),
        "log_z_lower": _finite(answer.lower),
        "standard_error": _finite(answer.standard_error),
        "oracle_calls": answer.oracle_calls,
        "gap": _finite(answer.gap),
        "seconds": found.seconds,
        "ended": found.reason,
        "model": found.words,
        "trace": [_plain(record) for record in found.trace],
    }


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return _plain(value)
        return _finite(value) if isinstance(value, float) else value

    return {name: plain(value) for name, value in record.items()}


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None
