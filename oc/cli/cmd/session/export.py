"""`oc session export`: a session as Markdown, or as one page for a browser."""

import os

import click

from oc.base import files
from oc.base.tokens import counter
from oc.cli.app import App
from oc.cli.options import oc_command
from oc.cli.sessions import open_transcript
from oc.cli.stream import warn_skipped
from oc.errors import NotFound, Usage
from oc.session.entry import Entry
from oc.session.outline import Cleaner, as_it_is, without_secrets
from oc.session.transcript import Transcript, read_stream
from oc.session.tree import leaf_path, session_name

MD_RESULT_CHARS = 4000


@oc_command("export")
@click.argument("session", required=False)
@click.option("--md", "form", flag_value="md", help="Write Markdown: the branch of the leaf.")
@click.option("--html", "form", flag_value="html", help="Write one page with everything in it: all branches.")
@click.option("--leaf", metavar="ENTRY", help="Take ENTRY for the leaf.")
@click.option("--redact", is_flag=True, help="Hide keys, tokens and passwords.")
@click.option(
    "--max-result-chars",
    type=click.IntRange(min=0),
    metavar="N",
    help="Cut tool results after N characters (default: 4000 with --md, nothing with --html).",
)
@click.option("--no-fold", is_flag=True, help="With --md, leave tool results and thoughts unfolded.")
@click.option("-o", "--output", metavar="FILE", help="Write to FILE, which is replaced as a whole.")
def command(
    app: App,
    session: str | None,
    *,
    form: str | None,
    leaf: str | None,
    redact: bool,
    max_result_chars: int | None,
    no_fold: bool,
    output: str | None,
) -> int:
    """Write a session as Markdown or as one HTML page."""
    chosen = form or _form_of(output)
    with open_transcript(app, session) as (file, name):
        transcript = read_stream(file, name)
    warn_skipped(app, name, transcript.skipped)
    if leaf is not None and not any(entry["id"] == leaf for entry in transcript.entries):
        raise NotFound(f"no entry {leaf}", path=name)
    clean = without_secrets if redact else as_it_is
    path = leaf_path(transcript.entries, leaf)
    if chosen == "md":
        from oc.session.export_md import Form, markdown

        limit = MD_RESULT_CHARS if max_result_chars is None else max_result_chars
        settings = Form(clean, limit, fold=not no_fold)
        text = markdown(transcript.header, path, session_name(transcript.entries), settings)
    else:
        text = _page(transcript, path, clean, max_result_chars)
    _write(app, text.encode("utf-8", "replace"), output)
    return 0


def _form_of(output: str | None) -> str:
    """Returns what the name of the output asks for."""
    ending = os.path.splitext(output or "")[1].lower()
    forms = {".md": "md", ".markdown": "md", ".html": "html", ".htm": "html"}
    if ending not in forms:
        raise Usage("one of --md and --html is expected")
    return forms[ending]


def _page(transcript: Transcript, path: list[Entry], clean: Cleaner, max_result_chars: int | None) -> str:
    from oc.session.export_html import Page, html

    page = Page(transcript.header, transcript.entries, path, session_name(transcript.entries))
    return html(page, counter("estimate"), clean, max_result_chars)


def _write(app: App, data: bytes, output: str | None) -> None:
    if output is None or output == "-":
        app.out.write(data)
    else:
        files.replace(output, data)
