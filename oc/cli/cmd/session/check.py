"""`oc session check`: findings in transcripts, each with its line."""

from typing import Any

import click

from oc.cli.app import App
from oc.cli.options import oc_command
from oc.cli.sessions import open_transcript
from oc.session.check import check
from oc.session.entry import Finding
from oc.session.transcript import scan


@oc_command("check")
@click.argument("session", nargs=-1, metavar="[FILE|SESSION|-]...")
@click.option("--strict", is_flag=True, help="Let notes count as findings in the exit status.")
def command(app: App, session: tuple[str, ...], strict: bool) -> int:
    """Report what is wrong in a transcript, line by line."""
    rows: list[dict[str, Any]] = []
    for name in session or (None,):
        with open_transcript(app, name) as (file, path):
            skipped: list[Finding] = []
            found = check(scan(file, skipped), skipped)
        rows += [_row(path, finding) for finding in found]
    fields = ("place", "severity", "code", "message")
    app.out.rows("findings", rows, fields)
    return 1 if any(strict or row["severity"] != "note" for row in rows) else 0


def _row(path: str, finding: Finding) -> dict[str, Any]:
    return {
        "place": f"{path}:{finding.line}",
        "path": path,
        "line": finding.line,
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "entryId": finding.entry_id,
    }
