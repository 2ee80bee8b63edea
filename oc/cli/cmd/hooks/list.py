"""`oc hooks list`: every hook that is there, in the order in which it would run."""

from typing import Any

from oc.cli.app import App
from oc.cli.options import oc_command
from oc.hooks.events import EVENTS
from oc.hooks.find import Found, find, strays

FIELDS = ("event", "name", "state")


@oc_command("list")
def command(app: App) -> int:
    """List the hooks by event, and say why one does not run."""
    search = app.hooks.search
    found = [hook for event in EVENTS for hook in find(search, event)]
    rows = [row(hook) for hook in [*found, *strays(search)]]
    app.out.rows("hooks", rows, FIELDS)
    return 0 if rows else 1


def row(hook: Found) -> dict[str, Any]:
    return {
        "event": hook.event,
        "name": hook.label,
        "state": hook.why_not or "runs",
        "runs": not hook.why_not,
        "command": list(hook.argv),
        "timeoutMs": hook.timeout_ms,
    }
