"""`oc workspace show`: which workspace files a session is shown, how much of them, and why not more."""

import os
from collections.abc import Iterator
from typing import Any

import click

from oc.base.text import js_trim_end, len16, without_lone_surrogates
from oc.cli.app import App
from oc.cli.options import oc_command
from oc.cli.out import camel
from oc.cli.sessions import find_key, find_session, named_or_default
from oc.errors import NotFound
from oc.workspace.names import RUN_KINDS, Rules
from oc.workspace.project import ProjectContext, Run, is_light, project_context, rules_of
from oc.workspace.prompt import project_sections
from oc.workspace.report import analyse, shown_files

_FIELDS = ("name", "status", "rawChars", "injectedChars", "cause")


@oc_command("show")
@click.argument("session", required=False)
@click.option("--run", "kind", type=click.Choice(RUN_KINDS), default="default", help="Kind of run to show.")
@click.option("--light", is_flag=True, help="Show what a lightweight run gets.")
@click.option("--content", is_flag=True, help="Print the Project Context itself, as it stands in the system prompt.")
def command(app: App, session: str | None, kind: str, light: bool, content: bool) -> int:
    """Print the workspace files that a session is shown, with sizes and causes."""
    key, chat_type, owner = _target(app, named_or_default(app, session))
    workspace, rules = owner.places.workspace, rules_of(owner.config)
    if not os.path.isdir(workspace):
        raise NotFound("no workspace", path=workspace, hint="`oc workspace init` makes one")
    run = Run(key, chat_type, kind, light or is_light(owner.config, kind))
    context = project_context(workspace, rules, run)
    for warning in context.warnings:
        app.out.warn(warning)
    if content:
        _print_content(app, context)
    else:
        app.out.rows("files", _rows(context, rules), _FIELDS, _summary(context, rules, run, workspace))
    return 0 if context.injected else 1


def _target(app: App, session: str) -> tuple[str | None, str | None, App]:
    """Returns key, `chatType` of the row and the run as the agent's; a key without a session will do."""
    try:
        ref = find_session(app, session)
    except NotFound:
        key, owner = find_key(app, session)
        return key, None, owner
    return ref.key, (ref.row or {}).get("chatType"), app.for_agent(ref.agent)


def _print_content(app: App, context: ProjectContext) -> None:
    text = "".join(f"{section.text}\n" for section in project_sections(context.shown))
    if app.out.format == "text":
        app.out.write(without_lone_surrogates(text).encode())
    else:
        app.out.rows("texts", [{"text": text}], ("text",))


def _rows(context: ProjectContext, rules: Rules) -> Iterator[dict[str, Any]]:
    analysis = analyse(context.files, context.injected, rules.max_chars, rules.total_max_chars)
    for shown in shown_files(context.files, context.injected, analysis):
        row = camel(shown.stat._asdict())
        yield {**row, "status": shown.status, "cause": shown.cause, "droppedLines": shown.dropped}
    for file, cause in context.withheld:
        raw = len16(js_trim_end(file.content or ""))
        yield {
            "name": file.name,
            "path": file.path,
            "rawChars": raw,
            "injectedChars": 0,
            "status": "withheld",
            "cause": cause,
        }


def _summary(context: ProjectContext, rules: Rules, run: Run, workspace: str) -> dict[str, Any]:
    return {
        "session": run.key,
        "kind": context.kind,
        "run": run.kind,
        "light": run.light,
        "workspace": workspace,
        "bootstrapMaxChars": rules.max_chars,
        "bootstrapTotalMaxChars": rules.total_max_chars,
        "injectedChars": sum(len16(item.content) for item in context.injected),
        "warnings": context.warnings,
    }
