"""The compact forms in which the context-* tables write long strings (see the README of the tables)."""

import hashlib
import os
from pathlib import Path
from typing import Any

from oc.base.text import len16, slice16


def expand(value: Any) -> Any:
    """Returns the value with `$rep`, `$cat` and `$lines` written out, at every depth."""
    if isinstance(value, list):
        return [expand(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        match next(iter(value.items())):
            case "$rep", [text, count]:
                return text * count
            case "$cat", parts:
                return "".join(map(expand, parts))
            case "$lines", [prefix, first, last]:
                return "\n".join(f"{prefix}{number}" for number in range(first, last + 1))
    return {key: expand(item) for key, item in value.items()}


def digest(text: str) -> dict[str, Any]:
    raw = text.encode("utf-16-le", "surrogatepass")
    ends = {"$head": slice16(text, 0, 200), "$tail": slice16(text, -200)}
    return {"$len": len16(text), "$sha256": hashlib.sha256(raw).hexdigest(), **ends}


def digested(value: Any) -> Any:
    """Returns the value with strings over 1500 UTF-16 units replaced by their digests, as `expected` has them."""
    if isinstance(value, str):
        return digest(value) if len16(value) > 1500 else value
    if isinstance(value, list | tuple):
        return [digested(item) for item in value]
    if isinstance(value, dict):
        return {key: digested(item) for key, item in value.items()}
    return value


def same(expected: Any, actual: Any) -> bool:
    """Compares with a value of a table; a failing assertion shows both sides in its form."""
    shown = digested(actual)
    assert expected == shown
    return True


def make_workspace(base: Path, given: dict[str, Any]) -> Path:
    """Makes `<base>/workspace` from `workspace` and the files of `outside` next to it; returns the workspace."""
    workspace = base / "workspace"
    workspace.mkdir()
    for folder, name in ((base, "outside"), (workspace, "workspace")):
        for relative, content in given.get(name, {}).items():
            path = folder / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            match expand(content):
                case str(text):
                    path.write_bytes(text.encode())
                case {"symlink": target}:
                    path.symlink_to(target)
                case {"hardlink": target}:
                    os.link(folder / target, path)
                case {"dir": True}:
                    path.mkdir()
                case {"size": size}:
                    path.write_bytes(b"x" * size)
                case other:
                    raise AssertionError(other)
    return workspace
