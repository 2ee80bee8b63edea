"""Where a user message came from: noted when it is stored, told to the model when another session sent it. Pure.

Behaviour follows OpenClaw 2026.3.13, input-provenance (table: sessions-guard) and annotateInterSessionUserMessages
(table: context-turns, prov-*).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from oc.base.text import js_trim
from oc.message.decision import Decision
from oc.message.shapes import Message

MARKER = "[Inter-session message]"
KINDS = ("external_user", "inter_session", "internal_system")
_NOTED = ("originSessionId", "sourceSessionKey", "sourceChannel", "sourceTool")
_FIELDS = (("sourceSession", "sourceSessionKey"), ("sourceChannel", "sourceChannel"), ("sourceTool", "sourceTool"))


def provenance(value: Any) -> dict[str, str] | None:
    """Returns a provenance with its known fields trimmed and blank ones left out; None for what is none."""
    if not isinstance(value, Mapping) or value.get("kind") not in KINDS:
        return None
    noted = {key: js_trim(value[key]) for key in _NOTED if isinstance(value.get(key), str)}
    return {"kind": value["kind"], **{key: text for key, text in noted.items() if text}}


def stamped(message: Message, source: Mapping[str, Any] | None) -> Message:
    """Returns a user message with where it came from, unless it says so itself; other messages as they are."""
    known = provenance(source)
    if known is None or message.get("role") != "user" or provenance(message.get("provenance")) is not None:
        return message
    return {**message, "provenance": known}


def mark_inter_session(messages: Sequence[Message]) -> tuple[list[Message], list[Decision]]:
    """Returns the history with a marker line before the text of each user message that came from another session.

    A message that has its marker already, in whichever of its texts, stays as it is: merged turns hold it further on.
    """
    out: list[Message] = []
    decisions: list[Decision] = []
    for message in messages:
        prefix = _prefix(message)
        new = message if prefix is None else _marked(message, prefix)
        if new is not message:
            decisions.append(Decision("change", "inter-session", message, new))
        out.append(new)
    return out, decisions


def _prefix(message: Message) -> str | None:
    source = message.get("provenance")
    if message.get("role") != "user" or not isinstance(source, dict) or source.get("kind") != "inter_session":
        return None
    named = [(shown, source.get(key)) for shown, key in _FIELDS]
    facts = [f"{shown}={js_trim(value)}" for shown, value in named if isinstance(value, str) and js_trim(value)]
    return " ".join([MARKER, *facts])


def _marked(message: Message, prefix: str) -> Message:
    content = message.get("content")
    if isinstance(content, str):
        return message if content.startswith(prefix) else {**message, "content": f"{prefix}\n{content}"}
    if not isinstance(content, list):
        return message
    texts = [index for index, block in enumerate(content) if _is_text(block)]
    if any(content[index]["text"].startswith(prefix) for index in texts):
        return message
    if not texts:
        return {**message, "content": [{"type": "text", "text": prefix}, *content]}
    first = texts[0]
    block = {**content[first], "text": f"{prefix}\n{content[first]['text']}"}
    return {**message, "content": [*content[:first], block, *content[first + 1 :]]}


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
