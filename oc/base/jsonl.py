"""JSON lines: parse what other programs wrote, write what they read back.

Bytes are kept beside the parsed value, since a line that nobody changed goes out as it came in
(orjson would turn a 23-digit integer into a float). Behaviour on odd values follows JSON.parse and JSON.stringify.
"""

import math
import sys
from collections.abc import Callable, Iterator

import orjson

from oc.base.text import SURROGATE, pattern
from oc.base.typed import Any, BinaryIO, NamedTuple, NoReturn


class Line(NamedTuple):
    """A physical line: 1-based number, byte offset of its start, bytes without the line feed."""

    number: int
    offset: int
    raw: bytes


def lines(stream: BinaryIO) -> Iterator[Line]:
    """Yields the lines of a byte stream, split on LF only: U+2028, VT and FF are legal inside a JSON string."""
    offset = 0
    for number, raw in enumerate(stream, 1):
        yield Line(number, offset, raw[:-1] if raw.endswith(b"\n") else raw)
        offset += len(raw)


def parse(raw: bytes | str) -> Any:
    """Returns the value of one JSON text; bad UTF-8 reads as U+FFFD, as Node reads it.

    Raises ValueError. NaN and Infinity are refused; a lone surrogate escape, which orjson refuses, is read.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        import json

        text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
        try:
            return json.loads(text, parse_constant=_refuse)
        except RecursionError:
            raise ValueError("nested too deeply") from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def dump(value: Any) -> bytes:
    """Returns compact JSON in UTF-8, non-ASCII kept; lone surrogates become escapes, so the bytes are always valid."""
    try:
        return orjson.dumps(value)
    except TypeError:
        text: bytes = _deep(_dump, value)
        return text


def _dump(value: Any) -> bytes:
    import json

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return pattern(SURROGATE).sub(lambda m: f"\\u{ord(m[0]):04x}", text).encode()


def _deep(function: Callable[[Any], Any], value: Any) -> Any:
    """Calls a function that recurses into the value: parse reads 1,024 levels, Python stops at about 1,000 calls."""
    try:
        return function(value)
    except RecursionError:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + 10_000)
        try:
            return function(value)
        finally:
            sys.setrecursionlimit(limit)


def dump_line(value: Any) -> bytes:
    return dump(value) + b"\n"


def js_text(value: Any) -> str:
    """Returns what JSON.stringify gives, numbers included: `1.0` is `1`, a lone surrogate is an escape."""
    try:
        return orjson.dumps(_js_numbers(value) if _has_float(value) else value).decode()
    except (TypeError, RecursionError):
        text: str = _deep(_spelled, value)
        return text


def _has_float(value: Any) -> bool:
    """Says whether a float stands anywhere in the value; most arguments of tools are a few strings."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return any(_has_float(item) for item in value if not isinstance(item, str))
    return isinstance(value, float)


def _js_numbers(value: Any) -> Any:
    """Returns the value with the floats that orjson writes otherwise replaced."""
    if isinstance(value, float):
        text = _js_number(value)
        return orjson.Fragment(text) if text != repr(value) else value
    if isinstance(value, dict):
        return {k: _js_numbers(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_js_numbers(v) for v in value]
    return value


def _spelled(value: Any) -> str:
    """Returns the same text piece by piece, for what orjson refuses: lone surrogates, big integers, deep nesting."""
    if isinstance(value, dict):
        return "{" + ",".join([f"{dump(str(k)).decode()}:{_spelled(v)}" for k, v in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ",".join([_spelled(v) for v in value]) + "]"
    return _js_number(value) if isinstance(value, float) else dump(value).decode()


def _js_number(value: float) -> str:
    """Returns a float as JavaScript prints it: plain digits from 1e-6 up to 1e21, no fraction of zero."""
    if not math.isfinite(value):
        return "null"
    if value == 0:
        return "0"
    text = repr(value).removesuffix(".0")
    mantissa, exponent, power = text.partition("e")
    if not exponent:
        return text
    digits = mantissa.replace(".", "").lstrip("-")
    sign = "-" if value < 0 else ""
    places = int(power) + 1  # digits before the point
    if -6 < places <= 0:
        return f"{sign}0.{'0' * -places}{digits}"
    if 0 < places <= 21:
        return f"{sign}{digits.ljust(places, '0')}"
    return f"{mantissa}e{int(power):+d}"
