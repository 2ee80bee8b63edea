"""Between the transcript's messages and llm's: plain dicts on both sides, so nothing here imports llm.

llm's `Message.from_dict` takes what `wire_messages` makes; `blocks_of` takes llm's stream events.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from oc.message.shapes import Block, Message, blocks, call_arguments, calls, result_id, text

Wire = dict[str, Any]
# How a provider says that it ended of its own accord; anything else, or nothing at all, is no whole answer.
NORMAL_ENDS = frozenset({"stop", "end_turn", "tool_calls", "tool_use"})
_SAME_AS = {
    "completed": "stop",
    "function_call": "tool_calls",
    "max_output_tokens": "length",
    "max_tokens": "length",
    "stop_sequence": "stop",
}


class Speaker(NamedTuple):
    """Who wrote an assistant message; signatures of its reasoning mean nothing to anybody else."""

    api: str
    provider: str
    model: str


def wire_messages(
    system: str, messages: Iterable[Message], speaker: Speaker, image_types: Collection[str] = ()
) -> list[Wire]:
    """Returns the request as llm messages, the system prompt first: llm ignores `system=` beside `messages=`.

    Results of neighbouring tool messages share one message, as parallel calls need it. Images of a kind that the
    model does not take are named in text.
    """
    shown: list[Wire] = [_wire("system", [_text(system)])] if system else []
    for message in messages:
        role = message.get("role")
        if role == "toolResult":
            part = _result(message, image_types)
            if shown and shown[-1]["role"] == "tool":
                shown[-1]["parts"].append(part)
            else:
                shown.append(_wire("tool", [part]))
            continue
        parts = list(_spoken(message, speaker) if role == "assistant" else _said(message, image_types))
        _keep_apart(parts, "\n" if role == "assistant" else "\n\n")
        if parts:
            shown.append(_wire(str(role), parts))
    return shown


def _keep_apart(parts: list[Wire], between: str) -> None:
    """Ends every text but the last with a separator: llm's OpenAI plugin joins them without any."""
    texts = [part for part in parts if part["type"] == "text" and "provider_metadata" not in part]
    for part in texts[:-1]:
        part["text"] += between


def _wire(role: str, parts: list[Wire]) -> Wire:
    return {"role": role, "parts": parts}


def _text(value: str) -> Wire:
    return {"type": "text", "text": value}


def _said(message: Message, image_types: Collection[str]) -> Iterator[Wire]:
    for block in blocks(message):
        if block.get("type") == "text" and block.get("text"):
            yield _text(str(block["text"]))
        elif block.get("type") == "image":
            yield _image(block, image_types)


def _image(block: Block, image_types: Collection[str]) -> Wire:
    kind, content = str(block.get("mimeType") or ""), block.get("data")
    if kind in image_types and isinstance(content, str) and content:
        return {"type": "attachment", "attachment": {"type": kind, "content": content}}
    return _text(f"[an image ({kind or 'unknown type'}) stood here; this model takes none]")


def _spoken(message: Message, speaker: Speaker) -> Iterator[Wire]:
    own = speaker == Speaker(*(str(message.get(key) or "") for key in Speaker._fields))
    for block in blocks(message):
        kind = block.get("type")
        metadata = block.get("providerMetadata") if own else None
        extra = {"provider_metadata": metadata} if isinstance(metadata, dict) else {}
        if kind == "text" and block.get("text"):
            yield _text(str(block["text"])) | extra
        elif kind == "thinking" and own and (block.get("thinking") or extra):
            yield {"type": "reasoning", "text": str(block.get("thinking") or "")} | extra
        elif block in calls(message):
            arguments = call_arguments(block)
            call = {"type": "tool_call", "name": str(block.get("name") or ""), "tool_call_id": block.get("id")}
            yield call | {"arguments": arguments if isinstance(arguments, dict) else {}} | extra


def _result(message: Message, image_types: Collection[str]) -> Wire:
    images = [_image(block, image_types) for block in blocks(message) if block.get("type") == "image"]
    said = [text(message), *(image["text"] for image in images if image["type"] == "text")]
    result: Wire = {
        "type": "tool_result",
        "name": str(message.get("toolName") or ""),
        "output": "\n".join(filter(None, said)),
        "tool_call_id": result_id(message),
    }
    attachments = [image["attachment"] for image in images if image["type"] == "attachment"]
    if attachments:
        result["attachments"] = attachments
    if message.get("isError"):
        result["exception"] = "error"
    return result


def from_wire(messages: Iterable[Wire]) -> tuple[str, list[Message]]:
    """Returns the system prompt and the messages of an llm conversation; what has no text and no call is left out."""
    system: list[str] = []
    found: list[Message] = []
    for message in messages:
        role, parts = message["role"], message["parts"]
        said = [{"type": "text", "text": part["text"]} for part in parts if part["type"] == "text"]
        if role == "system":
            system += [block["text"] for block in said]
            continue
        called = [
            {"type": "toolCall", "id": part.get("tool_call_id"), "name": part["name"], "arguments": part["arguments"]}
            for part in parts
            if part["type"] == "tool_call"
        ]
        if said or called:
            found.append({"role": role, "content": said + called})
        found += [_returned(part) for part in parts if part["type"] == "tool_result"]
    return "\n".join(system), found


