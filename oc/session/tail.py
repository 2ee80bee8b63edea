"""A transcript read backwards from its end, as far as needed: the leaf of a file of any size costs one block."""

import os
from collections.abc import Callable, Iterator

from oc.base.jsonl import parse
from oc.base.typed import Any, BinaryIO, NamedTuple
from oc.errors import BadInput, InputOutput
from oc.session.entry import Entry

BLOCK_BYTES = 96 << 10  # larger ones leave the processor's cache and the allocator's heap


def lines_backward(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
    """Yields (offset, line without its LF) from the last line to the first; what follows the last LF comes first."""
    read = _reader(file)
    end = size
    pieces: list[bytes] = []  # of the line under way, the last piece first
    while end > 0:
        start = max(0, end - BLOCK_BYTES)
        block = read(end - start, start)
        stop = end - start
        if len(block) != stop:
            raise InputOutput("the file became shorter while it was read")
        while (at := block.rfind(b"\n", 0, stop)) >= 0:
            line = block[at + 1 : stop]
            if pieces:
                line = b"".join((line, *reversed(pieces)))
                pieces = []
            yield start + at + 1, line
            stop = at
        pieces.append(block[:stop])
        end = start
    yield 0, b"".join(reversed(pieces))


def _reader(file: BinaryIO) -> Callable[[int, int], bytes]:
    """Returns a function of length and offset; a buffer between it and the system would cost a quarter of the time."""

    def read(length: int, offset: int) -> bytes:
        file.seek(offset)
        return file.read(length)

    try:
        descriptor = file.fileno()
    except OSError:  # not a file of the system's
        return read
    return (lambda length, offset: os.pread(descriptor, length, offset)) if hasattr(os, "pread") else read


class Leaf(NamedTuple):
    """The last entry of a file (None: header only); `torn` tells that an unfinished line follows it."""

    entry: Entry | None
    torn: bool


def read_leaf(file: BinaryIO, size: int, path: str) -> Leaf:
    """Returns the leaf, from the end of a file of version 3 or above.

    A last line without LF that does not parse is a write that was never finished, and is passed over. A finished line
    that is no entry makes the leaf unsure: BadInput with its number.
    """
    torn = seen_header = False
    after = size
    for offset, raw in lines_backward(file, size):
        unfinished = after == size and offset + len(raw) == size
        after = offset
        if not raw.strip():
            continue
        value = value_of(raw)
        if isinstance(value, dict):
            if value.get("type") != "session":
                return Leaf(value, torn)
            seen_header = True
        elif unfinished:
            torn = True
        elif not seen_header:
            raise BadInput("the last line is not an entry", path=path, line=line_number(file, offset))
    return Leaf(None, torn)


class Tail(NamedTuple):
    """The lines of the last entries, the offset of what was not finished yet, how many lines are no entries."""

    lines: list[bytes]
    end: int
    skipped: int


def last_entries(file: BinaryIO, size: int, count: int) -> Tail:
    """Returns the last `count` entries as their lines; reads no further back than they reach."""
    lines: list[bytes] = []
    end, skipped = size, 0
    for offset, raw in lines_backward(file, size):
        if len(lines) >= count:
            break
        if not raw.strip():
            continue
        value = value_of(raw)
        if isinstance(value, dict):
            if value.get("type") != "session":
                lines.append(raw)
        elif offset + len(raw) == size:
            end = offset
        else:
            skipped += 1
    return Tail(lines[::-1], end, skipped)


def value_of(raw: bytes) -> Any:
    """Returns what a line holds, None when it is not JSON."""
    try:
        return parse(raw)
    except ValueError:
        return None


def line_number(file: BinaryIO, offset: int, since: int = 0) -> int:
    """Returns the 1-based number of the line that starts at `offset`, counted from the line that starts at `since`."""
    file.seek(since)
    left, count = offset - since, 1
    while left > 0 and (block := file.read(min(left, BLOCK_BYTES))):
        count += block.count(b"\n")
        left -= len(block)
    return count
