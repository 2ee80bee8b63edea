"""The tool `read`: lines, parts, and nothing outside the workspace."""

import os

import pytest

from oc.agent.tools.files import MAX_BYTES, MAX_LINES, Reader
from oc.agent.tools.scope import CLOSED, Scope
from oc.agent.tools.spec import call


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "workspace"
    (folder / "memory").mkdir(parents=True)
    (folder / "a.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


def read(workspace, private=True, **arguments):
    sessions = workspace.parent / "sessions"
    scope = Scope(str(workspace), str(sessions), str(sessions / "own.jsonl"), private)
    return call(Reader(str(workspace), scope.refuses_path).tool(), "read", arguments)


def test_whole_and_part(workspace):
    assert "one\ntwo\nthree" == read(workspace, path="a.txt").text
    assert (
        "two\n\n[There are more lines. Go on with offset=3.]" == read(workspace, path="a.txt", offset=2, limit=1).text
    )
    assert "three" == read(workspace, path="./memory/../a.txt", offset=3, limit=9).text
    assert {"fromLine": 2, "lines": 1} == read(workspace, path="a.txt", offset=2, limit=1).details


def test_absolute_inside(workspace):
    assert not read(workspace, path=str(workspace / "a.txt")).failed


def test_past_the_end(workspace):
    assert "read: the file has 3 lines" == read(workspace, path="a.txt", offset=9).text


def test_an_empty_file(workspace):
    (workspace / "empty").touch()
    assert ("", False) == (read(workspace, path="empty").text, read(workspace, path="empty").failed)


def test_many_lines_come_in_parts_that_join_to_the_whole(workspace):
    lines = [f"line {n} " + "x" * (n % 90) for n in range(MAX_LINES * 2 + 7)]
    (workspace / "long.txt").write_text("\n".join(lines))
    got, offset = [], 1
    while True:
        part = read(workspace, path="long.txt", offset=offset).text
        body, _, note = part.partition("\n\n[There are more lines.")
        got += body.split("\n")
        assert len(body.encode()) <= MAX_BYTES
        if not note:
            break
        offset = int(note.split("offset=")[1].rstrip(".]"))
    assert lines == got


def test_one_huge_line(workspace):
    (workspace / "huge").write_text("x" * 5_000_000 + "\nend")
    first = read(workspace, path="huge")
    assert len(first.text) < MAX_BYTES + 200
    assert "offset=2" in first.text
    assert "end" == read(workspace, path="huge", offset=2).text


def test_bad_utf8_is_read(workspace):
    (workspace / "bad").write_bytes(b"a\xffb")
    assert "a\ufffdb" == read(workspace, path="bad").text


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("../secret.txt", "outside the workspace"),
        ("/etc/passwd", "outside the workspace"),
        ("~/x", "outside the workspace"),
        ("nope.txt", "no such file"),
        ("a.txt/x", "no such file"),
        ("memory", "an empty folder"),
        (".", "a folder; in it: a.txt, memory"),
        ("a\0b", "NUL"),
    ],
)
def test_what_cannot_be_read(workspace, path, problem):
    result = read(workspace, path=path)
    assert result.failed
    assert problem in result.text


def test_links(workspace):
    (workspace / "out").symlink_to(workspace.parent / "secret.txt")
    (workspace / "outdir").symlink_to(workspace.parent)
    (workspace / "in").symlink_to("a.txt")
    assert "outside" in read(workspace, path="out").text
    assert "outside" in read(workspace, path="outdir/secret.txt").text
    assert "one\ntwo\nthree" == read(workspace, path="in").text


def test_a_pipe_and_a_binary_file(workspace):
    os.mkfifo(workspace / "pipe")
    (workspace / "bin").write_bytes(b"\x7fELF\0\0")
    assert "not a regular file" in read(workspace, path="pipe").text
    assert "a binary file" in read(workspace, path="bin").text


def test_what_is_closed_to_a_group(workspace):
    """D10: by any name that leads to the file."""
    (workspace / "MEMORY.md").write_text("private")
    (workspace / "alias.md").symlink_to("MEMORY.md")
    (workspace / "memory" / "MEMORY.md").write_text("only of that name")
    for path in ("MEMORY.md", "./memory/../MEMORY.md", "alias.md", str(workspace / "MEMORY.md")):
        assert CLOSED in read(workspace, private=False, path=path).text
        assert "private" == read(workspace, path=path).text
    assert not read(workspace, private=False, path="memory/MEMORY.md").failed


def test_transcripts_inside_a_workspace_are_closed_to_a_group_but_its_own(tmp_path):
    (tmp_path / "own.jsonl").write_text("own")
    (tmp_path / "other.jsonl").write_text("other")
    scope = Scope(str(tmp_path), str(tmp_path), str(tmp_path / "own.jsonl"), private=False)
    assert scope.refuses_path(os.path.realpath(tmp_path / "own.jsonl")) is None
    assert CLOSED == scope.refuses_path(os.path.realpath(tmp_path / "other.jsonl"))


@pytest.mark.parametrize(
    ("path", "source", "shown"),
    [
        ("memory/2026-03-16.md", "memory", True),
        ("MEMORY.md", "memory", False),
        ("memory.md", "memory", False),
        ("sessions/own.jsonl", "sessions", True),
        ("sessions/other.jsonl", "sessions", False),
    ],
)
def test_hits_for_a_group(path, source, shown):
    assert shown == Scope("/w", "/s", "/s/own.jsonl", private=False).shows(path, source)
    assert Scope("/w", "/s", "/s/own.jsonl", private=True).shows(path, source)
