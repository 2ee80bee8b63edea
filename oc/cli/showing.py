"""The lines that `oc session show` prints: which they are is known before their bytes are read from the file."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import BinaryIO

from oc.base.jsonl import dump_line, parse
from oc.cli.out import Out
from oc.cli.stream import Item, Stream, write_items
from oc.errors import NotFound
from oc.message.shapes import calls
from oc.session.backward import Ending, read_ending, to_root
from oc.session.context import context_entries
from oc.session.entry import Entry
from oc.session.transcript import Transcript, read_stream
from oc.session.tree import entry_named, leaf_path


class Shown:
    """The path to a leaf in a file: read from its end where that can be done, else whole."""

    def __init__(self, file: BinaryIO, name: str, leaf_id: str | None, *, full: bool, seekable: bool) -> None:
        self._file = file
        self._ending: Ending | None = None
        if seekable:
            try:
                self._ending = read_ending(file, name, leaf_id=leaf_id, outline=True, until=to_root if full else None)
            except NotFound:  # no id: the start of one or a label, for which the whole must be known
                file.seek(0)
        if self._ending is None:
            self.transcript: Transcript = read_stream(file, name)
            entries = self.transcript.entries
            named = None if leaf_id is None else entry_named(entries, leaf_id, name)
            self.path: Sequence[Entry] = leaf_path(entries, named)
        else:
            self.transcript = self._ending.transcript
            self.path = self.transcript.entries

    def context(self) -> list[Entry]:
        return context_entries(self.path)

    def items(self, entries: Sequence[Entry]) -> Iterator[Item]:
        """Yields entries of the path or the context, with the values that their lines have."""
        if self._ending is None:
            yield from map(Item, self.transcript.raws_of(entries), entries)
            return
        for entry, offset, length in self._placed(entries, self._ending):
            if offset < 0:
                yield Item(None, entry)
            else:
                raw = self._read(offset, length)
                yield Item(raw, parse(raw))

    def write(self, out: Out, entries: Sequence[Entry]) -> None:
        """Writes entries of the path or the context; lines that stand together in the file are copied together."""
        if self._ending is None:
            write_items(out, Stream("entries", None, []), self.items(entries))
            return
        start = end = -1
        for entry, offset, length in self._placed(entries, self._ending):
            if offset == end and offset >= 0:
                end += length + 1
                continue
            self._copy(out, start, end)
            start, end = offset, offset + length + 1
            if offset < 0:
                out.write(dump_line(entry))
        self._copy(out, start, end)

    def _placed(self, entries: Sequence[Entry], ending: Ending) -> Iterator[tuple[Entry, int, int]]:
        """Yields entries with offset and length of their lines; derived ones have none, and -1 for both."""
        places = dict(zip(map(id, self.path), count(), strict=False))
        for entry in entries:
            place = places.get(id(entry))
            if place is None:
                yield entry, -1, -1
            else:
                yield entry, ending.offsets[place], ending.lengths[place]

    def _copy(self, out: Out, start: int, end: int) -> None:
        if start >= 0:
            out.copy(self._file, start, end - start - 1)
            out.write(b"\n")

    def _read(self, offset: int, length: int) -> bytes:
        self._file.seek(offset)
        return self._file.read(length)


def chosen(items: Iterable[Item], role: str | None, tool: str | None) -> Iterator[Item]:
    """Yields the items with a message of that role, and of those that call a tool or hold its result."""
    for item in items:
        message = item.message
        if message is None or (role is not None and message.get("role") != role):
            continue
        if tool is None or message.get("toolName") == tool or any(call.get("name") == tool for call in calls(message)):
            yield item
