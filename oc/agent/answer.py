"""What passes between the loop and a model: a request in, a stream of deltas and then blocks out. Imports no llm."""

from collections.abc import Callable, Iterator
from typing import Protocol

from oc.agent.failure import Failure
from oc.agent.wire import NORMAL_ENDS, Speaker
from oc.base.typed import Any, NamedTuple
from oc.message.shapes import Block, Message


class ToolSpec(Protocol):
    """What a model is told of a tool; `parameters` is a JSON schema."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def parameters(self) -> dict[str, Any]: ...


class Request(NamedTuple):
    """What a model is shown: only user, assistant and toolResult messages (oc.message.derived.for_model)."""

    system: str
    messages: list[Message]
    tools: tuple[ToolSpec, ...] = ()


class Delta(NamedTuple):
    """A piece of an answer as it arrives; `kind`: text or thinking."""

    kind: str
    text: str


class Stream(Protocol):
    """An answer on its way: iterate it to its end, then read the rest; blocks may be read at any time.

    `finish` is the provider's word for its end, None when it gave none; a call that failed has a `failure`.
    """

    finish: str | None
    usage: dict[str, Any] | None
    failure: Failure | None

    def __iter__(self) -> Iterator[Delta]: ...
    def blocks(self) -> list[Block]: ...


class Model(Protocol):
    """`name` as users give it; `warnings` are lines for stderr: what of a request the model could not be shown."""

    name: str
    speaker: Speaker
    warnings: list[str]

    def stream(self, request: Request, *, deadline_s: float | None, new_id: Callable[[], str]) -> Stream: ...


class Completion(NamedTuple):
    """`finish` is the provider's word for its end; None when it gave none, as a stream that was cut does."""

    text: str
    finish: str | None
    usage: dict[str, Any] | None

    @property
    def whole(self) -> bool:
        """Says whether the model ended of its own accord; nothing else may become a summary or a note."""
        return self.finish in NORMAL_ENDS
