"""`oc session open`: the session a key has now, rolled over or made when it has none."""

import click

from oc.cli.app import App
from oc.cli.lifecycle import print_opened, rules_of
from oc.cli.options import oc_command
from oc.cli.sessions import find_key, find_session
from oc.errors import NotFound, Usage
from oc.session.open import Opened, open_session


@oc_command("open")
@click.argument("key", required=False)
@click.option("--new", is_flag=True, help="Start a new session and archive the old transcript.")
@click.option("--peek", is_flag=True, help="Only look: make nothing, roll nothing over; 66 when there is no session.")
def command(app: App, key: str | None, new: bool, peek: bool) -> int:
    """Resolve a key to its session; start a new one when there is none or it is stale."""
    if new and peek:
        raise Usage("--new and --peek exclude each other")
    name, owner = find_key(app, key)
    if peek:
        ref = find_session(app, key)
        if ref.key is None:
            raise NotFound("the transcript belongs to no session key", path=ref.path)
        print_opened(app, app.for_agent(ref.agent), Opened(ref, is_new=False))
    else:
        print_opened(app, owner, open_session(name, owner.places, rules_of(owner), new=new))
    return 0
