"""`oc session tail`: the last entries of a transcript, and those that are appended while one watches."""

import os

import click

from oc.cli.app import App
from oc.cli.options import limit_option, oc_command
from oc.cli.sessions import find_session
from oc.errors import Usage
from oc.session.tail import last_entries
from oc.session.transcript import open_file


@oc_command("tail")
@click.argument("session", required=False)
@limit_option(10, "entries")
@click.option("-f", "--follow", is_flag=True, help="Go on with what is appended, and with the next transcript.")
def command(app: App, session: str | None, limit: int, follow: bool) -> int:
    """Print the last entries of a session."""
    if session == "-":
        raise Usage("a session is expected, not -")
    path = find_session(app, session).path
    with open_file(path) as file:
        found = last_entries(file, os.fstat(file.fileno()).st_size, limit)
        app.out.write(b"".join(raw + b"\n" for raw in found.lines))
        if found.skipped:
            app.out.warn(f"{path}: {found.skipped} of the last lines are no entries and left out")
        if follow:
            from oc.cli.following import Follower

            Follower(app, session, found.lines[-1] if found.lines else None).run(file, path, found.end)
    return 0
