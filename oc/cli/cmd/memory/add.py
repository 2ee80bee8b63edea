"""`oc memory add`: remember this."""

import click

from oc.cli.app import App
from oc.cli.options import oc_command
from oc.cli.texts import argument, from_stdin


@oc_command("add")
@click.argument("text", nargs=-1)
@click.option("--long-term", is_flag=True, help="Write into MEMORY.md, for what holds for months.")
@click.option("--dry-run", is_flag=True, help="Print what would be written, and write nothing.")
def command(app: App, text: tuple[str, ...], long_term: bool, dry_run: bool) -> int:
    """Append a fact to today's note, and print where it stands."""
    from oc.memory.write import remember

    if text in ((), ("-",)):
        app.need_stdin("the text to remember is")
        fact = from_stdin(nul=False)
    else:
        fact = argument(" ".join(text))
    written = remember(
        app.places.workspace,
        fact,
        date=app.clock.date(),
        long_term=long_term,
        origin={"session": app.environ.get("OC_SESSION") or None, "by": "memory add"},
        now_ms=app.clock.now_ms(),
        dry_run=dry_run,
        lock_timeout_ms=app.lock_timeout_ms,
    )
    place = f"{written.path}#L{written.line}"
    if not written.added:
        app.out.say(f"noted before: {place}")
    row = {"place": place, "path": written.path, "line": written.line, "added": written.added, "text": written.text}
    if app.out.format == "json":
        app.out.document(row)
    else:
        app.out.rows("written", [row], ("place", "text") if dry_run else ("place",))
    return 0
