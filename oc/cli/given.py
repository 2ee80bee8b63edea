"""Messages and entries that a person or a pipe gives to be stored: all are good, or none is taken."""

import sys
from collections.abc import Collection
from typing import Any, NamedTuple

from oc.base.clock import iso
from oc.cli.app import App
from oc.cli.stream import is_message
from oc.errors import BadInput
from oc.message.shapes import DERIVED_ROLES, ROLES, result_id
from oc.session.entry import Entry, Finding
from oc.session.transcript import scan

_NAME = "stdin"
_NEEDED = {"compaction": ("summary", "firstKeptEntryId"), "branch_summary": ("summary",)}
_NO_COST: dict[str, Any] = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
_NO_USAGE = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": _NO_COST}


class Given(NamedTuple):
    """Entries to be stored, and the lines of stdin on which they stand (0: on none)."""

    entries: list[Entry]
    lines: list[int]


def text_entry(role: str, text: str, now_ms: int) -> Entry:
    """Returns an entry with one text message; an assistant's tells readers that no model was called for it."""
    message: dict[str, Any] = {"role": role, "content": [{"type": "text", "text": text}]}
    if role == "assistant":
        message |= {"api": "oc", "provider": "oc", "model": "append", "usage": _NO_USAGE, "stopReason": "stop"}
    return _entry_of({**message, "timestamp": now_ms}, now_ms)


def _entry_of(message: dict[str, Any], now_ms: int) -> Entry:
    return {"type": "message", "timestamp": iso(now_ms), "message": message}


def given_entries(app: App, now_ms: int) -> Given:
    """Reads messages or entries from stdin; raises BadInput with the line of the first one that cannot be stored.

    A message becomes an entry without an id. Entries keep theirs; their place in the tree they do not.
    """
    app.need_stdin("messages or entries")
    skipped: list[Finding] = []
    found, lines = list[Entry](), list[int]()
    seen: dict[str, int] = {}
    for number, _, value in scan(sys.stdin.buffer, skipped):
        if skipped:
            break
        entry = _entry_of(value, now_ms) if is_message(value) else value
        _check(entry, number)
        entry_id = entry.get("id")
        if entry_id is not None and seen.setdefault(entry_id, number) != number:
            raise BadInput(f"the id {entry_id} stands on line {seen[entry_id]} already", path=_NAME, line=number)
        lines.append(number)
        found.append({"timestamp": iso(now_ms), **entry} if "timestamp" not in entry else entry)
    for finding in skipped:
        raise BadInput(finding.message, path=_NAME, line=finding.line)
    return Given(found, lines)


def check_kept(given: Given, known: Collection[str]) -> None:
    """Raises BadInput for a compaction that would hide everything before it.

    What it keeps first must be one of the `known` ids, which are those of the leaf's path, or stand before it.
    """
    before: set[str] = set()
    for entry, number in zip(given.entries, given.lines, strict=True):
        kept = entry.get("firstKeptEntryId")
        if entry["type"] == "compaction" and kept not in before and kept not in known:
            raise BadInput("the compaction keeps an entry that is not before it", path=_NAME, line=number)
        if "id" in entry:
            before.add(entry["id"])


def _check(entry: Entry, number: int) -> None:
    kind = entry.get("type")
    if not isinstance(kind, str):
        raise BadInput("neither a message nor an entry", path=_NAME, line=number)
    if kind == "session":
        raise BadInput("a header cannot be appended", path=_NAME, line=number)
    if not isinstance(entry.get("id", ""), str) or entry.get("id") == "":
        raise BadInput("the entry's id is not a string", path=_NAME, line=number)
    for name in _NEEDED.get(kind, ()):
        if not isinstance(entry.get(name), str):
            raise BadInput(f"a {kind} needs a {name}, which is a string", path=_NAME, line=number)
    if kind == "message":
        _check_message(entry.get("message"), number)


def _check_message(message: Any, number: int) -> None:
    role = message.get("role") if isinstance(message, dict) else None
    if not isinstance(role, str):
        raise BadInput("the entry holds no message with a role", path=_NAME, line=number)
    if role in DERIVED_ROLES:
        raise BadInput(f"a {role} message is made from an entry and cannot be appended as one", path=_NAME, line=number)
    if role not in ROLES:
        raise BadInput(f"no message has the role {role!r}", path=_NAME, line=number)
    if role != "bashExecution" and not isinstance(message.get("content"), str | list):
        raise BadInput(f"the content of the {role} message is neither text nor a list", path=_NAME, line=number)
    if role == "toolResult" and result_id(message) is None:
        raise BadInput("the toolResult message has no toolCallId, which is a string", path=_NAME, line=number)
