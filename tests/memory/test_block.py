import json
import resource
import signal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc.errors import BadInput
from oc.memory.block import append_block
from oc.memory.ledger import text_hash

DATE = "2026-03-16"


@pytest.fixture
def note(tmp_path):
    (tmp_path / "memory").mkdir()
    return tmp_path / "memory" / f"{DATE}.md"


def append(note, text, **how):
    return append_block(str(note.parent.parent), text, date=DATE, now_ms=0, **how)


def test_the_text_stands_as_it_was_given_and_the_ledger_knows_each_item(note):
    text = "## Database\n\n- moved to pg-b\n  because of the disk\n- port 5432\n\nA paragraph\nof two lines.\n"
    written = append(note, text, origin={"by": "flush"})
    assert text == note.read_text()
    assert (
        (1, "## Database"),
        (3, "- moved to pg-b\n  because of the disk"),
        (5, "- port 5432"),
        (7, "A paragraph\nof two lines."),
    ) == written.entries
    rows = [json.loads(line) for line in (note.parent / ".oc-writes.jsonl").read_text().splitlines()]
    assert [(1, "flush"), (3, "flush"), (5, "flush"), (7, "flush")] == [(row["line"], row["by"]) for row in rows]
    assert text_hash("- port 5432") == rows[2]["hash"]


def test_what_is_written_stands_at_its_lines(note):
    note.write_text("old\nlast without end")
    written = append(note, "\n- a\n- b\n")
    lines = note.read_text().split("\n")
    assert ["old", "last without end", "- a", "- b", ""] == lines
    assert [(3, "- a"), (4, "- b")] == list(written.entries)
    assert 3 == written.line


def test_the_same_block_twice_a_day_stands_once(note):
    first = append(note, "# Notes\n\n- a fact\n- another\n")
    before = note.read_bytes()
    second = append(note, "# Notes\n\n- a fact\n* another\n")
    assert first.added
    assert not second.added
    assert 1 == second.line
    assert before == note.read_bytes()


def test_a_whole_note_emitted_again_adds_what_is_new(note):
    """Users saw sections doubled: the second flush of a day gave the whole file back, and one line more."""
    append(note, f"# {DATE}\n\n## Work\n- one\n- two\n\n## Rest\n- three\n")
    append(note, f"# {DATE}\n\n## Work\n- one\n- two\n- four\n\n## Rest\n- three\n")
    text = note.read_text()
    assert [1] * 5 == [text.count(part) for part in (f"# {DATE}", "- one", "- two", "- three", "- four")]
    assert text.endswith("## Work\n- four\n\n")


def test_what_looks_like_an_item_in_a_code_block_belongs_to_it(note):
    text = "```\n- x\n\n# y\n```\n- x\n"
    assert ["```\n- x\n\n# y\n```", "- x"] == [entry for _, entry in append(note, text).entries]
    assert text == note.read_text()


def test_a_dry_run_and_an_empty_text_write_nothing(note):
    assert append(note, "- a\n", dry_run=True).added
    assert not append(note, " \n\n").added
    assert not append(note, "## Only a heading\n").added
    assert not note.exists()


def test_a_note_behind_a_link_is_refused(note, tmp_path):
    target = tmp_path / "elsewhere.md"
    target.write_text("mine")
    note.symlink_to(target)
    with pytest.raises(BadInput, match="symbolic link"):
        append(note, "- a\n")
    assert "mine" == target.read_text()


LINES = st.lists(
    st.sampled_from(["- a", "- b", "* a", "  more", "", "# H", "## I", "text", "```", "1. x"]), max_size=12
)


@settings(max_examples=40)
@given(LINES, LINES)
def test_appending_keeps_what_stands_there_and_adds_nothing_twice(tmp_path_factory, first, second):
    note = tmp_path_factory.mktemp("ws") / "memory" / f"{DATE}.md"
    for text in ("\n".join(first), "\n".join(second) + "\n"):
        before = note.read_text() if note.exists() else ""
        written = append(note, text)
        after = note.read_text() if note.exists() else ""
        assert after.startswith(before)
        lines = after.split("\n")
        for number, entry in written.entries:
            count = entry.count("\n") + 1
            assert entry.split("\n") == lines[number - 1 : number - 1 + count]
        assert not append(note, text).added
        assert after == (note.read_text() if note.exists() else "")


def test_a_part_that_cannot_be_written_leaves_no_row_in_the_ledger(note):
    append(note, "- one\n")
    ledger = note.parent / ".oc-writes.jsonl"
    before = ledger.read_bytes(), note.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    try:
        with pytest.raises(OSError, match="large"):
            append(note, "- " + "y" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    assert before == (ledger.read_bytes(), note.read_bytes())
