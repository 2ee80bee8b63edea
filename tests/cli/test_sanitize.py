"""`oc sanitize` as people and pipes run it."""

import json
import os

import pytest

from tests.support import testdata

MISSING = "[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair."


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def entry(entry_id, parent_id, message):
    stamp = "2026-03-16T09:00:00.000Z"
    return {"type": "message", "id": entry_id, "parentId": parent_id, "timestamp": stamp, "message": message}


def user(text):
    return {"role": "user", "content": text}


def calling(call_id="call_1"):
    return {"role": "assistant", "content": [{"type": "toolCall", "id": call_id, "name": "read", "arguments": {}}]}


def result(call_id="call_1"):
    content = [{"type": "text", "text": "data"}]
    return {"role": "toolResult", "toolCallId": call_id, "toolName": "read", "content": content, "isError": False}


HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-03-16T09:00:00.000Z", "cwd": "/"}
COMPACTION = {
    "type": "compaction",
    "id": "c1",
    "parentId": "m3",
    "timestamp": "2026-03-16T09:00:00.000Z",
    "summary": "S",
    "firstKeptEntryId": "m2",
    "tokensBefore": 5,
}
TRANSCRIPT = lines(
    HEADER,
    entry("m1", None, user("one")),
    entry("m2", "m1", user("two")),
    entry("m3", "m2", calling()),
    COMPACTION,
    entry("m4", "c1", user("three")),
)


def test_messages_stay_messages_and_lines_that_do_not_change_their_bytes(oc):
    odd = '{"content" : "hi", "role":"user", "x":1.0, "big":12345678901234567890123}\n'
    done = oc("sanitize", "--provider", "anthropic", stdin=odd + lines(calling("a")))
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(odd)
    assert [m["role"] for m in done.jsonl()] == ["user", "assistant", "toolResult"]
    assert done.jsonl()[2] == {
        "role": "toolResult",
        "toolCallId": "a",
        "toolName": "read",
        "content": [{"type": "text", "text": MISSING}],
        "isError": True,
        "timestamp": 1773651600000,
    }


def test_a_transcript_yields_its_washed_context(oc, tmp_path):
    (tmp_path / "s.jsonl").write_text(TRANSCRIPT)
    done = oc("sanitize", "s.jsonl", "--provider", "google")
    assert (done.status, done.err) == (0, "")
    found = [(e["id"], e["parentId"], e["message"]["role"]) for e in done.jsonl()]
    assert found == [
        ("c1", "m3", "compactionSummary"),
        ("m2", "m1", "user"),
        ("m3", "m2", "assistant"),
        (found[3][0], "m3", "toolResult"),
        ("m4", "c1", "user"),
    ]
    assert len(found[3][0]) == 8
    assert oc("sanitize", "--provider", "google", stdin=done.out).out == done.out


def test_merged_messages_keep_the_line_of_the_first(oc):
    done = oc(
        "sanitize", "--provider", "anthropic", stdin=lines(entry("a", None, user("x")), entry("b", "a", user("y")))
    )
    blocks = [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]
    assert done.jsonl() == [entry("a", None, user(blocks))]


def test_every_line_of_a_transcript_stays_one_chain(oc, tmp_path):
    (tmp_path / "s.jsonl").write_text(TRANSCRIPT)
    done = oc("sanitize", "s.jsonl", "--provider", "anthropic", "--all-entries")
    assert (done.status, done.err) == (0, "")
    header, first, call, made, compaction, last = done.jsonl()
    assert header == HEADER
    assert (first["id"], first["parentId"], len(first["message"]["content"])) == ("m1", None, 2)
    assert (call["id"], call["parentId"]) == ("m3", "m1")
    assert (made["parentId"], compaction["parentId"], last["parentId"]) == ("m3", made["id"], "c1")
    # What it kept first has become part of the message before it.
    assert compaction == COMPACTION | {"parentId": made["id"], "firstKeptEntryId": "m1"}
    (tmp_path / "t.jsonl").write_text(done.out)
    assert [e["id"] for e in oc("session", "show", "--context", "t.jsonl").jsonl()] == [
        "c1",
        "m1",
        "m3",
        made["id"],
        "m4",
    ]


def test_branches_keep_hanging_where_they_hung(oc, tmp_path):
    empty = {"role": "assistant", "content": [], "stopReason": "aborted"}
    given = lines(
        HEADER,
        entry("m1", None, user("one")),
        entry("m2", "m1", empty),
        entry("m3", "m2", calling("a")),
        entry("m4", "m3", result("a")),
        entry("m5", "m2", user("other way")),
    )
    (tmp_path / "s.jsonl").write_text(given)
    done = oc("sanitize", "s.jsonl", "--only", "aborted", "--all-entries")
    assert [(e["id"], e["parentId"]) for e in done.jsonl()[1:]] == [
        ("m1", None),
        ("m3", "m1"),
        ("m4", "m3"),
        ("m5", "m1"),
    ]


