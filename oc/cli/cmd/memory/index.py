"""`oc memory index`: brings the index up to date with the notes."""

import click

from oc.cli.app import App
from oc.cli.options import oc_command


@oc_command("index")
@click.option("--force", is_flag=True, help="Build the index anew, whether or not anything changed.")
def command(app: App, force: bool) -> int:
    """Bring the index up to date with the notes."""
    from oc.memory.backend import open_backend

    backend = open_backend(app.config, app.places, now_ms=app.clock.now_ms())
    done = backend.sync(force=force, lock_timeout_ms=app.lock_timeout_ms)
    for finding in done.findings:
        app.out.warn(f"{finding.path}: {finding.message}")
    if app.out.format == "text":
        app.out.line(
            f"{done.added} added, {done.changed} changed, {done.removed} removed, {done.unchanged} unchanged; "
            f"{done.chunks} chunks"
        )
        return 0
    row = {
        "added": done.added,
        "changed": done.changed,
        "removed": done.removed,
        "unchanged": done.unchanged,
        "chunks": done.chunks,
        "rebuilt": done.rebuilt,
    }
    if app.out.format == "tsv":
        app.out.rows("index", [row], tuple(row))
    else:
        app.out.document({**row, "findings": [finding._asdict() for finding in done.findings]})
    return 0
