"""`oc hooks run EVENT`: what a turn does at that event, by hand."""

import sys

import click

from oc.base.jsonl import parse
from oc.cli.app import App
from oc.cli.cmd.hooks.list import FIELDS, row
from oc.cli.options import oc_command
from oc.errors import BadInput
from oc.hooks.events import EVENTS, check_payload
from oc.hooks.find import find


@oc_command("run")
@click.argument("event", type=click.Choice(list(EVENTS)), metavar="EVENT")
@click.option("--dry-run", is_flag=True, help="List what would run, in order; read and run nothing.")
def command(app: App, event: str, *, dry_run: bool) -> int:
    """Run the hooks of an event on a payload from stdin, and print what they answer together."""
    hooks = app.hooks
    if dry_run:
        rows = [row(hook) for hook in find(hooks.search, event) if not hook.why_not]
        app.out.rows("hooks", rows, FIELDS)
        return 0 if rows else 1
    app.need_stdin("the payload")
    payload = _payload(event)
    failures = []

    def warn(text: str) -> None:
        failures.append(text)
        app.out.warn(text)

    hooks.warn = warn
    app.out.document(hooks.fire(event, payload))
    return 0 if hooks.of(event) and not failures else 1


def _payload(event: str) -> dict[str, object]:
    raw = sys.stdin.buffer.read()
    try:
        payload = parse(raw)
    except ValueError:
        raise BadInput("the payload is not JSON", path="-") from None
    check_payload(event, payload)
    return dict(payload)
