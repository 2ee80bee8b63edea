"""sessions.json made again from what is left: its own pieces, copies of it, and the transcripts.

OpenClaw takes an unreadable store for an empty one and overwrites it (design D5); here its rows are dug out of it.
A transcript does not say which key it was under: what no row and no copy names is filed under a key of its own, the
newest one under the main key if that has none.
"""

import json
import os
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from oc.base import files
from oc.base.clock import parse_iso
from oc.base.jsonl import parse
from oc.base.text import pattern
from oc.config.paths import Places
from oc.errors import BadInput
from oc.message.usage import number
from oc.session import store
from oc.session.archive import REASONS, archived_at, is_primary, is_rotated
from oc.session.entry import is_header
from oc.session.maintain import referenced, transcripts_of
from oc.session.transcript import open_file
from oc.session_key import is_session_id

_NAME = r'"((?:[^"\\]|\\.)*)"\s*:\s*(?=\{)'
_LONE_KEYS = ("global", "unknown", "main")
# The last lines of a transcript tell when it was used and with which model.
_LAST_LINES = 50


class Change(NamedTuple):
    """`action`: replace (a store that cannot be read), add or salvage (a row), leave (an archive: history)."""

    action: str
    key: str | None
    session_id: str | None
    name: str
    origin: str


class Rebuilt(NamedTuple):
    """`backup` is the copy of the store from before, None as long as nothing was written."""

    changes: list[Change]
    store: store.Store
    backup: str | None = None

    @property
    def acts(self) -> bool:
        return any(change.action != "leave" for change in self.changes)


def planned(places: Places, main_key: str) -> Rebuilt:
    """Returns the store as it would be; rows of a store that can be read stay as they are."""
    store.refuse_database(places.store)
    names = sorted(os.listdir(places.sessions)) if os.path.isdir(places.sessions) else []
    rows, changes = _current(places)
    for name in sorted(filter(is_rotated, names), key=_rotated_at, reverse=True):
        for key, row in _rows_of(os.path.join(places.sessions, name)).items():
            known = store.look_up(rows, key).spelling is not None
            if not known and referenced([row], names) and not _is_used(rows, row):
                rows[key] = row
                changes.append(_change("add", key, row, f"copy {name}"))
    loose = set(filter(is_primary, names)) - referenced(rows.values(), names)
    found = [row for name in sorted(loose) if (row := _row_of(places.sessions, name)) is not None]
    for row in sorted(found, key=lambda row: (-row["updatedAt"], row["sessionId"])):
        is_main = store.look_up(rows, main_key).spelling is None
        key = main_key if is_main else _free_key(rows, f"agent:{places.agent}:recovered:{row['sessionId'].lower()}")
        rows[key] = row
        changes.append(_change("add", key, row, "newest transcript, so a guess" if is_main else "transcript"))
    changes += [_left(name) for name in names if any(archived_at(name, reason) is not None for reason in REASONS)]
    return Rebuilt(changes, rows)


def rebuilt(places: Places, main_key: str, *, now_ms: int, lock_timeout_ms: int = 10_000) -> Rebuilt:
    """Writes the store anew, under its lock, once its bytes from before are kept as `sessions.json.bak.<ms>`."""
    if not planned(places, main_key).acts:
        return planned(places, main_key)
    with files.lock(places.store, timeout_ms=lock_timeout_ms, stale_ms=files.STORE_STALE_MS):
        found = planned(places, main_key)
        if not found.acts:
            return found
        backup = _kept(places.store, now_ms)
        files.replace(places.store, store.store_text(found.store), 0o600)
    return found._replace(backup=backup)


def _kept(path: str, now_ms: int) -> str | None:
    """Copies the store beside itself, unless a run that was killed did so just before."""
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        before = file.read()
    while os.path.exists(backup := f"{path}.bak.{now_ms}"):
        with open(backup, "rb") as file:
            if file.read() == before:
                return backup
        now_ms += 1
    files.replace(backup, before, 0o600)
    return backup


