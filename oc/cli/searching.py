"""What a search looks at in a transcript, and how a hit is shown. Transcripts are read line by line."""

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from oc.base.jsonl import dump
from oc.base.text import whole16
from oc.message.shapes import call_arguments, calls, texts
from oc.session.entry import Entry, Finding
from oc.session.transcript import need_header, scan

Search = Callable[[str], Any]
_AROUND = 100  # how much is shown before and after a match
_OTHER_TEXTS = ("summary", "label", "name", "content")


def hits(file: BinaryIO, path: str, search: Search, role: str | None) -> Iterator[dict[str, Any]]:
    """Yields the entries that match, each once, with the line of their text that matches first.

    Raises BadInput for a file that is no transcript.
    """
    skipped: list[Finding] = []
    lines = scan(file, skipped)
    need_header(lines, skipped, path)
    for number, _, entry in lines:
        kind = _kind(entry)
        if role is not None and kind != role:
            continue
        shown = next((near for line in _lines(entry) if (near := _near(line, search)) is not None), None)
        if shown is not None:
            yield {
                "place": f"{path}:{number}",
                "path": path,
                "line": number,
                "entryId": entry.get("id"),
                "kind": kind,
                "text": shown,
            }


def _kind(entry: Entry) -> str:
    message = entry.get("message")
    role = message.get("role") if isinstance(message, dict) else None
    return role if isinstance(role, str) else str(entry.get("type"))


def _lines(entry: Entry) -> Iterator[str]:
    """Yields the lines of an entry's texts: what was said, thought, called and answered, summaries, labels, names."""
    message = entry.get("message")
    found: list[Any] = [entry.get(name) for name in _OTHER_TEXTS]
    if isinstance(message, dict):
        found += texts(message)
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            found.append(block.get("thinking") if isinstance(block, dict) else None)
        for call in calls(message):
            found.append(f"{call.get('name')} {dump(call_arguments(call)).decode()}")
        found += [message.get("command"), message.get("output"), message.get("errorMessage")]
    elif isinstance(content := entry.get("content"), list):
        found += texts({"content": content})
    for text in found:
        if isinstance(text, str):
            yield from text.split("\n")


def _near(line: str, search: Search) -> str | None:
    """Returns the part of a line around the first match, None without one."""
    match = search(line)
    if match is None:
        return None
    start, end = max(0, match.start() - _AROUND), match.end() + _AROUND
    part = line[start : min(end, match.start() + 5 * _AROUND)]
    return whole16(("…" if start else "") + part + ("…" if start + len(part) < len(line) else ""), 0)
