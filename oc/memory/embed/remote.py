"""The wire formats of embedding servers: OpenAI's, which Voyage and Mistral speak too, Gemini's and Ollama's.

A question and a passage are told apart where the server can (openclaw 2026.3.13 sends the same task types).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from oc.memory.embed.http import Server
from oc.memory.embed.interface import Failure

QUERY_TIMEOUT_S = 60.0
BATCH_TIMEOUT_S = 120.0
GEMINI_BATCH = 100
# Only this model of Gemini's takes a size; the others have one.
GEMINI_SIZED = "gemini-embedding-2-preview"
GEMINI_SIZES = (768, 1536, 3072)


def _limit_s(is_query: bool) -> float:
    return QUERY_TIMEOUT_S if is_query else BATCH_TIMEOUT_S


class OpenAILike:
    """POST /embeddings; `query_fields` and `passage_fields` are added to the body."""

    def __init__(
        self,
        server: Server,
        model: str,
        query_fields: Mapping[str, Any] | None = None,
        passage_fields: Mapping[str, Any] | None = None,
    ) -> None:
        self._server = server
        self._model = model
        self._fields = {True: query_fields or {}, False: passage_fields or {}}

    def embed(self, texts: Sequence[str], *, is_query: bool) -> Sequence[Any]:
        body = {"model": self._model, "input": list(texts), **self._fields[is_query]}
        answer = self._server.post("/embeddings", body, timeout_s=_limit_s(is_query))
        rows = _rows(self._server, answer, "data")
        if all(isinstance(row.get("index"), int) for row in rows):
            rows = sorted(rows, key=lambda row: row["index"])
        return [row.get("embedding") for row in rows]


class Gemini:
    """POST /models/NAME:embedContent for one question, :batchEmbedContents for anything else."""

    def __init__(self, server: Server, model: str, dims: int | None = None) -> None:
        self._server = server
        self._model = f"models/{model}"
        self._size = {} if dims is None else {"outputDimensionality": dims}

    def embed(self, texts: Sequence[str], *, is_query: bool) -> Sequence[Any]:
        task = "RETRIEVAL_QUERY" if is_query else "RETRIEVAL_DOCUMENT"
        requests = [{"content": {"parts": [{"text": text}]}, "taskType": task, **self._size} for text in texts]
        if is_query and len(texts) == 1:
            answer = self._server.post(f"/{self._model}:embedContent", requests[0], timeout_s=QUERY_TIMEOUT_S)
            rows: Sequence[Any] = [answer.get("embedding")] if isinstance(answer, dict) else []
        else:
            body = {"requests": [{"model": self._model, **request} for request in requests]}
            answer = self._server.post(f"/{self._model}:batchEmbedContents", body, timeout_s=_limit_s(is_query))
            rows = _rows(self._server, answer, "embeddings")
        return [row.get("values") if isinstance(row, dict) else None for row in rows]


class Ollama:
    """POST /api/embeddings, one request a text."""

    def __init__(self, server: Server, model: str) -> None:
        self._server = server
        self._model = model

    def embed(self, texts: Sequence[str], *, is_query: bool) -> Sequence[Any]:
        return [self._one(text, _limit_s(is_query)) for text in texts]

    def _one(self, text: str, timeout_s: float) -> Any:
        answer = self._server.post("/api/embeddings", {"model": self._model, "prompt": text}, timeout_s=timeout_s)
        return answer.get("embedding") if isinstance(answer, dict) else None


def _rows(server: Server, answer: Any, key: str) -> list[dict[str, Any]]:
    rows = answer.get(key) if isinstance(answer, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Failure(f"{server.name} embeddings: {server.place} answered without {key!r}")
    return rows
