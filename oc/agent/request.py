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
from oc.agent.wire import Speaker
from oc.config.load import Config
from oc.config.paths import Places
from oc.history.image import limits_of
from oc.history.limit import turns_for_key
from oc.history.policy import Model, policy
from oc.history.report import Trail
from oc.history.sanitize import Wash, limit, sanitize
from oc.message.derived import for_model
from oc.message.shapes import Message
from oc.session.find import SessionRef
from oc.workspace import prompt as system
from oc.workspace.names import is_private, prompt_mode, session_kind
from oc.workspace.project import Run, is_light, project_context, rules_of, workspace_notes
from oc.workspace.report import analyse, truncation_warning
from oc.workspace.skills import listing, load_skills


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


@dataclass(frozen=True, slots=True)
class View:
    """How a context is shown: what the provider demands of it, and how many of its turns."""

    wash: Wash
    turns: float | None = None

    def of(self, messages: Iterable[Message]) -> tuple[list[Message], list[Trail]]:
        """Returns the messages for the model, and what was decided on the way."""
        washed = sanitize(list(messages), self.wash)
        limited = limit(washed.messages, self.turns, now_ms=self.wash.now_ms)
        # Summaries and events become user messages here, and may now stand beside others.
        shown = sanitize(for_model(limited.messages), self.wash, only=("turns",))
        return shown.messages, [washed.trail, limited.trail]


def view_of(session: Session, speaker: Speaker, now_ms: int) -> View:
    """Returns how the session is shown to that model."""
    config = session.config
    limits = limits_of(config.get("agents.defaults.imageMaxDimensionPx"))
    rules = policy(Model(speaker.provider, speaker.api, speaker.model))
    turns = turns_for_key(session.ref.key or "", config.merged("channels"))
    return View(Wash(rules, now_ms, limits=limits), turns)
