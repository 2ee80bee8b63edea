"""Findings of the `check` commands: lines with `file:line`, JSON, or annotations that GitHub shows in a review."""

import os
from collections.abc import Sequence
from typing import Any

import click

from oc.cli.app import App
from oc.cli.options import Function
from oc.errors import Usage

_FIELDS = ("place", "severity", "code", "message")
_LEVELS = {"error": "error", "warning": "warning"}


def github_option(function: Function) -> Function:
    return click.option("--github", is_flag=True, help="Print annotations for a GitHub workflow.")(function)


def shown_path(path: str) -> str:
    """Returns the path as an editor or a workflow finds it: relative below the current folder, with `/`."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative.replace(os.sep, "/")


def print_findings(app: App, rows: Sequence[dict[str, Any]], *, github: bool) -> int:
    """Prints rows with path, line, severity, code and message; returns how many there are."""
    if not github:
        placed = [{"place": f"{row['path']}:{row['line']}", **row} for row in rows]
        return app.out.rows("findings", placed, _FIELDS)
    if app.out.format != "text":
        raise Usage(f"--github and --{app.out.format} exclude each other")
    for row in rows:
        level = _LEVELS.get(row["severity"], "notice")
        place = f"file={_escaped(row['path'])},line={row['line']},title={_escaped(row['code'])}"
        app.out.line(f"::{level} {place}::{_escaped(row['message'], value=False)}")
    return len(rows)


def _escaped(text: str, *, value: bool = True) -> str:
    """Escapes as a workflow command wants it; a property's value also `:` and `,`."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if value else text
