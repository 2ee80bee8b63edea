"""`oc session reset`: a new session for a key; the old transcript is archived."""

import click

from oc.cli.app import App
from oc.cli.lifecycle import print_opened, rules_of, tell_hooks
from oc.cli.options import oc_command
from oc.cli.sessions import find_key
from oc.session.open import reset_session


@oc_command("reset")
@click.argument("key", required=False)
@click.option("--no-note", is_flag=True, help="Write no note about the old session.")
def command(app: App, key: str | None, no_note: bool) -> int:  # noqa: ARG001 - no note is written yet
    """Start a session anew and archive its transcript."""
    name, owner = find_key(app, key)
    opened = reset_session(name, owner.places, rules_of(owner))
    tell_hooks(owner, opened, "reset")
    print_opened(app, owner, opened)
    return 0
