"""Hides keys, tokens and passwords in text: for transcripts in the index, for exports, for error messages. Pure.

Rules and their order are those of openclaw 2026.3.13 (table: tests/vectors/memory-redact.json). A password inside a
URL is not among them. The text is never changed where it is stored.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from oc.base.text import JS_SPACE, len16, pattern, slice16

MASK = "***"
MIN_SHOWN_CHARS = 18  # what is shorter is hidden whole
_HEAD_CHARS, _TAIL_CHARS = 6, 4

_S = f"[{JS_SPACE}]"
_NAMES = "token|secret|password|passwd"
_VALUE_CHAR = r"[a-z0-9._\-+=]"
# Lead of a well-known kind of token, what it goes on with, and how long that is at least.
_KINDS = (
    ("sk-", r"[\w\-]", 8),
    ("ghp_", "[a-z0-9]", 20),
    ("github_pat_", r"\w", 20),
    ("xox[abprs]-", r"[a-z0-9\-]", 10),
    ("xapp-", r"[a-z0-9\-]", 10),
    ("gsk_", r"[\w\-]", 10),
    ("aiza", r"[\w\-]", 20),
    ("pplx-", r"[\w\-]", 10),
    ("npm_", "[a-z0-9]", 10),
)
_BOT = r"\d{6,}:[\w\-]{20,}"
_PEM_BEGIN = "-----BEGIN [A-Z ]*PRIVATE KEY-----"
_PEM_END = "-----END [A-Z ]*PRIVATE KEY-----"


class _Rule(NamedTuple):
    """What matches holds one of the `hints`, which are lower case; its group `hide` is the secret."""

    hints: tuple[str, ...]
    expression: str


_NAMED = (
    _Rule(
        ("key", "token", "secret", "passw"),
        rf"\b\w*(?:key|{_NAMES})\b{_S}*[:=]{_S}*([\"']?)(?P<hide>[^\"'\\{JS_SPACE}]+)\1",
    ),
    _Rule(
        ("key", "token", "secret", "passw"),
        rf'"(?:apikey|accesstoken|refreshtoken|{_NAMES})"{_S}*:{_S}*"(?P<hide>[^"]+)"',
    ),
    _Rule(("--",), rf"--(?:api[\-_]?key|{_NAMES}){_S}+([\"']?)(?P<hide>[^\"'{JS_SPACE}]+)\1"),
    _Rule(("bearer",), rf"authorization{_S}*[:=]{_S}*bearer{_S}+(?P<hide>{_VALUE_CHAR}+)"),
    _Rule(("bearer",), rf"\bbearer{_S}+(?P<hide>{_VALUE_CHAR}{{18,}})\b"),
)
_KNOWN = (
    *(_Rule((lead[:3],), rf"\b(?P<hide>{lead}{char}{{{least},}})\b") for lead, char, least in _KINDS),
    _Rule((":",), rf"\bbot(?P<hide>{_BOT})\b"),
    _Rule((":",), rf"\b(?P<hide>{_BOT})\b"),
)


def redact(text: str) -> str:
    """Returns the text with each secret cut to its first 6 and last 4 characters, or to stars when it is short."""
    text = _without_pem(_replaced(text, _NAMED))
    return _replaced(text, _KNOWN)


def _replaced(text: str, rules: Iterable[_Rule]) -> str:
    lowered = text.lower()
    for rule in rules:
        if any(hint in lowered for hint in rule.hints):
            # ASCII and without regard to case, as JavaScript matches: "\u017f" is no "s" there.
            text = pattern(f"(?ia){rule.expression}").sub(_masked, text)
    return text


def _masked(match: re.Match[str]) -> str:
    start, end = (at - match.start() for at in match.span("hide"))
    return match[0][:start] + mask(match["hide"]) + match[0][end:]


def mask(secret: str) -> str:
    """Returns what is shown of a secret."""
    if len16(secret) < MIN_SHOWN_CHARS:
        return MASK
    return f"{slice16(secret, 0, _HEAD_CHARS)}…{slice16(secret, -_TAIL_CHARS)}"


def _without_pem(text: str) -> str:
    """Returns the text with private keys emptied; the first and last line stay, of a key on one line nothing does.

    Searched by hand: an expression over both ends would look for the end of each beginning through the whole text.
    """
    pieces = []
    at = 0
    while begin := pattern(f"(?i){_PEM_BEGIN}").search(text, at):
        end = pattern(f"(?i){_PEM_END}").search(text, begin.end() + 1)
        if end is None:
            break
        lines = [line for line in text[begin.start() : end.end()].split("\n") if line]
        pieces += [text[at : begin.start()], f"{lines[0]}\n…redacted…\n{lines[-1]}" if len(lines) > 1 else MASK]
        at = end.end()
    return "".join([*pieces, text[at:]])
