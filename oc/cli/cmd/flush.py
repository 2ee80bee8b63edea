"""`oc flush`: saves a session's facts to the note of the day, before a compaction."""

from typing import Any

import click

from oc.agent.flush import Flushed
from oc.base import files
from oc.cli import flushing
from oc.cli.app import App
from oc.cli.flushing import Target
from oc.cli.options import oc_command, report_option
from oc.cli.stream import Report
from oc.errors import Usage
from oc.session import store
from oc.window.flush import Verdict

_PLACE = ("place", "text")


@oc_command("flush")
@click.argument("session", required=False)
@click.option("--check", is_flag=True, help="Only ask: status 0 when a flush is due, 1 when not; write nothing.")
@click.option("--if-due", is_flag=True, help="Flush when it is due; the status is 0 either way.")
@click.option("--explain", is_flag=True, help="Print every number that decides, and the reason; alone, write nothing.")
@click.option("-m", "--model", metavar="MODEL", help="Model that reads the session (default: the session's).")
@click.option("--window", type=click.IntRange(min=1), metavar="N", help="Window in tokens (default: the model's).")
@click.option(
    "--dry-run", is_flag=True, help="Say what would be read; show what oc-offline would write; write nothing."
)
@report_option
def command(
    app: App,
    session: str | None,
    *,
    check: bool,
    if_due: bool,
    explain: bool,
    model: str | None,
    window: int | None,
    dry_run: bool,
    report: str | None,
) -> int:
    """Save a session's facts to today's note, before a compaction folds them."""
    if check and (if_due or dry_run):
        raise Usage("--check asks; it goes neither with --if-due nor with --dry-run")
    with Report(report) as decisions:
        target = flushing.read_target(app, session, model, window)
        verdict = target.flusher.verdict(target.branch)
        if explain or dry_run:
            _explain(target, verdict)
        asked = explain and not (if_due or dry_run or check)
        if check or asked or dry_run or (if_due and not verdict.due):
            done = _tried(target) if dry_run else None
            flushing.tell(decisions, target, verdict, done)
            if done is not None:
                return _show(target, done, if_due=if_due, quiet=True)
            if not explain:
                flushing.print_gate(target, verdict, asked=check)
            return 1 if check and not verdict.due else 0
        done, target, verdict = _flush(target, model, window, if_due=if_due)
        flushing.tell(decisions, target, verdict, done)
    if if_due and not verdict.due and not explain:
        flushing.print_gate(target, verdict, asked=False)
        return 0
    return _show(target, done, if_due=if_due, quiet=explain)


def _flush(target: Target, model: str | None, window: int | None, *, if_due: bool) -> tuple[Flushed | None, Any, Any]:
    """Flushes under the lock of the transcript; another process may have done so while this one waited."""
    app, ref = target.app, target.flusher.session.ref
    store.refuse_database(app.places.store)
    if ref.key is None:
        app.out.warn("a transcript without a key has no row in which the flush could be recorded")
    with files.lock(ref.path, timeout_ms=app.lock_timeout_ms):
        target = flushing.as_it_is(target, model, window)
        verdict: Verdict = target.flusher.verdict(target.branch)
        if if_due and not verdict.due:
            return None, target, verdict
        return target.flusher.run(target.branch, verdict.fields), target, verdict


def _tried(target: Target) -> Flushed | None:
    """Returns what the built-in model would write; another model is not called for a dry run."""
    flusher = target.flusher
    pending = flusher.pending(target.branch)
    if not pending or not flusher.session.choice.offline:
        return None
    notes, calls = flusher.read(pending)
    written = flusher.write(notes, pending, dry_run=True) if notes.text.strip() else None
    return Flushed(notes.path, written, len(pending), calls)


def _explain(target: Target, verdict: Verdict) -> None:
    app = target.app
    shown = flushing.explanation(target, verdict)
    if warning := flushing.warning_of(target, verdict):
        app.out.warn(warning)
    if app.out.format in ("json", "jsonl"):
        app.out.document({**shown, "warning": warning})
    else:
        app.out.rows("flush", [{"name": n, "value": v} for n, v in shown.items()], ("name", "value"))


def _show(target: Target, done: Flushed | None, *, if_due: bool, quiet: bool) -> int:
    """Prints where what was saved stands."""
    app = target.app
    if done is None:
        app.out.say(f"oc: nothing to flush in {target.name}: all of it was read before")
    elif done.result != "written":
        app.out.say(f"oc: {target.name}: {'nothing worth a note' if done.result == 'nothing' else 'noted before'}")
    entries = done.written.entries if done is not None and done.written is not None else ()
    rows = [{"place": f"{done.path}#L{line}", "text": fact} for line, fact in entries] if done else []
    extra = {"session": target.name, "result": done.result if done else "unread", "path": done.path if done else None}
    if not quiet and (app.out.format == "json" or (app.out.format == "jsonl" and not rows)):
        app.out.document({"written": rows, **extra})
    elif not quiet or app.out.format == "text":
        app.out.rows("written", rows, _PLACE)
    return 1 if done is None and not if_due else 0
