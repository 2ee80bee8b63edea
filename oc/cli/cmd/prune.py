"""`oc prune`: shortens old tool results in what a model is shown."""

from typing import Any

import click

from oc.cli.app import App
from oc.cli.options import oc_command, report_option
from oc.cli.stream import Report, Stream, read_items, write_items
from oc.cli.view import View, session_of
from oc.errors import Usage
from oc.window.budget import window
from oc.window.prune import prune, stopped
from oc.window.rules import PruneRules, rules_from

_COUNT = click.IntRange(min=0)
_SHARE = click.FloatRange(0, 1)


@oc_command("prune")
@click.argument("sources", nargs=-1, metavar="[FILE|SESSION|-]...")
@click.option("--window", "tokens", type=click.IntRange(min=1), metavar="N", help="Window in tokens.")
@click.option("-m", "--model", metavar="MODEL", help="Model whose window counts (default: the session's).")
@click.option("--keep-last-assistants", type=_COUNT, metavar="N", help="Spare what follows the N-th last answer.")
@click.option("--keep-last-turns", type=_COUNT, metavar="N", help="Spare the last N turns, too.")
@click.option("--tool", "allow", multiple=True, metavar="GLOB", help="Touch results of these tools (can be repeated).")
@click.option(
    "--not-tool", "deny", multiple=True, metavar="GLOB", help="Spare results of these tools (can be repeated)."
)
@click.option("--images", is_flag=True, help="Touch results that hold images; a marker stands for each.")
@click.option("--ttl", metavar="D", help="Only when the last request is D old, such as 5m: while it is cached, wait.")
@click.option("--soft-trim-ratio", type=_SHARE, metavar="R", help="Begin to trim at this share of the window.")
@click.option("--hard-clear-ratio", type=_SHARE, metavar="R", help="Begin to clear at this share of the window.")
@click.option("--max-chars", type=_COUNT, metavar="N", help="Trim results longer than this.")
@click.option("--head-chars", type=_COUNT, metavar="N", help="Keep so much of the beginning of a trimmed result.")
@click.option("--tail-chars", type=_COUNT, metavar="N", help="Keep so much of its end.")
@click.option("--hard-clear/--no-hard-clear", default=None, help="Clear whole results when trimming is not enough.")
@click.option("--min-prunable-tool-chars", type=_COUNT, metavar="N", help="Clear only when so much can be freed.")
@click.option("--placeholder", metavar="TEXT", help="Text of a cleared result.")
@click.option("--all-entries", is_flag=True, help="Take every line of a transcript, not its context.")
@report_option
def command(
    app: App,
    sources: tuple[str, ...],
    *,
    tokens: int | None,
    model: str | None,
    ttl: str | None,
    all_entries: bool,
    report: str | None,
    **numbers: Any,
) -> None:
    """Shorten old tool results; the newest turns stay."""
    with Report(report) as decisions:
        stream = read_items(sources, app, all_entries=all_entries)
        view = View(stream)
        app, row = session_of(app, sources)
        limit = window(app.config, tokens=tokens, model=model, row=row)
        given = view.messages
        if ttl is not None and _is_cached(app, stream, ttl):
            pruned, rows = given, stopped(given, "ttl")
        else:
            pruned, rows = prune(given, window_tokens=limit.tokens, rules=_rules(app, numbers))
        write_items(app.out, stream, view.with_messages(pruned))
        if report is not None:
            view.tell(decisions, "prune", rows, limit)


def _rules(app: App, numbers: dict[str, Any]) -> PruneRules:
    config = app.config
    given = {name: value for name, value in numbers.items() if value is not None and value != ()}
    return rules_from(lambda key: config.get(f"agents.defaults.contextPruning.{key}"))._replace(**given)


def _is_cached(app: App, stream: Stream, ttl: str) -> bool:
    """Says whether the last request is younger than the life time; a stream that tells no time is not cached."""
    from oc.base.clock import duration_ms
    from oc.window.rules import is_expired, last_request

    ttl_ms = duration_ms(ttl, "m")
    if ttl_ms is None:
        raise Usage(f"not a duration: {ttl!r}", hint="such as 5m, 90s or 1h; a bare number is minutes")
    entries = [*(entry for one in stream.transcripts for entry in one.entries), *(item.value for item in stream.items)]
    touched_ms = last_request(entries)
    return touched_ms is not None and not is_expired(touched_ms, ttl_ms, app.clock.now_ms())
