"""The loop of one turn: ask the model, write down what it said, run the tools it called, ask again.

Order is the point: an answer is on disk before its end is told to anybody, a tool result before the next call.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from oc.agent.answer import Model, Request, Stream
from oc.agent.failure import Failure
from oc.agent.record import Recorder
from oc.agent.request import request_tokens
from oc.agent.tools.spec import Result, Tool, call, failed
from oc.agent.view import Seen, View
from oc.agent.wire import usage
from oc.base.jsonl import dump
from oc.base.text import len16
from oc.base.tokens import Counter
from oc.message.shapes import Block, Message, calls, text
from oc.message.size import message_tokens
from oc.session.entry import Entry

Tell = Callable[[dict[str, Any]], None]
INTERRUPTED = "The run was interrupted before this tool answered."


@dataclass(slots=True)
class Limits:
    """`deadline_s` is a moment of time.monotonic()."""

    max_steps: int = 32
    deadline_s: float | None = None


@dataclass(slots=True)
class Outcome:
    """What became of a turn: `answers` are the assistant messages it wrote, `used` the sum of their usage."""

    answers: list[Message] = field(default_factory=list)
    stop_reason: str = "stop"
    failure: Failure | None = None
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def overflowed(self) -> bool:
        return self.failure is not None and self.failure.kind == "overflow"


@dataclass(slots=True)
class Loop:
    """`entries` are the context that the turn starts from, its user message included; they grow as it goes on."""

    model: Model
    system: str
    entries: list[Entry]
    tools: Sequence[Tool]
    view: View
    recorder: Recorder
    tell: Tell
    limits: Limits
    counter: Counter
    outcome: Outcome = field(default_factory=Outcome)
    _told: set[str] = field(default_factory=set)

    @property
    def messages(self) -> list[Message]:
        return [entry["message"] for entry in self.entries]

    def run(self) -> Outcome:
        """Returns what became of the turn; KeyboardInterrupt passes, with what had arrived written down."""
        for _ in range(self.limits.max_steps):
            called = self._ask()
            if not called:
                return self.outcome
            self._work(called)
        name = self.model.speaker.model
        self.outcome.failure = Failure(
            "steps", f"{name}: stopped after {self.limits.max_steps} calls of the model", "--max-steps allows more"
        )
        return self.outcome

    def _ask(self) -> list[Block]:
        """Calls the model once and returns the tool calls to run."""
        seen = self.view.of(self.entries, answers=len(self.outcome.answers))
        self._tell_view(seen)
        request = Request(self.system, seen.messages, tuple(self.tools))
        stream = self.model.stream(request, deadline_s=self.limits.deadline_s, new_id=self._new_id)
        self.tell({"type": "message_start", "message": {"role": "assistant"}})
        try:
            for delta in stream:
                update = {"type": f"{delta.kind}_delta", "delta": delta.text}
                self.tell({"type": "message_update", "assistantMessageEvent": update})
        except KeyboardInterrupt:
            self._answered(stream, stream.blocks(), "aborted", request)
            raise
        for warning in self.model.warnings:
            self.recorder.warn(warning)
        self.model.warnings.clear()
        blocks = stream.blocks()
        return self._answered(stream, blocks, _stop_reason(stream, blocks), request)

    def _tell_view(self, seen: Seen) -> None:
        """Tells what a request leaves out or changes, each decision once: a later request holds the same history."""
        first = not self._told
        rows = []
        for row in seen.rows:
            about = dump({**row, "index": None}).decode()
            if about not in self._told and (first or "index" in row):
                rows.append(row)
                self._told.add(about)
        self._told.add("")
        if rows:
            self.tell({"type": "view", "decisions": rows})

    def _new_id(self) -> str:
        """Returns an id for a call that came without one; a seeded sequence of ids starts anew in each process."""
        known = {block.get("id") for message in self.messages for block in calls(message)}
        while (call_id := "call_" + self.recorder.ids.uuid().replace("-", "")[:24]) in known:
            pass
        return call_id

    def _answered(self, stream: Stream, blocks: list[Block], stop_reason: str, request: Request) -> list[Block]:
        """Writes the answer down, tells of it and returns its calls."""
        self.outcome.failure = stream.failure
        good = stop_reason not in ("error", "aborted")
        used = stream.usage or (self._estimated(request, blocks) if good else None)
        message = self.recorder.assistant(self.model.speaker, blocks, used, stop_reason, stream.failure)
        entry = self.recorder.message(message)
        message = entry["message"]
        self.entries.append(entry)
        self._count(message)
        self.tell({"type": "message_end", "entryId": entry.get("id"), "message": message})
        return [block for block in blocks if block["type"] == "toolCall"] if stop_reason == "toolUse" else []

    def _estimated(self, request: Request, blocks: list[Block]) -> dict[str, Any]:
        """Returns usage as we count it, for models that report none: the size of a context hangs on it."""
        shown = request_tokens(request, self.counter)
        said = message_tokens({"role": "assistant", "content": blocks}, self.counter)
        return {**usage(shown, said), "estimated": True}

    def _count(self, message: Message) -> None:
        self.outcome.answers.append(message)
        self.outcome.stop_reason = message["stopReason"]
        used = message["usage"]
        self.outcome.input_tokens += used["input"] + used["cacheRead"] + used["cacheWrite"]
        self.outcome.output_tokens += used["output"]

    def _work(self, called: list[Block]) -> None:
        """Runs the calls in order; an interrupt gives the rest results that say so."""
        known = {tool.name: tool for tool in self.tools}
        left = list(called)
        try:
            while left:
                block = left[0]
                start = {"toolCallId": block["id"], "toolName": block["name"], "args": block["arguments"]}
                self.tell({"type": "tool_execution_start", **start})
                result = call(known.get(block["name"]), block["name"], block["arguments"])
                self._returned(block, result)
                left.pop(0)
        except KeyboardInterrupt:
            for block in left:
                self._returned(block, failed(INTERRUPTED))
            self.outcome.stop_reason = "aborted"
            raise

    def _returned(self, block: Block, result: Result) -> Entry:
        message = self.recorder.result(block, result)
        entry = self.recorder.message(message)
        message = entry["message"]
        self.entries.append(entry)
        self.tell(
            {
                "type": "tool_execution_end",
                "entryId": entry.get("id"),
                "toolCallId": block["id"],
                "toolName": block["name"],
                "isError": result.failed,
                "result": {"content": message["content"]},
                "charsBefore": len16(result.text),
                "charsAfter": len16(text(message)),
            }
        )
        return entry


def _stop_reason(stream: Stream, blocks: list[Block]) -> str:
    if stream.failure is not None:
        return "error"
    if stream.finish == "length":
        return "length"
    return "toolUse" if any(block["type"] == "toolCall" for block in blocks) else "stop"
