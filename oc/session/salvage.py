"""Whole records in a line that does not parse: two that stand on one line, or one behind a piece of another. Pure.

A write that was cut off leaves no line feed, and the next writer's record then follows on the same line. Nothing is
made up: what is returned are pieces of the line, byte for byte.
"""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from oc.base.jsonl import parse
from oc.base.text import pattern
from oc.session.entry import is_header

ENTRY_TYPES = frozenset(
    {
        "branch_summary",
        "compaction",
        "custom",
        "custom_message",
        "label",
        "message",
        "model_change",
        "session_info",
        "thinking_level_change",
    }
)
# As every writer begins a record. A quote inside a string of the record stands there as \", so it is not mistaken.
_START = r'\{\s*"type"\s*:\s*"(?:session|' + "|".join(sorted(ENTRY_TYPES)) + ')"'
# A line can hold thousands of starts in a tool's arguments; each one that is tried may be read to the end of the line.
_TRIES = 100


def records(raw: bytes) -> list[bytes]:
    """Returns the whole records of a line that is not JSON, in order; what stands between them is lost."""
    text = raw.decode("latin-1")  # a byte a character, so that places are the same in both
    found: list[bytes] = []
    place = 0
    for start in _starts(text):
        if start < place:
            continue
        chain, end = _chain(raw, text, start, strict=text[place:start].rstrip()[-1:] in (":", ",", "["))
        # A piece inside of a broken record parses too; a record is told by the line's start, its end or the next one.
        rest = text[end:].lstrip()
        if chain and (start == place == 0 or not rest or pattern(_START).match(rest)):
            found += chain
            place = end
    return found


def _starts(text: str) -> Iterator[int]:
    yield len(text) - len(text.lstrip("\ufeff\xef\xbb\xbf \t\r"))
    for tries, match in enumerate(pattern(_START).finditer(text)):
        if tries >= _TRIES:
            return
        yield match.start()


def _chain(raw: bytes, text: str, start: int, *, strict: bool) -> tuple[list[bytes], int]:
    """Returns the records that follow one another from `start` on, and where the last of them ends.

    With `strict` the first one may be an argument of a tool that looks like a record: it needs a whole envelope.
    """
    found: list[bytes] = []
    end = place = start
    while True:
        try:
            _, stop = _decoder().raw_decode(text, place)
            value = parse(raw[place:stop])
        except (ValueError, RecursionError):
            return found, end
        if not _is_record(value) or (strict and not found and not _has_envelope(value)):
            return found, end
        found.append(raw[place:stop])
        end = place = stop
        while text[place : place + 1].isspace():
            place += 1


@cache
def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder()


def _is_record(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    if value["type"] == "session":
        return is_header(value)
    if value["type"] == "message":
        return isinstance(value.get("message"), dict)
    return value["type"] in ENTRY_TYPES or "parentId" in value


def _has_envelope(value: dict[str, Any]) -> bool:
    return isinstance(value.get("id"), str) and isinstance(value.get("timestamp"), str) and "parentId" in value
