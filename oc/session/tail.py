"""A transcript read backwards from its end, as far as needed: the leaf of a file of any size costs one block."""

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from oc.base.jsonl import parse
from oc.errors import BadInput
from oc.session.entry import Entry

BLOCK_BYTES = 1 << 16
MAX_BLOCK_BYTES = 1 << 22


def lines_backward(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
    """Yields (offset, line without its LF) from the last line to the first; what follows the last LF comes first."""
    end, block = size, BLOCK_BYTES
    pieces: list[bytes] = []  # of the line under way, the last piece first
    while end > 0:
        start = max(0, end - block)
        file.seek(start)
        first, *rest = file.read(end - start).split(b"\n")
        if rest:
            pieces.append(rest.pop())
            line_start = end - len(pieces[-1])
            yield line_start, b"".join(reversed(pieces))
            for line in reversed(rest):
                line_start -= len(line) + 1
                yield line_start, line
            pieces = []
        pieces.append(first)
        end, block = start, min(2 * block, MAX_BLOCK_BYTES)
    yield 0, b"".join(reversed(pieces))


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
        value = _value(raw)
        if isinstance(value, dict):
            if value.get("type") != "session":
                return Leaf(value, torn)
            seen_header = True
        elif unfinished:
            torn = True
        elif not seen_header:
            raise BadInput("the last line is not an entry", path=path, line=_number(file, offset))
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
        value = _value(raw)
        if isinstance(value, dict):
            if value.get("type") != "session":
                lines.append(raw)
        elif offset + len(raw) == size:
            end = offset
        else:
            skipped += 1
    return Tail(lines[::-1], end, skipped)


def _value(raw: bytes) -> Any:
    try:
        return parse(raw)
    except ValueError:
        return None


def _number(file: BinaryIO, offset: int) -> int:
    """Returns the 1-based number of the line that starts at `offset`."""
    file.seek(0)
    count = 1
    while offset > 0 and (block := file.read(min(offset, MAX_BLOCK_BYTES))):
        count += block.count(b"\n")
        offset -= len(block)
    return count
