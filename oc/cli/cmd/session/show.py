"""`oc session show`: a transcript, its entries, its context or the context's messages, as JSON lines."""

from collections import deque
from collections.abc import Iterable
from typing import BinaryIO

import click

from oc.cli.app import App
from oc.cli.options import oc_command
from oc.cli.sessions import open_transcript
from oc.cli.stream import Item, Stream, context_items, warn_skipped, write_items
from oc.session.entry import Finding
from oc.session.transcript import Transcript, need_header, read_stream, scan
from oc.session.tree import leaf_path


@oc_command("show")
@click.argument("session", required=False)
@click.option("--context", "form", flag_value="context", help="Print what the leaf's path yields, compaction folded.")
@click.option("--entries", "form", flag_value="entries", help="Print the entries as version 3, without the header.")
@click.option("--messages", "form", flag_value="messages", help="Print the messages of the context, bare.")
@click.option("--last", type=click.IntRange(min=0), metavar="N", help="Print only the last N lines of these.")
def command(app: App, session: str | None, form: str | None, last: int | None) -> int:
    """Print a transcript as it is, or its entries, context or messages."""
    with open_transcript(app, session) as (file, name):
        if form is None:
            _print_lines(app, file, name, last)
            return 0
        transcript = read_stream(file, name)
    warn_skipped(app, name, transcript.skipped)
    items = _items(transcript, form)
    if last is not None:
        items = items[max(0, len(items) - last) :]
    write_items(app.out, Stream("messages" if form == "messages" else "entries", None, items), items)
    return 0


def _items(transcript: Transcript, form: str) -> list[Item]:
    if form == "entries":
        return list(map(Item, transcript.raws, transcript.entries))
    items = context_items(transcript, leaf_path(transcript.entries))
    return items if form == "context" else [Item(None, item.value["message"]) for item in items]


def _print_lines(app: App, file: BinaryIO, name: str, last: int | None) -> None:
    """Prints the lines with the bytes they have, in one pass; the header too unless only the last are wanted."""
    skipped: list[Finding] = []
    lines = scan(file, skipped)
    _, raw, header = need_header(lines, skipped, name)
    items: Iterable[Item] = (Item(raw, value) for _, raw, value in lines)
    if last is not None:
        items = deque(items, maxlen=last)
    write_items(app.out, Stream("entries", Item(raw, header) if last is None else None, []), items)
    warn_skipped(app, name, skipped)
