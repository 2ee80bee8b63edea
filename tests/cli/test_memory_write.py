import json
import os
import resource

import pytest


def test_add_prints_where_the_fact_stands(oc):
    done = oc("memory", "add", "the staging database moved to pg-b.internal:5432")
    assert (0, "memory/2026-03-16.md#L3\n", "") == (done.status, done.out, done.err)
    note = oc.workspace / "memory" / "2026-03-16.md"
    assert "# 2026-03-16\n\n- the staging database moved to pg-b.internal:5432\n" == note.read_text()


def test_the_day_is_the_users(oc):
    assert (
        "memory/2026-03-17.md#L3\n"
        == oc("memory", "add", "x", "--tz", "Pacific/Kiritimati", "--now", "2026-03-16T11:00:00Z").out
    )
    assert (
        "memory/2026-03-15.md#L3\n"
        == oc("memory", "add", "x", "--tz", "Pacific/Honolulu", "--now", "2026-03-16T09:00:00Z").out
    )


def test_a_fact_is_not_added_twice(oc):
    oc("memory", "add", "one")
    oc("memory", "add", "two")
    done = oc("memory", "add", "one")
    assert (0, "memory/2026-03-16.md#L3\n") == (done.status, done.out)
    assert "noted before: memory/2026-03-16.md#L3\n" == done.err


def test_text_from_stdin_and_long_term(oc):
    assert "MEMORY.md#L3\n" == oc("memory", "add", "--long-term", "-", stdin="- a\n- b\n").out
    assert "# Memory\n\n- a\n- b\n" == (oc.workspace / "MEMORY.md").read_text()
    assert "MEMORY.md#L5\n" == oc("memory", "add", "--long-term", stdin="c").out


def test_json_and_dry_run(oc):
    done = oc("memory", "add", "x", "--dry-run", "--json")
    row = {"place": "memory/2026-03-16.md#L3", "path": "memory/2026-03-16.md", "line": 3, "added": True}
    assert {**row, "text": "# 2026-03-16\n\n- x\n"} == done.json()
    assert not oc.state.exists()
    assert "memory/2026-03-16.md#L3\t# 2026-03-16\\n\\n- x\\n\n" == oc("memory", "add", "x", "--dry-run").out


@pytest.mark.parametrize("text", ["", "  ", "-- "])
def test_no_text_is_an_error_of_usage(oc, text):
    assert 2 == oc("memory", "add", "--", text.strip("- ")).status
    assert not oc.state.exists()


def test_the_ledger_knows_the_session(oc):
    oc("memory", "add", "x", OC_SESSION="agent:main:main")
    row = json.loads((oc.workspace / "memory" / ".oc-writes.jsonl").read_text())
    assert ("agent:main:main", "memory add", "2026-03-16T09:00:00.000Z") == (row["session"], row["by"], row["time"])


def test_a_full_disk_changes_nothing(oc):
    oc("memory", "add", "x " * 200)
    note = oc.workspace / "memory" / "2026-03-16.md"
    before = note.read_bytes()
    process = oc.popen(
        "memory",
        "add",
        "y" * 5000,
        stderr=-1,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )
    _, err = process.communicate(timeout=60)
    assert (74, True) == (process.returncode, err.startswith(b"oc: "))
    assert (before, 1) == (note.read_bytes(), err.count(b"\n"))


@pytest.mark.parametrize("known", [True, False])
def test_a_note_that_cannot_be_written_leaves_no_row_in_the_ledger(oc, known):
    if known:
        oc("memory", "add", "one")
    folder = oc.workspace / "memory"
    folder.mkdir(parents=True, exist_ok=True)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    process = oc.popen(
        "memory",
        "add",
        "y" * 5000,
        stderr=-1,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
    )
    _, err = process.communicate(timeout=60)
    assert (74, 1) == (process.returncode, err.count(b"\n"))
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert len(before) == 2 * known


