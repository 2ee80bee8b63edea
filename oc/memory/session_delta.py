"""How much a transcript must have grown before it is indexed again. Pure.

Behaviour follows openclaw 2026.3.13 (table: tests/vectors/memory-session-delta.json): what is pending stays pending
until an index run has taken it in.
"""

from collections.abc import Callable
from typing import NamedTuple


class Delta(NamedTuple):
    """What has come to a file since it was indexed; `size` is the bytes already counted."""

    size: int = 0
    bytes: int = 0
    messages: int = 0


def grown(
    delta: Delta,
    size: int,
    count_lines: Callable[[int, int], int],
    *,
    max_bytes: int,
    max_messages: int,
) -> tuple[Delta, bool]:
    """Returns the delta of a file that is now `size` bytes, and whether it is due; a limit of 0 is met by anything.

    `count_lines(start, end)` counts line feeds in that part of the file. It is not asked once the bytes alone decide.
    A file that has shrunk was rewritten: all of it counts as new.
    """
    start = delta.size if size >= delta.size else 0
    pending_bytes = delta.bytes + size - start
    messages = delta.messages
    if size > start and max_messages > 0 and (max_bytes <= 0 or pending_bytes < max_bytes):
        messages += count_lines(start, size)
    due = _reached(pending_bytes, max_bytes) or _reached(messages, max_messages)
    return Delta(size, pending_bytes, messages), due


def _reached(pending: int, limit: int) -> bool:
    return pending >= limit if limit > 0 else pending > 0
