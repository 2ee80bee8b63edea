"""Says which lines of a text look as if they hold a password, key or token. Pure; never repeats what it found.

A reader's eye, not a proof: what is plainly a placeholder, a variable or a path to where the secret lies is let be.
"""

from typing import NamedTuple

from oc.base.text import pattern


class Suspect(NamedTuple):
    """`line` is 1-based."""

    line: int
    kind: str


# Forms that issuers give to their tokens: found wherever they stand.
_ISSUED = (
    ("private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----"),
    (
        "API key",
        r"\b(?:sk|rk)-(?=[\w-]{0,60}\d)[\w-]{16,}|\bgsk_\w{20,}|\bpplx-\w{10,}|\bAIza[\w-]{20,}|\bhf_[A-Za-z0-9]{20,}",
    ),
    ("GitHub or GitLab token", r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"),
    ("Slack token", r"\bxox[baprs]-[\w-]{10,}|\bxapp-[\w-]{10,}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{16,}"),
    ("AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("JSON web token", r"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}"),
    ("bot token", r"\b(?:bot)?\d{6,}:(?=[\w-]{0,60}[A-Za-z])[\w-]{20,}"),
    ("bearer token", r"(?i:\bbearer)[ \t]+(?=[\w.~+/=-]{0,60}\d)[\w.~+/=-]{18,}"),
)
_WORDS = (
    r"(?i:pass(?:word|wd|phrase)|secret|token|(?:api|access|secret|private|auth|signing)[ _-]?key)|[A-Z0-9]{1,40}_KEY"
    r"|密码|口令|密钥|令牌"
)
# The counts bound the work on a line of a megabyte.
_ASSIGNED = (
    rf"(?:^|[^A-Za-z])(?:[\w-]{{0,40}}[_-])?(?:{_WORDS})[sS]?[\"'`*_]*[ \t]*(=|[:：]|是|为)"
    r"[\"'`*]*[ \t]*[\"'`*]*([^\s\"'`，。；]{6,})"
)
_IN_URL = r"\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@<>]{1,200}:([^\s/@]{1,200})@"
_PLACEHOLDER = (
    r"(?i)[$<{(\[%*….]|[~/]|\w+://|(?:x{3,}|your|my|example|change|insert|none|null|true|false|todo|redacted|env)"
)


def find_secrets(text: str) -> list[Suspect]:
    """Returns one suspect for each line that has any, in order."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        kind = _kind(line)
        if kind:
            found.append(Suspect(number, kind))
    return found


def _kind(line: str) -> str | None:
    if len(line) < 8:
        return None
    for kind, form in _ISSUED:
        if pattern(form).search(line):
            return kind
    match = pattern(_IN_URL).search(line)
    if match and not _is_placeholder(match[1]):
        return "password in a URL"
    if not pattern(_WORDS).search(line):
        return None
    return next(("password or key" for m in pattern(_ASSIGNED).finditer(line) if _is_secret(m[1], m[2])), None)


def _is_secret(sign: str, value: str) -> bool:
    """Judges the value behind a name: prose is common after a colon, so letters and digits must mix there."""
    value = value.rstrip(".,;)")
    if len(value) < 6 or _is_placeholder(value):
        return False
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return mixed or (sign == "=" and not value.isdigit())


def _is_placeholder(value: str) -> bool:
    return pattern(_PLACEHOLDER).match(value) is not None or "…" in value or "***" in value
