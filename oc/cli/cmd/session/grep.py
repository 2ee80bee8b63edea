"""`oc session grep`: the entries of transcripts whose texts match."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import click

from oc.cli.app import App
from oc.cli.options import oc_command
from oc.cli.searching import Search, hits
from oc.cli.sessions import open_transcript
from oc.errors import BadInput, NotFound, Usage
from oc.message.shapes import ROLES
from oc.session.find import sessions_of, unkeyed_of

_FIELDS = ("place", "kind", "text")


@oc_command("grep")
@click.argument("pattern")
@click.argument("session", nargs=-1, metavar="[SESSION|FILE|-]...")
@click.option("-i", "--ignore-case", is_flag=True, help="Take upper and lower case for the same.")
@click.option("-F", "--fixed", is_flag=True, help="Take PATTERN as it stands, not as a regular expression.")
@click.option("-c", "--count", is_flag=True, help="Print how many entries match in each transcript.")
@click.option("-l", "--files-with-matches", "names", is_flag=True, help="Print only the transcripts that match.")
@click.option("--role", type=click.Choice(ROLES), help="Look only in messages of that role.")
def command(
    app: App,
    pattern: str,
    session: tuple[str, ...],
    *,
    ignore_case: bool,
    fixed: bool,
    count: bool,
    names: bool,
    role: str | None,
) -> int:
    """Print the entries of transcripts that match a pattern, with file and line."""
    if count and names:
        raise Usage("-c and -l exclude each other")
    search = _compiled(pattern, ignore_case=ignore_case, fixed=fixed)
    paths: Counter[str] = Counter()
    found = _hits(app, session, search, role, paths)
    if not (count or names):
        return 0 if app.out.rows("hits", found, _FIELDS) else 1
    total = sum(1 for _ in found)
    if names:
        app.out.rows("files", [{"path": path} for path, number in paths.items() if number], ("path",))
    else:
        app.out.rows("counts", [{"path": path, "count": number} for path, number in paths.items()], ("path", "count"))
    return 0 if total else 1


def _compiled(text: str, *, ignore_case: bool, fixed: bool) -> Search:
    try:
        return re.compile(re.escape(text) if fixed else text, re.IGNORECASE if ignore_case else 0).search
    except (re.error, RecursionError, OverflowError) as error:
        raise Usage(f"not a regular expression: {error}", hint="-F takes the pattern as it stands") from None


def _hits(
    app: App, named: tuple[str, ...], search: Search, role: str | None, paths: Counter[str]
) -> Iterator[dict[str, Any]]:
    """Yields the hits and counts them by transcript. Of all transcripts, those that cannot be read are named only."""
    for source in named or _all(app):
        try:
            with open_transcript(app, source) as (file, path):
                paths[path] = 0
                for hit in hits(file, path, search, role):
                    paths[path] += 1
                    yield hit
        except (NotFound, BadInput) as error:
            if named:
                raise
            if not isinstance(error, NotFound):
                app.out.warn(str(error))


def _all(app: App) -> Iterator[str]:
    """Yields the transcripts of the agent: those of its sessions, then the others."""
    keyed = sessions_of(app.places)
    yield from dict.fromkeys(ref.path for ref in [*keyed, *unkeyed_of(app.places, keyed)])
