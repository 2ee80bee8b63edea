"""An embedder that asks for each text once: vectors are looked up in a store before, and put into it after.

The store belongs to the index; here it is two functions. Keys tell address, model and task apart.
"""

import hashlib
from array import array
from collections.abc import Callable, Mapping, Sequence

from oc.memory.embed.interface import Embedded, Embedder, Problem
from oc.memory.embed.vector import pack, unpack

Get = Callable[[Sequence[str]], Mapping[str, bytes]]
Put = Callable[[Mapping[str, bytes]], None]


class Cached:
    """`get(keys)` returns those vectors that the store has, `put(vectors)` stores new ones."""

    def __init__(self, embedder: Embedder, get: Get, put: Put) -> None:
        self.embedder = embedder
        self._get = get
        self._put = put

    def key(self, text: str, *, is_query: bool) -> str:
        """Returns what a text's vector is stored under."""
        task = "query" if is_query else "passage"
        return hashlib.sha256(f"{self.embedder.identity}\n{task}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()

    def embed_query(self, text: str) -> "array[float]":
        """Returns the vector of a question; raises as the embedder does."""
        key = self.key(text, is_query=True)
        vector = self._known([key]).get(key)
        if vector is None:
            vector = self.embedder.embed_query(text)
            self._put({key: pack(vector)})
        return vector

    def embed_passages(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Embedded:
        """Returns vectors in order, as the embedder does; what is stored or comes twice is not embedded again.

        What was obtained is stored also when other texts failed.
        """
        keys = [self.key(text, is_query=False) for text in texts]
        vectors = self._known(list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        if progress is not None and len(missing) < len(texts):
            progress(len(texts) - len(missing))
        problems: list[Problem] = []
        if missing:
            found = self.embedder.embed_passages(list(missing.values()), progress)
            fresh = {key: v for key, v in zip(missing, found.vectors, strict=True) if v is not None}
            self._put({key: pack(vector) for key, vector in fresh.items()})
            vectors |= fresh
            problems = self._placed(found.problems, list(missing), keys)
        return Embedded([vectors.get(key) for key in keys], problems)

    def _placed(self, problems: Sequence[Problem], missing: Sequence[str], keys: Sequence[str]) -> list[Problem]:
        """Returns the problems of the texts that were embedded as those of all that were given."""
        messages = {missing[problem.text]: problem.message for problem in problems if problem.text is not None}
        placed = [Problem(at, messages[key]) for at, key in enumerate(keys) if key in messages]
        return placed + [problem for problem in problems if problem.text is None]

    def _known(self, keys: Sequence[str]) -> "dict[str, array[float]]":
        """Returns the stored vectors; one that is broken or of another size counts as missing."""
        known = {}
        for key, blob in self._get(keys).items():
            try:
                vector = unpack(blob)
            except ValueError:
                continue
            if vector and self.embedder.dims in (None, len(vector)):
                known[key] = vector
        return known
