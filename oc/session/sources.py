"""Where sessions are imported from: files and folders of Pi, OpenClaw and Claude Code, and OpenClaw's database.

Sources are only read. What a file is, its first lines tell, not its name.
"""

import os
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

from oc.base import files
from oc.errors import BadInput
from oc.session import openclaw_db
from oc.session.claude_code import convert, is_claude
from oc.session.entry import Finding, is_header
from oc.session.incoming import Incoming, Note, from_transcript
from oc.session.transcript import Line, open_file, read, scan
from oc.session_key import is_session_id

_DATABASE = "openclaw-agent.sqlite"
_EVENTS = "oc-events.jsonl"
_HEAD_LINES = 50  # Claude Code begins with lines that are not part of the conversation


class Source(NamedTuple):
    """A session to import: a file or rows of a database, and with the latter the key that has it now."""

    path: str
    key: str | None = None
    row: dict[str, Any] | None = None


def sources(path: str) -> Iterator[Source]:
    """Yields the sessions that a path holds, in a stable order; raises NotFound when there is nothing."""
    if not os.path.isdir(path):
        yield from _in_database(path) if _is_database(path) else (Source(path),)
        return
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            file = os.path.join(folder, name)
            if name == _DATABASE and openclaw_db.holds_sessions(file):
                yield from _in_database(file)
            elif name.endswith(".jsonl") and name != _EVENTS and not _is_part(folder, name):
                yield Source(file)


def _is_database(path: str) -> bool:
    if openclaw_db.split_name(path):
        return False
    with files.open_input(path) as file:
        return file.read(16) == b"SQLite format 3\0"


def _in_database(path: str) -> Iterator[Source]:
    if not openclaw_db.holds_sessions(path):
        raise BadInput("the database holds no sessions; they are files", path=path)
    rows = openclaw_db.rows(path)
    current = {str(row.get("sessionId")): (key, row) for key, row in rows.items()}
    for session_id, _ in openclaw_db.session_ids(path):
        if is_session_id(session_id):
            yield Source(str(openclaw_db.Name(path, session_id)), *current.get(session_id, (None, None)))


def load(source: Source) -> Incoming:
    """Returns the session of a source; raises BadInput for a file that is nobody's transcript."""
    if openclaw_db.split_name(source.path):
        return from_transcript(read(source.path), "openclaw")
    skipped: list[Finding] = []
    with open_file(source.path) as file:
        lines = scan(file, skipped)
        head = list(islice(lines, _HEAD_LINES))
        if head and is_header(head[0][2]):
            return from_transcript(read(source.path), "pi")
        if not any(is_claude(value) for _, _, value in head):
            raise BadInput("neither a transcript nor a session of Claude Code", path=source.path)
        made = _claude(source.path, list(chain(head, lines)))
    made.notes += [Note(finding.line, "dropped", finding.message) for finding in skipped]
    if not made.entries:
        raise BadInput("no message in it", path=source.path)
    return made


def _claude(path: str, lines: list[Line]) -> Incoming:
    """Returns a session of Claude Code with what its subagents did, which newer versions put into files beside it."""
    stem = os.path.basename(path).removesuffix(".jsonl")
    named = next((v["sessionId"] for _, _, v in lines if isinstance(v.get("sessionId"), str)), stem)
    session_id = next((name for name in (stem, named) if is_session_id(name)), "claude-code")
    notes: list[Note] = []
    for part in _parts(path, stem):
        notes += [Note(None, "changed", f"{part}: taken in as a sidechain")]
        with open_file(part) as file:
            lines += [(0, raw, {**value, "isSidechain": True}) for _, raw, value in scan(file, [])]
    made = convert(lines, path, session_id)
    made.notes[:0] = notes
    return made


def _parts(path: str, stem: str) -> Iterator[str]:
    folder = os.path.join(os.path.dirname(path), stem, "subagents")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    yield from (os.path.join(folder, name) for name in names if name.endswith(".jsonl"))


def _is_part(folder: str, name: str) -> bool:
    """Says whether a file holds what a subagent of the session in the folder above did."""
    parent = os.path.dirname(folder)
    return os.path.basename(folder) == "subagents" and os.path.exists(f"{parent}.jsonl") and name.endswith(".jsonl")
