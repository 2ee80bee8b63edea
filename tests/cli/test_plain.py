"""Command lines that are read without click are read as click reads them."""

import subprocess
import sys
from importlib import import_module

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.cli.app import App
from oc.cli.lazy import global_options
from oc.cli.plain import GLOBALS, parse
from oc.cli.registry import COMMANDS

PLAIN = [name for name, row in COMMANDS.items() if row.plain]
VALUES = ["x", "0", "7", "-3", "0.5", "1", "1.5", "٣", " 4", "1_000", "", "-", "role", "always", "chars4", "*", "main"]


def module_of(name):
    return import_module(COMMANDS[name].module)


def by_click(name, arguments):
    """Returns what click reads: sources, values, global flags; None when it refuses the line or shows help."""
    command = module_of(name).command
    app = App()
    try:
        with command.make_context(name, list(arguments), obj=app) as context:
            values = dict(context.params)
    except (click.ClickException, click.exceptions.Exit):
        return None
    return values.pop("sources"), values, app.flags


def names_of(name):
    options = [*GLOBALS, *module_of(name).OPTIONS]
    return [each for option in options for each in (*option.names, option.off) if each]


@st.composite
def lines(draw):
    name = draw(st.sampled_from(PLAIN))
    word = st.sampled_from(VALUES)
    option = st.sampled_from([*names_of(name), "--nonsense", "-h", "-qv", "--"])
    joined = st.builds(lambda key, value: f"{key}={value}", option, word)
    return name, draw(st.lists(option | word | joined, max_size=6))


@given(lines())
def test_a_plain_line_is_read_as_click_reads_it(line):
    """Where the plain reader answers at all, click's answer is the same."""
    name, arguments = line
    plain = parse(module_of(name).OPTIONS, arguments)
    assert plain is None or plain == by_click(name, arguments)


@pytest.mark.parametrize("name", PLAIN)
def test_every_option_can_be_given_plainly(name):
    """Each option with a good value is read, so that no common line falls back to click."""
    good = {"count": "3", "positive": "3", "share": "0.5", "choice": None, "text": "x", "many": "x"}
    for option in (*GLOBALS, *module_of(name).OPTIONS):
        value = option.choices[0] if option.kind == "choice" else good.get(option.kind)
        for spelling in filter(None, (*option.names, option.off)):
            arguments = [spelling] if value is None else [spelling, value]
            read = parse(module_of(name).OPTIONS, ["a", *arguments, "-"])
            assert read is not None
            assert read == by_click(name, ["a", *arguments, "-"])
            assert read[0] == ("a", "-")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["-h"], ["--windo", "5"], ["-qv"], ["-m"], ["--window", "0"], ["-m=x"]]
)
def test_what_is_not_plain_is_left_to_click(arguments):
    assert parse(module_of("prune").OPTIONS, arguments) is None


def test_global_options_are_made_from_the_same_data():
    made = global_options()
    assert [option.name for option in made] == [option.dest for option in GLOBALS]
    assert [option.help for option in made] == [option.help for option in GLOBALS]


def test_mistakes_are_told_as_ever(oc):
    """The words and the status are click's."""
    ran = oc("prune", "--window", "many", "-")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("oc: invalid value for '--window': 'many'")
    assert "hint: `oc prune --help`" in ran.err
    assert oc("tokens", "--help").status == 0


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_line_imports_neither_click_nor_typing(oc, name):
    """Together they would be a third of the time that a filter takes."""
    code = "import sys; from oc.cli.main import main; main(); sys.exit(bool({'click', 'typing'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code, name], input=b"", env=oc.environ, check=False)
    assert done.returncode == 0
