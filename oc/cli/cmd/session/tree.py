"""`oc session tree`: how the entries of a transcript hang together."""

import shutil
from typing import Any

import click

from oc.cli.app import App
from oc.cli.options import oc_command
from oc.cli.sessions import open_transcript
from oc.cli.stream import warn_skipped
from oc.session.drawing import Node, Tree, drawn, statistics, whole_tree
from oc.session.transcript import Transcript, read_stream
from oc.session.tree import entry_named, labels

_FIELDS = ("id", "parentId", "kind", "timestamp", "bytes", "onPath", "isLeaf", "label", "text")
_COLUMNS = 80


@oc_command("tree")
@click.argument("session", required=False)
@click.option("--leaf", metavar="ENTRY", help="Take ENTRY for the leaf whose path is shown.")
@click.option("--entries", "everything", is_flag=True, help="Show every entry, not only the ends of each branch.")
@click.option("--stats", is_flag=True, help="Print only counts and bytes, those of dead branches too.")
def command(app: App, session: str | None, *, leaf: str | None, everything: bool, stats: bool) -> int:
    """Show how the entries of a transcript hang together: roots, branches, leaves."""
    with open_transcript(app, session) as (file, name):
        transcript = read_stream(file, name)
    warn_skipped(app, name, transcript.skipped)
    leaf_id = None if leaf is None else entry_named(transcript.entries, leaf, name)
    found = whole_tree(transcript.entries, _sizes(transcript), labels(transcript.entries), leaf_id)
    totals = {"path": name, "leafId": found.leaf_id, **statistics(found)}
    if app.out.format == "json":
        rows = [] if stats else [_row(found, node) for node in found.nodes.values()]
        app.out.document(totals if stats else {**totals, "nodes": rows})
    elif app.out.format != "text":
        rows = [totals] if stats else [_row(found, node) for node in found.nodes.values()]
        app.out.rows("nodes", rows, tuple(totals) if stats else _FIELDS)
    elif stats:
        app.out.rows("stats", [{"name": name, "value": value} for name, value in totals.items()], ("name", "value"))
    else:
        width = shutil.get_terminal_size((_COLUMNS, 24)).columns if app.out.terminal else _COLUMNS
        for line in drawn(found, width, everything=everything):
            app.out.line(line)
    return 0


def _sizes(transcript: Transcript) -> list[int]:
    """Returns the bytes of each entry's line; one that migration made anew has no line of its own."""
    from oc.base.jsonl import dump

    pairs = zip(transcript.raws, transcript.entries, strict=True)
    return [len(dump(entry) if raw is None else raw) + 1 for raw, entry in pairs]


def _row(found: Tree, node: Node) -> dict[str, Any]:
    return {
        "id": node.id,
        "parentId": node.parent_id,
        "kind": node.kind,
        "timestamp": node.timestamp,
        "bytes": node.size,
        "onPath": node.on_path,
        "isLeaf": not found.children.get(node.id),
        "label": node.label,
        "text": node.said,
    }
