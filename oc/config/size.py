"""Sizes as configuration files state them: a number of bytes, or `512kb`, `10 mb`, `2g`, in steps of 1024."""

import math
from typing import Any

from oc.base.text import js_trim, pattern

_UNITS = {"": 0, "b": 0, "k": 1, "kb": 1, "m": 2, "mb": 2, "g": 3, "gb": 3, "t": 4, "tb": 4}


def byte_size(value: Any) -> int | None:
    """Returns the bytes, as a whole number; None for what is no size, a negative number included."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return math.floor(value) if math.isfinite(value) and value >= 0 else None
    match = (
        pattern(r"(?a)(\d+(?:\.\d+)?)\s*([a-z]*)\Z").match(js_trim(value).lower()) if isinstance(value, str) else None
    )
    if match is None or match[2] not in _UNITS:
        return None
    size = float(match[1]) * 1024 ** _UNITS[match[2]]
    return math.floor(size + 0.5) if math.isfinite(size) else None
