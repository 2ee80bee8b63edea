"""Appends a piece of Markdown to the note of a day as it stands, without the parts that stand there already.

What a flush writes. Where the text begins and ends follows openclaw 2026.3.13 (table: context-flush-append).
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from oc.base.text import pattern, without_lone_surrogates
from oc.memory import paths
from oc.memory.write import CONTROL, FENCE, ITEM, Keep, Written, bare_line, keep, standing_at

_HEADING = r"#{1,6}\s"


class Part(NamedTuple):
    """A list item, a paragraph, a heading or a code block, with the blank lines after it.

    `level` of a heading, 0 for the rest.
    """

    text: str
    level: int

    @property
    def lines(self) -> list[str]:
        return [plain for line in self.text.split("\n") if (plain := bare_line(line))]


def append_block(  # noqa: PLR0913 - options, by keyword
    workspace: str,
    text: str,
    *,
    date: str,
    origin: Mapping[str, Any] | None = None,
    now_ms: int | None = None,
    dry_run: bool = False,
    lock_timeout_ms: int = 10_000,
) -> Written:
    """Appends what is new of a text to memory/<date>.md, on a line of its own; nothing in the file is changed.

    A part whose lines stand there in order, white space and list marks aside, is left out, and a heading with nothing
    new below it. Raises BadInput for a note behind a link, Busy for the lock.
    """
    path = f"{paths.FOLDER}/{date}{paths.ENDING}"
    how = Keep(workspace, path, now_ms, origin, lock_timeout_ms)
    return keep(how, lambda target: _plan(target, path, text), dry_run=dry_run)


def _plan(target: str, path: str, text: str) -> Written:
    try:
        with open(target, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        data = b""
    lines = data.decode("utf-8", "replace").split("\n")
    known = [(number, plain) for number, line in enumerate(lines, 1) if (plain := bare_line(line))]
    torn = bool(data) and not data.endswith(b"\n")
    parts = list(_parts(_plain(text)))
    kept = _new(parts, known)
    if not any(part.lines for part in kept):
        standing = next((at for part in parts if part.lines and (at := standing_at(known, part.text))), 1)
        return Written(path, standing)
    written = "".join(part.text for part in kept)
    written = written.removeprefix("\n") if torn else written
    return Written(path, *_placed(kept, written, len(lines) + torn), written)


def _placed(kept: list[Part], written: str, first: int) -> tuple[int, tuple[tuple[int, str], ...]]:
    """Returns the line of the first part that says something, and the parts with their lines."""
    number = first - ("".join(part.text for part in kept) != written)
    entries = []
    for part in kept:
        said = part.text.strip("\n")
        if said:
            before = len(part.text) - len(part.text.lstrip("\n"))
            entries.append((number + before, said))
        number += part.text.count("\n")
    return entries[0][0], tuple(entries)


def _new(parts: list[Part], known: list[tuple[int, str]]) -> list[Part]:
    """Returns the parts that do not stand in the note, each once; a heading only with something new below it."""
    fresh: list[Part] = []
    seen: set[tuple[str, ...]] = set()
    for part in parts:
        lines = tuple(part.lines)
        if part.level:
            while fresh and fresh[-1].level >= part.level:
                fresh.pop()
            # The title of the note is not repeated in its middle.
            if part.level > 1 or standing_at(known, part.text) is None:
                fresh.append(part)
        elif not lines or (lines not in seen and standing_at(known, part.text) is None):
            seen.add(lines)
            fresh.append(part)
    while fresh and (fresh[-1].level or not fresh[-1].lines):
        fresh.pop()
    return fresh


def _parts(text: str) -> Iterator[Part]:
    """Yields the parts of a text, which together are the text."""
    taken: list[str] = []
    fenced = blank = False
    level = 0
    for line in pattern(r"[^\n]*\n|[^\n]+").findall(text):
        said = line.strip() != ""
        starts = said and not line[0].isspace()
        starts = starts and (blank or level > 0 or bool(pattern(rf"{ITEM}|{_HEADING}").match(line)))
        if starts and taken and not fenced:
            yield Part("".join(taken), level)
            taken = []
        if not taken or starts:
            level = 0 if fenced or not pattern(_HEADING).match(line) else len(line) - len(line.lstrip("#"))
        fenced ^= bool(pattern(FENCE).match(line))
        blank = not said
        taken.append(line)
    if taken:
        yield Part("".join(taken), level)


def _plain(text: str) -> str:
    text = without_lone_surrogates(text).replace("\r\n", "\n").replace("\r", "\n")
    return pattern(CONTROL).sub("", text)
