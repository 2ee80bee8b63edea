"""Models: one stream of deltas for the loop, one completion for a summary; `oc-offline` without llm, the rest by llm.

A call does not raise what a provider's client raises: it ends with a `Failure` as a value, and what had arrived by
then is kept. One of the few modules that import llm, and only inside functions: it costs 0.8 s.
"""

import os
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

from oc.agent.answer import Completion, Delta, Model, Request, Stream
from oc.agent.choice import LLM_DEFAULT, Choice, llm_ids
from oc.agent.failure import Failure, failure_of
from oc.agent.speaker import KNOWN
from oc.agent.wire import NORMAL_ENDS, Speaker, blocks_of, finish_of, flat_text, usage_of, wire_messages
from oc.base.caught import Caught
from oc.errors import Unavailable
from oc.message.shapes import Block


def open_model(choice: Choice) -> Model:
    """Returns the model of that choice; raises Unavailable when llm has none of its names."""
    if choice.offline:
        from oc.agent.builtin import BuiltIn

        return BuiltIn()
    as_default = choice.model == LLM_DEFAULT and choice.origin == "flag"
    return _Installed(choice.model, *_find(choice.model, as_default=as_default))


def complete(model: str, *, system: str, prompt: str, timeout_s: float | None = None) -> Completion:
    """Returns a model's answer to one text, without tools; raises Unavailable when the call fails.

    `model` is a name as users give it (`default`: llm's own). A completion that is not `whole` is returned all the
    same: the caller decides what it is good for.
    """
    opened = open_model(Choice(model, "flag"))
    deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
    request = Request(system, [{"role": "user", "content": prompt}])
    stream = opened.stream(request, deadline_s=deadline_s, new_id=lambda: "call")
    for _ in stream:
        pass
    failure = stream.failure
    if failure is not None and failure.kind not in ("cut", "filter"):
        raise Unavailable(failure.message, hint=failure.hint)
    said = "".join(str(block["text"]) for block in stream.blocks() if block["type"] == "text")
    return Completion(said, stream.finish, stream.usage)


def _find(name: str, *, as_default: bool) -> tuple[Any, list[str]]:
    """Returns llm's model and the secrets that no message may show."""
    caught = Caught()
    with caught:
        import llm

        known = llm.get_model_aliases()
        default: str = llm.get_default_model()  # type: ignore[no-untyped-call]
        stored: dict[str, Any] = llm.load_keys()  # type: ignore[no-untyped-call]
    if caught.error is not None:
        raise Unavailable(failure_of(caught.error, "llm").message) from caught.error
    wanted = (default,) if as_default else llm_ids(name)
    model = next((known[one] for one in wanted if one in known), None)
    if model is None:
        import difflib

        near = difflib.get_close_matches(wanted[0], known, n=3)
        hint = f"near: {', '.join(near)}" if near else "`llm models` lists what is installed"
        raise Unavailable(f"llm has no model {wanted[0]!r}", hint=hint)
    _keep_keys_apart(model)
    secrets = [value for value in stored.values() if isinstance(value, str)]
    secrets += [value for key, value in os.environ.items() if re.search("KEY|TOKEN|SECRET|PASSWORD", key)]
    return model, secrets


def _keep_keys_apart(model: Any) -> None:
    """Takes the provider's environment variable away from a model with an address of its own.

    llm would send OPENAI_API_KEY to any `api_base` whose own key is not stored.
    """
    if getattr(model, "api_base", None) and getattr(model, "key_env_var", None):
        model.key_env_var = None


def _speaker(name: str, model: Any) -> Speaker:
    """Returns what stands in `api`, `provider` and `model` of the messages that this model writes."""
    module = type(model).__module__
    package = module.partition(".")[0]
    api, provider = KNOWN.get(package, ("llm", package.removeprefix("llm_").replace("_", "-")))
    if module.startswith("llm.default_plugins"):
        api = "openai-responses" if "Responses" in type(model).__name__ else "openai-completions"
        provider = "openai-compatible" if getattr(model, "api_base", None) else "openai"
    own = str(model.model_id)
    named, slash, rest = (name if "/" in name else own).partition("/")
    return Speaker(api, named, rest) if slash and rest else Speaker(api, provider, own)


