import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc.base.files import lock
from oc.errors import BadInput, Busy, Usage
from oc.memory.ledger import text_hash
from oc.memory.write import add, remember

DATE = "2026-03-16"


@pytest.fixture
def workspace(tmp_path):
    return tmp_path / "ws"


def note(workspace, name=f"memory/{DATE}.md"):
    return (workspace / name).read_text()


def ledger(workspace):
    return [json.loads(line) for line in note(workspace, "memory/.oc-writes.jsonl").splitlines()]


def write(workspace, *texts, **how):
    return [remember(str(workspace), text, date=DATE, now_ms=0, **how) for text in texts]


def test_a_new_note_begins_with_its_date(workspace):
    assert (f"memory/{DATE}.md", 3) == add(str(workspace), "a fact", date=DATE)
    assert f"# {DATE}\n\n- a fact\n" == note(workspace)


def test_facts_are_list_items_one_after_the_other(workspace):
    lines = [written.line for written in write(workspace, "one", "two\nmore\n\nand more", "three")]
    assert [3, 4, 8] == lines
    assert f"# {DATE}\n\n- one\n- two\n  more\n\n  and more\n- three\n" == note(workspace)


@pytest.mark.parametrize(
    ("text", "appended"),
    [
        ("- a\n- b", "- a\n- b\n"),
        ("* a\n  more\n* b", "* a\n  more\n* b\n"),
        ("1. a\n2. b", "1. a\n2. b\n"),
        ("# Heading\ntext", "\n# Heading\ntext\n"),
        ("> quote", "\n> quote\n"),
        ("```\n- code\n```", "\n```\n- code\n```\n"),
        ("  padded  \r\nCRLF\r\n\r\n", "-   padded\n  CRLF\n".replace("-   ", "- ")),
        ("bell\x07 and \x1b[31mred", "- bell and [31mred\n"),
        ("a\ud800b", "- a\ufffdb\n"),
        ("2026. a year", "- 2026. a year\n"),
        ("- a\n- a", "- a\n"),
        ("- a\n  ```\n  - b\n  ```", "- a\n  ```\n  - b\n  ```\n"),
    ],
)
def test_what_is_a_block_already_stays_one(workspace, text, appended):
    write(workspace, "before", text)
    assert f"# {DATE}\n\n- before\n{appended}" == note(workspace)


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ("prose", "prose\n\n- x\n"),
        ("prose\n", "prose\n\n- x\n"),
        ("prose\n\n", "prose\n\n- x\n"),
        ("- item", "- item\n- x\n"),
        ("- item\n  more\r\n", "- item\n  more\r\n- x\n"),
        ("# Title\n", "# Title\n\n- x\n"),
        ("\n", "\n- x\n"),
    ],
)
def test_a_list_is_set_apart_from_what_is_no_list(workspace, there, expected):
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / f"{DATE}.md").write_bytes(there.encode())
    (written,) = write(workspace, "x")
    assert expected == (workspace / "memory" / f"{DATE}.md").read_bytes().decode()
    assert "- x" == expected.split("\n")[written.line - 1]


def test_a_fact_that_stands_there_is_not_written_twice(workspace):
    write(workspace, "the port is 5432", "b\nc")
    before = note(workspace), note(workspace, "memory/.oc-writes.jsonl")
    again = write(workspace, "the  port is 5432 ", "* the port is 5432", "b\n\nc", "- b\n  c")
    assert [(3, False), (3, False), (4, False), (4, False)] == [(w.line, w.added) for w in again]
    assert before == (note(workspace), note(workspace, "memory/.oc-writes.jsonl"))


def test_of_a_list_the_new_items_are_written(workspace):
    write(workspace, "- a\n- b")
    (written,) = write(workspace, "- b\n- c\n- a\n- d")
    assert ((5, "- c"), (6, "- d")) == written.entries
    assert f"# {DATE}\n\n- a\n- b\n- c\n- d\n" == note(workspace)


def test_long_term_facts_go_into_memory_md(workspace):
    (written,) = write(workspace, "for good", long_term=True)
    assert ("MEMORY.md", 3) == written[:2]
    assert "# Memory\n\n- for good\n" == note(workspace, "MEMORY.md")


def test_a_lower_case_memory_file_is_kept_in_use(workspace):
    workspace.mkdir()
    (workspace / "memory.md").write_text("- old\n")
    assert ("memory.md", 2) == write(workspace, "new", long_term=True)[0][:2]


def test_every_entry_is_in_the_ledger(workspace):
    remember(
        str(workspace), "- a\n- b\n  c", date=DATE, now_ms=0, origin={"session": "s1", "entry": None, "by": "flush"}
    )
    base = {"time": "1970-01-01T00:00:00.000Z", "session": "s1", "by": "flush", "path": f"memory/{DATE}.md"}
    assert [
        {**base, "line": 3, "lines": 1, "hash": text_hash("- a")},
        {**base, "line": 4, "lines": 2, "hash": text_hash("- b\n  c")},
    ] == ledger(workspace)


def test_a_dry_run_writes_nothing(workspace):
    (written,) = write(workspace, "x", dry_run=True)
    assert (3, f"# {DATE}\n\n- x\n") == (written.line, written.text)
    assert not workspace.exists()


@pytest.mark.parametrize("text", ["", " \n\t", "-", "\x00", "- \n- "])
def test_no_word_is_an_error_of_usage(workspace, text):
    with pytest.raises(Usage):
        write(workspace, text)
    assert not workspace.exists()


def test_no_link_is_written_through(workspace, tmp_path):
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / f"{DATE}.md").symlink_to(tmp_path / "out.md")
    with pytest.raises(BadInput):
        write(workspace, "x")
    other = tmp_path / "other"
    other.mkdir()
    (other / "memory").symlink_to(tmp_path)
    with pytest.raises(BadInput):
        write(other, "x")
    assert ["other", "ws"] == sorted(os.listdir(tmp_path))


def test_a_link_to_the_workspace_itself_is_fine(workspace, tmp_path):
    workspace.mkdir()
    (tmp_path / "link").symlink_to(workspace)
    write(tmp_path / "link", "x")
    assert "- x" in note(workspace)


def test_a_held_lock_is_busy(workspace):
    write(workspace, "x")
    with lock(str(workspace / "memory" / ".oc-writes.jsonl")), pytest.raises(Busy):
        write(workspace, "y", lock_timeout_ms=10)
    assert "- y" not in note(workspace)


def test_the_umask_decides_who_may_read_a_note(workspace):
    old = os.umask(0o022)
    try:
        write(workspace, "x")
    finally:
        os.umask(old)
    assert 0o644 == (workspace / "memory" / f"{DATE}.md").stat().st_mode & 0o777


@settings(max_examples=60)
@given(st.lists(st.text(st.sampled_from("ab -#`>1.\n\r\té数🙂"), max_size=30), max_size=6))
def test_whatever_is_added_stands_where_it_is_said_to(tmp_path_factory, texts):
    """Nothing is rewritten, each entry stands at its line, and a second time adds nothing."""
    root = tmp_path_factory.mktemp("prop")
    path = root / "memory" / f"{DATE}.md"
    for text in texts:
        before = path.read_bytes() if path.exists() else b""
        try:
            (written,) = write(root, text)
        except Usage:
            continue
        after = path.read_bytes()
        lines = after.decode().split("\n")
        assert after.startswith(before)
        for line, entry in written.entries:
            assert entry.split("\n") == lines[line - 1 : line + entry.count("\n")]
        assert not write(root, text)[0].added
        assert after == path.read_bytes()
