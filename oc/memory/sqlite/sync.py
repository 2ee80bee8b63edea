"""Brings an index up to date with the files: a stat per file when nothing changed, one transaction when something did.

A file whose stat moved is read, and indexed only when its bytes are others. A missing index, one of another version
or budget, and very large changes are a rebuild: a new generation, during which readers keep the old one.
"""

import errno
import os
import time
from collections.abc import Iterable
from contextlib import closing, suppress

from oc.base.typed import TYPE_CHECKING, Any
from oc.memory.backend import SyncReport
from oc.memory.scan import Listing, Stamp, stamp_of
from oc.memory.sqlite import schema
from oc.memory.sqlite.driver import Connection, DatabaseError, connect
from oc.memory.sqlite.generation import Index
from oc.memory.sqlite.schema import Budget
from oc.memory.text import TOKENS

if TYPE_CHECKING:
    from oc.memory.sqlite.build import Writer

# More changed files than this, and more than half of all, are written as a new generation: the old one stays readable.
_MANY = 500
# A file changed so shortly before it was read may change again without its stat moving: clocks tick that coarsely.
_TICK_NS = 50_000_000
_COARSE_TICK_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000


class Changes:
    """Paths by what happened to them; `touched` read as before, only their stat moved.

    `read` keeps the bytes and stamp of what was read to find out.
    """

    __slots__ = ("added", "changed", "read", "removed", "touched")

    def __init__(self, added: Iterable[str] = ()) -> None:
        self.added = list(added)
        self.changed: list[str] = []
        self.touched: list[str] = []
        self.removed: list[str] = []
        self.read: dict[str, tuple[bytes, Stamp]] = {}

    def any(self) -> bool:
        """Says whether the index is not as the notes are."""
        return bool(self.added or self.changed or self.removed)


def known_stamps(connection: Connection) -> dict[str, Stamp]:
    return {row[0]: row[1:] for row in connection.execute("SELECT path, mtime_ns, ctime_ns, size FROM files")}


def is_current(connection: Connection, meta: dict[str, Any]) -> bool:
    """Says whether an index was built as it would be now; one that cannot be read was not."""
    try:
        return schema.read_meta(connection) == {"schema": schema.VERSION, **meta}
    except DatabaseError:
        return False


def meta_of(listing: Listing, budget: Budget) -> dict[str, Any]:
    return {"workspace": listing.workspace, "tokens": TOKENS, "chunkTokens": budget.tokens, "overlap": budget.overlap}


def changes(connection: Connection, listing: Listing) -> Changes:
    """Compares an index with the files, reading those whose stat moved; nothing is written."""
    found = Changes()
    if schema.read_stamps(connection) == schema.stamps_text(listing.stamps):
        return found
    known = known_stamps(connection)
    found.removed = [path for path in known if path not in listing.stamps]
    for path, stamp in listing.stamps.items():
        if path not in known:
            _look(listing, path, found)
        elif known[path] != stamp:
            _compare(connection, listing, path, known[path], found)
    return found


