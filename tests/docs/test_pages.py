"""The man pages say what the commands do."""

import re
import shutil
import subprocess
import sys

import pytest

from oc.cli.registry import COMMANDS
from oc.errors import STATUSES
from tests.support import ROOT

PAGES = sorted((ROOT / "man").glob("man?/*.?"))
COMMAND_PAGES = [p for p in PAGES if p.suffix == ".1" and p.stem != "oc"]
ORDER = [
    "NAME",
    "SYNOPSIS",
    "DESCRIPTION",
    "COMMANDS",
    "OPTIONS",
    "INPUT AND OUTPUT",
    "FILES",
    "ENVIRONMENT",
    "EXIT STATUS",
    "EXAMPLES",
    "NOTES",
    "SEE ALSO",
]


def named(page):
    return page.name


def sections(text):
    return [title.strip('"') for title in re.findall(r"^\.SH (.+)$", text, re.MULTILINE)]


def test_every_command_has_a_page_and_every_page_a_command():
    assert {p.stem.removeprefix("oc-") for p in COMMAND_PAGES} == set(COMMANDS)


def test_synopsis_and_options_are_those_of_the_commands():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "man", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("page", COMMAND_PAGES, ids=named)
def test_sections_stand_in_order(page):
    found = sections(page.read_text(encoding="utf-8"))
    assert found == [title for title in ORDER if title in found]
    assert {
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "OPTIONS",
        "INPUT AND OUTPUT",
        "EXIT STATUS",
        "EXAMPLES",
        "SEE ALSO",
    } <= set(found)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_formats_without_a_warning(page):
    if not shutil.which("groff"):
        pytest.skip("groff is not installed")
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", page], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_pages_that_are_referred_to_exist(page):
    referred = re.findall(r"\b(oc(?:-[a-z]+)?) \((\d)\)", page.read_text(encoding="utf-8").replace("\\-", "-"))
    assert [r for r in referred if not (ROOT / "man" / f"man{r[1]}" / f"{r[0]}.{r[1]}").exists()] == []


@pytest.mark.parametrize("page", [p for p in PAGES if p.suffix == ".1"], ids=named)
def test_exit_statuses_are_those_of_the_program(page):
    text = page.read_text(encoding="utf-8").partition(".SH EXIT STATUS")[2].partition(".SH")[0]
    heads = re.findall(r"^\.TP\n\.BR? (.+)$", text, re.MULTILINE)
    found = {int(number) for head in heads for number in re.findall(r"\d+", head)}
    assert found <= set(STATUSES)
    assert found
    if page.stem == "oc":
        assert found >= set(STATUSES)


def test_environment_variables_are_listed():
    used = set()
    for path in (ROOT / "oc").rglob("*.py"):
        used |= set(re.findall(r'"(OC_[A-Z_]+)"', path.read_text(encoding="utf-8")))
    page = (ROOT / "man" / "man1" / "oc.1").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\.B (OC_[A-Z_]+)$", page, re.MULTILINE))
    assert listed == used


def test_the_readme_lists_every_command():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert {name for name in COMMANDS if f"`oc {name}" not in text} == set()
