"""`oc session key`: what a session key says, and which key a message gets."""

from typing import Any

import click

from oc.cli.app import App
from oc.cli.options import oc_command
from oc.cli.sessions import find_key
from oc.errors import Usage
from oc.session.keys import Peer, describe, peer_key, thread_of_key


@oc_command("key")
@click.argument("key", required=False)
@click.option("--channel", metavar="C", help="Make the key of a message from channel C (telegram, slack, ...).")
@click.option("--peer", metavar="ID", help="Whom the message is from: a person, a group or a channel.")
@click.option("--kind", type=click.Choice(["direct", "group", "channel"]), default="direct", help="What the peer is.")
@click.option("--account", metavar="ID", default="", help="The account on the channel that got the message.")
@click.option("--thread", metavar="ID", help="The thread or topic that the message stands in.")
def command(
    app: App, key: str | None, *, channel: str | None, peer: str | None, kind: str, account: str, thread: str | None
) -> int:
    """Print what a session key says, or the key that a message gets."""
    if (key is None) is (channel is None):
        raise Usage("a KEY or --channel is expected")
    main_key = str(app.config.get("session.mainKey"))
    name = find_key(app, key)[0] if key is not None else _built(app, Peer(kind, peer or "", channel or "", account))
    if thread is not None:
        name = thread_of_key(name, thread)
    row: dict[str, Any] = describe(name, main_key)
    if app.out.format == "json":
        app.out.document(row)
    elif key is None and app.out.format == "text":
        app.out.line(name)
    elif app.out.format == "text":
        known = [{"name": field, "value": value} for field, value in row.items() if value is not None]
        app.out.rows("facts", known, ("name", "value"))
    else:
        app.out.rows("keys", [row], tuple(row))
    return 0


def _built(app: App, peer: Peer) -> str:
    """Returns the key by the configuration: who shares a session, and which names are one person's."""
    config = app.config
    if config.get("session.scope") == "global":
        return "global"
    links = config.get("session.identityLinks")
    return peer_key(
        app.agent,
        peer,
        scope=str(config.get("session.dmScope")),
        links=links if isinstance(links, dict) else {},
        main_key=str(config.get("session.mainKey")),
    )
