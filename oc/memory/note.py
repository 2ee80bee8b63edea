"""The note that a session leaves behind when it is reset: its text, its name and where its words come from. Pure.

Form and rules follow openclaw 2026.3.13's session-memory hook (table: tests/vectors/memory-hook.json), but for design
D9: the user's time zone, a name of its own, only this session (its reset archives included), nothing from nothing.
"""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any

from oc.base.text import CJK, pattern, slice16
from oc.memory.stopwords import every_stop_word

DEFAULT_MESSAGES = 15
MAX_SLUG_CHARS = 30
_PROMPT_CHARS = 2000
_SLUG_WORDS = 4
_ASKING = "^(?:请|請|帮我|幫我|麻烦|麻煩|我想|我要|能不能|可以|一下)+"

SLUG_SYSTEM = "You name files. Answer with one or two lower-case words joined by a hyphen, and nothing else."


def conversation(entries: Iterable[dict[str, Any]], max_messages: int = DEFAULT_MESSAGES) -> str:
    """Returns what user and assistant said last, as `role: text`; commands and other sessions' messages are left out.

    `max_messages` 0 or less is the default number.
    """
    said = list(_said(entries))
    return "\n".join(said[-max_messages if max_messages > 0 else -DEFAULT_MESSAGES :])


def _said(entries: Iterable[dict[str, Any]]) -> Iterator[str]:
    for entry in entries:
        message = entry.get("message") if entry.get("type") == "message" else None
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
            continue
        provenance = message.get("provenance")
        if message["role"] == "user" and isinstance(provenance, dict) and provenance.get("kind") == "inter_session":
            continue
        text = _first_text(message.get("content"))
        if text and not text.startswith("/"):
            yield f"{message['role']}: {text}"


def _first_text(content: Any) -> str:
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    first = next((b for b in blocks if isinstance(b, dict) and b.get("type") == "text"), {})
    return first["text"] if isinstance(first.get("text"), str) else ""


def files_of(names: Collection[str], session_id: str | None, file_name: str | None) -> list[str]:
    """Returns which files of a folder hold this session, the likeliest first; the note is made of the first with words.

    Its transcript, those of its topics (the highest number first), then their reset archives, the newest first.
    """
    own = [file_name.partition(".reset.")[0]] if file_name else []
    own += [f"{session_id}.jsonl"] if session_id else []
    topics = [name for name in names if session_id and name.startswith(f"{session_id}-topic-") and _is_live(name)]
    live = list(dict.fromkeys([*own, *sorted(topics, key=_by_number, reverse=True)]))
    archives = [name for base in live for name in sorted(names, reverse=True) if name.startswith(f"{base}.reset.")]
    return [name for name in live if name in names] + archives


def _is_live(name: str) -> bool:
    return name.endswith(".jsonl")


def _by_number(name: str) -> list[tuple[int, str]]:
    return [(int(digits or 0), other) for digits, other in pattern(r"(\d+)|(\D+)").findall(name)]


def note_text(said: str, *, moment: datetime, session_key: str, session_id: str | None, source: str | None) -> str:
    """Returns the note; `moment` is the time of the reset in the user's zone, `said` what conversation() gave."""
    zone = moment.strftime("%z") if moment.utcoffset() else "UTC"
    head = [
        f"# Session: {moment.strftime('%Y-%m-%d %H:%M:%S')} {zone}",
        "",
        f"- **Session Key**: {session_key}",
        f"- **Session ID**: {session_id or 'unknown'}",
        f"- **Source**: {source or 'unknown'}",
        "",
    ]
    return "\n".join([*head, "## Conversation Summary", "", said, ""])


def note_name(moment: datetime, slug: str, taken: Collection[str]) -> str:
    """Returns `<date>-<slug>.md` (the time of day without a slug), numbered from 2 when the name is taken."""
    stem = f"{moment.strftime('%Y-%m-%d')}-{slug or moment.strftime('%H%M')}"
    name, number = f"{stem}.md", 2
    while name in taken:
        name, number = f"{stem}-{number}.md", number + 1
    return name


def slug_of(text: str) -> str:
    """Returns a text as part of a file name: letters and digits of any script, lower case, with hyphens; may be ""."""
    import unicodedata

    folded = unicodedata.normalize("NFC", text).lower()
    return pattern(r"[\W_]+").sub("-", folded).strip("-")[:MAX_SLUG_CHARS].strip("-")


def slug_prompt(said: str) -> str:
    """Returns what a model is asked for a name."""
    return f"Name the subject of this conversation:\n\n{slice16(said, 0, _PROMPT_CHARS)}"


def own_slug(said: str) -> str:
    """Returns a slug without a model: the first words of the first thing the user said that name something."""
    for line in said.split("\n"):
        role, _, text = line.partition(": ")
        if role == "user" and (slug := slug_of("-".join(_naming(text)))):
            return slug
    return ""


def _naming(text: str) -> list[str]:
    words = []
    for word in pattern(f"[{CJK}]+|(?:(?![{CJK}])[^\\W_])+").findall(text.lower()):
        bare = pattern(_ASKING).sub("", word)
        if len(bare) > 1 and bare not in every_stop_word():
            words.append(bare)
    return words[:_SLUG_WORDS]
