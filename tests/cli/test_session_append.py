import hashlib
import json
import resource
import subprocess

import pytest

from tests.support import OC, Oc, testdata

USER = '{"role":"user","content":"hi"}\n'
ENTRY = (
    '{"type":"message","id":"e1","parentId":"elsewhere","timestamp":"2026-01-01T00:00:00.000Z",'
    '"message":{"role":"user","content":"x"}}\n'
)


@pytest.fixture
def main(oc):
    """An open session; its transcript's path."""
    ran = oc("session", "open", "main", "--json")
    assert (0, "") == (ran.status, ran.err)
    oc.file = oc.home / ran.json()["path"]
    return oc


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_messages_from_stdin_become_entries_on_the_leaf(main):
    ran = main("session", "append", "main", stdin=USER + '{"role":"assistant","content":[]}\n')
    _, one, two = lines(main.file)
    assert (0, "", [one["id"], two["id"]]) == (ran.status, ran.err, ran.out.split())
    assert [None, one["id"]] == [one["parentId"], two["parentId"]]
    assert {"role": "user", "content": "hi"} == one["message"]
    ran = main("session", "append", "main", "--json", stdin=USER)
    (row,) = ran.json()["entries"]
    assert {"id": lines(main.file)[-1]["id"], "parentId": two["id"], "path": str(main.file)} == row


def test_a_text_becomes_a_message(main):
    assert 0 == main("session", "append", "main", "--role", "user", "你好", stdin=None).status
    assert 0 == main("session", "append", "main", "--role", "assistant", "hello", stdin=None).status
    _, one, two = lines(main.file)
    assert {"role": "user", "content": [{"type": "text", "text": "你好"}], "timestamp": 1773651600000} == one["message"]
    # What Pi's own readers expect of every assistant message is there.
    assert {"api", "provider", "model", "usage", "stopReason"} < set(two["message"])
    assert 0 == two["message"]["usage"]["cost"]["total"]


def test_entries_keep_their_ids_and_fields(main):
    main("session", "append", "main", stdin=USER)
    ran = main("session", "append", "main", stdin=ENTRY.replace('"id"', '"new":{"a":1},"id"'))
    assert (0, "e1\n") == (ran.status, ran.out)
    first, second = lines(main.file)[1:]
    assert (first["id"], {"a": 1}, "2026-01-01T00:00:00.000Z") == (
        second["parentId"],
        second["new"],
        second["timestamp"],
    )
    again = main("session", "append", "main", stdin=ENTRY.replace("e1", "e2") + ENTRY)
    assert (65, "") == (again.status, again.out)
    assert f"oc: {main.file}:3: there is an entry with the id e1 already\n" == again.err
    assert 3 == len(lines(main.file))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("{broken\n", "the line is not JSON"),
        ("42\n", "the line is JSON but not an object"),
        ('{"role":"compactionSummary","summary":"S"}\n', "a compactionSummary message is made from an entry"),
        (ENTRY.replace('"user"', '"custom"'), "a custom message is made from an entry"),
        (ENTRY.replace('"role":"user",', ""), "the entry holds no message with a role"),
        ('{"type":"session","version":3,"id":"x"}\n', "a header cannot be appended"),
        ('{"a":1}\n', "neither a message nor an entry"),
        ('{"type":"custom","id":7}\n', "the entry's id is not a string"),
        ('{"role":7}\n', "the entry holds no message with a role"),
        ('{"type":"mess', "the last line is not finished"),
    ],
)
def test_one_bad_line_and_nothing_is_written(main, bad, message):
    before = main.file.read_bytes()
    ran = main("session", "append", "main", stdin=USER + bad)
    assert (65, "") == (ran.status, ran.out)
    assert ran.err.startswith(f"oc: stdin:2: {message}")
    assert 1 == ran.err.count("\n")
    assert before == main.file.read_bytes()


def test_the_same_id_twice_in_the_input(main):
    ran = main("session", "append", "main", stdin=ENTRY + ENTRY)
    assert (65, "oc: stdin:2: the id e1 stands on line 1 already\n") == (ran.status, ran.err)


