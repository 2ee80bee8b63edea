"""Writes facts into the notes of a day or into MEMORY.md: appended under a lock, never rewritten, never twice.

A fact is a list item; what comes as a list, a heading, a quote or a code block stays that. Lines written by people are
only read, to find facts that stand there already.
"""

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate
from typing import Any, NamedTuple

from oc.base import files
from oc.base.clock import iso
from oc.base.text import pattern, without_lone_surrogates
from oc.errors import BadInput, Usage
from oc.memory import ledger, paths

ITEM = r"([-*+]|\d{1,3}[.)])(?:\s+|\Z)"
_BLOCK = r"#{1,6}\s|>|\||```|~~~"
FENCE = r"\s*(```|~~~)"
CONTROL = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
NEW_FILE_MODE = 0o666  # as an editor would make it: the umask decides


class Written(NamedTuple):
    """Where a text stands, 1-based; `entries` are the new ones with their lines, none when all stood there before.

    `text` is what was appended: the entries, after a title or a blank line where one was needed.
    """

    path: str
    line: int
    entries: tuple[tuple[int, str], ...] = ()
    text: str = ""

    @property
    def added(self) -> bool:
        return bool(self.entries)


def add(workspace: str, text: str, **how: Any) -> tuple[str, int]:
    """Appends a fact and returns the note's path and the line where it stands; takes what `remember` takes."""
    written = remember(workspace, text, **how)
    return written.path, written.line


def remember(  # noqa: PLR0913 - options, by keyword
    workspace: str,
    text: str,
    *,
    date: str,
    long_term: bool = False,
    origin: Mapping[str, Any] | None = None,
    now_ms: int | None = None,
    dry_run: bool = False,
    lock_timeout_ms: int = 10_000,
) -> Written:
    """Appends what is new of a text to the note of `date` (YYYY-MM-DD), or to MEMORY.md.

    Facts that stand in that file already, white space and list markers aside, are left out; when all do, nothing is
    written and the place of the first is returned. Raises Usage for a text without a word, Busy for the lock.
    """
    items = _items(_clean(text))
    if not items:
        raise Usage("nothing to remember: the text is empty")
    path = _long_term_name(workspace) if long_term else f"{paths.FOLDER}/{date}{paths.ENDING}"
    how = Keep(workspace, path, now_ms, origin, lock_timeout_ms)
    return keep(how, lambda target: _plan(target, path, items, date), dry_run=dry_run)


class Keep(NamedTuple):
    """Where and in whose name something is written; `path` is the note's, below the workspace."""

    workspace: str
    path: str
    now_ms: int | None
    origin: Mapping[str, Any] | None
    lock_timeout_ms: int


