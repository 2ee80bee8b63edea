"""`oc session append`: messages or entries from stdin, or one text, onto the leaf of a transcript."""

import click

from oc.cli.app import App
from oc.cli.appending import append, preview, source_of, target
from oc.cli.given import Given, given_entries, text_entry
from oc.cli.options import oc_command
from oc.cli.texts import argument
from oc.errors import Usage


@oc_command("append")
@click.argument("session")
@click.argument("text", required=False)
@click.option("--role", type=click.Choice(["user", "assistant"]), help="Append TEXT as one message of that role.")
@click.option("--create", is_flag=True, help="Make the session when there is none.")
@click.option("--from", "source", metavar="SESSION", help="Mark user messages as sent by another session.")
@click.option("--channel", metavar="C", help="With --from: the channel over which they were sent.")
@click.option("--via", metavar="TOOL", help="With --from: the tool by which they were sent.")
@click.option("--dry-run", is_flag=True, help="Check the input and print what would be appended.")
def command(
    app: App,
    session: str,
    text: str | None,
    *,
    role: str | None,
    create: bool,
    source: str | None,
    channel: str | None,
    via: str | None,
    dry_run: bool,
) -> int:
    """Append messages or entries to a session, and print their ids."""
    if (text is None) is not (role is None):
        raise Usage("--role and TEXT go together")
    if session == "-":
        raise Usage("a session to append to is expected, not -")
    if source is None and (channel is not None or via is not None):
        raise Usage("--channel and --via go with --from")
    now_ms = app.clock.now_ms()
    given = given_entries(app, now_ms) if role is None else Given([text_entry(role, argument(str(text)), now_ms)], [0])
    origin = None if source is None else source_of(app, source, channel, via)
    if not given.entries:
        target(app, session, create=False)
        app.out.rows("entries", [], ("id",))
        return 0
    if dry_run:
        app.out.rows("entries", preview(app, session, given, origin, create=create), ("id", "type"))
        return 0
    ref, written = append(app, session, given, source=origin, create=create)
    rows = [{"id": entry["id"], "parentId": entry["parentId"], "path": ref.path} for entry in written]
    app.out.rows("entries", rows, ("id",))
    return 0 if written else 1
