"""What a session is told after a compaction: the rules of AGENTS.md that a summary must not stand in for. Pure.

Behaviour follows openclaw 2026.3.13 (table: context-post-compaction); the wording is our own.
"""

from collections.abc import Callable, Sequence

from oc.base.text import cut16, js_trim, len16, pattern

MARK = "[Post-compaction context refresh]"
MAX_CHARS = 3000
CUT = "\n...[truncated]..."
DEFAULT_SECTIONS = ("Session Startup", "Red Lines")
# What older workspaces call them; looked for only when none of the default ones is there.
_LEGACY_SECTIONS = ("Every Session", "Safety")
_DATE = "YYYY-MM-DD"
_KEEP_MARK = r"\s*<!--\s*oc:keep\s*-->\s*\Z"
_ABOUT = (
    "The conversation before this point was folded into a summary a moment ago. The summary tells roughly what "
    "happened; it is not the record, and it replaces none of the rules below. "
)
_STARTUP = "Go through the startup steps again, reading what they name, before you answer."
_LISTED = "Read the sections below again before you answer."

Sections = Sequence[tuple[str, str]]


def refresh_text(
    sections_of: Callable[[Sequence[str]], Sections], names: Sequence[str], *, date: str, time_line: str
) -> str | None:
    """Returns the text, None when none of the named sections is there; no names switch it off.

    `sections_of` gives (name, section) for those of the names that AGENTS.md has.
    """
    wanted = [name for name in names if js_trim(name)]
    if not wanted:
        return None
    usual = _key(wanted) == _key(DEFAULT_SECTIONS)
    found = sections_of(wanted)
    if not found and usual:
        found = sections_of(_LEGACY_SECTIONS)
    if not found:
        return None
    # The mark of a section to be kept stands before its heading, which is the end of the section above.
    sections = [pattern(_KEEP_MARK).sub("", section) for _, section in found]
    content = "\n\n".join(sections).replace(_DATE, date)
    if len16(content) > MAX_CHARS:
        content = cut16(content, MAX_CHARS) + CUT
    about = _ABOUT + (_STARTUP if usual else _LISTED)
    lead = "Rules from AGENTS.md:" if usual else f"Sections of AGENTS.md ({', '.join(name for name, _ in found)}):"
    return f"{MARK}\n\n{about}\n\n{lead}\n\n{content}\n\n{time_line}"


def _key(names: Sequence[str]) -> set[str]:
    return {js_trim(name).lower() for name in names}
