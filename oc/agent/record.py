"""Writes a turn down: each message is on disk before anybody sees it. Shapes are those of Pi's transcripts.

The caller holds the transcript's lock for the whole turn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from oc.agent.failure import Failure
from oc.agent.hooked import Hooked
from oc.agent.tools.spec import Result
from oc.agent.wire import Speaker, usage
from oc.base.clock import Clock, Ids, iso
from oc.message.cap import cap_stored
from oc.message.shapes import Block, Message
from oc.session.entry import Entry
from oc.session.transcript import append


@dataclass(slots=True)
class Recorder:
    """`entries` are those that this turn has written so far, `unwritten` those that a hook kept from being written."""

    path: str
    clock: Clock
    ids: Ids
    warn: Callable[[str], None]
    hooked: Hooked = field(default_factory=Hooked)
    entries: list[Entry] = field(default_factory=list)
    unwritten: list[Entry] = field(default_factory=list)

    def write(self, entries: Sequence[Entry]) -> list[Entry]:
        """Appends entries to the leaf; on disk when it returns."""
        written = append(self.path, entries, ids=self.ids, lock_timeout_ms=None, warn=self.warn)
        self.entries += written
        return written

    def message(self, message: Message) -> Entry:
        """Writes a message as the hooks have it; one that they block has an entry without id, for this turn alone."""
        kept = self.hooked.to_write(message)
        return self.blocked(message) if kept is None else self.write([self.entry(kept)])[0]

    def blocked(self, message: Message) -> Entry:
        self.unwritten.append(entry := self.entry(message))
        return entry

    def entry(self, message: Message) -> Entry:
        return {"type": "message", "timestamp": iso(self.clock.now_ms()), "message": message}

    def user(self, text: str) -> Message:
        return {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": self.clock.now_ms()}

    def assistant(
        self,
        speaker: Speaker,
        blocks: list[Block],
        used: dict[str, Any] | None,
        stop_reason: str,
        failure: Failure | None = None,
    ) -> Message:
        """Returns an assistant message; a call that failed or was broken off has used nothing that is known."""
        message = {
            "role": "assistant",
            "content": blocks,
            "api": speaker.api,
            "provider": speaker.provider,
            "model": speaker.model,
            "usage": used or usage(0, 0),
            "stopReason": stop_reason,
        }
        if failure is not None:
            message["errorMessage"] = failure.message
        return {**message, "timestamp": self.clock.now_ms()}

    def result(self, call: Block, result: Result) -> Message:
        """Returns a tool result as it may be stored."""
        message: Message = {
            "role": "toolResult",
            "toolCallId": call["id"],
            "toolName": call["name"],
            "content": [{"type": "text", "text": result.text}],
        }
        if result.details is not None:
            message["details"] = result.details
        return cap_stored({**message, "isError": result.failed, "timestamp": self.clock.now_ms()})
