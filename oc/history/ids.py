"""Tool call ids in the form that a provider takes, the same for a call and its result. Pure.

Behaviour follows OpenClaw 2026.3.13, tool-call-id.ts (table: context-tool-ids).
"""

from collections.abc import Sequence

from oc.message.decision import Decision
from oc.message.shapes import CALL_TYPES, Block, Message

_KEPT = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
STRICT_CHARS = 40
STRICT9_CHARS = 9


def _hash(text: str, digits: int) -> str:
    from hashlib import sha256

    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def legal_id(call_id: str, mode: str) -> str:
    """Returns the id in the form of the mode, without regard to others; strict ids are not cut here."""
    kept = "".join(filter(_KEPT.__contains__, call_id))
    if mode == "strict9":
        if not call_id:
            return "defaultid"
        return kept[:STRICT9_CHARS] if len(kept) >= STRICT9_CHARS else _hash(kept or "sanitized", STRICT9_CHARS)
    return kept or ("sanitizedtoolid" if call_id else "defaulttoolid")


class _Ids:
    """Maps each id of a history to a legal one that no other id has."""

    def __init__(self, mode: str) -> None:
        self._mode = mode
        self._known: dict[str, str] = {}
        self._used: set[str] = set()

    def of(self, call_id: str) -> str:
        if call_id not in self._known:
            unique = self._unique9(call_id) if self._mode == "strict9" else self._unique(call_id)
            self._known[call_id] = unique
            self._used.add(unique)
        return self._known[call_id]

    def _unique(self, call_id: str) -> str:
        base = legal_id(call_id, self._mode)[:STRICT_CHARS]
        if base not in self._used:
            return base
        hashed = _hash(call_id, 8)
        candidate = base[: STRICT_CHARS - len(hashed)] + hashed
        tried, number = candidate, 2
        while tried in self._used:
            suffix = f"x{number}"
            tried = candidate[: STRICT_CHARS - len(suffix)] + suffix
            number += 1
        return tried

    def _unique9(self, call_id: str) -> str:
        tried, number = legal_id(call_id, self._mode), 0
        while tried in self._used:
            tried = _hash(f"{call_id}:{number}", STRICT9_CHARS)
            number += 1
        return tried


def rewrite_ids(messages: Sequence[Message], mode: str) -> tuple[list[Message], list[Decision]]:
    """Returns the history with every call id, and the id of every result, in the form of the mode.

    One id becomes one id wherever it stands; two ids never become one.
    """
    ids = _Ids(mode)
    out: list[Message] = []
    decisions: list[Decision] = []
    for message in messages:
        new = _rewritten(message, ids)
        if new is not message:
            decisions.append(Decision("change", f"{mode}-id", message, new))
        out.append(new)
    return out, decisions


def _rewritten(message: Message, ids: _Ids) -> Message:
    role = message.get("role")
    if role == "toolResult":
        changed = {
            key: new
            for key in ("toolCallId", "toolUseId")
            if isinstance(old := message.get(key), str) and old and (new := ids.of(old)) != old
        }
        return {**message, **changed} if changed else message
    content = message.get("content")
    if role != "assistant" or not isinstance(content, list):
        return message
    blocks = [_rewritten_block(block, ids) for block in content]
    return message if all(map(_same, blocks, content)) else {**message, "content": blocks}


def _rewritten_block(block: Block, ids: _Ids) -> Block:
    if not isinstance(block, dict) or block.get("type") not in CALL_TYPES:
        return block
    old = block.get("id")
    if not isinstance(old, str) or not old:
        return block
    new = ids.of(old)
    return block if new == old else {**block, "id": new}


def _same(one: object, other: object) -> bool:
    return one is other
