"""What a lock file says: whose it is, how old, and whether it may be taken away. Pure but for asking after processes.

Reasons are OpenClaw 2026.3.13's (table: sessions-lock); taking over is oc/base/files.py's.
"""

from typing import Any, NamedTuple

from oc.base.clock import parse_iso
from oc.base.files import is_alive, start_time

_LEAST_HOLD_MS = 300_000
_GRACE_MS = 120_000


class LockState(NamedTuple):
    """`needs_mtime`: somebody may be just writing it, so only an old file is stale."""

    pid: int | None
    alive: bool
    created_at: str | None
    age_ms: int | None
    reasons: tuple[str, ...]

    @property
    def stale(self) -> bool:
        return bool(self.reasons)

    @property
    def needs_mtime(self) -> bool:
        return self.stale and set(self.reasons) <= {"missing-pid", "invalid-createdAt"}


def inspect(owner: Any, stale_ms: int, now_ms: int) -> LockState:
    """Returns the state of a lock whose file holds `owner` (None: nothing that parses)."""
    fields = owner if isinstance(owner, dict) else {}
    pid = fields.get("pid")
    pid = pid if isinstance(pid, int) and not isinstance(pid, bool) and pid > 0 else None
    created = fields.get("createdAt")
    created = created if isinstance(created, str) else None
    since = parse_iso(created)
    age_ms = None if since is None else max(0, now_ms - since)
    alive = pid is not None and is_alive(pid)
    reasons = []
    if pid is None:
        reasons.append("missing-pid")
    elif not alive:
        reasons.append("dead-pid")
    elif _is_recycled(pid, fields.get("starttime")):
        reasons.append("recycled-pid")
    if age_ms is None:
        reasons.append("invalid-createdAt")
    elif age_ms > stale_ms:
        reasons.append("too-old")
    return LockState(pid, alive, created, age_ms, tuple(reasons))


def _is_recycled(pid: int, stated: Any) -> bool:
    started = start_time(pid)
    return isinstance(stated, int) and started is not None and started != stated


def max_hold_ms(timeout_ms: int) -> int:
    """Returns how long a turn of that time limit may hold its transcript; longer, and its owner hangs."""
    return max(_LEAST_HOLD_MS, (timeout_ms if timeout_ms > 0 else _LEAST_HOLD_MS) + _GRACE_MS)
