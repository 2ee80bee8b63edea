"""Transcript files: reading all versions, appending under the lock, migration of older files when appended to.

Reading never changes a file. The rules of loading are Pi 0.58's (table: sessions-load), except that a file without a
valid header is refused instead of replaced (design D1) and everything is on disk at once (D2).
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from io import BytesIO

from oc.base import files
from oc.base.clock import Ids
from oc.base.jsonl import dump_line, parse
from oc.base.text import js_trim
from oc.base.typed import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from oc.errors import BadInput, Busy, NotFound
from oc.session.entry import VERSION, Entry, Finding, is_header, link, migrate, version_of

if TYPE_CHECKING:
    from oc.session.upgrade import Upgrade

# A new 8-digit id is looked for in files up to this size; larger ones get whole UUIDs, which need no looking.
SCANNED_BYTES = 8 << 20

# Line number, line without LF, the object it holds.
Line = tuple[int, bytes, Entry]


class Transcript(NamedTuple):
    """A whole transcript: `entries` as version 3, linked; `raws` their lines without LF, None where there is none.

    `numbers` are the entries' line numbers, `skipped` the lines that are no entries, `version` the header's own.
    """

    path: str
    header: Entry
    header_raw: bytes | None
    entries: list[Entry]
    raws: list[bytes | None]
    numbers: list[int]
    skipped: list[Finding]
    version: float

    @property
    def leaf_id(self) -> str | None:
        return self.entries[-1]["id"] if self.entries else None

    def raws_of(self, entries: Sequence[Entry]) -> list[bytes | None]:
        """Returns the lines of some of the entries (those very dicts), None for what stands in no line."""
        places = {id(entry): place for place, entry in enumerate(entries)}
        found: list[bytes | None] = [None] * len(entries)
        for entry, raw in zip(self.entries, self.raws, strict=True):
            place = places.get(id(entry))
            if place is not None:
                found[place] = raw
        return found


def scan(stream: BinaryIO, skipped: list[Finding]) -> Iterator[Line]:
    """Yields (line number, line without LF, object) and notes the lines that are none; blank lines are nothing."""
    first = True
    for number, line in enumerate(stream, 1):
        finished = line.endswith(b"\n")
        raw = line[:-1] if finished else line
        try:
            value = parse(raw)
        except ValueError:
            # The reference trims the file as a whole, a byte order mark included.
            trimmed = js_trim(raw.decode("utf-8", "replace"))
            if not trimmed:
                continue
            value = _value(trimmed) if first and trimmed[0] in "[{" and raw[:1] not in b"[{" else None
            if value is None:
                skipped.append(no_entry(number, raw, finished=finished))
                continue
        if isinstance(value, dict):
            first = False
            yield number, raw, value
        else:
            skipped.append(no_entry(number, raw, finished=finished))


def _value(text: str) -> Any:
    try:
        return parse(text)
    except ValueError:
        return None


def no_entry(number: int, raw: bytes, *, finished: bool) -> Finding:
    """Returns the finding for a line that is no entry; an unfinished one is the end of a write that was cut off."""
    try:
        parse(raw)
    except ValueError:
        if finished:
            return Finding(number, "unparsable", "error", "the line is not JSON")
        return Finding(number, "torn", "error", "the last line is not finished")
    return Finding(number, "not-an-object", "error", "the line is JSON but not an object")


def read(path: str) -> Transcript:
    """Reads a transcript file; NotFound when it is not there, BadInput when it has no valid header."""
    with open_file(path) as file:
        return read_stream(file, path)


def open_file(path: str) -> BinaryIO:
    """Opens a transcript, be it a file, a compressed archive or rows of OpenClaw's database.

    NotFound without it, BadInput for a device.
    """
    if ".sqlite#" in path or path.endswith(".zst"):
        from oc.session import openclaw_db

        packed = openclaw_db.open_transcript(path)
        if packed is not None:
            return packed
    return files.open_input(path)


def read_stream(stream: BinaryIO, name: str) -> Transcript:
    """Reads a transcript from an open stream; `name` stands for it in messages."""
    skipped: list[Finding] = []
    return assemble(scan(stream, skipped), skipped, name)


def assemble(lines: Iterator[Line], skipped: list[Finding], name: str) -> Transcript:
    """Makes a transcript of parsed lines, of which the first must be the header."""
    header_raw: bytes | None
    _, header_raw, header = need_header(lines, skipped, name)
    parsed = list(lines)
    positions = [place for place, line in enumerate(parsed, 1) if line[2].get("type") != "session"]
    if len(positions) < len(parsed):
        parsed = [parsed[place - 1] for place in positions]
    numbers = [line[0] for line in parsed]
    raws: list[bytes | None] = [line[1] for line in parsed]
    entries = [line[2] for line in parsed]
    version = version_of(header)
    if version < VERSION:
        migrated = migrate(header, entries, [line[1] for line in parsed], positions)
        parsed.clear()  # each old line is let go as the new one is made: 1 MB less to touch per MB of transcript
        _migrate_lines(raws, entries, migrated.entries)
        header, header_raw, entries = migrated.header, None, migrated.entries
    link(entries, raws, version)
    return Transcript(name, header, header_raw, entries, raws, numbers, skipped, version)


def _migrate_lines(raws: list[bytes | None], olds: Sequence[Entry], news: Sequence[Entry]) -> None:
    """Replaces, one by one, the lines of migrated entries: their own bytes with id and parent at the end.

    None where more has changed than that, and the line has to be written anew.
    """
    for place, (raw, old, new) in enumerate(zip(raws, olds, news, strict=True)):
        if raw is None or new is old:
            continue
        raws[place] = None
        body = raw.rstrip()
        own_ids = "id" in old or "parentId" in old or "firstKeptEntryIndex" in old
        if not own_ids and new.get("message") is old.get("message") and body.endswith(b"}"):
            parent = new["parentId"]
            tail = (
                f'"id":"{new["id"]}","parentId":null}}'
                if parent is None
                else (f'"id":"{new["id"]}","parentId":"{parent}"}}')
            )
            raws[place] = body[:-1] + (b"," if old else b"") + tail.encode()


def need_header(lines: Iterator[Line], skipped: Sequence[Finding], name: str) -> Line:
    """Returns the first of the parsed lines; raises BadInput when it is no header."""
    first = next(lines, None)
    if first is None:
        empty = not skipped
        raise BadInput(
            "empty, no session header" if empty else "no session header", path=name, line=None if empty else 1
        )
    if not is_header(first[2]):
        raise BadInput("no session header before the first entry", path=name, line=first[0])
    return first


def create(path: str, header: Entry, *, lock_timeout_ms: int = 10_000) -> bool:
    """Writes a new transcript with that header, mode 0600; False when the file is there already.

    The file appears whole: a header half written would never be read again.
    """
    refuse_read_only(path)
    files.make_folder(os.path.dirname(os.path.abspath(path)))
    with files.lock(path, timeout_ms=lock_timeout_ms):
        if os.path.lexists(path):
            return False
        files.replace(path, dump_line(header), 0o600)
        return True


def append(  # noqa: PLR0913 - one writer serves all
    path: str,
    entries: Sequence[Entry],
    *,
    ids: Ids | None = None,
    after: str | None = None,
    lock_timeout_ms: int | None = 10_000,
    warn: Callable[[str], None] | None = None,
) -> list[Entry]:
    """Appends whole entries to the leaf and returns them as written; on disk when it returns.

    Each entry becomes the child of the one before, the first one of the leaf as it is under the lock; one without an
    `id` gets one. With `lock_timeout_ms` None the caller holds the lock. A file of version 1 or 2 is replaced by one of
    version 3 that has the entries, its bytes kept beside it as `<path>.v<version>-<time of the first new entry>.bak`.
    BadInput when the header or the last finished line is bad, or an id is known already; Busy when the leaf is not
    `after` any more.
    """
    from oc.session.tail import read_leaf

    with _writing(path, lock_timeout_ms):
        if not entries:
            return []
        upgrade = _upgrade(path)
        with _current(path, upgrade) as file:
            size = file.seek(0, os.SEEK_END)
            leaf = read_leaf(file, size, path)
            taken = _Taken(file, size, ids)
            _refuse_known(file, path, entries)
        if leaf.torn and warn is not None:
            warn(f"{path}: the last line was never finished; it is left as it is")
        leaf_id = _leaf_id(leaf.entry, path)
        if after is not None and leaf_id != after:
            raise Busy("another writer went on with the session meanwhile", path=path, hint="try again")
        return _write(path, _hang(entries, leaf_id, ids or Ids(), taken), upgrade, warn)


def branch(
    path: str,
    parent_id: str | None,
    entries: Sequence[Entry],
    *,
    ids: Ids | None = None,
    lock_timeout_ms: int | None = 10_000,
) -> list[Entry]:
    """Appends entries to another entry than the leaf, or as a new root (None); otherwise as `append`.

    NotFound when there is no entry with that id. Labels are appended to the leaf as any entry, so not with this.
    """
    with _writing(path, lock_timeout_ms):
        upgrade = _upgrade(path)
        if parent_id is not None:
            need_entry(path, parent_id)
        with _current(path, upgrade) as file:
            taken = _Taken(file, file.seek(0, os.SEEK_END), ids)
            _refuse_known(file, path, entries)
        return _write(path, _hang(entries, parent_id, ids or Ids(), taken), upgrade, None)


def need_entry(path: str, entry_id: str) -> None:
    """Raises NotFound unless an entry of the file has that id."""
    from oc.session.backward import find_entry

    if find_entry(path, entry_id) is None:
        raise NotFound(f"no entry {entry_id}", path=path)


def _writing(path: str, lock_timeout_ms: int | None) -> AbstractContextManager[None]:
    """Returns the lock that a writer holds; a file that is not there leaves no lock behind."""
    need_writable(path)
    return nullcontext() if lock_timeout_ms is None else files.lock(path, timeout_ms=lock_timeout_ms)


def need_writable(path: str) -> None:
    """Raises unless the path names a transcript that can be appended to: a regular file that is there.

    Asked before the file is opened: a pipe would wait for its writer for ever.
    """
    refuse_read_only(path)
    files.need_regular(path)


def refuse_read_only(path: str) -> None:
    """Raises Unavailable for a transcript in OpenClaw's database and for a compressed archive."""
    if ".sqlite#" in path or path.endswith(".zst"):
        from oc.session import openclaw_db

        openclaw_db.refuse_writing(path)