@pytest.mark.parametrize(
    ("stdin", "complaint"),
    [
        (b"bad \xff\n", "stdin:1: not UTF-8"),
        (b"good\nbad \xe9\n", "stdin:2: not UTF-8"),
        (b"cut \xe4\xb8", "stdin:1: not UTF-8"),
        (b"a\0b", "stdin:1: holds a NUL"),
        (b"- a\n- b\n- c\0\n", "stdin:3: holds a NUL"),
    ],
)
def test_what_is_no_text_on_stdin_is_refused_and_not_mended(oc, stdin, complaint):
    done = oc("memory", "add", "-", stdin=stdin)
    assert (65, "", f"oc: {complaint}\n") == (done.status, done.out, done.err)
    assert not oc.state.exists()


@pytest.mark.parametrize(
    "args", [["memory", "add"], ["prompt"], ["session", "append", "main", "--create", "--role", "user"]]
)
def test_an_argument_that_is_not_utf8_is_refused_and_not_mended(oc, args):
    done = oc(*args, os.fsdecode(b"bad \xff"))
    assert (65, "", "oc: TEXT is not UTF-8\n") == (done.status, done.out, done.err)
    assert not oc.state.exists()


def test_get_prints_the_bytes_and_nothing_else(oc):
    note = oc.workspace / "memory" / "x.md"
    note.parent.mkdir(parents=True)
    note.write_bytes(b"\xef\xbb\xbfa\r\n\xff\nlast")
    assert b"\xef\xbb\xbfa\r\n\xff\nlast" == oc("memory", "get", "memory/x.md").raw
    assert b"\xff\n" == oc("memory", "get", "x.md", "--from", "2", "--lines", "1").raw
    assert b"\xff\nlast" == oc("memory", "get", "x.md#L2-L3").raw
    assert {"path": "memory/x.md", "startLine": 3, "exists": True, "text": "last"} == oc(
        "memory", "get", "x.md#L3", "--json"
    ).json()
    assert 2 == oc("memory", "get", "x.md#L2", "--from", "2").status


def test_get_beyond_the_end_finds_nothing(oc):
    oc("memory", "add", "x")
    done = oc("memory", "get", "2026-03-16", "--from", "9")
    assert (1, "", "oc: memory/2026-03-16.md has no line 9\n") == (done.status, done.out, done.err)


@pytest.mark.parametrize(
    ("path", "status"),
    [("2026-01-01", 66), ("../x.md", 66), ("/etc/passwd", 66), ("memory", 66), ("notes.txt", 66), ("", 2)],
)
def test_get_of_what_is_no_note(oc, path, status):
    oc("memory", "add", "x")
    done = oc("memory", "get", path, "--json")
    assert (status, status) == (done.status, done.json()["error"]["status"])
    assert done.err.startswith("oc: ")


def test_a_missing_note_may_be_nothing(oc):
    done = oc("memory", "get", "2026-01-01", "--missing-ok")
    assert (0, "", "") == (done.status, done.out, done.err)


def test_no_link_leads_out_of_the_workspace(oc):
    (oc.home / "secret.md").write_text("secret")
    (oc.workspace / "memory").mkdir(parents=True)
    (oc.workspace / "memory" / "away").symlink_to(oc.home)
    assert 66 == oc("memory", "get", "memory/away/secret.md").status
    assert os.listdir(oc.state) == ["workspace"]


@pytest.mark.parametrize("lines", ["#L3-L1", "#L0", "#L0-L2", "#L2-L0"])
def test_get_of_lines_that_end_before_they_begin_or_count_from_0_is_an_error_of_usage(oc, lines):
    note = oc.workspace / "memory" / "x.md"
    note.parent.mkdir(parents=True)
    note.write_text("a\nb\nc\n")
    done = oc("memory", "get", f"memory/x.md{lines}")
    assert (2, "") == (done.status, done.out)
    assert done.err.startswith("oc: lines count from 1")


@pytest.mark.parametrize("option", ["--from", "--lines"])
@pytest.mark.parametrize("number", ["0", "-1"])
def test_get_of_no_lines_is_an_error_of_usage(oc, option, number):
    done = oc("memory", "get", "MEMORY.md", option, number)
    assert (2, "") == (done.status, done.out)


def test_a_line_number_of_thousands_of_digits_is_part_of_the_name(oc):
    assert 66 == oc("memory", "get", "memory/x.md#L" + "9" * 5000).status
