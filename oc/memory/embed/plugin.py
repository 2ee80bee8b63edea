"""Any embedding model that an `llm` plugin serves. Imports llm, which takes 0.3 s, in functions only.

llm knows one way to embed a text: questions and passages are told apart by no plugin.
"""

from collections.abc import Sequence
from typing import Any

from oc.base.caught import Caught
from oc.memory.embed.http import without
from oc.memory.embed.interface import Embedder, Failure
from oc.memory.embed.source import identity
from oc.memory.failure import is_retryable


def plugin_embedder(name: str) -> Embedder:
    """Returns the embedder of an llm embedding model, by its id or alias; raises Failure when llm has none."""
    caught = Caught()
    with caught:
        import llm

        known = llm.get_embedding_model_aliases()
        keys = llm.load_keys()  # type: ignore[no-untyped-call]
    if caught.error is not None:
        raise Failure(f"llm embeddings: {without(str(caught.error), ())}")
    model = known.get(name)
    if model is None:
        near = f"it has {', '.join(sorted(known))}" if known else "no plugin has one"
        raise Failure(
            f"llm has no embedding model {name!r}" if name else "llm embeddings: no model is named", hint=near
        )
    if getattr(model, "api_base", None) and getattr(model, "key_env_var", None):
        model.key_env_var = None  # llm would send the provider's own key to another address
    secrets = [key for key in keys.values() if isinstance(key, str) and key]
    model_id = str(model.model_id)
    own = identity(provider="llm", model=model_id)
    return Embedder("llm", model_id, own, Plugin(model, secrets), batch_texts=model.batch_size)


class Plugin:
    """An embedding model of llm as an engine."""

    def __init__(self, model: Any, secrets: Sequence[str]) -> None:
        self._model = model
        self._secrets = list(secrets)

    def embed(self, texts: Sequence[str], *, is_query: bool) -> Sequence[Any]:  # noqa: ARG002
        caught = Caught()
        answers: list[Any] = []
        with caught:
            answers = list(self._model.embed_multi(list(texts)))
        if caught.error is not None:
            raise self._failure(caught.error)
        return answers

    def _failure(self, error: Exception) -> Failure:
        status = getattr(error, "status_code", None)
        text = without(str(error), self._secrets) or type(error).__name__
        return Failure(
            f"llm embeddings: {text}",
            retryable=status in (408, 429) or is_retryable(text),
            of_text=status in (400, 413, 422),
        )