def _look(listing: Listing, path: str, found: Changes) -> None:
    """A file that cannot be read must not have every run take the lock and fail again."""
    if os.access(listing.place(path), os.R_OK):
        found.added.append(path)
    else:
        listing.fail(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def _compare(connection: Connection, listing: Listing, path: str, known: Stamp, found: Changes) -> None:
    try:
        got = read(listing, path)
    except FileNotFoundError:
        found.removed.append(path)
        return
    if got is None:
        return
    import hashlib  # 5 ms that a search with nothing changed does not pay

    data, stamp = got
    row = connection.execute("SELECT hash FROM files WHERE path = ?", (path,)).fetchone()
    if row[0] != hashlib.sha256(data).hexdigest():
        found.read[path] = got
        found.changed.append(path)
    elif stamp != known:
        found.read[path] = b"", stamp
        found.touched.append(path)


def read(listing: Listing, path: str) -> tuple[bytes, Stamp] | None:
    """Returns a file's bytes and the stamp to remember; None, with a finding, when it cannot be read.

    Raises FileNotFoundError when it vanished.
    """
    try:
        # A third of the time of open() and read(), which thousands of files add up.
        descriptor = os.open(listing.place(path), os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            status = os.fstat(descriptor)
            data = _whole(descriptor, status.st_size)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise
    except OSError as error:
        listing.fail(path, error)
        return None
    return data, _settled(stamp_of(status))


def _whole(descriptor: int, size: int) -> bytes:
    """Reads to the end, which may have moved since the size was taken; a short read of a file is its end."""
    data = os.read(descriptor, size + 1)
    while len(data) > size:
        size = len(data)
        data += os.read(descriptor, size + 1)
    return data


def _settled(stamp: Stamp) -> Stamp:
    """Returns the stamp, its mtime 0 when the file may change again within the same tick of its clock."""
    latest = max(stamp[0], stamp[1])
    tick = _COARSE_TICK_NS if latest % _SECOND_NS == 0 else _TICK_NS
    return stamp if time.time_ns() - latest > tick else (0, *stamp[1:])


def update(index: Index, listing: Listing, found: Changes, budget: Budget) -> None:
    """Applies changes to the current generation in one transaction; the caller holds the lock."""
    from oc.memory.sqlite.build import Writer

    path = index.current()
    if path is None:
        raise FileNotFoundError(index.pointer)
    with closing(connect(path, "rw")) as connection:
        # Pages written before the commit would lock readers out for as long as the transaction takes.
        connection.execute("PRAGMA cache_spill=OFF")
        connection.execute("BEGIN IMMEDIATE")
        writer = Writer(connection, budget)
        for name in (*found.removed, *found.changed):
            writer.remove(name)
        for name in (*found.changed, *found.added):
            _add(writer, listing, name, found.read.get(name))
        for name in found.touched:
            writer.touch(name, found.read[name][1])
        writer.flush()
        _note_stamps(connection, listing)
        connection.execute("COMMIT")


def _add(writer: "Writer", listing: Listing, name: str, got: tuple[bytes, Stamp] | None = None) -> None:
    with suppress(FileNotFoundError):
        got = got or read(listing, name)
        if got is not None:
            writer.add(name, *got)


def rebuild(index: Index, listing: Listing, budget: Budget) -> None:
    """Writes all files into a new generation and makes it the current one; the caller holds the lock."""
    path = index.next_path()
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(connect(path, "rw")) as connection:
            # Nobody reads this file before it is whole and synced, and a killed build is thrown away.
            connection.execute("PRAGMA journal_mode=OFF")
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute("PRAGMA cache_size=-65536")
            fill(connection, listing, budget)
        index.switch(path)
    finally:
        # A build that failed must not keep the disk full; what a kill leaves, the next writer removes.
        if index.current() != path:
            with suppress(FileNotFoundError):
                os.unlink(path)


def fill(connection: Connection, listing: Listing, budget: Budget) -> None:
    """Makes a whole index in an empty database."""
    from oc.memory.sqlite.build import Writer

    connection.execute("BEGIN")
    schema.create(connection)
    writer = Writer(connection, budget)
    for name in listing.stamps:
        _add(writer, listing, name)
    writer.flush()
    schema.write_meta(connection, meta_of(listing, budget))
    _note_stamps(connection, listing)
    connection.execute("COMMIT")


def _note_stamps(connection: Connection, listing: Listing) -> None:
    """Keeps the stamps of what is indexed, in the order in which a listing has them."""
    known = known_stamps(connection)
    schema.write_stamps(connection, {path: known[path] for path in listing.stamps if path in known})


def is_many(found: Changes, listing: Listing) -> bool:
    count = len(found.added) + len(found.changed) + len(found.removed)
    return count > _MANY and 2 * count > len(listing.stamps)


def report(connection: Connection, listing: Listing, found: Changes, *, rebuilt: bool) -> SyncReport:
    files, chunks = counts(connection)
    return SyncReport(
        added=len(found.added),
        changed=len(found.changed),
        removed=len(found.removed),
        unchanged=files - len(found.added) - len(found.changed),
        chunks=chunks,
        rebuilt=rebuilt,
        findings=tuple(dict.fromkeys(listing.findings)),
    )


def counts(connection: Connection) -> tuple[int, int]:
    """Returns how many files and chunks an index holds."""
    files, chunks = connection.execute("SELECT count(*), coalesce(sum(chunks), 0) FROM files").fetchone()
    return files, chunks
