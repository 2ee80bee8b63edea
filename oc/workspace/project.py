"""Puts the Project Context of a session together: load, filter by kind of session, fit into the budgets. Only reads."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from oc.config.load import Config
from oc.workspace.load import Diagnostic, File, load_extra, load_standard
from oc.workspace.names import Rules, first_list, session_kind, why_light_withheld, why_withheld
from oc.workspace.trim import MAX_CHARS, TOTAL_MAX_CHARS, Injected, trim


class Run(NamedTuple):
    """Whom the context is for: session key, the row's `chatType`, kind of run, and whether it is a small one."""

    key: str | None = None
    chat_type: str | None = None
    kind: str = "default"
    light: bool = False


class Withheld(NamedTuple):
    """A file that is there but that this session is not given."""

    file: File
    cause: str


class ProjectContext(NamedTuple):
    """`files` are what the session is offered, `injected` what it is shown of them, in the same order."""

    kind: str
    files: tuple[File, ...]
    injected: tuple[Injected, ...]
    withheld: tuple[Withheld, ...]
    diagnostics: tuple[Diagnostic, ...]
    warnings: tuple[str, ...]

    @property
    def shown(self) -> list[tuple[str, str]]:
        """Returns (path, content) of what is injected, as the system prompt takes it."""
        return [(item.path, item.content) for item in self.injected]


def rules_of(config: Config) -> Rules:
    """Returns what the configuration says about workspace files; a limit that is not positive is the default."""
    entries = config.get("hooks.internal.entries") or {}
    return Rules(
        memory_in_groups=config.get("bootstrap.memoryInGroups"),
        subagent_files=config.get("bootstrap.subagentFiles"),
        max_chars=_positive(config.get("agents.defaults.bootstrapMaxChars"), MAX_CHARS),
        total_max_chars=_positive(config.get("agents.defaults.bootstrapTotalMaxChars"), TOTAL_MAX_CHARS),
        extra_patterns=extra_patterns(entries.get("bootstrap-extra-files")),
    )


def _positive(value: Any, default: int) -> int:
    return int(value) if value > 0 else default


def extra_patterns(settings: Any) -> tuple[str, ...]:
    """Returns the patterns of extra files; a hook that is switched off has none."""
    if isinstance(settings, dict) and settings.get("enabled") is False:
        return ()
    return first_list(settings)


def is_light(config: Config, run_kind: str) -> bool:
    """Says whether a run of that kind is configured to get the small context."""
    return run_kind == "heartbeat" and bool(config.get("agents.defaults.heartbeat.lightContext"))


def project_context(workspace: str, rules: Rules, run: Run) -> ProjectContext:
    """Returns what a run of that session is shown of the workspace.

    Extra files named by pattern come after the standard ones and are filtered by the kind of session as they are, but
    a lightweight run leaves out the standard ones only, as in the reference.
    """
    kind = session_kind(run.key, run.chat_type)
    standard, withheld = _offered(load_standard(workspace), kind, rules, run.kind if run.light else None)
    extra, diagnostics = load_extra(workspace, rules.extra_patterns) if rules.extra_patterns else ([], [])
    more, withheld_more = _offered(extra, kind, rules, None)
    files = [*standard, *more]
    injected, warnings = trim(files, rules.max_chars, rules.total_max_chars)
    refused = [f"workspace bootstrap file {f.name} is not read: {f.problem}" for f in files if f.refused]
    refused += [f"extra bootstrap file {d.path} is not used: {d.problem}" for d in diagnostics]
    return ProjectContext(
        kind, tuple(files), tuple(injected), (*withheld, *withheld_more), tuple(diagnostics), (*refused, *warnings)
    )


def _offered(
    files: Sequence[File], kind: str, rules: Rules, light_run_kind: str | None
) -> tuple[list[File], list[Withheld]]:
    offered: list[File] = []
    withheld: list[Withheld] = []
    for file in files:
        cause = why_withheld(file.name, kind, rules)
        if cause is None and light_run_kind is not None:
            cause = why_light_withheld(file.name, light_run_kind)
        if cause is None:
            offered.append(file)
        elif file.content is not None:
            withheld.append(Withheld(file, cause))
    return offered, withheld


def workspace_notes(context: ProjectContext) -> list[str]:
    """Returns the lines that the Workspace section of the prompt adds: one while the workspace is brand-new."""
    if any(file.name == "BOOTSTRAP.md" and file.content is not None for file in context.files):
        return [
            (
                "This workspace is new: BOOTSTRAP.md says how to begin and goes when that is done. "
                "Commit what you change here if the folder is under version control."
            )
        ]
    return []