def test_the_report_names_every_decision_with_its_entry(oc, tmp_path):
    (tmp_path / "s.jsonl").write_text(TRANSCRIPT)
    oc("sanitize", "s.jsonl", "--model", "claude-opus-4-6", "--report", "why.jsonl")
    told = [json.loads(line) for line in (tmp_path / "why.jsonl").read_text().splitlines()]
    assert told == [
        {"stage": "reasoning", "action": "gate", "rule": "policy"},
        {
            "stage": "ids",
            "action": "change",
            "index": 2,
            "role": "assistant",
            "tool": "read",
            "charsBefore": 6,
            "charsAfter": 6,
            "rule": "strict-id",
            "entryId": "m3",
        },
        {
            "stage": "pairs",
            "action": "add",
            "index": 2,
            "role": "toolResult",
            "tool": "read",
            "charsBefore": 0,
            "charsAfter": 105,
            "rule": "missing-result",
            "entryId": "m3",
        },
        {
            "stage": "usage",
            "action": "change",
            "index": 2,
            "role": "assistant",
            "tool": "read",
            "charsBefore": 6,
            "charsAfter": 6,
            "rule": "usage-form",
            "entryId": "m3",
        },
        {
            "stage": "sanitize",
            "action": "summary",
            "linesBefore": 4,
            "linesAfter": 5,
            "provider": "anthropic",
            "api": "anthropic-messages",
            "model": "claude-opus-4-6",
            "rule": "flag",
        },
    ]


def test_the_model_is_that_of_the_configuration_unless_named(oc):
    oc.state.mkdir()
    config = {
        "agents": {"defaults": {"model": "house/gemini-local"}},
        "models": {"providers": {"house": {"api": "google-generative-ai"}}},
    }
    (oc.state / "oc.json").write_text(json.dumps(config))
    given = lines({"role": "assistant", "content": [{"type": "text", "text": "welcome"}]})
    done = oc("-v", "sanitize", stdin=given)
    assert done.jsonl()[0] == {"role": "user", "content": "(session bootstrap)", "timestamp": 1773651600000}
    assert done.err == "washed for house/gemini-local (google-generative-ai), from oc.json\n"
    other = oc("-v", "sanitize", "--provider", "openai", stdin=given)
    assert len(other.jsonl()) == 1
    assert other.err == "washed for openai (openai-responses), from flag\n"


def test_a_session_is_washed_for_the_model_it_is_set_to(oc):
    key = oc("session", "open", "main")
    assert key.status == 0
    store = oc.state / "agents" / "main" / "sessions" / "sessions.json"
    rows = json.loads(store.read_text())
    rows["agent:main:main"] |= {"providerOverride": "mistral", "modelOverride": "mistral-large"}
    store.write_text(json.dumps(rows))
    oc("session", "append", "main", stdin=lines(calling("x"), result("x")))
    done = oc("-v", "sanitize", "main")
    assert done.err == "washed for mistral/mistral-large (mistral-conversations), from session\n"
    assert [len(e["message"].get("toolCallId", "#" * 9)) for e in done.jsonl()] == [9, 9]


def test_images_over_the_configured_side_are_named(oc):
    oc.state.mkdir()
    (oc.state / "oc.json").write_text('{"agents": {"defaults": {"imageMaxDimensionPx": 3}}}')
    png = "iVBORw0KGgoAAAANSUhEUgAAAAQAAAACCAYAAAB/qH1jAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    done = oc("sanitize", stdin=lines(user([{"type": "image", "data": png, "mimeType": "image/png"}])))
    text = "[session:history] omitted image payload: 4x2 px, the limit is 3 px"
    assert done.jsonl() == [user([{"type": "text", "text": text}])]


def test_a_real_session_washes_to_itself(oc, tmp_path):
    file = testdata("transcripts", "pi-v1-large.jsonl")
    once = oc("sanitize", file, "--provider", "google")
    assert (once.status, once.err) == (0, "")
    assert len(once.out.splitlines()) == 889
    again = oc("sanitize", "--provider", "google", "--report", "why.jsonl", stdin=once.raw)
    assert again.raw == once.raw
    told = [json.loads(line)["action"] for line in (tmp_path / "why.jsonl").read_text().splitlines()]
    assert set(told) == {"gate", "summary"}


@pytest.mark.parametrize(
    ("args", "stdin", "status", "error"),
    [
        (["nosuch.jsonl"], "", 66, "oc: nosuch.jsonl: no such file\n"),
        (["."], "", 66, "oc: no session '.'\n"),
        (["./"], "", 74, "oc: ./: is a directory\n"),
        ([], "\x00\x01\n", 65, "oc: stdin:1: no line is a JSON object\n"),
        ([], lines(user("a"), entry("a", None, user("b"))), 65, "oc: stdin:2: no message among messages\n"),
        (["--only", "ids,nose"], "", 2, "oc: no stage 'nose'\n"),
        (["--report", "/nosuch/x"], "", 74, "oc: /nosuch/x: no such file or directory\n"),
    ],
    ids=["missing", "unknown", "directory", "binary", "mixed", "stage", "report"],
)
def test_what_cannot_be_used_is_named(oc, args, stdin, status, error):
    done = oc("sanitize", *args, stdin=stdin)
    assert (done.status, done.out) == (status, "")
    assert done.err.startswith(error)


def test_nothing_comes_out_of_nothing(oc):
    done = oc("sanitize", "--provider", "google", stdin="")
    assert (done.status, done.out, done.err) == (0, "", "")


def test_a_reader_that_goes_away_is_141_and_a_full_disk_74(oc):
    given = lines(*[user("x" * 1000)] * 200)
    reader, writer = os.pipe()
    os.close(reader)
    child = oc.popen("sanitize", stdin=-1, stdout=writer, stderr=-1)
    os.close(writer)
    assert child.communicate(given.encode()) == (None, b"")
    assert child.returncode == 141
    with open("/dev/full", "wb") as full:
        child = oc.popen("sanitize", stdin=-1, stdout=full, stderr=-1)
        _, error = child.communicate(given.encode())
    assert (child.returncode, error) == (74, b"oc: no space left on device\n")
