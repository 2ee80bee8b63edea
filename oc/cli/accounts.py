"""Where `oc session usage` finds responses: transcripts, archives, rows that it printed before."""

import os
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from oc.base import files
from oc.base.clock import duration_ms, parse_iso
from oc.base.jsonl import lines, parse
from oc.cli.app import App
from oc.cli.sessions import find_session
from oc.errors import BadInput, Usage
from oc.session.archive import is_archive
from oc.session.entry import Entry
from oc.session.find import SessionRef, sessions_of, unkeyed_of
from oc.session.tail import lines_backward, value_of
from oc.session.transcript import open_file
from oc.session.usage import Call, Ledger, calls, imported, of_entry

_HEADER_BYTES = 1 << 16


class _Source(NamedTuple):
    began: str
    path: str
    session_id: str
    key: str


def read(app: App, names: tuple[str, ...], exports: tuple[str, ...]) -> Ledger:
    """Returns the responses of the named sessions, else of all of the agent's, archives included, and of exports."""
    ledger = Ledger()
    for path in exports:
        ledger.add(_exported(path))
    refs = [find_session(app, name) for name in names] or list(_all(app))
    # Forks repeat what their source holds: the one that began first had it.
    for source in sorted(map(_source, refs)):
        with open_file(source.path) as file:
            ledger.add(calls(file, source.session_id, source.key or None))
    return ledger


def last(app: App, name: str | None) -> Call | None:
    """Returns the newest response of a session, read from the end of its transcript."""
    ref = find_session(app, name)
    with open_file(ref.path) as file:
        size = file.seek(0, os.SEEK_END)
        for _, raw in lines_backward(file, size):
            value = value_of(raw) if b'"usage"' in raw else None
            call = of_entry(value, _id_of(ref), ref.key) if isinstance(value, dict) else None
            if call is not None:
                return call
    return None


def _all(app: App) -> Iterator[SessionRef]:
    keyed = sessions_of(app.places)
    yield from (ref for ref in keyed if os.path.exists(ref.path) or "#" in ref.path)
    yield from unkeyed_of(app.places, keyed)
    folder = app.places.sessions
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if is_archive(name) and ".jsonl." in name:
            yield SessionRef(None, name.partition(".jsonl")[0], os.path.join(folder, name), app.agent)


def _source(ref: SessionRef) -> _Source:
    with open_file(ref.path) as file:
        header = value_of(file.readline(_HEADER_BYTES))
    fields: Entry = header if isinstance(header, dict) and header.get("type") == "session" else {}
    began, session_id = fields.get("timestamp"), ref.session_id or fields.get("id")
    named = session_id if isinstance(session_id, str) else _id_of(ref)
    return _Source(began if isinstance(began, str) else "", ref.path, named, ref.key or "")


def _id_of(ref: SessionRef) -> str:
    return ref.session_id or os.path.basename(ref.path).partition(".jsonl")[0]


def _exported(path: str) -> Iterator[Call]:
    with files.open_input(path) as file:
        for line in lines(file):
            if not line.raw.strip():
                continue
            try:
                call = imported(parse(line.raw))
            except ValueError:
                call = None
            if call is None:
                raise BadInput("not a row of `oc session usage --by response --jsonl`", path=path, line=line.number)
            yield call


def moment_ms(app: App, text: str | None) -> int | None:
    """Returns the moment that --since and --until name: a date (its midnight), a time, or a time span before now."""
    if text is None:
        return None
    at = parse_iso(text)
    if at is None:
        span = duration_ms(text, "d")
        if span is None:
            raise Usage(f"not a time: {text!r}", hint="such as 2026-03-01, 2026-03-01T12:00:00Z or 7d")
        return app.clock.now_ms() - span
    if len(text) > len("2026-03-01"):
        return at
    year, month, day = map(int, text.split("-"))
    return int(datetime(year, month, day, tzinfo=app.clock.zone).timestamp() * 1000)


def day_of(app: App, call: Call) -> dict[str, Any]:
    return {"day": app.clock.local(call.time_ms).strftime("%Y-%m-%d")}
