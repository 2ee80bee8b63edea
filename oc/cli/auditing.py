"""What `oc audit` and `oc compact --audit` look through and print: the losses of a compaction."""

from collections.abc import Iterator, Sequence
from typing import Any

from oc.cli.app import App
from oc.compaction.audit import KINDS, STATEMENTS, VALUES, Audit, Item, audit, retention
from oc.errors import NotFound, Usage
from oc.session.entry import Entry
from oc.session.tree import leaf_path

FIELDS = ("kind", "value", "entryId", "mentions")
_GROUPS = {"all": KINDS, "values": VALUES, "statements": STATEMENTS}
_LOSS = {"kind": str, "value": str}


def kinds_of(text: str) -> tuple[str, ...]:
    """Returns the kinds that a list with commas names; a group stands for its kinds."""
    named = [name.strip() for name in text.split(",") if name.strip()]
    wanted = {kind for name in named for kind in _GROUPS.get(name, (name,))}
    unknown = sorted(wanted - {*KINDS})
    if unknown or not named:
        raise Usage(
            f"no kind {', '.join(map(repr, unknown or [text]))}", hint=f"kinds: {', '.join([*_GROUPS, *KINDS])}"
        )
    return tuple(kind for kind in KINDS if kind in wanted)


def compaction_path(entries: Sequence[Entry], ident: str | None, name: str) -> list[Entry] | None:
    """Returns the path to a compaction, left out: to the newest of the branch; None when it has none."""
    if ident is None:
        path = leaf_path(entries)
        newest = next((i for i in range(len(path) - 1, -1, -1) if path[i].get("type") == "compaction"), -1)
        return path[: newest + 1] or None
    if not any(entry.get("id") == ident and entry.get("type") == "compaction" for entry in entries):
        raise NotFound(f"no compaction {ident!r}", path=name)
    return leaf_path(entries, ident)


def audited(app: App, path: Sequence[Entry], *, tools: bool = False) -> Audit:
    """Returns what the compaction at the end of the path lost, the notes of the agent's workspace counted."""
    return audit(path, _notes(app), tools=tools)


def _notes(app: App) -> Iterator[str]:
    """Yields the notes of the workspace; they are read only when something is neither in the summary nor kept."""
    from oc.memory.scan import scan
    from oc.memory.settings import settings

    listing = scan(app.places.workspace, settings(app.config).extra_paths)
    for name in listing.stamps:
        with open(listing.place(name), encoding="utf-8", errors="replace") as file:
            yield file.read()


def rows(items: Sequence[Item]) -> list[dict[str, Any]]:
    return [
        {
            "kind": item.kind,
            "value": item.value,
            "entryId": item.entry_ids[0],
            "mentions": len(item.entry_ids),
            "entryIds": list(item.entry_ids),
        }
        for item in items
    ]


def accepted(items: Sequence[Item], baseline: str | None) -> list[Item]:
    """Returns the losses that a baseline does not list; one is known by its kind and value."""
    if baseline is None:
        return list(items)
    from oc.cli.baseline import rows_of

    known = {(row["kind"], row["value"]) for row in rows_of(baseline, "lost", _LOSS, "oc audit")}
    return [item for item in items if (item.kind, item.value) not in known]


def about(done: Audit, lost: Sequence[Item]) -> dict[str, Any]:
    """Returns the sums of an audit; `retention` is the share of the values that were kept."""
    counts = {
        kind: {"found": sum(i.kind == kind for i in done.found), "lost": sum(i.kind == kind for i in lost)}
        for kind in KINDS
    }
    return {
        "compactionId": done.compaction_id,
        "firstKeptEntryId": done.first_kept_entry_id,
        "summarisedEntries": done.summarised_entries,
        "retention": round(share(done.found, lost, VALUES), 6),
        "kinds": {kind: count for kind, count in counts.items() if count["found"]},
    }


def share(found: Sequence[Item], lost: Sequence[Item], kinds: Sequence[str]) -> float:
    """Returns the retention of items of these kinds."""
    return retention(sum(item.kind in kinds for item in found), sum(item.kind in kinds for item in lost))


def document(done: Audit) -> dict[str, Any]:
    """Returns an audit as a part of another document."""
    return {**about(done, done.lost), "lost": rows(done.lost)}


def print_lost(app: App, done: Audit) -> None:
    """Prints the losses below what is printed for people already; programs have them in their document."""
    if app.out.format == "text":
        app.out.rows("lost", [{**row, "lost": "lost"} for row in rows(done.lost)], ("lost", *FIELDS))
    tell(app, done, done.lost)


def tell(app: App, done: Audit, lost: Sequence[Item]) -> None:
    """Says in one line how much was kept."""
    values = sum(item.kind in VALUES for item in done.found)
    kept = values - sum(item.kind in VALUES for item in lost)
    said = sum(item.kind in STATEMENTS for item in done.found)
    told = said - sum(item.kind in STATEMENTS for item in lost)
    name = "compaction" if done.compaction_id is None else f"compaction {done.compaction_id}"
    app.out.say(f"oc: {name}: kept {kept} of {values} values, {told} of {said} statements")
