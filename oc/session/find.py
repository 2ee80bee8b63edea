"""What a SESSION argument means: a session key, a session id or a path."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from oc.config.paths import Places
from oc.errors import BadInput, NotFound
from oc.session import store
from oc.session_key import full_key, is_path, is_session_id, normal_agent_id, parse


class SessionRef(NamedTuple):
    """A session: by key (then `row` is its row of the store) or a transcript alone. `path` need not be there yet."""

    key: str | None
    session_id: str | None
    path: str
    agent: str
    row: dict[str, Any] | None = None


class Scope(NamedTuple):
    """Where names are looked up: the agent that counts unless a key names another, its places, its main key."""

    agent: str
    places_of: Callable[[str], Places]
    main_key: str = "main"


def find(text: str, scope: Scope) -> SessionRef:
    """Returns the session that the argument means; raises NotFound, with near misses, for a name that fits nothing.

    A name that fits no session but is a file here is that file: what a redirection just made may be called anything.
    """
    if is_path(text):
        return SessionRef(None, None, text, scope.agent)
    agent = _agent_of(text, scope)
    places = scope.places_of(agent)
    rows = store.load(places.store)
    found = _by_key(text, rows, agent, places, scope.main_key) or _by_id(text, rows, agent, places)
    if found is not None:
        return found
    if os.path.isfile(text) and not text.startswith("agent:"):
        return SessionRef(None, None, text, scope.agent)
    raise NotFound(f"no session {text!r}", hint=_hint(text, rows, agent, places))


def key_of(text: str, scope: Scope) -> tuple[str, str]:
    """Returns (key, agent) that a name means, whether or not there is such a session.

    A key of the store that is no agent's (`global`, `cron:...`) keeps its form.
    """
    agent = _agent_of(text, scope)
    rows = store.load(scope.places_of(agent).store)
    key, plain = full_key(text, agent, scope.main_key), text.strip().lower()
    known_as_it_is = store.look_up(rows, key).spelling is None and store.look_up(rows, plain).spelling is not None
    return plain if known_as_it_is else key, agent


def sessions_of(places: Places) -> list[SessionRef]:
    """Returns the sessions that the store of an agent names, in its order; rows without a session id are none."""
    found = []
    for key, row in store.load(places.store).items():
        session_id = row.get("sessionId") if isinstance(row, dict) else None
        if isinstance(session_id, str):
            with suppress(BadInput):  # raised for an id that is none
                path = store.transcript_path(row, session_id, places.sessions)
                found.append(SessionRef(key, session_id, path, places.agent, row))
    return found


def unkeyed_of(places: Places, keyed: Iterable[SessionRef]) -> list[SessionRef]:
    """Returns the transcripts in an agent's folder that none of the sessions has, by name."""
    taken = {os.path.basename(ref.path) for ref in keyed}
    if database := store.database_of(places.store):
        return [ref for ref in _in_database(database, places) if os.path.basename(ref.path) not in taken]
    names = sorted(os.listdir(places.sessions)) if os.path.isdir(places.sessions) else []
    return [
        SessionRef(None, name.removesuffix(".jsonl"), os.path.join(places.sessions, name), places.agent)
        for name in names
        if name.endswith(".jsonl") and name not in taken and name != os.path.basename(places.events)
    ]


def _agent_of(text: str, scope: Scope) -> str:
    named = parse(text)
    return normal_agent_id(named.agent) if named else scope.agent


def _by_key(text: str, rows: store.Store, agent: str, places: Places, main_key: str) -> SessionRef | None:
    for key in dict.fromkeys((full_key(text, agent, main_key), text.strip().lower())):
        row = store.look_up(rows, key).row
        session_id = row.get("sessionId") if row is not None else None
        if row is not None and isinstance(session_id, str) and is_session_id(session_id.strip()):
            path = store.transcript_path(row, session_id, places.sessions)
            return SessionRef(key, session_id, path, agent, row)
    return None


def _by_id(text: str, rows: store.Store, agent: str, places: Places) -> SessionRef | None:
    session_id = text.strip()
    if not is_session_id(session_id):
        return None
    path = os.path.join(places.sessions, f"{session_id}.jsonl")
    for key, row in rows.items():
        if isinstance(row, dict) and row.get("sessionId") == session_id:
            return SessionRef(
                key.lower(), session_id, store.transcript_path(row, session_id, places.sessions), agent, row
            )
    if database := store.database_of(places.store):
        unkeyed = (ref for ref in _in_database(database, places) if ref.session_id == session_id)
        return next(unkeyed, None)
    return SessionRef(None, session_id, path, agent) if os.path.exists(path) else None


def _in_database(database: str, places: Places) -> Iterator[SessionRef]:
    """Yields all transcripts in OpenClaw's database; which keys they have now is not looked at."""
    from oc.session import openclaw_db

    for session_id, _ in openclaw_db.session_ids(database):
        yield SessionRef(None, session_id, str(openclaw_db.Name(database, session_id)), places.agent)


def _hint(text: str, rows: store.Store, agent: str, places: Places) -> str | None:
    import difflib

    names = dict.fromkeys(_names(rows, agent, places))
    near = difflib.get_close_matches(text.strip().lower(), names, n=3)
    if near:
        return "near: " + ", ".join(near)
    return "`oc session list` names them" if names else None


def _names(rows: store.Store, agent: str, places: Places) -> Iterator[str]:
    prefix = f"agent:{agent}:"
    for key, row in rows.items():
        lowered = key.lower()
        yield lowered
        yield lowered.removeprefix(prefix)
        if isinstance(row, dict) and isinstance(row.get("sessionId"), str):
            yield row["sessionId"]
    if os.path.isdir(places.sessions):
        yield from sorted(n.removesuffix(".jsonl") for n in os.listdir(places.sessions) if n.endswith(".jsonl"))