def keep(how: Keep, plan: Callable[[str], Written], *, dry_run: bool) -> Written:
    """Plans, under the lock, what a note lacks, and appends it: the ledger's rows first, taken back when that fails."""
    workspace = how.workspace
    target = os.path.join(workspace, how.path)
    refuse_links(workspace, target, how.path)
    if dry_run:
        return plan(target)
    files.make_folder(os.path.join(workspace, paths.FOLDER), 0o777)
    with locked(workspace, how.lock_timeout_ms):
        planned = plan(target)
        if planned.added:
            moment = iso(time.time_ns() // 1_000_000 if how.now_ms is None else how.now_ms)
            with ledger.taken_back(workspace, target):
                ledger.record(workspace, planned.entries, path=how.path, time=moment, origin=how.origin or {})
                # A last line without LF gets one here.
                files.append(target, planned.text.encode("utf-8", "replace"), NEW_FILE_MODE)
        return planned


@contextmanager
def locked(workspace: str, timeout_ms: int) -> Iterator[None]:
    """One lock for all notes of a workspace and their ledger, which is written with each of them."""
    path = ledger.path_of(workspace)
    with files.lock(path, timeout_ms=timeout_ms):
        files.sweep_temps(path)
        yield


def _long_term_name(workspace: str) -> str:
    first, second = paths.ROOT_NOTES
    exists = os.path.lexists
    return second if exists(os.path.join(workspace, second)) and not exists(os.path.join(workspace, first)) else first


def refuse_links(workspace: str, target: str, path: str) -> None:
    """A link could lead a write anywhere, and what lies behind one is not indexed."""
    root = os.path.realpath(workspace)
    if os.path.islink(target) or os.path.realpath(target) != os.path.join(root, *path.split("/")):
        raise BadInput("is a symbolic link, or behind one; notes are written to files of the workspace only", path=path)


def _plan(target: str, path: str, items: list[str], date: str) -> Written:
    """Returns what would be appended and where its first line would stand."""
    try:
        with open(target, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        data = b""
    lines = data.decode("utf-8", "replace").split("\n")
    known = [(number, bare) for number, line in enumerate(lines, 1) if (bare := bare_line(line))]
    standing = [standing_at(known, item) for item in items]
    new = [item for item, line in zip(items, standing, strict=True) if line is None]
    if not new:
        return Written(path, standing[0] or 1)
    head = "" if data else f"# {date}\n\n" if path.startswith(paths.FOLDER) else "# Memory\n\n"
    torn = bool(data) and not data.endswith(b"\n")
    gap = "\n" if data and _needs_gap(lines, new[0], torn=torn) else ""
    first = len(lines) + torn + head.count("\n") + gap.count("\n")
    starts = accumulate((item.count("\n") + 1 for item in new[:-1]), initial=first)
    return Written(path, first, tuple(zip(starts, new, strict=True)), head + gap + "\n".join(new) + "\n")


def _needs_gap(lines: list[str], item: str, *, torn: bool) -> bool:
    """Says whether a blank line must come first: between a paragraph, heading or code block and a list, and so on."""
    last = (lines[-1] if torn else lines[-2] if len(lines) > 1 else "").rstrip("\r")
    if not last.strip():
        return False
    both_lists = pattern(ITEM).match(item) and (pattern(ITEM).match(last.lstrip()) or last.startswith((" ", "\t")))
    return not both_lists


def _clean(text: str) -> str:
    """Returns the text with LF line ends, without control characters, blank edges and white space at line ends."""
    text = without_lone_surrogates(text).replace("\r\n", "\n").replace("\r", "\n")
    text = pattern(CONTROL).sub("", text)
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def _items(text: str) -> list[str]:
    """Returns the entries of a text as they are written: each list item by itself, other blocks and prose whole."""
    if not text.strip():
        return []
    if pattern(_BLOCK).match(text):
        return [text]
    lines = text.split("\n")
    if not pattern(ITEM).match(lines[0]):
        indented = [lines[0].strip(), *("  " + line if line else "" for line in lines[1:])]
        return ["- " + "\n".join(indented)]
    items: list[list[str]] = []
    fenced = False
    for line in lines:
        if pattern(ITEM).match(line) and not fenced:
            items.append([])
        fenced ^= pattern(FENCE).match(line) is not None
        items[-1].append(line)
    written = ("\n".join(item).rstrip("\n") for item in items)
    return [item for item in dict.fromkeys(written) if any(map(bare_line, item.split("\n")))]


def bare_line(line: str) -> str:
    """Returns a line as duplicates are told: without list marker, with single spaces."""
    stripped = " ".join(line.split())
    return re.sub(rf"\A{ITEM}", "", stripped)


def standing_at(known: list[tuple[int, str]], item: str) -> int | None:
    """Returns the line at which all lines of an item stand in order, blank ones aside."""
    wanted = [bare for line in item.split("\n") if (bare := bare_line(line))]
    for at, (number, bare) in enumerate(known):
        if bare == wanted[0] and [b for _, b in known[at : at + len(wanted)]] == wanted:
            return number
    return None
