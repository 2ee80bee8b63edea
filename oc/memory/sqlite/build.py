"""Writes notes into an index: a file's chunks, their terms and its row, inside the caller's transaction."""

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from oc.base.text import js_trim, pattern
from oc.memory import paths
from oc.memory.chunk import ESTIMATE, chunk_lines, max_chunk_units
from oc.memory.scan import Stamp
from oc.memory.sqlite.driver import Connection
from oc.memory.sqlite.schema import Budget
from oc.memory.text import index_text, reading

_HEADING = r"(#{1,6})[ \t]+(.+)"
_MAX_HEADING_CHARS = 120
_BATCH = 500


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
    lines, weights, terms = reading(text)
    # Chunks overlap, so the terms are made once per note; only a cut line makes a chunk that is not whole lines.
    whole = max(weights) <= max_chunk_units(budget.tokens)
    headings = _headings(text)
    name = path.removeprefix(paths.FOLDER + "/").removesuffix(paths.ENDING)
    chunks = chunk_lines(lines, weights, tokens=budget.tokens, overlap=budget.overlap, measure=ESTIMATE)
    for first, last, piece in chunks:
        if not js_trim(piece):
            continue
        yield Row(
            first,
            last,
            hashlib.sha256(piece.encode()).digest(),
            " ".join((name, *_above(headings, first))),
            piece,
            "\n".join(terms[first - 1 : last]) if whole else index_text(piece),
        )


def _headings(text: str) -> list[tuple[int, int, str]]:
    """Returns line, level and words of each heading."""
    found = []
    text = "\n" + text
    line = counted = 0
    at = text.find("\n#")
    while at >= 0:
        line += text.count("\n", counted, at + 1)
        counted = at + 1
        match = pattern(_HEADING).match(text, at + 1)
        if match is not None:
            found.append((line, len(match[1]), match[2].strip(" \t\r#")[:_MAX_HEADING_CHARS]))
        at = text.find("\n#", at + 1)
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
    """Adds files to and removes them from an index; ids go up, so a chunk never gets the id of an older one.

    What is added is in the index after `flush`: rows are written in batches.
    """

    def __init__(self, connection: Connection, budget: Budget) -> None:
        self.connection = connection
        self.budget = budget
        self._next_file = _next(connection, "SELECT max(id) FROM files")
        self._next_chunk = _next(connection, "SELECT max(id) FROM chunks")
        self._files: list[tuple[Any, ...]] = []
        self._chunks: list[tuple[Any, ...]] = []
        self._terms: list[tuple[Any, ...]] = []

    def add(self, path: str, data: bytes, stamp: Stamp, source: str = "memory") -> None:
        count = 0
        for row in rows(path, data.decode("utf-8", "replace"), self.budget):
            number = self._next_chunk + count
            self._chunks.append((number, self._next_file, *row[:5]))
            self._terms.append((number, row.terms, index_text(row.context)))
            count += 1
        self._files.append((self._next_file, path, source, hashlib.sha256(data).hexdigest(), *stamp, count))
        self._next_file += 1
        self._next_chunk += count
        if len(self._chunks) > _BATCH:
            self.flush()

    def flush(self) -> None:
        self.connection.executemany("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)", self._files)
        self.connection.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)", self._chunks)
        self.connection.executemany("INSERT INTO chunks_fts (rowid, text, context) VALUES (?, ?, ?)", self._terms)
        for batch in (self._files, self._chunks, self._terms):
            batch.clear()

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


def _next(connection: Connection, largest: str) -> int:
    return (connection.execute(largest).fetchone()[0] or 0) + 1
