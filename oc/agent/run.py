"""One turn, end to end: session, lock, context, system prompt, loop, counters. What `oc prompt` runs.

The order is that of the design's chapter on `oc prompt`; every step is a call in `_turn`.
"""

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from oc.agent.choice import choose_model
from oc.agent.flush import Flusher
from oc.agent.hooked import tell_new
from oc.agent.loop import Limits, Loop, Outcome, Tell
from oc.agent.model import open_model
from oc.agent.record import Recorder
from oc.agent.recover import Recovery
from oc.agent.request import Session, system_prompt, with_seen
from oc.agent.setting import Setting
from oc.agent.shape import event_entry, trigger, waiting, with_hooks, zone_of
from oc.agent.tools.own import own_tools
from oc.agent.view import pruning_of, view_of
from oc.base import files
from oc.base.tokens import ESTIMATE, remembering
from oc.config.paths import Places
from oc.errors import NotFound, Usage
from oc.message.size import context_size
from oc.session import events
from oc.session.context import context_entries
from oc.session.entry import Entry
from oc.session.find import SessionRef, find, key_of
from oc.session.open import Opened, open_session, touch
from oc.session.store import load, look_up
from oc.session.transcript import read
from oc.session.tree import leaf_path
from oc.session_key import is_path
from oc.window.budget import Window
from oc.window.budget import window as window_of

# How often a session that another process rolls over under our hands is looked up again.
_LOOKS = 3


