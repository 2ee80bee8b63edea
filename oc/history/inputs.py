"""Tool calls that can be sent: with arguments, an id and a name that providers take. Pure.

Behaviour follows OpenClaw 2026.3.13, repairToolCallInputs (tables: context-tool-inputs, sessions-repair); what failed
and aborted turns left half-written is dropped by `without_half_written`, which is ours.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from oc.base.text import js_trim
from oc.message.decision import Decision
from oc.message.pairs import UNFINISHED
from oc.message.shapes import CALL_TYPES, Block, Message, call_name, calls, result_id

_NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_MAX_NAME_CHARS = 64
_SPAWN = "sessions_spawn"
REDACTED = "__OPENCLAW_REDACTED__"


def sendable_calls(
    messages: Sequence[Message], allowed: Iterable[str] | None = None
) -> tuple[list[Message], list[Decision]]:
    """Returns the history without calls that lack arguments, id or a legal name, names trimmed.

    `allowed`: the only tool names that may stay, in any case; None, or nothing but blanks, allows all. A message all
    of whose blocks were such calls goes. What was handed to a spawned session as attachments is blanked out.
    """
    names = {js_trim(name).lower() for name in allowed or () if js_trim(name)}
    out: list[Message] = []
    decisions: list[Decision] = []
    for message in messages:
        new = _sendable(message, names, decisions)
        if new is not None:
            out.append(new)
    return out, decisions


def _sendable(message: Message, allowed: set[str], decisions: list[Decision]) -> Message | None:
    content = message.get("content")
    if not calls(message) or not isinstance(content, list):
        return message
    kept: list[Any] = []
    reasons: list[tuple[str, str, str | None]] = []
    for block in content:
        if not isinstance(block, dict) or block.get("type") not in CALL_TYPES:
            kept.append(block)
            continue
        fault = _fault(block, allowed)
        if fault is not None:
            reasons.append(("drop", fault, call_name(block)))
            continue
        new = _redacted(_trimmed(block))
        if new is not block:
            reasons.append(("change", "call-name" if new["name"] != block["name"] else "attachments", new["name"]))
        kept.append(new)
    if not reasons:
        return message
    after = {**message, "content": kept} if kept else None
    for action, rule, tool in reasons:
        decisions.append(Decision(action if after else "drop", rule, message, after, tool))
    return after


def _fault(call: Block, allowed: set[str]) -> str | None:
    """Returns why a call cannot be sent."""
    if call.get("arguments") is None and call.get("input") is None:
        return "no-arguments"
    call_id, name = call.get("id"), call.get("name")
    if not isinstance(call_id, str) or not js_trim(call_id):
        return "no-id"
    trimmed = js_trim(name) if isinstance(name, str) else ""
    if not trimmed or len(trimmed) > _MAX_NAME_CHARS or trimmed.strip(_NAME_CHARS):
        return "bad-name"
    return "not-allowed" if allowed and trimmed.lower() not in allowed else None


def _trimmed(call: Block) -> Block:
    name = js_trim(call["name"])
    return call if name == call["name"] else {**call, "name": name}


def _redacted(call: Block) -> Block:
    """Returns a call that spawns a session without the contents of its attachments."""
    if call["name"].lower() != _SPAWN:
        return call
    changed = {}
    for key in ("arguments", "input"):
        given = call.get(key)
        if not isinstance(given, dict):
            continue
        files = given.get("attachments")
        if isinstance(files, list) and any(
            isinstance(f, dict) and f.get("content", REDACTED) != REDACTED for f in files
        ):
            hidden = [{**f, "content": REDACTED} if isinstance(f, dict) and "content" in f else f for f in files]
            changed[key] = {**given, "attachments": hidden}
    return {**call, **changed} if changed else call


def without_half_written(messages: Sequence[Message]) -> tuple[list[Message], list[Decision]]:
    """Returns the history without the calls of failed and aborted messages, and without their results.

    Nobody knows whether such a call was whole, and most were never run. A message that says nothing beside them goes.
    """
    out: list[Message] = []
    decisions: list[Decision] = []
    dropped: set[str] = set()
    for message in messages:
        role = message.get("role")
        if role == "assistant":
            half = calls(message) if message.get("stopReason") in UNFINISHED else []
            dropped = {call["id"] for call in half if isinstance(call.get("id"), str)}
            new = _finished(message, half, decisions)
        elif role == "toolResult" and result_id(message) in dropped:
            new = None
            decisions.append(Decision("drop", "result-of-half-written-call", message, None))
        else:
            new = message
        if new is not None:
            out.append(new)
    return out, decisions


def _finished(message: Message, half: Sequence[Block], decisions: list[Decision]) -> Message | None:
    if message.get("stopReason") not in UNFINISHED:
        return message
    content = message.get("content")
    if not _says_something(content):
        decisions.append(Decision("drop", "unfinished-and-empty", message, None))
        return None
    if not half or not isinstance(content, list):
        return message
    dropped = {id(call) for call in half}
    after = {**message, "content": [block for block in content if id(block) not in dropped]}
    decisions += [Decision("change", "half-written-call", message, after, call_name(call)) for call in half]
    return after


def _says_something(content: Any) -> bool:
    if isinstance(content, str):
        return bool(js_trim(content))
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        if block.get("type") == "text":
            if isinstance(block.get("text"), str) and js_trim(block["text"]):
                return True
        elif block.get("type") not in (*CALL_TYPES, "thinking", "redacted_thinking"):
            return True
    return False
