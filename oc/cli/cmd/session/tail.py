"""`oc session tail`: the last entries of a transcript, and those that are appended while one watches."""

import os
import stat
from io import BytesIO

import click

from oc.cli.app import App
from oc.cli.options import limit_option, oc_command
from oc.cli.sessions import open_transcript
from oc.errors import BadInput, Usage
from oc.session.entry import Finding
from oc.session.tail import last_entries
from oc.session.transcript import need_header, scan


@oc_command("tail")
@click.argument("session", required=False, metavar="[SESSION|-]")
@limit_option(10, "entries")
@click.option("-f", "--follow", is_flag=True, help="Go on with what is appended, and with the next transcript.")
def command(app: App, session: str | None, limit: int, follow: bool) -> int:
    """Print the last entries of a session."""
    if follow and session == "-":
        raise Usage("--follow needs a file or a session, not -")
    with open_transcript(app, session) as (stream, path):
        file = stream
        if session == "-" or not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            if follow:
                raise BadInput("not a regular file", path=path)
            file = BytesIO(stream.read())  # a pipe has no end to read from
        skipped: list[Finding] = []
        need_header(scan(file, skipped), skipped, path)
        found = last_entries(file, file.seek(0, os.SEEK_END), limit)
        app.out.write(b"".join(raw + b"\n" for raw in found.lines))
        if found.skipped:
            app.out.warn(f"{path}: {found.skipped} of the last lines are no entries and left out")
        if follow:
            from oc.cli.following import Follower

            Follower(app, session, found.lines[-1] if found.lines else None).run(file, path, found.end)
    return 0
