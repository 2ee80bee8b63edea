"""The run that a turn takes part in: whose agent, which places, what time it is. Made by a command from its flags."""

from collections.abc import Callable

from oc.agent.hooked import Hooked
from oc.base.clock import Clock, Ids
from oc.base.typed import NamedTuple
from oc.config.load import Config
from oc.config.paths import Places
from oc.hooks.run import Hooks
from oc.session.find import Scope, SessionRef
from oc.session.open import Rules


class Setting(NamedTuple):
    """`agent` counts unless a session key names another; `warn` takes a line for the user."""

    agent: str
    config_of: Callable[[str], Config]
    places_of: Callable[[str], Places]
    clock: Clock
    ids: Ids
    warn: Callable[[str], None]
    lock_timeout_ms: int = 10_000
    hooks_of: Callable[[str], Hooks] | None = None

    def hooked(self, ref: SessionRef) -> Hooked:
        """Returns the hooks of the session's agent, told which session it is."""
        return Hooked(self.hooks_of(ref.agent) if self.hooks_of else None, ref)

    def scope(self) -> Scope:
        main_key = str(self.config_of(self.agent).get("session.mainKey"))
        return Scope(self.agent, self.places_of, main_key)

    def rules(self, agent: str) -> Rules:
        return Rules(self.config_of(agent), self.clock, self.ids, self.lock_timeout_ms)
