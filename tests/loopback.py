"""A real HTTP server on loopback that speaks OpenAI's chat completions and plays a script; requests are kept.

A script is a list of steps, one a request; after its end the last step is played again. A step is made by `say`,
`call`, `fail` or `cut`, or is a function of the request body that returns one.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

MODEL_ID = "loop/test"


@dataclass
class Step:
    """`status` 200: `text` in `pieces` and `calls`, then `finish`; `broken` ends the connection before the finish."""

    text: str = ""
    calls: list[tuple[str, str, str]] = field(default_factory=list)  # id, name, arguments as JSON text
    finish: str | None = "stop"
    status: int = 200
    error: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    usage: dict[str, Any] | None = field(
        default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    )
    broken: bool = False
    gate: threading.Event | None = None  # waits here after the first half


def say(text: str, **settings: Any) -> Step:
    return Step(text=text, **settings)


def call(*calls: tuple[str, dict[str, Any] | str], text: str = "", first: int = 1, **settings: Any) -> Step:
    """A step that calls tools; ids are call_<first>, ..."""
    made = [
        (f"call_{n}", name, arguments if isinstance(arguments, str) else json.dumps(arguments))
        for n, (name, arguments) in enumerate(calls, first)
    ]
    return Step(text=text, calls=made, finish="tool_calls", **settings)


def fail(status: int, message: str, code: str | None = None, **headers: str) -> Step:
    error = {"message": message, "type": "error", "param": None, "code": code}
    # The client repeats 429 and 5xx twice; told to wait 1 ms it does so at once.
    return Step(status=status, error=error, headers={"retry-after-ms": "1", **headers})


def cut(text: str) -> Step:
    """A stream that ends in the middle, without a finish reason."""
    return Step(text=text, finish=None, broken=True, usage=None)


Script = list[Step | Callable[[dict[str, Any]], Step]]


class Loopback:
    """The server; `requests` are bodies, `headers` their headers, in order of arrival."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._answerer())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def configure(self, llm_home: Path, model_id: str = MODEL_ID, **settings: Any) -> None:
        """Writes llm's extra-openai-models.yaml (JSON is YAML) with one model that lives here."""
        llm_home.mkdir(parents=True, exist_ok=True)
        model = {"model_id": model_id, "model_name": "test", "api_base": self.base, "supports_tools": True, **settings}
        (llm_home / "extra-openai-models.yaml").write_text(json.dumps([model]))

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Step:
        with self._lock:
            step = self.script[min(len(self.requests), len(self.script) - 1)]
            self.requests.append(body)
            self.headers.append(headers)
        return step if isinstance(step, Step) else step(body)

    def _answerer(self) -> type[BaseHTTPRequestHandler]:
        loopback = self

        class Answerer(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                step = loopback.take(body, {k.lower(): v for k, v in self.headers.items()})
                kind = "text/event-stream" if body.get("stream") and step.status == 200 else "application/json"
                self.send_response(step.status)
                for name, value in {"content-type": kind, "connection": "close", **step.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                for data in answer(step, streamed=kind == "text/event-stream"):
                    try:
                        self.wfile.write(data)
                        self.wfile.flush()
                    except OSError:
                        return

        return Answerer


def answer(step: Step, *, streamed: bool) -> Iterator[bytes]:
    if step.status != 200:
        yield json.dumps({"error": step.error}).encode()
        return
    if not streamed:
        yield json.dumps(whole(step)).encode()
        return
    half = len(step.text) // 2
    for piece in (step.text[:half], step.text[half:]):
        if piece:
            yield event({"content": piece})
        if step.gate is not None:
            step.gate.wait(30)
    for index, (call_id, name, arguments) in enumerate(step.calls):
        middle = len(arguments) // 2
        first = {"index": index, "id": call_id, "type": "function"}
        yield event({"tool_calls": [{**first, "function": {"name": name, "arguments": arguments[:middle]}}]})
        yield event({"tool_calls": [{"index": index, "function": {"arguments": arguments[middle:]}}]})
    if step.broken:
        return
    yield event({}, step.finish)
    if step.usage is not None:
        yield b"data: " + json.dumps({**FRAME, "choices": [], "usage": step.usage}).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"


FRAME = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "test"}


def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
    return b"data: " + json.dumps({**FRAME, "choices": [choice]}).encode() + b"\n\n"


def whole(step: Step) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
    if step.calls:
        message["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call_id, name, arguments in step.calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": step.finish}
    return {**FRAME, "object": "chat.completion", "choices": [choice], "usage": step.usage}


@contextmanager
def serving(*script: Step | Callable[[dict[str, Any]], Step]) -> Iterator[Loopback]:
    server = Loopback(list(script))
    try:
        yield server
    finally:
        server.close()
