"""`oc context`: the request that `oc prompt` would send, and where its window goes."""

import sys

import click

from oc.agent.look import Wanted, look
from oc.base.tokens import ESTIMATE, counter, remembering
from oc.cli import looking
from oc.cli.app import App
from oc.cli.options import oc_command, report_option
from oc.cli.sessions import named_or_default
from oc.cli.stream import Report
from oc.cli.turn import report_rows, said_of, setting_of
from oc.errors import Usage
from oc.session.transcript import read_stream
from oc.workspace.names import RUN_KINDS


@oc_command("context")
@click.argument("text", required=False)
@click.option("-s", "--session", metavar="SESSION", help="Session of the request (default: $OC_SESSION, main).")
@click.option("-m", "--model", metavar="MODEL", help="Model that would answer.")
@click.option("--no-tools", is_flag=True, help="Offer the model no tools.")
@click.option("--literal", is_flag=True, help="Take a reset trigger at the start of TEXT as text.")
@click.option("--run", "kind", type=click.Choice(RUN_KINDS), default="default", help="Kind of run.")
@click.option("--window", type=click.IntRange(min=1), metavar="N", help="Window in tokens.")
@click.option("--breakdown", is_flag=True, help="Show where the window goes.")
@click.option("--at", metavar="ENTRY", help="Build the request as it was at that entry.")
@click.option("--diff", metavar="ENTRY", help="List what has changed in the request since that entry.")
@click.option("--count", default="estimate", metavar="C", help="Counter: estimate, chars4, tiktoken[:ENCODING].")
@report_option
def command(
    app: App,
    text: str | None,
    session: str | None,
    *,
    model: str | None,
    no_tools: bool,
    literal: bool,
    kind: str,
    window: int | None,
    breakdown: bool,
    at: str | None,
    diff: str | None,
    count: str,
    report: str | None,
) -> int:
    """Print the request that a prompt would send, without sending it."""
    if diff is not None and (breakdown or at is not None):
        raise Usage("--diff goes with neither --breakdown nor --at")
    if app.out.format == "tsv" and not breakdown and diff is None:
        raise Usage("a request has no --tsv", hint="--breakdown --tsv lists its parts")
    measure = remembering(counter(count))
    estimate = measure if measure.name == ESTIMATE.name else remembering(ESTIMATE)
    name = named_or_default(app, session)
    said = None if text is None else said_of(text, stdin=name != "-")
    wanted = Wanted(name, said, model, not no_tools, literal, kind, window, at)
    if name == "-":
        app.need_stdin("a transcript")
        wanted = wanted._replace(given=read_stream(sys.stdin.buffer, "stdin"))
    setting = setting_of(app)
    with Report(report) as decisions:
        shown = look(wanted, setting, estimate)
        looking.tell(app, shown)
        if report is not None or app.out.verbose:
            report_rows(app, decisions, shown.rows(measure))
            decisions.add("request", "summary", **looking.sums(shown, measure))
        if diff is not None:
            then = look(wanted._replace(at=diff, text=None), setting, estimate)
            return looking.print_changes(app, then, shown, measure)
    if breakdown:
        looking.print_breakdown(app, shown, measure)
    else:
        app.out.document(looking.document(shown, measure))
    return 0
