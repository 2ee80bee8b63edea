"""`oc session event`: something that a session is to be told at its next turn."""

import click

from oc.cli.app import App
from oc.cli.options import oc_command
from oc.cli.sessions import find_key
from oc.cli.texts import argument
from oc.errors import NotFound, Usage
from oc.session import events, store


@oc_command("event")
@click.argument("session")
@click.argument("text")
def command(app: App, session: str, text: str) -> int:
    """Queue an event that a session is told at its next turn."""
    if not text.strip():
        raise Usage("the event says nothing")
    key, owner = find_key(app, session)
    if store.look_up(store.load(owner.places.store), key).row is None:
        raise NotFound(f"no session {key!r}", hint="`oc session open` makes it")
    event = {"sessionKey": key, "kind": "event", "text": argument(text)}
    stored = events.queue(
        owner.places.events, event, ids=app.ids, now_ms=app.clock.now_ms(), lock_timeout_ms=app.lock_timeout_ms
    )
    app.out.rows("events", [stored], ("id",))
    return 0
