"""sessions.json: which session each key has now. Read leniently in fields, strictly in form; written under its lock.

Behaviour follows OpenClaw 2026.3.13 (table: sessions-store), except that an unparsable or empty file is refused
instead of taken for an empty store and overwritten (design D5). Unknown keys and fields are kept.
"""

import json
import math
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from oc.base import files
from oc.base.jsonl import parse
from oc.errors import BadInput
from oc.session_key import is_session_id

Row = dict[str, Any]
Store = dict[str, Any]
_RENAMED = (("provider", "channel"), ("lastProvider", "lastChannel"), ("room", "groupChannel"))


class Found(NamedTuple):
    """`spelling` is the key as the store has it (None: not there), `legacy` the other spellings of the same key."""

    row: Row | None
    spelling: str | None
    legacy: tuple[str, ...]


def load(path: str) -> Store:
    """Returns the store; a missing file is an empty one. Raises BadInput for a file that is no JSON object.

    Where OpenClaw keeps the sessions in its database, the rows are read from there and name transcripts in it.
    """
    database = database_of(path)
    if database is not None:
        from oc.session import openclaw_db

        return openclaw_db.rows(database)
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    try:
        store = parse(raw)
    except ValueError:
        what = "not JSON" if raw.strip() else "empty"
        raise BadInput(f"the session store is {what}; nothing was changed", path=path) from None
    if not isinstance(store, dict):
        raise BadInput("the session store is not a JSON object; nothing was changed", path=path)
    return {key: _migrated(row) for key, row in store.items()}


def database_of(path: str) -> str | None:
    """Returns OpenClaw's database for the agent with this sessions folder, None when the files are the sessions.

    `path` is sessions.json, or any other file of the folder.
    """
    beside = _beside(path)
    if not os.path.exists(beside):
        return None
    from oc.session import openclaw_db

    return beside if openclaw_db.holds_sessions(beside) else None


def _beside(path: str) -> str:
    return os.path.join(os.path.dirname(os.path.dirname(path)), "agent", "openclaw-agent.sqlite")


def refuse_database(path: str) -> None:
    """Raises Unavailable when the agent with this sessions folder has its sessions in OpenClaw's database."""
    database = database_of(path)
    if database is not None:
        from oc.session import openclaw_db

        openclaw_db.refuse(database)


def _migrated(row: Any) -> Any:
    """Returns the row with the fields of older versions under their present names."""
    if not isinstance(row, dict) or not any(old in row for old, _ in _RENAMED):
        return row
    row = dict(row)
    for old, new in _RENAMED:
        if isinstance(row.get(old), str) and not isinstance(row.get(new), str):
            row[new] = row[old]
        if old in row and isinstance(row.get(new), str):
            del row[old]
    row.pop("room", None)
    return row


def update(path: str, change: Callable[[Store], None], *, lock_timeout_ms: int = 10_000) -> Store:
    """Lets `change` alter the store under its lock and writes it atomically; returns it as written.

    A store that `change` left as it was is not written. Raises Unavailable where OpenClaw's database is the store.
    """
    refuse_database(path)
    files.make_folder(os.path.dirname(path))
    with files.lock(path, timeout_ms=lock_timeout_ms, stale_ms=files.STORE_STALE_MS):
        store = load(path)
        before = store_text(store)
        change(store)
        after = store_text(store)
        if after != before:
            files.replace(path, after, 0o600)
    return store


def store_text(store: Store) -> bytes:
    """Returns the file's form: JSON indented by two, no final line feed."""
    try:
        return orjson.dumps(store, option=orjson.OPT_INDENT_2)
    except TypeError:  # a lone surrogate
        return json.dumps(store, indent=2).encode()


def look_up(store: Store, key: str) -> Found:
    """Returns the row of a key, whatever its spelling in the store; of several the freshest counts."""
    wanted = key.strip().lower()
    spellings = [name for name in store if name.lower() == wanted]
    if not spellings:
        return Found(None, None, ())
    best = max(spellings, key=lambda name: (updated_at(store[name]) or 0, name == wanted))
    row = store[best]
    return Found(row if isinstance(row, dict) else None, best, tuple(name for name in spellings if name != wanted))


def updated_at(row: Any) -> float | None:
    """Returns when a row was last used, in epoch ms; None where it does not say so."""
    value = row.get("updatedAt") if isinstance(row, dict) else None
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return value if usable else None


def put(store: Store, key: str, row: Row) -> None:
    """Files the row under the key in its present spelling and removes the others."""
    found = look_up(store, key)
    for name in found.legacy:
        del store[name]
    store[key.strip().lower()] = row


def merge(existing: Row | None, patch: Row, *, now_ms: int, keep_activity: bool = False) -> Row:
    """Returns the row with the patch's fields; `updatedAt` never goes back, and stays with `keep_activity`.

    A `model` without a `modelProvider` drops the old provider; blank ones are removed.
    """
    old = existing or {}
    row = {**old, **patch}
    times = [time for r in (old, patch) if (time := updated_at(r)) is not None]
    row["updatedAt"] = old["updatedAt"] if keep_activity and "updatedAt" in old else max([*times, now_ms])
    if "model" in patch and "modelProvider" not in patch and patch["model"] != old.get("model"):
        row.pop("modelProvider", None)
    for name in ("model", "modelProvider"):
        if isinstance(row.get(name), str):
            row[name] = row[name].strip()
        if name in row and not row[name]:
            del row[name]
    if "model" not in row:
        row.pop("modelProvider", None)
    return row


def fresh_tokens(row: Row) -> int | None:
    """Returns the stored size of the context in tokens, None when it is unknown or out of date."""
    total = row.get("totalTokens")
    usable = isinstance(total, int | float) and not isinstance(total, bool) and 0 <= total < math.inf
    return int(total) if usable and total is not None and row.get("totalTokensFresh") is not False else None


def transcript_name(session_id: str, thread_id: str | int | None = None) -> str:
    """Returns the file name of a session's transcript; raises BadInput for an id that could leave the folder."""
    trimmed = session_id.strip()
    if not is_session_id(trimmed):
        raise BadInput(f"not a session id: {session_id!r}")
    if thread_id is None:
        return f"{trimmed}.jsonl"
    from urllib.parse import quote

    suffix = quote(thread_id, safe="!~*'()") if isinstance(thread_id, str) else str(thread_id)
    return f"{trimmed}-topic-{suffix}.jsonl"


def transcript_path(row: Row, session_id: str, folder: str) -> str:
    """Returns the transcript of a row: its `sessionFile` when that lies where transcripts lie, else the default name.

    `sessionFile` may be relative to the folder, begin with ~, or lie in the sessions folder of a sibling agent.
    """
    default = os.path.join(folder, transcript_name(session_id))
    named = row.get("sessionFile")
    if not isinstance(named, str) or not named.strip():
        return default
    try:
        os.fsencode(named)
    except UnicodeEncodeError:
        return default
    if "\0" in named:
        return default
    if named.startswith(f"{_beside(default)}#"):
        return named
    path = os.path.normpath(os.path.join(folder, os.path.expanduser(named.strip())))
    if os.path.dirname(path) == os.path.normpath(folder):
        return path
    parts, own = path.split(os.sep), os.path.normpath(folder).split(os.sep)
    sibling = parts[-4:-3] == ["agents"] and parts[-2:-1] == ["sessions"] and parts[:-3] == own[:-2]
    return path if sibling else default
