"""The hooks of one session: what a turn tells them, and what their answers change in it.

A hook that fails has warned already (oc.hooks.run) and counts as one that did not answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oc.hooks.run import Answer, Hooks
from oc.message.cap import cap_stored
from oc.message.shapes import Message
from oc.message.size import total_tokens
from oc.session.find import SessionRef

if TYPE_CHECKING:
    from oc.agent.compact import Compaction, Compactor
    from oc.compaction.prepare import Preparation
    from oc.session.open import Opened


class Hooked:
    """Fires events with the session's key, id and transcript in the payload; without hooks nobody answers."""

    def __init__(self, hooks: Hooks | None = None, ref: SessionRef | None = None) -> None:
        self._hooks = hooks
        named = {} if ref is None else {"sessionKey": ref.key, "sessionId": ref.session_id, "sessionFile": ref.path}
        self._about = {name: value for name, value in named.items() if value}

    def listens(self, event: str) -> bool:
        """Says whether an event has hooks; what is costly to tell need not be made when it has none."""
        return self._hooks is not None and bool(self._hooks.of(event))

    def fire(self, event: str, payload: Mapping[str, Any]) -> Answer:
        if self._hooks is None:
            return {}
        return self._hooks.fire(event, {**self._about, **payload})

    def prompt_changes(self, prompt: str, messages: Sequence[Message]) -> Answer:
        """Returns what the hooks add to the prompt and to the system prompt (oc.hooks.events.change_prompt)."""
        from oc.hooks.events import prompt_changes

        payload = {"prompt": prompt, "messages": list(messages)}
        return prompt_changes(self.fire("before_prompt_build", payload), self.fire("before_agent_start", payload))

    def view(self, messages: list[Message]) -> list[Message] | None:
        """Returns the messages that a model is shown instead of these; None when no hook says so."""
        if not self.listens("context"):
            return None
        return self.fire("context", {"messages": messages}).get("messages")

    def to_write(self, message: Message) -> Message | None:
        """Returns the message as it is to be written, None when a hook wants nothing written."""
        if message.get("role") == "toolResult":
            told = {"toolName": message.get("toolName"), "toolCallId": message.get("toolCallId")}
            answer = self.fire("tool_result_persist", {"message": message, **told})
            # What a hook makes is stored under the same cap.
            message = cap_stored(answer["message"]) if "message" in answer else message
        answer = self.fire("before_message_write", {"message": message})
        return None if answer.get("block") else answer.get("message", message)

    def compaction(self, compactor: "Compactor", preparation: "Preparation", now_ms: int) -> "Compaction | None":
        """Returns the compaction, its summary by a hook or by the compactor's model; None when a hook cancels it.

        Raises Unavailable as `Compactor.run` does.
        """
        answer = self._before_compaction(compactor, preparation)
        if answer.get("cancel"):
            return None
        if "summary" not in answer:
            done = compactor.compaction(preparation, compactor.summary_of(preparation), now_ms)
        else:
            cut = _cut_at(preparation, answer["firstKeptEntryId"], compactor)
            made = compactor.compaction(cut, answer["summary"], now_ms, writer="hook")
            details = answer.get("details", made.entry["details"])
            done = replace(made, entry={**made.entry, "details": details, "fromHook": True})
        done.refuse_growth()
        return done

    def _before_compaction(self, compactor: "Compactor", preparation: "Preparation") -> Answer:
        if not self.listens("before_compaction"):
            return {}
        told = {
            "entries": _entries(preparation),
            "firstKeptEntryId": preparation.first_kept_entry_id,
            "tokensBefore": preparation.tokens_before,
            "messagesToSummarize": [*preparation.messages, *preparation.prefix_messages],
            "previousSummary": preparation.previous_summary,
            "customInstructions": compactor.instructions,
        }
        return self.fire("before_compaction", {name: value for name, value in told.items() if value is not None})


def _entries(preparation: "Preparation") -> list[dict[str, Any]]:
    return [*preparation.summarised, *preparation.prefix, *preparation.kept]


def _cut_at(preparation: "Preparation", first_kept: str, compactor: "Compactor") -> "Preparation":
    """Returns the preparation with another first kept entry, one of its entries."""
    if first_kept == preparation.first_kept_entry_id:
        return preparation
    from oc.compaction.prepare import messages_of

    entries = _entries(preparation)
    at = next(place for place, entry in enumerate(entries) if entry.get("id") == first_kept)
    return preparation._replace(
        first_kept_entry_id=first_kept,
        summarised=tuple(entries[:at]),
        prefix=(),
        kept=tuple(entries[at:]),
        is_split_turn=False,
        counted_kept=total_tokens(messages_of(entries[at:]), compactor.counter),
    )


def tell_new(opened: "Opened", hooked: Hooked, reason: str | None = None) -> None:
    """Tells the hooks of a session that was just made; `reason`: new, stale or reset."""
    if not opened.is_new:
        return
    why = reason or ("new" if opened.previous is None else "stale")
    payload = {"sessionId": opened.ref.session_id, "sessionFile": opened.ref.path, "reason": why}
    previous = {"previousSessionFile": opened.archived[0]} if opened.archived else {}
    hooked.fire("session_new", {**payload, **previous})
