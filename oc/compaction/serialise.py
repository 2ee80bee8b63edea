"""A conversation as one text for a summariser. Pure.

Behaviour follows Pi 0.58's serializeConversation (table: tests/vectors/sessions-serialize.json).
"""

from collections.abc import Iterable, Iterator
from typing import Any

from oc.base.jsonl import js_text
from oc.base.text import cut16, len16
from oc.message.derived import for_model
from oc.message.shapes import Message, blocks, call_arguments, calls, text

MAX_RESULT_CHARS = 2000


def serialise(messages: Iterable[Message]) -> str:
    """Returns what was said and done, a paragraph per role and message; tool results are cut to 2,000 chars."""
    return "\n\n".join(part for message in for_model(messages) for part in _parts(message))


def _parts(message: Message) -> Iterator[str]:
    role = message.get("role")
    if role == "user":
        said = text(message, "")
        if said:
            yield f"[User]: {said}"
    elif role == "assistant":
        thought = [str(b.get("thinking") or "") for b in blocks(message) if b.get("type") == "thinking"]
        if thought:
            yield "[Assistant thinking]: " + "\n".join(thought)
        said = text(message)
        if said:
            yield f"[Assistant]: {said}"
        made = [f"{call.get('name')}({_arguments(call_arguments(call))})" for call in calls(message)]
        if made:
            yield "[Assistant tool calls]: " + "; ".join(made)
    elif role == "toolResult":
        shown = _cut(text(message, ""))
        if shown:
            yield f"[Tool result]: {shown}"


def _arguments(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return "" if arguments is None else js_text(arguments)
    return ", ".join(f"{name}={js_text(value)}" for name, value in arguments.items())


def _cut(result: str) -> str:
    size = len16(result)
    if size <= MAX_RESULT_CHARS:
        return result
    head = cut16(result, MAX_RESULT_CHARS)
    return f"{head}\n\n[... {size - len16(head)} more characters truncated]"
