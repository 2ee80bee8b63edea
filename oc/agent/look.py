"""Builds the request that a turn would send, with the code of the turn, and stops. Writes nothing, calls no model.

A session that `oc prompt` would make or start anew is shown as new; a compaction that is due is said to be, not made.
"""

import os
from collections.abc import Iterator, Sequence

from oc.agent.answer import Request
from oc.agent.choice import choose_model
from oc.agent.request import Session, SystemPrompt, coming_tokens, system_prompt
from oc.agent.setting import Setting
from oc.agent.shape import event_entry, trigger, waiting, with_hooks, zone_of
from oc.agent.speaker import expected_speaker
from oc.agent.tools.own import own_tools
from oc.agent.view import Seen, View, pruning_of, view_of
from oc.agent.wire import Speaker
from oc.base.clock import parse_iso
from oc.base.tokens import ESTIMATE, Counter
from oc.base.typed import Any, NamedTuple
from oc.errors import NotFound, Usage
from oc.message.shapes import Message, text
from oc.message.size import message_tokens
from oc.session.backward import read_ending
from oc.session.context import context_entries
from oc.session.entry import Entry, Finding
from oc.session.find import SessionRef, find, key_of
from oc.session.open import freshness
from oc.session.transcript import Transcript, open_file, read_stream
from oc.session.tree import leaf_path
from oc.session_key import is_path
from oc.window.budget import Window, reserve_tokens
from oc.window.budget import window as window_of


class Wanted(NamedTuple):
    """What is looked at: as `oc prompt` would be asked, or at an earlier entry (`at`).

    `given` is a transcript that is read already, in the place of a session.
    """

    session: str
    text: str | None = None
    model: str | None = None
    tools: bool = True
    literal: bool = False
    run_kind: str = "default"
    window_tokens: int | None = None
    at: str | None = None
    given: Transcript | None = None


class Look(NamedTuple):
    """A request, and how it came about. `prompt` is the text as it is sent, None without one.

    `coming_tokens` is what the turn compares with the window less its reserve; `path` what was read of the branch.
    """

    session: Session
    is_new: bool
    speaker: Speaker
    speaker_origin: str
    window: Window
    prompt: str | None
    parts: SystemPrompt
    request: Request
    seen: Seen
    path: tuple[Entry, ...]
    skipped: tuple[Finding, ...]
    coming_tokens: int
    threshold_tokens: int

    @property
    def due(self) -> bool:
        return self.coming_tokens > self.threshold_tokens

    def rows(self, counter: Counter) -> Iterator[dict[str, Any]]:
        """Yields every decision, from the files to the request, and at the end each message that is shown."""
        origin = {"model": self.session.choice.model, "rule": self.session.choice.origin}
        yield {"stage": "model", "action": "choose", **origin, "window_tokens": self.window.tokens}
        yield from self.parts.rows()
        yield from _folded(self.path)
        yield from self.seen.rows
        sizes = {"tokens_before": self.coming_tokens, "limit_tokens": self.threshold_tokens}
        yield {"stage": "compact", "action": "due" if self.due else "gate", **sizes, "rule": "threshold"}
        for index, (message, entry_id) in enumerate(zip(self.seen.messages, self.seen.ids, strict=True)):
            about = {"role": message.get("role"), "tool": message.get("toolName"), "entry_id": entry_id}
            tokens = message_tokens(message, counter)
            yield {"stage": "request", "action": "show", "index": index, **about, "tokens_after": tokens}


def _folded(path: Sequence[Entry]) -> Iterator[dict[str, Any]]:
    """Yields the compaction that folds the context, and the entries that hold nothing for a model."""
    shown = {entry.get("id") for entry in context_entries(path)}
    newest = next((entry for entry in reversed(path) if entry.get("type") == "compaction"), None)
    for entry in path:
        row = {"stage": "context", "entry_id": entry.get("id"), "rule": entry.get("type")}
        if entry is newest:
            yield {**row, "action": "fold"}
        elif entry.get("id") not in shown:
            yield {**row, "action": "pass-over"}


