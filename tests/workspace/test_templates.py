import os
import subprocess
import sys

import pytest

from oc.workspace.check import check_workspace
from oc.workspace.names import STANDARD, Rules
from oc.workspace.sections import extract_sections, kept_sections
from oc.workspace.templates import LANGUAGES, create, is_brand_new, plan, template


def make(workspace, language="en"):
    return {m.name: m.action for m in create(str(workspace), language)}


def test_a_new_workspace_gets_all_files_and_nothing_else(tmp_path):
    workspace = tmp_path / "a" / "ws"
    assert make(workspace) == dict.fromkeys(STANDARD, "created")
    assert sorted(os.listdir(workspace)) == sorted(STANDARD)
    assert {os.stat(workspace / name).st_nlink for name in STANDARD} == {1}
    assert {os.stat(workspace / name).st_mode & 0o777 for name in STANDARD} == {0o600}
    assert (workspace / "AGENTS.md").read_bytes() == template("AGENTS.md", "en")


def test_nothing_is_ever_replaced(tmp_path):
    (tmp_path / "SOUL.md").write_text("mine")
    (tmp_path / "TOOLS.md").symlink_to("gone.md")
    (tmp_path / "USER.md").write_text("")
    made = make(tmp_path)
    assert {name for name, action in made.items() if action == "created"} == {
        "AGENTS.md",
        "IDENTITY.md",
        "HEARTBEAT.md",
    }
    assert ((tmp_path / "SOUL.md").read_text(), (tmp_path / "USER.md").read_text()) == ("mine", "")
    assert not (tmp_path / "gone.md").exists()
    assert made["BOOTSTRAP.md"] == "left out"
    assert not (tmp_path / "BOOTSTRAP.md").exists()


@pytest.mark.parametrize("name", [*STANDARD, "MEMORY.md", "memory.md"])
def test_any_file_of_a_workspace_makes_it_a_used_one(tmp_path, name):
    assert is_brand_new(str(tmp_path))
    (tmp_path / name).write_text("")
    assert not is_brand_new(str(tmp_path))


def test_a_folder_of_notes_makes_it_a_used_one(tmp_path):
    (tmp_path / "memory").mkdir()
    assert make(tmp_path)["BOOTSTRAP.md"] == "left out"


def test_bootstrap_is_never_brought_back(tmp_path):
    make(tmp_path)
    (tmp_path / "BOOTSTRAP.md").unlink()
    (tmp_path / "SOUL.md").unlink()
    made = make(tmp_path)
    assert (made["SOUL.md"], made["BOOTSTRAP.md"]) == ("created", "left out")


def test_a_plan_makes_nothing(tmp_path):
    workspace = tmp_path / "ws"
    assert {m.action for m in plan(str(workspace))} == {"would create"}
    assert not workspace.exists()


def test_leftovers_of_a_run_that_died_are_removed(tmp_path):
    """Killed between the link and the unlink, a file has two names and would count as a hard link for ever."""
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    leftover = tmp_path / f".oc-init-{int(dead.stdout)}.tmp"
    leftover.write_text("half")
    os.link(leftover, tmp_path / "AGENTS.md")
    (tmp_path / ".oc-init-1.tmp").write_text("of a process that is alive")
    make(tmp_path)
    assert os.stat(tmp_path / "AGENTS.md").st_nlink == 1
    assert [name for name in os.listdir(tmp_path) if name.startswith(".oc-init")] == [".oc-init-1.tmp"]


def test_a_file_system_without_hard_links_will_do(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    (tmp_path / "SOUL.md").write_text("mine")
    made = make(tmp_path)
    assert (made["AGENTS.md"], made["SOUL.md"]) == ("created", "kept")
    assert (tmp_path / "AGENTS.md").read_bytes() == template("AGENTS.md", "en")
    assert [name for name in os.listdir(tmp_path) if name.startswith(".oc-init")] == []


def test_a_file_that_somebody_makes_meanwhile_is_kept(tmp_path, monkeypatch):
    real = os.link

    def late(source, target):
        if target.endswith("SOUL.md"):
            (tmp_path / "SOUL.md").write_text("theirs")
        real(source, target)

    monkeypatch.setattr(os, "link", late)
    assert make(tmp_path)["SOUL.md"] == "kept"
    assert (tmp_path / "SOUL.md").read_text() == "theirs"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_files_are_good_as_they_stand(tmp_path, language):
    make(tmp_path, language)
    assert check_workspace(str(tmp_path), Rules()) == []
    text = (tmp_path / "AGENTS.md").read_text(encoding="utf-8")
    found = extract_sections(text, ["Session Startup", "Red Lines"])
    assert [name for name, _ in found] == ["Session Startup", "Red Lines"]
    assert all(section.startswith(f"## {name}\n") for name, section in found)
    assert "memory/YYYY-MM-DD.md" in found[0][1]
    assert "MEMORY.md" in found[0][1]
    assert [span.title for span in kept_sections(text)[0]] == ["Session Startup", "Red Lines"]
    assert len(text) < 5000


@pytest.mark.parametrize("name", STANDARD)
def test_both_languages_have_the_same_shape(name):
    def shape(language):
        lines = template(name, language).decode().split("\n")
        return [line.partition(" ")[0] for line in lines if line.startswith(("#", "<!--", "- "))]

    assert shape("en") == shape("zh")
    assert any(ord(c) > 0x4E00 for c in template(name, "zh").decode())
    assert template(name, "en").isascii()
