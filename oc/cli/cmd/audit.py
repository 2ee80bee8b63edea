"""`oc audit`: what the summary of a compaction lost."""

import click

from oc.cli import auditing, compacting
from oc.cli.app import App
from oc.cli.options import oc_command
from oc.compaction.audit import VALUES


@oc_command("audit")
@click.argument("session", required=False, metavar="[SESSION|-]")
@click.option("--compaction", metavar="ID", help="Audit that compaction (default: the newest of the branch).")
@click.option("--require", metavar="KINDS", help="Exit with 1 when one of these was lost: urls,paths,tickets,...")
@click.option("--min-retention", type=click.FloatRange(0, 1), metavar="R", help="Exit with 1 when less was kept.")
@click.option("--baseline", metavar="FILE", help="Leave out the losses that FILE lists, as --jsonl printed them.")
@click.option("--tools", is_flag=True, help="Look for values in calls and in the output of tools, too.")
def command(
    app: App,
    session: str | None,
    *,
    compaction: str | None,
    require: str | None,
    min_retention: float | None,
    baseline: str | None,
    tools: bool,
) -> int:
    """Print what the summary of a compaction lost."""
    kinds = None if require is None else auditing.kinds_of(require)
    app, target = compacting.read_target(app, session)
    about = {"session": target.name, "path": target.transcript.path}
    path = auditing.compaction_path(target.transcript.entries, compaction, target.transcript.path)
    if path is None:
        app.out.say(f"oc: no compaction in {target.name}")
        app.out.rows("lost", [], auditing.FIELDS, {**about, "compactionId": None})
        return 0
    done = auditing.audited(app, path, tools=tools)
    lost = auditing.accepted(done.lost, baseline)
    app.out.rows("lost", auditing.rows(lost), auditing.FIELDS, {**about, **auditing.about(done, lost)})
    auditing.tell(app, done, lost)
    if kinds is None and min_retention is None:
        return 0
    least = 1.0 if min_retention is None else min_retention
    return 1 if auditing.share(done.found, lost, kinds or VALUES) < least else 0