@dataclass(frozen=True, slots=True)
class Ask:
    """What the user wants: `session` is a name as given, `text` the whole message."""

    session: str
    text: str
    model: str | None = None
    tools: bool = True
    literal: bool = False
    timeout_s: float | None = None
    max_steps: int = 32


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn left behind; `outcome` is None when TEXT was only a reset trigger. `entries` were written by it."""

    session: Session
    opened: Opened
    window: Window
    outcome: Outcome | None = None
    entries: tuple[Entry, ...] = ()


def run_turn(ask: Ask, setting: Setting, tell: Tell) -> Turn:
    """Runs one turn. Raises Busy when another process writes to the session, Usage and NotFound for its name.

    A model that fails is no exception: the outcome has the failure.
    """
    if ask.model is not None:  # before anything is made or rolled over
        model = open_model(choose_model(ask.model, None, setting.config_of(setting.agent)))
        ask = replace(ask, model=model.name)  # `default` has a name now
    text, triggered = (ask.text, False) if ask.literal else trigger(ask.text, setting)
    for look in range(_LOOKS):
        opened = _open(ask.session, setting, new=triggered and look == 0)
        session = _session(opened.ref, ask, setting)
        tell_new(opened, setting.hooked(opened.ref), "reset" if triggered else None)
        window = window_of(session.config, model=session.choice.model)
        if triggered and not text:
            return Turn(session, opened, window)
        with ExitStack() as held:
            try:
                held.enter_context(files.lock(opened.ref.path, timeout_ms=setting.lock_timeout_ms))
            except FileNotFoundError:
                raise NotFound("no such file", path=opened.ref.path) from None
            ref = _as_it_is(opened.ref, session.places)
            if ref is not None:
                turn = Turn(session._replace(ref=ref), opened._replace(ref=ref), window)
                return _turn(replace(ask, text=text), turn, setting, tell)
    raise NotFound("no such file", path=opened.ref.path)


def _open(name: str, setting: Setting, *, new: bool) -> Opened:
    """Returns the session of a name: a key is rolled over or made as needed, an id or a path must be there."""
    scope = setting.scope()
    if name == "-":
        raise Usage("a session to write to is expected, not -")
    known: SessionRef | None = None
    if is_path(name):
        known = find(name, scope)
        if not os.path.isfile(known.path):
            raise NotFound("no such file", path=known.path)
    else:
        key, agent = key_of(name, scope)
        try:
            found = find(name, scope)
        except NotFound:
            found = None
        if found is None or found.key == key:
            return open_session(key, setting.places_of(agent), setting.rules(agent), new=new)
        known = found
    if new:
        raise Usage("only a session named by its key can be started anew", hint="--literal takes TEXT as it is")
    return Opened(known, is_new=False)


def _as_it_is(ref: SessionRef, places: Places) -> SessionRef | None:
    """Returns the session as it is under its lock; None when another process rolled it over while we waited."""
    if not os.path.exists(ref.path):
        return None
    if ref.key is None:
        return ref
    row = look_up(load(places.store), ref.key).row
    return ref._replace(row=row) if row is not None and row.get("sessionId") == ref.session_id else None


def _session(ref: SessionRef, ask: Ask, setting: Setting) -> Session:
    config = setting.config_of(ref.agent)
    return Session(ref, config, setting.places_of(ref.agent), choose_model(ask.model, ref.row, config))


def _turn(ask: Ask, turn: Turn, setting: Setting, tell: Tell) -> Turn:
    """Runs the turn under the lock of its transcript."""
    session = turn.session
    transcript = read(session.ref.path)
    if transcript.skipped:
        setting.warn(f"{session.ref.path}: {len(transcript.skipped)} lines are no entries and are passed over")
    path = leaf_path(transcript.entries)
    recorder = Recorder(session.ref.path, setting.clock, setting.ids, setting.warn, setting.hooked(session.ref))
    limits = Limits(ask.max_steps, None if ask.timeout_s is None else time.monotonic() + ask.timeout_s)
    # Before anything of this turn is written.
    Flusher(session, turn.window.tokens, setting, deadline_s=limits.deadline_s).before_turn(path, ask.text, tell)
    tools = own_tools(session, setting) if ask.tools else []
    prompt = system_prompt(session, tools, time_zone=zone_of(setting))
    for warning in prompt.warnings:
        setting.warn(warning)
    model = open_model(session.choice)
    tell({"type": "agent_start", **_named(turn)})
    tell({"type": "view", "decisions": list(prompt.rows())})
    now_ms, tokens = setting.clock.now_ms(), turn.window.tokens
    pruning = pruning_of(session.config, model.speaker, path, now_ms)
    view = view_of(session, model.speaker, window_tokens=tokens, now_ms=now_ms)
    estimate = remembering(ESTIMATE)  # each request of the turn counts what the one before it did, and more
    view = view._replace(pruning=pruning, hooked=recorder.hooked, counter=estimate)
    loop = Loop(model, prompt.text, context_entries(path), tools, view, recorder, tell, limits, estimate)
    recovery = Recovery(session, loop, transcript.entries, tokens, setting)
    _hear(ask.text, loop, recovery, session, setting)
    try:
        while loop.run().overflowed and recovery.after_overflow():
            pass
    finally:
        _count(session, loop, turn.window, prompt.seen, setting)
    if loop.outcome.failure is None:
        recovery.at_threshold()
    _end(loop, tell)
    return replace(turn, outcome=loop.outcome, entries=tuple(recorder.entries))


def _end(loop: Loop, tell: Tell) -> None:
    outcome = loop.outcome
    error = {} if outcome.failure is None else {"error": outcome.failure.message}
    loop.recorder.hooked.fire("agent_end", {"messages": loop.messages, "success": not error, **error})
    tell({"type": "agent_end", "stopReason": outcome.stop_reason, "messages": outcome.answers})


def _named(turn: Turn) -> dict[str, Any]:
    ref = turn.session.ref
    named = {"key": ref.key, "sessionId": ref.session_id, "path": ref.path, "isNew": turn.opened.is_new}
    return {"session": named, "model": turn.session.choice.model, "modelOrigin": turn.session.choice.origin}


def _hear(text: str, loop: Loop, recovery: Recovery, session: Session, setting: Setting) -> None:
    """Writes down what waited for the session and what the user says, in one piece, and takes it into the context.

    Before that the context is compacted if it would become too large, and the hooks add to the prompt: what they put
    before it is said, and stored, with it.
    """
    recorder = loop.recorder
    told = [event_entry(event, setting) for event in waiting(session)]
    recovery.before_turn([*(entry["message"] for entry in context_entries(told)), recorder.user(text)])
    text, loop.system = with_hooks(loop.view, loop.entries, text, loop.system)
    # The compaction may have left an event of its own.
    heard = waiting(session)
    told = [event_entry(event, setting) for event in heard]
    said = recorder.user(text)
    kept = recorder.hooked.to_write(said)
    written = recorder.write([*told, *([] if kept is None else [recorder.entry(kept)])])
    if heard:
        queue = session.places.events
        events.remove(queue, {event["id"] for event in heard}, lock_timeout_ms=setting.lock_timeout_ms)
    loop.entries += context_entries(written)
    if kept is None:
        loop.entries.append(recorder.blocked(said))


def _count(session: Session, loop: Loop, window: Window, seen: tuple[str, ...], setting: Setting) -> None:
    """Stores what the turn has used in the session's row; the size of the context is that of the next request."""
    outcome, speaker = loop.outcome, loop.model.speaker
    fields: dict[str, Any] = {
        "model": speaker.model,
        "modelProvider": speaker.provider,
        "contextTokens": window.tokens,
        "systemSent": True,
        "abortedLastRun": outcome.stop_reason == "aborted",
        **with_seen(session.row, seen),
    }
    if outcome.answers:
        fields |= {"inputTokens": outcome.input_tokens, "outputTokens": outcome.output_tokens}
        size = context_size(loop.messages, loop.counter)
        fields |= {"totalTokens": size.tokens, "totalTokensFresh": size.last_usage_index is not None}
    touch(session.ref, session.places, setting.rules(session.ref.agent), **fields)
