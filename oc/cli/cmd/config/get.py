"""`oc config get KEY`."""

import difflib

import click

from oc.cli.app import App
from oc.cli.cmd.config.show import shown
from oc.cli.options import oc_command
from oc.config.defaults import KEYS
from oc.config.schema import known
from oc.errors import NotFound


@oc_command("get")
@click.argument("key")
def command(app: App, key: str) -> int:
    """Print the effective value of a key."""
    if known(key) is None:
        near = difflib.get_close_matches(key, [k.path for k in KEYS], n=3)
        raise NotFound(f"no configuration key {key!r}", hint="near: " + ", ".join(near) if near else None)
    value, origin = app.config.explain(key)
    visible = None if value is None else shown(key, value)
    if app.out.format == "text":
        if value is None:
            return 1
        app.out.rows("values", [{"value": visible}], ("value",))
    else:
        app.out.rows("values", [{"key": key, "value": visible, "origin": origin}], ("key", "value", "origin"))
    return 0 if value is not None else 1
