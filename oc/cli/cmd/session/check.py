"""`oc session check`: findings in transcripts, each with its line."""

from typing import Any

import click

from oc.cli.app import App
from oc.cli.findings import github_option, print_findings, shown_path
from oc.cli.options import oc_command
from oc.cli.sessions import open_transcript
from oc.session.check import check_lines
from oc.session.entry import Finding
from oc.session.lines import Lines

Row = dict[str, Any]


@oc_command("check")
@click.argument("session", nargs=-1, metavar="[FILE|SESSION|-]...")
@click.option("--strict", is_flag=True, help="Let notes count as findings in the exit status.")
@click.option("--baseline", metavar="FILE", help="Leave out the findings that FILE lists, as --jsonl printed them.")
@github_option
def command(app: App, session: tuple[str, ...], *, strict: bool, baseline: str | None, github: bool) -> int:
    """Report what is wrong in a transcript, line by line."""
    rows: list[Row] = []
    for name in session or (None,):
        with open_transcript(app, name) as (file, path):
            lines = Lines(file)
            rows += [_row(shown_path(path) if github else path, finding, lines) for finding in check_lines(lines)]
    if baseline is not None:
        from oc.cli.baseline import unknown

        rows = unknown(rows, baseline)
    print_findings(app, rows, github=github)
    return 1 if any(strict or row["severity"] != "note" for row in rows) else 0


def _row(path: str, finding: Finding, lines: Lines) -> Row:
    return {
        "path": path,
        "line": finding.line,
        "offset": lines.offset(finding.line),
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "entryId": finding.entry_id,
    }
