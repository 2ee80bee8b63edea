"""Calls and their results: every call answered once, right behind the message that made it. Pure.

Behaviour follows OpenClaw 2026.3.13's session-transcript-repair (tables: context-tool-pairs, sessions-repair); that
ids are told apart first (`distinct`) is ours.
"""

from collections.abc import Sequence
from typing import NamedTuple

from oc.base.text import js_trim
from oc.message.decision import Decision
from oc.message.shapes import Block, Message, call_name, calls, result_id

MISSING_RESULT = (
    "[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair."
)
UNFINISHED = ("error", "aborted")


class Paired(NamedTuple):
    """`added` are the calls' results that had to be made up, also one that was suppressed as a duplicate.

    `changed` is what the reference counts as a change. Without one it hands back its input, a second result behind the
    first included; `messages` is the repaired list in any case.
    """

    messages: list[Message]
    decisions: list[Decision]
    added: list[Message]
    dropped_duplicates: int
    dropped_orphans: int
    changed: bool


def open_calls(message: Message) -> list[Block]:
    """Returns the calls that wait for a result: those with an id, none of a turn that failed or was broken off."""
    if message.get("stopReason") in UNFINISHED:
        return []
    return [call for call in calls(message) if call.get("id") and isinstance(call["id"], str)]


def missing_result(call_id: str, name: str | None, now_ms: int) -> Message:
    """Returns the error result that stands in for one that was never written."""
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": js_trim(name or "") or "unknown",
        "content": [{"type": "text", "text": MISSING_RESULT}],
        "isError": True,
        "timestamp": now_ms,
    }


def named(result: Message, call: str | None) -> Message:
    """Returns a result under the name that it has, else its call has, else `unknown`."""
    given = result.get("toolName")
    name = js_trim(given) if isinstance(given, str) else ""
    name = name or js_trim(call or "") or "unknown"
    return result if name == given else {**result, "toolName": name}


def span_end(messages: Sequence[Message], start: int) -> int:
    """Returns the index of the next assistant message after `start`, where its results can stand no longer."""
    end = start + 1
    while end < len(messages) and messages[end].get("role") != "assistant":
        end += 1
    return end


def pair(messages: Sequence[Message], *, now_ms: int) -> Paired:
    """Returns the history with each call's result, or an error result in its place, behind the call, in call order.

    Results without a call in the assistant message before them are dropped, and so are second ones; what else stood
    between a call and its result comes after it. Calls of failed or aborted messages are left alone. An id that two
    messages use leaves the second without a result, as in the reference: see `distinct`.
    """
    work = _Pairing(now_ms)
    index = 0
    while index < len(messages):
        message = messages[index]
        waiting = open_calls(message)
        if waiting:
            end = span_end(messages, index)
            work.span(message, waiting, messages[index + 1 : end])
            index = end
            continue
        if message.get("role") == "toolResult":
            work.drop_orphan(message)
        else:
            work.out.append(message)
        index += 1
    return work.result()


class _Pairing:
    """The output so far, and what was decided on the way."""

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.out: list[Message] = []
        self.decisions: list[Decision] = []
        self.added: list[Message] = []
        self.duplicates = 0
        self.orphans = 0
        self.changed = False
        self._answered: set[str] = set()

    def result(self) -> Paired:
        changed = self.changed or bool(self.added)
        return Paired(self.out, self.decisions, self.added, self.duplicates, self.orphans, changed)

    def drop_orphan(self, message: Message) -> None:
        self.orphans += 1
        self.changed = True
        self._drop(message, "orphan-result")

    def _drop(self, message: Message, rule: str) -> None:
        self.decisions.append(Decision("drop", rule, message, None))

    def span(self, assistant: Message, waiting: Sequence[Block], between: Sequence[Message]) -> None:
        """Puts the assistant message, its results in call order, then everything else that stood before the next."""
        if self._whole(waiting, between):
            self.out += (assistant, *between)
            return
        names = {call["id"]: call_name(call) for call in waiting}
        found: dict[str, Message] = {}
        remainder: list[Message] = []
        moved = set()
        for message in between:
            if message.get("role") != "toolResult":
                remainder.append(message)
                continue
            call_id = result_id(message)
            if call_id is None or call_id not in names:
                self.drop_orphan(message)
            elif call_id in self._answered:
                self._duplicate(message)
            elif call_id in found:
                self._drop(message, "duplicate-result")
            else:
                found[call_id] = self._named(message, names[call_id])
                if remainder:
                    moved.add(call_id)
        self.out.append(assistant)
        in_call_order = [call_id for call_id in names if call_id in found]
        moved |= {call_id for call_id, other in zip(found, in_call_order, strict=True) if call_id != other}
        for call in waiting:
            self._answer(assistant, call, found, moved)
        self.changed = self.changed or bool(found and remainder)
        self.out += remainder

    def _whole(self, waiting: Sequence[Block], between: Sequence[Message]) -> bool:
        """Says of most spans at once that nothing is wrong: named results of these calls, in order, and no more."""
        ids = [call["id"] for call in waiting]
        if ids != [message.get("toolCallId") for message in between] or not self._answered.isdisjoint(ids):
            return False
        if len(ids) > 1 and len(set(ids)) < len(ids):
            return False
        for message in between:
            name = message.get("toolName")
            if message.get("role") != "toolResult" or not isinstance(name, str) or not name or name != js_trim(name):
                return False
        self._answered.update(ids)
        return True

    def _answer(self, assistant: Message, call: Block, found: dict[str, Message], moved: set[str]) -> None:
        call_id = call["id"]
        result = found.get(call_id)
        if result is None:
            made = missing_result(call_id, call_name(call), self.now_ms)
            self.added.append(made)
            if call_id in self._answered:
                self.duplicates += 1
                return
            self.decisions.append(Decision("add", "missing-result", None, made, cause=assistant))
            result = made
        elif call_id in self._answered:
            # One message with the same id twice: the one result answers the first call.
            self.duplicates += 1
            self.changed = True
            return
        elif call_id in moved:
            self.decisions.append(Decision("move", "behind-its-call", result, result))
        self._answered.add(call_id)
        self.out.append(result)

    def _duplicate(self, message: Message) -> None:
        self.duplicates += 1
        self.changed = True
        self._drop(message, "duplicate-result")

    def _named(self, message: Message, call: str | None) -> Message:
        new = named(message, call)
        if new is not message:
            self.changed = True
            self.decisions.append(Decision("change", "tool-name", message, new))
        return new


