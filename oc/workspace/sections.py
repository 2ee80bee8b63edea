"""Finds the parts of a Markdown text: headings, fenced code, whole sections by name, sections marked to be kept.

Pure. `extract_sections` follows openclaw 2026.3.13 (table: tests/vectors/context-post-compaction.json).
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oc.base.text import JS_SPACE, js_trim

KEEP_MARK = "<!-- oc:keep -->"
_KEEP = r"\s*<!--\s*oc:keep\s*-->\s*$"


class Heading(NamedTuple):
    """`number`: line, 1-based; `start`: offset of the line in the text."""

    level: int
    title: str
    number: int
    start: int


class Span(NamedTuple):
    """A part of a text: offsets [start, end) and the 1-based number of its first line."""

    start: int
    end: int
    number: int
    title: str


def _lines(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Yields (number, offset, line without its line feed, in fenced code); the fences themselves count as code."""
    offset = 0
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        fence = js_trim(line).startswith("```")
        yield number, offset, line, fenced or fence
        fenced ^= fence
        offset += len(line) + 1


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Yields (number, line) for the lines that are not fenced code."""
    return ((number, line) for number, _, line, code in _lines(text) if not code)


def extract_sections(markdown: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """Returns (name, section) for each name that has a section, in the order of the names.

    A section starts at the first H2 or H3 of that title, in any case, and ends at the next one of its own or a higher
    level; H1 and H4 to H6 are part of it, and so is fenced code, whatever it looks like.
    """
    lines = list(_lines(markdown.removeprefix("\ufeff")))
    found = []
    for name in names:
        section = _section(lines, name)
        if section:
            found.append((name, section))
    return found


def _section(lines: list[tuple[int, int, str, bool]], name: str) -> str:
    taken: list[str] = []
    level = 0
    wanted = name.strip().lower()
    for _, _, line, code in lines:
        heading = None if code else _heading(line, (2, 3), JS_SPACE)
        if heading:
            if taken and heading[0] <= level:
                break
            if not taken and heading[1].lower() == wanted:
                level = heading[0]
                taken.append(line)
                continue
        if taken:
            taken.append(line)
    return js_trim("\n".join(taken))


def _heading(line: str, levels: tuple[int, ...], space: str) -> tuple[int, str] | None:
    """Returns (level, title) of a heading line: signs, white space, title. By hand, since a regex would backtrack."""
    title = line.lstrip("#")
    level = len(line) - len(title)
    if level not in levels or len(title) < 2 or title[0] not in space:
        return None
    return level, title.strip(space)


def headings(text: str) -> Iterator[Heading]:
    """Yields every ATX heading outside fenced code; a closing run of `#` is no part of the title."""
    for number, offset, line, code in _lines(text):
        found = None if code or not line.startswith("#") else _heading(line, (1, 2, 3, 4, 5, 6), " \t\r")
        if found and found[1]:
            yield Heading(found[0], _unclosed(found[1]), number, offset)


def _unclosed(title: str) -> str:
    bare = title.rstrip("#")
    return bare.rstrip() if bare != title and bare.endswith((" ", "\t")) else title


def kept_sections(text: str) -> tuple[list[Span], list[int]]:
    """Returns the sections marked `<!-- oc:keep -->`, apart and in order, and the lines of marks that keep nothing.

    A mark stands on a line of its own before a heading, with nothing but blank lines between; the section goes on to
    the next heading of the same or a higher level.
    """
    if "oc:keep" not in text:
        return [], []
    starts = list(headings(text))
    at = {heading.number: index for index, heading in enumerate(starts)}
    spans: list[Span] = []
    idle: list[int] = []
    pending: list[int] = []
    for number, _, line, code in _lines(text):
        if not code and "oc:keep" in line and re.match(_KEEP, line):
            pending.append(number)
        elif pending and line.strip():
            if number not in at:
                idle += pending
            elif not spans or starts[at[number]].start >= spans[-1].end:
                spans.append(_span(starts, at[number], len(text)))
            pending = []
    return spans, idle + pending


def _span(starts: list[Heading], index: int, size: int) -> Span:
    heading = starts[index]
    following = (starts[i] for i in range(index + 1, len(starts)))
    end = next((h.start for h in following if h.level <= heading.level), size)
    return Span(heading.start, end, heading.number, heading.title)
