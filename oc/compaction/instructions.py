"""Instructions for a summary as OpenClaw's users type them: `/compact: the open tickets`. Pure.

Table: context-config-defaults (extractCompactInstructions).
"""

from oc.base.text import js_trim, js_trim_start

COMMAND = "/compact"


def of_command(text: str) -> str | None:
    """Returns what follows the command, after a colon or not; None for another text, or when nothing follows."""
    trimmed = js_trim(text)
    if not trimmed.lower().startswith(COMMAND):
        return None
    rest = js_trim_start(trimmed[len(COMMAND) :])
    return js_trim(rest.removeprefix(":")) or None
