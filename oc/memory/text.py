"""What of a text goes into the keyword index: its words, and overlapping pairs of its Han, kana and hangul runs.

`数据库` becomes `数据 据库 库`: a run of n characters gives its n-1 pairs and its last character alone, so that one
character is found as a prefix, two as a word and more as a phrase. Everything else is left to FTS5's unicode61, which
splits at what is no letter or digit, folds case and accents, and to its porter stemmer. Notes and queries go
through the same function; a change of it needs a new `TOKENS`, which rebuilds every index.
"""

import re
from bisect import bisect_right
from functools import cache
from operator import add

from oc.base.text import CJK, WIDE_BMP, pattern, weight16
from oc.base.typed import NamedTuple

TOKENS = "porter unicode61 remove_diacritics 2"
CJK_RUN = f"[{CJK}]+"
_WIDE_ASCII = {code: code - 0xFEE0 for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}
_HAS_WIDE_ASCII = "[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]"


class Reading(NamedTuple):
    """A text line by line: as it is, its weight in quarter tokens, and as FTS5 gets it."""

    lines: list[str]
    weights: list[int]
    terms: list[str]


def reading(text: str) -> Reading:
    """Returns the lines of a text, split at LF, with weight16 and index_text of each, in one look at the whole."""
    lines = text.split("\n")
    if text.isascii():
        return Reading(lines, list(map(len, lines)), lines)
    if len(text.encode("utf-16-le", "replace")) != 2 * len(text):
        return Reading(lines, list(map(weight16, lines)), index_text(text).split("\n"))
    parts = pattern(f"([{WIDE_BMP}]+)").split(text)
    narrow_lines = "".join(parts[::2]).split("\n")
    weights = [4 * len(line) - 3 * len(rest) for line, rest in zip(lines, narrow_lines, strict=True)]
    is_run = pattern(CJK_RUN).fullmatch
    parts[1::2] = [_pairs(part) if is_run(part) else index_text(part) for part in parts[1::2]]
    return Reading(lines, weights, "".join(parts).split("\n"))


def index_text(text: str) -> str:
    """Returns the text as FTS5 gets it."""
    if text.isascii():
        return text
    parts = pattern(f"({CJK_RUN})").split(narrow(text))
    parts[1::2] = map(_pairs, parts[1::2])
    return "".join(parts)


def _pairs(run: str) -> str:
    return f" {' '.join(map(add, run, run[1:] + ' '))}"


def narrow(text: str) -> str:
    """Returns the text with full-width letters and digits as ASCII; positions do not move."""
    return text.translate(_WIDE_ASCII) if pattern(_HAS_WIDE_ASCII).search(text) else text


@cache
def _edges() -> list[str]:
    """Returns where the runs' ranges begin and end: inside one, an odd number of edges lies before a character.

    Compiling such a class into a regular expression takes 2 ms, more than many a search.
    """
    ends = re.split("(?<=.)-|(?<=-.)", CJK)
    return [chr(ord(c) + at % 2) for at, c in enumerate(filter(None, ends))]


def in_run(char: str) -> bool:
    """Says whether a character belongs to a script without spaces, as CJK_RUN does."""
    return char >= "\u3005" and bisect_right(_edges(), char) % 2 == 1


def is_letter(char: str) -> bool:
    """Says whether a character is a letter or digit of a script with spaces."""
    return char.isalnum() and not in_run(char)


def fold(text: str) -> str:
    """Returns the text as index terms are: lower case, no accents; positions may move when an accent is dropped."""
    text = text.lower()
    if text.isascii():
        return text
    import unicodedata

    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
