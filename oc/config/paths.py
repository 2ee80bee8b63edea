"""Where things lie: the state directory and what is in it (OpenClaw's layout, ours beside it). Pure path arithmetic."""

import os
from collections.abc import Mapping

from oc.base.typed import Any, NamedTuple
from oc.config.load import Config, Value


class Places(NamedTuple):
    """All paths of one agent."""

    home: str
    agent: str
    sessions: str
    store: str
    workspace: str
    workspace_origin: str
    index: str  # type: ignore[assignment]  # no tuple.index() is wanted here

    @property
    def hooks(self) -> str:
        return os.path.join(self.home, "hooks")

    @property
    def events(self) -> str:
        """The queue of system events for sessions of this agent."""
        return os.path.join(self.sessions, "oc-events.jsonl")


def home_of(flag: str | None, environ: Mapping[str, str]) -> Value:
    """Returns the state directory with the origin of the choice."""
    if flag:
        return Value(expand(flag, environ), "flag")
    for name in ("OC_HOME", "OPENCLAW_STATE_DIR"):
        if environ.get(name):
            return Value(expand(environ[name], environ), "environment")
    return Value(expand("~/.openclaw", environ), "default")


def expand(path: str, environ: Mapping[str, str]) -> str:
    """Returns the path with a leading ~ replaced by the home directory, made absolute."""
    if path == "~" or path.startswith(("~/", "~\\")):
        base = environ.get("HOME") or os.path.expanduser("~")
        path = base + path[1:]
    return os.path.abspath(path)


def default_agent(config: Config) -> str:
    """Returns the id of the agent marked default, else of the first listed, else `main`."""
    listed = [a for a in config.agents() if isinstance(a.get("id"), str) and a["id"].strip()]
    marked: list[dict[str, Any]] = [a for a in listed if a.get("default") is True]
    chosen = (marked or listed)[:1]
    return str(chosen[0]["id"]) if chosen else "main"


def places(config: Config, home: str, agent: str, environ: Mapping[str, str], workspace: str | None = None) -> Places:
    """Returns the paths of an agent; `workspace` is the flag's value and wins over environment and configuration."""
    sessions, store = _session_paths(config, home, agent, environ)
    chosen, origin = _workspace(config, home, agent, environ, workspace)
    # Another program's index must never be written to: a store path counts only when oc.json itself names it.
    index = config.explain("agents.defaults.memorySearch.store.path")
    path = (
        expand(str(index.value).replace("{agentId}", agent), environ)
        if index.origin == "oc.json"
        else os.path.join(home, "memory", f"oc-{agent}.sqlite")
    )
    return Places(home, agent, sessions, store, chosen, origin, path)


def _session_paths(config: Config, home: str, agent: str, environ: Mapping[str, str]) -> tuple[str, str]:
    named = config.get("session.store")
    if named:
        store = expand(str(named).replace("{agentId}", agent), environ)
        return os.path.dirname(store), store
    folder = os.path.join(home, "agents", agent, "sessions")
    return folder, os.path.join(folder, "sessions.json")


def _workspace(config: Config, home: str, agent: str, environ: Mapping[str, str], flag: str | None) -> tuple[str, str]:
    if flag:
        return expand(flag, environ), "flag"
    if environ.get("OC_WORKSPACE"):
        return expand(environ["OC_WORKSPACE"], environ), "environment"
    named = config.explain("agents.defaults.workspace")
    if named.value:
        return expand(str(named.value), environ), named.origin
    name = "workspace" if agent == default_agent(config) else f"workspace-{agent}"
    return os.path.join(home, name), "default"
