"""Keeps tool results from filling the window: none above its share, all messages together within a budget. Pure.

A view only, the transcript keeps what it has. Behaviour follows openclaw 2026.3.13, tool-result-context-guard (table:
tests/vectors/context-context-guard.json), with three differences of `ours`: texts weigh what the counter says, no
result is replaced by something heavier, and what strings, summaries and commands say counts, too.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from oc.base.jsonl import dump, js_text
from oc.base.text import len16, slice16
from oc.base.tokens import ESTIMATE, Counter
from oc.message.cap import MAX_STORED_CHARS, cap_stored
from oc.message.shapes import Message, texts

NOTICE = "[truncated: output exceeded context limit]"
PLACEHOLDER = "[compacted: tool output removed to free context]"
IMAGE_WEIGHT = 8000
OTHER_WEIGHT = 256
_RESULT_ROLES = ("toolResult", "tool")
_LEAST_WEIGHT = 1024
Row = dict[str, Any]


class Manner(NamedTuple):
    """How text is weighed, in quarter tokens, and how the beginning of a text up to a weight is found.

    `settled`: all that is said counts, and nothing is replaced by something that is not lighter.
    """

    measure: Callable[[str], int]
    beginning: Callable[[str, int], str]
    settled: bool


def ours(counter: Counter) -> Manner:
    """Returns the manner that weighs with a counter and cuts between characters."""

    def converted(text: str) -> int:
        return counter.units(text) * 4 // counter.units_per_token

    measure = counter.units if counter.units_per_token == 4 else converted
    return Manner(measure, lambda text, weight: _beginning(text, weight, measure), settled=True)


OURS = ours(ESTIMATE)
REFERENCE = Manner(len16, lambda text, weight: slice16(text, 0, weight), settled=False)


def is_result(message: Message) -> bool:
    """Says whether a message is the result of a tool, in any of the forms that are around."""
    return message.get("role") in _RESULT_ROLES or message.get("type") == "toolResult"


def single_weight(window_tokens: int) -> int:
    """Returns what one result may weigh: a quarter of the window."""
    return max(_LEAST_WEIGHT, window_tokens)


def budget_weight(window_tokens: int) -> int:
    """Returns what all messages together may weigh: three quarters of the window."""
    return max(_LEAST_WEIGHT, window_tokens * 3)


def guard(messages: Sequence[Message], *, window_tokens: int, manner: Manner = OURS) -> tuple[list[Message], list[Row]]:
    """Returns the view, and a row per decision, per gate and for the sum.

    A result above its share is cut to it and loses images and details; while all is above the budget the oldest
    results give way to a placeholder. Messages that are not touched are the very objects given. `index` in a row
    counts from 0; tokens are quarters of weights, rounded up, and a result weighs double.
    """
    view = _View(messages, manner)
    view.shorten(single_weight(window_tokens))
    budget = budget_weight(window_tokens)
    view.clear(budget)
    return view.messages, view.rows(budget)


def cap_each(messages: Sequence[Message]) -> tuple[list[Message], list[Row]]:
    """Returns the messages with each result as it may be stored, a row per result that was capped, and their sum."""
    capped = [cap_stored(message) if is_result(message) else message for message in messages]
    rows = [
        _row(index, old, new, ("truncate", "maxStoredChars"), (_weight(old, OURS), _weight(new, OURS)))
        for index, (old, new) in enumerate(zip(messages, capped, strict=True))
        if new is not old
    ]
    summary = {"action": "summary", "messages": len(capped), "truncated": len(rows), "max_chars": MAX_STORED_CHARS}
    return capped, [*rows, summary]


class _View:
    """The messages while they are guarded, with their weights kept up to date."""

    def __init__(self, messages: Sequence[Message], manner: Manner) -> None:
        self.given = messages
        self.messages = list(messages)
        self.manner = manner
        self.weights = [_weight(message, manner) for message in messages]
        self.before = list(self.weights)
        self.total = sum(self.weights)
        self.decided: dict[int, tuple[str, str]] = {}

    def shorten(self, most: int) -> None:
        """Cuts every result that weighs more than its share."""
        for index, message in enumerate(self.messages):
            if self.weights[index] > most and is_result(message):
                action, text = self._within(message, most)
                new = _with_text(message, text)
                if not self.manner.settled or _weight(new, self.manner) < self.weights[index]:
                    self.replace(index, new, action, "singleShare")

    def _within(self, message: Message, most: int) -> tuple[str, str]:
        """Returns what is done to a result above its share, and the text that it is left with."""
        text = "\n".join(texts(message))
        if not text:
            return "truncate", NOTICE
        if self.manner.measure(text) <= most:
            return "strip", text
        weight = most - len(NOTICE) - 1
        kept = self.manner.beginning(text, weight)
        line_end = kept.rfind("\n")
        # A beginning that ends where a line does stays whole.
        if line_end >= 0 and not text.startswith("\n", len(kept)):
            lines = kept[:line_end]
            kept = lines if self.manner.measure(lines) > weight * 0.7 else kept
        return "truncate", f"{kept}\n{NOTICE}"

    def clear(self, budget: int) -> None:
        """Replaces results by the placeholder, oldest first, until the excess is covered."""
        least = self.manner.measure(PLACEHOLDER)
        excess = self.total - budget
        for index, message in enumerate(self.messages):
            if excess <= 0:
                return
            if not is_result(message):
                continue
            weight = self.weights[index]
            if weight <= (2 * least if self.manner.settled else least):
                continue
            self.replace(index, _with_text(message, PLACEHOLDER), "clear", "contextBudget")
            excess -= max(0, weight - self.weights[index])

    def replace(self, index: int, new: Message, action: str, rule: str) -> None:
        if new == self.messages[index]:
            return
        self.messages[index] = new
        weight = _weight(new, self.manner)
        self.total += weight - self.weights[index]
        self.weights[index] = weight
        self.decided[index] = (action, rule)

    def rows(self, budget: int) -> list[Row]:
        """Returns the decisions in the order of the messages, what the budget had to say, and the sum of all."""
        done = [action for action, _ in self.decided.values()]
        limit = {"action": "gate", "rule": "contextBudget", "tokens_before": -(-self.total // 4)}
        if self.total > budget:
            limit = {"action": "over", "rule": "contextBudget", "tokens_after": -(-self.total // 4)}
        summary = {
            "action": "summary",
            "messages": len(self.messages),
            "truncated": done.count("truncate"),
            "stripped": done.count("strip"),
            "cleared": done.count("clear"),
            "tokens_before": -(-sum(self.before) // 4),
            "tokens_after": -(-self.total // 4),
            "budget_tokens": budget // 4,
        }
        rows = [
            _row(index, self.given[index], self.messages[index], why, (self.before[index], self.weights[index]))
            for index, why in sorted(self.decided.items())
        ]
        return [*rows, *([] if "clear" in done and self.total <= budget else [limit]), summary]


def _row(index: int, old: Message, new: Message, why: tuple[str, str], weights: tuple[int, int]) -> Row:
    return {
        "action": why[0],
        "index": index,
        "role": old.get("role"),
        "tool": old.get("toolName"),
        "chars_before": sum(map(len16, texts(old))),
        "chars_after": sum(map(len16, texts(new))),
        "tokens_before": -(-weights[0] // 4),
        "tokens_after": -(-weights[1] // 4),
        "rule": why[1],
    }


def _with_text(message: Message, text: str) -> Message:
    """Returns the result with nothing but that text, a string where it was one; its details go."""
    content = text if isinstance(message.get("content"), str) else [{"type": "text", "text": text}]
    return {**{key: value for key, value in message.items() if key != "details"}, "content": content}


def _weight(message: Message, manner: Manner) -> int:
    if is_result(message):
        details = _json_weight(message["details"], manner) if "details" in message else 0
        return 2 * (_content_weight(message, manner) + details)
    role = message.get("role")
    if role == "user":
        return _content_weight(message, manner)
    if role == "assistant":
        return _said_weight(message, manner)
    return _other_weight(message, manner) if manner.settled else OTHER_WEIGHT


def _json_weight(value: Any, manner: Manner) -> int:
    # How JavaScript spells a float is of no weight, and finding the floats takes its time.
    return manner.measure(dump(value).decode() if manner.settled else js_text(value))


def _content_weight(message: Message, manner: Manner) -> int:
    content = message.get("content")
    if isinstance(content, str):
        return manner.measure(content)
    total = 0
    for block in content if isinstance(content, list) else ():
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text" and isinstance(block.get("text"), str):
            total += manner.measure(block["text"])
        elif kind == "image":
            total += IMAGE_WEIGHT
        else:
            total += _json_weight(block, manner)
    return total


def _said_weight(message: Message, manner: Manner) -> int:
    """Returns the weight of an assistant's message; images in one are JSON as any other block."""
    content = message.get("content")
    if isinstance(content, str):
        return manner.measure(content) if manner.settled else 0
    total = 0
    for block in content if isinstance(content, list) else ():
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in ("text", "thinking") and isinstance(block.get(kind), str):
            total += manner.measure(block[kind])
        elif kind == "toolCall":
            arguments = block.get("arguments")
            total += _json_weight({} if arguments is None else arguments, manner)
        else:
            total += _json_weight(block, manner)
    return total


def _other_weight(message: Message, manner: Manner) -> int:
    said = [message[key] for key in ("summary", "command", "output") if isinstance(message.get(key), str)]
    return _content_weight(message, manner) + sum(map(manner.measure, said))


def _beginning(text: str, weight: int, measure: Callable[[str], int]) -> str:
    """Returns as much of the text as weighs no more than that, found by halving."""
    if measure(text) <= weight:
        return text
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        if measure(text[:middle]) <= weight:
            low = middle
        else:
            high = middle
    return text[:low]
