"""Doing what tidy.py plans, under the lock of the store: the store is written before any file goes."""

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

import orjson

from oc.base import files
from oc.base.text import pattern
from oc.config.paths import Places
from oc.errors import Busy
from oc.session import store
from oc.session.archive import is_primary, put_away
from oc.session.delivery import normal_row
from oc.session.locks import LockState, inspect, max_hold_ms
from oc.session.maintain import File, Settings, referenced
from oc.session.tidy import Folder, Plan, Step, plan

_TEMPORARY = r".*\.(?:repair-)?(\d+)-[0-9a-f]+\.tmp"
_HEADER_BYTES = 1 << 16


class Sweep(NamedTuple):
    """How to tidy: rules, time, keys that stay whatever the rules say, and whether young orphans go too."""

    rules: Settings
    now_ms: int
    keep: Iterable[str] = ()
    all_orphans: bool = False


def planned(places: Places, sweep: Sweep) -> Plan:
    """Returns what would be done; reads the store, the folder, and the first line of each transcript.

    Raises Unavailable where OpenClaw keeps the sessions in its database.
    """
    store.refuse_database(places.store)
    return _planned(places, sweep, list(_listing(places.sessions)))


def _planned(places: Places, sweep: Sweep, listing: list[File]) -> Plan:
    rows = store.load(places.store)
    locks = {file.name: _lock(places.sessions, file, sweep.now_ms) for file in listing if file.name.endswith(".lock")}
    held = {name.removesuffix(".lock") for name, state in locks.items() if not state.stale}
    busy = {key.lower() for key, row in rows.items() if referenced([row], held)}
    folder = Folder(
        rows,
        listing,
        store_bytes=os.stat(places.store).st_size if os.path.exists(places.store) else 0,
        dead={**_dead_locks(locks), **_dead_temporaries(listing)},
        forked=frozenset(_forked(places.sessions, listing)),
        protected=frozenset({key.lower() for key in sweep.keep} | busy),
    )
    found = plan(folder, sweep.rules, sweep.now_ms, all_orphans=sweep.all_orphans)
    return found._replace(steps=[*found.steps, *_hanging(locks)])


def swept(places: Places, sweep: Sweep, *, lock_timeout_ms: int = 10_000) -> tuple[Plan, list[str]]:
    """Makes the plan under the store's lock and does it; returns it with the transcripts that were busy and stayed.

    The rows go first: what is left behind by a crash is a file without a row, which the next run finds. A transcript
    is renamed before it is deleted.
    """
    store.refuse_database(places.store)
    if not os.path.isdir(places.sessions):
        return planned(places, sweep), []
    with files.lock(places.store, timeout_ms=lock_timeout_ms, stale_ms=files.STORE_STALE_MS):
        own = os.path.basename(places.store) + ".lock"
        found = _planned(places, sweep, [file for file in _listing(places.sessions) if file.name != own])
        if any(step.action == "remove" for step in found.steps):
            _write_store(places, found)
        busy = [step.name for step in found.steps if not _done(places, step, sweep.now_ms)]
        if found.acts:
            files.sync_folder(places.sessions)
    return found, busy


def _write_store(places: Places, found: Plan) -> None:
    for step in found.steps:
        if step.action == "rotate" and step.target is not None:
            with open(places.store, "rb") as file:
                files.replace(os.path.join(os.path.dirname(places.store), step.target), file.read(), 0o600)
    rows = {key: normal_row(row) if isinstance(row, dict) else row for key, row in found.store.items()}
    files.replace(places.store, store.store_text(rows), 0o600)


def _done(places: Places, step: Step, now_ms: int) -> bool:
    """Does a step; False for a transcript that somebody writes to just now."""
    path = os.path.join(places.sessions, step.name)
    if step.kind == "lock" and step.action == "delete":
        files.remove_stale_lock(path, _stale_ms(step.name))
    elif step.action == "archive" or (step.action == "delete" and is_primary(step.name)):
        try:
            with files.lock(path, timeout_ms=0):
                away = put_away(path, "deleted", now_ms)
        except Busy:
            return False
        except FileNotFoundError:
            return True
        if step.action == "delete":
            os.unlink(away)
    elif step.action == "delete":
        with suppress(FileNotFoundError):
            os.unlink(path)
    return True


def _listing(folder: str) -> Iterable[File]:
    if not os.path.isdir(folder):
        return
    with os.scandir(folder) as found:
        for item in sorted(found, key=lambda item: item.name):
            if item.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):
                    status = item.stat(follow_symlinks=False)
                    yield File(item.name, status.st_size, status.st_mtime_ns / 1_000_000)


def _stale_ms(name: str) -> int:
    return files.TRANSCRIPT_STALE_MS if ".jsonl" in name else files.STORE_STALE_MS


def _lock(folder: str, file: File, now_ms: int) -> LockState:
    try:
        with open(os.path.join(folder, file.name), "rb") as opened:
            owner = orjson.loads(opened.read(4096))
    except (OSError, orjson.JSONDecodeError):
        owner = None
    state = inspect(owner, _stale_ms(file.name), now_ms)
    young = state.needs_mtime and now_ms - file.modified_ms <= _stale_ms(file.name)
    return state._replace(reasons=()) if young else state


def _dead_locks(locks: dict[str, LockState]) -> dict[str, str]:
    return {name: "owner gone: " + ", ".join(state.reasons) for name, state in locks.items() if state.stale}


def _dead_temporaries(listing: Iterable[File]) -> dict[str, str]:
    """Returns what crashes left: a temporary file is renamed or removed by the process that made it."""
    found = {}
    for file in listing:
        made = pattern(_TEMPORARY).fullmatch(file.name)
        if made and not files.is_alive(int(made[1])):
            found[file.name] = "left by a process that is gone"
    return found


def _hanging(locks: dict[str, LockState]) -> list[Step]:
    """Names locks of living processes that hold them for longer than any turn takes."""
    longest = max_hold_ms(0)
    return [
        Step("keep", "lock", name, 0, f"held by process {state.pid} for {(state.age_ms or 0) // 60_000} minutes")
        for name, state in locks.items()
        if not state.stale and state.alive and (state.age_ms or 0) > longest
    ]


def _forked(folder: str, listing: Iterable[File]) -> Iterable[str]:
    """Yields the names of transcripts that another one's header names as its source."""
    for file in listing:
        if not file.name.endswith(".jsonl") or file.bytes == 0:
            continue
        try:
            with open(os.path.join(folder, file.name), "rb") as opened:
                header = orjson.loads(opened.readline(_HEADER_BYTES))
        except (OSError, orjson.JSONDecodeError):
            continue
        source = header.get("parentSession") if isinstance(header, dict) else None
        if isinstance(source, str):
            yield os.path.basename(source.replace("\\", "/"))
