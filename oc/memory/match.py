"""Where in a text the units of a query stand: for how close together they are, and for what a snippet shows. Pure.

The index says which chunks hold a unit; this finds the same words in the text itself, by stem and without accents.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oc.base.text import CJK, pattern, weight16
from oc.memory.query import Unit
from oc.memory.stem import stem

_LETTER = f"(?:(?![{CJK}])[^\\W_])"
_BEFORE = f"(?<!{_LETTER})"
_ACCENTED = "[\u00c0-\u024f\u0370-\u04ff\u1e00-\u1fff]"
# How far apart two words may stand to count as together: sixty tokens' worth of text.
_CLOSE_UNITS = 240


class Place(NamedTuple):
    """Characters `start` to `end` of the text are the unit of that index."""

    start: int
    end: int
    unit: int


def places(text: str, units: Sequence[Unit]) -> list[Place]:
    """Returns where the units stand, in order of the text."""
    plain = _plain(text)
    found = [
        place
        for index, unit in enumerate(units)
        for place in (_runs if unit.kind in ("pair", "char") else _words)(plain, unit, index)
    ]
    found.sort()
    return found


def _runs(text: str, unit: Unit, index: int) -> Iterator[Place]:
    at = text.find(unit.text)
    while at >= 0:
        yield Place(at, at + len(unit.text), index)
        at = text.find(unit.text, at + 1)


def _words(text: str, unit: Unit, index: int) -> Iterator[Place]:
    parts = unit.text.split(" ")
    stems = [stem(part) for part in parts]
    # A stem shares all but its last letter with every word that has it (happi: happy, happiness).
    head = stems[0] if unit.kind == "prefix" else stems[0][: max(1, len(stems[0]) - 1)]
    if head not in text:
        return
    tail = "".join(f"[\\W_]+({_LETTER}+)" for _ in parts[1:])
    expression = pattern(f"{_BEFORE}({_LETTER}+){tail}")
    at = text.find(head)
    while at >= 0:
        match = expression.match(text, at)
        if match is None:
            at = text.find(head, at + 1)
            continue
        words = match.groups()
        if unit.kind == "prefix" or all(stem(word) == wanted for word, wanted in zip(words, stems, strict=True)):
            yield Place(at, match.end(), index)
        at = text.find(head, match.end(1))


def _plain(text: str) -> str:
    """Returns the text in lower case without accents, every character at its place."""
    lower = text.lower()
    if len(lower) != len(text):  # a capital I with a dot becomes two characters
        lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    if lower.isascii() or not pattern(_ACCENTED).search(lower):
        return lower
    import unicodedata

    return pattern(_ACCENTED).sub(lambda m: unicodedata.normalize("NFD", m[0])[0], lower)


def closeness(text: str, found: Sequence[Place], masses: Sequence[float]) -> float:
    """Returns the greatest mass of different units that stand close together anywhere in the text."""
    if not found:
        return 0.0
    reach = _CLOSE_UNITS * len(text) / max(1, weight16(text))
    best = mass = 0.0
    inside = [0] * len(masses)
    first = 0
    for place in found:
        if not inside[place.unit]:
            mass += masses[place.unit]
        inside[place.unit] += 1
        while found[first].start < place.start - reach:
            gone = found[first].unit
            inside[gone] -= 1
            if not inside[gone]:
                mass -= masses[gone]
            first += 1
        best = max(best, mass)
    return best
