"""Where hooks lie: `<state>/hooks/<event>`, `<state>/hooks/<event>.d/*` and `hooks.exec.entries` of the configuration.

Only looks. The workspace is never searched, and a way that leads through one is refused, since a model may write there.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from oc.base.child import SUPPORTED
from oc.config.load import Config
from oc.config.paths import default_agent, expand, places
from oc.hooks.events import EVENTS
from oc.session_key import normal_agent_id
from oc.workspace.load import is_inside

_MAX_LINKS = 40
_OFF = ("switched off", "hooks.exec.enabled is false")


class Found(NamedTuple):
    """One hook of one event; `label` says where it is from, `why_not` is empty when it runs."""

    event: str
    label: str
    path: str
    argv: tuple[str, ...]
    timeout_ms: int
    why_not: str

    @property
    def switched_off(self) -> bool:
        """Says whether its owner wants it not to run, which needs no warning."""
        return self.why_not in _OFF


class Search(NamedTuple):
    """Where to look: `names` is the listing of the hooks folder, `workspaces` the real paths that are refused."""

    folder: str
    names: frozenset[str]
    config: Config
    environ: Mapping[str, str]
    workspaces: frozenset[str]


def workspaces(home: str, workspace: str, config: Config, environ: Mapping[str, str]) -> frozenset[str]:
    """Returns the real paths of every agent's workspace: another agent's model writes to another one."""
    listed = (agent.get("id") for agent in config.agents())
    agents = {default_agent(config), *(normal_agent_id(i) for i in listed if isinstance(i, str))}
    plain = {name: value for name, value in environ.items() if name != "OC_WORKSPACE"}
    found = {places(config.for_agent(agent), home, agent, plain).workspace for agent in agents}
    return frozenset(_real(path) for path in {workspace, *found})


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # a NUL or half a character from a configuration file: nothing can lie there
        return path


def find(search: Search, event: str) -> list[Found]:
    """Returns the hooks of an event in the order in which they run: its own file, then all others by name."""
    named = [*_beside(search, event), *_configured(search, event)]
    return [*_own(search, event), *(found for _, found in sorted(named, key=lambda pair: pair[0]))]


def strays(search: Search) -> Iterator[Found]:
    """Yields files of the hooks folder that no event asks for, a misspelt one for example.

    Folders are left alone: OpenClaw keeps hooks of its own in them.
    """
    for name in sorted(search.names):
        path = os.path.join(search.folder, name)
        beside = name.endswith(".d") and os.path.isdir(path)
        event = name.removesuffix(".d") if beside else name
        if event not in EVENTS and not _passed_over(name) and (beside or os.path.isfile(path)):
            yield Found(event, path, path, (), 0, "no such event")
    for name in search.config.names("hooks.exec.entries"):
        for event in search.config.get(f"hooks.exec.entries.{name}.events") or ():
            if event not in EVENTS:
                yield Found(event, f"hooks.exec.entries.{name}", "", (), 0, "no such event")


def _own(search: Search, event: str) -> Iterator[Found]:
    path = os.path.join(search.folder, event)
    if event in search.names and not os.path.isdir(path):
        yield _file(search, event, path)


def _beside(search: Search, event: str) -> Iterator[tuple[str, Found]]:
    folder = os.path.join(search.folder, f"{event}.d")
    if f"{event}.d" not in search.names:
        return
    try:
        names = os.listdir(folder)
    except OSError as error:
        yield "", Found(event, folder, folder, (), 0, (error.strerror or str(error)).lower())
        return
    for name in names:
        path = os.path.join(folder, name)
        if not _passed_over(name) and not os.path.isdir(path):
            yield name, _file(search, event, path)


def _passed_over(name: str) -> bool:
    """Editors leave `.x.swp` and `x~` beside what they edit."""
    return name.startswith(".") or name.endswith("~")


def _file(search: Search, event: str, path: str) -> Found:
    why_not = _switched_off(search.config) or problem(path, search.workspaces)
    return Found(event, path, path, (path,), _timeout_ms(search.config, None), why_not)


def _configured(search: Search, event: str) -> Iterator[tuple[str, Found]]:
    config = search.config
    for name in config.names("hooks.exec.entries"):
        label = f"hooks.exec.entries.{name}"
        if event not in (config.get(f"{label}.events") or ()):
            continue
        command = config.get(f"{label}.command") or [""]
        path = _program(command[0], search.environ)
        why_not = _switched_off(config) or ("" if config.get(f"{label}.enabled") else _OFF[0])
        if not why_not:
            why_not = problem(path, search.workspaces) if path else f"no program {command[0]!r}"
        timeout_ms = _timeout_ms(config, config.get(f"{label}.timeoutMs"))
        yield name, Found(event, label, path, (path, *command[1:]), timeout_ms, why_not)


def _switched_off(config: Config) -> str:
    if not SUPPORTED:
        return "hooks need a POSIX system"
    return "" if config.get("hooks.exec.enabled") else _OFF[1]


def _timeout_ms(config: Config, own: float | None) -> int:
    """A limit of nothing would stop every hook: what is not positive counts as not set."""
    return int(next((ms for ms in (own, config.get("hooks.exec.timeoutMs")) if ms and ms > 0), 10_000))


def _program(name: str, environ: Mapping[str, str]) -> str:
    """Returns the absolute path of a program, "" for none: a path is taken as it is, a bare name is looked up."""
    if name.startswith(("/", "~")):
        return expand(name, environ)
    if not name or "/" in name:  # relative to what?
        return ""
    folders: Iterable[str] = (environ.get("PATH") or os.defpath).split(os.pathsep)
    paths = (os.path.join(folder, name) for folder in folders if os.path.isabs(folder))
    return next((path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), "")


def problem(path: str, refused: Iterable[str]) -> str:
    """Says why a path cannot be run as a hook, "" when it can."""
    try:
        if any(is_inside(root, place) for place in _way(path) for root in refused):
            return "in the workspace, which a model may write to"
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return "a link to nothing" if os.path.islink(path) else "no such file"
    except ValueError:  # a NUL in a configured path
        return "not a path"
    except OSError as error:
        return (error.strerror or str(error)).lower()
    if not stat.S_ISREG(mode):
        return "not a regular file"
    return "" if os.access(path, os.X_OK) else "not executable"


def _way(path: str) -> Iterator[str]:
    """Yields every place on the way to the file: a link inside the workspace could be turned to another target."""
    place = os.sep
    parts = os.path.abspath(path).split(os.sep)
    links = 0
    while parts and links <= _MAX_LINKS:
        part = parts.pop(0)
        if part in ("", os.curdir):
            continue
        place = os.path.dirname(place) if part == os.pardir else os.path.join(place, part)
        yield place
        if part != os.pardir and os.path.islink(place):
            links += 1
            target = os.readlink(place)
            parts = [*target.split(os.sep), *parts]
            place = os.sep if os.path.isabs(target) else os.path.dirname(place)
