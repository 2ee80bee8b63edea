"""`oc memory get`: the bytes of a note or of some of its lines."""

import click

from oc.cli.app import App
from oc.cli.options import oc_command
from oc.errors import NotFound, Usage


@oc_command("get")
@click.argument("path")
@click.option("--from", "first", type=click.IntRange(min=1), metavar="N", help="First line to print, counted from 1.")
@click.option("--lines", type=click.IntRange(min=1), metavar="N", help="How many lines to print.")
@click.option("--missing-ok", is_flag=True, help="Print nothing for a note that is not there, and exit 0.")
def command(app: App, path: str, first: int | None, lines: int | None, missing_ok: bool) -> int:
    """Print a note, or lines of it, byte for byte."""
    from oc.memory.read import byte_lines, place, read
    from oc.memory.settings import settings

    named = place(path)
    if named.first is not None:
        if first or lines:
            raise Usage("lines are given twice, behind # and by an option")
        last = named.first if named.last is None else named.last
        if not 1 <= named.first <= last:
            raise Usage("lines count from 1, and the last is not before the first", hint=f"{named.path}#L1-L3")
        first, lines = named.first, last - named.first + 1
    note = read(app.places.workspace, settings(app.config).extra_paths, named.path)
    if not note.exists and not missing_ok:
        raise NotFound("no such note", path=note.path, hint="`oc memory search -l WORD` names notes")
    data = byte_lines(note.data, first, lines)
    if app.out.format in ("json", "jsonl"):
        text = data.decode("utf-8", "replace")
        app.out.document({"path": note.path, "startLine": first or 1, "exists": note.exists, "text": text})
    else:
        app.out.write(data)
    if note.exists and not data and first:
        app.out.say(f"oc: {note.path} has no line {first}")
        return 1
    return 0
