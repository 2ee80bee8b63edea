"""The events at which hooks run: what goes in, what may come out, how several answers become one. Pure.

Merging at `before_prompt_build` and `before_agent_start` follows openclaw 2026.3.13 (table:
tests/vectors/context-hooks.json); the shapes are described in oc-formats(5). null means the same as an absent field.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from oc.base.text import js_trim
from oc.errors import BadInput
from oc.message.shapes import result_id

Payload = Mapping[str, Any]
Answer = dict[str, Any]
# Says what is wrong with a value, "" when nothing is; the payload is there to compare with.
Check = Callable[[Any, Payload], str]


class Event(NamedTuple):
    """`takes`: fields of every payload; `answers`: fields that may come out; both with their checks.

    `merge` gets the payload, the result so far and a checked answer, and raises BadInput when they do not go together.
    A field of `chained` is answered to the next hook as the last one left it; a field of `ends` is the last word.
    """

    takes: Mapping[str, Check]
    answers: Mapping[str, Check]
    merge: Callable[[Payload, Answer, Answer], Answer]
    chained: str = ""
    ends: str = ""


def _text(value: Any, _: Payload) -> str:
    return "" if isinstance(value, str) else "must be a string"


def _filled(value: Any, _: Payload) -> str:
    return "" if isinstance(value, str) and js_trim(value) else "must be a string that is not blank"


def _flag(value: Any, _: Payload) -> str:
    return "" if isinstance(value, bool) else "must be true or false"


def _count(value: Any, _: Payload) -> str:
    return "" if isinstance(value, int) and not isinstance(value, bool) else "must be a whole number"


def _object(value: Any, _: Payload) -> str:
    return "" if isinstance(value, dict) else "must be an object"


def _objects(value: Any, _: Payload) -> str:
    return "" if isinstance(value, list) and all(isinstance(v, dict) for v in value) else "must be a list of objects"


def _message(value: Any, _: Payload) -> str:
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        return "must be a message, an object with a role"
    content = value.get("content")
    if isinstance(content, list):
        return "" if all(isinstance(block, dict) for block in content) else "must have objects for content blocks"
    return "" if content is None or isinstance(content, str) else "must have a string or a list for content"


def _messages(value: Any, payload: Payload) -> str:
    if not isinstance(value, list):
        return "must be a list of messages"
    return next((f"[{at}] {wrong}" for at, item in enumerate(value) if (wrong := _message(item, payload))), "")


def _replacement(value: Any, payload: Payload) -> str:
    """A message of another role, or the answer to another call, would break the history around it."""
    wrong = _message(value, payload)
    if wrong:
        return wrong
    old = payload["message"]
    if value["role"] != old.get("role"):
        return f"must keep the role {old.get('role')!r}"
    return "" if result_id(value) == result_id(old) else "must keep the toolCallId"


def _kept_entry(value: Any, payload: Payload) -> str:
    known = {entry.get("id") for entry in payload["entries"]}
    return "" if isinstance(value, str) and value in known else "must be the id of one of the entries"


_JOINED = ("prependContext", "prependSystemContext", "appendSystemContext")


def _joined(first: Answer, second: Answer) -> Answer:
    """Returns the added texts of both, the first's first, a blank line between; an empty one is as none."""
    both = {name: [side[name] for side in (first, second) if side.get(name)] for name in _JOINED}
    return {name: "\n\n".join(parts) for name, parts in both.items() if parts}


def _merge_prompt(_: Payload, result: Answer, answer: Answer) -> Answer:
    """The later hook's systemPrompt wins."""
    return {**{k: v for k, v in (result | answer).items() if k not in _JOINED}, **_joined(result, answer)}


def _merge_view(_: Payload, result: Answer, answer: Answer) -> Answer:
    return result | answer


def _merge_write(_: Payload, result: Answer, answer: Answer) -> Answer:
    if answer.get("block"):
        return {"block": True}
    return result | {k: v for k, v in answer.items() if k != "block"}


