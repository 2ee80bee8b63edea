"""The table of commands: name, one line of help, module; sorted. `oc --help` is made from it without importing any."""

from collections.abc import Mapping
from typing import NamedTuple


class Row(NamedTuple):
    """A command has a module with an attribute `command`; a noun has verbs."""

    help: str
    module: str = ""
    verbs: "Mapping[str, Row] | None" = None


_CONFIG = {
    "check": Row("List findings in oc.json and openclaw.json", "oc.cli.cmd.config.check"),
    "get": Row("Print the effective value of a key", "oc.cli.cmd.config.get"),
    "show": Row("Print every effective value and where it comes from", "oc.cli.cmd.config.show"),
}

COMMANDS: dict[str, Row] = {
    "config": Row("Show what is configured, and where it comes from", verbs=_CONFIG),
}
