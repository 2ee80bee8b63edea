"""Groups that import a command only when it runs, and commands that take the global options on either side.

The pattern is the one of click's manual for large applications: names and one-line helps come from a table.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from oc.cli.app import App
from oc.cli.plain import GLOBALS, Option
from oc.cli.registry import Row


def _store(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Puts a global option into the App, wherever on the command line it stood; the last one wins."""
    if value is not None and value is not False and parameter.name:
        context.ensure_object(App).set_flag(parameter.name, value)
    return value


def click_option(option: Option, **settings: Any) -> click.Option:
    """Returns the click form of an option that is declared as data."""
    kinds: dict[str, dict[str, Any]] = {
        "text": {},
        "count": {"type": click.IntRange(min=0)},
        "positive": {"type": click.IntRange(min=1)},
        "share": {"type": click.FloatRange(0, 1)},
        "flag": {"is_flag": True},
        "switch": {"default": None},
        "many": {"multiple": True},
        "choice": {"type": click.Choice(list(option.choices))},
    }
    names = [f"{name}/{option.off}" if option.off else name for name in option.names]
    return click.Option(
        [*names, option.dest], metavar=option.metavar, help=option.help, **kinds[option.kind], **settings
    )


def global_options(*, hidden: bool = False) -> list[click.Parameter]:
    settings = {"expose_value": False, "callback": _store, "is_eager": True, "hidden": hidden}
    return [click_option(option, **settings) for option in GLOBALS]


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
        return [*super().get_params(ctx), *global_options(hidden=True)]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.indentation():
            formatter.write_paragraph()
            formatter.write_text("Global options (--home, --agent, --json, --now, ...) work here too: see `oc --help`.")


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
        return [*super().get_params(ctx), *global_options(hidden=True)]
