"""Where in a text the units of a query stand: for how close together they are, and for what a snippet shows. Pure.

The index says which chunks hold a unit; this finds the same words in the text itself, by stem and without accents.
"""

from collections.abc import Iterator, Sequence

from oc.base.text import pattern
from oc.base.typed import NamedTuple
from oc.memory.query import Unit
from oc.memory.stem import stem
from oc.memory.text import is_letter

_ACCENTED = "[\u00c0-\u024f\u0370-\u04ff\u1e00-\u1fff]"
# How far apart two words may stand to count as together: 180 Latin letters or 60 Chinese characters.
_CLOSE_BYTES = 180


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
    stems = [stem(part) for part in unit.text.split(" ")]
    # A stem shares all but its last letter with every word that has it (happi: happy, happiness).
    head = stems[0] if unit.kind == "prefix" else stems[0][: max(1, len(stems[0]) - 1)]
    at = text.find(head)
    while at >= 0:
        end = at + len(head)
        if at == 0 or not is_letter(text[at - 1]):
            end = _word_end(text, at)
            last = end if unit.kind == "prefix" else _phrase_end(text, at, end, stems)
            if last:
                yield Place(at, last, index)
        at = text.find(head, end)


def _word_end(text: str, at: int) -> int:
    while at < len(text) and is_letter(text[at]):
        at += 1
    return at


def _phrase_end(text: str, at: int, end: int, stems: Sequence[str]) -> int:
    """Returns where the words of these stems, beginning with text[at:end], end; 0 when others stand there."""
    for count, wanted in enumerate(stems):
        if count:
            at = end
            while at < len(text) and not text[at].isalnum():
                at += 1
            end = _word_end(text, at)
        if stem(text[at:end]) != wanted:
            return 0
    return end


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
    reach = _CLOSE_BYTES * len(text) / len(text.encode("utf-8", "replace"))
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
