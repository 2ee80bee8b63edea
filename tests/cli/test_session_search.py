"""Finding sessions and what stands in them: list, grep, tail -f."""

import json
import signal
import subprocess

import pytest

from tests.session.openclaw_database import Database, message, talk
from tests.support import NOW_MS, Oc


@pytest.fixture
def many(oc):
    """Sessions of several classes, used one minute apart."""
    keys = ("main", "telegram:direct:42", "telegram:group:-1:topic:4", "cron:nightly:run:7", "notes")
    for minutes, key in enumerate(keys):
        here = Oc(oc.home, OC_NOW=str(NOW_MS + minutes * 60_000))
        assert 0 == here("session", "append", key, "--create", "--role", "user", f"said in {key}").status
    return Oc(oc.home, OC_NOW=str(NOW_MS + 600_000))


def keys(ran):
    return [line.removeprefix("agent:main:") for line in ran.out.splitlines()]


def test_list_by_class(many):
    ran = many("session", "list", "--keys", "--class", "direct", "--class", "cron")
    assert (0, ["cron:nightly:run:7", "telegram:direct:42"]) == (ran.status, keys(ran))
    assert ["notes"] == keys(many("session", "list", "--keys", "--class", "other"))
    assert ["telegram:group:-1:topic:4"] == keys(many("session", "list", "--keys", "--class", "group"))
    assert (1, "") == (
        many("session", "list", "--class", "node").status,
        many("session", "list", "--class", "node").out,
    )
    assert "cron" == many("session", "list", "-n", "2", "--json").json()["sessions"][1]["class"]


def test_keys_for_xargs(many):
    ran = many("session", "list", "--keys", "-0", "-n", "2")
    assert (0, b"agent:main:notes\0agent:main:cron:nightly:run:7\0") == (ran.status, ran.raw)
    for args in (["-0"], ["-0", "--keys", "--json"], ["--all", "--stale"], ["--due", "nothing"]):
        assert 2 == many("session", "list", *args).status


def test_due_for_compaction(many):
    """By the row where it knows the size, else by the context itself."""
    assert 1 == many("session", "list", "--due", "compact").status
    assert 0 == many("session", "set", "notes", "contextTokens=20001").status
    assert ["notes"] == keys(many("session", "list", "--due", "compact", "--keys"))
    store = many.state / "agents/main/sessions/sessions.json"
    rows = json.loads(store.read_text())
    rows["agent:main:main"] |= {"totalTokens": 190_000, "totalTokensFresh": True}
    rows["agent:main:telegram:direct:42"] |= {"totalTokens": 190_000, "totalTokensFresh": False}
    rows["agent:main:gone"] = {"sessionId": "gone", "updatedAt": 1}
    store.write_text(json.dumps(rows))
    assert ["notes", "main"] == keys(many("session", "list", "--due", "compact", "--keys"))


def test_list_of_stale_sessions(many):
    later = Oc(many.home, OC_NOW="2026-03-17T03:00:00Z")
    assert 1 == later("session", "list", "--stale", "--keys").status
    later = Oc(many.home, OC_NOW="2026-03-17T09:00:00Z")
    assert 5 == len(keys(later("session", "list", "--stale", "--keys")))
    assert 5 == len(keys(many("session", "list", "--keys")))


def test_grep_prints_file_and_line(many):
    ran = many("session", "grep", "said in (main|notes)")
    first, second = (line.split("\t") for line in ran.out.splitlines())
    assert (0, ["user", "said in main"]) == (ran.status, first[1:])
    assert first[0].endswith(".jsonl:2")
    assert "said in notes" == second[2]
    (hit,) = many("session", "grep", "notes", "notes", "--json").json()["hits"]
    assert (2, "user", "said in notes") == (hit["line"], hit["kind"], hit["text"])
    assert {"path", "place", "entryId"} < set(hit)
    assert (1, "") == (many("session", "grep", "nowhere").status, many("session", "grep", "nowhere").out)


def test_grep_counts_and_names(many):
    paths = {many("session", "path", key).out.strip() for key in ("main", "notes")}
    ran = many("session", "grep", "-l", "-i", "IN (MAIN|NOTES)")
    assert (0, paths) == (ran.status, set(ran.out.splitlines()))
    ran = many("session", "grep", "-c", "said", "main", "notes")
    assert (0, {f"{path}\t1" for path in paths}) == (ran.status, set(ran.out.splitlines()))
    assert (1, "0") == (
        many("session", "grep", "-c", "x", "main").status,
        many("session", "grep", "-c", "x", "main").out.split()[-1],
    )


