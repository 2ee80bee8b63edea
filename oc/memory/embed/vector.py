"""Vectors: unit length, 4-byte floats, without numpy. Pure.

They are stored as little-endian float32, which is what sqlite-vec reads. Table: tests/vectors/memory-vector.json.
"""

import math
import operator
import sys
from array import array
from collections.abc import Sequence
from typing import Any

from oc.base.jsonl import parse

_TINY = 1e-10


class BadVector(ValueError):
    """An embedder answered with something that is no direction: NaN, all zero, of another size."""


def vector_of(values: Any, dims: int | None) -> "array[float]":
    """Returns an embedder's answer at unit length; raises BadVector for what must not get into an index.

    `dims` None takes any size.
    """
    try:
        numbers = [float(value) for value in values]
    except (TypeError, ValueError):
        raise BadVector("is no list of numbers") from None
    if not numbers or (dims is not None and len(numbers) != dims):
        raise BadVector(f"has {len(numbers)} dimensions" + ("" if dims is None else f", not {dims}"))
    if not all(map(math.isfinite, numbers)):
        raise BadVector("holds numbers that are not finite")
    if math.hypot(*numbers) < _TINY:
        raise BadVector("is all zero")
    return array("f", unit(numbers))


def unit(values: Sequence[float]) -> list[float]:
    """Returns the values at length 1; what is not finite counts 0, and a zero vector stays as it is."""
    clean = [value if math.isfinite(value) else 0.0 for value in values]
    length = math.hypot(*clean)
    return clean if length < _TINY else [value / length for value in clean]


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    """Returns the inner product over the dimensions both have: the cosine of two vectors of unit length."""
    product: float = sum(map(operator.mul, a, b))
    return product


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """Returns the cosine over the dimensions both have; 0 where one of them is zero or empty."""
    shared = min(len(a), len(b))
    lengths = math.hypot(*a[:shared]) * math.hypot(*b[:shared])
    return dot(a, b) / lengths if lengths else 0.0


def pack(vector: "array[float]") -> bytes:
    """Returns the bytes as they are stored."""
    if sys.byteorder == "big":
        vector = array("f", vector)
        vector.byteswap()
    return vector.tobytes()


def unpack(blob: bytes) -> "array[float]":
    """Returns the vector of stored bytes; raises ValueError when they are not whole floats."""
    vector = array("f")
    vector.frombytes(blob)
    if sys.byteorder == "big":
        vector.byteswap()
    return vector


def parse_vector(text: str) -> list[float]:
    """Returns the vector of a JSON text, as OpenClaw's index has them; nothing for any other text."""
    try:
        value = parse(text)
    except ValueError:
        return []
    return value if isinstance(value, list) else []
