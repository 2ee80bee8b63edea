"""What every command is given: flags, environment, configuration, places, clock, ids, output; made when asked for."""

import os
import sys
from functools import cached_property

from oc.base.clock import Clock, Ids, parse_iso
from oc.base.typed import TYPE_CHECKING, Any
from oc.cli.out import Out
from oc.config import paths
from oc.config.load import Config, Value, load
from oc.errors import Usage

if TYPE_CHECKING:
    from oc.hooks.run import Hooks


class App:
    """One run of `oc`. Nothing is read before a property is used."""

    def __init__(self) -> None:
        self.flags: dict[str, Any] = {}
        self.environ = os.environ

    def set_flag(self, name: str, value: Any) -> None:
        self.flags[name] = value

    def _setting(self, flag: str, variable: str) -> str | None:
        return self.flags.get(flag) or self.environ.get(variable) or None

    @cached_property
    def out(self) -> Out:
        formats = [name for name in ("json", "jsonl", "tsv") if self.flags.get(f"as_{name}")]
        if len(formats) > 1:
            raise Usage(f"--{formats[0]} and --{formats[1]} exclude each other")
        return Out(
            formats[0] if formats else "text",
            color=self.flags.get("color", "auto"),
            quiet=bool(self.flags.get("quiet")),
            verbose=bool(self.flags.get("verbose")),
        )

    @cached_property
    def home(self) -> Value:
        return paths.home_of(self.flags.get("home"), self.environ)

    @cached_property
    def base_config(self) -> Config:
        """The configuration before an agent is chosen."""
        config = load(self.home.value, self.environ)
        for warning in config.warnings:
            self.out.warn(warning)
        return config

    @cached_property
    def agent(self) -> str:
        """The agent of this run; a key that names another one goes through `for_agent`."""
        from oc.session_key import normal_agent_id

        named = self._setting("agent", "OC_AGENT")
        return normal_agent_id(named) if named else paths.default_agent(self.base_config)

    @cached_property
    def config(self) -> Config:
        return self.base_config.for_agent(self.agent)

    @cached_property
    def places(self) -> paths.Places:
        return self.places_of(self.agent)

    def places_of(self, agent: str) -> paths.Places:
        config = self.base_config.for_agent(agent)
        return paths.places(config, self.home.value, agent, self.environ, self.flags.get("workspace"))

    def for_agent(self, agent: str) -> "App":
        """Returns this run as that agent's: same flags, its own configuration and places."""
        if agent == self.agent:
            return self
        other = App()
        other.flags = {**self.flags, "agent": agent}
        other.__dict__.update(
            out=self.out, home=self.home, base_config=self.base_config, clock=self.clock, ids=self.ids
        )
        return other

    @cached_property
    def hooks(self) -> "Hooks":
        """The hooks of this agent; one that fails is a warning on stderr."""
        from oc.hooks.run import Hooks

        out = self.out
        return Hooks(
            self.home.value, self.places.workspace, self.config, out.warn, environ=self.environ, detail=out.detail
        )

    @cached_property
    def clock(self) -> Clock:
        zone = self._setting("tz", "OC_TZ") or self.config.get("agents.defaults.userTimezone")
        return Clock(_fixed_time(self._setting("now", "OC_NOW")), _zone(zone) if zone else None)

    @cached_property
    def ids(self) -> Ids:
        return Ids(self.environ.get("OC_SEED") or None)

    @property
    def lock_timeout_ms(self) -> int:
        value = self.flags.get("lock_timeout")
        return 10_000 if value is None else int(value)

    def need_stdin(self, what: str) -> None:
        """Refuses to wait for a person at a terminal who was not asked for anything."""
        if sys.stdin is None:
            raise Usage(f"{what} expected on stdin, which is closed")
        if sys.stdin.isatty():
            raise Usage(f"{what} expected on stdin, which is a terminal")


# The years 1 to 9999, which is what a date can hold.
_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_999


def _fixed_time(text: str | None) -> int | None:
    if text is None:
        return None
    digits = text.removeprefix("-")
    moment = int(text) if digits.isascii() and digits.isdigit() and len(digits) < 20 else parse_iso(text)
    if moment is None or not _FIRST_MS <= moment <= _LAST_MS:
        raise Usage(f"not a time: {text!r}", hint="ISO-8601, such as 2026-03-16T09:00:00Z, or epoch milliseconds")
    return moment


def _zone(name: str) -> Any:
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        raise Usage(f"no time zone {name!r}") from None
