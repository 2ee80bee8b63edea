"""`oc memory search`: the lines of the notes that answer a query."""

from collections.abc import Sequence

import click

from oc.base.typed import Any
from oc.cli.app import App
from oc.cli.options import limit_option, oc_command
from oc.errors import Usage
from oc.memory.backend import MODES, Hit, SearchResult, open_backend
from oc.memory.cite import citation


@oc_command("search")
@click.argument("query", nargs=-1, required=True)
@limit_option(None, "hits")
@click.option("--min-score", type=click.FloatRange(0, 1), metavar="S", help="Leave out hits below this score.")
@click.option("--mode", type=click.Choice(MODES), default="auto", help="How to search.")
@click.option("--source", "sources", type=click.Choice(["memory", "sessions"]), multiple=True, help="What to search.")
@click.option("--explain", is_flag=True, help="Say how each score came about, and what was dropped.")
@click.option("-l", "--files-with-matches", "only_paths", is_flag=True, help="Print each note's path once.")
@click.option("-c", "--count", is_flag=True, help="Print how many hits there are.")
@click.option("-0", "--null", is_flag=True, help="End each path of -l with NUL.")
@click.option("--no-sync", is_flag=True, help="Search the index as it is.")
def command(app: App, query: tuple[str, ...], **options: Any) -> int:
    """Print the lines of the notes that answer a query, best first."""
    if options["null"] and not options["only_paths"]:
        raise Usage("-0 ends the paths that -l prints")
    backend = open_backend(app.config, app.places, now_ms=app.clock.now_ms())
    result = backend.search(
        " ".join(query),
        limit=options["limit"],
        min_score=options["min_score"],
        mode=options["mode"],
        sources=options["sources"],
        sync=not options["no_sync"],
        explain=options["explain"],
        lock_timeout_ms=app.flags.get("lock_timeout"),
    )
    for warning in result.warnings:
        app.out.warn(warning)
    if options["count"]:
        _print_count(app, len(result.hits))
    elif options["only_paths"]:
        _print_paths(app, list(dict.fromkeys(hit.path for hit in result.hits)), options["null"])
    else:
        _print_hits(app, result, options["explain"])
    return 0 if result.hits else 1


def _print_count(app: App, count: int) -> None:
    if app.out.format in ("json", "jsonl"):
        app.out.document({"count": count})
    else:
        app.out.rows("count", [{"count": count}], ("count",))


def _print_paths(app: App, paths: Sequence[str], null: bool) -> None:
    if null:
        app.out.write(b"".join(path.encode() + b"\0" for path in paths))
    else:
        app.out.rows("paths", [{"path": path} for path in paths], ("path",))


def _print_hits(app: App, result: SearchResult, explain: bool) -> None:
    rows = [_row(hit, explain) for hit in result.hits]
    extra: dict[str, Any] = {"mode": result.mode}
    if explain:
        extra["explain"] = {**result.explain, "dropped": [_row(hit, explain) for hit in result.dropped]}
    if app.out.format == "tsv":
        fields: tuple[str, ...] = ("path", "startLine", "endLine", "score", "source", "snippet")
    elif app.out.format == "text":
        fields = ("place", "score", "snippet")
        rows = [{**row, "snippet": " ".join(row["snippet"].split())} for row in rows]
    else:
        fields = ()
    if explain and fields:
        fields = (*fields, "why")
        for unit in result.explain["units"]:
            app.out.say(f"{unit['text']}: {unit['kind']} in {unit['chunks']} chunks, counts {unit['mass']}")
        for hit in result.dropped:
            app.out.say(
                f"dropped {citation(hit.path, hit.start_line, hit.end_line)} {hit.score:.3f}: {hit.why['dropped']}"
            )
    app.out.rows("hits", rows, fields, extra)


def _row(hit: Hit, explain: bool) -> dict[str, Any]:
    row = {
        "path": hit.path,
        "startLine": hit.start_line,
        "endLine": hit.end_line,
        "score": hit.score,
        "snippet": hit.snippet,
        "source": hit.source,
        "place": citation(hit.path, hit.start_line, hit.end_line),
        "chunk": {"startLine": hit.chunk[0], "endLine": hit.chunk[1]},
    }
    return {**row, "why": hit.why} if explain else row
