"""The tables of a keyword index. All of it can be rebuilt from the notes, so a change of the schema is a rebuild.

`chunks.id` is the rowid of `chunks_fts`, which holds terms only: what they came from stands in `chunks`, and a row is
taken out of the index by giving FTS5 the same text again. `context` is the note's path and the headings above a chunk.
Plain SQL: importing sqlite_utils takes as long as indexing 150 notes.
"""

from collections.abc import Mapping

from oc.base.jsonl import dump, parse
from oc.base.typed import Any, NamedTuple
from oc.memory.scan import Stamp
from oc.memory.sqlite.driver import Connection
from oc.memory.text import TOKENS

VERSION = 1
META_KEY = "oc_memory_index"
STAMPS_KEY = "stamps"

# mtime_ns 0: the file was so fresh when it was read that the next run must read it again.
_TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL DEFAULT 'memory',
    hash TEXT NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    size INTEGER NOT NULL,
    chunks INTEGER NOT NULL
);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL REFERENCES files (id),
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    hash BLOB NOT NULL,
    context TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX chunks_file ON chunks (file_id);
CREATE VIRTUAL TABLE chunks_fts USING fts5(text, context, content='', tokenize='{TOKENS}');
"""


class Budget(NamedTuple):
    """Of a chunk, in tokens."""

    tokens: int
    overlap: int


def create(connection: Connection) -> None:
    """Makes the tables in an empty database, inside the caller's transaction."""
    for statement in _TABLES.split(";\n"):
        if statement.strip():
            connection.execute(statement)


def read_meta(connection: Connection) -> dict[str, Any]:
    """Returns what the index was built from, {} when it was built by another version or not finished."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (META_KEY,)).fetchone()
    value = parse(row[0]) if row else {}
    return value if isinstance(value, dict) and value.get("schema") == VERSION else {}


def read_stamps(connection: Connection) -> bytes:
    """Returns the stamps of all files as one JSON text: comparing two of them is what a run costs without changes."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (STAMPS_KEY,)).fetchone()
    return row[0].encode() if row else b""


def write_stamps(connection: Connection, stamps: Mapping[str, Stamp]) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (STAMPS_KEY, stamps_text(stamps).decode()))


def stamps_text(stamps: Mapping[str, Stamp]) -> bytes:
    return dump(stamps)


def write_meta(connection: Connection, meta: dict[str, Any]) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO meta VALUES (?, ?)", (META_KEY, dump({"schema": VERSION, **meta}).decode())
    )
