"""What a message is made of: text, images, tool calls; strings and block lists read alike.

Messages are the dicts of the file, camelCase keys included; nothing here changes one.
"""

from collections.abc import Iterator

from oc.base.typed import Any

Message = dict[str, Any]
Block = dict[str, Any]
# Tuples: in a set, a type or role that is a list or an object would be an error instead of only another one.
CALL_TYPES = ("toolCall", "toolUse", "functionCall")
DERIVED_ROLES = ("custom", "branchSummary", "compactionSummary")
ROLES = ("user", "assistant", "toolResult", "bashExecution", *DERIVED_ROLES)


def blocks(message: Message) -> Iterator[Block]:
    """Yields the content blocks; a string is one text block (older writers and excerpts have strings)."""
    content = message.get("content")
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))


def texts(message: Message) -> list[str]:
    """Returns the texts of the text blocks, in order."""
    return [b["text"] for b in blocks(message) if b.get("type") == "text" and isinstance(b.get("text"), str)]


def text(message: Message, joiner: str = "\n") -> str:
    return joiner.join(texts(message))


def calls(message: Message) -> list[Block]:
    """Returns the tool call blocks of an assistant message, the foreign block types included."""
    content = message.get("content")
    if message.get("role") != "assistant" or not isinstance(content, list):
        return []
    return [b for b in content if isinstance(b, dict) and b.get("type") in CALL_TYPES]


def call_arguments(call: Block) -> Any:
    """Returns the arguments, under whichever key the writer used."""
    return call["arguments"] if call.get("arguments") is not None else call.get("input")


def call_name(call: Block) -> str | None:
    name = call.get("name")
    return name if isinstance(name, str) else None


def result_id(message: Message) -> str | None:
    """Returns the id of the call that a tool result answers."""
    for key in ("toolCallId", "toolUseId"):
        value = message.get(key)
        if isinstance(value, str) and value:
            return value
    return None


def image_count(message: Message) -> int:
    return sum(1 for b in blocks(message) if b.get("type") == "image")
