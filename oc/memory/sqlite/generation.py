"""Generations of an index: `oc-main.sqlite` is a pointer, one line of JSON, to `oc-main.7.sqlite`, the database.

A database that somebody may have open is never replaced: a rebuild writes the next generation, makes it durable,
replaces the pointer and then unlinks the old one, whose readers keep what they have open. Whoever writes, a new
generation or into the current one, holds the lock of the pointer. What a killed writer left is removed by the next.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from oc.base import files
from oc.base.jsonl import dump_line, parse
from oc.errors import BadInput
from oc.memory.sqlite.driver import Connection, DatabaseError, OperationalError, connect

_STALE_MS = 24 * 60 * 60 * 1000
_TRIES = 5
_MAX_POINTER_BYTES = 4096
_SIDE = ".vec"  # what stands between number and ending of a side index, which belongs to its generation
_JOURNALS = ("-journal", "-wal", "-shm")


class Index:
    """The place of an index; `pointer` is the path that the configuration names."""

    def __init__(self, pointer: str) -> None:
        self.pointer = pointer
        self.folder, self.name = os.path.split(pointer)
        self.stem, self.ending = os.path.splitext(self.name)

    def current(self) -> str | None:
        """Returns the path of the database, None when there is no index; raises BadInput for another program's file."""
        try:
            with open(self.pointer, "rb") as file:
                raw = file.read(_MAX_POINTER_BYTES)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            target = parse(raw)["file"]
        except (ValueError, TypeError, KeyError):
            target = None
        if not isinstance(target, str) or self._number(target) is None:
            raise BadInput("not an index of oc", path=self.pointer, hint="move the file away, or name another path")
        return os.path.join(self.folder, target)

    def _number(self, name: str) -> int | None:
        """Returns the generation of a file of this index, side indexes and journals included; None for other files."""
        if not name.startswith(self.stem + "."):
            return None
        digits, _, rest = name[len(self.stem) + 1 :].partition(".")
        rest = f".{rest}".removeprefix(_SIDE)
        return (
            int(digits) if digits.isdecimal() and rest in (self.ending, *(self.ending + j for j in _JOURNALS)) else None
        )

    def read(self) -> Connection | None:
        """Opens the current generation and begins a read transaction, so that all of a search sees one state.

        A rebuild may unlink the file between the pointer and the opening: the pointer is read again then.
        """
        for attempt in range(_TRIES):
            path = self.current()
            if path is None:
                return None
            try:
                return _begun(path)
            except OperationalError:
                if os.path.exists(path) and attempt == _TRIES - 1:
                    raise
        return None

    @contextmanager
    def lock(self, timeout_ms: int) -> Iterator[None]:
        """Holds the one writer's lock; leftovers of killed writers are gone when it is held."""
        files.make_folder(self.folder)
        with files.lock(self.pointer, timeout_ms=timeout_ms, stale_ms=_STALE_MS):
            self._sweep()
            yield

    def _sweep(self) -> None:
        files.sweep_temps(self.pointer)
        for name in self.leftovers():
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(self.folder, name))

    def leftovers(self) -> list[str]:
        """Returns names of files of this index that belong neither to the current generation nor to a live writer.

        Without the lock the answer may name what another process is just writing.
        """
        current = self.current()
        kept = self._number(os.path.basename(current)) if current else None
        return [name for name in self._files() if self._number(name) not in (None, kept)]

    def is_littered(self) -> bool:
        """Says whether there is a lock, a temporary file or a leftover: of a killed writer, or of a live one."""
        return bool(self.leftovers()) or any(name.startswith(self.name + ".") for name in self._files())

    def _files(self) -> list[str]:
        try:
            return os.listdir(self.folder)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def next_path(self) -> str:
        """Returns the path of a generation that does not exist yet; the caller holds the lock."""
        current = self.current()
        known = [number for name in self._files() if (number := self._number(name)) is not None]
        if current:
            known.append(self._number(os.path.basename(current)) or 0)
        return os.path.join(self.folder, f"{self.stem}.{max(known, default=0) + 1}{self.ending}")

    def switch(self, path: str) -> None:
        """Makes a finished, closed generation the current one; the caller holds the lock."""
        descriptor = os.open(path, os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        files.replace(self.pointer, dump_line({"file": os.path.basename(path)}))
        self._sweep()


def _begun(path: str) -> Connection:
    try:
        return _begin(path, "ro")
    except OperationalError as error:
        # What a killed writer left in its journal is rolled back by the next who may write; a reader may not.
        if "readonly" not in str(error):
            raise
        return _begin(path, "rw")


def _begin(path: str, mode: str) -> Connection:
    connection = connect(path, mode)
    try:
        connection.execute("BEGIN")
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # takes the lock that BEGIN only announces
    except DatabaseError:
        connection.close()
        raise
    return connection
