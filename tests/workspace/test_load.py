import os

import pytest

from oc.workspace import load
from oc.workspace.load import (
    ABSENT,
    HARD_LINK,
    NOT_REGULAR,
    OUTSIDE,
    SWAPPED,
    TOO_LARGE,
    File,
    load_extra,
    load_standard,
    read_file,
)


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


def problem(workspace, name="AGENTS.md"):
    file = read_file(str(workspace), name)
    assert file.content is None
    assert file.refused == (file.problem != ABSENT)
    return file.problem


def test_a_plain_file_is_read_with_bad_bytes_replaced(workspace):
    (workspace / "USER.md").write_bytes(b"caf\xc3\xa9 \xff\r\n")
    path = str(workspace / "USER.md")
    assert read_file(str(workspace), "USER.md") == File("USER.md", path, "café \ufffd\r\n")


@pytest.mark.parametrize("target", ["/etc/hostname", "../secret.md", "link/secret.md"])
def test_a_link_out_of_the_workspace_is_refused(workspace, tmp_path, target):
    (tmp_path / "secret.md").write_text("s")
    (workspace / "link").symlink_to(tmp_path)
    (workspace / "AGENTS.md").symlink_to(target)
    assert problem(workspace) == OUTSIDE


def test_a_sibling_folder_with_the_same_beginning_is_outside(workspace, tmp_path):
    other = tmp_path / "ws2"
    other.mkdir()
    (other / "AGENTS.md").write_text("x")
    (workspace / "AGENTS.md").symlink_to("../ws2/AGENTS.md")
    assert problem(workspace) == OUTSIDE


def test_a_workspace_that_is_a_link_itself_is_fine(workspace, tmp_path):
    (workspace / "AGENTS.md").write_text("rules")
    (tmp_path / "alias").symlink_to("ws")
    file = read_file(str(tmp_path / "alias"), "AGENTS.md")
    assert (file.content, file.path) == ("rules", str(tmp_path / "alias" / "AGENTS.md"))


def test_a_second_name_is_refused_even_inside(workspace):
    (workspace / "a.md").write_text("x")
    os.link(workspace / "a.md", workspace / "AGENTS.md")
    assert problem(workspace) == HARD_LINK


def test_two_mebibytes_are_read_and_a_byte_more_is_not(workspace):
    (workspace / "AGENTS.md").write_bytes(b"x" * load.MAX_BYTES)
    assert len(read_file(str(workspace), "AGENTS.md").content) == load.MAX_BYTES
    (workspace / "AGENTS.md").write_bytes(b"x" * (load.MAX_BYTES + 1))
    assert problem(workspace) == TOO_LARGE


def test_a_pipe_does_not_stop_the_reader(workspace):
    os.mkfifo(workspace / "AGENTS.md")
    assert problem(workspace) == NOT_REGULAR


def test_a_folder_a_dangling_link_and_a_loop_are_no_files(workspace):
    (workspace / "SOUL.md").mkdir()
    (workspace / "TOOLS.md").symlink_to("gone.md")
    (workspace / "USER.md").symlink_to("USER.md")
    assert problem(workspace, "SOUL.md") == NOT_REGULAR
    assert problem(workspace, "TOOLS.md") == ABSENT
    assert "symbolic links" in problem(workspace, "USER.md")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_says_so(workspace):
    (workspace / "AGENTS.md").write_text("x")
    (workspace / "AGENTS.md").chmod(0)
    assert problem(workspace) == "permission denied"


def swap_before_open(monkeypatch, action):
    """Runs `action` between the look at the file and its opening, as a hostile writer would."""
    real = os.open

    def swapping(path, flags, *args):
        action()
        return real(path, flags, *args)

    monkeypatch.setattr(os, "open", swapping)


def test_a_file_that_becomes_a_link_while_it_is_opened_is_refused(workspace, tmp_path, monkeypatch):
    path = workspace / "AGENTS.md"
    path.write_text("x")
    (tmp_path / "secret.md").write_text("secret")

    def swap():
        path.unlink()
        path.symlink_to("../secret.md")

    swap_before_open(monkeypatch, swap)
    assert problem(workspace) == SWAPPED