class _Names:
    """Gives each call of a history an id of its own."""

    def __init__(self, taken: set[str], id_mode: str | None) -> None:
        self._taken = taken
        self._id_mode = id_mode
        self._used: set[str] = set()

    def of(self, call_id: str) -> str:
        """Returns the id as it is the first time; after that a new one of the allowed form."""
        name = call_id
        number = 2
        while name in self._used or (name != call_id and name in self._taken):
            name = renamed(call_id, number, self._id_mode)
            number += 1
        self._used.add(name)
        return name


def renamed(call_id: str, number: int, id_mode: str | None) -> str:
    """Returns the id for its `number`th use; both halves of `call|item` are told apart, within 40 characters if strict.

    Nine digits of a hash where the id must have nine.
    """
    if id_mode == "strict9":
        from hashlib import sha256

        return sha256(f"{call_id}x{number}".encode("utf-8", "surrogatepass")).hexdigest()[:9]
    suffix = f"x{number}"
    if id_mode == "strict":
        return call_id[: 40 - len(suffix)] + suffix
    return "|".join(part + suffix for part in call_id.split("|"))


def distinct(messages: Sequence[Message], id_mode: str | None = None) -> tuple[list[Message], list[Decision]]:
    """Returns the history with a new id for each call whose id an earlier call has, its results renamed along.

    Some models count their calls anew in every turn (`read:0`); paired by such ids, a later call would lose its
    result. `id_mode` is the form that ids must have: strict, strict9 or None for any.
    """
    waiting = [open_calls(message) for message in messages]
    ids = [call["id"] for found in waiting for call in found]
    if len(set(ids)) == len(ids):
        return list(messages), []
    names = _Names(set(ids), id_mode)
    out: list[Message] = []
    decisions: list[Decision] = []
    given: dict[str, list[str]] = {}
    for message, found in zip(messages, waiting, strict=True):
        new = message
        if message.get("role") == "assistant":
            given = {}
            for call in found:
                given.setdefault(call["id"], []).append(names.of(call["id"]))
            new = _renamed_calls(message, found, given)
        elif message.get("role") == "toolResult":
            new = _renamed_result(message, given)
        if new is not message:
            decisions.append(Decision("change", "id-used-before", message, new))
        out.append(new)
    return out, decisions


def _renamed_calls(message: Message, found: Sequence[Block], given: dict[str, list[str]]) -> Message:
    if all(call_id == name for call_id, names in given.items() for name in names):
        return message
    left = {call_id: iter(names) for call_id, names in given.items()}
    mine = {id(call) for call in found}
    content = [{**block, "id": next(left[block["id"]])} if id(block) in mine else block for block in message["content"]]
    return {**message, "content": content}


def _renamed_result(message: Message, given: dict[str, list[str]]) -> Message:
    """Returns the nth result of an id under the name of the nth call of that id; more results share the last name."""
    call_id = result_id(message)
    names = given.get(call_id or "")
    if not names:
        return message
    name = names.pop(0) if len(names) > 1 else names[0]
    if name == call_id:
        return message
    return {**message, **{key: name for key in ("toolCallId", "toolUseId") if message.get(key) == call_id}}
