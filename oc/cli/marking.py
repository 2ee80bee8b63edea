"""Entries that say something of a session or of another entry: which entry is meant, and where they are written."""

from oc.cli.app import App
from oc.cli.lifecycle import rules_of
from oc.cli.sessions import find_session, open_transcript
from oc.errors import Usage
from oc.session import transcript
from oc.session.entry import Entry
from oc.session.open import need_transcript, touch
from oc.session.tree import entry_named


def append_to(app: App, session: str, entry: Entry) -> None:
    """Appends an entry to a session and prints its id."""
    if session == "-":
        raise Usage("a session is expected, not -")
    ref = find_session(app, session)
    owner = app.for_agent(ref.agent)
    if ref.key is not None:
        need_transcript(ref, owner.places, rules_of(owner))
    (written,) = transcript.append(
        ref.path, [entry], ids=app.ids, lock_timeout_ms=app.lock_timeout_ms, warn=app.out.warn
    )
    touch(ref, owner.places, rules_of(owner))
    app.out.rows("entries", [{"id": written["id"], "parentId": written["parentId"], "path": ref.path}], ("id",))


def resolve_entry(app: App, session: str | None, text: str) -> str:
    """Returns the id of the entry that is meant: by its id, by the start of one, or by its label."""
    with open_transcript(app, session) as (file, name):
        return entry_named(transcript.read_stream(file, name).entries, text, name)
