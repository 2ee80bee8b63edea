"""A transcript as text to index: a line for each thing that user or assistant said, and where it stands in the file.

Tool calls and results, thinking, summaries and injected messages are left out, secrets are hidden. Pure. Behaviour
follows openclaw 2026.3.13 (table: tests/vectors/memory-session-text.json).
"""

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from oc.base.clock import parse_iso
from oc.base.jsonl import parse
from oc.base.text import JS_SPACE, pattern, without_lone_surrogates
from oc.message.redact import redact

_SPEAKERS = {"user": "User", "assistant": "Assistant"}
_ARCHIVE = r"\.jsonl\.reset\.[^/\\]+\Z"


class SessionText(NamedTuple):
    """`line_map[n]` is the line in the file, from 1, of line n, from 0, of `content`; `last_ms` the last time in it."""

    content: str
    line_map: list[int]
    hash: str
    last_ms: int | None


def is_transcript(name: str) -> bool:
    """Says whether a file name is that of a transcript or of one archived by a reset."""
    return name.endswith(".jsonl") or pattern(_ARCHIVE).search(name) is not None


def session_text(lines: Iterable[bytes]) -> SessionText:
    """Returns the text of a transcript's lines; what is no message of user or assistant counts as nothing."""
    said: list[str] = []
    line_map: list[int] = []
    last_ms = None
    for number, raw in enumerate(lines, 1):
        entry = _message_entry(raw)
        message = entry.get("message")
        speaker = _SPEAKERS.get(str(message.get("role"))) if isinstance(message, dict) else None
        text = spoken(message.get("content")) if speaker and isinstance(message, dict) else None
        if text is None:
            continue
        said.append(f"{speaker}: {redact(text)}")
        line_map.append(number)
        last_ms = parse_iso(entry.get("timestamp")) or last_ms
    content = "\n".join(said)
    whole = without_lone_surrogates(f"{content}\n{','.join(map(str, line_map))}")
    return SessionText(content, line_map, hashlib.sha256(whole.encode()).hexdigest(), last_ms)


def _message_entry(raw: bytes) -> dict[str, Any]:
    try:
        entry = parse(raw) if raw.strip() else None
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) and entry.get("type") == "message" else {}


def spoken(content: Any) -> str | None:
    """Returns the text of a message's content on one line, None when there is none."""
    if isinstance(content, str):
        texts = [content]
    elif isinstance(content, list):
        texts = [b["text"] for b in content if isinstance(b, dict) and b.get("type") == "text" and _is_text(b)]
    else:
        return None
    return " ".join(line for text in texts if (line := _one_line(text))) or None


def _is_text(block: dict[str, Any]) -> bool:
    return isinstance(block.get("text"), str)


def _one_line(text: str) -> str:
    return pattern(f"[{JS_SPACE}]+").sub(" ", text).strip(" ")
