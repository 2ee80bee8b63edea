"""Writes notes into an index: a file's chunks, their terms and its row, inside the caller's transaction."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from oc.base.text import js_trim, pattern
from oc.memory import paths
from oc.memory.chunk import ESTIMATE, chunk
from oc.memory.scan import Stamp
from oc.memory.sqlite.driver import Connection
from oc.memory.sqlite.schema import Budget
from oc.memory.text import index_text

_HEADING = r"(#{1,6})[ \t]+(.+)"
_MAX_HEADING_CHARS = 120


class Row(NamedTuple):
    """A chunk; `terms` is its text as FTS5 gets it."""

    start_line: int
    end_line: int
    hash: bytes
    context: str
    text: str
    terms: str


def rows(path: str, text: str, budget: Budget) -> Iterator[Row]:
    """Yields the chunks of a note that have any text, with the note's name and the headings above each."""
    lines = text.split("\n")
    ends = list(accumulate((len(line) + 1 for line in lines), initial=0))
    terms = lines if text.isascii() else index_text(text).split("\n")
    headings = _headings(lines)
    name = path.removeprefix(paths.FOLDER + "/").removesuffix(paths.ENDING)
    for first, last, piece in chunk(text, tokens=budget.tokens, overlap=budget.overlap, measure=ESTIMATE):
        if not js_trim(piece):
            continue
        # Chunks overlap, so the terms are made once per note; but a chunk may begin or end inside a line.
        whole = ends[last] - ends[first - 1] - 1 == len(piece)
        yield Row(
            first,
            last,
            hashlib.sha256(piece.encode()).digest(),
            " ".join((name, *_above(headings, first))),
            piece,
            "\n".join(terms[first - 1 : last]) if whole else index_text(piece),
        )


def _headings(lines: Sequence[str]) -> list[tuple[int, int, str]]:
    """Returns line, level and words of each heading."""
    found = []
    for number, line in [(number, line) for number, line in enumerate(lines, 1) if line[:1] == "#"]:
        match = pattern(_HEADING).match(line)
        if match is not None:
            found.append((number, len(match[1]), match[2].strip(" \t\r#")[:_MAX_HEADING_CHARS]))
    return found


def _above(headings: list[tuple[int, int, str]], start_line: int) -> list[str]:
    """Returns the headings under which a line stands, outermost first; those on it or below are the chunk's own."""
    open_headings: list[tuple[int, str]] = []
    for line, level, words in headings:
        if line >= start_line:
            break
        while open_headings and open_headings[-1][0] >= level:
            open_headings.pop()
        open_headings.append((level, words))
    return [words for _, words in open_headings]


class Writer:
    """Adds files to and removes them from an index; ids go up, so a chunk never gets the id of an older one."""

    def __init__(self, connection: Connection, budget: Budget) -> None:
        self.connection = connection
        self.budget = budget
        row = connection.execute("SELECT max(id) FROM chunks").fetchone()
        self._next_id = (row[0] or 0) + 1

    def add(self, path: str, data: bytes, stamp: Stamp, source: str = "memory") -> None:
        made = list(rows(path, data.decode("utf-8", "replace"), self.budget))
        file_id = self.connection.execute(
            "INSERT INTO files (path, source, hash, mtime_ns, ctime_ns, size, chunks) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (path, source, hashlib.sha256(data).hexdigest(), *stamp, len(made)),
        ).lastrowid
        ids = range(self._next_id, self._next_id + len(made))
        self._next_id += len(made)
        self.connection.executemany(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(number, file_id, *row[:5]) for number, row in zip(ids, made, strict=True)],
        )
        self.connection.executemany(
            "INSERT INTO chunks_fts (rowid, text, context) VALUES (?, ?, ?)",
            [(number, row.terms, index_text(row.context)) for number, row in zip(ids, made, strict=True)],
        )

    def remove(self, path: str) -> None:
        old = self.connection.execute(
            "SELECT c.id, c.text, c.context FROM chunks c JOIN files f ON f.id = c.file_id WHERE f.path = ?", (path,)
        ).fetchall()
        self.connection.executemany(
            "INSERT INTO chunks_fts (chunks_fts, rowid, text, context) VALUES ('delete', ?, ?, ?)",
            [(number, index_text(text), index_text(context)) for number, text, context in old],
        )
        self.connection.execute("DELETE FROM chunks WHERE file_id = (SELECT id FROM files WHERE path = ?)", (path,))
        self.connection.execute("DELETE FROM files WHERE path = ?", (path,))

    def touch(self, path: str, stamp: Stamp) -> None:
        """Notes that a file whose stat moved reads as before."""
        self.connection.execute("UPDATE files SET mtime_ns = ?, ctime_ns = ?, size = ? WHERE path = ?", (*stamp, path))
