"""What commands that open sessions share: the settings of opening, and what is printed of a session."""

from typing import Any

from oc.base.clock import iso
from oc.cli.app import App
from oc.session.open import Opened, Rules, freshness

_FIELDS = ("key", "sessionId", "path", "isNew", "isFresh")


def rules_of(app: App) -> Rules:
    return Rules(app.config, app.clock, app.ids, app.lock_timeout_ms)


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
        "dailyResetAt": None if judged.daily_reset_at is None else iso(judged.daily_reset_at),
        "idleExpiresAt": None if judged.idle_expires_at is None else iso(judged.idle_expires_at),
    }
    if app.out.format == "json":
        app.out.document(row)
    else:
        app.out.rows("sessions", [row], _FIELDS)
