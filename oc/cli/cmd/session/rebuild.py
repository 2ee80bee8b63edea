"""`oc session rebuild`: sessions.json made again from its pieces, its copies and the transcripts."""

from typing import Any

import click

from oc.cli.app import App
from oc.cli.options import oc_command
from oc.session.rebuild import Change, planned, rebuilt
from oc.session_key import full_key

_FIELDS = ("action", "key", "sessionId", "name", "origin")


@oc_command("rebuild")
@click.option("--write", is_flag=True, help="Do it; without, nothing is changed.")
def command(app: App, *, write: bool) -> int:
    """Print what sessions.json can be made again of, or write it."""
    main_key = full_key("main", app.agent, str(app.config.get("session.mainKey")))
    if write:
        found = rebuilt(app.places, main_key, now_ms=app.clock.now_ms(), lock_timeout_ms=app.lock_timeout_ms)
    else:
        found = planned(app.places, main_key)
    extra = {"backup": found.backup, "written": write and found.acts}
    app.out.rows("changes", map(_row, found.changes), _FIELDS, extra)
    app.out.flush()
    if found.backup is not None:
        app.out.say(f"the bytes from before: {found.backup}")
    if found.acts and not write:
        app.out.say("nothing was changed; --write does it")
    return 0 if found.acts else 1


def _row(change: Change) -> dict[str, Any]:
    return {
        "action": change.action,
        "key": change.key,
        "sessionId": change.session_id,
        "name": change.name,
        "origin": change.origin,
    }
