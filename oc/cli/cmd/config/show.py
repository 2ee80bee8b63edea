"""`oc config show`: every effective value with its origin."""

from collections.abc import Iterator
from typing import Any

from oc.cli.app import App
from oc.cli.options import oc_command
from oc.config.load import Config
from oc.config.schema import known

HIDDEN = "***"


@oc_command("show")
def command(app: App) -> None:
    """Print every effective value and where it comes from."""
    rows = list(_places(app)) + list(_values(app.config))
    app.out.rows("values", rows, ("key", "value", "origin"))


def _places(app: App) -> Iterator[dict[str, Any]]:
    yield {"key": "home", "value": str(app.home.value), "origin": app.home.origin}
    named = "flag" if app.flags.get("agent") else "environment" if app.environ.get("OC_AGENT") else "default"
    if named == "default" and app.base_config.agents():
        named = app.base_config.explain("agents.list").origin
    yield {"key": "agent", "value": app.agent, "origin": named}
    yield {"key": "workspace", "value": str(app.places.workspace), "origin": app.places.workspace_origin}
    yield {"key": "sessions", "value": str(app.places.sessions), "origin": app.config.explain("session.store").origin}
    yield {"key": "index", "value": str(app.places.index), "origin": "default"}


def _values(config: Config) -> Iterator[dict[str, Any]]:
    for path, (value, origin) in config.effective():
        if value is not None:
            yield {"key": path, "value": shown(path, value), "origin": origin}


def shown(path: str, value: Any) -> Any:
    """Returns the value, or stars for a secret; objects may hold keys of other programs, so they are counted only."""
    key = known(path)
    if key is not None and key.kind == "secret":
        return HIDDEN
    if key is not None and key.kind in ("object", "agents"):
        return f"({len(value)} entries)"
    return value
