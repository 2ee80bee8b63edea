"""How large a message and a context are, in tokens, by any counter.

With the counter `chars4` these are Pi 0.58's numbers (tables: sessions-tokens); `estimate` and `tiktoken` weigh the
same texts otherwise (design D13).
"""

from collections.abc import Iterable, Sequence

from oc.base.jsonl import js_text
from oc.base.tokens import Counter
from oc.base.typed import Any, NamedTuple
from oc.message.shapes import Message, call_arguments

IMAGE_CHARS = 4800


def message_tokens(message: Message, counter: Counter) -> int:
    """Returns the tokens of one message; roles that no model sees count 0."""
    pieces, image_chars = _weighed(message)
    return counter.tokens(pieces, image_chars)


def _weighed(message: Message) -> tuple[list[str], int]:
    """Returns the texts that count, and what its images weigh in chars."""
    role = message.get("role")
    if role == "assistant":
        return _assistant_texts(message), 0
    if role in ("user", "toolResult", "custom"):
        return _content_texts(message, count_images=role != "user")
    if role == "bashExecution":
        return [str(message.get("command") or ""), str(message.get("output") or "")], 0
    if role in ("branchSummary", "compactionSummary"):
        return [str(message.get("summary") or "")], 0
    return [], 0


def _content_texts(message: Message, *, count_images: bool) -> tuple[list[str], int]:
    content = message.get("content")
    if isinstance(content, str):
        return [content], 0
    pieces: list[str] = []
    images = 0
    for block in content if isinstance(content, list) else ():
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text" and isinstance(block.get("text"), str):
            pieces.append(block["text"])
        elif kind == "image" and count_images:
            images += 1
    return pieces, images * IMAGE_CHARS


def _assistant_texts(message: Message) -> list[str]:
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    pieces: list[str] = []
    for block in content if isinstance(content, list) else ():
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text":
            pieces.append(str(block.get("text") or ""))
        elif kind == "thinking":
            pieces.append(str(block.get("thinking") or ""))
        elif kind == "toolCall":
            pieces += [str(block.get("name") or ""), js_text(call_arguments(block))]
    return pieces


def usage_tokens(usage: dict[str, Any]) -> int:
    """Returns what a provider reported for one call: the total, or the sum of its parts when there is no total."""
    return int(
        usage.get("totalTokens") or sum(usage.get(key) or 0 for key in ("input", "output", "cacheRead", "cacheWrite"))
    )


class ContextSize(NamedTuple):
    """`tokens` = `usage_tokens` (the provider's own count up to message `last_usage_index`) + `trailing_tokens`."""

    tokens: int
    usage_tokens: int
    trailing_tokens: int
    last_usage_index: int | None


def context_size(messages: Sequence[Message], counter: Counter) -> ContextSize:
    """Returns the size of a context: the last answered call's usage plus a count of what came after it."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        usage = message.get("usage")
        if message.get("role") == "assistant" and usage and message.get("stopReason") not in ("aborted", "error"):
            known = usage_tokens(usage)
            trailing = total_tokens(messages[index + 1 :], counter)
            return ContextSize(known + trailing, known, trailing, index)
    trailing = total_tokens(messages, counter)
    return ContextSize(trailing, 0, trailing, None)


def total_tokens(messages: Iterable[Message], counter: Counter) -> int:
    return sum(message_tokens(message, counter) for message in messages)
