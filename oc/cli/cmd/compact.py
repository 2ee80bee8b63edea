"""`oc compact`: summarises the older part of a session."""

from typing import Any

import click

from oc.agent.choice import choose_summariser
from oc.agent.compact import Compaction, Compactor, extracted
from oc.base.tokens import counter
from oc.cli import auditing, compacting
from oc.cli.app import App
from oc.cli.compacting import Target
from oc.cli.flushing import flush_first
from oc.cli.options import oc_command, report_option
from oc.cli.stream import Report
from oc.compaction.audit import Audit
from oc.compaction.instructions import of_command
from oc.compaction.prepare import Preparation
from oc.errors import Usage


@oc_command("compact")
@click.argument("session", required=False, metavar="[SESSION|-]")
@click.option("--dry-run", is_flag=True, help="Say what would be summarised and kept; write nothing, call no model.")
@click.option("-m", "--model", metavar="MODEL", help="Model that summarises (default: as configured, oc-offline).")
@click.option("--instructions", metavar="TEXT", help="What the summary should pay heed to.")
@click.option("--summary-file", metavar="FILE", help="Take the summary from FILE instead of a model.")
@click.option("--keep-recent-tokens", type=click.IntRange(min=0), metavar="N", help="Leave so much as it is.")
@click.option("--count", default="estimate", metavar="C", help="Counter: estimate, chars4, tiktoken[:ENCODING].")
@click.option("--force", is_flag=True, help="Write a compaction that makes the context no smaller, too.")
@click.option("--no-flush", is_flag=True, help="Save no facts to today's note first.")
@click.option("--audit", is_flag=True, help="Print what the summary lost, as oc audit does.")
@report_option
def command(
    app: App,
    session: str | None,
    *,
    dry_run: bool,
    model: str | None,
    instructions: str | None,
    summary_file: str | None,
    keep_recent_tokens: int | None,
    count: str,
    force: bool,
    no_flush: bool,
    audit: bool,
    report: str | None,
) -> int:
    """Summarise the older part of a session."""
    if session == "-" and not dry_run and (audit or app.out.format != "text"):
        raise Usage("a transcript on stdin goes out as a transcript", hint="--json, --tsv, --audit need --dry-run")
    measure = counter(count)
    with Report(report) as decisions:
        app, target = compacting.read_target(app, session, to_write=not dry_run)
        choice = choose_summariser(model, target.row, app.config)
        wanted = of_command(instructions or "") or instructions
        compactor = Compactor(choice, app.config, measure, app.out.warn, wanted, keep_recent_tokens)
        preparation = compactor.prepare(target.branch)
        if preparation is None:
            return _nothing(app, target, decisions, dry_run=dry_run)
        if target.ref is not None and not (dry_run or no_flush):
            flush_first(app, target.ref, model, decisions)
        done = _made(app, compactor, preparation, summary_file, dry_run=dry_run)
        if not force and not dry_run:
            done.refuse_growth()
        entry = None if dry_run else compacting.write(app, target, done)
        compacting.tell(decisions, done, measure.name)
    shown = {**compacting.document(target, done, entry), "count": measure.name, "dryRun": dry_run}
    if dry_run and done.tokens_after >= done.tokens_before:
        app.out.warn("this compaction would be refused: the context would not get smaller")
    lost = auditing.audited(app, [*target.branch, entry or done.entry]) if audit else None
    if target.ref is not None or dry_run:
        _show(app, shown, lost)
    return 0


def _made(
    app: App, compactor: Compactor, preparation: Preparation, summary_file: str | None, *, dry_run: bool
) -> Compaction:
    """Returns the compaction: with the summary of the file, of the model, or for a dry run one by rules."""
    now_ms = app.clock.now_ms()
    if summary_file is not None:
        summary = compactor.completed(preparation, compacting.read_summary(summary_file))
        return compactor.compaction(preparation, summary, now_ms, writer="file")
    if compactor.choice.offline and compactor.instructions:
        app.out.warn("oc-offline summarises by rules and pays no heed to --instructions")
    # A dry run calls no model: the size of its summary is guessed from the one that the rules would write.
    summary = extracted(preparation) if dry_run else compactor.summary_of(preparation)
    return compactor.compaction(preparation, summary, now_ms)


def _nothing(app: App, target: Target, decisions: Report, *, dry_run: bool) -> int:
    decisions.add("compact", "gate", rule="nothingToCompact")
    app.out.say(f"oc: nothing to compact in {target.name}")
    if not dry_run:
        compacting.pass_on(app, target)
    if app.out.format in ("json", "jsonl"):
        app.out.document({"session": target.name, "path": target.transcript.path, "firstKeptEntryId": None})
    return 1


def _show(app: App, shown: dict[str, Any], lost: Audit | None) -> None:
    if lost is not None and app.out.format != "text":
        shown["audit"] = auditing.document(lost)
    if app.out.format == "json":
        app.out.document(shown)
    elif app.out.format == "text":
        app.out.rows("compaction", [{"name": k, "value": v} for k, v in shown.items()], ("name", "value"))
    else:
        app.out.rows("compaction", [shown], list(shown))
    if lost is not None:
        auditing.print_lost(app, lost)
