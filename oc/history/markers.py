"""Custom entries by which OpenClaw remembers for whom a session's history was washed last. Pure.

Behaviour follows OpenClaw 2026.3.13, sanitizeSessionHistory (table: context-history-pipeline, `appendedCustom`).
"""

from collections.abc import Sequence
from typing import Any

from oc.history.policy import Model, policy
from oc.history.turns import is_bootstrap
from oc.message.shapes import Message

SNAPSHOT = "model-snapshot"
TURN_ORDER = "google-turn-ordering-bootstrap"
Entry = dict[str, Any]


def markers(entries: Sequence[Entry], washed: Sequence[Message], model: Model, *, now_ms: int) -> list[Entry]:
    """Returns the entries to append: the model when it is another than before, a bootstrap for Google once.

    They have `type`, `customType` and `data` only.
    """
    found = []
    named = {"provider": model.provider, "modelApi": model.api, "modelId": model.model}
    before = _last(entries, SNAPSHOT)
    if any(named.values()) and (before is None or any((before.get(k) or "") != v for k, v in named.items())):
        found.append(_custom(SNAPSHOT, {"timestamp": now_ms, **named}))
    made = bool(washed) and is_bootstrap(washed[0])
    if policy(model).google and made and _last(entries, TURN_ORDER) is None:
        found.append(_custom(TURN_ORDER, {"timestamp": now_ms}))
    return found


def _custom(kind: str, data: dict[str, Any]) -> Entry:
    return {"type": "custom", "customType": kind, "data": data}


def _last(entries: Sequence[Entry], kind: str) -> dict[str, Any] | None:
    for entry in reversed(entries):
        if entry.get("type") == "custom" and entry.get("customType") == kind:
            data = entry.get("data")
            return data if isinstance(data, dict) else {}
    return None
