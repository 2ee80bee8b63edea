"""Session keys: `agent:<agent>:<rest>`, the routing names under which sessions.json files sessions. Pure text.

Grammar and readings are OpenClaw 2026.3.13's (tables: sessions-keys, sessions-freshness).
"""

import os

from oc.base.text import pattern
from oc.base.typed import NamedTuple

DEFAULT_AGENT = "main"
DEFAULT_MAIN_KEY = "main"
_AGENT_ID = r"[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}"
_SESSION_ID = r"[a-zA-Z0-9][a-zA-Z0-9._-]{0,127}"
_GUILD_CHANNEL = r"discord:(?:[^:]+:)?guild-[^:]+:channel-[^:]+"
_PEERS = frozenset({"direct", "dm", "group", "channel", "room"})


class AgentKey(NamedTuple):
    """A key of the form agent:<agent>:<rest>, lower-cased."""

    agent: str
    rest: str

    def __str__(self) -> str:
        return f"agent:{self.agent}:{self.rest}"


def normal_agent_id(text: str) -> str:
    """Returns the id as it stands in keys and folder names; what cannot be one becomes `main`."""
    trimmed = text.strip()
    if pattern(_AGENT_ID).fullmatch(trimmed):
        return trimmed.lower()
    return pattern(r"[^a-z0-9_-]+").sub("-", trimmed.lower()).strip("-")[:64] or DEFAULT_AGENT


def is_session_id(text: str) -> bool:
    """Says whether the text can be a session id, and so the name of a file."""
    return pattern(_SESSION_ID).fullmatch(text) is not None


def is_path(text: str) -> bool:
    """Says whether a SESSION argument is a path: its name holds `.jsonl`, or it has a slash; `agent:` makes a key."""
    return not text.startswith("agent:") and (".jsonl" in text or "/" in text or os.sep in text)


def parse(key: str) -> AgentKey | None:
    """Returns agent and rest of an agent's key, None for any other text."""
    parts = [part for part in key.strip().lower().split(":") if part]
    if len(parts) < 3 or parts[0] != "agent":
        return None
    return AgentKey(parts[1], ":".join(parts[2:]))


def full_key(text: str, agent: str, main_key: str = DEFAULT_MAIN_KEY) -> str:
    """Returns the key that a name means for an agent: `main` is its main key, any other short name its own rest."""
    lowered = text.strip().lower()
    if lowered.startswith("agent:"):
        return str(parse(lowered) or lowered)
    main = main_key.strip().lower() or DEFAULT_MAIN_KEY
    return f"agent:{agent}:{main if lowered == DEFAULT_MAIN_KEY else lowered}"


def is_thread(key: str) -> bool:
    """Says whether the key is of a thread or topic: the marker stands inside, not at the start."""
    lowered = key.lower()
    return ":thread:" in lowered or ":topic:" in lowered


def reset_type(key: str) -> str:
    """Returns which reset rules hold for a key: thread, group or direct."""
    lowered = key.lower()
    if is_thread(lowered):
        return "thread"
    return "group" if ":group:" in lowered or ":channel:" in lowered else "direct"


def chat_type(key: str) -> str:
    """Returns group, channel, direct or unknown."""
    found = parse(key)
    rest = found.rest if found else key.strip().lower()
    tokens = set(rest.split(":"))
    if "group" in tokens:
        return "group"
    if "channel" in tokens or pattern(_GUILD_CHANNEL).fullmatch(rest):
        return "channel"
    return "direct" if tokens & {"direct", "dm"} else "unknown"


def channel_of(key: str) -> str | None:
    """Returns the messaging channel that a key names (telegram, slack, ...), None for keys that name none."""
    found = parse(key)
    tokens = (found.rest if found else key.strip().lower()).split(":")
    if len(tokens) >= 3 and (tokens[1] in _PEERS or tokens[2] in ("direct", "dm")):
        return tokens[0]
    return None
