"""A row as a whole store is written: model names trimmed, the two forms of where an answer goes in accord. Pure.

Behaviour follows OpenClaw 2026.3.13 (table: sessions-maintenance-fs, the save cases).
"""

import math
from typing import Any

Row = dict[str, Any]
_FIELDS = {"channel": "lastChannel", "to": "lastTo", "accountId": "lastAccountId", "threadId": "lastThreadId"}


def normal_row(row: Row) -> Row:
    """Returns the row in its normal form; unknown fields stay as they are."""
    found = dict(row)
    for name in ("model", "modelProvider"):
        if isinstance(found.get(name), str):
            found[name] = found[name].strip()
        if name in found and not found[name]:
            del found[name]
    if "model" not in found:
        found.pop("modelProvider", None)
    context = found.get("deliveryContext")
    stated = context if isinstance(context, dict) else {}
    place: Row = {}
    for short, last in _FIELDS.items():
        value = _value(short, stated.get(short))
        value = _value(short, found.get(last)) if value is None else value
        if value is not None:
            place[short] = value
    if not place:
        return found
    # Fields that are there keep their place in the file; new ones go to the end.
    for short, value in place.items():
        found[_FIELDS[short]] = value
    found["deliveryContext"] = {**stated, **place}
    return found


def _value(name: str, value: Any) -> Any:
    if isinstance(value, str):
        text = value.strip()
        return (text.lower() if name == "channel" else text) or None
    if name == "threadId" and isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return math.floor(value)
    return None
