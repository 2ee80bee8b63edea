"""Groups that import a command only when it runs, and commands that take the global options on either side.

The pattern is the one of click's manual for large applications: names and one-line helps come from a table.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import click

from oc.cli.app import App
from oc.cli.registry import Row


def _store(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Puts a global option into the App, wherever on the command line it stood; the last one wins."""
    if value is not None and value is not False and parameter.name:
        context.ensure_object(App).set_flag(parameter.name, value)
    return value


def _global(*names: str, **settings: Any) -> Callable[[], click.Option]:
    return lambda: click.Option(names, expose_value=False, callback=_store, is_eager=True, **settings)


GLOBALS: tuple[Callable[[], click.Option], ...] = (
    _global("--home", metavar="DIR", help="State directory (default: $OC_HOME, $OPENCLAW_STATE_DIR, ~/.openclaw)."),
    _global("--agent", metavar="ID", help="Agent whose sessions, workspace and index are meant."),
    _global("--workspace", metavar="DIR", help="Workspace directory (default: $OC_WORKSPACE, config)."),
    _global("--now", metavar="TIME", help="Time to take for now: ISO-8601 or epoch milliseconds."),
    _global("--tz", metavar="ZONE", help="IANA time zone for dates and local times."),
    _global("--lock-timeout", metavar="MS", type=click.IntRange(min=0), help="How long to wait for a lock."),
    _global("--json", "as_json", is_flag=True, help="Print one JSON document."),
    _global("--jsonl", "as_jsonl", is_flag=True, help="Print one JSON object per line."),
    _global("--tsv", "as_tsv", is_flag=True, help="Print tab-separated values with a header."),
    _global("--color", type=click.Choice(["auto", "always", "never"]), help="Colour on a terminal."),
    _global("-v", "--verbose", is_flag=True, help="Say more on stderr."),
    _global("-q", "--quiet", is_flag=True, help="Say nothing but errors on stderr."),
)


def _show_help(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        click.echo(context.get_help(), color=context.color)
        context.exit()


class Helpful(click.Command):
    """Makes the help option itself: click's own asks for a translation, which costs 2 ms of every start."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        names = self.get_help_option_names(ctx)
        if self._help_option is None and names:
            self._help_option = click.Option(
                names,
                is_flag=True,
                expose_value=False,
                is_eager=True,
                help="Show this message and exit.",
                callback=_show_help,
            )
        return self._help_option


class Command(Helpful):
    """A command of `oc`: takes the global options too, kept out of its own help."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), *_hidden()]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.indentation():
            formatter.write_paragraph()
            formatter.write_text("Global options (--home, --agent, --json, --now, ...) work here too: see `oc --help`.")


def _hidden() -> list[click.Parameter]:
    options = [make() for make in GLOBALS]
    for option in options:
        option.hidden = True
    return list(options)


class Group(Helpful, click.Group):
    """A group whose commands are named in the table and imported when they are called."""

    def __init__(self, rows: Mapping[str, Row], **settings: Any) -> None:
        super().__init__(**settings)
        self.rows = rows

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        row = self.rows.get(cmd_name)
        if row is None:
            return None
        if row.verbs is not None:
            return SubGroup(row.verbs, name=cmd_name, help=row.help)
        command: click.Command = import_module(row.module).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            import difflib

            near = difflib.get_close_matches(args[0], self.rows, n=1)
            more = f", did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"no command {args[0]!r}{more}", ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, row.help) for name, row in self.rows.items()])


class SubGroup(Group):
    """A noun with verbs: global options may stand between the noun and the verb."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), *_hidden()]
