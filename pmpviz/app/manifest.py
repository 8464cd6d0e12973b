"""The manifest of a run: JSON of everything that its numbers depend on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import jax
import numpy as np

from pmpviz.models import model_hash
from pmpviz.types import InputError

FORMAT = "pmpviz-manifest-1"
PACKAGES = ("pmpviz", "jax", "jaxlib", "numpy")


def manifest(plan: Any, extra: Mapping[str, Any] | None = None, model: Any = None) -> bytes:
    """JSON of everything that the numbers depend on: plan, versions, device, the model's hash, and `extra`.

    `plan` gives plain values by `to_dict`; `plan_of_manifest` gives them back.
    """
    content = {
        "format": FORMAT,
        "plan": plan.to_dict(),
        "versions": versions(),
        "device": jax.devices()[0].device_kind,
        "platform": jax.default_backend(),
        "model_sha256": None if model is None else model_hash(model),
        **(extra or {}),
    }
    return (json.dumps(content, indent=1, default=_plain) + "\n").encode()


def versions() -> dict[str, str]:
    """Version of each package that the numbers depend on; `source` where pmpviz runs without being installed."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "source"
    return found


def _plain(value: Any) -> Any:
    array = np.asarray(value)
    if array.dtype == object:
        raise TypeError(f"{type(value).__name__} has no place in a manifest")
    return array.tolist()


def is_manifest(data: bytes) -> bool:
    """Whether the bytes begin as `manifest` writes them, or hold its format's name near the start."""
    return FORMAT.encode() in data[:4096]


def plan_of_manifest(data: bytes) -> dict[str, Any]:
    """The plan of a manifest as plain values; raises InputError where the file is none."""
    try:
        content = json.loads(data)
        if content["format"] != FORMAT or not isinstance(content["plan"], dict):
            raise ValueError
        return content["plan"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError("this file is no manifest; give a JSON file that the export wrote") from None
