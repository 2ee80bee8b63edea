"""`oc session open`: the session a key has now, rolled over or made when it has none."""

import os

import click

from oc.cli.app import App
from oc.cli.lifecycle import print_opened, rules_of, tell_hooks
from oc.cli.options import oc_command
from oc.cli.sessions import find_key, find_session
from oc.errors import NotFound, Usage
from oc.session.keys import thread_of_key
from oc.session.open import Opened, open_session
from oc.session.parent import start_of


@oc_command("open")
@click.argument("key", required=False)
@click.option("--new", is_flag=True, help="Start a new session and archive the old transcript.")
@click.option("--peek", is_flag=True, help="Only look: make nothing, roll nothing over; 66 when there is no session.")
@click.option("--parent", metavar="KEY", help="Start a new session as a fork of that key's.")
@click.option("--thread", metavar="ID", help="Open the session of a thread of KEY; the file's name has the ID.")
def command(app: App, key: str | None, *, new: bool, peek: bool, parent: str | None, thread: str | None) -> int:
    """Resolve a key to its session; start a new one when there is none or it is stale."""
    if new and peek:
        raise Usage("--new and --peek exclude each other")
    name, owner = find_key(app, key)
    if thread is not None:
        if not thread.strip():
            raise Usage("--thread names no thread")
        name = thread_of_key(name, thread)
    if peek:
        ref = find_session(app, name if thread is not None else key)
        if ref.key is None:
            raise NotFound("the transcript belongs to no session key", path=ref.path)
        print_opened(app, app.for_agent(ref.agent), Opened(ref, is_new=False))
        return 0
    source = None if parent is None else find_session(app, parent)
    if source is not None and source.key == name:
        raise Usage("a session cannot be its own parent")
    if source is not None and not os.path.exists(source.path):
        source = None  # nothing was said in it yet
    start = start_of(source, thread, owner.config.get("session.parentForkMaxTokens"))
    opened = open_session(name, owner.places, rules_of(owner), new=new, start=start)
    if opened.is_new and source is not None and start.fork is None:
        app.out.say(f"oc: {source.key or source.path} is too large to be forked; the session starts empty")
    tell_hooks(owner, opened, "reset" if new and opened.previous is not None else None)
    print_opened(app, owner, opened)
    return 0
