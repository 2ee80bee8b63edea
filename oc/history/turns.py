"""The order of turns: neighbours of one role become one message, a history starts with the user. Pure.

Behaviour follows OpenClaw 2026.3.13, validateGeminiTurns, validateAnthropicTurns and sanitizeGoogleTurnOrdering
(table: context-turns), except that string contents are kept, as text blocks (design D24).
"""

from collections.abc import Callable, Sequence
from typing import Any

from oc.base.text import js_trim
from oc.message.decision import Decision
from oc.message.pairs import UNFINISHED, open_calls
from oc.message.shapes import Message, blocks, calls

BOOTSTRAP = "(session bootstrap)"
OMITTED_CALLS = "[tool calls omitted]"


def merge_assistants(messages: Sequence[Message]) -> tuple[list[Message], list[Decision]]:
    """Returns the history with neighbouring assistant messages as one: fields of the first, ending of the last."""
    return _merged(messages, "assistant", _join_assistants)


def merge_users(messages: Sequence[Message]) -> tuple[list[Message], list[Decision]]:
    """Returns the history with neighbouring user messages as one, in the fields of the last.

    Calls of the block type `toolUse` that the user message behind them does not answer are dropped first.
    """
    answered, decisions = _without_dangling(messages)
    merged, more = _merged(answered, "user", _join_users)
    return merged, decisions + more


def _merged(
    messages: Sequence[Message], role: str, join: Callable[[Message, Message], Message]
) -> tuple[list[Message], list[Decision]]:
    out: list[Message] = []
    decisions: list[Decision] = []
    for message in messages:
        if out and message.get("role") == role == out[-1].get("role"):
            first = out[-1]
            joined = join(first, message)
            decisions += [
                Decision("change", "merged-with-next", first, joined),
                Decision("merge", "merged-into-previous", message, joined),
            ]
            out[-1] = joined
        else:
            out.append(message)
    return out, decisions


def _content(message: Message) -> list[Any]:
    """Returns the content as a list of blocks, a string as one text block."""
    content = message.get("content")
    if isinstance(content, list):
        return content
    return list(blocks(message)) if content else []


def _join_assistants(first: Message, second: Message) -> Message:
    ending = {key: second[key] for key in ("usage", "stopReason", "errorMessage") if second.get(key) is not None}
    joined = {**first, "content": [*_content(first), *_content(second)], **ending}
    if "stopReason" not in ending and first.get("stopReason") in UNFINISHED and open_calls(second):
        # The calls are whole: the ending of what was said before them must not make them look half-written.
        del joined["stopReason"]
    return joined


def _join_users(first: Message, second: Message) -> Message:
    joined = {**second, "content": [*_content(first), *_content(second)]}
    if second.get("timestamp") is None and first.get("timestamp") is not None:
        joined["timestamp"] = first["timestamp"]
    return joined


def _without_dangling(messages: Sequence[Message]) -> tuple[list[Message], list[Decision]]:
    out: list[Message] = []
    decisions: list[Decision] = []
    for index, message in enumerate(messages):
        new = message
        if message.get("role") == "assistant" and isinstance(message.get("content"), list):
            follower = messages[index + 1] if index + 1 < len(messages) else {}
            if follower.get("role") == "user" and calls(message):
                new = _answered(message, follower)
        if new is not message:
            decisions.append(Decision("change", "call-without-result", message, new))
        out.append(new)
    return out, decisions


def _answered(message: Message, user: Message) -> Message:
    answers = [block.get("toolUseId") for block in blocks(user) if block.get("type") == "toolResult"]
    content = message["content"]
    kept = [
        block
        for block in content
        if not (isinstance(block, dict) and block.get("type") == "toolUse" and block.get("id") not in answers)
    ]
    if len(kept) == len(content):
        return message
    return {**message, "content": kept or [{"type": "text", "text": OMITTED_CALLS}]}


def start_with_user(messages: Sequence[Message], *, now_ms: int) -> tuple[list[Message], list[Decision]]:
    """Returns the history with a user message before an assistant message that it would start with."""
    if not messages or messages[0].get("role") != "assistant":
        return list(messages), []
    made = {"role": "user", "content": BOOTSTRAP, "timestamp": now_ms}
    return [made, *messages], [Decision("add", "user-first", None, made, cause=messages[0])]


def is_bootstrap(message: Message) -> bool:
    content = message.get("content")
    return message.get("role") == "user" and isinstance(content, str) and js_trim(content) == BOOTSTRAP
