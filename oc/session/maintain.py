"""Which rows of a store and which files beside it are kept: by age, by number, by bytes. Pure.

Rules are OpenClaw 2026.3.13's (tables: sessions-maintenance, sessions-maintenance-fs), except that keys can be
protected from all of them (design D20).
"""

import math
from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple, TypeGuard

from oc.base.clock import duration_ms
from oc.base.size import size_bytes
from oc.session.archive import is_archive, is_primary
from oc.session.store import Store, store_text, transcript_path, updated_at
from oc.session_key import is_session_id, parse

DAY_MS = 86_400_000
_PRUNE_AFTER_MS = 30 * DAY_MS
_MAX_ENTRIES = 500
_ROTATE_BYTES = 10 << 20
_RUN_RETENTION_MS = DAY_MS


class Settings(NamedTuple):
    """`max_disk_bytes` None: no budget; `reset_archive_ms` None: such archives stay; `run_ms` None: as other keys."""

    mode: str = "warn"
    prune_after_ms: int = _PRUNE_AFTER_MS
    max_entries: int = _MAX_ENTRIES
    rotate_bytes: int = _ROTATE_BYTES
    reset_archive_ms: int | None = _PRUNE_AFTER_MS
    max_disk_bytes: int | None = None
    high_water_bytes: int | None = None
    run_ms: int | None = _RUN_RETENTION_MS

    def retention_ms(self, key: str) -> int:
        """Returns how long a row may lie unused: runs of cron jobs have a time of their own."""
        if self.run_ms is not None and is_cron_run(key):
            return min(self.run_ms, self.prune_after_ms)
        return self.prune_after_ms


class File(NamedTuple):
    """A regular file of a sessions folder."""

    name: str
    bytes: int
    modified_ms: float


def settings(maintenance: Mapping[str, Any], run_retention: Any = None) -> Settings:
    """Returns the settings of the configuration's `session.maintenance` object; what is invalid is as if not set.

    `run_retention` is `cron.sessionRetention`: a duration, a number of hours, or false.
    """
    given = maintenance.get("pruneAfter")
    prune_after = _duration(maintenance.get("pruneDays") if given is None else given, "d", _PRUNE_AFTER_MS)
    archives = maintenance.get("resetArchiveRetention")
    disk = _size(maintenance.get("maxDiskBytes"), None)
    entries = maintenance.get("maxEntries")
    return Settings(
        mode="enforce" if maintenance.get("mode") == "enforce" else "warn",
        prune_after_ms=prune_after,
        max_entries=int(entries) if _is_amount(entries) else _MAX_ENTRIES,
        rotate_bytes=_size(maintenance.get("rotateBytes"), _ROTATE_BYTES) or 0,
        reset_archive_ms=None if archives is False else _duration(archives, "d", prune_after),
        max_disk_bytes=disk,
        high_water_bytes=None if disk is None else _high_water(disk, _size(maintenance.get("highWaterBytes"), None)),
        run_ms=None if run_retention is False else _duration(run_retention, "h", _RUN_RETENTION_MS),
    )


