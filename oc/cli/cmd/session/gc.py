"""`oc session gc`: what a sessions folder need not hold any longer, with bytes; done with --write."""

from typing import Any

import click

from oc.base.clock import duration_ms
from oc.base.size import size_bytes
from oc.cli.app import App
from oc.cli.options import oc_command
from oc.cli.sessions import default_session
from oc.errors import Usage
from oc.session.maintain import Settings, settings
from oc.session.sweep import Sweep, planned, swept
from oc.session.tidy import Step
from oc.session_key import full_key

_FIELDS = ("action", "kind", "bytes", "name", "reason")


@oc_command("gc")
@click.option("--write", is_flag=True, help="Do it; without, nothing is changed.")
@click.option("--keep", metavar="KEY", multiple=True, help="Protect this key (can be repeated).")
@click.option(
    "--older-than", metavar="TIME", help="Take rows not used for this long, such as 90d (configuration: 30d)."
)
@click.option("--max-entries", type=click.IntRange(min=0), metavar="N", help="Keep the newest N rows (500).")
@click.option("--max-bytes", metavar="SIZE", help="Make the folder fit into SIZE, such as 500mb (no limit).")
@click.option("--orphans", is_flag=True, help="Take orphans of any age.")
def command(app: App, *, write: bool, keep: tuple[str, ...], orphans: bool, **limits: Any) -> int:
    """Print what can be put away or deleted in an agent's sessions folder, or do it."""
    sweep = Sweep(_rules(app, **limits), app.clock.now_ms(), _protected(app, keep), orphans)
    if write:
        found, busy = swept(app.places, sweep, lock_timeout_ms=app.lock_timeout_ms)
    else:
        found, busy = planned(app.places, sweep), []
    extra = {"totalBytes": found.total_bytes, "freedBytes": found.freed_bytes, "written": write and found.acts}
    app.out.rows("steps", [_row(step, done=write and step.name not in busy) for step in found.steps], _FIELDS, extra)
    app.out.flush()
    for name in busy:
        app.out.warn(f"{name}: somebody writes to it; it stays where it is")
    if found.acts:
        size = f"{found.freed_bytes} of {found.total_bytes} bytes"
        app.out.say(f"freed {size}" if write else f"would free {size}; nothing was changed, --write does it")
    return 0 if found.acts else 1


def _rules(app: App, *, older_than: str | None, max_entries: int | None, max_bytes: str | None) -> Settings:
    maintenance = app.config.merged("session.maintenance")
    if older_than is not None:
        if duration_ms(older_than, "d") is None:
            raise Usage(f"not a time span: {older_than!r}", hint="such as 90d, 12h or 1d12h")
        maintenance["pruneAfter"] = older_than
    if max_bytes is not None:
        if size_bytes(max_bytes) is None:
            raise Usage(f"not a size: {max_bytes!r}", hint="such as 500mb or 1.5gb")
        maintenance["maxDiskBytes"] = max_bytes
    if max_entries is not None:
        maintenance["maxEntries"] = max_entries
    return settings(maintenance, app.config.get("cron.sessionRetention"))


def _protected(app: App, keep: tuple[str, ...]) -> list[str]:
    """Returns the keys that no rule takes: the main one, the session that is meant where none is named, and `keep`."""
    names = ["main", default_session(app), *keep]
    main_key = str(app.config.get("session.mainKey"))
    return [key for name in names for key in (full_key(name, app.agent, main_key), name.strip().lower())]


def _row(step: Step, *, done: bool) -> dict[str, Any]:
    return {
        "action": step.action,
        "kind": step.kind,
        "name": step.name,
        "bytes": step.bytes,
        "reason": step.reason,
        "target": step.target,
        "done": done and step.action != "keep",
    }
