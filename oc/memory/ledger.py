"""Who wrote which line of the notes: memory/.oc-writes.jsonl, a line of JSON per entry, appended to and never changed.

An entry is in the ledger before it is in the note, so that no written line can be missing from it; a note that cannot
be written takes its rows back. A row whose writer was killed in between may stay: a row counts only while its hash
matches the lines it names. The Markdown stays clean.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from oc.base import files
from oc.base.jsonl import dump_line
from oc.memory import paths

NAME = ".oc-writes.jsonl"


def path_of(workspace: str) -> str:
    return os.path.join(workspace, paths.FOLDER, NAME)


def text_hash(text: str) -> str:
    """Returns the hash by which an entry is recognised: of its lines without the last line feed."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def record(
    workspace: str, entries: Iterable[tuple[int, str]], *, path: str, time: str, origin: Mapping[str, Any]
) -> None:
    """Appends that entries are written at their lines of `path`; `time` is UTC ISO-8601. The caller holds the lock.

    `origin` says who wrote: session, key, entry, by; what it does not know is left out.
    """
    known = {name: value for name, value in origin.items() if value is not None}
    rows = [
        {"time": time, **known, "path": path, "line": line, "lines": text.count("\n") + 1, "hash": text_hash(text)}
        for line, text in entries
    ]
    files.append(path_of(workspace), b"".join(map(dump_line, rows)))


@contextmanager
def taken_back(workspace: str, target: str) -> Iterator[None]:
    """Undoes the rows recorded inside when the note `target` could not be written. The caller holds the lock.

    Files that were made meanwhile go again. A note that did grow keeps its rows, whatever failed after it.
    """
    path = path_of(workspace)
    before, note = _size(path), _size(target)
    try:
        yield
    except OSError:
        with suppress(OSError):
            if (_size(target) or 0) == (note or 0):
                _cut(path, before)
                _cut(target, note)
        raise


def _size(path: str) -> int | None:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return None


def _cut(path: str, size: int | None) -> None:
    """Brings a file back to its size; None is a file that was not there."""
    now = _size(path)
    if size is None and now is not None:
        os.unlink(path)
    elif size is not None and now != size:
        os.truncate(path, size)
