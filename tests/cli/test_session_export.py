"""`oc session export`: Markdown and one page, to stdout or into a file that is replaced as a whole."""

import os

import pytest

from tests.support import disk_operations, run_killed, testdata

KEY = "sk-abcdefghijklmnop1234567890"


@pytest.fixture
def session(oc):
    oc("session", "append", "main", "--create", "--role", "user", f"my key is {KEY}")
    oc("session", "append", "main", "--role", "assistant", "Noted, <b>and</b> hidden.")
    return oc


def test_markdown(session):
    ran = session("session", "export", "--md")
    assert (0, "") == (ran.status, ran.err)
    assert f"## User · 2026-03-16T09:00:00.000Z\n\nmy key is {KEY}\n" in ran.out
    assert "Noted, \\<b>and\\</b> hidden." in ran.out


def test_a_page(session):
    ran = session("session", "export", "main", "--html")
    assert (0, "") == (ran.status, ran.err)
    assert ran.out.startswith("<!DOCTYPE html>")
    assert "Noted, &lt;b&gt;and&lt;/b&gt; hidden." in ran.out


@pytest.mark.parametrize("form", ["--md", "--html"])
def test_redact(session, form):
    ran = session("session", "export", form, "--redact")
    assert KEY not in ran.out
    assert "my key is" in ran.out
    assert KEY in session("session", "export", form).out


def test_into_a_file_whose_name_says_the_form(session, tmp_path):
    target = tmp_path / "out.html"
    ran = session("session", "export", "-o", target)
    assert (0, "", "") == (ran.status, ran.out, ran.err)
    assert session("session", "export", "--html").raw == target.read_bytes()
    assert 0o600 == target.stat().st_mode & 0o777
    assert 0 == session("session", "export", "-o", tmp_path / "out.md").status
    assert (tmp_path / "out.md").read_text().startswith("# ")


def test_stdin_leaf_and_folding(session):
    lines = session("session", "show").raw
    first = session("session", "show", "--entries").jsonl()[0]["id"]
    ran = session("session", "export", "-", "--md", "--leaf", first, stdin=lines)
    assert 0 == ran.status
    assert "Noted" not in ran.out
    bash = b'{"type":"message","id":"x","parentId":null,"timestamp":"2026-03-16T09:00:00.000Z","message":'
    bash += b'{"role":"toolResult","toolName":"t","content":"out"}}\n'
    one = lines.split(b"\n", 1)[0] + b"\n" + bash
    assert "<details>" in session("session", "export", "-", "--md", stdin=one).out
    assert (
        "**Result of t**\n\n```text\nout\n```" in session("session", "export", "-", "--md", "--no-fold", stdin=one).out
    )
    assert "[3 more" in session("session", "export", "-", "--md", "--max-result-chars", "0", stdin=one).out


def test_errors(session, tmp_path):
    ran = session("session", "export")
    assert (2, "oc: one of --md and --html is expected\n") == (ran.status, ran.err)
    assert 66 == session("session", "export", "nobody", "--md").status
    ran = session("session", "export", "--md", "--leaf", "nowhere")
    assert 66 == ran.status
    assert ran.err.endswith(": no entry nowhere\n")
    ran = session("session", "export", "--md", "-o", tmp_path / "no" / "x.md")
    assert (74, f"oc: {tmp_path}/no/x.md: no such file or directory\n") == (ran.status, ran.err)
    (tmp_path / "bad.jsonl").write_text("{}\n")
    assert 65 == session("session", "export", tmp_path / "bad.jsonl", "--md").status


def test_lines_that_are_no_entries_are_told(session, tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(session("session", "show").raw + b"junk\n")
    ran = session("session", "export", path, "--html")
    assert (0, f"oc: warning: {path}: 1 line is no entry and left out: 4\n") == (ran.status, ran.err)


def test_a_file_is_the_old_or_the_new_one_whenever_it_dies(session, tmp_path):
    target = tmp_path / "out.md"
    args = ["session", "export", "--md", "-o", target]
    operations = disk_operations(session, args)
    new = target.read_bytes()
    for at in range(1, len(operations) + 1):
        target.write_bytes(b"old")
        assert -9 == run_killed(session, at, args, half=True)[0]
        assert target.read_bytes() in (b"old", new)


def test_real_transcripts(oc):
    for name in ("pi-v1-large.jsonl", "sample-v7.jsonl"):
        path = testdata("transcripts", name)
        for form in ("--md", "--html"):
            ran = oc("session", "export", path, form, "--redact")
            assert (0, "") == (ran.status, ran.err)
            assert len(ran.raw) > os.path.getsize(path) // 10
