"""Finds the parts of a Markdown text: headings, fenced code, whole sections by name, sections marked to be kept.

Pure. `extract_sections` follows openclaw 2026.3.13 (table: tests/vectors/context-post-compaction.json).
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oc.base.text import JS_SPACE, js_trim, pattern

KEEP_MARK = "<!-- oc:keep -->"
_H2_H3 = rf"(#{{2,3}})[{JS_SPACE}]+([^\n]+?)[{JS_SPACE}]*$"
_ANY = r"(#{1,6})[ \t]+(.+?)[ \t#]*\r?$"
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
        heading = None if code else re.match(_H2_H3, line)
        if heading:
            if taken and len(heading[1]) <= level:
                break
            if not taken and heading[2].lower() == wanted:
                level = len(heading[1])
                taken.append(line)
                continue
        if taken:
            taken.append(line)
    return js_trim("\n".join(taken))


def headings(text: str) -> Iterator[Heading]:
    """Yields every ATX heading outside fenced code."""
    for number, offset, line, code in _lines(text):
        match = None if code or not line.startswith("#") else pattern(_ANY).match(line)
        if match:
            yield Heading(len(match[1]), match[2], number, offset)


def kept_sections(text: str) -> tuple[list[Span], list[int]]:
    """Returns the sections marked `<!-- oc:keep -->`, apart and in order, and the lines of marks that keep nothing.

    A mark stands on a line of its own before a heading, with nothing but blank lines between; the section goes on to
    the next heading of the same or a higher level.
    """
    if "oc:keep" not in text:
        return [], []
    marks = [number for number, _, line, code in _lines(text) if not code and re.match(_KEEP, line)]
    starts = list(headings(text))
    lines = text.split("\n")
    spans: list[Span] = []
    idle = []
    for mark in marks:
        at = next((i for i, h in enumerate(starts) if h.number > mark), None)
        if at is None or any(
            line.strip() and not re.match(_KEEP, line) for line in lines[mark : starts[at].number - 1]
        ):
            idle.append(mark)
            continue
        heading = starts[at]
        end = next((h.start for h in starts[at + 1 :] if h.level <= heading.level), len(text))
        if not spans or heading.start >= spans[-1].end:
            spans.append(Span(heading.start, end, heading.number, heading.title))
    return spans, idle
