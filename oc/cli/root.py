"""The command `oc` itself."""

import click

from oc import __version__
from oc.cli.app import App
from oc.cli.lazy import Group, global_options
from oc.cli.registry import COMMANDS


def _version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"oc {__version__}")
        context.exit()


@click.pass_context
def _start(context: click.Context) -> None:
    context.ensure_object(App)


root = Group(
    COMMANDS,
    name="oc",
    help="Memory of a language-model agent as Unix commands: context, transcripts, window, notes.",
    context_settings={"help_option_names": ["-h", "--help"], "obj": None, "max_content_width": 100},
    params=[
        *global_options(),
        click.Option(
            ["-V", "--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Show the version and exit.",
        ),
    ],
    callback=_start,
)
