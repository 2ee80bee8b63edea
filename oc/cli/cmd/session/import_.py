"""`oc session import`: sessions of Pi, Claude Code and OpenClaw's database, as transcripts of `oc`'s own."""

import os
from collections import Counter
from typing import Any

import click

from oc.cli.app import App
from oc.cli.options import oc_command, report_option
from oc.cli.sessions import find_key
from oc.cli.stream import Report
from oc.errors import BadInput, NotFound, Usage
from oc.session import importing
from oc.session.sources import Source, load, sources
from oc.session.store import refuse_database
from oc.session_key import parse

_FIELDS = ("action", "sessionId", "key", "entries", "dropped", "source")


@oc_command("import")
@click.argument("source", nargs=-1, required=True, metavar="FILE|DIR|DATABASE...")
@click.option("--key", metavar="KEY", help="Give this key the session; the source must be a single one.")
@click.option("--dry-run", is_flag=True, help="Read, convert and check everything, and write nothing.")
@report_option
def command(app: App, source: tuple[str, ...], *, key: str | None, dry_run: bool, report: str | None) -> int:
    """Copy sessions of Pi, Claude Code or OpenClaw's database here; nothing is overwritten."""
    refuse_database(app.places.store)
    wanted = [each for path in source for each in sources(path)]
    if not wanted:
        raise NotFound("no session in it", path=source[0])
    if key is not None and len(wanted) > 1:
        raise Usage(f"--key is for a single session, and these are {len(wanted)}")
    chosen = None if key is None else find_key(app, key)[0]
    rows = []
    with Report(report) as decisions:
        for each in wanted:
            try:
                row = _import(app, each, chosen, dry_run=dry_run)
            except BadInput as error:
                if len(wanted) == 1:
                    raise
                row = {"action": "refused", "source": each.path, "key": each.key, "reason": str(error)}
                app.out.say(f"oc: {error}")
            rows.append(row)
            _tell(app, row, decisions)
    app.out.rows("sessions", rows, _FIELDS)
    if any(row["action"] == "refused" for row in rows):
        return BadInput.status
    return 0 if any(row["action"] == "imported" for row in rows) else 1


def _import(app: App, source: Source, key: str | None, *, dry_run: bool) -> dict[str, Any]:
    """Imports one session; a key of the source that another session has here is not taken from that one."""
    incoming = importing.with_usable_id(load(source), app.ids.uuid())
    named = parse(source.key or key or "")
    owner = app.for_agent(named.agent) if named else app
    refuse_database(owner.places.store)
    target = importing.Target(
        owner.places,
        key or source.key,
        None if key else source.row,
        owner.clock.now_ms(),
        owner.lock_timeout_ms,
    )
    placed = importing.place(incoming, target, dry_run=dry_run)
    notes = [{"line": n.line, "action": n.action, "reason": n.reason} for n in incoming.notes]
    return {
        "action": placed.action,
        "source": source.path,
        "format": incoming.format,
        "sessionId": placed.session_id,
        "key": placed.key,
        "path": os.path.abspath(placed.path),
        "entries": len(incoming.entries),
        "roles": dict(sorted(incoming.roles.items())),
        "dropped": sum(note["action"] == "dropped" for note in notes),
        "notes": notes,
        "dryRun": dry_run,
    }


def _tell(app: App, row: dict[str, Any], report: Report) -> None:
    """Says why something was left out or changed: each line in the report, each reason once on stderr."""
    notes = row.get("notes", ())
    for note in notes:
        report.add("import", note["action"], rule=note["reason"], line=note["line"], source=row["source"])
    counts = Counter((note["action"], note["reason"]) for note in notes)
    for (action, reason), count in counts.items():
        first = next(n["line"] for n in notes if (n["action"], n["reason"]) == (action, reason))
        place = row["source"] if not first else f"{row['source']}:{first}"
        times = "" if count == 1 else f", and {count - 1} more"
        app.out.say(f"oc: {place}: {action}: {reason}{times}")
    kinds = {kind: row[kind] for kind in ("sessionId", "entries", "dropped", "reason") if kind in row}
    report.add("import", row["action"], source=row["source"], **kinds)
