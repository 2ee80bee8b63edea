"""The rules by which messages are stored: calls that can be sent, each answered, results capped and named. Pure.

Behaviour follows OpenClaw 2026.3.13, session-tool-result-guard (tables: context-append-guard, sessions-guard). Who
writes puts what comes back onto the leaf, in order.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from oc.history.inputs import sendable_calls
from oc.history.provenance import stamped
from oc.message.cap import cap_stored
from oc.message.decision import Decision
from oc.message.pairs import missing_result, named, open_calls
from oc.message.shapes import Message, call_name, result_id

# Calls that wait for their results: id -> name of the tool, in the order in which they were made.
Pending = Mapping[str, str | None]


class Rules(NamedTuple):
    """`synthetic`: a call that was never answered gets an error result; otherwise it is forgotten.

    `allowed`: the only tools that may be called, None for all. `source`: provenance of user messages without their
    own. `on_result` (hook tool_result_persist) gets a result and whether it is a synthetic one, and returns it as it
    shall be; `on_write` (hook before_message_write) returns any message as it shall be, None to leave it out.
    """

    synthetic: bool
    allowed: tuple[str, ...] | None = None
    source: Mapping[str, str] | None = None
    on_result: Callable[[Message, bool], Message] | None = None
    on_write: Callable[[Message], Message | None] | None = None


class Guarded(NamedTuple):
    """`messages` are to be written, in order; `pending` goes into the next call."""

    messages: list[Message]
    pending: Pending
    decisions: list[Decision]


def waiting(messages: Sequence[Message]) -> Pending:
    """Returns the calls that wait for their results at the end of a history."""
    pending: dict[str, str | None] = {}
    for message in messages:
        if message.get("role") == "toolResult":
            pending.pop(result_id(message) or "", None)
        else:
            pending = _calls(message)
    return pending


def guarded(messages: Sequence[Message], pending: Pending, rules: Rules, *, now_ms: int) -> Guarded:
    """Returns messages as they may be stored behind a history whose `pending` calls wait.

    Any message but a result ends the wait: what is missing is made up, or forgotten. A result that nobody waits for is
    stored as it is.
    """
    work = _Work(rules, pending, now_ms)
    for message in messages:
        work.take(message)
    return Guarded(work.out, work.pending, work.decisions)


def closed(pending: Pending, rules: Rules, *, now_ms: int) -> Guarded:
    """Returns what is stored at the end of a run for the calls that still wait."""
    work = _Work(rules, pending, now_ms)
    work.end_wait(None)
    return Guarded(work.out, work.pending, work.decisions)


class _Work:
    def __init__(self, rules: Rules, pending: Pending, now_ms: int) -> None:
        self.rules = rules
        self.pending = dict(pending)
        self.now_ms = now_ms
        self.out: list[Message] = []
        self.decisions: list[Decision] = []

    def take(self, message: Message) -> None:
        if message.get("role") == "toolResult":
            call = self.pending.pop(result_id(message) or "", None)
            self._store(self._result(message, call, synthetic=False))
            return
        cleaned, decisions = sendable_calls([message], self.rules.allowed)
        self.decisions += decisions
        self.end_wait(cleaned[0] if cleaned else message)
        if cleaned:
            stored = self._store(self._changed("provenance", cleaned[0], stamped(cleaned[0], self.rules.source)))
            self.pending = {} if stored is None else _calls(stored)

    def end_wait(self, cause: Message | None) -> None:
        """Makes up the results that are missing, where that is allowed, and waits for none any more."""
        for call_id, name in self.pending.items() if self.rules.synthetic else ():
            made = missing_result(call_id, name, self.now_ms)
            self.decisions.append(Decision("add", "missing-result", None, made, name, cause))
            self._store(self._result(made, name, synthetic=True))
        self.pending = {}

    def _result(self, message: Message, call: str | None, *, synthetic: bool) -> Message:
        """Returns a result named, capped, and as its hook wants it; nothing that a hook makes is above the cap."""
        message = self._changed("tool-name", message, named(message, call))
        message = self._changed("max-stored-chars", message, cap_stored(message))
        if self.rules.on_result is not None:
            message = self._changed("hook-result", message, self.rules.on_result(message, synthetic))
        return message

    def _store(self, message: Message) -> Message | None:
        """Returns the message as it was stored, None when a hook kept it out."""
        new: Message | None = message
        if self.rules.on_write is not None:
            new = self.rules.on_write(message)
        if new is None:
            self.decisions.append(Decision("drop", "hook-write", message, None))
            return None
        new = self._changed("hook-write", message, new)
        if new.get("role") == "toolResult":
            new = self._changed("max-stored-chars", new, cap_stored(new))
        self.out.append(new)
        return new

    def _changed(self, rule: str, before: Message, after: Message) -> Message:
        """Returns the message after a step; one that is the same is the same object."""
        if after == before:
            return before
        self.decisions.append(Decision("change", rule, before, after))
        return after


def _calls(message: Message) -> dict[str, str | None]:
    return {call["id"]: call_name(call) for call in open_calls(message)}
