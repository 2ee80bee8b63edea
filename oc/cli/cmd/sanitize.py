"""`oc sanitize`: makes a history legal for a provider."""

import click

from oc.cli.app import App
from oc.cli.options import oc_command, report_option
from oc.cli.stream import Report, read_items, write_items
from oc.cli.washing import model_of, rewrite
from oc.errors import Usage
from oc.history.image import limits_of
from oc.history.policy import policy
from oc.history.sanitize import STAGES, Wash, sanitize


@oc_command("sanitize")
@click.argument("sources", nargs=-1, metavar="[FILE|SESSION|-]...")
@click.option("--provider", metavar="P", help="Provider whose rules count (default: that of the session's model).")
@click.option("--model", metavar="M", help="Model, also as PROVIDER/MODEL.")
@click.option("--api", metavar="A", help="API that the model speaks (default: its provider's usual one).")
@click.option("--only", metavar="STAGE,...", help=f"Run these stages alone: {', '.join(STAGES)}.")
@click.option("--all-entries", is_flag=True, help="Take every line of a transcript, not its context.")
@report_option
def command(
    app: App,
    sources: tuple[str, ...],
    *,
    provider: str | None,
    model: str | None,
    api: str | None,
    only: str | None,
    all_entries: bool,
    report: str | None,
) -> None:
    """Make a history legal for a provider: ids, calls with their results, turns."""
    stages = _stages(only)
    with Report(report) as decisions:
        stream = read_items(sources, app, all_entries=all_entries)
        target, origin = model_of(app, sources, provider, api, model)
        limits = limits_of(app.config.get("agents.defaults.imageMaxDimensionPx"))
        now_ms = app.clock.now_ms()
        wash = Wash(policy(target), now_ms, limits=limits)
        items = rewrite(stream, lambda given: sanitize(given, wash, only=stages), decisions if report else None, now_ms)
        write_items(app.out, stream, items)
        decisions.add(
            "sanitize",
            "summary",
            lines_before=len(stream.items),
            lines_after=len(items),
            provider=target.provider or None,
            api=target.api or None,
            model=target.model or None,
            rule=origin,
        )
    named = "/".join(filter(None, (target.provider, target.model))) or "no known provider"
    app.out.detail(f"washed for {named} ({target.api or 'no API named'}), from {origin}")


def _stages(only: str | None) -> list[str] | None:
    if only is None:
        return None
    named = [name.strip() for name in only.split(",")]
    unknown = [name for name in named if name not in STAGES]
    if unknown:
        raise Usage(f"no stage {unknown[0]!r}", hint=f"stages, in order: {', '.join(STAGES)}")
    return named
