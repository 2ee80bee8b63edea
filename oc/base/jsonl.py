"""JSON lines: parse what other programs wrote, write what they read back.

Bytes are kept beside the parsed value, since a line that nobody changed goes out as it came in
(orjson would turn a 23-digit integer into a float). Behaviour on odd values follows JSON.parse and JSON.stringify.
"""

import json
import math
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple, NoReturn

import orjson

from oc.base.text import SURROGATE, pattern


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
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return pattern(SURROGATE).sub(lambda m: f"\\u{ord(m[0]):04x}", text).encode()


def dump_line(value: Any) -> bytes:
    return dump(value) + b"\n"


def js_text(value: Any) -> str:
    """Returns what JSON.stringify gives, numbers included: `1.0` is `1`, a lone surrogate is an escape."""
    return dump(_js_numbers(value)).decode()


def _js_numbers(value: Any) -> Any:
    if isinstance(value, float):
        return _js_number(value)
    if isinstance(value, dict):
        return {k: _js_numbers(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_js_numbers(v) for v in value]
    return value


def _js_number(value: float) -> Any:
    if not math.isfinite(value):
        return None
    if value.is_integer() and abs(value) < 1e21:
        return int(value)
    if 1e-6 <= abs(value) < 1e-4:
        return orjson.Fragment(f"{value:.20f}".rstrip("0")) if float(f"{value:.20f}") == value else value
    return value
