"""`oc guard`: keeps tool results from filling the window."""

from oc.base.tokens import counter
from oc.base.typed import Any
from oc.cli.app import App
from oc.cli.plain import ALL_ENTRIES, REPORT, Option
from oc.cli.stream import Report, read_items, write_items
from oc.cli.view import View, session_of
from oc.errors import Usage
from oc.window.budget import window
from oc.window.guard import REFERENCE, cap_each, guard, ours

OPTIONS = (
    Option("--persist", kind="flag", help="Cap each result as when it is stored, whatever the window."),
    Option("--window", dest="tokens", kind="positive", metavar="N", help="Window in tokens."),
    Option("-m", "--model", metavar="MODEL", help="Model whose window counts (default: the session's)."),
    Option("--count", metavar="C", help="Counter: estimate (default), chars4, tiktoken[:ENCODING]."),
    ALL_ENTRIES,
    REPORT,
)


def run(
    app: App,
    sources: tuple[str, ...],
    *,
    persist: bool,
    tokens: int | None,
    model: str | None,
    count: str | None,
    all_entries: bool,
    report: str | None,
) -> None:
    """Cut tool results to their share of the window; the oldest give way first."""
    if persist and (tokens, model, count) != (None, None, None):
        raise Usage("--persist goes by characters: --window, --model and --count have no say in it")
    measure = counter(count or "estimate")
    with Report(report) as decisions:
        stream = read_items(sources, app, all_entries=all_entries)
        view = View(stream)
        if persist:
            messages, rows = cap_each(view.messages)
            write_items(app.out, stream, view.with_messages(messages))
            view.tell(decisions, "guard", rows)
            return
        app, row = session_of(app, sources)
        limit = window(app.config, tokens=tokens, model=model, row=row)
        manner = REFERENCE if measure.name == "chars4" else ours(measure)
        fitting = guard(view.messages, window_tokens=limit.tokens, manner=manner)
        write_items(app.out, stream, view.with_messages(fitting.messages))
        if report is not None:
            view.tell(decisions, "guard", fitting.rows(), limit)
    if fitting.over_tokens:
        app.out.warn(f"{fitting.over_tokens} tokens over the budget, with no result left that could give way")


def __getattr__(name: str) -> Any:
    if name != "command":
        raise AttributeError(name)
    from oc.cli.options import filter_command

    return filter_command("guard", run, OPTIONS)
