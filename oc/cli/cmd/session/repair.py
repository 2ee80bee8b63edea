"""`oc session repair`: a damaged transcript put right: a plan, the file itself, or as a filter."""

import sys
from collections.abc import Sequence
from typing import Any

import click

from oc.cli.app import App
from oc.cli.options import oc_command, report_option
from oc.cli.sessions import path_of
from oc.cli.stream import Report
from oc.errors import Usage
from oc.session.repair import Fix, repair, repair_file, summary
from oc.session.transcript import open_file

_FIELDS = ("place", "code", "action", "message")


@oc_command("repair")
@click.argument("session", required=False, metavar="[SESSION|-]")
@click.option("--write", is_flag=True, help="Repair the file; its bytes are kept beside it.")
@report_option
def command(app: App, session: str | None, *, write: bool, report: str | None) -> int:
    """Print what a damaged transcript needs, or repair it: with --write the file, with - a stream."""
    if write and session == "-":
        raise Usage("--write needs a file or a session, not -")
    with Report(report) as reported:
        if session == "-":
            return _filter(app, reported)
        path = path_of(app, session)
        if write:
            mended = repair_file(path, now_ms=app.clock.now_ms(), lock_timeout_ms=app.lock_timeout_ms)
            fixes, backup = mended.fixes, mended.backup
        else:
            with open_file(path) as file:
                fixes, backup = repair(file.read(), path).fixes, None
        _note(reported, fixes, backup)
    extra = {"path": path, "backup": backup, "written": backup is not None}
    app.out.rows("fixes", [_row(path, fix) for fix in fixes], _FIELDS, extra)
    app.out.flush()
    if backup is not None:
        app.out.say(f"repaired: {summary(fixes)}; the bytes from before: {backup}")
    elif fixes:
        app.out.say("nothing was changed; --write repairs the file")
    return 0 if fixes else 1


def _filter(app: App, reported: Report) -> int:
    app.need_stdin("a transcript")
    repaired = repair(sys.stdin.buffer.read(), "stdin")
    _note(reported, repaired.fixes, None)
    app.out.write(repaired.data)
    if repaired.fixes:
        app.out.say(f"repaired: {summary(repaired.fixes)}")
    return 0


def _note(reported: Report, fixes: Sequence[Fix], backup: str | None) -> None:
    for fix in fixes:
        reported.add("repair", fix.action, line=fix.line, offset=fix.offset, rule=fix.code, entry_id=fix.entry_id)
    reported.add("repair", "summary", fixes=len(fixes), backup=backup)


def _row(path: str, fix: Fix) -> dict[str, Any]:
    return {
        "place": f"{path}:{fix.line}",
        "path": path,
        "line": fix.line,
        "offset": fix.offset,
        "code": fix.code,
        "action": fix.action,
        "message": fix.message,
        "entryId": fix.entry_id,
    }
