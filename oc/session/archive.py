"""Archived transcripts: how they are named, which file of a sessions folder is what, and the rename that makes one.

Names are OpenClaw 2026.3.13's (table: sessions-archive).
"""

import os

from oc.base import files
from oc.base.clock import iso, parse_iso
from oc.base.text import pattern

REASONS = ("reset", "deleted", "bak")
_STAMP = r"(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d(?:\.\d{3})?)Z"
STORE = "sessions.json"
# The queue of system events lies beside the transcripts and is none.
EVENTS = "oc-events.jsonl"


def stamp(epoch_ms: int) -> str:
    return iso(epoch_ms).replace(":", "-")


def archived_at(name: str, reason: str) -> int | None:
    """Returns when a file was archived for that reason, in epoch ms, by its name; None where it was not."""
    _, mark, rest = name.rpartition(f".{reason}.")
    found = pattern(_STAMP).fullmatch(rest) if mark else None
    return parse_iso(f"{found[1]}T{found[2]}:{found[3]}:{found[4]}Z") if found else None


def is_archive(name: str) -> bool:
    """Says whether the file is an archived transcript or a store that was rotated away."""
    return is_rotated(name) or any(archived_at(name, reason) is not None for reason in REASONS)


def is_rotated(name: str) -> bool:
    return pattern(r"sessions\.json\.bak\.\d+").fullmatch(name) is not None


def is_primary(name: str) -> bool:
    """Says whether the file is a transcript that is no archive."""
    return name.endswith(".jsonl") and name not in (STORE, EVENTS) and not is_archive(name)


def archive_name(name: str, reason: str, epoch_ms: int, count: int = 1) -> str:
    """Returns the name of the archive of a transcript; `count` tells several of one millisecond apart."""
    return f"{name}{'' if count == 1 else f'.{count}'}.{reason}.{stamp(epoch_ms)}"


def put_away(path: str, reason: str, epoch_ms: int) -> str:
    """Renames a transcript to its archive, never onto another one, and returns that; the caller holds the lock."""
    folder, name = os.path.split(path)
    count = 1
    while os.path.lexists(target := os.path.join(folder, archive_name(name, reason, epoch_ms, count))):
        count += 1
    os.replace(path, target)
    files.sync_folder(folder or ".")
    return target
