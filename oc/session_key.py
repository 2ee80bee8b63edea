"""Session keys: `agent:<agent>:<rest>`, the routing names under which sessions.json files sessions. Pure text."""

import re

_VALID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}$", re.IGNORECASE)


def normal_agent_id(text: str) -> str:
    """Returns the id as it stands in keys and folder names; what cannot be one becomes `main`."""
    trimmed = text.strip()
    if _VALID.match(trimmed):
        return trimmed.lower()
    return re.sub(r"[^a-z0-9_-]+", "-", trimmed.lower()).strip("-")[:64] or "main"
