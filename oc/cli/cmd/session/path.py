"""`oc session path`: the file of a session."""

import os

import click

from oc.cli.app import App
from oc.cli.options import oc_command
from oc.cli.sessions import find_session


@oc_command("path")
@click.argument("session", required=False)
def command(app: App, session: str | None) -> int:
    """Print the name of a session's transcript."""
    ref = find_session(app, session)
    if app.out.format == "text":
        app.out.write(os.fsencode(ref.path) + b"\n")
        return 0
    app.out.rows("sessions", [{"path": ref.path, "key": ref.key, "sessionId": ref.session_id}], ("path",))
    return 0
