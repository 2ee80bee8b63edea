"""Shortens one oversized tool result, its important tail kept. Pure.

Behaviour and markers follow openclaw 2026.3.13 (table: context-tool-truncate). Lengths are UTF-16 units; a cut never
splits a surrogate pair, which may cost one unit.
"""

from oc.base.text import cut16, js_trim_end, len16, pattern, slice16
from oc.base.typed import Any
from oc.message.shapes import Message, texts

# No result of more characters than this is ever stored.
MAX_STORED_CHARS = 400_000
MIN_KEPT_CHARS = 2000
MIDDLE = "\n\n⚠️ [... middle content omitted — showing head and tail ...]\n\n"
VIEW_SUFFIX = (
    "\n\n⚠️ [Content truncated — original was too large for the model's context window. The content above is a "
    "partial view. If you need more, request specific sections or use offset/limit parameters to read smaller chunks.]"
)
STORED_SUFFIX = (
    "\n\n⚠️ [Content truncated during persistence — original exceeded size limit. Use offset/limit parameters or "
    "request specific sections for large content.]"
)
_IMPORTANT = (
    r"(?a)\b(?:error|exception|failed|fatal|traceback|panic|stack trace|errno|exit code)\b"
    r"|\b(?:total|summary|result|complete|finished|done)\b"
)


def cap_stored(message: Message) -> Message:
    """Returns a tool result as it may be stored: at most MAX_STORED_CHARS of text, whatever its form.

    So many blocks that the least of each is too much become one.
    """
    content = message.get("content")
    if isinstance(content, str):
        text = cap_text(content, MAX_STORED_CHARS, suffix=STORED_SUFFIX)
        return message if text is content else {**message, "content": text}
    capped = cap_message(message, MAX_STORED_CHARS, suffix=STORED_SUFFIX)
    if capped is message or sum(map(len16, texts(capped))) <= MAX_STORED_CHARS:
        return capped
    text = cap_text("\n".join(texts(message)), MAX_STORED_CHARS, suffix=STORED_SUFFIX)
    return {**message, "content": _in_one_block(message["content"], text)}


def max_view_chars(window_tokens: int) -> int:
    """Returns how long one result may be in a window of that size: 30 percent of it at 4 characters a token."""
    return min(window_tokens * 3 // 10 * 4, MAX_STORED_CHARS)


def cap_message(
    message: Message, max_chars: int, *, suffix: str = VIEW_SUFFIX, min_kept_chars: int = MIN_KEPT_CHARS
) -> Message:
    """Returns the message with its text blocks shortened in proportion; images do not count, strings are left."""
    content = message.get("content")
    total = sum(map(len16, texts(message)))
    if not isinstance(content, list) or total <= max_chars:
        return message
    shortened = []
    for block in content:
        if _is_text(block):
            share = max(min_kept_chars + len16(suffix), max_chars * len16(block["text"]) // total)
            text = cap_text(block["text"], share, suffix=suffix, min_kept_chars=min_kept_chars)
            shortened.append({**block, "text": text})
        else:
            shortened.append(block)
    return {**message, "content": shortened}


def _in_one_block(content: list[Any], text: str) -> list[Any]:
    """Returns the content with that text where its first text block stands, and no other text."""
    kept: list[Any] = []
    for block in content:
        if not _is_text(block):
            kept.append(block)
        elif text:
            kept.append({**block, "text": text})
            text = ""
    return kept


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def cap_text(text: str, max_chars: int, *, suffix: str = VIEW_SUFFIX, min_kept_chars: int = MIN_KEPT_CHARS) -> str:
    """Returns the text cut to `max_chars` with the suffix; an error, a total or the end of JSON keeps its place.

    `min_kept_chars` of it stay in any case, so that the result may be longer than asked for.
    """
    if len16(text) <= max_chars:
        return text
    budget = max(min_kept_chars, max_chars - len16(suffix))
    if has_important_tail(text) and budget > 2 * min_kept_chars:
        tail_chars = min(budget * 3 // 10, 4000)
        head_chars = budget - tail_chars - len16(MIDDLE)
        if head_chars > min_kept_chars:
            return _whole_lines(text, head_chars) + MIDDLE + _tail(text, tail_chars) + suffix
    return _whole_lines(text, budget) + suffix


def has_important_tail(text: str) -> bool:
    """Says whether the last 2,000 characters look like an error, a conclusion or the end of JSON."""
    tail = slice16(text, -2000).lower()
    return bool(pattern(_IMPORTANT).search(tail)) or js_trim_end(tail).endswith("}")


def _whole_lines(text: str, chars: int) -> str:
    """Returns the head, back to its last line feed when that costs less than a fifth."""
    # JavaScript's lastIndexOf(x, from) also finds what starts at `from` itself.
    at = slice16(text, 0, chars + 1).rfind("\n")
    line_end = len16(text[:at]) if at >= 0 else -1
    return text[:at] if line_end > chars * 0.8 else cut16(text, chars)


def _tail(text: str, chars: int) -> str:
    """Returns the end, from the first line start in its first fifth when there is one."""
    tail = slice16(text, -chars)
    if tail and "\udc00" <= tail[0] <= "\udfff":
        tail = tail[1:]
    at = tail.find("\n")
    return tail[at + 1 :] if at >= 0 and len16(tail[:at]) < chars * 0.2 else tail
