"""Starter files of a workspace: ours, in English and Chinese, from oc/data/templates. Writes new files only."""

import os
from contextlib import suppress
from typing import NamedTuple

from oc.base import files
from oc.workspace.names import LONG_TERM, STANDARD

TEMPLATES = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "templates")
LANGUAGES = ("en", "zh")
FIRST_RUN = "BOOTSTRAP.md"
_TEMP = ".oc-init-"


class Made(NamedTuple):
    """`action`: `created`, `would create`, `kept` (there already) or `left out` (BOOTSTRAP.md of a used workspace)."""

    name: str
    path: str
    action: str


def template(name: str, language: str) -> bytes:
    with open(os.path.join(TEMPLATES, language, name), "rb") as file:
        return file.read()


def is_brand_new(workspace: str) -> bool:
    """Says whether nothing of a workspace is there yet: only then does BOOTSTRAP.md have a meaning."""
    return not any(os.path.lexists(os.path.join(workspace, name)) for name in (*STANDARD, *LONG_TERM, "memory"))


def plan(workspace: str) -> list[Made]:
    """Returns what `create` would do; only looks."""
    new = is_brand_new(workspace)
    planned = []
    for name in STANDARD:
        path = os.path.join(workspace, name)
        kept = "kept" if os.path.lexists(path) else "would create"
        planned.append(Made(name, path, "left out" if name == FIRST_RUN and not new and kept != "kept" else kept))
    return planned


def create(workspace: str, language: str) -> list[Made]:
    """Makes the files that are missing, in order, and never replaces one; raises OSError.

    BOOTSTRAP.md is made first: after a run that died half-way the workspace no longer looks new. No lock is needed,
    since of two runs at once only one can make a file.
    """
    files.make_folder(workspace)
    _remove_leftovers(workspace)
    planned = plan(workspace)
    done = {}
    for made in sorted(planned, key=lambda m: m.name != FIRST_RUN):
        if made.action == "would create":
            created = _create(made.path, template(made.name, language))
            made = made._replace(action="created" if created else "kept")  # noqa: PLW2901
        done[made.name] = made
    files.sync_folder(workspace)
    return [done[made.name] for made in planned]


def _create(path: str, data: bytes) -> bool:
    """Puts a new file in place whole or not at all; returns False when somebody else made it meanwhile."""
    temp = os.path.join(os.path.dirname(path), f"{_TEMP}{os.getpid()}.tmp")
    with suppress(FileNotFoundError):
        os.unlink(temp)  # of a dead process that had our number
    try:
        _write_new(temp, data)
        try:
            # A rename would replace; a link never does.
            os.link(temp, path)
        except FileExistsError:
            return False
        except OSError:  # a file system without hard links: not whole at every moment, but never replacing
            return _write_new(path, data)
        return True
    finally:
        # As long as the second name is there the new file counts as a hard link, which nobody may read.
        with suppress(FileNotFoundError):
            os.unlink(temp)


def _write_new(path: str, data: bytes) -> bool:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    except FileExistsError:
        return False
    try:
        files.write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return True


def _remove_leftovers(workspace: str) -> None:
    """Removes the temp files of runs that died: until then the file beside one counts as a hard link."""
    for name in os.listdir(workspace):
        pid = name.removeprefix(_TEMP).removesuffix(".tmp")
        if name == f"{_TEMP}{pid}.tmp" and pid.isdecimal() and not files.is_alive(int(pid)):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(workspace, name))
