"""A session header for a transcript that has lost its own, from what is left of it. Pure but for the file's name."""

import os
from collections.abc import Sequence

from oc.base.jsonl import parse
from oc.base.text import pattern
from oc.session.entry import VERSION, Entry
from oc.session_key import is_session_id

_FIELD = r'"(id|timestamp|cwd|parentSession)"\s*:\s*("(?:[^"\\]|\\.)*")'


def made_header(
    broken: Entry | None, lost: bytes | None, name: str, first: tuple[bytes, Entry], entries: Sequence[Entry]
) -> Entry:
    """Returns a header: `broken` has no usable type or id, `lost` is a line above the entries that does not parse.

    The id is the lost line's, else the one in the file's name, else one made from the first record. The timestamp is
    the lost line's or the first entry's. Entries that all have no id are of version 1.
    """
    known = {**_pieces(lost), **(broken or {})}
    if not isinstance(known.get("id"), str):
        known.pop("id", None)
    header: Entry = {"type": "session"}
    if "version" in known:
        header["version"] = known["version"]
    elif any(isinstance(entry.get("id"), str) for entry in entries) or not entries:
        header["version"] = VERSION
    header["id"] = known.pop("id", None) or _id_of_name(name) or _id_of_bytes(first[0])
    timestamp = known.pop("timestamp", None) or next((e["timestamp"] for e in entries if e.get("timestamp")), None)
    if isinstance(timestamp, str):
        header["timestamp"] = timestamp
    return {**header, **{key: value for key, value in known.items() if key not in header}}


def _pieces(lost: bytes | None) -> Entry:
    """Returns the fields that can still be read in a broken header line; nothing of a line that was none."""
    text = (lost or b"").decode("utf-8", "replace")
    if '"session"' not in text and '"cwd"' not in text:
        return {}
    found: Entry = {}
    for match in pattern(_FIELD).finditer(text):
        try:
            value = parse(match[2])
        except ValueError:
            continue
        if value and "\ufffd" not in value:
            found.setdefault(match[1], value)
    return found


def _id_of_name(name: str) -> str | None:
    stem = os.path.basename(name).partition(".jsonl")[0]
    return stem if ".jsonl" in name and is_session_id(stem) else None


def _id_of_bytes(raw: bytes) -> str:
    from hashlib import sha256

    digits = sha256(raw).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}"
