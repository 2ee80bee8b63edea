"""Fits workspace files into their budgets: 70 % head and 20 % tail of a file that is too long, marked sections first.

Pure. Lengths are UTF-16 code units. Behaviour follows openclaw 2026.3.13 (table: context-bootstrap-truncate.json);
sections marked `<!-- oc:keep -->`, which the reference does not know, are kept before anything else.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from oc.base.text import cut16, js_trim_end, len16, slice16
from oc.workspace.load import File
from oc.workspace.sections import Span, kept_sections

MAX_CHARS = 20_000
TOTAL_MAX_CHARS = 150_000
MIN_FILE_CHARS = 64
_GAP = "[...]"


class Injected(NamedTuple):
    """What of a file goes into the context; `dropped`: 1-based ranges of lines that are lost in whole or in part."""

    name: str
    path: str
    content: str
    dropped: tuple[tuple[int, int], ...] = ()


class _Cut(NamedTuple):
    """A shortened text and which parts of the original stand in it: (place in `text`, start, end), in UTF-16 units."""

    text: str
    kept: tuple[tuple[int, int, int], ...]


def line_words(ranges: Sequence[tuple[int, int]]) -> str:
    """Returns ranges of lines for people: `3, 7-9`."""
    return ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in ranges)


def trim(
    files: Sequence[File], max_chars: int = MAX_CHARS, total_max_chars: int | None = None
) -> tuple[list[Injected], list[str]]:
    """Returns the files as they are injected, in order, and a warning for each that is shortened or left out.

    A missing file becomes a line that says where it was expected; a blank one vanishes. The markers count against the
    total budget but not against the file's, so a shortened file may be longer than `max_chars`.
    """
    remaining = max(1, max(max_chars, TOTAL_MAX_CHARS) if total_max_chars is None else total_max_chars)
    needs = [_need(file, max_chars) for file in files]
    injected: list[Injected] = []
    warnings: list[str] = []
    for index, file in enumerate(files):
        if remaining <= 0:
            break
        if not file.path.strip():
            warnings.append(f"workspace bootstrap file {file.name} has no path; left out")
            continue
        # What later files must keep is set aside; without marks nothing is, and this is the reference's rule.
        budget = max(remaining - sum(needs[index + 1 :]), min(remaining, needs[index]))
        if budget < MIN_FILE_CHARS and file.content is not None:
            note = f"remaining bootstrap budget is {budget} chars (<{MIN_FILE_CHARS})"
            warnings.append(f"{note}; skipping additional bootstrap files")
            if not any(needs[index + 1 :]):
                break
            continue
        item = _inject(file, max_chars, budget, warnings)
        if item.content:
            remaining -= len16(item.content)
            injected.append(item)
        elif file.content is None and not any(needs[index + 1 :]):
            break
    return injected, warnings


def _inject(file: File, max_chars: int, budget: int, warnings: list[str]) -> Injected:
    if file.content is None:
        return Injected(file.name, file.path, _clamp(f"[MISSING] Expected at: {file.path}", budget))
    limit = max(1, min(max_chars, budget))
    text = js_trim_end(file.content)
    size = len16(text)
    if size <= limit:
        return Injected(file.name, file.path, text)
    warnings.append(
        f"workspace bootstrap file {file.name} is {size} chars (limit {limit}); truncating in injected context"
    )
    spans, _ = kept_sections(text)
    cut = _keep_first(text, file.name, limit, spans) if spans else None
    cut = cut or _head_and_tail(text, file.name, limit)
    content = _clamp(cut.text, budget)
    shown = len16(content) - (content != cut.text and budget > 3)
    return Injected(file.name, file.path, content, _dropped(text, cut.kept, shown))


def _clamp(text: str, budget: int) -> str:
    if len16(text) <= budget:
        return text
    return cut16(text, budget) if budget <= 3 else cut16(text, budget - 1) + "…"


def _marker(name: str, kept: str, size: int) -> str:
    return f"[...truncated, read {name} for full content...]\n…(truncated {name}: kept {kept} chars of {size})…"


def _head_and_tail(text: str, name: str, limit: int) -> _Cut:
    size = len16(text)
    head, tail = int(limit * 0.7), int(limit * 0.2)
    # As JavaScript's slice(-0) does, a tail of nothing is the whole text; only a limit below 5 comes here.
    start = size - tail if tail else 0
    first = slice16(text, 0, head)
    middle = f"\n\n{_marker(name, f'{head}+{tail}', size)}\n\n"
    return _Cut(first + middle + slice16(text, start), ((0, 0, head), (len16(first) + len16(middle), start, size)))


def _overhead(name: str, size: int, spans: Sequence[Span]) -> int:
    """Returns how long the markers between head, kept sections and tail can get."""
    return len16(_marker(name, f"{size}+{size}+{size}", size)) + 4 + len(spans) * (len(_GAP) + 4)


def _need(file: File, max_chars: int) -> int:
    """Returns how much of the budget the marked sections of a file ask for."""
    if file.content is None or "oc:keep" not in file.content:
        return 0
    text = js_trim_end(file.content)
    spans, _ = kept_sections(text)
    if not spans:
        return 0
    size = len16(text)
    marked = sum(len16(text[span.start : span.end]) for span in spans)
    return min(size, max_chars, marked + _overhead(file.name, size, spans))


def _keep_first(text: str, name: str, limit: int, spans: Sequence[Span]) -> _Cut | None:
    """Returns the marked sections with as much head and tail around them as fits, markers included, in `limit`.

    A section that does not fit any more is cut. None when there is no room for markers.
    """
    size = len16(text)
    left = limit - _overhead(name, size, spans)
    if left <= 0:
        return None
    marked: list[tuple[int, int]] = []
    for span in spans:
        part = cut16(text[span.start : span.end], left)
        left -= len16(part)
        if part:
            marked.append((span.start, span.start + len(part)))
    head_chars = left * 7 // 9
    free = _between(marked, len(text))
    head, used = _take(text, free, head_chars)
    tail, used_tail = _take_last(text, free, left - head_chars)
    kept = f"{used}+{sum(len16(text[a:b]) for a, b in marked)}+{used_tail}"
    return _joined(text, _merged([*marked, *head, *tail]), _marker(name, kept, size))


def _between(ranges: list[tuple[int, int]], end: int) -> list[tuple[int, int]]:
    edges = [0, *(edge for pair in ranges for edge in pair), end]
    return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]


def _take(text: str, free: list[tuple[int, int]], chars: int) -> tuple[list[tuple[int, int]], int]:
    taken = []
    left = chars
    for start, end in free:
        part = cut16(text[start:end], left)
        if part:
            taken.append((start, start + len(part)))
            left -= len16(part)
        if start + len(part) < end:
            break
    return taken, chars - left


def _take_last(text: str, free: list[tuple[int, int]], chars: int) -> tuple[list[tuple[int, int]], int]:
    mirrored = [(len(text) - end, len(text) - start) for start, end in reversed(free)]
    taken, used = _take(text[::-1], mirrored, chars)
    return [(len(text) - end, len(text) - start) for start, end in taken], used


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _joined(text: str, ranges: list[tuple[int, int]], marker: str) -> _Cut:
    """Joins the ranges with the marker in the first gap and a short sign in the others."""
    parts: list[str] = []
    kept: list[tuple[int, int, int]] = []
    sign = marker
    place = position = units = 0
    for start, end in [*ranges, (len(text), len(text))]:
        if start > position:
            gap = ("\n\n" if parts else "") + sign + ("\n\n" if start < end else "")
            parts.append(gap)
            place += len16(gap)
            sign = _GAP
        units += len16(text[position:start])
        if start < end:
            size = len16(text[start:end])
            kept.append((place, units, units + size))
            parts.append(text[start:end])
            place += size
            units += size
        position = end
    return _Cut("".join(parts), tuple(kept))


def _dropped(text: str, kept: Sequence[tuple[int, int, int]], shown: int) -> tuple[tuple[int, int], ...]:
    """Returns the lines of which something is not among the first `shown` units of the cut text."""
    visible = [(start, min(end, start + shown - place)) for place, start, end in kept if place < shown]
    lost = _between(_merged([pair for pair in visible if pair[0] < pair[1]]), len16(text))
    ends = list(accumulate(len16(line) + 1 for line in text.split("\n")))
    return tuple((bisect_right(ends, start) + 1, bisect_right(ends, end - 1) + 1) for start, end in lost)