def _merge_compaction(payload: Payload, result: Answer, answer: Answer) -> Answer:
    """A later summary replaces an earlier one; without an entry of its own it stands before the proposed one."""
    if answer.get("cancel"):
        return {"cancel": True}
    proposed = {"firstKeptEntryId": payload["firstKeptEntryId"]}
    given = {k: v for k, v in answer.items() if k != "cancel" and proposed.get(k) != v}
    if not given:
        return result
    if "summary" not in given:
        raise BadInput(f"{', '.join(sorted(given))} without a summary")
    return {**proposed, **given}


def _merge_nothing(_: Payload, result: Answer, __: Answer) -> Answer:
    return result


_PROMPT = Event(
    {"prompt": _text, "messages": _messages},
    dict.fromkeys(("appendSystemContext", "prependContext", "prependSystemContext", "systemPrompt"), _text),
    _merge_prompt,
)

# In the order in which a turn meets them.
EVENTS: dict[str, Event] = {
    "session_new": Event({"sessionId": _text, "sessionFile": _text}, {}, _merge_nothing),
    "before_prompt_build": _PROMPT,
    "before_agent_start": _PROMPT,
    "context": Event({"messages": _messages}, {"messages": _messages}, _merge_view, chained="messages"),
    "before_message_write": Event(
        {"message": _message}, {"block": _flag, "message": _replacement}, _merge_write, chained="message", ends="block"
    ),
    "tool_result_persist": Event({"message": _message}, {"message": _replacement}, _merge_view, chained="message"),
    "before_compaction": Event(
        {"entries": _objects, "firstKeptEntryId": _text, "tokensBefore": _count},
        {"cancel": _flag, "details": _object, "firstKeptEntryId": _kept_entry, "summary": _filled},
        _merge_compaction,
        ends="cancel",
    ),
    "after_compaction": Event({"entry": _object}, {}, _merge_nothing),
    "agent_end": Event({"messages": _messages, "success": _flag}, {}, _merge_nothing),
}


def check_payload(event: str, payload: Any) -> None:
    """Raises BadInput for a payload that the event's hooks could not be given."""
    if not isinstance(payload, dict):
        raise BadInput(f"the payload of {event} must be an object")
    for field, check in EVENTS[event].takes.items():
        wrong = check(payload[field], payload) if field in payload else "is missing"
        if wrong:
            raise BadInput(f"the payload of {event}: {field} {wrong}")


def take_answer(event: str, payload: Payload, answer: Any) -> tuple[Answer, list[str]]:
    """Returns the fields of an answer that the event knows, and the names of those that it does not.

    The payload's own fields are no answer and no fault: a hook may be a filter that changes one field of many.
    Raises BadInput when a field has a wrong value: half an answer is none.
    """
    if answer is None:
        return {}, []
    if not isinstance(answer, dict):
        raise BadInput("the answer must be an object")
    checks = EVENTS[event].answers
    known = {field: value for field, value in answer.items() if field in checks and value is not None}
    for field, value in known.items():
        wrong = checks[field](value, payload)
        if wrong:
            raise BadInput(f"{field} {wrong}")
    echoed = {field for field in answer.keys() & payload.keys() if answer[field] == payload[field]}
    return known, sorted(answer.keys() - checks.keys() - echoed)


def prompt_changes(build: Answer, legacy: Answer) -> Answer:
    """Returns what both prompt events together change: before_prompt_build has the say, before_agent_start adds."""
    changes = _joined(build, legacy)
    given = [side["systemPrompt"] for side in (build, legacy) if side.get("systemPrompt") is not None]
    return {"systemPrompt": given[0], **changes} if given else changes


def change_prompt(changes: Answer, prompt: str, system: str) -> tuple[str, str]:
    """Returns the prompt and the system prompt as the changes leave them; a blank systemPrompt changes nothing."""
    added = changes.get("prependContext")
    if added:
        prompt = f"{added}\n\n{prompt}"
    system = js_trim(changes.get("systemPrompt", "")) or system
    head, tail = (js_trim(changes.get(name, "")) for name in ("prependSystemContext", "appendSystemContext"))
    if head or tail:
        system = "\n\n".join(part for part in (head, js_trim(system), tail) if part)
    return prompt, system
