"""The commands that look: show, tail, list, path, check. None of them creates, repairs or rolls over anything."""

import hashlib
import json
import os
import subprocess

import pytest

from tests.support import OC, Oc, testdata

HEADER = b'{"type":"session","version":3,"id":"s","timestamp":"2026-03-16T09:00:00.000Z","cwd":"/"}\n'


def line(kind, entry_id, parent, second, rest):
    """An entry, with bytes that no serialiser of ours would write."""
    head = f'{{"type":"{kind}", "id":"{entry_id}","parentId":{parent},"timestamp":"2026-03-16T09:00:0{second}.000Z",'
    return f"{head}{rest}}}\n".encode()


A = line("message", "a", "null", 1, '"message":{"role":"user","content":"1"},"n":12345678901234567890123')
B = line("message", "b", '"a"', 2, '"message":{"role":"user","content":"2"}')
C = line("compaction", "c", '"b"', 3, '"summary":"S","firstKeptEntryId":"b","tokensBefore":9')
D = line("message", "d", '"c"', 4, '"message":{"role":"user","content":"4"}')
SUMMARY = line(
    "message",
    "c",
    '"b"',
    3,
    '"message":{"role":"compactionSummary","summary":"S","tokensBefore":9,"timestamp":1773651603000}',
).replace(b", ", b",")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(HEADER + A + B + C + D)
    return path


def tree(folder):
    """Every file with its bytes, to show that nothing changed."""
    return {p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_show_prints_the_bytes_there_are(oc, file):
    for argument, stdin in ((file, ""), ("-", file.read_bytes())):
        ran = oc("session", "show", argument, stdin=stdin)
        assert (0, file.read_bytes(), "") == (ran.status, ran.raw, ran.err)


def test_show_context_and_entries_keep_bytes(oc, file):
    ran = oc("session", "show", file, "--context")
    assert (0, SUMMARY + B + D, "") == (ran.status, ran.raw, ran.err)
    assert A + B + C + D == oc("session", "show", file, "--entries").raw
    messages = oc("session", "show", file, "--messages").jsonl()
    assert ["compactionSummary", "user", "user"] == [m["role"] for m in messages]


def test_show_last(oc, file):
    assert C + D == oc("session", "show", file, "--last", "2").raw
    assert D == oc("session", "show", file, "--context", "--last", "1").raw
    assert b"" == oc("session", "show", file, "--last", "0").raw
    assert A + B + C + D == oc("session", "show", file, "--last", "99").raw


def test_the_published_excerpt(oc):
    path = testdata("transcripts", "sample-v7.jsonl")
    ran = oc("session", "show", path, "--context")
    assert ["comp_1", "m21"] == [entry["id"] for entry in ran.jsonl()]
    assert ran.raw.splitlines()[1] == path.read_bytes().splitlines()[-1]
    ran = oc("session", "check", path)
    assert 1 == ran.status
    assert f"{path}:6\twarning\tno-parent\tno parentId; read as a child of the entry before\n" in ran.out
    assert f"{path}:7\terror\tmissing-parent\tthe parent m20 is not in the file" in ran.out


def test_a_large_real_transcript_is_checked_and_not_changed(oc):
    path = testdata("transcripts", "pi-v1-large.jsonl")
    before = hashlib.sha256(path.read_bytes()).digest()
    ran = oc("session", "check", path)
    assert 0 == ran.status
    assert [f"{path}:1", "note", "old-version"] == ran.out.split("\t")[:3]
    # The session holds three answers that were interrupted while a call was written.
    assert 3 * ["half-call"] == [line.split("\t")[2] for line in ran.out.splitlines()[1:]]
    assert 1 == oc("session", "check", "--strict", path).status
    assert 1018 == len(oc("session", "show", path, "--entries").out.splitlines())
    assert before == hashlib.sha256(path.read_bytes()).digest()


def test_bad_lines_are_left_out_and_counted_never_quoted(oc, tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(HEADER + A + b"sk-secret\n" + B + b"[1]\n" + b'{"torn')
    for form in ([], ["--context"], ["--entries"]):
        ran = oc("session", "show", path, *form)
        assert (0, (b"" if form else HEADER) + A + B) == (ran.status, ran.raw)
        assert f"oc: warning: {path}: 3 lines are no entries and left out: 3, 5, 6\n" == ran.err
    ran = oc("session", "check", path, "--json")
    assert 1 == ran.status
    assert [(3, "unparsable"), (5, "not-an-object"), (6, "torn")] == [
        (f["line"], f["code"]) for f in ran.json()["findings"]
    ]
    assert "secret" not in ran.out + ran.err


def unreadable(tmp_path, name):
    """Makes one of the things that are no transcript."""
    path = tmp_path / "bad.jsonl"
    make = {
        "missing": lambda: None,
        "directory": path.mkdir,
        "below a file": lambda: path.parent.joinpath("file").write_bytes(b""),
        "empty": lambda: path.write_bytes(b""),
        "blank": lambda: path.write_bytes(b"\n \n"),
        "binary": lambda: path.write_bytes(bytes(range(256)) * 40),
        "no header": lambda: path.write_bytes(A + HEADER),
        "list": lambda: path.write_bytes(b"[]\n"),
        "huge line": lambda: path.write_bytes(b"x" * 50_000_000 + b"\n"),
    }
    make[name]()
    return path if name != "below a file" else tmp_path / "file" / "bad.jsonl"


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("missing", 66, "no such file"),
        ("directory", 74, "is a directory"),
        ("below a file", 66, "no such file"),
        ("empty", 65, "empty, no session header"),
        ("blank", 65, "empty, no session header"),
        ("binary", 65, "no session header"),
        ("no header", 65, "no session header before the first entry"),
        ("list", 65, "no session header"),
        ("huge line", 65, "no session header"),
    ],
)
def test_what_is_no_transcript_gets_one_line_and_a_status(oc, tmp_path, name, status, message):
    path = unreadable(tmp_path, name)
    before = tree(tmp_path)
    line = ":1" if status == 65 and "empty" not in message else ""
    for command in (["show"], ["show", "--context"], ["append", "--role", "user", "x"]):
        ran = oc("session", command[0], path, *command[1:])
        assert (status, "", f"oc: {path}{line}: {message}\n") == (ran.status, ran.out, ran.err)
    assert before == tree(tmp_path)
    if status == 65:
        assert 1 == oc("session", "check", path).status
    ran = oc("session", "show", path, "--json")
    assert {"status": status, "message": message} == {k: ran.json()["error"][k] for k in ("status", "message")}


