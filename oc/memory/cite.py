"""Where a hit comes from, as text: `path#L12-L18`; whether to show it; how much of the hits a model is given. Pure.

Behaviour follows openclaw 2026.3.13's memory_search (table: tests/vectors/memory-citations.json).
"""

from collections.abc import Sequence
from typing import Any

from oc.base.text import js_trim, len16, whole16
from oc.session_key import parse

MODES = ("auto", "on", "off")


def citation(path: str, start_line: int, end_line: int) -> str:
    """Returns the place of 1-based lines, the end left out when it is the start."""
    return f"{path}#L{start_line}" + (f"-L{end_line}" if end_line != start_line else "")


def mode_of(value: Any) -> str:
    """Returns the configured `memory.citations`; what is none of the modes is auto."""
    return str(value) if value in MODES else "auto"


def chat_type(session_key: str | None) -> str:
    """Returns channel, group or direct; a key that names neither is a direct chat, and so is no key."""
    key = parse(session_key or "")
    tokens = key.rest.split(":") if key else ()
    return next((kind for kind in ("channel", "group") if kind in tokens), "direct")


def includes(mode: str, session_key: str | None) -> bool:
    """Says whether hits carry their citation: in direct chats unless told otherwise."""
    return mode == "on" or (mode == "auto" and chat_type(session_key) == "direct")


def cited(snippet: str, path: str, start_line: int, end_line: int) -> str:
    """Returns the snippet with its citation below."""
    return f"{js_trim(snippet)}\n\nSource: {citation(path, start_line, end_line)}"


def clamp(snippets: Sequence[str], max_chars: int) -> list[str]:
    """Returns the snippets that fit together into `max_chars`; the one that crosses it is cut, the rest are dropped.

    A budget of 0 or less is none.
    """
    if max_chars <= 0:
        return list(snippets)
    kept: list[str] = []
    left = max_chars
    for snippet in snippets:
        if left <= 0:
            break
        kept.append(whole16(snippet, 0, left))
        left -= len16(snippet)
    return kept
