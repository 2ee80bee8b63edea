"""The last resort for a context that overflowed: stored results are shortened, on a new branch. Pure.

Behaviour follows openclaw 2026.3.13, tool-result-truncation (table: tests/vectors/context-session-truncate.json), but
what a compaction kept stays kept (design D21), nothing but labels stays behind, and wide scripts weigh what they cost.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from oc.base.text import len16, pattern, weight16
from oc.message.cap import MIN_KEPT_CHARS, VIEW_SUFFIX, cap_message, cap_text, max_view_chars
from oc.message.shapes import Message, texts

Entry = dict[str, Any]
Row = dict[str, Any]
Measure = Callable[[str], int]

_OBSERVED = (
    r"prompt is too long:\s*([\d,]+)\s*tokens",
    r"requested\s+([\d,]+)\s*tokens",
    r"resulted in\s+([\d,]+)\s*tokens",
)


def observed_tokens(text: str) -> int | None:
    """Returns how large the context was, when the provider's error says so."""
    for expression in _OBSERVED:
        found = pattern(f"(?i){expression}").search(text)
        if found is not None:
            number = found[1].replace(",", "")
            return int(number) if number and number.isascii() else None
    return None


def blames_compaction(text: str) -> bool:
    """Says whether an overflow happened while compacting, where compacting again is no help."""
    return bool(pattern(r"(?i)compaction|summari[sz]ation failed").search(text))


class Rewrite(NamedTuple):
    """`entries` hang, in order, on `parent_id` (None: they start a new root); they have ids of their own.

    `rows` tell of each shortened result; `index` is its place on the path that was given.
    """

    parent_id: str | None
    entries: list[Entry]
    rows: list[Row]


def is_oversized(message: Message, window_tokens: int, measure: Measure = weight16) -> bool:
    """Says whether a message is a result that is too large for the window, and can be shortened."""
    return _shortened(message, max_view_chars(window_tokens), measure) is not message


def shorten_stored(
    path: Sequence[Entry], *, window_tokens: int, new_id: Callable[[], str], measure: Measure = weight16
) -> Rewrite | None:
    """Returns what to append so that no result in the context is above the window's share; None when none is.

    `path` is root to leaf. The new branch leaves it before the first such result and repeats everything from there,
    times included; ids change, and a compaction's firstKeptEntryId with them. Labels stay on the old branch: they name
    entries, and say nothing. `measure` weighs text in quarter tokens.
    """
    most = max_view_chars(window_tokens)
    shortened: dict[int, Message] = {}
    for index in range(_context_start(path), len(path)):
        message = path[index].get("message")
        if path[index].get("type") == "message" and isinstance(message, dict):
            new = _shortened(message, most, measure)
            if new is not message:
                shortened[index] = new
    if not shortened:
        return None
    first = min(shortened)
    rows = [_row(index, path[index], new, measure) for index, new in shortened.items()]
    return Rewrite(path[first].get("parentId"), _repeated(path, first, shortened, new_id), rows)


def _context_start(path: Sequence[Entry]) -> int:
    """Returns the index of the first entry that the newest compaction has left in the context."""
    for cut in range(len(path) - 1, -1, -1):
        if path[cut].get("type") == "compaction":
            kept = path[cut].get("firstKeptEntryId")
            return next((i for i in range(cut) if kept is not None and path[i].get("id") == kept), cut)
    return 0


def _repeated(
    path: Sequence[Entry], first: int, shortened: dict[int, Message], new_id: Callable[[], str]
) -> list[Entry]:
    parent = path[first].get("parentId")
    # Old id -> id on the new branch; what is not repeated passes its place on to the next that is.
    new_ids: dict[Any, str] = {}
    passed: list[Any] = []
    entries: list[Entry] = []
    for index in range(first, len(path)):
        entry = path[index]
        passed.append(entry.get("id"))
        if entry.get("type") == "label":
            continue
        entry_id = new_id()
        new_ids.update(dict.fromkeys(passed, entry_id))
        passed.clear()
        changed: Entry = {"id": entry_id, "parentId": parent}
        if index in shortened:
            changed["message"] = shortened[index]
        if entry.get("type") == "compaction" and entry.get("firstKeptEntryId") in new_ids:
            changed["firstKeptEntryId"] = new_ids[entry["firstKeptEntryId"]]
        entries.append({**entry, **changed})
        parent = entry_id
    return entries


def _shortened(message: Message, most: int, measure: Measure) -> Message:
    """Returns the result with no more text than weighs `most`, as far as the least that is kept of it allows."""
    weight = sum(map(measure, texts(message)))
    if message.get("role") != "toolResult" or weight <= most:
        return message
    max_chars = most * sum(map(len16, texts(message))) // weight
    last, new = None, _cut(message, max_chars)
    # What is kept of it, with the notice, may weigh more in proportion than what goes.
    while max_chars and (weight := sum(map(measure, texts(new)))) > most:
        max_chars = max_chars * (most if new != last else most * 7 // 8) // weight
        last, new = new, _cut(message, max_chars)
    return message if new == message else new


def _cut(message: Message, max_chars: int) -> Message:
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": cap_text(content, max(max_chars, MIN_KEPT_CHARS + len16(VIEW_SUFFIX)))}
    return cap_message(message, max_chars)


def _row(index: int, entry: Entry, new: Message, measure: Measure) -> Row:
    old = entry["message"]
    return {
        "action": "truncate",
        "index": index,
        "entry_id": entry.get("id"),
        "role": "toolResult",
        "tool": old.get("toolName"),
        "chars_before": sum(map(len16, texts(old))),
        "chars_after": sum(map(len16, texts(new))),
        "tokens_before": -(-sum(map(measure, texts(old))) // 4),
        "tokens_after": -(-sum(map(measure, texts(new))) // 4),
        "rule": "maxResultShare",
    }