def _upgrade(path: str) -> "Upgrade | None":
    """Checks the header; returns what a file of version 1 or 2 is to be replaced by."""
    with open_file(path) as file:
        version = version_of(_read_header(file, path))
    if version >= VERSION:
        return None
    from oc.session.upgrade import upgrade_of

    return upgrade_of(path)


def _current(path: str, upgrade: "Upgrade | None") -> BinaryIO:
    """Opens the file as version 3, be it on disk yet or not."""
    return open_file(path) if upgrade is None else BytesIO(upgrade.after)


def _write(
    path: str, written: list[Entry], upgrade: "Upgrade | None", warn: Callable[[str], None] | None
) -> list[Entry]:
    data = b"".join(map(dump_line, written))
    if upgrade is None:
        files.append(path, data)
        return written
    backup = upgrade.write(data, str(written[0].get("timestamp")))
    if warn is not None:
        warn(f"{path}: rewritten as version {VERSION}; the original is {backup}")
    return written


def _read_header(file: BinaryIO, path: str) -> Entry:
    skipped: list[Finding] = []
    return need_header(scan(file, skipped), skipped, path)[2]


def _leaf_id(entry: Entry | None, path: str) -> str | None:
    if entry is None:
        return None
    leaf_id = entry.get("id")
    if not isinstance(leaf_id, str):
        raise BadInput("the last entry has no id, nothing can hang on it", path=path)
    return leaf_id


