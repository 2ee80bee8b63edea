"""The lines of a chunk that answer, as a hit shows them: whole lines, no more than 700 characters. Pure.

A snippet is the run of blocks in which most of the query's mass stands. A block is a list item with its continuation,
a paragraph, or a heading, together with what follows it when it is the heading that matches. Only a block that is
longer by itself is cut, and a line that is, inside.
"""

from collections.abc import Sequence

from oc.base.text import cut16, len16, pattern
from oc.base.typed import NamedTuple
from oc.memory.match import Place

MAX_CHARS = 700
_ITEM = r"\s*(?:[-*+]|\d{1,3}[.)])\s"
_HEADING = r"#{1,6}\s"
_SENTENCE_START = "(?:[.!?;]\\s+|[。！？；…]|\\n)(?=\\S)"
_WORD_START = "(?:\\s+|[，、：])(?=\\S)"
# Each further block must add that share of the mass found, else the answer drowns in its surroundings.
_PRICE_OF_BLOCK = 0.04
_LEAD_CHARS = 80


class Snippet(NamedTuple):
    """`first` and `last` count the chunk's lines from 0."""

    text: str
    first: int
    last: int


def snippet(text: str, found: Sequence[Place], masses: Sequence[float], max_chars: int = MAX_CHARS) -> Snippet:
    """Returns the best lines of a chunk; without a unit in it, its first ones. Lengths are UTF-16 units."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    holding = _units_of_lines(starts, found)
    blocks = _blocks(lines, holding)
    if not blocks:
        return Snippet("", 0, 0)
    best = _best_run(lines, blocks, holding, masses, max_chars)
    if best is None:
        single = [(at, at) for first, last in blocks for at in range(first, last + 1)]
        best = _best_run(lines, single, holding, masses, max_chars)
    if best is not None:
        return Snippet("\n".join(lines[best[0] : best[1] + 1]), *best)
    at = max(range(len(lines)), key=lambda n: (_mass(holding[n], masses), len(lines[n])))
    inside = [(place.start - starts[at], place.unit) for place in found if starts[at] <= place.start < starts[at + 1]]
    return Snippet(_cut_line(lines[at], inside, masses, max_chars), at, at)


def _units_of_lines(starts: Sequence[int], found: Sequence[Place]) -> list[frozenset[int]]:
    units: list[set[int]] = [set() for _ in starts[1:]]
    at = 0
    for place in found:
        while starts[at + 1] <= place.start:
            at += 1
        units[at].add(place.unit)
    return [frozenset(u) for u in units]


def _mass(units: frozenset[int], masses: Sequence[float]) -> float:
    return sum(masses[unit] for unit in sorted(units))


def _blocks(lines: Sequence[str], holding: Sequence[frozenset[int]]) -> list[tuple[int, int]]:
    """Returns first and last line of each block; a heading that holds a unit is answered by the block below it."""
    blocks: list[tuple[int, int]] = []
    open_block = waiting = False
    for at, line in enumerate(lines):
        if not line.strip():
            open_block = False
            continue
        is_heading = pattern(_HEADING).match(line) is not None
        starts_block = is_heading or pattern(_ITEM).match(line) is not None
        if blocks and (waiting or (open_block and not starts_block)):
            blocks[-1] = (blocks[-1][0], at)
        else:
            blocks.append((at, at))
        open_block = not is_heading or waiting
        waiting = is_heading and bool(holding[at])
    return blocks


def _best_run(
    lines: Sequence[str],
    blocks: Sequence[tuple[int, int]],
    holding: Sequence[frozenset[int]],
    masses: Sequence[float],
    max_chars: int,
) -> tuple[int, int] | None:
    """Returns first and last line of the best run of blocks that fits, None when the best block alone does not."""
    price = _PRICE_OF_BLOCK * _mass(frozenset().union(*holding), masses)
    best, best_worth = None, -1.0
    for start, (first, _) in enumerate(blocks):
        units: frozenset[int] = frozenset()
        size = -1
        end = first
        for count, (begin, last) in enumerate(blocks[start:]):
            size += sum(len16(line) + 1 for line in lines[end if count else begin : last + 1])
            end = last + 1
            units = units.union(*holding[begin : last + 1])
            worth = _mass(units, masses) - count * price
            fits = size <= max_chars
            if worth > best_worth and (fits or count == 0):
                best, best_worth = (first, last) if fits else None, worth
            if not fits:
                break
    return best


def _cut_line(line: str, inside: Sequence[tuple[int, int]], masses: Sequence[float], max_chars: int) -> str:
    """Returns the part of a long line in which most mass stands, from the start of a sentence or word on."""
    best, best_mass = 0, -1.0
    for at, _ in inside:
        near = frozenset(unit for other, unit in inside if at <= other < at + max_chars - 2 * _LEAD_CHARS)
        if _mass(near, masses) > best_mass:
            best, best_mass = at, _mass(near, masses)
    start = min(best - _LEAD_CHARS, len(line) - max_chars)
    if start > 0:
        start = _start_near(_SENTENCE_START, line, start) or _start_near(_WORD_START, line, start) or start
    return cut16(line[max(0, start) :], max_chars).rstrip()


def _start_near(expression: str, line: str, at: int) -> int:
    """Returns where the first sentence or word after `at` begins, 0 when none does soon."""
    match = pattern(expression).search(line, at, at + _LEAD_CHARS)
    return match.end() if match else 0
