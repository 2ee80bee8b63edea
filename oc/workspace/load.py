"""Reads workspace files, and nothing that only looks like one: no link out, no hard link, no giant, nothing swapped.

What cannot be read safely counts as missing and says why. Only reads. Behaviour follows openclaw 2026.3.13; tables:
tests/vectors/context-bootstrap-files.json, -extra.json.
"""

import os
import stat
from collections.abc import Sequence
from typing import NamedTuple

from oc.workspace.names import LONG_TERM, RECOGNISED, STANDARD

MAX_BYTES = 2 * 1024 * 1024

ABSENT = "no such file"
OUTSIDE = "a link leads out of the workspace"
NOT_REGULAR = "not a regular file"
HARD_LINK = "a hard link: another name may lie outside the workspace"
TOO_LARGE = "larger than 2 MiB"
SWAPPED = "replaced while it was opened"
_REFUSED = frozenset((OUTSIDE, NOT_REGULAR, HARD_LINK, TOO_LARGE, SWAPPED))


class File(NamedTuple):
    """A workspace file as it is offered to the context; `content` None: missing, and `problem` says why."""

    name: str
    path: str
    content: str | None
    problem: str | None = None

    @property
    def refused(self) -> bool:
        """Says whether the file is there but not read, which its owner should hear of."""
        return self.content is None and self.problem not in (None, ABSENT)


class Diagnostic(NamedTuple):
    """An extra file that was asked for and is not used; `reason` is the reference's word, `problem` ours."""

    path: str
    reason: str
    problem: str


def load_standard(workspace: str) -> list[File]:
    """Returns the seven standard files, missing ones too, and the one long-term memory file that is there."""
    names = list(STANDARD)
    names += [name for name in LONG_TERM if os.path.exists(os.path.join(workspace, name))][:1]
    return [read_file(workspace, name) for name in names]


def load_extra(workspace: str, patterns: Sequence[str]) -> tuple[list[File], list[Diagnostic]]:
    """Returns the files that the patterns name, in order of first mention, and what was wrong with the others."""
    files: list[File] = []
    diagnostics: list[Diagnostic] = []
    for relative in _matches(workspace, patterns):
        name = os.path.basename(relative)
        if name not in RECOGNISED:
            diagnostics.append(Diagnostic(relative, "invalid-bootstrap-filename", "not a name of a bootstrap file"))
            continue
        file = read_file(workspace, relative)
        if file.content is None:
            problem = file.problem or ABSENT
            reason = "missing" if problem == ABSENT else "security" if problem in _REFUSED else "io"
            diagnostics.append(Diagnostic(relative, reason, problem))
        else:
            files.append(file)
    return files, diagnostics


def _matches(workspace: str, patterns: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for pattern in patterns:
        if any(sign in pattern for sign in "*?{"):
            from glob import glob

            for plain in _alternatives(pattern):
                hits = glob(plain, root_dir=workspace, recursive=True)
                found.update(dict.fromkeys(sorted(hit.replace(os.sep, "/") for hit in hits)))
        else:
            found[pattern] = None
    return list(found)


def _alternatives(pattern: str) -> list[str]:
    """Expands `{a,b}`, which Python's glob does not know; an unclosed brace stands for itself."""
    start = pattern.find("{")
    end = pattern.find("}", start)
    if start < 0 or end < 0:
        return [pattern]
    inner = pattern.rfind("{", start, end)
    options = pattern[inner + 1 : end].split(",")
    return [plain for option in options for plain in _alternatives(pattern[:inner] + option + pattern[end + 1 :])]


def read_file(workspace: str, relative: str) -> File:
    """Reads one file of the workspace; never raises for what is wrong with the file."""
    path = os.path.normpath(os.path.join(workspace, relative))
    name = os.path.basename(path)
    try:
        content, problem = read_inside(workspace, path)
    except (FileNotFoundError, NotADirectoryError):
        content, problem = None, ABSENT
    except ValueError:  # a NUL in a configured name
        content, problem = None, ABSENT
    except OSError as error:
        content, problem = None, (os.strerror(error.errno) if error.errno else str(error)).lower()
    return File(name, path, content, problem)


def read_inside(root: str, path: str) -> tuple[str | None, str | None]:
    """Returns (text, None) or (None, problem); raises OSError. Bad UTF-8 reads as U+FFFD, as Node reads it.

    The real path must lie in the real root, and what is opened must be what was looked at: the folder may be one that
    a model writes to. O_NONBLOCK keeps a pipe in the place of a file from stopping us.
    """
    canonical = os.path.realpath(path, strict=True)
    if not is_inside(os.path.realpath(root), canonical):
        return None, OUTSIDE
    before = os.lstat(canonical)
    if not stat.S_ISREG(before.st_mode):
        return None, NOT_REGULAR
    if before.st_nlink > 1:
        return None, HARD_LINK
    if before.st_size > MAX_BYTES:
        return None, TOO_LARGE
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(canonical, flags)
    except OSError:
        if os.path.islink(canonical):
            return None, SWAPPED
        raise
    with os.fdopen(descriptor, "rb") as file:
        opened = os.fstat(descriptor)
        same = (opened.st_dev, opened.st_ino, opened.st_nlink) == (before.st_dev, before.st_ino, 1)
        if not same or os.path.realpath(path) != canonical:
            return None, SWAPPED
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        return None, TOO_LARGE
    return raw.decode("utf-8", "replace"), None


def is_inside(root: str, path: str) -> bool:
    """Says whether a real path lies in a real folder."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)
