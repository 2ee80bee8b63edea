"""SESSION arguments on the command line: which session they mean, and what it takes to open one."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from oc.base.typed import TYPE_CHECKING, BinaryIO
from oc.cli.app import App
from oc.errors import Usage
from oc.session.transcript import open_file
from oc.session_key import is_path

if TYPE_CHECKING:
    from oc.session.find import Scope, SessionRef


def default_session(app: App) -> str:
    """Returns what a SESSION argument means that was left out."""
    return app.environ.get("OC_SESSION") or "main"


def named_or_default(app: App, text: str | None) -> str:
    """Returns the SESSION that was given, else what is meant without one.

    Usage for an empty one: it comes of a shell variable that is not set, and means no session.
    """
    if text is None:
        return default_session(app)
    if not text.strip():
        raise Usage("the session is empty", hint="leave it out for $OC_SESSION, else main")
    return text


def scope_of(app: App) -> "Scope":
    from oc.session.find import Scope

    return Scope(app.agent, app.places_of, str(app.config.get("session.mainKey")))


def find_session(app: App, text: str | None = None) -> "SessionRef":
    """Returns the session that an argument means (left out: $OC_SESSION, else main); NotFound with near misses."""
    from oc.session.find import find

    return find(named_or_default(app, text), scope_of(app))


def find_key(app: App, text: str | None = None) -> tuple[str, App]:
    """Returns the key that a name means, with the run as its agent's, whether or not there is such a session."""
    name = named_or_default(app, text)
    if name == "-" or is_path(name):
        raise Usage(f"a session key is expected, not {name!r}")
    from oc.session.find import key_of

    key, agent = key_of(name, scope_of(app))
    return key, app.for_agent(agent)


def path_of(app: App, text: str | None = None) -> str:
    """Returns the file of a session; for a path nothing is looked up."""
    name = named_or_default(app, text)
    return name if is_path(name) else find_session(app, name).path


@contextmanager
def open_transcript(app: App, text: str | None) -> Iterator[tuple[BinaryIO, str]]:
    """Yields a session's transcript as a stream, with the name it has in messages; `-` is stdin."""
    if text == "-":
        app.need_stdin("a transcript")
        yield sys.stdin.buffer, "stdin"
        return
    path = path_of(app, text)
    with open_file(path) as file:
        yield file, path
