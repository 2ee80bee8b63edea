"""Opening a session: which transcript a key has now, when a new one takes its place, where the old one goes.

Behaviour follows OpenClaw 2026.3.13's initSessionState, /new and /reset, except that the transcript's header is
written at once (design D2).
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

from oc.base import files
from oc.base.clock import Clock, Ids, iso
from oc.config.load import Config
from oc.config.paths import Places
from oc.errors import NotFound, Usage
from oc.session import store, transcript
from oc.session.archive import put_away
from oc.session.entry import new_header
from oc.session.find import SessionRef
from oc.session.forked import Source, write_fork
from oc.session.fresh import Freshness, Policy, judged, last_reset, policy
from oc.session_key import channel_of, chat_type, is_session_id, reset_type

# Of one conversation only; gone with it.
_OF_ONE_SESSION = (
    "abortCutoffMessageSid",
    "abortCutoffTimestamp",
    "authProfileOverrideCompactionCount",
    "cacheRead",
    "cacheWrite",
    "claudeCliSessionId",
    "cliSessionIds",
    "compactionCount",
    "contextTokens",
    "forkedFromParent",
    "inputTokens",
    "memoryFlushAt",
    "memoryFlushCompactionCount",
    "memoryFlushEntryId",
    "outputTokens",
    "sessionFile",
    "skillsSnapshot",
    "systemPromptReport",
    "totalTokens",
    "totalTokensFresh",
)
# What a person chose; survives a reset that was asked for, but not the clock's.
_CHOSEN = (
    "label",
    "modelOverride",
    "providerOverride",
    "reasoningLevel",
    "thinkingLevel",
    "ttsAuto",
    "verboseLevel",
)
# How old `updatedAt` may get before an append moves it: a store can be megabytes, and nothing is judged by seconds.
TOUCH_MS = 10_000


class Rules(NamedTuple):
    """What opening needs to know of the run: configuration, clock and ids, how long to wait for locks."""

    config: Config
    clock: Clock
    ids: Ids
    lock_timeout_ms: int = 10_000


class Opened(NamedTuple):
    """`archived` are the transcripts that a roll-over moved out of the way; `previous` the row they belonged to."""

    ref: SessionRef
    is_new: bool
    archived: tuple[str, ...] = ()
    previous: Mapping[str, Any] | None = None


def freshness(ref: SessionRef, rules: Rules) -> Freshness:
    """Says whether the session of a key goes on, or the next message starts a new one."""
    return freshness_by(rules)(ref)


def freshness_by(rules: Rules) -> Callable[[SessionRef], Freshness]:
    """Returns the judge of sessions, who looks up the rules of a channel and a type of session once."""
    by_channel: dict[str | None, dict[str, Any]] = {}
    policies: dict[tuple[str | None, str], tuple[Policy, int | None]] = {}
    now_ms = rules.clock.now_ms()

    def judge(ref: SessionRef) -> Freshness:
        row, key = ref.row or {}, ref.key or ""
        channel = row.get("channel")
        if not isinstance(channel, str):
            last = row.get("lastChannel")
            channel = last if isinstance(last, str) else channel_of(key)
        kind = reset_type(key)
        if channel not in by_channel:
            by_channel[channel] = _settings(rules.config, channel)
        if (channel, kind) not in policies:
            chosen = policy(by_channel[channel], key, channel=channel, kind=kind)
            policies[channel, kind] = chosen, last_reset(chosen, now_ms, rules.clock.zone)
        chosen, daily = policies[channel, kind]
        return judged(chosen, store.updated_at(row), now_ms, daily)

    return judge


def _settings(config: Config, channel: str | None) -> dict[str, Any]:
    """Returns the reset settings as the configuration's `session` object has them, strongest file first."""

    def fields(prefix: str) -> dict[str, Any]:
        found = {name: config.get(f"{prefix}.{name}") for name in ("mode", "atHour", "idleMinutes")}
        return {name: value for name, value in found.items() if value is not None}

    # A dot would name another key of the configuration.
    own = fields(f"session.resetByChannel.{channel.strip().lower()}") if channel and "." not in channel else {}
    by_type = {kind: fields(f"session.resetByType.{kind}") for kind in ("direct", "dm", "group", "thread")}
    return {
        "idleMinutes": config.get("session.idleMinutes"),
        "reset": fields("session.reset"),
        "resetByType": {kind: found for kind, found in by_type.items() if found},
        "resetByChannel": {channel: own} if channel and own else {},
    }


