"""The end of a path: as much of a transcript, read backwards from its end, as the context of a leaf needs.

The newest compaction on the path folds everything before the entry it kept first, so nothing before that entry is
read, however long the file is. Only version 3 with all links written down can be read so; the rest is read whole.
"""

import os
import stat
from array import array
from collections.abc import Callable, Iterator

import orjson

from oc.base.text import js_trim
from oc.base.typed import BinaryIO, NamedTuple
from oc.errors import NotFound
from oc.session.entry import VERSION, Entry, Finding, is_header, version_of
from oc.session.tail import line_number, lines_backward, value_of
from oc.session.transcript import Transcript, no_entry, open_file, read_stream, scan
from oc.session.tree import by_id

# A message whose content is left in the file: its bytes go out as they are.
_LEFT_THERE: dict[str, object] = {}


class Ending(NamedTuple):
    """`transcript` has of the path what the context needs, oldest first, and no line numbers.

    `offsets` and `lengths` say where its lines stand in the file, in bytes.
    """

    transcript: Transcript
    offsets: "array[int]"
    lengths: "array[int]"


class _Unlinked(Exception):
    """An entry whose id or parent is told only by the lines before it."""


def read_ending(
    file: BinaryIO,
    name: str,
    *,
    leaf_id: str | None = None,
    outline: bool = False,
    until: Callable[[Entry], bool] | None = None,
) -> Ending | None:
    """Returns the end of the path to a leaf (None: the last entry).

    None, with the file at its start, where it must be read whole. With `outline` messages come without their content
    and no line is held. The path goes back as far as the context needs, or with `until` to the newest entry of which it
    is true. Raises NotFound when no entry has that id.
    """
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        return None
    file.seek(0)
    skipped: list[Finding] = []
    first = next(scan(file, skipped), None)
    if first is None or not is_header(first[2]) or version_of(first[2]) != VERSION:
        file.seek(0)
        return None
    walk = _Walk(file, file.tell(), status.st_size, outline=outline, until=until)
    try:
        walk.run(leaf_id)
    except _Unlinked:
        file.seek(0)
        return None
    if not walk.entries and leaf_id is not None:
        raise NotFound(f"no entry {leaf_id}", path=name)
    skipped = [*(skipped if walk.at_start else ()), *walk.findings()]
    for found in (walk.entries, walk.raws, walk.offsets, walk.lengths):
        found.reverse()
    raws = walk.raws or [None] * len(walk.entries)
    transcript = Transcript(name, first[2], first[1], walk.entries, raws, [], skipped, VERSION)
    return Ending(transcript, walk.offsets, walk.lengths)


def find_entry(path: str, entry_id: str) -> Entry | None:
    """Returns the newest entry of a transcript with that id, looked for from the end; None when there is none."""
    with open_file(path) as file:
        try:
            ending = read_ending(file, path, leaf_id=entry_id, until=lambda _: True)
        except NotFound:
            return None
        found = read_stream(file, path) if ending is None else ending.transcript
    return by_id(found.entries).get(entry_id)


def to_root(_: Entry) -> bool:
    """Lets `read_ending` read the whole path."""
    return False


class _Walk:
    """One way back through a file, from its end towards its header; the lists hold the path, the leaf first."""

    def __init__(
        self, file: BinaryIO, start: int, size: int, *, outline: bool, until: Callable[[Entry], bool] | None
    ) -> None:
        self.file, self.start, self.size = file, start, size
        self.outline, self.until = outline, until
        self.entries: list[Entry] = []
        self.raws: list[bytes | None] = []
        self.offsets = array("q")
        self.lengths = array("q")
        self.at_start = False
        self._bad: list[tuple[int, int]] = []  # offsets and lengths of lines that are no entries
        # Of each id where its last line begins, as a reader of the whole has it; -1 once it is on the path.
        self._passed: dict[str, int] = {}
        self._first_kept: str | None = None

    def run(self, leaf_id: str | None) -> None:
        """Follows the path from the leaf (None: the last entry) until nothing more of it is needed."""
        wanted, passed, loads = leaf_id, self._passed, orjson.loads
        for offset, raw in lines_backward(self.file, self.size):
            if offset < self.start:
                break
            try:
                value = loads(raw)
            except ValueError:
                value = value_of(raw) if raw else None
            if not isinstance(value, dict):
                if js_trim(raw.decode("utf-8", "replace")):
                    self._bad.append((offset, len(raw)))
                continue
            kind = value.get("type")
            if kind == "session":
                continue
            entry_id = value.get("id")
            if not isinstance(entry_id, str):
                if wanted is None:
                    raise _Unlinked
            elif entry_id not in passed:
                passed[entry_id] = offset
                if entry_id == wanted or wanted is None:
                    wanted = self._follow(value, raw, offset)
                    if wanted is None:
                        return
        self.at_start = True

    def _follow(self, entry: Entry, raw: bytes, offset: int) -> str | None:
        """Takes an entry into the path, and those of its forebears that were passed already.

        Returns the id of the next one to look for, None at the end.
        """
        passed = self._passed
        while True:
            if "parentId" not in entry:
                raise _Unlinked
            entry_id, parent, kind = entry["id"], entry["parentId"], entry.get("type")
            passed[entry_id] = -1
            self.offsets.append(offset)
            self.lengths.append(len(raw))
            if not self.outline:
                self.raws.append(raw)
            elif kind == "message" and isinstance(entry.get("message"), dict):
                entry = {"type": kind, "id": entry_id, "message": _LEFT_THERE}
            self.entries.append(entry)
            if entry_id == self._first_kept or (kind == "compaction" and self._is_enough(entry)):
                return None
            if self.until is not None and self.until(entry):
                return None
            if not isinstance(parent, str):
                return None
            if parent not in passed:
                return parent
            offset = passed[parent]  # it stands behind its child in the file
            if offset < 0:
                return None
            self.file.seek(offset)
            raw = self.file.readline().removesuffix(b"\n")
            entry = value_of(raw)

    def _is_enough(self, compaction: Entry) -> bool:
        """Notes what the newest compaction kept first; says whether that is nothing, so that the path may end here."""
        if self.until is not None or self._first_kept is not None:
            return False
        kept = compaction.get("firstKeptEntryId")
        # What is no id, or an id that stands after the cut, is not before it: nothing was kept.
        if not isinstance(kept, str) or any(taken["id"] == kept for taken in self.entries):
            return True
        self._first_kept = kept
        return False

    def findings(self) -> Iterator[Finding]:
        """Yields the lines that are no entries, in order; their numbers cost counting the lines before them."""
        number, since = 1, 0
        for offset, length in reversed(self._bad):
            number += line_number(self.file, offset, since) - 1
            since = offset
            self.file.seek(offset)
            yield no_entry(number, self.file.read(length), finished=offset + length < self.size)
