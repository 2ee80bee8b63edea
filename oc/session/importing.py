"""Puts imported sessions where `oc` keeps its own: whole files, nothing overwritten, the key last.

Each file is checked and read back before it appears and once more when it is there. A run that was killed goes on
where it was: a transcript that is there with the same beginning is the one that was to be written.
"""

import os
from typing import Any, NamedTuple

from oc.base import files
from oc.config.paths import Places
from oc.errors import BadInput, InputOutput
from oc.session import store
from oc.session.incoming import Incoming, read_back
from oc.session_key import chat_type, is_session_id


class Placed(NamedTuple):
    """`action` is imported or present; `key` the key that the session has now, None for none."""

    action: str
    session_id: str
    path: str
    key: str | None


class Target(NamedTuple):
    """Where a session goes: under `key`, if there is one, with the fields `row` that it had where it comes from."""

    places: Places
    key: str | None
    row: dict[str, Any] | None
    now_ms: int
    lock_timeout_ms: int


def with_usable_id(incoming: Incoming, new_id: str) -> Incoming:
    """Returns the session under an id that can be the name of a file: its own, or the new one."""
    if is_session_id(incoming.session_id):
        return incoming
    incoming.header = {**incoming.header, "id": new_id}
    incoming.header_raw = None
    incoming.session_id = new_id
    return incoming


def place(incoming: Incoming, target: Target, *, dry_run: bool) -> Placed:
    """Writes the transcript and files it under the key, if there is one; with `dry_run` only says what it would do.

    Raises BadInput when another session has the id or the key, or when what would be written cannot be read back.
    """
    places, key = target.places, target.key
    data = incoming.data()
    read_back(data, incoming)
    path = os.path.join(places.sessions, store.transcript_name(incoming.session_id))
    _refuse_taken(store.load(places.store), key, incoming.session_id, path)
    if dry_run:
        action = "present" if _is_there(path, data) else "imported"
        return Placed(action, incoming.session_id, path, key)
    store.refuse_database(places.store)
    action = _write(path, data, incoming, target.lock_timeout_ms)
    if key is not None and _file_under(key, target, incoming.session_id, path):
        action = "imported"
    return Placed(action, incoming.session_id, path, key)


def _refuse_taken(rows: store.Store, key: str | None, session_id: str, path: str) -> None:
    """Raises BadInput when the key or the id belongs to another session."""
    row = store.look_up(rows, key).row if key is not None else None
    if row is not None and row.get("sessionId") not in (None, session_id):
        raise BadInput(f"the key {key} has another session already, {row['sessionId']}", path=path)
    for name, other in rows.items():
        if isinstance(other, dict) and other.get("sessionId") == session_id:
            if store.transcript_path(other, session_id, os.path.dirname(path)) != path:
                raise BadInput(f"the session of {name} has the same id", path=path)
            if key is not None and name.lower() != key.lower():
                raise BadInput(f"the session is there already, under the key {name}", path=path)


def _is_there(path: str, data: bytes) -> bool:
    """Says whether the transcript is there, gone on since or not; BadInput when the file is another one."""
    try:
        with open(path, "rb") as file:
            begins_alike = file.read(len(data)) == data
    except FileNotFoundError:
        return False
    if not begins_alike:
        raise BadInput("another transcript has this name; it was not touched", path=path)
    return True


def _write(path: str, data: bytes, incoming: Incoming, lock_timeout_ms: int) -> str:
    files.make_folder(os.path.dirname(path))
    with files.lock(path, timeout_ms=lock_timeout_ms):
        if _is_there(path, data):
            return "present"
        files.replace(path, data, 0o600)
        with open(path, "rb") as file:
            written = file.read()
    if written != data:
        raise InputOutput("what was written is not what is read back", path=path)
    read_back(written, incoming)
    return "imported"


def _file_under(key: str, target: Target, session_id: str, path: str) -> bool:
    """Gives the key the session; False when it has it already."""
    changed = False

    def change(rows: store.Store) -> None:
        nonlocal changed
        _refuse_taken(rows, key, session_id, path)
        found = store.look_up(rows, key).row
        if found is not None and found.get("sessionId") == session_id:
            return
        kind = chat_type(key)
        new = {"updatedAt": target.now_ms, "chatType": "direct" if kind == "unknown" else kind, **(target.row or {})}
        store.put(rows, key, {**new, "sessionId": session_id, "sessionFile": path})
        changed = True

    store.update(target.places.store, change, lock_timeout_ms=target.lock_timeout_ms)
    return changed