def test_a_header_alone_is_an_empty_session(oc, tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(HEADER)
    assert (0, b"", "") == (oc("session", "show", path, "--context").status, b"", "")
    assert (0, "") == (oc("session", "check", path).status, oc("session", "check", path).out)


def test_unknown_sessions_make_nothing(oc):
    for command in (["show"], ["tail"], ["path"], ["check"], ["open", "--peek"], ["reset"], ["show", "nope"]):
        ran = oc("session", *command)
        assert (66, "") == (ran.status, ran.out), command
        assert ran.err.startswith("oc: no session "), command
    assert (1, "", "") == (oc("session", "list").status, "", "")
    assert not oc.state.exists()


def test_looking_at_a_stale_session_does_not_roll_it_over(oc):
    oc("session", "open", "main")
    oc("session", "append", "main", "--role", "user", "x")
    before = tree(oc.state)
    later = Oc(oc.home, OC_NOW="2026-04-16T09:00:00Z")
    commands = (["show"], ["show", "--context"], ["tail"], ["list", "--stale"], ["path"], ["check"], ["open", "--peek"])
    for command in commands:
        assert 0 == later("session", *command).status, command
    assert later("session", "open", "--peek", "--json").json()["isFresh"] is False
    assert before == tree(oc.state)


def test_list_sorts_by_use_and_counts_what_is_there(oc):
    oc("session", "open", "main")
    Oc(oc.home, OC_NOW="2026-03-16T09:00:05Z")("session", "open", "telegram:group:7")
    (oc.state / "agents/main/sessions/orphan.jsonl").write_bytes(HEADER)
    ran = oc("session", "list", "--json")
    rows = ran.json()["sessions"]
    assert ["agent:main:telegram:group:7", "agent:main:main"] == [row["key"] for row in rows]
    assert ["group", "direct"] == [row["chatType"] for row in rows]
    assert [os.path.getsize(row["path"]) for row in rows] == [row["bytes"] for row in rows]
    assert "agent:main:telegram:group:7\n" == oc("session", "list", "--keys", "-n", "1").out
    assert [None] == [row["key"] for row in oc("session", "list", "--all", "--jsonl").jsonl()][2:]
    assert "key\tsessionId\tupdatedAt\tbytes\tisFresh" == oc("session", "list", "--tsv").out.splitlines()[0]
    assert 1 == oc("session", "list", "--stale").status


def test_path_and_the_default_session(oc, file):
    oc("session", "open", "work")
    path = oc("session", "path", "work").out.strip()
    assert path == oc("session", "path", OC_SESSION="work").out.strip()
    assert path == oc("session", "path", "agent:main:WORK").out.strip()
    assert f"{file}\n" == oc("session", "path", file).out


def test_tail_prints_the_last_entries(oc, file):
    assert A + B + C + D == oc("session", "tail", file).raw
    assert D == oc("session", "tail", "-n", "1", file).raw
    assert b"" == oc("session", "tail", "-n", "0", file).raw
    with open(file, "ab") as more:
        more.write(b"junk\n" + B.replace(b'"b"', b'"e"') + b'{"half')
    ran = oc("session", "tail", "-n", "2", file)
    assert D + B.replace(b'"b"', b'"e"') == ran.raw
    assert f"oc: warning: {file}: 1 of the last lines are no entries and left out\n" == ran.err


def test_tail_follows_what_is_appended_and_ends_with_the_file(oc, file):
    with open(file, "ab") as more:
        more.write(B[:20])
    process = oc.popen("session", "tail", "-f", "-n", "1", str(file), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert D == process.stdout.readline()
    with open(file, "ab") as more:
        more.write(B[20:])
    assert B == process.stdout.readline()
    os.rename(file, f"{file}.reset.2026-03-16T09-00-00.000Z")
    out, err = process.communicate(timeout=30)
    assert (b"", 0) == (out, process.returncode)
    assert b"was moved or replaced" in err


def test_a_full_disk_and_a_closed_pipe_behind_stdout(oc, file):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*OC, "session", "show", file], env=oc.environ, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (74, b"oc: no space left on device\n") == (done.returncode, done.stderr)
    file.write_bytes(HEADER + A * 3000)
    process = oc.popen("session", "show", str(file), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    assert (141, b"") == (process.wait(timeout=30), process.stderr.read())
    process.stderr.close()


def test_a_terminal_is_not_waited_for(oc):
    import pty

    ours, theirs = pty.openpty()
    done = subprocess.run(
        [*OC, "session", "show", "-"], env=oc.environ, stdin=theirs, capture_output=True, check=False, timeout=30
    )
    os.close(ours)
    os.close(theirs)
    assert (2, b"") == (done.returncode, done.stdout)


def test_several_files_are_checked_in_order(oc, file, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_bytes(HEADER + b"x\n")
    ran = oc("session", "check", other, file, other, "--jsonl")
    assert (1, [str(other), str(other)]) == (ran.status, [json.loads(line)["path"] for line in ran.out.splitlines()])
