"""A line with other values of a few fields and the rest of its bytes as they were. Pure."""

import re
from typing import Any

from oc.base.jsonl import dump, parse
from oc.base.text import pattern
from oc.session.entry import Entry

_HIGH = r"\\u[dD][89abAB][0-9a-fA-F]{2}"
_LOW = r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
# Escaped backslashes first, so that the u of \\ud83d is seen for a letter.
_HALVES = rf"\\\\|({_HIGH}{_LOW})|{_HIGH}|{_LOW}"


def with_fields(raw: bytes, entry: Entry, fields: Entry) -> bytes:
    """Returns the line of the entry with these fields; bytes that say something else stay, if it can be done."""
    wanted = {**entry, **fields}
    found = raw
    for name, value in fields.items():
        found = _with_field(found, name, entry, value)
    return found if _says(found, wanted) else dump(wanted)


def _with_field(raw: bytes, name: str, entry: Entry, value: Any) -> bytes:
    key = dump(name)
    if name not in entry:
        body = raw.rstrip()
        return body[:-1] + (b"," if entry else b"") + key + b":" + dump(value) + b"}" if body.endswith(b"}") else raw
    old = re.compile(re.escape(key) + rb"\s*:\s*(" + re.escape(dump(entry[name])) + rb")(?=\s*[,}])")
    places = list(old.finditer(raw))
    # Arguments of a tool may hold the same words: which of two is meant cannot be told from the bytes.
    if len(places) != 1:
        return raw
    return raw[: places[0].start(1)] + dump(value) + raw[places[0].end(1) :]


def _says(raw: bytes, wanted: Entry) -> bool:
    try:
        return bool(parse(raw) == wanted)
    except ValueError:
        return False


def as_utf8(raw: bytes) -> bytes:
    """Returns the line with U+FFFD for every byte that is not UTF-8, as every reader sees it."""
    return raw.decode("utf-8", "replace").encode()


def without_half_pairs(raw: bytes) -> bytes:
    """Returns the line with U+FFFD for every escape of half a surrogate pair; whole pairs stay as they are."""
    text = raw.decode("utf-8", "replace")
    return pattern(_HALVES).sub(lambda m: m[0] if m[1] or m[0] == "\\\\" else "\\ufffd", text).encode()