def look(wanted: Wanted, setting: Setting, estimate: Counter = ESTIMATE) -> Look:
    """Returns the request. Raises NotFound for a path, or an entry, that is not there, and Usage for a bad name.

    `estimate` is the counter by which a turn decides.
    """
    said, triggered = wanted.text, False
    if said is not None and not wanted.literal and wanted.at is None:
        said, triggered = trigger(said, setting)
    ref, is_new = _peek(wanted, setting, new=triggered)
    config = setting.config_of(ref.agent)
    session = Session(ref, config, setting.places_of(ref.agent), choose_model(wanted.model, ref.row, config))
    path, skipped = _branch(wanted, ref)
    context = context_entries(path)
    speaker, origin = expected_speaker(session.choice, [entry["message"] for entry in context])
    window = window_of(config, tokens=wanted.window_tokens, model=session.choice.model)
    now_ms = _moment(wanted, path, setting)
    view = view_of(session, speaker, window_tokens=window.tokens, now_ms=now_ms)
    before = [entry for entry in path if entry.get("id") != wanted.at]
    pruning = pruning_of(config, speaker, before, now_ms)
    view = view._replace(pruning=pruning, hooked=setting.hooked(ref), counter=estimate)
    tools = tuple(own_tools(session, setting)) if wanted.tools else ()
    parts = system_prompt(session, tools, time_zone=zone_of(setting), run_kind=wanted.run_kind)
    told = context_entries([event_entry(event, setting) for event in ([] if wanted.at else waiting(session))])
    asked = [] if not said else [_user(said, now_ms)]
    fixed = Request(parts.text, [], tools)
    coming = coming_tokens(path, [*(entry["message"] for entry in told), *asked], fixed, estimate)
    prompt, system, entries = _spoken(view, context, said, parts.text, now_ms)
    seen = view.of([*context, *told, *entries[len(context) :]], prompted=prompt is not None)
    return Look(
        session=session,
        is_new=is_new,
        speaker=speaker,
        speaker_origin=origin,
        window=window,
        prompt=prompt,
        parts=parts,
        request=Request(system, seen.messages, tools),
        seen=seen,
        path=tuple(path),
        skipped=tuple(skipped),
        coming_tokens=coming,
        threshold_tokens=window.tokens - reserve_tokens(config),
    )


def _spoken(
    view: View, context: list[Entry], said: str | None, system: str, now_ms: int
) -> tuple[str | None, str, list[Entry]]:
    """Returns the prompt, the system prompt and the context with the prompt, as the hooks leave them.

    Without a text the prompt is the user's message that the context ends with, to which the hooks have added already.
    """
    if said:
        prompt, system = with_hooks(view, context, said, system)
        return prompt, system, [*context, {"type": "message", "message": _user(prompt, now_ms)}]
    last = context[-1]["message"] if context else {}
    known = text(last) if last.get("role") == "user" else None
    _, system = with_hooks(view, context if known is None else context[:-1], known or "", system)
    return known, system, context


def _user(said: str, now_ms: int) -> Message:
    return {"role": "user", "content": [{"type": "text", "text": said}], "timestamp": now_ms}


def _moment(wanted: Wanted, path: Sequence[Entry], setting: Setting) -> int:
    """Returns the time of the request: now, or that of the entry at which it is looked."""
    then = parse_iso(path[-1].get("timestamp")) if wanted.at is not None and path else None
    return setting.clock.now_ms() if then is None else int(then)


def _peek(wanted: Wanted, setting: Setting, *, new: bool) -> tuple[SessionRef, bool]:
    """Returns the session that a turn would have, and whether it would be a new one."""
    scope = setting.scope()
    name = wanted.session
    if wanted.given is not None:
        return SessionRef(None, str(wanted.given.header.get("id") or "") or None, name, setting.agent), False
    if is_path(name):
        ref = find(name, scope)
        if not os.path.isfile(ref.path) and ".sqlite#" not in ref.path:
            raise NotFound("no such file", path=ref.path)
    else:
        key, agent = key_of(name, scope)
        try:
            found = find(name, scope)
        except NotFound as error:
            if wanted.at is not None:
                raise
            if any(character.isspace() for character in key):
                raise Usage(f"a new session key cannot hold white space: {key!r}", hint=error.hint) from None
            return SessionRef(key, None, "", agent), True
        if found.key == key:
            return _going_on(found, setting, new=new, looking_back=wanted.at is not None)
        ref = found
    if new:
        raise Usage("only a session named by its key can be started anew", hint="--literal takes TEXT as it is")
    return ref, False


def _going_on(ref: SessionRef, setting: Setting, *, new: bool, looking_back: bool) -> tuple[SessionRef, bool]:
    if not new and (looking_back or freshness(ref, setting.rules(ref.agent)).fresh):
        return ref, False
    # What a person chose outlives a reset that was asked for, not the clock's.
    kept = ("chatType", "modelOverride", "providerOverride") if new else ("chatType",)
    row = {name: value for name, value in (ref.row or {}).items() if name in kept}
    return SessionRef(ref.key, None, "", ref.agent, row), True


def _branch(wanted: Wanted, ref: SessionRef) -> tuple[list[Entry], Sequence[Finding]]:
    """Returns what the context needs of the branch: nothing is read of what the newest compaction hides."""
    if wanted.given is not None:
        return _path(wanted.given, wanted.at), wanted.given.skipped
    if not ref.path or (ref.key is not None and not os.path.exists(ref.path) and ".sqlite#" not in ref.path):
        if wanted.at is not None:
            raise NotFound(f"no entry {wanted.at}", path=ref.path or None)
        return [], ()
    with open_file(ref.path) as file:
        ending = read_ending(file, ref.path, leaf_id=wanted.at)
        transcript = read_stream(file, ref.path) if ending is None else ending.transcript
    return _path(transcript, wanted.at), transcript.skipped


def _path(transcript: Transcript, leaf_id: str | None) -> list[Entry]:
    if leaf_id is not None and not any(entry.get("id") == leaf_id for entry in transcript.entries):
        raise NotFound(f"no entry {leaf_id}", path=transcript.path)
    return leaf_path(transcript.entries, leaf_id)
