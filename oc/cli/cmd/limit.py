"""`oc limit`: the last turns of a history."""

import click

from oc.cli.app import App
from oc.cli.options import oc_command, report_option
from oc.cli.stream import Report, read_items, write_items
from oc.cli.washing import rewrite
from oc.errors import Usage
from oc.history.limit import turns_for_key
from oc.history.sanitize import limit as limited


@oc_command("limit")
@click.argument("sources", nargs=-1, metavar="[FILE|SESSION|-]...")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="TURNS", help="Keep the last TURNS turns; 0: all.")
@click.option("--for", "key", metavar="KEY", help="Keep as many as the configured limit of a session key.")
@click.option("--all-entries", is_flag=True, help="Take every line of a transcript, not its context.")
@report_option
def command(
    app: App, sources: tuple[str, ...], limit: int | None, key: str | None, *, all_entries: bool, report: str | None
) -> None:
    """Keep the last turns of a history, calls and results paired anew."""
    if (limit is None) is (key is None):
        raise Usage("one of -n and --for is needed", hint="`oc limit --help`")
    if key is not None and not key.strip():
        raise Usage("the session is empty")
    with Report(report) as decisions:
        stream = read_items(sources, app, all_entries=all_entries)
        turns = limit if key is None else turns_for_key(key, app.config.merged("channels"))
        if not turns or turns < 0:
            decisions.add("limit", "gate", rule="no-limit")
        now_ms = app.clock.now_ms()
        items = rewrite(
            stream, lambda given: limited(given, turns, now_ms=now_ms), decisions if report else None, now_ms
        )
        write_items(app.out, stream, items)
        decisions.add(
            "limit", "summary", lines_before=len(stream.items), lines_after=len(items), turns=turns, rule=key or "flag"
        )
