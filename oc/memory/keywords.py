"""The words of a sentence that name its subject: Chinese by characters and pairs, Japanese by script, Korean by stem.

Follows openclaw 2026.3.13's query expansion (tables: memory-keywords, memory-stopwords). Search has units of its own
(query.py); this serves what needs words to show or to compare. Pure.
"""

import re
from collections.abc import Iterator
from functools import cache

from oc.base.text import JS_SPACE, pattern
from oc.memory.stopwords import KOREAN_PARTICLES, every_stop_word, stop_words

_KANA = "[\u3040-\u30ff]"
_HAN = "[\u4e00-\u9fff]"
_HANGUL = "[\uac00-\ud7af\u3131-\u3163]"
_JAPANESE_PIECE = "[a-z0-9_]+|[\u30a0-\u30ff]+|[\u4e00-\u9fff]+|[\u3040-\u309f]{2,}"
_MIN_STEM_CHARS = 2


def keywords(text: str) -> list[str]:
    """Returns the tokens that may name a subject, each once, in order: no stop words, bare numbers or short words."""
    return list(dict.fromkeys(token for token in tokens(text) if token not in every_stop_word() and _says(token)))


def tokens(text: str) -> list[str]:
    """Returns the tokens of a text in lower case, Korean stop words left out."""
    found: list[str] = []
    for segment in _segments(text.lower()):
        if pattern(_KANA).search(segment):
            found += _japanese(segment)
        elif pattern(_HAN).search(segment):
            found += _chinese(segment)
        elif pattern(_HANGUL).search(segment):
            found += _korean(segment)
        else:
            found.append(segment)
    return found


def _segments(text: str) -> list[str]:
    """Splits at white space and punctuation; symbols such as + and $ stay."""
    return [segment for segment in re.split(f"[{JS_SPACE}{_punctuation(text)}]+", text) if segment]


def _punctuation(text: str) -> str:
    """Returns the punctuation of a text, escaped for a character class: `re` knows no such class."""
    return "".join(re.escape(char) for char in set(text) if _category(char) == "P")


def _category(char: str) -> str:
    import unicodedata

    return unicodedata.category(char)[0]


def _japanese(segment: str) -> Iterator[str]:
    for piece in pattern(_JAPANESE_PIECE).findall(segment):
        yield piece
        if pattern(_HAN).match(piece):
            yield from _pairs(piece)


def _chinese(segment: str) -> list[str]:
    """Returns each Han character, then each pair of neighbours; what stands between them is lost."""
    characters = pattern(_HAN).findall(segment)
    return [*characters, *_pairs("".join(characters))]


def _pairs(text: str) -> Iterator[str]:
    return (text[at : at + 2] for at in range(len(text) - 1))


def _korean(segment: str) -> Iterator[str]:
    stem = _stem(segment)
    if segment not in _korean_stop_words() and stem not in _korean_stop_words():
        yield segment
    if stem and stem not in _korean_stop_words() and _stands_alone(stem):
        yield stem


@cache
def _korean_stop_words() -> frozenset[str]:
    return frozenset(stop_words("KO"))


def _stem(word: str) -> str:
    """Returns the word without the particle at its end, "" when it has none."""
    particle = next((p for p in KOREAN_PARTICLES if word.endswith(p) and len(word) > len(p)), "")
    return word.removesuffix(particle) if particle else ""


def _stands_alone(stem: str) -> bool:
    if pattern("[a-z0-9_]+").fullmatch(stem):
        return True
    return len(stem) >= _MIN_STEM_CHARS and pattern(_HANGUL).search(stem) is not None


def _says(token: str) -> bool:
    if pattern("[a-z]{1,2}").fullmatch(token) or pattern("[0-9]+").fullmatch(token):
        return False
    return not all(_category(char) in "PS" for char in token)
