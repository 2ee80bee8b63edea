"""The lines of a transcript as a check sees them: what parses, what does not and why, and where each line starts.

Lines are split and parsed as transcript.scan() does it, which every reader uses; what is noted here besides costs a
reader time that only a check has.
"""

from array import array
from collections.abc import Iterator
from typing import Any, BinaryIO

import orjson

from oc.base.jsonl import parse
from oc.base.text import js_trim
from oc.session.entry import Entry, Finding
from oc.session.salvage import records

Line = tuple[int, bytes, Entry]


class Lines:
    """One pass over a stream, yielding (line number, line without LF, object).

    `skipped` are the lines that are no entries, `odd` the numbers of those that are not strict JSON in UTF-8 (a lone
    surrogate, a bad byte) and are read all the same, `starts` the byte offsets of all lines read so far.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.skipped: list[Finding] = []
        self.odd: set[int] = set()
        self.starts = array("Q")
        self._stream = stream

    def __iter__(self) -> Iterator[Line]:
        started = False
        offset = 0
        note_start, loads, failure = self.starts.append, orjson.loads, orjson.JSONDecodeError
        for number, line in enumerate(self._stream, 1):
            note_start(offset)
            offset += len(line)
            raw = line[:-1] if line.endswith(b"\n") else line
            try:
                value = loads(raw)
            except failure:
                value = self._leniently(number, raw, started=started, finished=raw is not line)
            if isinstance(value, dict):
                started = True
                yield number, raw, value
            elif value is not _NOTHING:
                self.skipped.append(Finding(number, "not-an-object", "error", "the line is JSON but not an object"))

    def offset(self, number: int) -> int:
        """Returns the byte offset of a line; lines that were not read (of an empty file) start at 0."""
        return self.starts[number - 1] if number <= len(self.starts) else 0

    def _leniently(self, number: int, raw: bytes, *, started: bool, finished: bool) -> Any:
        """Returns what readers make of a line that orjson refuses; `_NOTHING` where that is nothing."""
        try:
            value = parse(raw)
        except ValueError:
            trimmed = js_trim(raw.decode("utf-8", "replace"))
            if not trimmed:
                return _NOTHING
            # The reference trims the file as a whole, a byte order mark included.
            trims = not started and trimmed[0] in "[{" and raw[:1] not in b"[{"
            if not trims or (value := _value(trimmed)) is None:
                self.skipped.append(no_entry(number, raw, finished=finished))
                return _NOTHING
        self.odd.add(number)
        return value


_NOTHING = object()


def _value(text: str) -> Any:
    try:
        return parse(text)
    except ValueError:
        return None


def no_entry(number: int, raw: bytes, *, finished: bool) -> Finding:
    """Says what is wrong with a line that does not parse."""
    whole = len(records(raw))
    if whole > 1:
        return Finding(number, "two-records", "error", f"{whole} records stand on one line")
    if whole:
        return Finding(number, "two-records", "error", "a whole record and a piece of another stand on one line")
    if finished:
        return Finding(number, "unparsable", "error", "the line is not JSON")
    return Finding(number, "torn", "error", "the last line is not finished")
