"""Which given message each message of a changed history comes from, and every decision as a line of a report. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from oc.base.jsonl import js_text
from oc.base.text import len16
from oc.message.decision import Decision
from oc.message.shapes import CALL_TYPES, Message, blocks, call_arguments, call_name, calls


class Origin(NamedTuple):
    """`place` of the given message, 0 the first; `made`: put in because of that message, not made from it."""

    place: int
    made: bool


class Trail:
    """Follows messages through the steps by identity: each decision says what became of what."""

    def __init__(self, given: Sequence[Message]) -> None:
        # The messages are kept with their decisions, so that no identity is used twice.
        self._given = given
        self._origins = {id(message): Origin(place, made=False) for place, message in enumerate(given)}
        self._steps: list[tuple[str, Decision, Origin]] = []
        # Place of a message that became part of another -> place of that other.
        self.merged: dict[int, int] = {}

    def follow(self, stage: str, decisions: Sequence[Decision]) -> None:
        for decision in decisions:
            origin = self._of(decision)
            self._steps.append((stage, decision, origin))
            if decision.action == "merge" and decision.after is not None:
                self.merged[origin.place] = self.origin(decision.after).place
            elif decision.after is not None:
                self._origins[id(decision.after)] = origin

    def _of(self, decision: Decision) -> Origin:
        if decision.before is not None:
            return self.origin(decision.before)
        place = 0 if decision.cause is None else self.origin(decision.cause).place
        return Origin(place, made=True)

    def origin(self, message: Message) -> Origin:
        return self._origins[id(message)]

    @property
    def changed(self) -> bool:
        return bool(self._steps)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yields the decisions in order; `index` is that of the given message, sizes are UTF-16 units."""
        for stage, decision, origin in self._steps:
            shown = decision.before or decision.after or {}
            yield {
                "stage": stage,
                "action": decision.action,
                "index": origin.place,
                "role": shown.get("role"),
                "tool": decision.tool or _tool(shown),
                "chars_before": message_chars(decision.before),
                "chars_after": message_chars(decision.after),
                "rule": decision.rule,
            }


def _tool(message: Message) -> str | None:
    """Returns the tool that a result is of, or the only one that a message calls."""
    if message.get("role") == "toolResult":
        name = message.get("toolName")
        return name if isinstance(name, str) else None
    names = {call_name(call) for call in calls(message)}
    return names.pop() if len(names) == 1 else None


def message_chars(message: Message | None) -> int:
    """Returns the size of what a message says: texts, reasoning, arguments of calls, base64 of images, a summary."""
    if message is None:
        return 0
    total = 0
    for block in blocks(message):
        if block.get("type") in CALL_TYPES:
            total += len16(call_name(block) or "") + len16(js_text(call_arguments(block)))
        total += sum(len16(block[key]) for key in ("text", "thinking", "data") if isinstance(block.get(key), str))
    summary = message.get("summary")
    return total + (len16(summary) if isinstance(summary, str) else 0)
