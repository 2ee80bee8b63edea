"""The Porter stemmer as SQLite's FTS5 applies it, to find in a note's own text what the index matched.

Only words of a to z change; FTS5 hands others, shorter than 3 or longer than 64 bytes, through as they are.
The algorithm: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980. Where SQLite differs from
the paper, SQLite is followed; a test compares the two on words of every ending.
"""

from functools import lru_cache
from itertools import pairwise

_VOWELS = frozenset("aeiou")
_STEP2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "logi": "log",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
}
_STEP3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
# Longest first. The s or t before -ion stays; see _step4.
_STEP4 = (
    *("ement", "ance", "ence", "able", "ible", "ment", "sion", "tion", "ant", "ent", "ism", "ate", "iti", "ous"),
    *("ive", "ize", "al", "er", "ic", "ou"),
)
_LONGEST = 7


@lru_cache(8192)
def stem(word: str) -> str:
    """Returns the stem of a lower-case word."""
    if not 3 <= len(word) <= 64 or not word.isascii():
        return word
    word = _step1(word)
    word = _replaced(word, _STEP2, 0)
    word = _replaced(word, _STEP3, 0)
    word = _step4(word)
    if word.endswith("e"):
        m = _measure(word[:-1])
        if m > 1 or (m == 1 and not _ends_cvc(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word


def _step1(word: str) -> str:
    if word.endswith("s"):
        if word.endswith(("sses", "ies")) and word not in ("sses", "ies"):
            word = word[:-2]
        elif not word.endswith("ss"):
            word = word[:-1]
    if word.endswith("eed") and word != "eed":
        word = word[:-1] if _measure(word[:-3]) > 0 else word
    else:
        for ending in ("ed", "ing"):
            if word.endswith(ending) and _has_vowel(word[: -len(ending)]):
                word = _restored(word[: -len(ending)])
                break
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    return word


def _restored(word: str) -> str:
    """Repairs what is left when -ed or -ing is gone: conflat(ed) -> conflate, hopp(ing) -> hop, fil(ing) -> file."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_cvc(word) else word


def _replaced(word: str, endings: dict[str, str], min_measure: int) -> str:
    for size in range(min(_LONGEST, len(word)), 1, -1):
        ending = word[-size:]
        if ending in endings:
            head = word[:-size]
            return head + endings[ending] if _measure(head) > min_measure else word
    return word


def _step4(word: str) -> str:
    for ending in _STEP4:
        if word.endswith(ending):
            kept = 1 if ending in ("sion", "tion") else 0
            head = word[: len(word) - len(ending) + kept]
            return head if _measure(head) > 1 else word
    return word


def _is_vowel(word: str, at: int) -> bool:
    return word[at] in _VOWELS or (word[at] == "y" and at > 0 and not _is_vowel(word, at - 1))


def _has_vowel(word: str) -> bool:
    return any(_is_vowel(word, at) for at in range(len(word)))


def _measure(word: str) -> int:
    """Counts how often a vowel is followed by a consonant."""
    shape = [_is_vowel(word, at) for at in range(len(word))]
    return sum(1 for a, b in pairwise(shape) if a and not b)


def _ends_cvc(word: str) -> bool:
    if len(word) < 3 or word[-1] in "wxy":
        return False
    return not _is_vowel(word, len(word) - 1) and _is_vowel(word, len(word) - 2) and not _is_vowel(word, len(word) - 3)
