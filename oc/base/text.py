"""Text as the transcripts' writers count and cut it: UTF-16 code units, JavaScript white space, wide characters.

Lengths called `_chars` anywhere in `oc` are UTF-16 code units, so an emoji counts 2 and a Chinese character 1.
"""

import codecs
import re
from functools import cache

# ECMAScript WhiteSpace and LineTerminator: str.strip() differs in U+FEFF (missing there) and U+001C-1F, U+0085 (extra).
JS_SPACE = "\t\n\x0b\x0c\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"  # noqa: E501
SURROGATE = "[\ud800-\udfff]"

# Han with its radicals and punctuation, kana, bopomofo, hangul, full-width forms, symbols and box drawing, emoji.
WIDE_BMP = "\u1100-\u11ff\u2190-\u2bff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
WIDE_ASTRAL = "\U0001f000-\U0001faff\U00020000-\U0003ffff"
_WIDE_BMP_RUN = f"[{WIDE_BMP}]+"
_WIDE_ASTRAL_RUN = f"[{WIDE_ASTRAL}]+"
# What is written without spaces between words: Han, kana, hangul. One class for notes, transcripts and queries.
CJK = (
    "\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_CONTROL = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"


@cache
def pattern(expression: str) -> re.Pattern[str]:
    """Compiles on first use: a command that meets ASCII only never pays for the wide classes."""
    return re.compile(expression)


def _utf16(text: str) -> bytes:
    """Returns the text's UTF-16 units; str.encode() would import a module for it."""
    return codecs.utf_16_le_encode(text, "surrogatepass")[0]


def len16(text: str) -> int:
    """Returns the length in UTF-16 code units."""
    if text.isascii():
        return len(text)
    return len(_utf16(text)) // 2


def slice16(text: str, start: int, end: int | None = None) -> str:
    """Returns what JavaScript's `slice` gives, negative indices included; a cut may leave a lone surrogate."""
    if text.isascii():
        return text[start:end]
    raw = _utf16(text)
    size = len(raw) // 2
    if size == len(text):
        return text[start:end]
    first = max(0, size + start) if start < 0 else min(start, size)
    last = size if end is None else max(0, size + end) if end < 0 else min(end, size)
    return codecs.utf_16_le_decode(raw[2 * first : 2 * max(first, last)], "surrogatepass", True)[0]


def cut16(text: str, max_chars: int) -> str:
    """Returns the first `max_chars` units; a surrogate pair at the cut is dropped, not split."""
    return whole16(text, 0, max(0, max_chars)) if max_chars < len16(text) else text


def whole16(text: str, start: int, end: int | None = None) -> str:
    """Returns `slice16` without the halves of surrogate pairs that the cuts may leave at its edges."""
    part = slice16(text, start, end)
    if part and "\udc00" <= part[0] <= "\udfff":
        part = part[1:]
    return part[:-1] if part and "\ud800" <= part[-1] <= "\udbff" else part


def find16(text: str, needle: str, start: int = 0) -> int:
    """Returns the index in UTF-16 units of `needle` at or after unit `start`, or -1."""
    at = text.find(needle, len(slice16(text, 0, start)))
    return -1 if at < 0 else len16(text[:at])


def sort_key16(text: str) -> bytes:
    """Orders strings by UTF-16 code unit, as JavaScript's default sort does."""
    return text.encode("utf-16-be", "surrogatepass")


def js_trim(text: str) -> str:
    return text.strip(JS_SPACE)


def js_trim_start(text: str) -> str:
    return text.lstrip(JS_SPACE)


def js_trim_end(text: str) -> str:
    return text.rstrip(JS_SPACE)


_ASCII = bytes(range(128))


def weight16(text: str) -> int:
    """Returns the length in quarter tokens: four for a wide character, one for any other UTF-16 unit.

    Chinese measured in real tokens is 2 to 3 times what a quarter per character gives.
    """
    if text.isascii():
        return len(text)
    if len(text[:99].encode("utf-8", "surrogatepass")) < 150:
        # Compiling the classes costs 4 ms: text with a few symbols in it, as code and logs have them, does without.
        symbols = text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")
        if len(symbols) < 4000:
            return len(text) + sum(map(_extra, symbols))
    units = len(_utf16(text)) // 2
    # What a substitution takes away is counted three times as fast as what findall() collects.
    wide = len(text) - len(pattern(_WIDE_BMP_RUN).sub("", text))
    astral = len(text) - len(pattern(_WIDE_ASTRAL_RUN).sub("", text)) if units != len(text) else 0
    return units + 3 * wide + 2 * astral


@cache
def _extra(character: str) -> int:
    """Returns what a character weighs in quarter tokens over one."""
    ranges = WIDE_BMP + WIDE_ASTRAL
    wide = any(ranges[i] <= character <= ranges[i + 2] for i in range(0, len(ranges), 3))
    return 3 if wide else int(character > "\uffff")


def without_lone_surrogates(text: str) -> str:
    """Returns the text with each lone surrogate replaced by U+FFFD, as Node does when it writes UTF-8."""
    return pattern(SURROGATE).sub("\ufffd", text) if not text.isascii() else text


def columns(text: str) -> int:
    """Returns how many terminal columns the text takes: 2 for wide characters, 0 for combining ones."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(c) or c in "\u200d\ufe0f" else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def neutral(text: str) -> str:
    """Returns the text with control and direction characters made visible, so that data cannot drive a terminal."""
    return pattern(_CONTROL).sub(lambda m: f"\\x{ord(m[0]):02x}" if ord(m[0]) < 256 else f"\\u{ord(m[0]):04x}", text)


def one_line(text: str) -> str:
    """Returns the text with tabs, line feeds and backslashes escaped, for a field of a tab-separated line."""
    if "\\" not in text and text.isprintable():
        return text
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
