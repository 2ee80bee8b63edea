"""Cuts a note into chunks: whole lines up to a budget, with some lines of overlap.

Chunks know no Markdown: headings, fences and front matter are plain lines. What a chunk measures is a parameter:
`REFERENCE` is what openclaw 2026.3.13 does (a Han character counts a quarter of a token, overlap may double a chunk,
surrogate pairs are cut; tests/vectors/memory-chunk.json), `ESTIMATE` is ours (design D15): a chunk is never over
budget, overlap is whole lines that fit, a long line is cut between sentences or words and never inside a character.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from oc.base.text import cut16, len16, pattern, slice16, weight16

MIN_UNITS = 32
UNITS_PER_TOKEN = 4
# Where a long line may be cut: after a sentence, else after white space or a comma.
_SENTENCE_END = "[.!?;](?=\\s)|[。！？；…]"
_WORD_END = "[\\s,，、：:)）】」』]"
# A mark, joiner, variation selector or skin tone belongs to the character before it; a joiner also holds the next one.
_EXTENDS = "[\u0300-\u036f\u0591-\u05c7\u064b-\u0670\u0900-\u0903\u093a-\u094f\u0e31-\u0e4e\u200d\u20d0-\u20f0\u3099\u309a\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]"  # noqa: E501


class Chunk(NamedTuple):
    """`start_line` and `end_line` are 1-based and inclusive."""

    start_line: int
    end_line: int
    text: str


class Measure(NamedTuple):
    """How long a line is in quarter tokens, how one longer than the budget is cut, and which lines are repeated.

    `carry(sizes, overlap_units)` returns how many segments from the end of a chunk start the next one; `strict` drops
    carried segments for which the budget has no room.
    """

    size: Callable[[str], int]
    cut: Callable[[str, int], Sequence[str]]
    carry: Callable[[Sequence[int], int], int]
    strict: bool


def chunk(text: str, *, tokens: int, overlap: int, measure: Measure) -> list[Chunk]:
    """Returns the chunks of a text in order; `tokens` is the budget of each, `overlap` what neighbours share.

    Lines end at LF only. The empty text is one empty chunk. `overlap` is clamped below `tokens`.
    """
    lines = text.split("\n")
    return chunk_lines(lines, list(map(measure.size, lines)), tokens=tokens, overlap=overlap, measure=measure)


def chunk_lines(
    lines: Sequence[str], sizes: Sequence[int], *, tokens: int, overlap: int, measure: Measure
) -> list[Chunk]:
    """Does the same for lines whose sizes are known."""
    overlap = max(0, min(overlap, tokens - 1))
    max_units, overlap_units = max_chunk_units(tokens), overlap * UNITS_PER_TOKEN
    pieces, sizes, numbers = _segments(lines, sizes, max_units, measure)
    chunks: list[Chunk] = []
    first = total = 0
    for at, size in enumerate(sizes):
        if total + size > max_units and at > first:
            chunks.append(Chunk(numbers[first], numbers[at - 1], "\n".join(pieces[first:at])))
            keep = measure.carry(sizes[first:at], overlap_units) if overlap_units else 0
            while measure.strict and keep and sum(sizes[at - keep : at]) + size > max_units:
                keep -= 1
            first = at - keep
            total = sum(sizes[first:at])
        total += size
    chunks.append(Chunk(numbers[first], numbers[-1], "\n".join(pieces[first:])))
    return chunks


def max_chunk_units(tokens: int) -> int:
    """Returns the budget of a chunk in quarter tokens."""
    return max(MIN_UNITS, tokens * UNITS_PER_TOKEN)


def _segments(
    lines: Sequence[str], sizes: Sequence[int], max_units: int, measure: Measure
) -> tuple[Sequence[str], Sequence[int], Sequence[int]]:
    """Returns segments, their sizes with the line feed and their line numbers; a cut line gives several segments."""
    if max(sizes) <= max_units:
        return lines, [size + 1 for size in sizes], range(1, len(lines) + 1)
    pieces: list[str] = []
    numbers: list[int] = []
    for number, (line, size) in enumerate(zip(lines, sizes, strict=True), 1):
        cut = [line] if size <= max_units else measure.cut(line, max_units)
        pieces += cut
        numbers += [number] * len(cut)
    return pieces, [measure.size(piece) + 1 for piece in pieces], numbers


def _cut_anywhere(line: str, max_units: int) -> list[str]:
    return [slice16(line, at, at + max_units) for at in range(0, len16(line), max_units)]


def _carry_crossing(sizes: Sequence[int], overlap_units: int) -> int:
    """Counts segments from the end until they reach the overlap; the one that crosses it is included."""
    total = 0
    for count, size in enumerate(reversed(sizes), 1):
        total += size
        if total >= overlap_units:
            return count
    return len(sizes)


def _cut_between(line: str, max_units: int) -> list[str]:
    """Cuts where a sentence ends in the last half of the budget, else a word in its last quarter, else a character."""
    pieces = []
    while weight16(line) > max_units:
        end = _prefix(line, max_units)
        end = _last_end(_SENTENCE_END, line, end // 2, end) or _last_end(_WORD_END, line, end * 3 // 4, end) or end
        end = _character_start(line, end)
        pieces.append(line[:end])
        line = line[end:]
    return [*pieces, line] if line else pieces


def _prefix(line: str, max_units: int) -> int:
    """Returns how many code points of the line fit, at least one."""
    low, high = 1, max_units
    while low < high:
        middle = (low + high + 1) // 2
        if weight16(line[:middle]) <= max_units:
            low = middle
        else:
            high = middle - 1
    return low


def _last_end(expression: str, line: str, start: int, end: int) -> int:
    found = 0
    for match in pattern(expression).finditer(line, start, end):
        found = match.end()
    return found


def _character_start(line: str, end: int) -> int:
    """Moves a cut back out of a character that is made of several code points, unless that leaves nothing."""
    at = end
    while at > 0 and (pattern(_EXTENDS).match(line, at) or line[at - 1] == "\u200d"):
        at -= 1
    return at or end


def _carry_within(sizes: Sequence[int], overlap_units: int) -> int:
    """Counts whole segments from the end that fit into the overlap."""
    total = count = 0
    for size in reversed(sizes):
        total += size
        if total > overlap_units:
            break
        count += 1
    return count


REFERENCE = Measure(len16, _cut_anywhere, _carry_crossing, strict=False)
ESTIMATE = Measure(weight16, _cut_between, _carry_within, strict=True)


def remap(chunks: Sequence[Chunk], line_map: Sequence[int]) -> list[Chunk]:
    """Returns the chunks with content lines replaced by `line_map[line - 1]`; a line that has none is kept."""
    return [Chunk(_mapped(c.start_line, line_map), _mapped(c.end_line, line_map), c.text) for c in chunks]


def _mapped(line: int, line_map: Sequence[int]) -> int:
    return line_map[line - 1] if 0 < line <= len(line_map) else line


def split_utf8(text: str, max_bytes: int) -> list[str]:
    """Cuts a text into pieces of at most `max_bytes` of UTF-8, never inside a surrogate pair.

    A character of the BMP that is longer than the limit is a piece of its own; a pair that is ends the text (limits
    are thousands of bytes, the table has the case). `max_bytes` 0 or less, or a short text: uncut.
    """
    if max_bytes <= 0 or _utf8_size(text) <= max_bytes:
        return [text]
    pieces = []
    at, length = 0, len16(text)
    while at < length:
        low, high = at + 1, min(length, at + max_bytes)
        while low < high:
            middle = (low + high + 1) // 2
            if _utf8_size(slice16(text, at, middle)) <= max_bytes:
                low = middle
            else:
                high = middle - 1
        piece = cut16(slice16(text, at), low - at)
        if not piece:
            break
        pieces.append(piece)
        at += len16(piece)
    return pieces


def _utf8_size(text: str) -> int:
    """Returns the bytes Node writes for the text: three for a lone surrogate, as U+FFFD has."""
    return len(text.encode("utf-8", "surrogatepass"))


# Longest input in tokens by provider and model (openclaw 2026.3.13); what is not named takes 8192.
_MAX_INPUT = {
    "openai:text-embedding-ada-002": 8191,
    "gemini:text-embedding-004": 2048,
    "gemini:gemini-embedding-2-preview": 8192,
    "gemini": 2048,
    "voyage:voyage-3": 32000,
    "voyage:voyage-3-lite": 16000,
    "voyage:voyage-code-3": 32000,
    "local": 2048,
}


def max_input_tokens(provider: str, model: str) -> int:
    """Returns the longest input of an embedding model; bytes stand in for tokens when chunks are cut to it."""
    provider = provider.lower()
    return _MAX_INPUT.get(f"{provider}:{model.lower()}", _MAX_INPUT.get(provider, 8192))
