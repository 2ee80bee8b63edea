"""The built-in model `oc-offline` as the loop sees it: no llm, no network, no key, no chance."""

from collections.abc import Callable, Iterator
from typing import Any

from oc.agent.answer import Delta, Request, Stream
from oc.agent.choice import OFFLINE
from oc.agent.condense import condensed
from oc.agent.failure import Failure
from oc.agent.rules import Done, Reply, respond
from oc.agent.wire import Speaker
from oc.message.shapes import Block, Message, call_arguments, calls, result_id, text
from oc.window import flush_prompt

SPEAKER = Speaker(OFFLINE, "oc", OFFLINE)


class BuiltIn:
    """Rules behind the interface of a model."""

    name = OFFLINE
    speaker = SPEAKER

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def stream(self, request: Request, *, deadline_s: float | None, new_id: Callable[[], str]) -> Stream:  # noqa: ARG002
        return _Said(reply_to(request), new_id)


def reply_to(request: Request) -> Reply:
    """Returns the reply to the last user message of a request."""
    last = max((i for i, m in enumerate(request.messages) if m.get("role") == "user"), default=None)
    if last is None:
        return Reply()
    offered = {tool.name for tool in request.tools}
    if flush_prompt.TOOL in offered:
        return _flushed(request.messages[:last], _done(request.messages[last + 1 :]))
    said = text(request.messages[last])
    summary = condensed(said, request.messages[:last])
    if summary is not None:
        return Reply(summary)
    return respond(said, _done(request.messages[last + 1 :]), offered)


def _flushed(messages: list[Message], done: list[Done]) -> Reply:
    """Returns the call that notes what the conversation says for good; the word for nothing after it, or without it."""
    from oc.agent.durable import durable

    facts = [] if done else durable(messages)
    if not facts:
        return Reply(flush_prompt.NO_REPLY)
    return Reply(calls=[(flush_prompt.TOOL, {"content": "\n".join(f"- {fact}" for fact in facts)})])


def _done(messages: list[Message]) -> list[Done]:
    """Returns the calls that have a result, in the order of the calls."""
    results = {result_id(m): m for m in messages if m.get("role") == "toolResult"}
    found = []
    for message in messages:
        for call in calls(message):
            result = results.get(call.get("id"))
            if result is not None:
                arguments = call_arguments(call)
                name, failed = str(call.get("name")), bool(result.get("isError"))
                found.append(Done(name, arguments if isinstance(arguments, dict) else {}, text(result), failed))
    return found


class _Said:
    """A reply that is there at once."""

    usage: dict[str, Any] | None = None
    failure: Failure | None = None

    def __init__(self, reply: Reply, new_id: Callable[[], str]) -> None:
        self.finish: str | None = "tool_calls" if reply.calls else "stop"
        self._text = reply.text
        self._calls: list[Block] = [
            {"type": "toolCall", "id": new_id(), "name": name, "arguments": arguments}
            for name, arguments in reply.calls
        ]

    def __iter__(self) -> Iterator[Delta]:
        if self._text:
            yield Delta("text", self._text)

    def blocks(self) -> list[Block]:
        said: list[Block] = [{"type": "text", "text": self._text}] if self._text else []
        return said + self._calls
