"""`oc session show`: a transcript, its entries, its context or the context's messages, as JSON lines."""

import os
from collections import deque
from collections.abc import Iterable
from typing import BinaryIO

import click

from oc.cli.app import App
from oc.cli.options import oc_command
from oc.cli.sessions import open_transcript
from oc.cli.showing import Shown, chosen
from oc.cli.stream import Item, Stream, warn_skipped, write_items
from oc.message.shapes import ROLES
from oc.session.entry import Finding
from oc.session.tail import last_entries
from oc.session.transcript import need_header, read_stream, scan


@oc_command("show")
@click.argument("session", required=False)
@click.option("--context", "form", flag_value="context", help="Print what the leaf's path yields, compaction folded.")
@click.option("--entries", "form", flag_value="entries", help="Print the entries as version 3, without the header.")
@click.option("--messages", "form", flag_value="messages", help="Print the messages of the context, bare.")
@click.option("--leaf", "--at", "leaf", metavar="ENTRY", help="Take ENTRY for the leaf, and only the path to it.")
@click.option("--role", type=click.Choice(ROLES), help="Print only what holds a message of that role.")
@click.option("--tool", metavar="NAME", help="Print only calls of the tool and their results.")
@click.option("--last", type=click.IntRange(min=0), metavar="N", help="Print only the last N lines of these.")
def command(
    app: App,
    session: str | None,
    *,
    form: str | None,
    leaf: str | None,
    role: str | None,
    tool: str | None,
    last: int | None,
) -> int:
    """Print a transcript as it is, or its entries, context or messages."""
    with open_transcript(app, session) as (file, name):
        if leaf is form is role is tool is None and last is not None and session != "-" and file.seekable():
            _print_last(app, file, name, last)
            return 0
        if leaf is None and form in (None, "entries"):
            header, items, skipped = _whole(file, name, form)
        else:
            shown = Shown(file, name, leaf, full=form not in ("context", "messages"), seekable=session != "-")
            skipped = shown.transcript.skipped
            found = shown.path if form in (None, "entries") else shown.context()
            if form == "context" and role is None and tool is None:
                shown.write(app.out, found if last is None else found[max(0, len(found) - last) :])
                warn_skipped(app, name, skipped)
                return 0
            header = Item(shown.transcript.header_raw, shown.transcript.header) if form is None else None
            items = shown.items(found)
        if role is not None or tool is not None:
            items, header = chosen(items, role, tool), None
        if form == "messages":
            items = (Item(None, item.value["message"]) for item in items)
        if last is not None:
            items, header = deque(items, maxlen=last), None
        write_items(app.out, Stream("messages" if form == "messages" else "entries", header, []), items)
        warn_skipped(app, name, skipped)
    return 0


def _whole(file: BinaryIO, name: str, form: str | None) -> tuple[Item | None, Iterable[Item], list[Finding]]:
    """Returns the header where it is printed, all lines, and what was passed over, complete once they are read."""
    if form is not None:
        transcript = read_stream(file, name)
        return None, map(Item, transcript.raws, transcript.entries), transcript.skipped
    skipped: list[Finding] = []
    lines = scan(file, skipped)
    _, raw, header = need_header(lines, skipped, name)
    return Item(raw, header), (Item(raw, value) for _, raw, value in lines), skipped


def _print_last(app: App, file: BinaryIO, name: str, count: int) -> None:
    """Prints the last lines, read from the end of the file."""
    skipped: list[Finding] = []
    need_header(scan(file, skipped), skipped, name)
    found = last_entries(file, file.seek(0, os.SEEK_END), count)
    app.out.write(b"".join(raw + b"\n" for raw in found.lines))
    if found.skipped:
        app.out.warn(f"{name}: {found.skipped} of the last lines are no entries and left out")
