"""`oc session tree`: how the entries of a transcript hang together."""

import io
import shutil
from collections.abc import Iterator
from itertools import chain
from typing import Any, BinaryIO

import click

from oc.base.jsonl import dump
from oc.cli.app import App
from oc.cli.options import oc_command
from oc.cli.sessions import open_transcript
from oc.cli.stream import warn_skipped
from oc.session.drawing import Gathered, Node, Tree, drawn, statistics
from oc.session.entry import VERSION, Finding, version_of
from oc.session.transcript import Line, assemble, need_header, scan

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
        again = io.BytesIO(file.read()) if session == "-" else file
        found = _gathered(app, again, name).tree(leaf, name)
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


def _gathered(app: App, file: BinaryIO, name: str) -> Gathered:
    """Reads a transcript line by line; one whose links must be made first is read whole."""
    skipped: list[Finding] = []
    lines = scan(file, skipped)
    first = need_header(lines, skipped, name)
    if version_of(first[2]) != VERSION:
        return _whole(app, chain((first,), lines), skipped, name)
    gathered = Gathered()
    for _, raw, entry in lines:
        if entry.get("type") == "session":
            continue
        if not isinstance(entry.get("id"), str) or "parentId" not in entry:
            file.seek(0)
            skipped.clear()
            return _whole(app, scan(file, skipped), skipped, name)
        gathered.add(entry, len(raw) + 1)
    warn_skipped(app, name, skipped)
    return gathered


def _whole(app: App, lines: Iterator[Line], skipped: list[Finding], name: str) -> Gathered:
    transcript = assemble(lines, skipped, name)
    warn_skipped(app, name, skipped)
    gathered = Gathered()
    for raw, entry in zip(transcript.raws, transcript.entries, strict=True):
        gathered.add(entry, len(dump(entry) if raw is None else raw) + 1)
    return gathered


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
