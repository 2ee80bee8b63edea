"""`oc session label`: a mark on an entry, by which people and commands find it again."""

import click

from oc.base.clock import iso
from oc.cli.app import App
from oc.cli.marking import append_to, resolve_entry
from oc.cli.options import oc_command
from oc.cli.sessions import path_of
from oc.errors import Usage


@oc_command("label")
@click.argument("session")
@click.argument("entry")
@click.argument("label", required=False)
@click.option("--clear", is_flag=True, help="Take the label away.")
def command(app: App, session: str, entry: str, label: str | None, *, clear: bool) -> int:
    """Label an entry of a session."""
    if clear is (label is not None):
        raise Usage("a LABEL or --clear is expected")
    if label is not None and not label.strip():
        raise Usage("the label is blank")
    if session == "-":
        raise Usage("a session is expected, not -")
    target = resolve_entry(path_of(app, session), entry)
    mark = {"type": "label", "timestamp": iso(app.clock.now_ms()), "targetId": target["id"]}
    append_to(app, session, mark if label is None else {**mark, "label": label.strip()})
    return 0
