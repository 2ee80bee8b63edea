"""When a session is too old to go on: daily at an hour of the local clock, or after idle minutes. Pure.

Behaviour follows OpenClaw 2026.3.13 (table: sessions-freshness).
"""

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, NamedTuple

from oc.session_key import reset_type

DEFAULT_HOUR = 4
DEFAULT_IDLE_MINUTES = 60
Settings = Mapping[str, Any]


class Policy(NamedTuple):
    """`mode`: daily or idle; in daily mode idle minutes count too when they are set."""

    mode: str
    at_hour: int
    idle_minutes: int | None


class Freshness(NamedTuple):
    """The bounds are epoch ms, None where the policy has no such rule."""

    fresh: bool
    daily_reset_at: int | None
    idle_expires_at: int | None


def policy(session: Settings, key: str, *, channel: str | None = None, kind: str | None = None) -> Policy:
    """Returns the policy for a key from the configuration's `session` object.

    `kind` is thread, group or direct, by default what the key says. A channel's own policy hides all the others.
    """
    own = _channel_policy(session, channel)
    if own is not None:
        return _resolved({}, own, None, nothing_else=False)
    base = session.get("reset")
    by_type = session.get("resetByType")
    kind = kind or reset_type(key)
    typed = (by_type or {}).get(kind)
    if typed is None and kind == "direct":
        typed = (by_type or {}).get("dm")
    legacy = session.get("idleMinutes")
    return _resolved(typed or {}, base or {}, legacy, nothing_else=not base and not by_type)


def _channel_policy(session: Settings, channel: str | None) -> Settings | None:
    by_channel = session.get("resetByChannel")
    if not channel or not isinstance(by_channel, Mapping):
        return None
    return next((value for name, value in by_channel.items() if name.lower() == channel.strip().lower()), None)


def _resolved(typed: Settings, base: Settings, legacy_idle: Any, *, nothing_else: bool) -> Policy:
    mode = typed.get("mode") or base.get("mode")
    if mode is None:
        mode = "idle" if nothing_else and legacy_idle is not None else "daily"
    hour = _number(typed.get("atHour"), base.get("atHour"))
    idle = _number(typed.get("idleMinutes"), base.get("idleMinutes"), legacy_idle)
    minutes = max(1, math.floor(idle)) if idle is not None else DEFAULT_IDLE_MINUTES if mode == "idle" else None
    return Policy(mode, DEFAULT_HOUR if hour is None else min(23, max(0, math.floor(hour))), minutes)


def _number(*values: Any) -> float | None:
    found = next((value for value in values if value is not None), None)
    usable = isinstance(found, int | float) and not isinstance(found, bool) and math.isfinite(found)
    return found if usable else None


def evaluate(rules: Policy, updated_at: float | None, now_ms: int, zone: tzinfo | None) -> Freshness:
    """Says whether a session last used at `updated_at` (epoch ms) goes on; unknown use counts as fresh.

    Equality is fresh. `zone` None is the machine's own.
    """
    return judged(rules, updated_at, now_ms, last_reset(rules, now_ms, zone))


def last_reset(rules: Policy, now_ms: int, zone: tzinfo | None) -> int | None:
    """Returns the moment before which a session must not have been used last; None without a daily reset."""
    return daily_reset(rules.at_hour, now_ms, zone) if rules.mode == "daily" else None


def judged(rules: Policy, updated_at: float | None, now_ms: int, daily: int | None) -> Freshness:
    """Does what `evaluate` does with a daily reset that is known already."""
    if updated_at is None:
        return Freshness(True, daily, None)
    idle = int(updated_at + rules.idle_minutes * 60_000) if rules.idle_minutes is not None else None
    stale = (daily is not None and updated_at < daily) or (idle is not None and now_ms > idle)
    return Freshness(not stale, daily, idle)


def daily_reset(at_hour: int, now_ms: int, zone: tzinfo | None) -> int:
    """Returns the last moment, in epoch ms, at which the local clock showed that hour.

    An hour that the clock skips is the one after it, of a repeated hour the first counts.
    """
    local = datetime.fromtimestamp(now_ms / 1000, UTC).astimezone(zone)
    # Without a zone the wall clock is left naive: timestamp() then asks the machine, across its own clock changes.
    at = datetime(local.year, local.month, local.day, at_hour, tzinfo=zone)
    if at.timestamp() * 1000 > now_ms:
        at -= timedelta(days=1)
    return int(at.timestamp() * 1000)
