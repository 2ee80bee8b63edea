"""The built-in model `oc-offline` as a plugin of llm: rules, not a language model (rules.py), so nothing to download.

Loaded by llm through the entry point `llm` of this distribution; `oc` itself reaches the rules without llm.
"""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import llm

from oc.agent.answer import Request
from oc.agent.builtin import reply_to
from oc.agent.choice import OFFLINE
from oc.agent.wire import from_wire


class Offline(llm.Model):
    """Answers by rules; calls memory_add and memory_search when tools of these names are offered."""

    model_id = OFFLINE
    can_stream = True
    supports_tools = True

    def __str__(self) -> str:
        return f"oc: {self.model_id}"

    def execute(
        self,
        prompt: llm.Prompt,
        stream: bool,  # noqa: ARG002 - as llm calls it
        response: llm.Response,
        conversation: llm.Conversation | None = None,  # noqa: ARG002
    ) -> Iterator[str]:
        system, messages = from_wire(dict(message.to_dict()) for message in prompt.messages)
        reply = reply_to(Request(system, messages, tuple(map(_offered, prompt.tools))))
        for name, arguments in reply.calls:
            response.add_tool_call(llm.ToolCall(name, arguments))
        response.response_json = {"finish_reason": "tool_calls" if reply.calls else "stop"}
        if reply.text:
            yield reply.text


def _offered(tool: Any) -> Any:
    name = str(getattr(tool, "name", ""))
    return SimpleNamespace(name=name, description="", parameters=getattr(tool, "input_schema", {}))


@llm.hookimpl
def register_models(register: Any) -> None:
    register(Offline())
