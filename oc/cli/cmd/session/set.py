"""`oc session set`: fields of a session's row in sessions.json."""

from typing import Any

import click

from oc.cli.app import App
from oc.cli.options import oc_command
from oc.cli.sessions import find_key
from oc.errors import NotFound
from oc.session import store
from oc.session.fields import assignment


@oc_command("set")
@click.argument("key")
@click.argument("assignments", nargs=-1, required=True, metavar="NAME=VALUE...")
@click.option("--force", is_flag=True, help="Set fields that are not known, too.")
@click.option("--dry-run", is_flag=True, help="Check the values and print the row as it would be.")
def command(app: App, key: str, assignments: tuple[str, ...], *, force: bool, dry_run: bool) -> int:
    """Set fields of a session: its model, label, levels; an empty value takes a field away."""
    given = dict(assignment(text, any_name=force) for text in assignments)
    name, owner = find_key(app, key)
    after: dict[str, Any] = {}

    def change(rows: store.Store) -> None:
        row = store.look_up(rows, name).row
        if row is None:
            raise NotFound(f"no session {name!r}")
        after.update({field: value for field, value in {**row, **given}.items() if given.get(field, row) is not None})
        store.put(rows, name, after)

    if dry_run:
        change(store.load(owner.places.store))
    else:
        store.update(owner.places.store, change, lock_timeout_ms=app.lock_timeout_ms)
    if app.out.format == "text":
        app.out.rows("fields", [{"name": field, "value": after.get(field)} for field in given], ("name", "value"))
    else:
        app.out.document({"key": name, **after})
    return 0