def test_grep_of_fixed_text_and_role(many):
    assert 1 == many("session", "grep", "-F", "(main").status
    many("session", "append", "main", "--role", "assistant", "(main) it is")
    assert 1 == len(many("session", "grep", "-F", "(main)").out.splitlines())
    assert 1 == len(many("session", "grep", "main", "main", "--role", "assistant").out.splitlines())
    ran = many("session", "grep", "(")
    assert (2, "") == (ran.status, ran.out)
    assert "hint: -F takes the pattern as it stands" in ran.err
    assert 2 == many("session", "grep", "-c", "-l", "x").status


def test_grep_looks_into_calls_summaries_and_thoughts(oc, tmp_path):
    call = {"type": "toolCall", "id": "1", "name": "read", "arguments": {"path": "汉字/a.md"}}
    found = [
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "perhaps"}, call]},
        {"role": "toolResult", "toolCallId": "1", "toolName": "read", "content": "x" * 999 + " needle " + "y" * 999},
        {"type": "custom_message", "customType": "c", "content": [{"type": "text", "text": "in custom"}]},
    ]
    path = tmp_path / "s.jsonl"
    oc("session", "append", path, "--create", stdin="".join(json.dumps(m) + "\n" for m in found))
    for pattern, line in (("perhaps", 2), ("read .*汉字", 2), ("needle", 3), ("in custom", 4)):
        (hit,) = oc("session", "grep", pattern, path, "--jsonl").jsonl()
        assert line == hit["line"], pattern
        assert len(hit["text"]) < 250
    assert 1 == oc("session", "grep", "^needle", path).status
    assert oc("session", "grep", "needle", "-", stdin=path.read_text()).out.startswith("stdin:3\t")


def test_grep_of_all_goes_on_past_what_cannot_be_read(many):
    bad = many.state / "agents/main/sessions/bad.jsonl"
    bad.write_text('{"no":"header"}\n')
    ran = many("session", "grep", "said in main")
    assert (0, 1) == (ran.status, len(ran.out.splitlines()))
    assert ran.err.startswith(f"oc: warning: {bad}:1:")
    assert (65, 66) == (many("session", "grep", "x", bad).status, many("session", "grep", "x", "nope").status)


def follow(oc, session):
    process = oc.popen("session", "tail", "-f", "-n", "1", session, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return process, lambda: json.loads(process.stdout.readline())["message"]["content"][0]["text"]


def test_tail_follows_a_session_to_its_next_transcript(many):
    process, line = follow(many, "main")
    assert "said in main" == line()
    many("session", "append", "main", "--role", "user", "more")
    assert "more" == line()
    many("session", "reset", "main", "--no-note")
    many("session", "append", "main", "--role", "user", "anew")
    assert "anew" == line()
    process.send_signal(signal.SIGINT)
    assert b"rolled over to" in process.communicate(timeout=30)[1]
    assert 130 == process.returncode


def test_tail_goes_on_where_it_was_in_a_file_that_was_replaced(many):
    path = many("session", "path", "main").out.strip()
    process, line = follow(many, path)
    assert "said in main" == line()
    with open(path, "rb") as file:
        data = file.read()
    new = many.home / "new"
    more = json.dumps({"type": "message", "id": "n", "message": {"role": "user", "content": [{"text": "more"}]}})
    new.write_bytes(data + more.encode() + b"\n")
    new.replace(path)
    assert "more" == line()
    process.kill()
    process.communicate(timeout=30)


def test_looking_changes_nothing(many):
    """Not even a stale session, a torn line or a missing transcript."""
    folder = many.state / "agents/main/sessions"
    with open(many("session", "path", "notes").out.strip(), "ab") as file:
        file.write(b'{"type":"mess')
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    later = Oc(many.home, OC_NOW="2026-03-19T09:00:00Z")
    for args in (
        ["list", "--stale"],
        ["list", "--due", "compact"],
        ["grep", "said"],
        ["tree", "notes"],
        ["show", "notes", "--leaf", "x"],
        ["name", "notes"],
        ["branch", "notes", "x", "--dry-run"],
        ["set", "notes", "label=x", "--dry-run"],
        ["tail", "notes"],
        ["open", "notes", "--peek"],
    ):
        later("session", *args)
    assert before == {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_tail_follows_a_session_in_openclaws_database(oc):
    """The gateway goes on writing; its rows are read anew."""
    made = Database(oc.state / "agents" / "main" / "agent" / "openclaw-agent.sqlite")
    made.key("agent:main:main", "s-main")
    events = talk("s-main", "hello", "there")
    made.transcript("s-main", events, key="agent:main:main")
    process = oc.popen("session", "tail", "-f", "-n", "1", "main", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert "there" == json.loads(process.stdout.readline())["message"]["content"]
    more = json.dumps(message("s-main-2", "s-main-1", "user", "more"))
    made.connection.execute("INSERT INTO transcript_events VALUES ('s-main', 3, ?, NULL, ?, ?)", (more, len(more), 0))
    made.connection.commit()
    assert "more" == json.loads(process.stdout.readline())["message"]["content"]
    process.kill()
    process.communicate(timeout=30)
    made.close()