def test_an_unknown_session_is_66_unless_it_may_be_created(main):
    ran = main("session", "append", "mian", stdin=USER)
    assert (66, "", "oc: no session 'mian'\nhint: near: main\n") == (ran.status, ran.out, ran.err)
    ran = main("session", "append", "Other", "--create", stdin=USER)
    assert (0, "") == (ran.status, ran.err)
    found = main("session", "open", "other", "--peek", "--json").json()
    assert ("agent:main:other", False) == (found["key"], found["isNew"])
    assert 2 == len(main("session", "show", "other").out.splitlines())
    ran = main("session", "append", "a b", "--create", stdin=USER)
    assert (2, "oc: a new session key cannot hold white space: 'agent:main:a b'\n") == (ran.status, ran.err)


def test_a_path_is_appended_to_and_created_too(oc, tmp_path):
    ran = oc("session", "append", "new.jsonl", "--create", stdin=USER, cwd=tmp_path)
    header, one = lines(tmp_path / "new.jsonl")
    assert (0, str(tmp_path), one["id"]) == (ran.status, header["cwd"], ran.out.strip())
    assert not oc.state.exists()
    ran = oc("session", "append", "none.jsonl", stdin=USER, cwd=tmp_path)
    assert (66, "oc: none.jsonl: no such file\n") == (ran.status, ran.err)


def test_from_marks_user_messages_only_and_never_twice(main):
    own = '{"role":"user","content":"y","provenance":{"kind":"external_user"}}\n'
    ran = main("session", "append", "main", "--from", "Other", stdin=USER + own + '{"role":"assistant","content":[]}\n')
    assert 0 == ran.status
    one, two, three = (line["message"] for line in lines(main.file)[1:])
    assert {"kind": "inter_session", "sourceSessionKey": "agent:main:other"} == one["provenance"]
    assert {"kind": "external_user"} == two["provenance"]
    assert "provenance" not in three
    main("session", "append", "main", "--from", "main", stdin=USER)
    session_id = main.file.name.removesuffix(".jsonl")
    expected = {"kind": "inter_session", "originSessionId": session_id, "sourceSessionKey": "agent:main:main"}
    assert expected == lines(main.file)[-1]["message"]["provenance"]


def test_dry_run_checks_and_writes_nothing(main):
    before = main.file.read_bytes()
    ran = main("session", "append", "main", "--dry-run", "--jsonl", stdin=ENTRY)
    assert (0, "e1") == (ran.status, ran.jsonl()[0]["id"])
    assert 66 == main("session", "append", "none", "--create", "--dry-run", stdin=USER).status
    assert 65 == main("session", "append", "main", "--dry-run", stdin="{").status
    assert before == main.file.read_bytes()


def test_no_input_is_no_change(main):
    before = main.file.read_bytes()
    ran = main("session", "append", "main", stdin="\n\n")
    assert (0, "", "") == (ran.status, ran.out, ran.err)
    assert before == main.file.read_bytes()


def test_usage(oc):
    for args in (["main", "text"], ["main", "--role", "user"], ["-"], ["main", "--role", "toolResult", "x"], []):
        assert 2 == oc("session", "append", *args).status, args


def test_a_held_lock_is_75_with_the_pid(main):
    with subprocess.Popen(["sleep", "60"]) as holder:
        lock = main.file.with_name(main.file.name + ".lock")
        lock.write_text(json.dumps({"pid": holder.pid, "createdAt": "2026-03-16T09:00:00.000Z"}))
        ran = main("session", "append", "main", "--lock-timeout", "50", stdin=USER)
        holder.kill()
    assert (75, "") == (ran.status, ran.out)
    assert ran.err.startswith(f"oc: {lock}: locked by process {holder.pid}\n")
    assert 0 == main("session", "append", "main", stdin=USER).status  # its owner is gone now
    assert not lock.exists()


def test_a_full_disk_leaves_the_transcript_as_it_was(main):
    before = main.file.read_bytes()
    done = subprocess.run(
        [*OC, "session", "append", str(main.file)],
        input=json.dumps({"role": "user", "content": "x" * 5000}).encode(),
        env=main.environ,
        cwd=main.home,
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )
    assert 74 == done.returncode
    assert f"oc: {main.file}: file too large\n" == done.stderr.decode()
    assert before == main.file.read_bytes()
    assert 0 == main("session", "append", "main", stdin=USER).status


