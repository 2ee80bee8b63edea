"""Entries and headers of a transcript: how new ones are built, how older formats become version 3 in memory. Pure.

The format is Pi 0.58's, version 3 (tables: sessions-load, sessions-manager). Unknown keys and types pass through.
"""

import math
import zlib
from collections.abc import Container, Sequence

from oc.base.jsonl import dump
from oc.base.typed import Any, NamedTuple

Entry = dict[str, Any]
VERSION = 3
_ID_BYTES = 256


class Finding(NamedTuple):
    """Something wrong at a 1-based line; `code` is stable, `severity` is error, warning or note.

    The message never quotes the line, which may hold secrets.
    """

    line: int
    code: str
    severity: str
    message: str
    entry_id: str | None = None


def new_header(session_id: str, timestamp: str, cwd: str, parent_session: str | None = None) -> Entry:
    header = {"type": "session", "version": VERSION, "id": session_id, "timestamp": timestamp, "cwd": cwd}
    return header if parent_session is None else {**header, "parentSession": parent_session}


def new_entry(kind: str, entry_id: str, parent_id: str | None, timestamp: str, fields: Entry) -> Entry:
    """Returns an entry with its keys in the order in which Pi writes them; fields that are None are left out."""
    envelope = {"id": entry_id, "parentId": parent_id, "timestamp": timestamp}
    kept = {name: value for name, value in fields.items() if value is not None}
    if kind in ("custom", "custom_message"):
        return {"type": kind, **kept, **envelope}
    return {"type": kind, **envelope, **kept}


def is_header(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") == "session" and isinstance(value.get("id"), str)


def version_of(header: Entry) -> float:
    """Returns the version as JavaScript compares it: no key is 1, "3" is 3; what is no number counts as current."""
    version = header.get("version")
    if version is None:
        return 1
    try:
        number = float(version) if not isinstance(version, str) else float(version.strip() or 0)
    except (TypeError, ValueError, OverflowError):
        return VERSION
    return VERSION if math.isnan(number) else number


def derived_id(raw: bytes, previous: str | None, taken: Container[str]) -> str:
    """Returns an 8-digit id made from a line and the id before it: the same on every reading of the same file.

    Lines of version 1 have no ids; a random one would name another entry in each command of a pipe. The end of a line
    is enough to make it: the id before tells equal ends apart.
    """
    return f"{_free_number(raw, int(previous, 16) if previous else 0, taken):08x}"


def _free_number(raw: bytes, previous: int, taken: Container[str]) -> int:
    number = zlib.crc32(raw[-_ID_BYTES:], previous)
    while f"{number:08x}" in taken:
        number = (number + 1) & 0xFFFFFFFF
    return number


class Migrated(NamedTuple):
    """An entry that is the very object that was given did not change."""

    header: Entry
    entries: list[Entry]


def migrate(header: Entry, entries: Sequence[Entry], raws: Sequence[bytes], positions: Sequence[int]) -> Migrated:
    """Returns header and entries as version 3; what is version 3 or above comes back as it is.

    `positions` are the entries' indices among all parsed lines (the header is 0), to which a version 1 compaction's
    `firstKeptEntryIndex` points.
    """
    version = version_of(header)
    if version >= VERSION:
        return Migrated(header, list(entries))
    header = {**header, "version": VERSION}
    chained = _chain(entries, raws, positions) if version < 2 else entries
    return Migrated(header, [_renamed(entry) or entry for entry in chained])


def _chain(entries: Sequence[Entry], raws: Sequence[bytes], positions: Sequence[int]) -> list[Entry]:
    """Gives every entry an id and the entry before it as parent: version 1 knew no branches."""
    previous: str | None = None
    number = 0
    taken: set[str] = set()
    chained = []
    for entry, raw in zip(entries, raws, strict=True):
        number = _free_number(raw, number, taken)
        entry_id = f"{number:08x}"
        taken.add(entry_id)
        chained.append({**entry, "id": entry_id, "parentId": previous})
        previous = entry_id
    if any("firstKeptEntryIndex" in entry for entry in entries):
        _point_to_ids(entries, chained, positions)
    return chained


def _point_to_ids(entries: Sequence[Entry], chained: Sequence[Entry], positions: Sequence[int]) -> None:
    """Replaces the index that a compaction of version 1 has by the id of the entry it means, in the new entries."""
    # What an index finds: new ids for lines already passed, whatever stood there for later ones.
    ids: dict[float, Any] = {position: entry.get("id") for position, entry in zip(positions, entries, strict=True)}
    for entry, new, position in zip(entries, chained, positions, strict=True):
        ids[position] = new["id"]
        index = entry.get("firstKeptEntryIndex") if entry.get("type") == "compaction" else None
        if isinstance(index, int | float) and not isinstance(index, bool):
            del new["firstKeptEntryIndex"]
            if ids.get(index) is not None:
                new["firstKeptEntryId"] = ids[index]


def _renamed(entry: Entry) -> Entry | None:
    """Returns the entry with the message role of version 2 renamed, None when there is nothing to rename."""
    message = entry.get("message")
    if entry.get("type") == "message" and isinstance(message, dict) and message.get("role") == "hookMessage":
        return {**entry, "message": {**message, "role": "custom"}}
    return None


def link(entries: list[Entry], raws: list[bytes | None], version: float) -> None:
    """Gives ids and parents to entries that lack them, in place (a list of fresh dicts is never shared).

    An absent `parentId` key means the entry before; above version 3 (excerpts as people publish them) so does the id
    of an entry that is not in the file. An absent id is derived from the line, and the line's bytes no longer hold.
    """
    known = {entry["id"] for entry in entries if isinstance(entry.get("id"), str)} if version > VERSION else None
    previous: str | None = None
    for index, entry in enumerate(entries):
        entry_id = entry.get("id")
        if not isinstance(entry_id, str):
            raw = raws[index] or dump(entry)
            entry_id = derived_id(raw, f"{zlib.crc32(str(index).encode()):08x}", ())
            entries[index] = {**entry, "id": entry_id}
            raws[index] = None
        if "parentId" not in entry or (known is not None and _dangling(entry["parentId"], known)):
            entries[index] = {**entries[index], "parentId": previous}
        previous = entry_id


def _dangling(parent: Any, known: Container[str]) -> bool:
    return parent is not None and not (isinstance(parent, str) and parent in known)
