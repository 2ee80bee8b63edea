"""Lowers the score of old hits: half of it is left after each half-life. Pure.

Behaviour follows openclaw 2026.3.13, temporal decay (table: tests/vectors/memory-decay.json), with the wider dated
names and the ageing sessions of design D17.
"""

import math
from collections.abc import Callable

from oc.memory.daily import day_ms, is_evergreen

_DAY_MS = 86_400_000


def multiplier(age_days: float, half_life_days: float) -> float:
    """Returns the factor for an age; the future counts as now, a half-life of 0 or less turns decay off."""
    if half_life_days <= 0 or not math.isfinite(half_life_days):
        return 1.0
    return math.exp(-math.log(2) / half_life_days * max(0.0, age_days))


def moment_ms(path: str, source: str, modified_ms: Callable[[], int | None]) -> int | None:
    """Returns when the content of a hit is from, None for what never ages.

    `modified_ms` is asked for what no name dates: the last message of a session, the change time of a file outside
    memory/ or of one whose date is none; it may not know.
    """
    if source == "sessions":
        return modified_ms()
    day = day_ms(path)
    if day is not None:
        return day
    return None if is_evergreen(path) else modified_ms()


def factor(moment: int | None, *, now_ms: int, half_life_days: float) -> float:
    """Returns what to multiply a score with; 1 for what never ages."""
    return 1.0 if moment is None else multiplier((now_ms - moment) / _DAY_MS, half_life_days)
