"""What is asked of a summary beside its text, and whether it holds: headings, exact values, the latest request. Pure.

Behaviour follows openclaw 2026.3.13, compaction-safeguard (table: context-compact-sections); the wording is our own.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from oc.base.text import js_trim, pattern
from oc.compaction.sections import HEADINGS, fenced, whole
from oc.message.shapes import Message, text

MAX_IDENTIFIERS, MIN_IDENTIFIER_CHARS = 12, 4
MAX_ASK_WORDS = 12
MAX_INSTRUCTION_CHARS = 800
MAX_RETRIES = 3
# What a message says of its identifiers is looked for in so many of the newest ones.
RECENT_MESSAGES = 10
DEFAULT_INSTRUCTIONS = """\
Write in the language that the conversation is mainly held in. Report facts: what was decided, done and found, and \
why. Keep the required headings as they stand, and leave code, paths and identifiers untranslated and unchanged."""
_IDENTIFIER = (
    r"(?a)\b[A-Fa-f0-9]{8,}\b|https?://\S+|/[\w.-]{2,}(?:/[\w.-]+)+|\b[A-Za-z]:\\[\w\\.-]+"
    r"|\b[A-Za-z0-9._-]+\.[A-Za-z0-9._/-]+:\d{1,5}\b|\b\d{6,}\b"
)
_PUNCTUATION = "()[]{}<>\"'`,;:.!?，。；：！？（）【】「」"
Words = Callable[[str], Iterable[str]]


def retries(value: Any) -> int:
    """Returns `compaction.qualityGuard.maxRetries` as it counts: whole, 0 to 3; 1 for what is no number."""
    return whole(value, 1, MAX_RETRIES)


def opaque_identifiers(said: str) -> list[str]:
    """Returns the first twelve values that no reader could guess, hashes in upper case."""
    found: dict[str, None] = {}
    for match in pattern(_IDENTIFIER).finditer(said):
        value = match[0].strip(_PUNCTUATION)
        value = value.upper() if _is_hex(value) else value
        if len(value) >= MIN_IDENTIFIER_CHARS:
            found[value] = None
    return list(found)[:MAX_IDENTIFIERS]


def _is_hex(value: str) -> bool:
    return pattern(r"[A-Fa-f0-9]{8,}\Z").match(value) is not None


def recent_identifiers(messages: Sequence[Message]) -> list[str]:
    said = [text(message) for message in messages[-RECENT_MESSAGES:]]
    return opaque_identifiers("\n".join(one for one in said if one))


def latest_ask(messages: Sequence[Message]) -> str | None:
    """Returns what the user said last."""
    said = (js_trim(text(message)) for message in reversed(messages) if message.get("role") == "user")
    return next((one for one in said if one), None)


def reasons(
    summary: str, identifiers: Sequence[str], ask: str | None, *, policy: str = "strict", words: Words
) -> list[str]:
    """Returns why a summary is not good enough; nothing when it is. `words` are those that name a text's subject."""
    lines = {js_trim(line) for line in summary.split("\n")}
    found = [f"missing_section:{heading}" for heading in HEADINGS if heading not in lines]
    if policy == "strict":
        upper = summary.upper()
        gone = [one for one in identifiers if one not in (upper if _is_hex(one) else summary)]
        if gone:
            found.append(f"missing_identifiers:{','.join(gone[:3])}")
    if ask and not _reflects(summary, ask, words):
        found.append("latest_user_ask_not_reflected")
    return found


def _reflects(summary: str, ask: str, words: Words) -> bool:
    """Says whether a summary has two of the words of a request, or one when it has fewer than three."""
    wanted = [word for word in words(ask) if len(word) > 1][:MAX_ASK_WORDS]
    if not wanted:
        return True
    present: Collection[str] = set(words(summary))
    return sum(word in present for word in wanted) >= (2 if len(wanted) >= 3 else 1)


def chosen_instructions(given: str | None, configured: str | None) -> str:
    """Returns what is wanted of this summary: what was typed, else what is configured, else the default; cut."""
    for one in (given, configured):
        if one and js_trim(one):
            return js_trim(js_trim(one)[:MAX_INSTRUCTION_CHARS])
    return DEFAULT_INSTRUCTIONS


def form(focus: str) -> str:
    """Returns what is asked of the form of a summary; `focus` goes along as data."""
    listed = "\n".join(HEADINGS)
    asked = f"Use these headings, all of them, in this order and as they stand:\n{listed}\n"
    asked += 'Write "None." below a heading that has nothing. Do not leave out what the user still waits for.'
    block = fenced("What this summary should pay heed to", focus)
    return f"{asked}\n\n{block}" if block else asked


def feedback(found: Sequence[str]) -> str:
    """Returns what a model is told before it tries again."""
    return f"The summary before was refused: {'; '.join(found)}. Write it anew and mend exactly that."
