"""`oc session name`: the name that a transcript bears."""

import click

from oc.base.clock import iso
from oc.cli.app import App
from oc.cli.marking import append_to
from oc.cli.options import oc_command
from oc.cli.sessions import open_transcript
from oc.errors import Usage
from oc.session.transcript import scan


@oc_command("name")
@click.argument("session")
@click.argument("name", required=False)
def command(app: App, session: str, name: str | None) -> int:
    """Name a session, or print its name."""
    if name is None:
        return _show(app, session)
    if not name.strip():
        raise Usage("the name is blank")
    entry = {"type": "session_info", "timestamp": iso(app.clock.now_ms()), "name": name.strip()}
    append_to(app, session, entry)
    return 0


def _show(app: App, session: str) -> int:
    """Prints the newest name, on whatever branch it was given."""
    found = None
    with open_transcript(app, session) as (file, _):
        for _, _, entry in scan(file, []):
            name = entry.get("name")
            if entry.get("type") == "session_info" and isinstance(name, str) and name:
                found = name
    app.out.rows("names", [] if found is None else [{"name": found}], ("name",))
    return 0 if found is not None else 1
