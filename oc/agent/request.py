"""What a request is made of beside the history: the session, its system prompt, the size of it all. Calls no model."""

import os
import sys
from collections.abc import Iterator, Sequence

from oc.agent.answer import Request, ToolSpec
from oc.agent.choice import Choice
from oc.agent.tools.spec import Tool
from oc.base.jsonl import js_text
from oc.base.tokens import Counter
from oc.base.typed import Any, NamedTuple
from oc.config.load import Config
from oc.config.paths import Places
from oc.message.shapes import Message
from oc.message.size import context_size, total_tokens
from oc.session.context import context_entries
from oc.session.entry import Entry
from oc.session.find import SessionRef
from oc.workspace import prompt as system
from oc.workspace.names import is_private, prompt_mode, session_kind
from oc.workspace.project import ProjectContext, Run, is_light, project_context, rules_of, workspace_notes
from oc.workspace.report import Analysis, analyse, shown_files, truncation_warning
from oc.workspace.skills import listing, load_skills


class Session(NamedTuple):
    """An open session and what holds for it: configuration and places of its agent, and its model."""

    ref: SessionRef
    config: Config
    places: Places
    choice: Choice

    @property
    def row(self) -> dict[str, Any]:
        return self.ref.row or {}

    @property
    def kind(self) -> str:
        """The kind of session; a transcript without a key is private to whoever has the file."""
        return session_kind(self.ref.key, self.row.get("chatType"))

    @property
    def private(self) -> bool:
        """Says whether long-term memory is within reach (D10)."""
        return is_private(self.kind) or bool(self.config.get("bootstrap.memoryInGroups"))


class SystemPrompt(NamedTuple):
    """`seen` are the signatures of truncation warnings that the session row should remember."""

    sections: tuple[system.Section, ...]
    project: ProjectContext
    analysis: Analysis
    seen: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(section.text for section in self.sections)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.project.warnings

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yields what became of each file of the workspace; sizes are UTF-16 units."""
        for shown in shown_files(self.project.files, self.project.injected, self.analysis):
            sizes = {"chars_before": shown.stat.raw_chars, "chars_after": shown.stat.injected_chars}
            yield _file_row(shown.status.replace(" ", "-"), shown.stat.name, shown.cause, **sizes)
        for file, cause in self.project.withheld:
            yield _file_row("withheld", file.name, cause)


def _file_row(action: str, name: str, cause: str, **sizes: int) -> dict[str, Any]:
    return {"stage": "workspace", "action": action, "file": name, **sizes, "rule": cause or None}


def system_prompt(
    session: Session, tools: Sequence[Tool], *, time_zone: str = "", run_kind: str = "default"
) -> SystemPrompt:
    """Returns the system prompt that the session gets now."""
    config, workspace = session.config, session.places.workspace
    rules = rules_of(config)
    run = Run(session.ref.key, session.row.get("chatType"), run_kind, is_light(config, run_kind))
    project = project_context(workspace, rules, run)
    analysis = analyse(project.files, project.injected, rules.max_chars, rules.total_max_chars)
    mode = str(config.get("agents.defaults.bootstrapPromptTruncationWarning"))
    notice = truncation_warning(analysis, mode, _seen(session.row))
    parts = system.PromptParts(
        mode=prompt_mode(project.kind),
        workspace=workspace,
        tools=[system.Tool(tool.name, tool.summary) for tool in tools],
        skills=listing(load_skills(workspace)),
        context_files=[(file.path, file.content) for file in project.injected],
        truncation_warnings=notice.lines,
        workspace_notes=workspace_notes(project),
        time_zone=time_zone,
        private=session.private,
        citations=config.get("memory.citations") != "off",
        runtime=system.Runtime(agent=session.ref.agent, os=sys.platform, arch=_machine(), model=session.choice.model),
    )
    return SystemPrompt(tuple(system.system_sections(parts)), project, analysis, notice.seen)


def _seen(row: dict[str, Any]) -> list[str]:
    report = row.get("systemPromptReport")
    noted = report.get("bootstrapTruncation") if isinstance(report, dict) else None
    seen = noted.get("warningSignaturesSeen") if isinstance(noted, dict) else None
    return [item for item in seen if isinstance(item, str)] if isinstance(seen, list) else []


def with_seen(row: dict[str, Any], seen: Sequence[str]) -> dict[str, Any]:
    """Returns the fields of the row that remember the signatures; nothing when they are remembered already."""
    if list(seen) == _seen(row):
        return {}
    report = row.get("systemPromptReport")
    report = report if isinstance(report, dict) else {}
    noted = report.get("bootstrapTruncation")
    noted = noted if isinstance(noted, dict) else {}
    return {"systemPromptReport": {**report, "bootstrapTruncation": {**noted, "warningSignaturesSeen": list(seen)}}}


def _machine() -> str:
    return os.uname().machine if hasattr(os, "uname") else ""


def tool_tokens(tool: ToolSpec, counter: Counter) -> int:
    """Returns what the offer of a tool takes: name, description and the schema as JSON."""
    return counter.tokens([tool.name, tool.description, js_text(tool.parameters)])


def request_tokens(request: Request, counter: Counter) -> int:
    """Returns the size of a request: system prompt, each tool, each message."""
    tools = sum(tool_tokens(tool, counter) for tool in request.tools)
    return counter.tokens([request.system]) + tools + total_tokens(request.messages, counter)


def coming_tokens(path: Sequence[Entry], asked: Sequence[Message], fixed: Request, counter: Counter) -> int:
    """Returns the size of the context of a path with what is about to be said.

    The provider's count of the newest answer includes system prompt and tools; without one, or when a compaction has
    folded the context since, `fixed` is counted.
    """
    cut = next((i for i in range(len(path) - 1, -1, -1) if path[i].get("type") == "compaction"), -1)
    since = [entry["message"] for entry in context_entries(path[cut + 1 :])]
    size = context_size([*since, *asked], counter)
    if size.last_usage_index is not None:
        return size.tokens
    kept = [entry["message"] for entry in context_entries(path[: cut + 1])]
    return request_tokens(fixed, counter) + total_tokens(kept, counter) + size.tokens
