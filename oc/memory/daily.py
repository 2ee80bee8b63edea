"""The dates that names of notes carry: today's note, the day of a note, and which notes never age. Pure.

A dated basename counts at any depth and with a suffix (design D17); openclaw 2026.3.13 knows `memory/<date>.md` only.
"""

from datetime import UTC, date, datetime, time, tzinfo

from oc.base.clock import Clock
from oc.base.text import pattern

_DATED = r"(?a)(?:^|/)(\d{4})-(\d\d)-(\d\d)(?:[-_. ][^/]*)?\.md\Z"
_FIRST_YEAR = 100  # JavaScript reads the years 0 to 99 as 1900 to 1999, so no such name is a date


def daily_path(epoch_ms: int, zone: tzinfo | None) -> str:
    """Returns the path, relative to the workspace, of the note of that moment's day in the user's zone."""
    return f"memory/{Clock(epoch_ms, zone).date()}.md"


def day_ms(path: str) -> int | None:
    """Returns the start (UTC, epoch ms) of the day that a note's name states, None for names without a real date."""
    match = pattern(_DATED).search(_plain(path))
    if match is None:
        return None
    year, month, day = map(int, match.groups())
    if year < _FIRST_YEAR:
        return None
    try:
        return int(datetime.combine(date(year, month, day), time(), UTC).timestamp()) * 1000
    except ValueError:
        return None


def is_evergreen(path: str) -> bool:
    """Says whether a note's content has no age: MEMORY.md, and what lies below memory/ under a name without a date.

    A name that looks dated but names no real day is not evergreen.
    """
    plain = _plain(path)
    if plain in ("MEMORY.md", "memory.md"):
        return True
    return plain.startswith("memory/") and pattern(_DATED).search(plain) is None


def _plain(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./")
