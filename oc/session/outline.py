"""A transcript as exports show it: the branches it has, the turns of one, how full the window was over time. Pure."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import orjson

from oc.base.jsonl import dump
from oc.base.text import cut16, len16, neutral, without_lone_surrogates
from oc.base.tokens import Counter
from oc.message.derived import from_entry
from oc.message.redact import redact
from oc.message.secrets import find_secrets
from oc.message.shapes import Message
from oc.message.size import message_tokens, usage_tokens
from oc.session.context import context_entries
from oc.session.entry import Entry

PRUNE_CLOCK = "openclaw.cache-ttl"
Cleaner = Callable[[str], str]


class Segment(NamedTuple):
    """A run of entries without a fork; `parent` is the place of the segment it grows from, None for a root."""

    entries: list[Entry]
    parent: int | None
    depth: int


def segments(entries: Sequence[Entry]) -> list[Segment]:
    """Returns the tree as runs of entries, a parent before its children; of rings the first entry counts as a root."""
    known = {entry["id"] for entry in entries}
    children: dict[Any, list[Entry]] = {}
    for entry in entries:
        parent = entry.get("parentId")
        children.setdefault(parent if isinstance(parent, str) and parent in known else None, []).append(entry)
    found: list[Segment] = []
    done: set[int] = set()
    for root in [*children.get(None, ()), *entries]:
        waiting: list[tuple[Entry, int | None, int]] = [(root, None, 0)]
        while waiting:
            entry, parent, depth = waiting.pop()
            run: list[Entry] = []
            below = [entry]
            while len(below) == 1 and id(below[0]) not in done:
                done.add(id(below[0]))
                run.append(below[0])
                below = children.get(below[0]["id"], [])
            if run:
                found.append(Segment(run, parent, depth))
                waiting += [(child, len(found) - 1, depth + 1) for child in reversed(below)]
    return found


class Step(NamedTuple):
    """A turn with the size that the context had at its largest, or a mark: compaction or prune clock.

    `entry` is where it begins; `after` the size that a compaction left.
    """

    kind: str
    entry: Entry
    tokens: int
    after: int = 0


def steps(path: Sequence[Entry], counter: Counter) -> list[Step]:
    """Returns how full the window was along a path: what the provider reported, else a count of the messages."""
    found: list[Step] = []
    turn: int | None = None  # place of the turn under way; a compaction ends its bar
    tokens = 0
    for place, entry in enumerate(path):
        message = from_entry(entry)
        kind = entry.get("type")
        if kind == "compaction":
            before = tokens
            kept = context_entries(path[: place + 1])
            tokens = sum(message_tokens(each["message"], counter) for each in kept)
            found.append(Step("compaction", entry, before, tokens))
            turn = None
            continue
        if kind == "custom" and entry.get("customType") == PRUNE_CLOCK:
            found.append(Step("prune", entry, tokens))
        if message is None:
            continue
        reported = _reported(message)
        tokens = reported or tokens + message_tokens(message, counter)
        if message.get("role") == "user" or turn is None:
            turn = len(found)
            found.append(Step("turn", entry, tokens))
        else:
            found[turn] = found[turn]._replace(tokens=max(found[turn].tokens, tokens))
    return found


def _reported(message: Message) -> int:
    usage = message.get("usage")
    if message.get("role") != "assistant" or message.get("stopReason") in ("error", "aborted"):
        return 0
    try:
        return usage_tokens(usage) if isinstance(usage, dict) else 0
    except (TypeError, ValueError, OverflowError):
        return 0


def as_it_is(text: str) -> str:
    """Returns the text with what could drive a terminal or turn its direction made visible."""
    return neutral(without_lone_surrogates(text).replace("\r\n", "\n"))


def without_secrets(text: str) -> str:
    """Returns the text with keys, tokens and passwords hidden; a line that still seems to hold one is left out."""
    shown = redact(as_it_is(text))
    suspects = {suspect.line: suspect.kind for suspect in find_secrets(shown)}
    if not suspects:
        return shown
    lines = enumerate(shown.split("\n"), 1)
    return "\n".join(f"[a line with a {suspects[n]} left out]" if n in suspects else line for n, line in lines)


def pretty(value: Any) -> str:
    """Returns JSON indented by two; what is nested too deeply for that stands on one line."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        return dump(value).decode()


def limited(text: str, max_chars: int | None) -> str:
    """Returns the first `max_chars` UTF-16 units and how many more there were; all of it with None."""
    size = len16(text)
    if max_chars is None or size <= max_chars:
        return text
    return f"{cut16(text, max_chars)}\n[{size - max_chars} more characters left out]"


def string(value: Any) -> str:
    """Returns a field that ought to be a string; anything else as JSON, nothing for null."""
    return value if isinstance(value, str) else "" if value is None else dump(value).decode()


def results_by_call(entries: Sequence[Entry]) -> dict[str, Entry]:
    """Returns the first result of each call among the entries."""
    found: dict[str, Entry] = {}
    for entry in entries:
        message = entry.get("message")
        if isinstance(message, dict) and message.get("role") == "toolResult":
            found.setdefault(string(message.get("toolCallId")), entry)
    return found
