"""`oc workspace init`: starter files, and never in the place of others."""

import os
from typing import Any

import click

from oc.cli.app import App
from oc.cli.options import oc_command
from oc.workspace.templates import LANGUAGES, Made, create, plan


@oc_command("init")
@click.argument("folder", required=False, metavar="[DIR]")
@click.option("--lang", type=click.Choice(LANGUAGES), default="en", help="Language of the files.")
@click.option("--dry-run", is_flag=True, help="Only say what would be made.")
def command(app: App, folder: str | None, lang: str, dry_run: bool) -> None:
    """Make the starter files of a workspace that are not there yet."""
    workspace = app.places.workspace if folder is None else os.path.abspath(folder)
    made = plan(workspace) if dry_run else create(workspace, lang)
    app.out.rows("files", map(_row, made), ("action", "path"), {"workspace": workspace, "language": lang})
    if workspace != app.places.workspace:
        app.out.say(f"hint: name this workspace with --workspace, $OC_WORKSPACE or the configuration: {workspace}")


def _row(made: Made) -> dict[str, Any]:
    return {"name": made.name, "path": made.path, "action": made.action}
