"""`oc workspace check`: findings about workspace files, for people, pre-commit and CI."""

import os
from typing import Any

import click

from oc.cli.app import App
from oc.cli.findings import github_option, print_findings, shown_path
from oc.cli.options import oc_command
from oc.errors import NotFound
from oc.workspace.check import Finding, check_path, check_workspace
from oc.workspace.project import rules_of


@oc_command("check")
@click.argument("file", nargs=-1, metavar="[FILE]...")
@github_option
def command(app: App, file: tuple[str, ...], github: bool) -> int:
    """List what is wrong with the workspace files, or with the files that are named."""
    workspace = app.places.workspace
    rules = rules_of(app.config)
    if file:
        found = [finding for path in file for finding in check_path(workspace, path, rules)]
    elif os.path.isdir(workspace):
        found = check_workspace(workspace, rules)
    else:
        raise NotFound("no workspace", path=workspace, hint="`oc workspace init` makes one")
    return 1 if print_findings(app, [_row(finding) for finding in found], github=github) else 0


def _row(finding: Finding) -> dict[str, Any]:
    return {**finding._asdict(), "path": shown_path(finding.path)}