def _returned(part: Wire) -> Message:
    return {
        "role": "toolResult",
        "toolCallId": part.get("tool_call_id"),
        "toolName": part["name"],
        "content": [{"type": "text", "text": part["output"]}],
        "isError": bool(part.get("exception")),
    }


def flat_text(messages: Iterable[Message]) -> str:
    """Returns a conversation as one text, for models that know nothing of earlier turns."""
    names = {"user": "User", "assistant": "Assistant", "toolResult": "Tool result"}
    told = []
    for message in messages:
        role = str(message.get("role"))
        said = text(message)
        for call in calls(message):
            arguments = json.dumps(call_arguments(call), ensure_ascii=False)
            said = f"{said}\n[calls {call.get('name')}({arguments})]".strip()
        if said:
            told.append((role, said))
    if [role for role, _ in told] == ["user"]:
        return told[0][1]
    return "\n\n".join(f"{names.get(role, role)}: {said}" for role, said in told)


def blocks_of(events: Sequence[Any], new_id: Callable[[], str], *, whole: bool) -> list[Block]:
    """Returns the content blocks that a stream's events amount to, in order of first appearance.

    Not `whole` (broken off): tool calls are left out, since half of one must never be run. Arguments that are no
    JSON object come as `{"_raw": text}`, which no tool takes.
    """
    groups: dict[Any, list[Any]] = {}
    for event in events:
        if not event.server_executed and event.type != "tool_result":
            groups.setdefault(event.part_index, []).append(event)
    found = [_block(group, new_id) for group in groups.values()]
    return [block for block in found if block and (whole or block["type"] != "toolCall")]


def _block(events: list[Any], new_id: Callable[[], str]) -> Block | None:
    kind = events[0].type
    metadata: dict[str, Any] = {}
    for event in events:
        metadata.update(event.provider_metadata or {})
    extra = {"providerMetadata": metadata} if metadata else {}
    if kind.startswith("tool_call"):
        name = "".join(e.chunk for e in events if e.type == "tool_call_name")
        raw = "".join(e.chunk for e in events if e.type == "tool_call_args")
        call_id = next((e.tool_call_id for e in events if e.tool_call_id), None) or new_id()
        return {"type": "toolCall", "id": call_id, "name": name, "arguments": _arguments(raw)} | extra
    said = "".join(event.chunk for event in events)
    if kind == "reasoning":
        return {"type": "thinking", "thinking": said} | extra if said or extra else None
    return {"type": "text", "text": said} | extra if said else None


def _arguments(raw: str) -> dict[str, Any]:
    try:
        value = json.loads(raw) if raw.strip() else {}
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"_raw": raw}


def finish_of(response: Any) -> str | None:
    """Returns the provider's word for why it stopped, from the raw response that llm keeps; None when there is none.

    Looks where OpenAI (both APIs), Anthropic, Gemini and Ollama put it.
    """
    if not isinstance(response, dict):
        return None
    listed = [*_dicts(response.get("choices")), *_dicts(response.get("candidates"))]
    found: Any = None
    for holder in (response, *listed):
        details = holder.get("incomplete_details")
        found = details.get("reason") if isinstance(details, dict) else None
        for key in ("finish_reason", "stop_reason", "finishReason", "done_reason", "status"):
            found = found or holder.get(key)
        if found:
            break
    return _SAME_AS.get(str(found).lower(), str(found).lower()) if found else None


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def usage_of(input_tokens: int | None, output_tokens: int | None, details: Any) -> dict[str, Any] | None:
    """Returns usage in the transcript's shape; None when the provider reported none.

    OpenAI counts cached tokens into its input, Anthropic beside it; the transcript has them beside it.
    """
    if input_tokens is None and output_tokens is None:
        return None
    details = details if isinstance(details, dict) else {}
    inside = 0
    for key in ("prompt_tokens_details", "input_tokens_details"):
        part = details.get(key)
        inside = inside or (part.get("cached_tokens") or 0 if isinstance(part, dict) else 0)
    read = inside or details.get("cache_read_input_tokens") or 0
    write = details.get("cache_creation_input_tokens") or 0
    return usage(max(0, (input_tokens or 0) - inside), output_tokens or 0, read, write)


def usage(input_tokens: int, output_tokens: int, cache_read: int = 0, cache_write: int = 0) -> dict[str, Any]:
    """Returns the usage record of an assistant message; `oc` knows no prices, so every cost is 0."""
    return {
        "input": input_tokens,
        "output": output_tokens,
        "cacheRead": cache_read,
        "cacheWrite": cache_write,
        "totalTokens": input_tokens + output_tokens + cache_read + cache_write,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
    }