def _is_amount(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _duration(value: Any, unit: str, default: int) -> int:
    text = f"{value:f}" if _is_amount(value) else value
    millis = duration_ms(text, unit) if isinstance(text, str) else None
    return default if millis is None else millis


def _size(value: Any, default: int | None) -> int | None:
    if _is_amount(value):
        return int(value)
    found = size_bytes(value) if isinstance(value, str) else None
    return default if found is None else found


def _high_water(disk: int, given: int | None) -> int:
    if given is not None:
        return min(given, disk)
    return max(1, math.floor(disk * 0.8)) if disk > 0 else 0


def is_cron_run(key: str) -> bool:
    found = parse(key)
    parts = (found.rest if found else key.strip().lower()).split(":")
    return len(parts) >= 4 and parts[0] == "cron" and parts[2] == "run"


def stale_keys(store: Store, rules: Settings, now_ms: int, kept: Container[str] = ()) -> list[str]:
    """Returns the keys that were not used for longer than their retention; one of unknown use stays."""

    def is_stale(key: str) -> bool:
        used = updated_at(store[key])
        return used is not None and used < now_ms - rules.retention_ms(key) and key.lower() not in kept

    return list(filter(is_stale, store))


def capped_keys(store: Store, max_entries: int, kept: Container[str] = ()) -> list[str]:
    """Returns the keys beyond the newest `max_entries`, newest first; protected ones count and stay."""
    newest = sorted(store, key=lambda key: -(updated_at(store[key]) or 0))
    room = max(0, max_entries - sum(key.lower() in kept for key in newest))
    return [key for key in newest if key.lower() not in kept][room:]


def warning(store: Store, key: str, rules: Settings, now_ms: int) -> dict[str, Any] | None:
    """Says whether the rules would take a key away; None when they would not, or there is no such key."""
    own = next((name for name in store if name.lower() == key.lower()), None)
    if own is None:
        return None
    would_prune = own in stale_keys({own: store[own]}, rules, now_ms)
    would_cap = own in capped_keys(store, rules.max_entries)
    if not would_prune and not would_cap:
        return None
    return {
        "activeSessionKey": key,
        "activeUpdatedAt": updated_at(store[own]),
        "totalEntries": len(store),
        "pruneAfterMs": rules.prune_after_ms,
        "maxEntries": rules.max_entries,
        "wouldPrune": would_prune,
        "wouldCap": would_cap,
    }


def transcripts_of(row: Any) -> list[str]:
    """Returns the names that the transcript of a row may have in the folder: the stated one first."""
    session_id = row.get("sessionId") if isinstance(row, dict) else None
    if not isinstance(session_id, str) or not is_session_id(session_id.strip()):
        return []
    # Any folder will do: what lies in another one is not a file of this.
    stated = transcript_path(row, session_id, "/agents/a/sessions")
    names = [stated.rpartition("/")[2]] if stated.startswith("/agents/a/sessions/") else []
    return list(dict.fromkeys([*names, f"{session_id.strip()}.jsonl"]))


def referenced(rows: Iterable[Any], names: Iterable[str]) -> set[str]:
    """Returns which of the files are transcripts of the rows; those of a session's topics are."""
    wanted = {name for row in rows for name in transcripts_of(row)}
    ids = {name.removesuffix(".jsonl") for name in wanted}
    return {name for name in names if is_primary(name) and (name in wanted or name.partition("-topic-")[0] in ids)}


class Budget(NamedTuple):
    """What has to go so that the folder fits: `files` by name, then `keys`, each with its transcripts in `files`."""

    files: list[File]
    keys: list[str]
    bytes_before: int
    bytes_after: int
    over: bool


def budget(store: Store, listing: Iterable[File], rules: Settings, kept: Container[str] = ()) -> Budget:
    """Returns what the disk budget takes: archives and transcripts without a row first, oldest first; then rows.

    Other files count and are never taken. The store counts with the size that it would have.
    """
    rows = dict(store)
    found = {file.name: file for file in listing if file.name != "sessions.json"}
    total = before = sum(file.bytes for file in found.values()) + len(store_text(rows))
    limit, target = rules.max_disk_bytes, rules.high_water_bytes or 0
    if limit is None or total <= limit:
        return Budget([], [], before, before, over=False)
    gone: list[File] = []

    def take(names: Iterable[str]) -> int:
        taken = [found.pop(name) for name in names if name in found]
        gone.extend(taken)
        return sum(file.bytes for file in taken)

    used = referenced(rows.values(), found)
    loose = [f for f in found.values() if is_archive(f.name) or (is_primary(f.name) and f.name not in used)]
    for file in sorted(loose, key=lambda f: (f.modified_ms, f.name)):
        if total > target:
            total -= take([file.name])
    keys: list[str] = []
    for key in sorted(store, key=lambda key: updated_at(store[key]) or 0):
        if total <= target:
            break
        if key.lower() in kept:
            continue
        total -= len(store_text(rows))
        own = referenced([rows.pop(key)], found)
        total += len(store_text(rows)) - take(sorted(own - referenced(rows.values(), found)))
        keys.append(key)
    return Budget(gone, keys, before, total, over=True)
