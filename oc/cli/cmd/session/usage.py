"""`oc session usage`: tokens and cost by session, model or day, each response counted once."""

from collections.abc import Callable
from typing import Any

import click

from oc.cli import accounts
from oc.cli.app import App
from oc.cli.options import oc_command
from oc.errors import Usage
from oc.session.usage import COUNTED, Call, exported, totals

_COUNTS = ("calls", *COUNTED, "cost")
_GROUPS = ("session", "model", "day", "response")


@oc_command("usage")
@click.argument("session", nargs=-1, metavar="[SESSION|FILE]...")
@click.option("--by", type=click.Choice(_GROUPS), default="session", help="Add up by this (default: session).")
@click.option("--since", metavar="TIME", help="Count from this time on: a date, a time, or a span before now (7d).")
@click.option("--until", metavar="TIME", help="Count what was before this time.")
@click.option("--add", metavar="FILE", multiple=True, help="Count these rows of --by response --jsonl too.")
@click.option("--last", is_flag=True, help="Print the newest response of a session, read from its end.")
def command(app: App, session: tuple[str, ...], *, by: str, add: tuple[str, ...], last: bool, **times: Any) -> int:
    """Print what model calls used: tokens and cost by session, model or day."""
    since_ms, until_ms = (accounts.moment_ms(app, times[name]) for name in ("since", "until"))
    if last:
        if len(session) > 1 or add or since_ms is not None or until_ms is not None:
            raise Usage("--last goes with one session and no other option")
        newest = accounts.last(app, session[0] if session else None)
        found, by = [newest] if newest is not None else [], "response"
    else:
        found = accounts.read(app, session, add).between(since_ms, until_ms)
    rows = [exported(call) for call in found] if by == "response" else totals(found, _names(app, by))
    heads = ("id", "sessionId", "model", "timestamp") if by == "response" else tuple(_heads(by))
    counts = _COUNTS[1:] if by == "response" else _COUNTS
    app.out.rows("usage", rows, (*heads, *counts), {"total": _total(found)})
    return 0 if rows else 1


def _heads(by: str) -> tuple[str, ...]:
    return ("sessionId", "key") if by == "session" else (by,)


def _names(app: App, by: str) -> Callable[[Call], dict[str, Any]]:
    if by == "day":
        return lambda call: accounts.day_of(app, call)
    if by == "model":
        return lambda call: {"model": call.model}
    return lambda call: {"sessionId": call.session_id, "key": call.key}


def _total(found: list[Call]) -> dict[str, Any]:
    rows = totals(found, lambda _: {})
    return rows[0] if rows else {"calls": 0, **dict.fromkeys(COUNTED, 0), "cost": None}
