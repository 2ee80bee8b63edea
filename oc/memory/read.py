"""Reads a note, or lines of it, and nothing else: what is no note of the workspace or the extra paths is refused.

The real path must lie in the workspace or in an extra path (design D8), so that no folder that is a symbolic link
leads out. Rules of which paths are notes follow openclaw 2026.3.13, memory_get; table: tests/vectors/memory-get.json.
"""

import os
import stat
from collections.abc import Iterable

from oc.base.text import js_trim, pattern
from oc.base.typed import NamedTuple
from oc.errors import NotFound, Usage
from oc.memory import paths

_PLACE = r"(?s)(.+?)#L([0-9]{1,15})(?:-L?([0-9]{1,15}))?\Z"


class Passage(NamedTuple):
    """`path` as in hits; `exists` is False for a note that is not there."""

    path: str
    text: str
    exists: bool


class Note(NamedTuple):
    path: str
    data: bytes
    exists: bool


class Place(NamedTuple):
    """A path with the lines that were written behind it, `#L12-L18`; 1-based, None where not given."""

    path: str
    first: int | None
    last: int | None


def place(text: str) -> Place:
    match = pattern(_PLACE).match(text)
    if match is None:
        return Place(text, None, None)
    first = int(match[2])
    return Place(match[1], first, int(match[3]) if match[3] else first)


def get(workspace: str, extra: Iterable[str], path: str, start: float | None, count: float | None) -> Passage:
    """Returns lines of a note as text, as memory_get does: line ends stay inside, the last one falls away."""
    note = read(workspace, extra, path)
    text = note.data.decode("utf-8", "replace")
    if start or count:
        first, last = _bounds(start, count)
        text = "\n".join(text.split("\n")[first:last])
    return Passage(note.path, text, note.exists)


def read(workspace: str, extra: Iterable[str], path: str) -> Note:
    """Returns the whole of a note; raises NotFound for what is no note, and says `exists` False when it is missing."""
    name, file = _resolve(os.path.abspath(workspace), extra, path)
    try:
        status = os.lstat(file)
    except (FileNotFoundError, NotADirectoryError):
        return Note(name, b"", exists=False)
    if not stat.S_ISREG(status.st_mode):
        kind = "a symbolic link" if stat.S_ISLNK(status.st_mode) else "no file"
        raise NotFound(f"no note: it is {kind}", path=name)
    with open(file, "rb") as opened:
        return Note(name, opened.read(), exists=True)


def byte_lines(data: bytes, start: float | None, count: float | None) -> bytes:
    """Returns the bytes of `count` lines from line `start` on, line ends included; neither is everything."""
    if not start and not count:
        return data
    first, last = _bounds(start, count)
    *ended, tail = data.split(b"\n")
    return b"".join([*(line + b"\n" for line in ended), tail][first:last])


def _bounds(start: float | None, count: float | None) -> tuple[int, int | None]:
    """Returns a slice of lines; `start` is 1-based, and what is below 1, as start or as count, is 1."""
    first = int(max(1, start or 1)) - 1
    return first, None if count is None else first + int(max(1, count))


def _resolve(workspace: str, extra: Iterable[str], path: str) -> tuple[str, str]:
    """Returns the name of a note and its file; raises Usage for no path, NotFound for one that is no note."""
    wanted = js_trim(path)
    if not wanted:
        raise Usage("a path is expected")
    if "\0" in wanted:
        raise NotFound("no note: its path holds a NUL")
    allowed = paths.extra_paths(workspace, extra)
    file = os.path.abspath(os.path.join(workspace, wanted))
    if not _is_listed(workspace, allowed, file):
        file = _bare(workspace, wanted) or file
    name = paths.relative(workspace, file)
    if not _is_listed(workspace, allowed, file):
        raise NotFound("no note of this workspace", path=wanted, hint="notes are MEMORY.md and memory/**/*.md")
    if not file.endswith(paths.ENDING):
        raise NotFound("no note: its name does not end in .md", path=name)
    real = os.path.realpath(os.path.dirname(file))
    if not any(_is_inside(os.path.realpath(root), real) for root in (workspace, *map(_folder_of, allowed))):
        raise NotFound("no note: it lies outside the workspace", path=name)
    return name, file


def _bare(workspace: str, wanted: str) -> str | None:
    """Returns the file below memory/ that a bare name stands for: a day's always, another note's when it is there."""
    note = paths.as_note(wanted)
    if note is None:
        return None
    file = os.path.abspath(os.path.join(workspace, note))
    return file if paths.is_day(wanted) or _may_exist(file) else None


def _may_exist(file: str) -> bool:
    """A file in a folder that cannot be looked into is not taken for missing."""
    try:
        os.lstat(file)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _folder_of(extra: str) -> str:
    return extra if os.path.isdir(extra) else os.path.dirname(extra)


def _is_listed(workspace: str, allowed: Iterable[str], file: str) -> bool:
    if _is_inside(workspace, file) and paths.is_memory_path(paths.relative(workspace, file)):
        return True
    for root in allowed:
        if os.path.islink(root):
            continue
        if file == root or (os.path.isdir(root) and _is_inside(root, file)):
            return True
    return False


def _is_inside(root: str, path: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)