class Start(NamedTuple):
    """How a new session starts: as a thread (its id stands in the file's name), as a fork, or with a header alone."""

    thread_id: str | None = None
    fork: Source | None = None
    fields: Mapping[str, Any] = MappingProxyType({})


def open_session(  # noqa: PLR0913 - one opener serves all
    key: str, places: Places, rules: Rules, *, new: bool = False, stale_too: bool = False, start: Start | None = None
) -> Opened:
    """Returns the session of a key, started anew when there is none, when it is stale or when `new` asks for it.

    With `stale_too` a stale session goes on: only a missing one is made. The store is written first, then the old
    transcript is renamed to `<name>.reset.<stamp>`, then the new one gets its header; a fork is written before all
    that. `start` counts for a new session only. Raises Usage for a new key that holds white space.
    """
    start = start or Start()
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}

    def change(rows: store.Store) -> None:
        found = store.look_up(rows, key)
        row = found.row if _usable(found.row) else None
        if row is not None:
            before.update(row)
            ref = _ref(key, row, places)
            if not new and (stale_too or freshness(ref, rules).fresh):
                after.update(row)
                return
        elif found.row is None:
            _check_new_key(key)
        session_id = new_session_id(rows, places.sessions, rules.ids)
        path = os.path.join(places.sessions, _name(session_id, start.thread_id, found.row))
        if start.fork is not None:
            header = _header(session_id, places, rules)
            write_fork(start.fork, path, header, ids=rules.ids, lock_timeout_ms=rules.lock_timeout_ms)
        row = _new_row(key, session_id, _kept(found.row or {}, chosen=new)) | dict(start.fields)
        after.update(row | {"sessionFile": path, "updatedAt": rules.clock.now_ms()})
        store.put(rows, key, after)

    store.update(places.store, change, lock_timeout_ms=rules.lock_timeout_ms)
    ref = _ref(key, after, places)
    is_new = before.get("sessionId") != after["sessionId"]
    archived: tuple[str, ...] = ()
    if is_new and before:
        archived = _archive(_ref(key, before, places), places, rules)
    try:
        need_transcript(ref, places, rules)
    except NotFound:
        return open_session(key, places, rules, stale_too=True)
    return Opened(ref, is_new, archived, before if is_new and before else None)


def reset_session(key: str, places: Places, rules: Rules) -> Opened:
    """Starts the session of a key anew and archives its transcript; raises NotFound when there is none."""
    if not _usable(store.look_up(store.load(places.store), key).row):
        raise NotFound(f"no session {key!r}")
    return open_session(key, places, rules, new=True)


def _usable(row: Mapping[str, Any] | None) -> bool:
    session_id = row.get("sessionId") if row is not None else None
    return isinstance(session_id, str) and is_session_id(session_id.strip())


def _ref(key: str, row: dict[str, Any], places: Places) -> SessionRef:
    path = store.transcript_path(row, row["sessionId"], places.sessions)
    return SessionRef(key, row["sessionId"], path, places.agent, row)


def _name(session_id: str, thread_id: str | None, old: Mapping[str, Any] | None) -> str:
    """Returns the new transcript's name; the session of a thread stays one when it is rolled over."""
    if thread_id is None and old is not None and isinstance(old.get("sessionFile"), str):
        _, found, suffix = os.path.basename(old["sessionFile"]).partition(f"{old.get('sessionId')}-topic-")
        if found and suffix.endswith(".jsonl"):
            return f"{session_id}-topic-{suffix}"
    return store.transcript_name(session_id, thread_id)


