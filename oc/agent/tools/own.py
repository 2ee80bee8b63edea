"""The tools that a session of `oc` is offered: memory and files, as far as the session may see them."""

from functools import cache
from typing import TYPE_CHECKING

from oc.agent.request import Session
from oc.agent.setting import Setting
from oc.agent.tools.files import Reader
from oc.agent.tools.memory import Memory
from oc.agent.tools.scope import Scope
from oc.agent.tools.spec import Tool

if TYPE_CHECKING:
    from oc.memory.backend import Backend
    from oc.memory.write import Written


def own_tools(session: Session, setting: Setting) -> list[Tool]:
    """Returns memory_search, memory_get, memory_add and read; the index is opened when one of them is called."""
    places = session.places
    scope = Scope(places.workspace, places.sessions, session.ref.path, session.private)

    @cache
    def backend() -> "Backend":
        from oc.memory.backend import open_backend

        return open_backend(session.config, places, now_ms=setting.clock.now_ms())

    def add(text: str, long_term: bool) -> "Written":
        from oc.memory.write import remember

        origin = {"session": session.ref.session_id, "key": session.ref.key}
        return remember(
            places.workspace,
            text,
            date=setting.clock.date(),
            long_term=long_term,
            origin=origin,
            now_ms=setting.clock.now_ms(),
            lock_timeout_ms=setting.lock_timeout_ms,
        )

    @cache
    def warn_once(line: str) -> None:
        setting.warn(line)

    wanted = int(session.config.get("agents.defaults.memorySearch.query.maxResults"))
    return [
        *Memory(scope, backend, add, wanted, warn_once).tools(),
        Reader(places.workspace, scope.refuses_path).tool(),
    ]