class _Installed:
    """A model that llm serves."""

    def __init__(self, name: str, model: Any, secrets: list[str]) -> None:
        self.name = str(model.model_id) if name == LLM_DEFAULT else name
        self.speaker = _speaker(self.name, model)
        self.warnings: list[str] = []
        self._model = model
        self.secrets = secrets

    def stream(self, request: Request, *, deadline_s: float | None, new_id: Callable[[], str]) -> Stream:
        import llm

        settings = self._settings(request, llm)
        caught = Caught()
        response = None
        with caught:
            response = self._model.prompt(stream=bool(self._model.can_stream), **settings)
        return _Arriving(self, response, caught.error, deadline_s, new_id)

    def _settings(self, request: Request, llm: Any) -> dict[str, Any]:
        """Returns the arguments of llm's prompt(), fitted to what this model can take."""
        tools = [llm.Tool(t.name, t.description, t.parameters) for t in request.tools]
        if tools and not self._model.supports_tools:
            self._warn("takes no tools, so it can neither search nor write memory")
            tools = []
        if not _reads_messages(self._model):
            self._warn("was written for an older llm: it is shown the conversation as one text")
            return {"prompt": flat_text(request.messages), "system": request.system or None}
        messages = request.messages
        if not self._model.supports_conversation and len(messages) > 1:
            self._warn("takes no conversation: it is shown as one text")
            messages = [{"role": "user", "content": flat_text(messages)}]
        wire = wire_messages(request.system, messages, self.speaker, self._model.attachment_types)
        return {"messages": [llm.Message.from_dict(message) for message in wire], "tools": tools}

    def _warn(self, what: str) -> None:
        line = f"the model {self.name} {what}"
        if line not in self.warnings:
            self.warnings.append(line)


def _reads_messages(model: Any) -> bool:
    """Says whether a plugin looks at the conversation it is given; one from before llm 0.32 sees the prompt alone.

    Told by its source, since llm declares it nowhere; a plugin without readable source counts as new.
    """
    import inspect

    for kind in type(model).__mro__:
        if kind.__module__.partition(".")[0] in ("abc", "builtins", "pydantic") or kind.__module__ == "llm.models":
            continue
        try:
            source = inspect.getsource(inspect.getmodule(kind) or kind)
        except (OSError, TypeError):
            return True
        if re.search(r"\bprompt\.messages\b", source):
            return True
    return False


class _Arriving:
    """The answer of an llm model, read in a thread of its own, so that a deadline or Ctrl-C need not wait for it."""

    def __init__(
        self,
        model: _Installed,
        response: Any,
        error: Exception | None,
        deadline_s: float | None,
        new_id: Callable[[], str],
    ) -> None:
        self.finish: str | None = None
        self.usage: dict[str, Any] | None = None
        self.failure = failure_of(error, model.name, model.secrets) if error is not None else None
        self._name = model.name
        self._secrets = model.secrets
        self._response = response
        self._deadline_s = deadline_s
        self._new_id = new_id
        self._events: list[Any] = []
        self._whole = False
        self._parsed = False

    def __iter__(self) -> Iterator[Delta]:
        if self.failure is not None:
            return
        caught = Caught()
        for event in self._arrivals(caught):
            self._events.append(event)
            kind = {"text": "text", "reasoning": "thinking"}.get(event.type)
            if kind and event.chunk:
                yield Delta(kind, event.chunk)
        self._end(caught.error)

    def _arrivals(self, caught: Caught) -> Iterator[Any]:
        from queue import Empty, SimpleQueue
        from threading import Thread

        arrived: SimpleQueue[Any] = SimpleQueue()
        done = object()

        def read() -> None:
            with caught:
                for event in self._response.stream_events():
                    arrived.put(event)
            arrived.put(done)

        Thread(target=read, daemon=True).start()
        while True:
            left_s = None if self._deadline_s is None else max(0.0, self._deadline_s - time.monotonic())
            try:
                event = arrived.get(timeout=left_s)
            except Empty:
                self.failure = failure_of(TimeoutError("the time limit was reached"), self._name)
                return
            if event is done:
                return
            yield event

    def _end(self, error: Exception | None) -> None:
        raw = getattr(self._response, "response_json", None)
        self.finish = finish_of(raw)
        self.usage = self._usage(raw)
        if self.failure is not None:
            return
        # llm parses the arguments of tool calls after the stream has ended: bad JSON there is no failed call.
        if error is not None and not (isinstance(error, ValueError) and self.finish in NORMAL_ENDS):
            self.failure = failure_of(error, self._name, self._secrets)
        elif self.finish is None and raw is not None:
            self.failure = Failure("cut", f"{self._name}: the answer broke off before its end")
        elif self.finish is not None and self.finish not in NORMAL_ENDS | {"length"}:
            self.failure = Failure("filter", f"{self._name}: the provider stopped the answer: {self.finish}")
        self._whole = self.failure is None and self.finish != "length"
        self._parsed = error is None

    def _usage(self, raw: Any) -> dict[str, Any] | None:
        response = self._response
        reported = usage_of(response.input_tokens, response.output_tokens, response.token_details)
        details = raw.get("usage") if isinstance(raw, dict) else None
        if reported is None and isinstance(details, dict):
            return usage_of(details.get("prompt_tokens"), details.get("completion_tokens"), details)
        return reported

    def blocks(self) -> list[Block]:
        """Returns what has arrived; tool calls only once the answer is whole."""
        found = blocks_of(self._events, self._new_id, whole=self._whole)
        if self._whole and self._parsed and not any(block["type"] == "toolCall" for block in found):
            # A plugin may tell llm of calls without streaming them.
            for call in self._response.tool_calls():
                made = {"id": call.tool_call_id, "name": call.name, "arguments": call.arguments or {}}
                found.append({"type": "toolCall", **made})
        return found
