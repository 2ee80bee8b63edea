"""A real HTTP server on loopback that embeds in the formats of OpenAI, Gemini and Ollama; requests are kept.

Vectors are those of the test embedder of the tables: 16 dimensions, a count of hashed words at unit length.
"""

import hashlib
import json
import math
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMS = 16
_TOKEN = re.compile("[a-z0-9_]+|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")


def embed(text: str) -> list[float]:
    counts = [0.0] * DIMS
    for token in _TOKEN.findall(text.lower()):
        counts[hashlib.sha256(token.encode()).digest()[0] % DIMS] += 1
    length = math.hypot(*counts)
    return [count / length for count in counts] if length else counts


@dataclass
class Answer:
    """`body` a JSON value or bytes; `cut` promises more bytes than it sends; `gate` holds the answer back."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    gate: threading.Event | None = None


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: Any

    @property
    def texts(self) -> list[str]:
        body = self.body
        if "requests" in body:
            return [request["content"]["parts"][0]["text"] for request in body["requests"]]
        if "content" in body:
            return [body["content"]["parts"][0]["text"]]
        return [body["prompt"]] if "prompt" in body else body["input"]


def right(request: Request) -> Answer:
    """The answer of a server that works."""
    vectors = [embed(text) for text in request.texts]
    if request.path.endswith(":batchEmbedContents"):
        return Answer({"embeddings": [{"values": vector} for vector in vectors]})
    if request.path.endswith(":embedContent"):
        return Answer({"embedding": {"values": vectors[0]}})
    if request.path.endswith("/api/embeddings"):
        return Answer({"embedding": vectors[0]})
    return Answer({"data": [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]})


Rule = Callable[[Request], Answer | None]


class Loopback:
    """The server; a script's steps answer the first requests, `rule` the others, what both leave is answered right."""

    def __init__(self, script: list[Answer], rule: Rule) -> None:
        self.script = script
        self.rule = rule
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._answerer())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def texts(self) -> list[list[str]]:
        return [request.texts for request in self.requests]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def take(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append(request)
            step = self.script.pop(0) if self.script else None
        return step or self.rule(request) or right(request)

    def _answerer(self) -> type[BaseHTTPRequestHandler]:
        loopback = self

        class Answerer(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["content-length"]))
                headers = {k.lower(): v for k, v in self.headers.items()}
                answer = loopback.take(Request(self.path, headers, json.loads(raw)))
                if answer.gate is not None:
                    answer.gate.wait(30)
                data = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
                self.send_response(answer.status)
                size = len(data) + (10 if answer.cut else 0)
                for name, value in {"content-length": str(size), "connection": "close", **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

        return Answerer


@contextmanager
def serving(*script: Answer, rule: Rule = lambda _: None) -> Iterator[Loopback]:
    server = Loopback(list(script), rule)
    try:
        yield server
    finally:
        server.close()
