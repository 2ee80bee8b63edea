"""The tool `read`: lines of a file of the workspace. Nothing outside it is reachable, by `..` or by link."""

import os
import stat
from collections.abc import Callable, Iterator

from oc.agent.tools.spec import Arguments, Result, Tool, failed, schema
from oc.base.text import cut16
from oc.base.typed import BinaryIO, NamedTuple
from oc.workspace.load import is_inside

MAX_LINES = 2000
MAX_BYTES = 50 * 1024
_SNIFFED_BYTES = 8192


class Reader(NamedTuple):
    """`refuses` says why a real path is closed to this session, None when it is not."""

    workspace: str
    refuses: Callable[[str], str | None]

    def tool(self) -> Tool:
        return Tool(
            "read",
            "read a text file of the workspace",
            f"Reads a text file of the workspace, at most {MAX_LINES} lines or {MAX_BYTES // 1024} KiB at a time. "
            "The last line of a part tells how to go on with `offset`.",
            schema(
                ["path"],
                path={"type": "string", "description": "Relative to the workspace, or absolute inside it."},
                offset={"type": "integer", "minimum": 1, "description": "First line, counted from 1."},
                limit={"type": "integer", "minimum": 1, "description": "How many lines."},
            ),
            self.run,
        )

    def run(self, arguments: Arguments) -> Result:
        asked = arguments["path"].strip()
        if "\0" in asked:
            return failed("read: a path holds no NUL")
        path = os.path.realpath(os.path.join(self.workspace, os.path.expanduser(asked)))
        problem = self._problem(path)
        if problem is not None:
            return failed(f"read: {asked}: {problem}")
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return failed(f"read: {asked}: not a regular file")
            if b"\0" in file.read(_SNIFFED_BYTES):
                return failed(f"read: {asked}: a binary file")
            file.seek(0)
            return _part(file, arguments.get("offset", 1), min(arguments.get("limit", MAX_LINES), MAX_LINES))

    def _problem(self, path: str) -> str | None:
        if not is_inside(os.path.realpath(self.workspace), path):
            return "outside the workspace"
        closed = self.refuses(path)
        if closed is not None:
            return closed
        if not os.path.lexists(path):
            return "no such file"
        if os.path.isdir(path):
            names = sorted(os.listdir(path))
            more = f", and {len(names) - 50} more" if len(names) > 50 else ""
            return f"a folder; in it: {', '.join(names[:50])}{more}" if names else "an empty folder"
        return None


def _part(file: BinaryIO, offset: int, limit: int) -> Result:
    """Returns the lines from `offset` on and, when there are more, how to go on."""
    kept: list[str] = []
    used = number = 0
    more = False
    for number, line in _numbered(file):
        if number < offset:
            continue
        if len(kept) == limit or (kept and used + len(line) >= MAX_BYTES):
            more = True
            break
        used += len(line) + 1
        kept.append(line.decode("utf-8", "replace"))
    if not kept:
        return failed(f"read: the file has {number} lines") if number else Result("", details={"lines": 0})
    details = {"fromLine": offset, "lines": len(kept)}
    if len(kept) == 1 and used > MAX_BYTES:
        kept = [cut16(kept[0], MAX_BYTES) + "\n[The line is longer; the rest is left out.]"]
    text = "\n".join(kept)
    if more:
        text += f"\n\n[There are more lines. Go on with offset={offset + len(kept)}.]"
    return Result(text, details=details)


def _numbered(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yields lines without their LF; of one longer than the cap no more than twice the cap is held in memory."""
    number = 0
    while line := file.readline(2 * MAX_BYTES):
        number += 1
        ended = line.endswith(b"\n")
        while not ended and (rest := file.readline(MAX_BYTES)):
            ended = rest.endswith(b"\n")
        yield number, line.removesuffix(b"\n")
