"""How many turns of a history are shown, and how many a session key is allowed. Pure.

Behaviour follows OpenClaw 2026.3.13, limitHistoryTurns and getHistoryLimitFromSessionKey (tables:
context-history-limit, sessions-history). There is no limit unless one is configured.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from oc.base.text import pattern
from oc.message.decision import Decision
from oc.message.shapes import Message

_THREAD = r"(?is)(.*):(?:thread|topic):\d+"


def limit_turns(messages: Sequence[Message], turns: float | None) -> tuple[list[Message], list[Decision]]:
    """Returns the history from the user message that starts the `turns`th last turn; None or 0 and less: all of it.

    What stands before that message goes, a compaction summary too; a history with no more turns stays whole.
    """
    start = _start(messages, turns) if turns is not None and turns > 0 else 0
    return list(messages[start:]), [Decision("drop", "before-the-limit", message, None) for message in messages[:start]]


def _start(messages: Sequence[Message], turns: float) -> int:
    seen = 0
    start = len(messages)
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].get("role") == "user":
            seen += 1
            if seen > turns:
                return start
            start = index
    return 0


def turns_for_key(key: str, channels: Mapping[str, Any] | None) -> float | None:
    """Returns the limit that the configuration's `channels` set for a session key, None when they set none.

    `<provider>:direct|dm:<id>`: that person's `dms` entry, else `dmHistoryLimit`; `channel` and `group`:
    `historyLimit`. A thread or topic at the end of the id does not count.
    """
    parts = [part for part in key.split(":") if part]
    if len(parts) >= 3 and parts[0] == "agent":
        parts = parts[2:]
    settings = (channels or {}).get(parts[0].strip().lower()) if len(parts) >= 2 else None
    if not isinstance(settings, dict):
        return None
    kind = parts[1].lower()
    if kind in ("channel", "group"):
        return _number(settings.get("historyLimit"))
    if kind not in ("dm", "direct"):
        return None
    person = ":".join(parts[2:])
    thread = pattern(_THREAD).fullmatch(person)
    people = settings.get("dms")
    own = people.get(thread[1] if thread else person) if isinstance(people, dict) else None
    own_limit = _number(own.get("historyLimit")) if isinstance(own, dict) else None
    return own_limit if own_limit is not None else _number(settings.get("dmHistoryLimit"))


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
