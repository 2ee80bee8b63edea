"""Sizes as configuration has them: `10mb`, `1.5kb`, a bare number of bytes."""

import math

from oc.base.text import js_trim, pattern
from oc.base.typed import Any

_UNITS = {"": 0, "b": 0, "k": 1, "kb": 1, "m": 2, "mb": 2, "g": 3, "gb": 3, "t": 4, "tb": 4}


def size_bytes(text: str) -> int | None:
    """Returns the bytes, 1024 to the next unit; None for what is no size. No gap and no sign, as OpenClaw has it."""
    found = pattern(r"(\d+(?:\.\d+)?)([a-z]*)").fullmatch(js_trim(text).lower()) if text.isascii() else None
    if found is None or found[2] not in _UNITS:
        return None
    amount = float(found[1]) * 1024 ** _UNITS[found[2]]
    return math.floor(amount + 0.5) if math.isfinite(amount) else None


def byte_size(value: Any) -> int | None:
    """Returns the bytes of a configured size, a number (its whole part) or a text; None for what is neither."""
    if isinstance(value, str):
        return size_bytes(value)
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    return math.floor(value) if usable else None
