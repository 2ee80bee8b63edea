"""`oc session list`: the sessions of an agent, from the store alone."""

import os
from collections.abc import Iterator
from typing import Any

import click

from oc.cli.app import App
from oc.cli.lifecycle import rules_of, when
from oc.cli.options import limit_option, oc_command
from oc.session import store
from oc.session.find import SessionRef, sessions_of, unkeyed_of
from oc.session.open import freshness
from oc.session_key import chat_type

_FIELDS = ("key", "sessionId", "updatedAt", "bytes", "isFresh")


@oc_command("list")
@click.option("--stale", is_flag=True, help="List only sessions that the next message would start anew.")
@click.option("--keys", is_flag=True, help="Print only the keys.")
@click.option("--all", "everything", is_flag=True, help="List transcripts that belong to no key too.")
@limit_option(None, "sessions")
def command(app: App, stale: bool, keys: bool, everything: bool, limit: int | None) -> int:
    """List the sessions of an agent, the last used first."""
    rows = list(_rows(app, everything=everything))
    if stale:
        rows = [row for row in rows if row["isFresh"] is False]
    rows = rows[:limit]
    app.out.rows("sessions", rows, ("key",) if keys else _FIELDS)
    return 0 if rows else 1


def _rows(app: App, *, everything: bool) -> Iterator[dict[str, Any]]:
    rules = rules_of(app)
    found = sessions_of(app.places)
    for ref in sorted(found, key=lambda ref: (-(store.updated_at(ref.row) or 0), ref.key or "")):
        yield _row(ref, is_fresh=freshness(ref, rules).fresh)
    for ref in unkeyed_of(app.places, found) if everything else ():
        yield _row(ref, is_fresh=None)


def _row(ref: SessionRef, *, is_fresh: bool | None) -> dict[str, Any]:
    row = ref.row or {}
    try:
        status = os.stat(ref.path)
    except OSError:
        status = None
    return {
        "key": ref.key,
        "sessionId": ref.session_id,
        "updatedAt": when(store.updated_at(row)),
        "path": ref.path,
        "bytes": None if status is None else status.st_size,
        "isFresh": is_fresh,
        "chatType": row.get("chatType") or (chat_type(ref.key) if ref.key else None),
        "model": row.get("modelOverride") or row.get("model"),
        "totalTokens": store.fresh_tokens(row),
        "compactionCount": row.get("compactionCount"),
    }
