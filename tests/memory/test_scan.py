import os

import pytest

from oc.memory.scan import scan


@pytest.fixture
def workspace(tmp_path):
    root = tmp_path / "ws"
    for name in (
        "MEMORY.md",
        "other.md",
        "memory/a.md",
        "memory/b.MD",
        "memory/c.txt",
        "memory/.hidden.md",
        "memory/.git/x.md",
        "memory/deep/er/z.md",
        "docs/d.md",
        "docs/sub/e.md",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    return root


BELOW_MEMORY = ["memory/.hidden.md", "memory/a.md", "memory/.git/x.md", "memory/deep/er/z.md"]


def listed(workspace, *extra):
    return list(scan(str(workspace), extra).stamps)


def said(workspace, *extra):
    return [tuple(finding) for finding in scan(str(workspace), extra).findings]


def test_root_notes_then_memory_files_before_folders(workspace):
    assert ["MEMORY.md", *BELOW_MEMORY] == listed(workspace)


def test_both_root_notes_are_listed(workspace):
    (workspace / "memory.md").write_text("y")
    assert ["MEMORY.md", "memory.md"] == listed(workspace)[:2]


@pytest.mark.parametrize(
    ("extra", "more"),
    [
        (["docs"], ["docs/d.md", "docs/sub/e.md"]),
        (["other.md", "memory/c.txt"], ["other.md"]),
        (["docs", "docs/sub", "docs/d.md", "./docs/"], ["docs/d.md", "docs/sub/e.md"]),
        (["memory", "memory/a.md", "MEMORY.md"], []),
        (["."], ["other.md", "docs/d.md", "docs/sub/e.md"]),
        (["  "], []),
    ],
)
def test_extra_paths_add_what_is_not_listed_yet(workspace, extra, more):
    assert ["MEMORY.md", *BELOW_MEMORY, *more] == listed(workspace, *extra)


def test_notes_outside_are_named_from_the_workspace(workspace):
    team = workspace.parent / "team"
    team.mkdir()
    (team / "t.md").write_text("x")
    listing = scan(str(workspace), ["../team", str(team / "t.md")])
    assert "../team/t.md" in listing.stamps
    assert os.path.samefile(team / "t.md", listing.place("../team/t.md"))


def test_links_are_reported_not_followed(workspace):
    (workspace / "memory" / "l.md").symlink_to("a.md")
    (workspace / "memory" / "dir").symlink_to(workspace / "docs")
    (workspace / "memory" / "dir.md").symlink_to(workspace / "docs")
    (workspace / "linked").symlink_to(workspace / "docs")
    assert ["MEMORY.md", *BELOW_MEMORY] == listed(workspace, "linked")
    assert {
        ("memory/l.md", "a symbolic link, not read"),
        ("memory/dir.md", "a symbolic link, not read"),
        ("linked", "a symbolic link, not read"),
    } == set(said(workspace, "linked"))


def test_a_linked_memory_folder_and_a_linked_root_note_are_no_notes(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "m.md").write_text("x")
    root = tmp_path / "ws"
    root.mkdir()
    (root / "memory").symlink_to(tmp_path / "real")
    (root / "MEMORY.md").symlink_to(tmp_path / "real" / "m.md")
    assert [] == listed(root)
    assert {"MEMORY.md", "memory"} == {path for path, _ in said(root)}


def test_what_is_missing_or_no_file_is_a_finding(workspace):
    os.mkfifo(workspace / "memory" / "pipe.md")
    (workspace / "memory.md").mkdir()
    assert {
        ("memory/pipe.md", "no regular file, not read"),
        ("memory.md", "no regular file, not read"),
        ("../nope", "no such file or directory"),
    } == set(said(workspace, "../nope"))


def test_a_name_that_is_no_text_is_a_finding(workspace):
    with open(os.fsencode(workspace / "memory") + b"/\xff.md", "wb"):
        pass
    assert BELOW_MEMORY == listed(workspace)[1:]
    assert ["the name is not UTF-8, not read"] == [message for _, message in said(workspace)]


def test_no_workspace_is_no_notes(tmp_path):
    assert ([], []) == (listed(tmp_path / "none"), said(tmp_path / "none"))
