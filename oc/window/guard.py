"""Keeps tool results from filling the window: none above its share, all messages together within a budget. Pure.

A view only, the transcript keeps what it has. Behaviour follows openclaw 2026.3.13, tool-result-context-guard (table:
tests/vectors/context-context-guard.json), with three differences of `ours`: texts weigh what the counter says, no
result is replaced by something heavier, and what strings, summaries and commands say counts, too.
"""

from collections.abc import Callable, Sequence

from oc.base.jsonl import dump, js_text
from oc.base.text import len16, slice16
from oc.base.tokens import ESTIMATE, Counter
from oc.base.typed import Any, NamedTuple
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


def guard(messages: Sequence[Message], *, window_tokens: int, manner: Manner = OURS) -> "Guarded":
    """Returns the view that fits, as far as results can give way.

    A result above its share is cut to it and loses images and details; while all is above the budget the oldest
    results give way to a placeholder. Messages that are not touched are the very objects given.
    """
    view = Guarded(messages, manner, budget_weight(window_tokens))
    view.shorten(single_weight(window_tokens))
    view.clear()
    return view


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


class Guarded:
    """The messages of a view, with their weights kept up to date and what was decided about them."""

    def __init__(self, messages: Sequence[Message], manner: Manner, budget: int) -> None:
        self.messages = list(messages)
        self._given = messages
        self._manner = manner
        self._budget = budget
        self._weights = [_weight(message, manner) for message in messages]
        self._before = list(self._weights)
        self._decided: dict[int, tuple[str, str]] = {}

    @property
    def over_tokens(self) -> int:
        """How much is above the budget, with nothing left that could give way."""
        return max(0, -((self._budget - sum(self._weights)) // 4))

    def shorten(self, most: int) -> None:
        """Cuts every result that weighs more than its share."""
        for index, message in enumerate(self.messages):
            if self._weights[index] > most and is_result(message):
                action, text = self._within(message, most)
                new = _with_text(message, text)
                weight = _weight(new, self._manner)
                if new != message and (weight < self._weights[index] or not self._manner.settled):
                    self._replace(index, new, weight, (action, "singleShare"))

    def _within(self, message: Message, most: int) -> tuple[str, str]:
        """Returns what is done to a result above its share, and the text that it is left with."""
        text = "\n".join(texts(message))
        if not text:
            return "truncate", NOTICE
        if self._manner.measure(text) <= most:
            return "strip", text
        weight = most - len(NOTICE) - 1
        kept = self._manner.beginning(text, weight)
        line_end = kept.rfind("\n")
        # A beginning that ends where a line does stays whole.
        if line_end >= 0 and not text.startswith("\n", len(kept)):
            lines = kept[:line_end]
            kept = lines if self._manner.measure(lines) > weight * 0.7 else kept
        return "truncate", f"{kept}\n{NOTICE}"

    def clear(self) -> None:
        """Replaces results by the placeholder, oldest first, until the excess is covered."""
        least = self._manner.measure(PLACEHOLDER)
        spared = 2 * least if self._manner.settled else least
        excess = sum(self._weights) - self._budget
        for index, message in enumerate(self.messages):
            if excess <= 0:
                return
            weight = self._weights[index]
            if weight <= spared or not is_result(message):
                continue
            new = _with_text(message, PLACEHOLDER)
            if weight > 2 * least or new != message:
                self._replace(index, new, 2 * least, ("clear", "contextBudget"))
                excess -= max(0, weight - 2 * least)

    def _replace(self, index: int, new: Message, weight: int, why: tuple[str, str]) -> None:
        self.messages[index] = new
        self._weights[index] = weight
        self._decided[index] = why

    def rows(self) -> list[Row]:
        """Returns a row per decision, in the order of the messages, one for the budget, and the sum of all.

        `index` counts from 0; tokens are quarters of weights, rounded up, so a result counts double.
        """
        done = [action for action, _ in self._decided.values()]
        total = -(-sum(self._weights) // 4)
        rows = [
            _row(index, self._given[index], self.messages[index], why, (self._before[index], self._weights[index]))
            for index, why in sorted(self._decided.items())
        ]
        if self.over_tokens:
            rows.append({"action": "over", "rule": "contextBudget", "tokens_after": total})
        elif "clear" not in done:
            rows.append({"action": "gate", "rule": "contextBudget", "tokens_before": total})
        summary = {
            "action": "summary",
            "messages": len(self.messages),
            "truncated": done.count("truncate"),
            "stripped": done.count("strip"),
            "cleared": done.count("clear"),
            "tokens_before": -(-sum(self._before) // 4),
            "tokens_after": total,
            "budget_tokens": self._budget // 4,
        }
        return [*rows, summary]


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
    new = {**message, "content": content}
    new.pop("details", None)
    return new


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
    measure = manner.measure
    total = 0
    for block in content if isinstance(content, list) else ():
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text" and isinstance(text := block.get("text"), str):
            total += measure(text)
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
