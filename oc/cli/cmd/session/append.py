"""`oc session append`: messages or entries from stdin, or one text, onto the leaf of a transcript."""

import os
from typing import Any

import click

from oc.base.clock import iso
from oc.cli.app import App
from oc.cli.given import given_entries, text_entry
from oc.cli.lifecycle import rules_of
from oc.cli.options import oc_command
from oc.cli.sessions import find_key, find_session
from oc.errors import NotFound, Usage
from oc.session import open as opening
from oc.session import transcript
from oc.session.entry import Entry, new_header
from oc.session.find import SessionRef
from oc.session_key import is_path

ATTEMPTS = 8


@oc_command("append")
@click.argument("session")
@click.argument("text", required=False)
@click.option("--role", type=click.Choice(["user", "assistant"]), help="Append TEXT as one message of that role.")
@click.option("--create", is_flag=True, help="Make the session when there is none.")
@click.option("--from", "source", metavar="SESSION", help="Mark user messages as sent by another session.")
@click.option("--dry-run", is_flag=True, help="Check the input and print what would be appended.")
def command(
    app: App, session: str, text: str | None, *, role: str | None, create: bool, source: str | None, dry_run: bool
) -> int:
    """Append messages or entries to a session, and print their ids."""
    if (text is None) is not (role is None):
        raise Usage("--role and TEXT go together")
    if session == "-":
        raise Usage("a session to append to is expected, not -")
    now_ms = app.clock.now_ms()
    entries = given_entries(app, now_ms) if role is None else [text_entry(role, str(text), now_ms)]
    if source is not None:
        entries = [_stamped(entry, _provenance(app, source)) for entry in entries]
    if dry_run or not entries:
        _target(app, session, create=False)
        app.out.rows("entries", entries, ("id", "type"))
        return 0
    ref, written = _append(app, session, entries, create=create)
    rows = [{"id": entry["id"], "parentId": entry["parentId"], "path": ref.path} for entry in written]
    app.out.rows("entries", rows, ("id",))
    return 0


def _append(app: App, session: str, entries: list[Entry], *, create: bool) -> tuple[SessionRef, list[Entry]]:
    """Appends to the session as it is now: one rolled over by another process meanwhile is looked up again."""
    for attempt in range(ATTEMPTS):
        ref, owner = _target(app, session, create=create)
        try:
            if ref.key is not None:
                opening.need_transcript(ref, owner.places, rules_of(owner))
            written = transcript.append(
                ref.path, entries, ids=app.ids, lock_timeout_ms=app.lock_timeout_ms, warn=app.out.warn
            )
        except NotFound:
            if ref.key is None or attempt == ATTEMPTS - 1:
                raise
            continue
        opening.touch(ref, owner.places, rules_of(owner))
        return ref, written
    raise AssertionError


def _target(app: App, session: str, *, create: bool) -> tuple[SessionRef, App]:
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


def _provenance(app: App, source: str) -> dict[str, Any]:
    try:
        ref = find_session(app, source)
    except NotFound:
        return {"kind": "inter_session", "sourceSessionKey": find_key(app, source)[0]}
    named = {"originSessionId": ref.session_id, "sourceSessionKey": ref.key or source}
    return {"kind": "inter_session", **{name: value for name, value in named.items() if value}}


def _stamped(entry: Entry, provenance: dict[str, Any]) -> Entry:
    """Returns the entry with the provenance on a user message that has no valid one of its own."""
    message = entry.get("message")
    if not isinstance(message, dict) or message.get("role") != "user":
        return entry
    own = message.get("provenance")
    if isinstance(own, dict) and own.get("kind") in ("external_user", "inter_session", "internal_system"):
        return entry
    return {**entry, "message": {**message, "provenance": provenance}}
