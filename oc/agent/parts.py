"""Splits a conversation into parts that each fit into a request; a call stays with its results. Pure.

Sizes are by the counter that is handed in, so that Chinese is measured as it is.
"""

from collections.abc import Iterator, Sequence

from oc.base.jsonl import js_text
from oc.base.tokens import Counter
from oc.message.cap import cap_message
from oc.message.shapes import Message, call_arguments, calls, text
from oc.message.size import message_tokens
from oc.session.entry import Entry

LEAST_TOKENS = 256
_LEAST_RESULT_CHARS = 200


def split(entries: Sequence[Entry], budget_tokens: int, counter: Counter) -> list[list[Entry]]:
    """Returns the entries in order, in parts of at most the budget (at least LEAST_TOKENS).

    Results are cut to a quarter of it; what one message says beyond the budget is shown in pieces.
    """
    budget = max(LEAST_TOKENS, budget_tokens)
    parts: list[list[Entry]] = []
    room = 0
    for unit in _units(entries, budget, counter):
        size = _size(unit, counter)
        if not parts or size > room:
            parts.append([])
            room = budget
        parts[-1] += unit
        room -= size
    return parts


def _units(entries: Sequence[Entry], budget: int, counter: Counter) -> Iterator[list[Entry]]:
    """Yields what must stay together: a message, or one with calls and the results after it."""
    unit: list[Entry] = []
    for entry in entries:
        result = entry["message"].get("role") == "toolResult"
        if unit and not result:
            yield from _fitting(unit, budget, counter)
            unit = []
        unit.append({**entry, "message": _capped(entry["message"], budget // 4, counter)} if result else entry)
    if unit:
        yield from _fitting(unit, budget, counter)


def _fitting(unit: list[Entry], budget: int, counter: Counter) -> Iterator[list[Entry]]:
    """Yields the unit whole when it fits; else its messages as text, in pieces."""
    if _size(unit, counter) <= budget:
        yield unit
        return
    for entry in unit:
        message = entry["message"]
        role = "user" if message.get("role") in ("user", "toolResult") else "assistant"
        for piece in _pieces(_as_text(message), budget // 2, counter):
            yield [{**entry, "message": _plain(message, role, piece)}]


def _as_text(message: Message) -> str:
    """Returns what a message says and calls; a summary's text stands in a field of its own."""
    said = [text(message), *(f"{call.get('name')} {js_text(call_arguments(call))}" for call in calls(message))]
    said += [str(message[name]) for name in ("summary", "command", "output") if message.get(name)]
    return "\n".join(part for part in said if part.strip())


def _plain(message: Message, role: str, piece: str) -> Message:
    kept: Message = {name: message[name] for name in ("api", "provider", "model", "timestamp") if name in message}
    return {"role": role, "content": [{"type": "text", "text": piece}], **kept, "stopReason": "stop"}


def _pieces(said: str, budget: int, counter: Counter) -> Iterator[str]:
    """Yields the text in pieces of at most the budget, cut at a line's end where one is near the middle."""
    if counter.tokens([said]) <= budget or len(said) < 2:
        if said.strip():
            yield said
        return
    middle = len(said) // 2
    at = said.rfind("\n", middle // 2, middle) + 1 or middle
    yield from _pieces(said[:at], budget, counter)
    yield from _pieces(said[at:], budget, counter)


def _capped(message: Message, budget: int, counter: Counter) -> Message:
    """Returns a result of at most about the budget, its important tail kept."""
    if message_tokens(message, counter) <= budget:
        return message
    if isinstance(message.get("content"), str):
        message = {**message, "content": [{"type": "text", "text": message["content"]}]}
    chars = budget * 4
    while chars > _LEAST_RESULT_CHARS:
        capped = cap_message(message, chars, min_kept_chars=_LEAST_RESULT_CHARS)
        if message_tokens(capped, counter) <= budget:
            return capped
        chars //= 2
    return {**message, "content": [{"type": "text", "text": text(capped)[:budget]}]}


def _size(unit: Sequence[Entry], counter: Counter) -> int:
    return sum(message_tokens(entry["message"], counter) for entry in unit)
