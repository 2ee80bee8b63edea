"""Runs the hooks of an event, one after the other, and makes one answer of theirs.

A hook that fails, hangs, talks too much or answers nonsense is a warning and counts as one that did not answer.
Without hooks an event costs one listing of a folder per run, so what hooks need is imported when there is one.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial

from oc.base.jsonl import dump_line, parse
from oc.base.text import cut16, neutral
from oc.base.typed import TYPE_CHECKING, Any, NamedTuple
from oc.config.load import Config
from oc.errors import BadInput, OcError, Unavailable

if TYPE_CHECKING:
    from oc.base.child import Outcome
    from oc.hooks.find import Found, Search

Answer = dict[str, Any]
Talk = Callable[[str], None]

# The view of a long session with images goes out and comes back whole.
MAX_ANSWER_BYTES = 32 * 1024 * 1024
_MAX_TALK_CHARS = 300
# Beside OC_*: what a program needs to find its parts and write its language, and nothing that could be a secret.
_PASSED = frozenset({"HOME", "LANG", "PATH", "TMPDIR", "TZ"})
# In the environment of every hook; an `oc` that finds it runs no executables, or a hook could call itself for ever.
INSIDE = "OC_HOOK"


class Hook(NamedTuple):
    """`call` takes the payload and returns an answer or None; it may raise OcError or OSError."""

    name: str
    call: Callable[[Answer], Any]


class Hooks:
    """The hooks of one agent's run; `warn` gets a line for each that fails, `detail` what the others say on stderr.

    `builtin` are hooks written in Python, by event; they run before the executables.
    """

    def __init__(  # noqa: PLR0913 - who they are for, and how they may talk
        self,
        home: str,
        workspace: str,
        config: Config,
        warn: Talk,
        *,
        environ: Mapping[str, str] | None = None,
        detail: Talk | None = None,
        builtin: Mapping[str, Sequence[Hook]] | None = None,
    ) -> None:
        self.home, self.workspace, self.config = home, workspace, config
        self.warn, self.detail = warn, detail
        self.environ = os.environ if environ is None else environ
        self.builtin = builtin or {}
        self._ready: dict[str, tuple[Hook, ...]] = {}

    def fire(self, event: str, payload: Mapping[str, Any]) -> Answer:
        """Returns what the hooks of the event answered together, {} when none did; never raises for a hook's sake.

        `event`, `agentId` and `workspaceDir` are added to the payload.
        """
        hooks = self.of(event)
        return self._ask(event, hooks, payload) if hooks else {}

    def of(self, event: str) -> tuple[Hook, ...]:
        """Returns the hooks of an event in the order in which they run; what keeps one from running is said once."""
        if event not in self._ready:
            self._ready[event] = (*self.builtin.get(event, ()), *self._executables(event))
        return self._ready[event]

    def _ask(self, event: str, hooks: Sequence[Hook], payload: Mapping[str, Any]) -> Answer:
        from oc.hooks.events import EVENTS, take_answer

        rules = EVENTS[event]
        about = {"agentId": self.config.agent or "main", "workspaceDir": self.workspace}
        given = {**about, **payload, "event": event}
        result: Answer = {}
        for hook in hooks:
            try:
                answer, unknown = take_answer(event, given, hook.call(given))
                result = rules.merge(given, result, answer)
            except OcError as error:
                self.warn(f"hook {hook.name}: {error}")
                continue
            except OSError as error:
                self.warn(f"hook {hook.name}: {(error.strerror or str(error)).lower()}")
                continue
            if unknown:
                self.warn(f"hook {hook.name}: {event} takes no {', '.join(map(neutral, unknown))}; ignored")
            if rules.ends and result.get(rules.ends):
                break
            if rules.chained in result:
                given[rules.chained] = result[rules.chained]
        return result

    @cached_property
    def _names(self) -> frozenset[str]:
        folder = os.path.join(self.home, "hooks")
        try:
            return frozenset(os.listdir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return frozenset()
        except OSError as error:
            self.warn(f"{folder}: {(error.strerror or str(error)).lower()}; no hooks are run from there")
            return frozenset()

    @cached_property
    def search(self) -> "Search":
        from oc.hooks.find import Search, workspaces

        refused = workspaces(self.home, self.workspace, self.config, self.environ)
        return Search(os.path.join(self.home, "hooks"), self._names, self.config, self.environ, refused)

    def _executables(self, event: str) -> list[Hook]:
        if INSIDE in self.environ:
            return []
        if not (event in self._names or f"{event}.d" in self._names or self.config.names("hooks.exec.entries")):
            return []
        from oc.hooks.find import find

        hooks = []
        for found in find(self.search, event):
            if not found.why_not:
                hooks.append(Hook(found.label, partial(self._run, found)))
            elif not found.switched_off:
                self.warn(f"hook {found.label}: not run: {found.why_not}")
        return hooks

    def _run(self, found: "Found", payload: Answer) -> Any:
        from oc.base.child import Limits, run_child

        limits = Limits(found.timeout_ms, MAX_ANSWER_BYTES)
        environ = self._environment(payload)
        try:
            done = run_child(found.argv, dump_line(payload), limits, environ=environ, cwd=self.home)
        except OSError as error:
            raise Unavailable(f"cannot be started: {(error.strerror or str(error)).lower()}") from None
        talk = _last_line(done.err)
        failure = _failure(done, limits.timeout_ms)
        if failure:
            raise Unavailable(f"{failure}: {talk}" if talk else failure)
        if talk and self.detail is not None:
            self.detail(f"oc: hook {found.label}: {talk}")
        return _answer(done.out)

    def _environment(self, payload: Answer) -> dict[str, str]:
        """State directory, agent, workspace and session are those of the run, however they were chosen."""
        kept = {
            name: value
            for name, value in self.environ.items()
            if name in _PASSED or (name.startswith(("LC_", "OC_")) and name != "OC_SESSION")
        }
        own = {
            "OC_AGENT": self.config.agent or "main",
            "OC_HOME": self.home,
            INSIDE: str(payload["event"]),
            "OC_WORKSPACE": self.workspace,
        }
        session = payload.get("sessionKey") or payload.get("sessionId")
        # A variable cannot hold a NUL or half a character.
        named = {"OC_SESSION": session} if isinstance(session, str) and session.isprintable() else {}
        return {**kept, **own, **named}


def _failure(done: "Outcome", timeout_ms: int) -> str:
    if done.stopped_by == "time":
        return f"stopped after {timeout_ms} ms"
    if done.stopped_by == "output":
        return f"stopped after {MAX_ANSWER_BYTES} bytes of output"
    if done.status < 0:
        return f"killed by signal {-done.status}"
    return f"exit status {done.status}" if done.status else ""


def _answer(out: bytes) -> Any:
    """Returns the value on a hook's stdout, None for nothing."""
    if not out.strip():
        return None
    try:
        return parse(out)
    except ValueError:
        raise BadInput(f"the answer is not JSON: {_shown(out)}") from None


def _last_line(err: bytes) -> str:
    lines = err.decode("utf-8", "replace").split("\n")
    return _shown(next((line for line in reversed(lines) if line.strip()), "").encode())


def _shown(raw: bytes) -> str:
    """Returns the start of the first line, fit for a terminal."""
    first = raw.strip().partition(b"\n")[0][: 4 * _MAX_TALK_CHARS].decode("utf-8", "replace").strip()
    return neutral(cut16(first, _MAX_TALK_CHARS))
