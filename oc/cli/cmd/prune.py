"""`oc prune`: shortens old tool results in what a model is shown."""

from oc.base.typed import Any
from oc.cli.app import App
from oc.cli.plain import ALL_ENTRIES, REPORT, Option
from oc.cli.stream import Report, Stream, read_items, write_items
from oc.cli.view import View, session_of
from oc.errors import Usage
from oc.window.budget import window
from oc.window.prune import stopped, view
from oc.window.rules import PruneRules, rules_from

OPTIONS = (
    Option("--window", dest="tokens", kind="positive", metavar="N", help="Window in tokens."),
    Option("-m", "--model", metavar="MODEL", help="Model whose window counts (default: the session's)."),
    Option("--keep-last-assistants", kind="count", metavar="N", help="Spare what follows the N-th last answer."),
    Option("--keep-last-turns", kind="count", metavar="N", help="Spare the last N turns, too."),
    Option("--tool", dest="allow", kind="many", metavar="GLOB", help="Touch results of these tools (can be repeated)."),
    Option("--not-tool", dest="deny", kind="many", metavar="GLOB", help="Spare results of these (can be repeated)."),
    Option("--images", kind="flag", help="Touch results that hold images; a marker stands for each."),
    Option("--ttl", metavar="D", help="Only when the last request is D old, such as 5m: while it is cached, wait."),
    Option("--soft-trim-ratio", kind="share", metavar="R", help="Begin to trim at this share of the window."),
    Option("--hard-clear-ratio", kind="share", metavar="R", help="Begin to clear at this share of the window."),
    Option("--max-chars", kind="count", metavar="N", help="Trim results longer than this."),
    Option("--head-chars", kind="count", metavar="N", help="Keep so much of the beginning of a trimmed result."),
    Option("--tail-chars", kind="count", metavar="N", help="Keep so much of its end."),
    Option("--hard-clear", kind="switch", help="Clear whole results when trimming is not enough."),
    Option("--min-prunable-tool-chars", kind="count", metavar="N", help="Clear only when so much can be freed."),
    Option("--placeholder", metavar="TEXT", help="Text of a cleared result."),
    ALL_ENTRIES,
    REPORT,
)


def run(
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
        seen = View(stream)
        app, row = session_of(app, sources)
        limit = window(app.config, tokens=tokens, model=model, row=row)
        if ttl is not None and _is_cached(app, stream, ttl):
            write_items(app.out, stream, stream.items)
            seen.tell(decisions, "prune", stopped(seen.messages, "ttl"), limit)
            return
        pruned = view(seen.messages, window_tokens=limit.tokens, rules=_rules(app, numbers))
        write_items(app.out, stream, seen.with_messages(pruned.messages))
        if report is not None:
            seen.tell(decisions, "prune", pruned.rows(), limit)


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


def __getattr__(name: str) -> Any:
    if name != "command":
        raise AttributeError(name)
    from oc.cli.options import filter_command

    return filter_command("prune", run, OPTIONS)
