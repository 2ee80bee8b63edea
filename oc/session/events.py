"""The queue of system events: what a session is to be told at its next turn (`oc-events.jsonl` of an agent).

An event leaves the queue only after it is in the transcript, so a crash between the two tells it twice, never not at
all.
"""

import os
from collections.abc import Container, Mapping
from typing import Any

from oc.base import files
from oc.base.clock import Ids, iso
from oc.base.jsonl import dump_line, parse
from oc.session.store import refuse_database

Event = dict[str, Any]


def queue(path: str, event: Mapping[str, Any], *, ids: Ids, now_ms: int, lock_timeout_ms: int = 10_000) -> Event:
    """Appends an event (`sessionKey`, `kind`, `text`, more at will) with id and time; on disk when it returns."""
    refuse_database(path)
    files.make_folder(os.path.dirname(path))
    with files.lock(path, timeout_ms=lock_timeout_ms, stale_ms=files.STORE_STALE_MS):
        known = {event["id"] for event in _read(path)}
        stored = {"id": ids.entry(known), "timestamp": iso(now_ms), **event}
        files.append(path, dump_line(stored))
    return stored


def pending(path: str, session_key: str) -> list[Event]:
    """Returns the events that wait for a session, oldest first; lines that are no events are passed over."""
    wanted = session_key.lower()
    return [event for event in _read(path) if str(event.get("sessionKey", "")).lower() == wanted]


def remove(path: str, ids: Container[str], *, lock_timeout_ms: int = 10_000) -> None:
    """Takes events out of the queue; the others' lines, and lines that are no events, keep their bytes."""
    if not os.path.exists(path):
        return
    with files.lock(path, timeout_ms=lock_timeout_ms, stale_ms=files.STORE_STALE_MS):
        with open(path, "rb") as file:
            before = file.read().splitlines(keepends=True)
        after = [line for line in before if _id_of(line) not in ids]
        if len(after) < len(before):
            files.replace(path, b"".join(after))


def _read(path: str) -> list[Event]:
    try:
        with open(path, "rb") as file:
            return [event for line in file if (event := _event(line)) is not None]
    except FileNotFoundError:
        return []


def _event(raw: bytes) -> Event | None:
    try:
        value = parse(raw)
    except ValueError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("id"), str) else None


def _id_of(line: bytes) -> str:
    event = _event(line)
    return "" if event is None else event["id"]
