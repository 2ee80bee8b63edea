"""What is stored of messages that are appended: the rules of oc.history.guarded, with the session's hooks and model."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from oc.agent.choice import choose_model
from oc.agent.hooked import Hooked
from oc.base.clock import iso
from oc.cli.app import App
from oc.history.guarded import Pending, Rules, guarded, waiting
from oc.history.policy import policy, resolve
from oc.message.derived import from_entry
from oc.message.shapes import Message
from oc.session.backward import read_ending
from oc.session.entry import Entry
from oc.session.find import SessionRef
from oc.session.transcript import open_file, read_stream
from oc.session.tree import leaf_path


class End(NamedTuple):
    """The leaf of a transcript, and the calls that wait for their results there."""

    leaf_id: str | None
    pending: Pending


def end_of(path: str) -> End:
    """Returns the end of a transcript, read no further back than the last message that is no result."""
    with open_file(path) as file:
        ending = read_ending(file, path, until=_ends_wait)
        found = read_stream(file, path) if ending is None else ending.transcript
    branch = leaf_path(found.entries)
    messages = [message for entry in branch if (message := from_entry(entry)) is not None]
    return End(found.leaf_id, waiting(messages))


def _ends_wait(entry: Entry) -> bool:
    message = from_entry(entry)
    return message is not None and message.get("role") != "toolResult"


def rules_for(app: App, ref: SessionRef, source: Mapping[str, str] | None) -> Rules:
    """Returns the rules of a session: what its model's provider allows, and what its hooks want."""
    choice = choose_model(None, ref.row, app.config)
    hooked = Hooked(app.hooks, ref)

    def on_result(message: Message, synthetic: bool) -> Message:
        told = {"toolName": message.get("toolName"), "toolCallId": message.get("toolCallId"), "isSynthetic": synthetic}
        changed: Message = hooked.fire("tool_result_persist", {"message": message, **told}).get("message", message)
        return changed

    def on_write(message: Message) -> Message | None:
        answer = hooked.fire("before_message_write", {"message": message})
        return None if answer.get("block") else answer.get("message", message)

    return Rules(
        synthetic=policy(resolve(model=choice.model)).synthetic_results,
        source=source,
        on_result=on_result if hooked.listens("tool_result_persist") else None,
        on_write=on_write if hooked.listens("before_message_write") else None,
    )


def to_store(app: App, entries: Sequence[Entry], pending: Pending, rules: Rules, now_ms: int) -> list[Entry]:
    """Returns the entries as they are stored, results that are made up among them; says what was changed."""
    found: list[Entry] = []
    for entry in entries:
        message = entry.get("message")
        if entry.get("type") != "message" or not isinstance(message, dict):
            found.append(entry)
            continue
        done = guarded([message], pending, rules, now_ms=now_ms)
        pending = done.pending
        for stored in done.messages:
            made_up = stored.get("role") == "toolResult" and message.get("role") != "toolResult"
            found.append(_made_up(stored, now_ms) if made_up else _with(entry, message, stored))
        for decision in done.decisions:
            if decision.rule != "provenance":
                tool = f" of {decision.tool}" if decision.tool else ""
                app.out.say(f"oc: {decision.action}: {decision.rule}{tool}")
    return found


def _made_up(message: Message, now_ms: int) -> Entry:
    return {"type": "message", "timestamp": iso(now_ms), "message": message}


def _with(entry: Entry, old: Message, new: Message) -> Entry:
    return entry if new is old else {**entry, "message": new}


def provenance(session: Mapping[str, Any], channel: str | None, tool: str | None) -> dict[str, str]:
    """Returns where messages come from: another session, over a channel, by a tool."""
    named = {**session, "sourceChannel": channel, "sourceTool": tool}
    return {"kind": "inter_session", **{name: value for name, value in named.items() if value}}
