"""Which files a conversation read and changed, as a summary lists them. Pure.

Behaviour follows Pi 0.58 (tables: sessions-prepare, sessions-serialize): only tools named read, write and edit count.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from oc.base.text import pattern, sort_key16
from oc.message.shapes import Message, blocks


class FileOps(NamedTuple):
    """Paths by what was done to them, in the order of the first time."""

    read: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()


def file_ops(messages: Iterable[Message], previous: Mapping[str, Any] | None = None) -> FileOps:
    """Returns what the tool calls of the messages did, on top of the `details` of an earlier compaction of ours."""
    found: dict[str, dict[str, None]] = {"read": {}, "write": {}, "edit": {}}
    if previous is not None:
        for kind, key in (("read", "readFiles"), ("edit", "modifiedFiles")):
            listed = previous.get(key)
            if isinstance(listed, list):
                found[kind].update(dict.fromkeys(path for path in listed if isinstance(path, str)))
    for message in messages:
        for block in blocks(message) if message.get("role") == "assistant" else ():
            arguments = block.get("arguments") if block.get("type") == "toolCall" else None
            path = arguments.get("path") if isinstance(arguments, dict) else None
            if isinstance(path, str) and path and block.get("name") in found:
                found[block["name"]][path] = None
    return FileOps(tuple(found["read"]), tuple(found["write"]), tuple(found["edit"]))


def file_lists(ops: FileOps) -> tuple[list[str], list[str]]:
    """Returns (only read, modified), each sorted by UTF-16 unit."""
    modified = {*ops.written, *ops.edited}
    return sorted({*ops.read} - modified, key=sort_key16), sorted(modified, key=sort_key16)


def file_section(read: Iterable[str], modified: Iterable[str]) -> str:
    """Returns the lists as they end a summary; nothing when both are empty."""
    section = ""
    for tag, paths in (("read-files", list(read)), ("modified-files", list(modified))):
        if paths:
            section += f"\n\n<{tag}>\n" + "\n".join(paths) + f"\n</{tag}>"
    return section


def without_files(summary: str) -> str:
    """Returns a summary without the lists that end it, which the next summary gets anew."""
    return pattern(r"\s*<(read-files|modified-files)>\n(?s:.*?)\n</\1>").sub("", summary)
