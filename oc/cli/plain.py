"""Commands declared as data, and command lines so plain that they are read without click.

A filter stands in a pipe and is started hundreds of times; importing click would be a quarter of its time. What is
not plain (--help, a mistake, joined short options) is left to click, whose command is made from the same data: see
options.py. The two read the same line alike, by test.
"""

from collections.abc import Iterator, Sequence
from importlib import import_module

from oc.base.typed import Any
from oc.cli.app import App
from oc.cli.registry import COMMANDS

Values = dict[str, Any]


class Option:
    """`kind`: text, count (0 and up), positive, share (0 to 1), flag, switch (--x/--no-x), many (repeatable), choice.

    The parameter is named by `dest`, else by the first long name.
    """

    __slots__ = ("choices", "dest", "help", "kind", "metavar", "names", "off")

    def __init__(self, *names: str, help: str, kind: str = "text", metavar: str | None = None, **more: Any) -> None:  # noqa: A002
        self.names = names
        self.help = help
        self.kind = kind
        self.metavar = metavar
        self.choices: tuple[str, ...] = more.get("choices", ())
        long = next(name for name in names if name.startswith("--")).removeprefix("--")
        self.dest: str = more.get("dest", long.replace("-", "_"))
        self.off = f"--no-{long}" if kind == "switch" else None

    @property
    def default(self) -> Any:
        return () if self.kind == "many" else False if self.kind == "flag" else None


REPORT = Option("--report", metavar="FILE", help="Write every decision as a line of JSON to FILE.")
ALL_ENTRIES = Option("--all-entries", kind="flag", help="Take every line of a transcript, not its context.")

GLOBALS = (
    Option("--home", metavar="DIR", help="State directory (default: $OC_HOME, $OPENCLAW_STATE_DIR, ~/.openclaw)."),
    Option("--agent", metavar="ID", help="Agent whose sessions, workspace and index are meant."),
    Option("--workspace", metavar="DIR", help="Workspace directory (default: $OC_WORKSPACE, config)."),
    Option("--now", metavar="TIME", help="Time to take for now: ISO-8601 or epoch milliseconds."),
    Option("--tz", metavar="ZONE", help="IANA time zone for dates and local times."),
    Option("--lock-timeout", kind="count", metavar="MS", help="How long to wait for a lock."),
    Option("--json", dest="as_json", kind="flag", help="Print one JSON document."),
    Option("--jsonl", dest="as_jsonl", kind="flag", help="Print one JSON object per line."),
    Option("--tsv", dest="as_tsv", kind="flag", help="Print tab-separated values with a header."),
    Option("--color", kind="choice", choices=("auto", "always", "never"), help="Colour on a terminal."),
    Option("-v", "--verbose", kind="flag", help="Say more on stderr."),
    Option("-q", "--quiet", kind="flag", help="Say nothing but errors on stderr."),
)


def run_plain(arguments: Sequence[str]) -> int | None:
    """Runs a command that is declared as data and returns its status; None when the line is one for click."""
    row = COMMANDS.get(arguments[0]) if arguments else None
    if row is None or not row.plain:
        return None
    module = import_module(row.module)
    read = parse(module.OPTIONS, arguments[1:])
    if read is None:
        return None
    sources, values, flags = read
    app = App()
    for name, value in flags.items():
        app.set_flag(name, value)
    status = module.run(app, sources, **values)
    return status if isinstance(status, int) else 0


def parse(options: Sequence[Option], arguments: Sequence[str]) -> tuple[tuple[str, ...], Values, Values] | None:
    """Returns (sources, values of the options, global options that are set), None when the line is not plain."""
    named = {name: option for option in (*GLOBALS, *options) for name in (*option.names, option.off)}
    values: Values = {option.dest: option.default for option in options}
    flags: Values = {}
    own = set(values)
    sources: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            sources += rest
        elif argument == "-" or not argument.startswith("-"):
            sources.append(argument)
        else:
            name, equals, given = argument.partition("=")
            option = named.get(name)
            if option is None or (equals and not name.startswith("--")):
                return None
            value = _read(option, name, given if equals else None, rest)
            if value is None:
                return None
            target = values if option.dest in own else flags
            target[option.dest] = (*target[option.dest], value) if option.kind == "many" else value
    return tuple(sources), values, {name: value for name, value in flags.items() if value is not False}


def _read(option: Option, name: str, given: str | None, rest: Iterator[str]) -> Any:
    """Returns the value of an option, None when it is not plainly a good one."""
    if option.kind in ("flag", "switch"):
        return None if given is not None else name != option.off
    text = next(rest, None) if given is None else given
    if text is None or option.kind in ("text", "many"):
        return text
    if option.kind == "choice":
        return text if text in option.choices else None
    digits = text.replace(".", "", 1) if option.kind == "share" else text
    if not (digits.isascii() and digits.isdigit() and len(digits) < 16):
        return None
    number: float = float(text) if option.kind == "share" else int(text)
    if option.kind == "share":
        return number if number <= 1 else None
    return number if number >= (1 if option.kind == "positive" else 0) else None
