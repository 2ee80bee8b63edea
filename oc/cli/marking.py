"""Entries that say something of a session or of another entry: which entry is meant, and where they are written."""

from oc.cli.app import App
from oc.cli.lifecycle import rules_of
from oc.cli.sessions import find_session
from oc.errors import Usage
from oc.session import transcript
from oc.session.backward import find_entry
from oc.session.entry import Entry
from oc.session.open import need_transcript, touch
from oc.session.tree import by_id, entry_named


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


def resolve_entry(path: str, text: str) -> Entry:
    """Returns the entry that is meant: by its id, which is looked for from the end, by the start of one or a label.

    The transcript must be one that can be written to: it is looked at more than once.
    """
    transcript.need_writable(path)
    found = find_entry(path, text)
    if found is not None:
        return found
    entries = transcript.read(path).entries
    return by_id(entries)[entry_named(entries, text, path)]
