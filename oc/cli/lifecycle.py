"""What commands that open sessions share: the settings of opening, and what is printed of a session."""

from typing import Any

from oc.base.clock import iso
from oc.cli.app import App
from oc.session.open import Opened, Rules, freshness

MAX_MS = 253402300800000  # year 10000
_FIELDS = ("key", "sessionId", "path", "isNew", "isFresh")


def rules_of(app: App) -> Rules:
    return Rules(app.config, app.clock, app.ids, app.lock_timeout_ms)


def when(epoch_ms: float | None) -> str | None:
    """Returns a time as it is printed; None for none, and for what no calendar has."""
    return iso(int(epoch_ms)) if epoch_ms is not None and 0 < epoch_ms < MAX_MS else None


def tell_hooks(owner: App, opened: Opened, reason: str | None = None) -> None:
    """Tells the hooks of a session that was just made; `reason` unless it is new, or its predecessor was stale."""
    from oc.agent.hooked import Hooked, tell_new

    if opened.is_new:
        tell_new(opened, Hooked(owner.hooks, opened.ref), reason)


def print_opened(app: App, owner: App, opened: Opened) -> None:
    """Prints one session: a line, or with --json one document."""
    ref = opened.ref
    judged = freshness(ref, rules_of(owner))
    row: dict[str, Any] = {
        "key": ref.key,
        "sessionId": ref.session_id,
        "path": ref.path,
        "isNew": opened.is_new,
        "isFresh": judged.fresh,
        "archived": list(opened.archived),
        "previousSessionId": (opened.previous or {}).get("sessionId"),
        "dailyResetAt": when(judged.daily_reset_at),
        "idleExpiresAt": when(judged.idle_expires_at),
    }
    if app.out.format == "json":
        app.out.document(row)
    else:
        app.out.rows("sessions", [row], _FIELDS)
