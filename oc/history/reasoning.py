"""OpenAI's Responses API takes a reasoning item only before what it led to, and a call's item only after it. Pure.

Behaviour follows OpenClaw 2026.3.13, downgradeOpenAIReasoningBlocks and downgradeOpenAIFunctionCallReasoningPairs
(table: context-turns, reasoning-* and fc-*).
"""

from collections.abc import Sequence
from typing import Any

from oc.base.jsonl import parse
from oc.message.decision import Decision
from oc.message.shapes import CALL_TYPES, Message


def _is_thinking(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "thinking"


def is_reasoning(block: Any) -> bool:
    """Says whether a block is a reasoning item of OpenAI's that can be sent back: its signature is one, `rs_...`."""
    if not _is_thinking(block):
        return False
    signature = block.get("thinkingSignature")
    if isinstance(signature, str):
        text = signature.strip()
        if not (text.startswith("{") and text.endswith("}")):
            return False
        try:
            signature = parse(text)
        except ValueError:
            return False
    if not isinstance(signature, dict):
        return False
    item, kind = signature.get("id"), signature.get("type")
    return (
        isinstance(item, str)
        and item.startswith("rs_")
        and isinstance(kind, str)
        and (kind == "reasoning" or kind.startswith("reasoning."))
    )


def drop_trailing_reasoning(messages: Sequence[Message]) -> tuple[list[Message], list[Decision]]:
    """Returns the history without reasoning items that nothing but reasoning follows in their message."""
    out: list[Message] = []
    decisions: list[Decision] = []
    for message in messages:
        content = message.get("content")
        if message.get("role") != "assistant" or not isinstance(content, list):
            out.append(message)
            continue
        last = max((i for i, b in enumerate(content) if isinstance(b, dict) and not _is_thinking(b)), default=-1)
        kept = [block for i, block in enumerate(content) if i < last or not is_reasoning(block)]
        if len(kept) == len(content):
            out.append(message)
            continue
        after = {**message, "content": kept} if kept else None
        decisions.append(Decision("change" if after else "drop", "reasoning-without-follower", message, after))
        if after is not None:
            out.append(after)
    return out, decisions


def drop_lone_item_ids(messages: Sequence[Message]) -> tuple[list[Message], list[Decision]]:
    """Returns the history where a call `call|fc_item` that no reasoning item precedes is called `call`.

    Its results, up to the next message of another kind, are renamed along.
    """
    out: list[Message] = []
    decisions: list[Decision] = []
    renamed: dict[str, str] = {}
    for message in messages:
        role = message.get("role")
        new = message
        if role == "assistant":
            renamed = {}
            new = _without_items(message, renamed)
        elif role == "toolResult":
            changed = {
                k: renamed[v]
                for k in ("toolCallId", "toolUseId")
                if isinstance(v := message.get(k), str) and v in renamed
            }
            new = {**message, **changed} if changed else message
        else:
            renamed = {}
        if new is not message:
            decisions.append(Decision("change", "item-without-reasoning", message, new))
        out.append(new)
    return out, decisions


def _without_items(message: Message, renamed: dict[str, str]) -> Message:
    content = message.get("content")
    if not isinstance(content, list):
        return message
    seen = False
    blocks = []
    for block in content:
        seen = seen or is_reasoning(block)
        short = None if seen else _call_part(block)
        if short is not None:
            renamed[block["id"]] = short
            blocks.append({**block, "id": short})
        else:
            blocks.append(block)
    return {**message, "content": blocks} if renamed else message


def _call_part(block: Any) -> str | None:
    if not isinstance(block, dict) or block.get("type") not in CALL_TYPES or not isinstance(block.get("id"), str):
        return None
    call, bar, item = block["id"].partition("|")
    return call if call and bar and item.startswith("fc_") else None