def test_a_file_that_is_replaced_while_it_is_opened_is_refused(workspace, tmp_path, monkeypatch):
    (workspace / "AGENTS.md").write_text("x")
    (tmp_path / "other.md").write_text("other")
    swap_before_open(monkeypatch, lambda: os.replace(tmp_path / "other.md", workspace / "AGENTS.md"))
    assert problem(workspace) == SWAPPED


def test_a_folder_that_becomes_a_link_while_its_file_is_opened_is_refused(workspace, tmp_path, monkeypatch):
    inner, outer = workspace / "p", tmp_path / "outer"
    inner.mkdir()
    outer.mkdir()
    (inner / "AGENTS.md").write_text("x")
    os.rename(inner / "AGENTS.md", outer / "AGENTS.md")
    os.rename(outer / "AGENTS.md", inner / "AGENTS.md")

    def swap():
        os.rename(inner / "AGENTS.md", outer / "AGENTS.md")  # the same inode, now outside
        inner.rmdir()
        inner.symlink_to(outer)

    swap_before_open(monkeypatch, swap)
    assert problem(workspace, "p/AGENTS.md") == SWAPPED


def test_the_seven_files_come_in_order_and_memory_last(workspace):
    (workspace / "memory.md").write_text("m")
    names = [file.name for file in load_standard(str(workspace))]
    assert names == [
        "AGENTS.md",
        "SOUL.md",
        "TOOLS.md",
        "IDENTITY.md",
        "USER.md",
        "HEARTBEAT.md",
        "BOOTSTRAP.md",
        "memory.md",
    ]


def test_a_refused_memory_file_is_listed_so_that_it_is_missed(workspace, tmp_path):
    (tmp_path / "m.md").write_text("m")
    (workspace / "MEMORY.md").symlink_to("../m.md")
    (workspace / "memory.md").write_text("low")
    assert load_standard(str(workspace))[-1] == File("MEMORY.md", str(workspace / "MEMORY.md"), None, OUTSIDE)


def test_patterns_find_extra_files_once_and_in_order(workspace):
    for place in ("packages/b", "packages/a", "tools/deep/er"):
        (workspace / place).mkdir(parents=True)
        (workspace / place / "AGENTS.md").write_text(place)
    (workspace / "packages/a/TOOLS.md").write_text("t")
    patterns = ["packages/*/AGENTS.md", "packages/a/AGENTS.md", "**/{TOOLS,SOUL}.md", "tools/**/AGENT?.md"]
    files, diagnostics = load_extra(str(workspace), patterns)
    shown = [os.path.relpath(file.path, workspace) for file in files]
    assert shown == ["packages/a/AGENTS.md", "packages/b/AGENTS.md", "packages/a/TOOLS.md", "tools/deep/er/AGENTS.md"]
    assert diagnostics == []


def test_extra_files_that_cannot_be_used_are_told_with_their_reason(workspace):
    (workspace / "p").mkdir()
    (workspace / "p" / "SOUL.md").mkdir()
    patterns = ["gone/AGENTS.md", "p/SOUL.md", "p/notes.md", "agents.md", "a\0/AGENTS.md", "nothing/*/AGENTS.md", "{"]
    files, diagnostics = load_extra(str(workspace), patterns)
    assert files == []
    assert [(d.path, d.reason) for d in diagnostics] == [
        ("gone/AGENTS.md", "missing"),
        ("p/SOUL.md", "security"),
        ("p/notes.md", "invalid-bootstrap-filename"),
        ("agents.md", "invalid-bootstrap-filename"),
        ("a\0/AGENTS.md", "missing"),
    ]


def test_braces_nest_and_stand_for_themselves_when_open():
    assert set(load._alternatives("{a,b{c,d}}x")) == {"ax", "bcx", "bdx"}
    assert load._alternatives("{a") == ["{a"]


def test_a_pattern_cannot_reach_outside(workspace, tmp_path):
    (tmp_path / "AGENTS.md").write_text("x")
    files, diagnostics = load_extra(str(workspace), ["../AGENT?.md", f"{tmp_path}/*.md"])
    assert files == []
    assert {d.reason for d in diagnostics} == {"security"}
