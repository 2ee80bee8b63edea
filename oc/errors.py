"""The errors of `oc`, each with its exit status; raised where the fact is known, caught in cli/run.py.

What is neither an `OcError` nor an `OSError` nor a usage error is a bug: traceback, status 70.
"""

import os


class OcError(Exception):
    """One line for people, `code` and `status` for programs; `hint` only when there is a next step."""

    status = 70
    code = "error"

    def __init__(
        self,
        message: str,
        *,
        path: str | os.PathLike[str] | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = None if path is None else os.fspath(path)
        self.line = line
        self.hint = hint

    def __str__(self) -> str:
        place = "" if self.path is None else f"{self.path}:" if self.line is None else f"{self.path}:{self.line}:"
        return f"{place} {self.message}".strip()


class Usage(OcError):
    """A bad option or argument; input expected but stdin is a terminal."""

    status = 2
    code = "usage"


class BadInput(OcError):
    """A transcript, note or store is not what it should be."""

    status = 65
    code = "bad_input"


class NotFound(OcError):
    """No such session, entry, note or file."""

    status = 66
    code = "not_found"


class Unavailable(OcError):
    """A model, embedder or backend did not answer, or a compaction was refused."""

    status = 69
    code = "unavailable"


class InputOutput(OcError):
    """Reading or writing failed where no OSError tells it, for example a short write."""

    status = 74
    code = "io"


class Busy(OcError):
    """Another process holds the lock; trying again may work."""

    status = 75
    code = "busy"


class BadConfig(OcError):
    """The configuration has an unknown key, a wrong type or cannot be parsed."""

    status = 78
    code = "config"


STATUSES: dict[int, str] = {
    0: "done, found, clean",
    1: "nothing found, findings, nothing to do",
    2: "usage",
    65: "bad input",
    66: "no such session, entry, note or file",
    69: "model, embedder or backend unavailable, or compaction refused",
    70: "bug, with a traceback",
    74: "input/output error",
    75: "lock busy, try again",
    78: "configuration error",
    130: "interrupted",
    141: "the reader of the pipe went away",
    143: "terminated",
}
