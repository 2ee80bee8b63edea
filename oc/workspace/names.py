"""Which workspace files a session is shown: their names, their order, the kind of a session, what each kind gets.

Pure. Behaviour follows openclaw 2026.3.13 (spec: bootstrap files); where groups and subagents differ from it (design
D10, D11) the rules are arguments, so that the reference's choice can be asked for.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from oc.session_key import chat_type, parse

STANDARD = ("AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md", "BOOTSTRAP.md")
# One of the two is shown, the first that is there.
LONG_TERM = ("MEMORY.md", "memory.md")
RECOGNISED = frozenset((*STANDARD, *LONG_TERM))
REFERENCE_FIVE = ("AGENTS.md", "TOOLS.md", "SOUL.md", "IDENTITY.md", "USER.md")
RUN_KINDS = ("default", "heartbeat", "cron")


class Rules(NamedTuple):
    """What the configuration decides about the files of a session; the defaults are ours (D10, D11)."""

    memory_in_groups: bool = False
    subagent_files: Sequence[str] = ("AGENTS.md", "TOOLS.md")
    cron_files: Sequence[str] = REFERENCE_FIVE
    max_chars: int = 20_000
    total_max_chars: int = 150_000
    extra_patterns: Sequence[str] = ()


def session_kind(key: str | None, row_type: str | None = None) -> str:
    """Returns `main`, `direct`, `group`, `channel`, `subagent` or `cron`; what fits nothing is `main`.

    `row_type` is the session row's `chatType`. In doubt a session is a group or channel, since a wrong guess would
    show private memory to strangers: when either the row or any part of the key says so.
    """
    found = parse(key or "")
    parts = (found.rest if found else (key or "").strip().lower()).split(":")
    if parts[0] == "subagent":
        return "subagent"
    if parts[0] == "cron" and found:
        return "cron"
    if row_type in ("group", "channel"):
        return row_type
    if "room" in parts or any(part.startswith("guild-") for part in parts):
        return "channel"
    kind = chat_type(key or "")
    return "main" if kind == "unknown" else kind


def is_private(kind: str) -> bool:
    """Says whether a session of that kind has one reader: MEMORY.md is for these alone (D10)."""
    return kind not in ("group", "channel")


def prompt_mode(kind: str) -> str:
    """Returns the mode of the system prompt: `minimal` for subagents and cron, else `full`."""
    return "minimal" if kind in ("subagent", "cron") else "full"


def why_withheld(name: str, kind: str, rules: Rules) -> str | None:
    """Returns why a session of that kind is not given the file, or None when it is."""
    if kind == "subagent" and name not in rules.subagent_files:
        return "not for subagents"
    if kind == "cron" and name not in rules.cron_files:
        return "not for cron runs"
    if name in LONG_TERM and not is_private(kind) and not rules.memory_in_groups:
        return "private sessions only"
    return None


def why_light_withheld(name: str, run_kind: str) -> str | None:
    """The same for a lightweight run: a heartbeat gets HEARTBEAT.md alone, any other run nothing."""
    return None if run_kind == "heartbeat" and name == "HEARTBEAT.md" else "lightweight run"


def first_list(settings: object) -> tuple[str, ...]:
    """Returns the patterns of extra files from the hook's settings: `paths`, else `patterns`, else `files`."""
    if isinstance(settings, dict):
        for name in ("paths", "patterns", "files"):
            found = _trimmed(settings.get(name))
            if found:
                return found
    return ()


def _trimmed(value: object) -> tuple[str, ...]:
    items: Iterable[object] = value if isinstance(value, list | tuple) else ()
    return tuple(item.strip() for item in items if isinstance(item, str) and item.strip())
