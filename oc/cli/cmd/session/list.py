"""`oc session list`: the sessions of an agent, from the store and the files' sizes."""

from itertools import islice

import click

from oc.cli.app import App
from oc.cli.lifecycle import rules_of
from oc.cli.listing import FIELDS, Wanted, long_row, selected, short_row
from oc.cli.options import limit_option, oc_command
from oc.errors import Usage
from oc.session.find import sessions_of, unkeyed_of
from oc.session.keys import CLASSES
from oc.session.open import freshness_by


@oc_command("list")
@click.option("--stale", is_flag=True, help="List only sessions that the next message would start anew.")
@click.option("--due", type=click.Choice(["compact", "flush"]), help="List only sessions for which that is due.")
@click.option("--class", "classes", type=click.Choice(CLASSES), multiple=True, help="List only keys of that class.")
@click.option("--keys", is_flag=True, help="Print only the keys.")
@click.option("-0", "--null", is_flag=True, help="End each key with NUL, for xargs -0; goes with --keys.")
@click.option("--all", "everything", is_flag=True, help="List transcripts that belong to no key too.")
@limit_option(None, "sessions")
def command(
    app: App,
    *,
    stale: bool,
    due: str | None,
    classes: tuple[str, ...],
    keys: bool,
    null: bool,
    everything: bool,
    limit: int | None,
) -> int:
    """List the sessions of an agent, the last used first."""
    if null and (not keys or app.out.format != "text"):
        raise Usage("-0 goes with --keys, and with no other format")
    wanted = Wanted(stale, due, classes)
    if everything and not wanted.all:
        raise Usage("--all lists what --stale, --due and --class know nothing of")
    judge = freshness_by(rules_of(app))
    make = long_row if app.out.format in ("json", "jsonl") else short_row
    found = sessions_of(app.places)
    rows = [make(ref, judge(ref)) for ref in islice(selected(app, found, wanted, judge), limit)]
    if everything:
        rows += [make(ref, None) for ref in unkeyed_of(app.places, found)]
    rows = rows[:limit]
    if null:
        app.out.write(b"".join(str(row["key"]).encode("utf-8", "replace") + b"\0" for row in rows))
    else:
        app.out.rows("sessions", rows, ("key",) if keys else FIELDS)
    return 0 if rows else 1