def _header(session_id: str, places: Places, rules: Rules) -> dict[str, Any]:
    return new_header(session_id, iso(rules.clock.now_ms()), places.workspace)


def _check_new_key(key: str) -> None:
    if not key or any(character.isspace() for character in key):
        raise Usage(f"a new session key cannot hold white space: {key!r}")


def _kept(old: Mapping[str, Any], *, chosen: bool) -> dict[str, Any]:
    """Returns the fields of a row that outlive its session; what a person chose only when they asked for a new one."""
    gone = ("sessionId", *_OF_ONE_SESSION, *(() if chosen else _CHOSEN))
    return {name: value for name, value in old.items() if name not in gone}


def _new_row(key: str, session_id: str, kept: dict[str, Any]) -> dict[str, Any]:
    kind = chat_type(key)
    return {
        "sessionId": session_id,
        **kept,
        "chatType": kept.get("chatType") or ("direct" if kind == "unknown" else kind),
        "compactionCount": 0,
        "systemSent": False,
        "abortedLastRun": False,
    }


def new_session_id(rows: store.Store, folder: str, ids: Ids) -> str:
    """Returns an id that no row, transcript or archive bears: seeded ids begin anew in each process."""
    taken = [row.get("sessionId") for row in rows.values() if isinstance(row, dict)]
    names = os.listdir(folder) if os.path.isdir(folder) else []
    while True:
        session_id = ids.uuid()
        if session_id not in taken and not any(name.startswith(session_id) for name in names):
            return session_id


def _archive(old: SessionRef, places: Places, rules: Rules) -> tuple[str, ...]:
    """Renames the old session's transcripts; one that is not there, or is in use elsewhere, is passed over."""
    default = os.path.join(places.sessions, store.transcript_name(str(old.session_id)))
    archived = []
    for path in dict.fromkeys((old.path, default)):
        if os.path.isfile(path):
            with files.lock(path, timeout_ms=rules.lock_timeout_ms), suppress(FileNotFoundError):
                archived.append(put_away(path, "reset", rules.clock.now_ms()))
    return tuple(archived)


def need_transcript(ref: SessionRef, places: Places, rules: Rules) -> None:
    """Writes the header of a session that has a row but no transcript yet, as OpenClaw leaves new ones.

    Raises NotFound when the key has gone on to another session: its transcript was archived, not missing.
    """
    if os.path.lexists(ref.path):
        return
    store.refuse_database(places.store)
    with files.lock(places.store, timeout_ms=rules.lock_timeout_ms, stale_ms=files.STORE_STALE_MS):
        row = store.look_up(store.load(places.store), str(ref.key)).row or {}
        if row.get("sessionId") != ref.session_id:
            raise NotFound("the session was started anew meanwhile", path=ref.path)
        header = _header(str(ref.session_id), places, rules)
        transcript.create(ref.path, header, lock_timeout_ms=rules.lock_timeout_ms)


def touch(ref: SessionRef, places: Places, rules: Rules, **fields: Any) -> None:
    """Notes that the session was used now, with other fields of its row; does nothing for a row gone meanwhile.

    Without fields nothing is written when it was used less than ten seconds ago.
    """
    now_ms = rules.clock.now_ms()
    if ref.key is None:
        return

    def change(rows: store.Store) -> None:
        row = store.look_up(rows, str(ref.key)).row
        if row is not None and row.get("sessionId") == ref.session_id:
            store.put(rows, str(ref.key), store.merge(row, fields, now_ms=now_ms))

    updated = store.updated_at(ref.row)
    recent = updated is not None and 0 <= now_ms - updated < TOUCH_MS
    if fields or not recent:
        store.update(places.store, change, lock_timeout_ms=rules.lock_timeout_ms)
