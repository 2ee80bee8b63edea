"""Decorators that make a click command one of `oc`'s, and options that several commands share."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from oc.cli.app import App
from oc.cli.lazy import Command, click_option
from oc.cli.plain import Option

pass_app = click.make_pass_decorator(App, ensure=True)
Function = Callable[..., Any]


_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def oc_command(name: str, **settings: Any) -> Callable[[Function], click.Command]:
    """Makes a command that gets the App first; its docstring is the help."""
    settings.setdefault("context_settings", _CONTEXT)

    def decorate(function: Function) -> click.Command:
        return click.command(name, cls=Command, **settings)(pass_app(function))

    return decorate


def filter_command(name: str, run: Function, options: Sequence[Option]) -> click.Command:
    """Makes the click command of a filter that is declared as data (see plain.py)."""
    sources = click.Argument(["sources"], nargs=-1, metavar="[FILE|SESSION|-]...")
    params = [sources, *map(click_option, options)]
    return Command(name, params=params, callback=pass_app(run), help=run.__doc__, context_settings=_CONTEXT)


def report_option(function: Function) -> Function:
    return click.option("--report", metavar="FILE", help="Write every decision as a line of JSON to FILE.")(function)


def limit_option(default: int | None, what: str) -> Callable[[Function], Function]:
    return click.option(
        "-n", "--limit", type=click.IntRange(min=0), default=default, metavar="N", help=f"Show at most N {what}."
    )
