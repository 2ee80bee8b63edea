"""Values in a text that nobody can guess once lost: paths, addresses, hashes, tickets, versions, amounts. Pure.

Every value found is a piece of the text as it stands there.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from oc.base.text import CJK, pattern

_SEGMENT = rf"[\w.@+~{CJK}-]+"
_UNITS = (
    "%|ms|s|h|sec(?:ond)?s?|min(?:ute)?s?|hours?|hrs?|days?|weeks?|[KMGT]i?B|bytes?|kbps|Mbps|rps|qps|px|tokens?|chars?"
    "|USD|EUR|RMB|CNY|元|美元|毫秒|秒|分钟|小时|天|周|个月|字节|条|次|台|个|人|万|亿"
)
# In this order: what an earlier kind has taken is not looked at again. Words are ASCII ones, so that a value that
# stands in Chinese text without spaces is found.
_KINDS = {
    "urls": r"\b[a-z][a-z0-9+.-]*://[^\s<>\"'`，。；、（）)\]}]+",
    "emails": r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b",
    "paths": (
        rf"(?<![\w/.])(?:~|\.{{1,2}})?/{_SEGMENT}(?:/{_SEGMENT})+/?"
        rf"|(?<![\w/.:])[\w.@+-]+(?:/[\w.@+-]+)+\.\w{{1,8}}\b"
        r"|\b[A-Za-z]:\\(?:[\w.@+ -]+\\)*[\w.@+-]+"
        r"|(?<![\w/.])[\w-]+(?:\.[\w-]+)*\.(?:c|cc|cfg|conf|cpp|css|csv|env|go|h|html|ini|java|js|json|jsonl|jsx|kt"
        r"|lock|log|md|mjs|php|png|py|rb|rs|scss|sh|sql|sqlite|svg|toml|ts|tsx|txt|vue|xml|ya?ml|zip)\b(?![/(])"
    ),
    "hosts": (
        r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{2,5})?\b|\b[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)*"
        r"\.(?:internal|local|lan|corp|com|net|org|io|dev|cn|de|app|cloud)(?::\d{2,5})?\b|\b[a-z][\w-]*:\d{4,5}\b"
    ),
    "ids": (
        r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"
        r"|\b[A-Z][A-Z0-9]{1,9}-\d{1,7}\b|(?<![\w&#])#\d{1,7}\b|\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b"
    ),
    "versions": r"\bv\d+(?:\.\d+)*(?:-[\w.]+)?\b|\b\d+\.\d+\.\d+(?:-[\w.]+)?\b",
    "dates": (
        r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?\b"
        r"|\d{4}年\d{1,2}月(?:\d{1,2}日)?|\b\d{1,2}:\d\d\b"
    ),
    "amounts": rf"(?<![\w.])[$€£¥]\s?\d[\d,.]*\d|(?<![\w.])\d[\d,]*(?:\.\d+)?\s?(?:{_UNITS})(?![a-zA-Z])|\b\d{{4,}}\b",
}


class Identifier(NamedTuple):
    """`kind` is one of KINDS."""

    kind: str
    value: str


KINDS = tuple(_KINDS)


def identifiers(text: str) -> Iterator[Identifier]:
    """Yields the identifiers of a text by kind, and within a kind in the order of the text."""
    if not pattern(r"[0-9/.@_:\\]").search(text):
        return
    for kind, expression in _KINDS.items():
        finder = pattern("(?a)" + expression)
        found = [_clean(match[0]) for match in finder.finditer(text)]
        if found:
            yield from (Identifier(kind, value) for value in found if value and "`" not in value)
            text = finder.sub(" ", text)


def _clean(value: str) -> str:
    """Returns the value without the punctuation of its sentence, or Chinese words that follow a file's extension."""
    value = value.rstrip(".,:;!?")
    return pattern(rf"(?a)(\.\w{{1,8}})[{CJK}]+$").sub(r"\1", value)


def ranked(texts: Iterable[tuple[str, int]]) -> list[Identifier]:
    """Returns the identifiers of weighted texts, each once: heaviest first, and of two equal ones the later first."""
    weights: dict[Identifier, int] = {}
    last: dict[Identifier, int] = {}
    for number, (text, weight) in enumerate(texts):
        for identifier in identifiers(text):
            weights[identifier] = weights.get(identifier, 0) + weight
            last[identifier] = number
    return sorted(weights, key=lambda one: (-weights[one], -last[one], one))
