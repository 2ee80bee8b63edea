"""The sessions of OpenClaw 2026.8 and later: one SQLite database per agent, which is read here and never written.

Only the gateway writes it. Tables and columns are those of OpenClaw 2026.9.6; up to 2026.7 the files beside it are the
sessions, and a database without the tables says nothing. A transcript is named `<database>#<session id>`.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from oc.base.jsonl import parse
from oc.errors import BadInput, Busy, NotFound, Unavailable
from oc.session_key import is_session_id

if TYPE_CHECKING:
    import sqlite3

MARK = ".sqlite#"
MAX_TEXT_BYTES = 4 << 20  # what OpenClaw allows an event, as text and compressed
_TABLES = frozenset({"session_nodes", "transcript_events"})
_EVENTS = "SELECT seq, event_json, event_zstd FROM transcript_events WHERE session_id = ? ORDER BY seq"
_OLDER_EVENTS = "SELECT seq, event_json, NULL FROM transcript_events WHERE session_id = ? ORDER BY seq"


class Name(NamedTuple):
    """A transcript in a database."""

    database: str
    session_id: str

    def __str__(self) -> str:
        return f"{self.database}#{self.session_id}"


def split_name(path: str) -> Name | None:
    """Returns database and session that a path names; None for the path of a file."""
    if MARK not in path:
        return None
    database, _, session_id = path.rpartition("#")
    return Name(database, session_id) if database.endswith(".sqlite") and is_session_id(session_id) else None


def holds_sessions(path: str) -> bool:
    """Says whether the database has the tables of sessions."""
    with _reading(path) as database:
        names = database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        return {name for (name,) in names} >= _TABLES


def refuse_writing(path: str) -> None:
    """Raises Unavailable for what is read and never written: rows of a database, compressed archives."""
    name = split_name(path)
    if name is not None:
        refuse(name.database)
    elif path.endswith(".zst"):
        raise Unavailable("a compressed archive is only read", path=path)


def refuse(database: str) -> None:
    """Raises Unavailable with the line that copies the sessions to where they can be written."""
    raise Unavailable(
        "OpenClaw keeps these sessions in its database, which is only read",
        path=database,
        hint=f"`oc --home DIR session import {database}` copies them to another state directory",
    )


def rows(path: str) -> dict[str, Any]:
    """Returns what sessions.json would hold: a row per session key.

    A row whose `entry_json` OpenClaw itself calls invalid, or that is no JSON object, has the columns only.
    """
    query = (
        "SELECT session_key, current_session_id, entry_json, entry_valid, updated_at, label, display_name"
        " FROM session_nodes ORDER BY session_key"
    )
    found: dict[str, Any] = {}
    with _reading(path) as database:
        for key, session_id, text, valid, updated_at, label, name in database.execute(query):
            row = _entry(text) if valid in (None, 1) else {}
            columns = {"sessionId": session_id, "updatedAt": updated_at, "label": label, "displayName": name}
            row.update({field: value for field, value in columns.items() if value is not None})
            row["sessionFile"] = str(Name(path, str(session_id)))
            found[str(key)] = row
    return found


def _entry(text: Any) -> dict[str, Any]:
    try:
        value = parse(text) if isinstance(text, str | bytes) else None
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def session_ids(path: str) -> list[tuple[str, str | None]]:
    """Returns every session that has a transcript, with the key it was under, in order of its id.

    A key has had many: the ones before a reset, roll-over or rewind are here too.
    """
    with _reading(path) as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        keys = {}
        if "session_windows" in tables:
            keys = dict(database.execute("SELECT session_id, session_key FROM session_windows"))
        ids = database.execute("SELECT DISTINCT session_id FROM transcript_events ORDER BY session_id")
        return [(str(session_id), keys.get(session_id)) for (session_id,) in ids]


def open_transcript(path: str) -> BinaryIO | None:
    """Returns rows of a database, or a compressed archive, as the JSON lines they were; None for any other path.

    They come in an unnamed file that can be read from either end. Raises NotFound when the database has no such
    session, Unavailable for what is compressed without the extra `zstd`.
    """
    name = split_name(path)
    if name is None and not path.endswith(".zst"):
        return None
    from tempfile import TemporaryFile

    with ExitStack() as on_failure:
        file: BinaryIO = on_failure.enter_context(TemporaryFile())
        if name is None:
            _unpack_file(path, file)
        else:
            file.writelines(line + b"\n" for line in _lines(name))
            if file.tell() == 0:
                raise NotFound("no such session in the database", path=path)
        on_failure.pop_all()
    file.seek(0)
    return file


def _unpack_file(path: str, file: BinaryIO) -> None:
    zstandard = _zstandard(path)
    try:
        with open(path, "rb") as packed:
            zstandard.ZstdDecompressor().copy_stream(packed, file)
    except FileNotFoundError:
        raise NotFound("no such file", path=path) from None
    except zstandard.ZstdError:
        raise BadInput("the compressed file is broken", path=path) from None


def _lines(name: Name) -> Iterator[bytes]:
    with _reading(name.database) as database:
        columns = {row[1] for row in database.execute("PRAGMA table_info(transcript_events)")}
        query = _EVENTS if "event_zstd" in columns else _OLDER_EVENTS
        for number, (_, text, packed) in enumerate(database.execute(query, (name.session_id,)), 1):
            raw = text.encode("utf-8", "replace") if isinstance(text, str) else text
            if raw is None and packed is not None:
                raw = _unpacked(packed, str(name), number)
            # A line feed can only stand between values: as a space it means the same, and the event stays one line.
            yield (raw or b"").replace(b"\n", b" ")


def _unpacked(frame: bytes, path: str, line: int) -> bytes:
    """Returns the text of an event; raises BadInput for a broken frame and for a text longer than there may be."""
    zstandard = _zstandard(path)
    try:
        with zstandard.ZstdDecompressor().stream_reader(frame) as stream:
            data: bytes = stream.read(MAX_TEXT_BYTES + 1)
    except zstandard.ZstdError:
        raise BadInput("the compressed event is broken", path=path, line=line) from None
    if len(data) > MAX_TEXT_BYTES:
        raise BadInput(f"the compressed event holds more than {MAX_TEXT_BYTES} bytes", path=path, line=line)
    return data


def _zstandard(path: str) -> Any:
    try:
        import zstandard
    except ImportError:
        raise Unavailable(
            "zstd-compressed; reading it takes the extra `zstd`: pip install 'oc-toolkit[zstd]'", path=path
        ) from None
    return zstandard


@contextmanager
def _reading(path: str) -> Iterator["sqlite3.Connection"]:
    """Opens the database read-only; nothing is created beside it unless a writer's log has to be read.

    A database in WAL mode without a log is complete in itself, and opening it as immutable makes no log. While the
    gateway runs there is one, and it is read under the locks that SQLite keeps.
    """
    import sqlite3
    from urllib.parse import quote

    if not os.path.exists(path):
        raise NotFound("no such file", path=path)
    mode = "mode=ro" if os.path.exists(f"{path}-wal") else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"file:{quote(os.path.abspath(path))}?{mode}", uri=True, timeout=10)) as database:
            yield database
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise Busy("the database is locked by another process", path=path) from None
        raise BadInput(f"the database cannot be read: {error}", path=path) from None
    except sqlite3.DatabaseError as error:
        raise BadInput(f"not a database that can be read: {error}", path=path) from None
