"""`oc session tail`: the last entries of a transcript, and those that are appended while one watches."""

import os
import time
from typing import BinaryIO

import click

from oc.cli.app import App
from oc.cli.options import limit_option, oc_command
from oc.cli.sessions import find_session
from oc.errors import Usage
from oc.session.tail import last_entries
from oc.session.transcript import open_file

POLL_S = 0.2


@oc_command("tail")
@click.argument("session", required=False)
@limit_option(10, "entries")
@click.option("-f", "--follow", is_flag=True, help="Go on with what is appended, until interrupted.")
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
            _follow(app, file, path, found.end)
    return 0


def _follow(app: App, file: BinaryIO, path: str, offset: int) -> None:
    """Prints each line once it is finished; ends when the file is gone, as it is after a roll-over."""
    rest = b""
    file.seek(offset)
    while True:
        app.out.flush()
        data = file.read()
        *lines, rest = (rest + data).split(b"\n")
        for raw in lines:
            if raw.strip():
                app.out.write(raw + b"\n")
        if data:
            continue
        if not _is_same(file, path):
            app.out.say(f"oc: {path}: the transcript was moved or replaced")
            return
        time.sleep(POLL_S)


def _is_same(file: BinaryIO, path: str) -> bool:
    try:
        there = os.stat(path)
    except OSError:
        return False
    mine = os.fstat(file.fileno())
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino) and there.st_size >= file.tell()