def _current(places: Places) -> tuple[store.Store, list[Change]]:
    """Returns the rows of the store; of one that cannot be read, those that can be dug out of it."""
    try:
        return store.load(places.store), []
    except BadInput as error:
        with open(places.store, "rb") as file:
            rows = salvaged_rows(file.read())
        name = os.path.basename(places.store)
        replaced = Change("replace", None, None, name, error.message.partition(";")[0])
        return rows, [replaced, *(_change("salvage", key, row, "the store's own bytes") for key, row in rows.items())]


def _rows_of(path: str) -> store.Store:
    with open(path, "rb") as file:
        raw = file.read()
    try:
        rows = parse(raw)
    except ValueError:
        return salvaged_rows(raw)
    return {key: row for key, row in rows.items() if transcripts_of(row)} if isinstance(rows, dict) else {}


def salvaged_rows(raw: bytes) -> store.Store:
    """Returns the whole rows that stand in the bytes of a broken store, under their keys."""
    text = raw.decode("latin-1")  # a byte a character, so that places are the same in both
    decoder = json.JSONDecoder()
    found: store.Store = {}
    end = 0
    for name in pattern(_NAME).finditer(text):
        if name.start() < end:
            continue
        try:
            key = parse(raw[name.start() : name.end(1) + 1])
            _, stop = decoder.raw_decode(text, name.end())
            row = parse(raw[name.end() : stop])
        except (ValueError, RecursionError):
            continue
        # An object inside of a broken row may have a session id too, but is called otherwise.
        if transcripts_of(row) and (":" in key or key in _LONE_KEYS):
            found[key] = row
            end = stop
    return found


def _rotated_at(name: str) -> int:
    return int(name.rpartition(".")[2])


def _is_used(rows: store.Store, row: store.Row) -> bool:
    """Says whether another key has the session by now."""
    return any(isinstance(other, dict) and other.get("sessionId") == row.get("sessionId") for other in rows.values())


def _free_key(rows: store.Store, key: str) -> str:
    found, count = key, 1
    while store.look_up(rows, found).spelling is not None:
        count += 1
        found = f"{key}-{count}"
    return found


def _change(action: str, key: str, row: store.Row, origin: str) -> Change:
    return Change(action, key, row["sessionId"], transcripts_of(row)[0], origin)


def _left(name: str) -> Change:
    return Change("leave", None, name.partition(".jsonl")[0], name, "archive: history, no session of today")


def _row_of(folder: str, name: str) -> store.Row | None:
    """Returns a row for a transcript, from its header and its last lines; None for a file that is none."""
    path = os.path.join(folder, name)
    last: deque[bytes] = deque(maxlen=_LAST_LINES)
    compactions = 0
    with open_file(path) as file:
        first = file.readline()
        for raw in file:
            last.append(raw)
            compactions += b'"type":"compaction"' in raw[:200]
        modified_ms = os.fstat(file.fileno()).st_mtime_ns // 1_000_000
    header = _object(first)
    if not is_header(header):
        return None
    stem = name.removesuffix(".jsonl")
    session_id = header["id"] if is_session_id(header["id"]) else stem
    if not is_session_id(session_id):
        return None
    told = list(_told(last))
    row: store.Row = {"sessionId": session_id, "updatedAt": max([when for when, _ in told], default=modified_ms)}
    if name != f"{session_id}.jsonl":
        row["sessionFile"] = name
    answers = [message for _, message in told if message.get("role") == "assistant"]
    for field, told_as in (("modelProvider", "provider"), ("model", "model")) if answers else ():
        if isinstance(answers[-1].get(told_as), str):
            row[field] = answers[-1][told_as]
    return row | {"compactionCount": compactions}


def _told(lines: deque[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields when each of the messages was said, with the message."""
    for raw in lines:
        entry = _object(raw)
        message = entry.get("message")
        if isinstance(message, dict):
            when = number(message.get("timestamp")) or parse_iso(entry.get("timestamp"))
            if when is not None and when > 0:
                yield int(when), message


def _object(raw: bytes) -> dict[str, Any]:
    try:
        value = parse(raw)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
