"""Usage as the transcripts have it, and none that tells of a context which a compaction has since folded. Pure.

Behaviour follows OpenClaw 2026.3.13, stripStaleAssistantUsage and ensureAssistantUsageSnapshots (table:
context-turns, usage-*).
"""

from collections.abc import Sequence

from oc.message.decision import Decision
from oc.message.shapes import Message
from oc.message.usage import PARTS, no_usage, number, snapshot


def zero_stale_usage(messages: Sequence[Message]) -> tuple[list[Message], list[Decision]]:
    """Returns the history with zeros for usage from before the last compaction summary, by place or by time."""
    last = max((i for i, m in enumerate(messages) if m.get("role") == "compactionSummary"), default=None)
    if last is None:
        return list(messages), []
    folded_at = number(messages[last].get("timestamp"))
    out: list[Message] = []
    decisions: list[Decision] = []
    for index, message in enumerate(messages):
        new = message
        if message.get("role") == "assistant" and isinstance(message.get("usage"), dict):
            when = number(message.get("timestamp"))
            older = folded_at is not None and when is not None and when <= folded_at
            if (index < last or older) and message["usage"] != no_usage():
                new = {**message, "usage": no_usage()}
                decisions.append(Decision("change", "usage-before-compaction", message, new))
        out.append(new)
    return out, decisions


def normalise_usage(messages: Sequence[Message]) -> tuple[list[Message], list[Decision]]:
    """Returns the history with every assistant message's usage in the transcripts' form, zeros where there is none."""
    out: list[Message] = []
    decisions: list[Decision] = []
    for message in messages:
        new = message
        if message.get("role") == "assistant" and not _is_plain(message.get("usage")):
            usage = snapshot(message)
            if not _holds(message.get("usage"), usage):
                new = {**message, "usage": usage}
                decisions.append(Decision("change", "usage-form", message, new))
        out.append(new)
    return out, decisions


def _is_plain(given: object) -> bool:
    """Says at once of most usage that it has the form; what this does not recognise is looked at closely."""
    if not isinstance(given, dict) or "total" in given:
        return False
    cost = given.get("cost")
    return (
        all(type(given.get(key)) is int for key in (*PARTS, "totalTokens"))
        and given["input"] >= 0
        and isinstance(cost, dict)
        and all(type(cost.get(key)) in (int, float) for key in (*PARTS, "total"))
    )


def _holds(given: object, usage: dict[str, object]) -> bool:
    """Says whether the usage given has these values already; more fields beside them may stay."""
    if not isinstance(given, dict) or any(given.get(key) != usage[key] for key in (*PARTS, "totalTokens")):
        return False
    cost, wanted = given.get("cost"), usage.get("cost")
    if not isinstance(wanted, dict):
        return cost is None
    return isinstance(cost, dict) and all(cost.get(key) == value for key, value in wanted.items())
