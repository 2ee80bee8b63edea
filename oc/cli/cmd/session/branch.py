"""`oc session branch`: another way of going on from an earlier entry."""

from typing import Any

import click

from oc.base.clock import iso
from oc.cli.app import App
from oc.cli.branching import summarised
from oc.cli.guarding import end_of
from oc.cli.lifecycle import rules_of
from oc.cli.marking import resolve_entry
from oc.cli.options import oc_command
from oc.cli.sessions import default_session, find_session
from oc.compaction.branch import left_behind
from oc.errors import Usage
from oc.session import transcript
from oc.session.backward import find_entry
from oc.session.entry import Entry
from oc.session.open import touch
from oc.session.tree import leaf_path

_ROOT = "root"


@oc_command("branch")
@click.argument("session_entry", nargs=-1, required=True, metavar="[SESSION] ENTRY")
@click.option("--before", is_flag=True, help="Go on from the entry before ENTRY, to say that one anew.")
@click.option("--summary", metavar="TEXT", help="Tell the new branch TEXT of the one that is left.")
@click.option("--summarise", is_flag=True, help="Let the model summarise the branch that is left.")
@click.option("-m", "--model", metavar="MODEL", help="Model that summarises (default: as configured, oc-offline).")
@click.option("--dry-run", is_flag=True, help="Print the entry that would be appended.")
def command(
    app: App,
    session_entry: tuple[str, ...],
    *,
    before: bool,
    summary: str | None,
    summarise: bool,
    model: str | None,
    dry_run: bool,
) -> int:
    """Let a session go on from an earlier entry; what came after it stays as a branch."""
    if len(session_entry) > 2:
        raise Usage("one SESSION and one ENTRY are expected")
    if summary is not None and summarise:
        raise Usage("--summary and --summarise exclude each other")
    session = session_entry[0] if len(session_entry) == 2 else default_session(app)
    if session == "-":
        raise Usage("a session is expected, not -")
    ref = find_session(app, session)
    transcript.need_writable(ref.path)
    owner = app.for_agent(ref.agent)
    target = _target(session_entry[-1], ref.path, before=before)
    entry = _marker(app, target, end_of(ref.path).leaf_id) if summary is None else _given(app, target, summary)
    if summarise:
        entries = transcript.read(ref.path).entries
        left = left_behind(leaf_path(entries), leaf_path(entries, target) if target is not None else [])
        entry = summarised(owner, ref.row, left, target or _ROOT, model) or entry
    if not dry_run:
        (entry,) = transcript.branch(ref.path, target, [entry], ids=app.ids, lock_timeout_ms=app.lock_timeout_ms)
        touch(ref, owner.places, rules_of(owner), totalTokensFresh=False)
    row: dict[str, Any] = {"path": ref.path, "parentId": target, **entry}
    app.out.rows("entries", [row], ("type",) if dry_run else ("id",))
    return 0


def _target(text: str, path: str, *, before: bool) -> str | None:
    """Returns the entry to go on from, None for a new root."""
    if text == _ROOT and not before:
        return None
    target = resolve_entry(path, text)
    if not before:
        return str(target["id"])
    parent = target.get("parentId")
    return parent if isinstance(parent, str) and find_entry(path, parent) is not None else None


def _marker(app: App, target: str | None, leaf_id: str | None) -> Entry:
    """Returns an entry that moves the leaf and says nothing to a model: the leaf is what stands last in the file."""
    data = {"fromId": leaf_id, "toId": target}
    return {"type": "custom", "customType": "oc.branch", "data": data, "timestamp": iso(app.clock.now_ms())}


def _given(app: App, target: str | None, summary: str) -> Entry:
    if not summary.strip():
        raise Usage("the summary is blank")
    stamp = iso(app.clock.now_ms())
    return {"type": "branch_summary", "timestamp": stamp, "fromId": target or _ROOT, "summary": summary}
