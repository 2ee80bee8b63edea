"""Appending to a session by its key, id or path: which transcript that is now, and what is stored in it."""

import os
from collections.abc import Mapping

from oc.base.clock import iso
from oc.cli.app import App
from oc.cli.given import Given, check_kept
from oc.cli.guarding import end_of, provenance, rules_for, to_store
from oc.cli.lifecycle import rules_of
from oc.cli.sessions import find_key, find_session
from oc.errors import Busy, NotFound
from oc.history.guarded import Pending
from oc.session import open as opening
from oc.session import transcript
from oc.session.entry import Entry, new_header
from oc.session.find import SessionRef
from oc.session.tree import leaf_path
from oc.session_key import is_path

ATTEMPTS = 8
Source = Mapping[str, str]


def append(
    app: App, session: str, given: Given, *, source: Source | None, create: bool
) -> tuple[SessionRef, list[Entry]]:
    """Appends to the session as it is now: one rolled over by another process meanwhile is looked up again.

    Where calls wait for results, what is stored depends on the leaf: if that moves meanwhile, it is worked out anew.
    """
    for attempt in range(ATTEMPTS):
        ref, owner = target(app, session, create=create)
        last = attempt == ATTEMPTS - 1
        leaf: str | None = None
        try:
            if ref.key is not None:
                opening.need_transcript(ref, owner.places, rules_of(owner))
            transcript.need_writable(ref.path)
            end = end_of(ref.path)
            _check_kept(given, ref.path)
            leaf = end.leaf_id if end.pending else None
            rules = rules_for(owner, ref, source)
            stored = to_store(app, given.entries, end.pending, rules, app.clock.now_ms())
            written = transcript.append(
                ref.path, stored, ids=app.ids, after=leaf, lock_timeout_ms=app.lock_timeout_ms, warn=app.out.warn
            )
        except NotFound:
            if ref.key is None or last:
                raise
            continue
        except Busy:
            if leaf is None or last or end_of(ref.path).leaf_id == leaf:
                raise
            continue
        opening.touch(ref, owner.places, rules_of(owner))
        return ref, written
    raise AssertionError


def _check_kept(given: Given, path: str | None) -> None:
    """Looks at the leaf's path, which may be long, only where a compaction is given."""
    if any(entry["type"] == "compaction" for entry in given.entries):
        branch = leaf_path(transcript.read(path).entries) if path is not None else []
        check_kept(given, {entry["id"] for entry in branch})


def preview(app: App, session: str, given: Given, source: Source | None, *, create: bool) -> list[Entry]:
    """Returns what would be stored, nothing made or written; fails where storing it would."""
    ref, owner = target(app, session, create=False)
    pending: Pending = {}
    is_new = not os.path.lexists(ref.path) and (create or ref.key is not None)
    if not is_new:
        transcript.need_writable(ref.path)
        pending = end_of(ref.path).pending
    _check_kept(given, None if is_new else ref.path)
    return to_store(app, given.entries, pending, rules_for(owner, ref, source), app.clock.now_ms())


def target(app: App, session: str, *, create: bool) -> tuple[SessionRef, App]:
    """Returns the session, with the run as its agent's; makes what is missing of it where that is asked for."""
    if is_path(session):
        if create and not os.path.lexists(session):
            header = new_header(app.ids.uuid(), iso(app.clock.now_ms()), os.getcwd())
            transcript.create(session, header, lock_timeout_ms=app.lock_timeout_ms)
        return find_session(app, session), app
    try:
        ref = find_session(app, session)
        owner = app.for_agent(ref.agent)
    except NotFound:
        if not create:
            raise
        key, owner = find_key(app, session)
        ref = opening.open_session(key, owner.places, rules_of(owner), stale_too=True).ref
    return ref, owner


def source_of(app: App, session: str, channel: str | None, tool: str | None) -> Source:
    """Returns the provenance of messages from a session, which need not be there."""
    try:
        ref = find_session(app, session)
    except NotFound:
        return provenance({"sourceSessionKey": find_key(app, session)[0]}, channel, tool)
    return provenance({"originSessionId": ref.session_id, "sourceSessionKey": ref.key or session}, channel, tool)
