"""The newest usage that a transcript tells, read from its end (table: context-usage-tail)."""

import os
from typing import Any

from oc.message.usage import Usage, is_told, normalised
from oc.session.tail import lines_backward, value_of
from oc.session.transcript import open_file


def read_usage(path: str) -> Usage | None:
    """Returns the last usage that is not all zeros, None without one; raises NotFound.

    What stands before the newest compaction tells of a context that is no more, and is not looked at.
    """
    with open_file(path) as file:
        size = file.seek(0, os.SEEK_END)
        for _, raw in lines_backward(file, size):
            if b"usage" not in raw and b'"compaction"' not in raw:
                continue
            value = value_of(raw)
            if not isinstance(value, dict):
                continue
            if value.get("type") == "compaction":
                return None
            usage = normalised(_usage(value))
            if is_told(usage):
                return usage
    return None


def _usage(value: dict[str, Any]) -> Any:
    message = value.get("message")
    own = message.get("usage") if isinstance(message, dict) else None
    return value.get("usage") if own is None else own
