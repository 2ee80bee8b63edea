"""Which paths are notes: MEMORY.md, memory.md, what lies below memory/, and the extra paths of the configuration. Pure.

Behaviour follows openclaw 2026.3.13; table: tests/vectors/memory-paths.json.
"""

import os
from collections.abc import Collection, Iterable

from oc.base.text import js_trim, pattern

ROOT_NOTES = ("MEMORY.md", "memory.md")
FOLDER = "memory"
ENDING = ".md"
_MEDIA = {
    "image": (".jpg", ".jpeg", ".png", ".webp", ".gif", ".heic", ".heif"),
    "audio": (".mp3", ".wav", ".ogg", ".opus", ".m4a", ".aac", ".flac"),
}
_NOT_WATCHED = frozenset((".git", "node_modules", ".pnpm-store", ".venv", "venv", ".tox", "__pycache__"))
_DAY = r"\d{4}-\d\d-\d\d(?:\.md)?\Z"


def normal(path: str) -> str:
    """Returns a path relative to the workspace without leading dots and slashes, with `/` between its parts.

    `..` inside is left alone: the caller resolves first.
    """
    return pattern(r"^[./]+").sub("", js_trim(path)).replace("\\", "/")


def is_memory_path(path: str) -> bool:
    """Says whether a path relative to the workspace names a root note or something below memory/."""
    plain = normal(path)
    return plain in ROOT_NOTES or plain.startswith(FOLDER + "/")


def is_note_name(path: str, modalities: Collection[str] = ()) -> bool:
    """Says whether a file of that name is indexed: Markdown (the ending in lower case), or enabled media."""
    if path.endswith(ENDING):
        return True
    lower = path.lower()
    return any(lower.endswith(_MEDIA[kind]) for kind in modalities)


def is_ignored_by_watch(path: str) -> bool:
    """Says whether a watcher looks away: a folder of tools or caches anywhere in the path, whatever its case."""
    return any(part.lower() in _NOT_WATCHED for part in path.replace("\\", "/").split("/"))


def extra_paths(workspace: str, named: Iterable[str]) -> list[str]:
    """Returns the extra paths absolute, each once, blank ones left out."""
    absolute = (os.path.abspath(os.path.join(workspace, js_trim(path))) for path in named if js_trim(path))
    return list(dict.fromkeys(absolute))


def relative(workspace: str, path: str) -> str:
    """Returns the name that a note has in hits and in the index: relative to the workspace, `/` between parts."""
    return os.path.relpath(path, workspace).replace(os.sep, "/")


def is_day(name: str) -> bool:
    """Says whether a bare name is that of a day's note, with or without its ending."""
    return pattern(_DAY).match(js_trim(name)) is not None


def as_note(name: str) -> str | None:
    """Returns the path that a bare name stands for, None for what is none: `2026-06-30` is `memory/2026-06-30.md`."""
    plain = js_trim(name)
    if plain in ROOT_NOTES or "/" in plain or "\\" in plain:
        return None
    if plain.endswith(ENDING):
        return f"{FOLDER}/{plain}"
    return f"{FOLDER}/{plain}{ENDING}" if is_day(plain) else None
