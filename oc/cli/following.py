"""Following a transcript as it grows, across a roll-over to the next one and a repair that replaces the file."""

import os
import time
from typing import BinaryIO

from oc.cli.app import App
from oc.cli.sessions import path_of
from oc.errors import NotFound
from oc.session.tail import lines_backward, value_of
from oc.session.transcript import open_file

POLL_S = 0.2


class Follower:
    """Prints each line once it is finished; `last` is the newest line that was printed."""

    def __init__(self, app: App, session: str | None, last: bytes | None) -> None:
        self.app = app
        self.session = session
        self.last = last

    def run(self, file: BinaryIO, path: str, offset: int) -> None:
        """Follows until interrupted; a transcript by its path ends with its file, a session goes on with its next."""
        while True:
            self._drain(file, path, offset)
            file.close()
            found = self._next(path)
            if found is None:
                self.app.out.say(f"oc: {path}: the transcript was moved or replaced")
                return
            file, new_path = found
            if new_path == path:  # replaced, or rows of a database, which are read anew each time
                time.sleep(POLL_S)
                offset = self._resumed(file)
            else:
                self.app.out.say(f"oc: {path}: rolled over to {new_path}")
                path, offset = new_path, 0

    def _drain(self, file: BinaryIO, path: str, offset: int) -> None:
        """Prints what the file has and gets, until its name is another file's or nobody's."""
        rest = b""
        file.seek(offset)
        while True:
            self.app.out.flush()
            gone = not _is_same(file, path)
            data = file.read()
            *lines, rest = (rest + data).split(b"\n")
            for raw in lines:
                self._print(raw)
            if gone and not data:
                return
            if not data:
                time.sleep(POLL_S)

    def _print(self, raw: bytes) -> None:
        value = value_of(raw) if raw.strip() else None
        if isinstance(value, dict) and value.get("type") == "session":
            return
        if raw.strip():
            self.app.out.write(raw + b"\n")
            self.last = raw

    def _next(self, path: str) -> tuple[BinaryIO, str] | None:
        """Returns the transcript that the session has now; None where it has none, or a path was followed."""
        try:
            name = path_of(self.app, self.session)
            # The new transcript gets its header a moment after the old one was moved.
            while name != path and not os.path.exists(name):
                time.sleep(POLL_S)
                name = path_of(self.app, self.session)
            return open_file(name), name
        except NotFound:
            return None

    def _resumed(self, file: BinaryIO) -> int:
        """Returns where the line after the last one that was printed begins in a file that was replaced."""
        size = os.fstat(file.fileno()).st_size
        for offset, raw in lines_backward(file, size):
            if raw == self.last:
                return min(size, offset + len(raw) + 1)
        return size


def _is_same(file: BinaryIO, path: str) -> bool:
    try:
        there = os.stat(path)
    except OSError:
        return False
    mine = os.fstat(file.fileno())
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino) and there.st_size >= file.tell()
