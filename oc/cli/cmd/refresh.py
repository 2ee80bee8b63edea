"""`oc refresh`: tells a session its rules again, as after a compaction."""

import click

from oc.agent.refresh import queue_refresh, text_of
from oc.cli.app import App
from oc.cli.options import oc_command
from oc.cli.sessions import find_session, named_or_default
from oc.cli.turn import setting_of
from oc.errors import Usage


@oc_command("refresh")
@click.argument("session", required=False)
@click.option("--dry-run", is_flag=True, help="Print what the session would be told, and queue nothing.")
def command(app: App, session: str | None, *, dry_run: bool) -> int:
    """Queue the sections of AGENTS.md that a session is told after a compaction."""
    if session == "-":
        raise Usage("a session is refreshed, not a stream")
    ref = find_session(app, named_or_default(app, session))
    if ref.key is None:
        raise Usage("only a session with a key hears events", hint="`oc session list` names the keys")
    app = app.for_agent(ref.agent)
    setting = setting_of(app)
    if dry_run:
        text, event = text_of(app.config, app.places.workspace, setting), None
    else:
        event = queue_refresh(ref, app.config, app.places, setting)
        text = None if event is None else str(event["text"])
    if app.out.format in ("json", "jsonl"):
        queued = None if event is None else event["id"]
        app.out.document({"session": ref.key, "eventId": queued, "text": text, "dryRun": dry_run})
    elif text is not None:
        app.out.line_block(text)
    if text is None:
        app.out.say(f"oc: nothing to tell {ref.key}: AGENTS.md has none of the sections that are configured")
    return 1 if text is None else 0
