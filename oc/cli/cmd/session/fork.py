"""`oc session fork`: a transcript of its own from one branch of another."""

import os
from typing import Any

import click

from oc.base.clock import iso
from oc.cli.app import App
from oc.cli.lifecycle import print_opened, rules_of, tell_hooks
from oc.cli.options import oc_command
from oc.cli.sessions import find_key, find_session
from oc.errors import BadInput, Usage
from oc.session import store
from oc.session.entry import new_header
from oc.session.forked import Source, write_fork
from oc.session.open import Start, new_session_id, open_session
from oc.session.transcript import refuse_read_only


@oc_command("fork")
@click.argument("session")
@click.argument("entry", required=False)
@click.option("--key", metavar="KEY", help="Make the fork the session of KEY, which must have none.")
@click.option("--to", "target", metavar="FILE", help="Write the fork to FILE.")
@click.option("--all", "everything", is_flag=True, help="Take all branches, not only the path to ENTRY.")
def command(app: App, session: str, entry: str | None, *, key: str | None, target: str | None, everything: bool) -> int:
    """Copy the path to an entry into a transcript of its own."""
    if session == "-":
        raise Usage("a session to fork is expected, not -")
    if key is not None and target is not None:
        raise Usage("--key and --to exclude each other")
    if everything and entry is not None:
        raise Usage("--all takes every branch, whatever the ENTRY")
    ref = find_session(app, session)
    source = Source(ref.path, entry, everything)
    if key is not None:
        name, owner = find_key(app, key)
        if store.look_up(store.load(owner.places.store), name).row is not None:
            raise BadInput(f"{name} has a session already", path=owner.places.store)
        opened = open_session(name, owner.places, rules_of(owner), start=Start(fork=source))
        tell_hooks(owner, opened)
        print_opened(app, owner, opened)
        return 0
    if target is None:
        refuse_read_only(ref.path)
    owner = app.for_agent(ref.agent)
    session_id = new_session_id(store.load(owner.places.store), owner.places.sessions, app.ids)
    path = target or os.path.join(os.path.dirname(ref.path), store.transcript_name(session_id))
    header = new_header(session_id, iso(app.clock.now_ms()), owner.places.workspace)
    count = write_fork(source, path, header, ids=app.ids, lock_timeout_ms=app.lock_timeout_ms)
    row: dict[str, Any] = {"path": path, "sessionId": session_id, "entries": count, "parentSession": ref.path}
    if app.out.format == "json":
        app.out.document(row)
    else:
        app.out.rows("sessions", [row], ("path", "sessionId", "entries"))
    return 0
