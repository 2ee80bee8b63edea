"""Builds what a model is shown: the system prompt of a session and its context as messages. Calls no model.

The working set is a view: nothing here is written to the transcript.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from oc.agent.choice import Choice
from oc.agent.tools.spec import Tool
from oc.config.load import Config
from oc.config.paths import Places
from oc.message.derived import for_model
from oc.message.shapes import Message, calls, result_id
from oc.session.find import SessionRef
from oc.workspace import prompt as system
from oc.workspace.names import is_private, prompt_mode, session_kind
from oc.workspace.project import Run, is_light, project_context, rules_of, workspace_notes
from oc.workspace.report import analyse, truncation_warning
from oc.workspace.skills import listing, load_skills

UNANSWERED = "The run ended before this tool answered; nothing is known of its outcome."


@dataclass(frozen=True, slots=True)
class Session:
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


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """`seen` are the signatures of truncation warnings that the session row should remember."""

    text: str
    warnings: tuple[str, ...]
    seen: tuple[str, ...]


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
    return SystemPrompt(system.build_system_prompt(parts), project.warnings, notice.seen)


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


def working_set(messages: Iterable[Message]) -> list[Message]:
    """Returns the messages that any provider takes: each call with its result right after it, no failed answers.

    An answer that failed or was broken off is left out, with its calls; so is a result without a call. A call whose
    result never came to the disk gets one that says so.
    """
    kept: list[Message] = []
    waiting: dict[str, Message | None] = {}  # ids of the calls at hand, in order, with the results found
    after: list[Message] = []
    for message in for_model(messages):
        if message.get("role") == "toolResult":
            call_id = result_id(message)
            if call_id in waiting and waiting[call_id] is None:
                waiting[call_id] = message
            continue
        if message.get("role") != "assistant":
            (after if waiting else kept).append(message)
            continue
        _settle(kept, waiting, after)
        if message.get("stopReason") not in ("error", "aborted"):
            kept.append(message)
            waiting = {str(call["id"]): None for call in calls(message) if call.get("id")}
    _settle(kept, waiting, after)
    return kept


def _settle(kept: list[Message], waiting: dict[str, Message | None], after: list[Message]) -> None:
    """Puts the results of the last calls behind them, and what was said meanwhile behind the results."""
    names = {str(call.get("id")): call.get("name") for call in calls(kept[-1])} if waiting else {}
    for call_id, result in waiting.items():
        kept.append(result if result is not None else _unanswered(call_id, str(names.get(call_id))))
    kept += after
    waiting.clear()
    after.clear()


def _unanswered(call_id: str, name: str) -> Message:
    content = [{"type": "text", "text": UNANSWERED}]
    return {"role": "toolResult", "toolCallId": call_id, "toolName": name, "content": content, "isError": True}