def test_a_version_1_file_gets_one_entry_more_and_its_original_is_kept(oc, tmp_path):
    source = testdata("transcripts", "pi-v1-large.jsonl").read_bytes()
    path = tmp_path / "old.jsonl"
    path.write_bytes(source)
    ids = [e["id"] for e in oc("session", "show", path, "--entries").jsonl()]
    ran = oc("session", "append", path, "--role", "user", "x", stdin=None)
    backup = tmp_path / "old.jsonl.v1-2026-03-16T09-00-00.000Z.bak"
    assert (0, f"oc: warning: {path}: rewritten as version 3; the original is {backup}\n") == (ran.status, ran.err)
    assert hashlib.sha256(source).digest() == hashlib.sha256(backup.read_bytes()).digest()
    assert [*ids, ran.out.strip()] == [e["id"] for e in lines(path)[1:]]
    ran = oc("session", "check", path)
    # Three of its answers were interrupted while a call was written.
    assert (0, 3 * ["half-call"]) == (ran.status, [line.split("\t")[2] for line in ran.out.splitlines()])


def test_the_session_counts_as_used(main):
    store = main.state / "agents/main/sessions/sessions.json"
    later = Oc(main.home, OC_NOW=str(1773651600000 + 60_000))
    later("session", "append", "main", stdin=USER)
    assert 1773651600000 + 60_000 == json.loads(store.read_text())["agent:main:main"]["updatedAt"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ('{"type":"compaction"}', "a compaction needs a summary, which is a string"),
        ('{"type":"compaction","summary":"S"}', "a compaction needs a firstKeptEntryId, which is a string"),
        ('{"type":"compaction","summary":"S","firstKeptEntryId":7}', "a compaction needs a firstKeptEntryId, which is"),
        ('{"type":"branch_summary","summary":["S"]}', "a branch_summary needs a summary, which is a string"),
        ('{"role":"system","content":"x"}', "no message has the role 'system'"),
        ('{"type":"message","message":{"role":"tool","content":"x"}}', "no message has the role 'tool'"),
        ('{"role":"user"}', "the content of the user message is neither text nor a list"),
        ('{"role":"assistant","content":{}}', "the content of the assistant message is neither text nor a list"),
        ('{"role":"toolResult","content":[]}', "the toolResult message has no toolCallId, which is a string"),
        ('{"role":"toolResult","toolCallId":7,"content":[]}', "the toolResult message has no toolCallId, which is"),
        (
            '{"type":"compaction","summary":"S","firstKeptEntryId":"none"}',
            "the compaction keeps an entry that is not before it",
        ),
        (
            '{"type":"compaction","id":"c1","summary":"S","firstKeptEntryId":"c1"}',
            "the compaction keeps an entry that is not before it",
        ),
    ],
)
def test_what_readers_could_not_use_is_not_stored(main, bad, message):
    before = main.file.read_bytes()
    for more in ((), ("--dry-run",)):
        ran = main("session", "append", "main", *more, stdin=USER + "\n" + bad + "\n")
        assert (65, "") == (ran.status, ran.out)
        assert ran.err.startswith(f"oc: stdin:3: {message}")
    assert before == main.file.read_bytes()


def test_a_compaction_keeps_what_is_on_the_path_or_before_it_in_the_input(main):
    compaction = '{"type":"compaction","summary":"S","firstKeptEntryId":"%s"}\n'
    assert 0 == main("session", "append", "main", stdin=USER + ENTRY + compaction % "e1").status
    assert 0 == main("session", "append", "main", stdin=compaction % "e1").status
    assert 0 == main("session", "branch", "main", "e1", "--before").status
    ran = main("session", "append", "main", stdin=compaction % "e1")
    assert (65, "oc: stdin:1: the compaction keeps an entry that is not before it\n") == (ran.status, ran.err)
    assert 0 == main("session", "append", "main", stdin='{"type":"new_kind","summary":7}\n').status


def test_a_dry_run_fails_as_the_real_run_does(oc, tmp_path):
    for args, status in (((), 66), (("--create",), 0)):
        ran = oc("session", "append", "none.jsonl", "--role", "user", "x", "--dry-run", *args, cwd=tmp_path)
        assert status == ran.status
        assert status == 0 or "oc: none.jsonl: no such file\n" == ran.err
    (tmp_path / "bad.jsonl").write_text('{"type":"message"}\n')
    for args in (("--dry-run",), ()):
        ran = oc("session", "append", "bad.jsonl", "--role", "user", "x", *args, cwd=tmp_path)
        assert (65, "oc: bad.jsonl:1: no session header before the first entry\n") == (ran.status, ran.err)
    assert ["bad.jsonl"] == [p.name for p in tmp_path.iterdir() if p.suffix == ".jsonl"]