class _Taken:
    """Says whether an id may stand in the file: any quoted occurrence counts, so it errs on the safe side."""

    def __init__(self, file: BinaryIO, size: int, ids: Ids | None) -> None:
        self.new: set[str] = set()
        # A seeded sequence of ids starts anew in each process, so its ids collide for certain.
        self.scanned = size <= SCANNED_BYTES or (ids is not None and ids.seeded)
        self._data = b""
        if self.scanned:
            file.seek(0)
            self._data = file.read()

    def __contains__(self, entry_id: object) -> bool:
        if entry_id in self.new:
            return True
        return f'"{entry_id}"'.encode() in self._data


def _hang(entries: Sequence[Entry], leaf_id: str | None, ids: Ids, taken: _Taken) -> list[Entry]:
    """Returns the entries chained below the leaf, each with an id of its own."""
    written = []
    for entry in entries:
        entry_id = entry.get("id")
        if entry_id is None:
            entry_id = ids.entry(taken) if taken.scanned else ids.uuid()
        if entry_id in taken.new:
            raise BadInput(f"two entries with the id {entry_id}")
        taken.new.add(entry_id)
        written.append(_with_envelope(entry, entry_id, leaf_id))
        leaf_id = entry_id
    return written


def _with_envelope(entry: Entry, entry_id: str, parent_id: str | None) -> Entry:
    """Returns the entry with id and parent where Pi writes them, or where the entry has them already."""
    if "id" in entry:
        return {**entry, "parentId": parent_id}
    envelope = {"id": entry_id, "parentId": parent_id}
    kind, rest = entry.get("type"), {k: v for k, v in entry.items() if k not in ("type", "parentId")}
    if kind in ("custom", "custom_message"):
        when = rest.pop("timestamp", None)
        return {"type": kind, **rest, **envelope, "timestamp": when}
    return {"type": kind, **envelope, **rest}


def _refuse_known(file: BinaryIO, path: str, entries: Sequence[Entry]) -> None:
    """Raises BadInput when an entry that brings its id is in the file already."""
    wanted = {entry["id"] for entry in entries if "id" in entry}
    if not wanted:
        return
    file.seek(0)
    for number, _, value in scan(file, []):
        entry_id = value.get("id")
        if value.get("type") != "session" and isinstance(entry_id, str) and entry_id in wanted:
            raise BadInput(f"there is an entry with the id {entry_id} already", path=path, line=number)
