"""`oc guard` as people and pipes run it."""

import json

import pytest

from tests.support import testdata

NOTICE = "[truncated: output exceeded context limit]"
PLACEHOLDER = "[compacted: tool output removed to free context]"
STAMP = "2026-03-16T09:00:00.000Z"
HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": STAMP, "cwd": "/"}


def lines(*values):
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def entry(entry_id, parent_id, message):
    return {"type": "message", "id": entry_id, "parentId": parent_id, "timestamp": STAMP, "message": message}


def user(text):
    return {"role": "user", "content": text}


def calling(call_id):
    return {"role": "assistant", "content": [{"type": "toolCall", "id": call_id, "name": "read", "arguments": {}}]}


def result(call_id, text, **more):
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": call_id, "toolName": "read", "content": content, **more}


TRANSCRIPT = lines(
    HEADER,
    entry("m1", None, user("folded")),
    entry("m2", "m1", calling("a")),
    entry("m3", "m2", result("a", "a" * 5000)),
    {"type": "compaction", "id": "k", "parentId": "m3", "timestamp": STAMP, "summary": "S", "firstKeptEntryId": "m2"},
    entry("m4", "k", calling("b")),
    entry("m5", "m4", result("b", "b" * 900, details={"n": 1})),
    entry("m6", "m5", user("go on")),
)


def report(oc):
    return [json.loads(line) for line in (oc.home / "why.jsonl").read_text().splitlines()]


def texts(done):
    messages = [value.get("message", value) for value in done.jsonl()]
    return [m["content"][0]["text"] for m in messages if m.get("role") == "toolResult"]


def test_what_fits_keeps_its_bytes(oc):
    odd = '{"content" : "hi", "role":"user", "x":1.0, "big":12345678901234567890123}\n\n{"role":"tool","content":7}\n'
    done = oc("guard", stdin=odd)
    assert (done.status, done.out, done.err) == (0, odd.replace("\n\n", "\n"), "")


def test_a_result_above_its_share_is_cut_and_told(oc):
    """The line of the message alone changes, and the report says from where the window comes."""
    other = '{"role" : "user","content":"q"}\n'
    done = oc("guard", "--window", "2000", "--report", "why.jsonl", stdin=other + lines(result("a", "x" * 5000)))
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(other)
    assert texts(done) == ["x" * 1957 + "\n" + NOTICE]
    assert report(oc) == [
        {
            "stage": "guard",
            "action": "truncate",
            "index": 1,
            "role": "toolResult",
            "tool": "read",
            "charsBefore": 5000,
            "charsAfter": 2000,
            "tokensBefore": 2500,
            "tokensAfter": 1000,
            "rule": "singleShare",
        },
        {"stage": "guard", "action": "gate", "rule": "contextBudget", "tokensBefore": 1001},
        {
            "stage": "guard",
            "action": "summary",
            "messages": 2,
            "truncated": 1,
            "stripped": 0,
            "cleared": 0,
            "tokensBefore": 2501,
            "tokensAfter": 1001,
            "budgetTokens": 1500,
            "windowTokens": 2000,
            "windowOrigin": "--window",
        },
    ]


def test_the_context_of_a_transcript_is_guarded_and_ids_stay(oc):
    (oc.home / "s.jsonl").write_text(TRANSCRIPT)
    done = oc("guard", "s.jsonl", "--window", "700", "--report", "why.jsonl")
    assert (done.status, done.err) == (0, "")
    given = [json.loads(line) for line in TRANSCRIPT.splitlines()]
    found = done.jsonl()
    assert [e["id"] for e in found] == ["k", "m2", "m3", "m4", "m5", "m6"]
    assert [e["message"]["role"] for e in found][:2] == ["compactionSummary", "assistant"]
    assert found[2] == {**given[3], "message": result("a", PLACEHOLDER)}
    assert found[4] == {**given[6], "message": result("b", "b" * 900)}
    assert [(r["action"], r.get("entryId")) for r in report(oc)] == [
        ("clear", "m3"), ("strip", "m5"), ("summary", None),
    ]  # fmt: skip


def test_all_entries_come_out_as_a_transcript(oc):
    (oc.home / "s.jsonl").write_text(TRANSCRIPT)
    done = oc("guard", "s.jsonl", "--all-entries", "--window", "2000")
    before, after = TRANSCRIPT.splitlines(), done.out.splitlines()
    assert [n for n, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == [3]
    assert json.loads(after[3])["parentId"] == "m2"


def test_twice_is_once(oc):
    given = lines(*(m for n in range(8) for m in (calling(f"c{n}"), result(f"c{n}", "日志 line\n" * 90 * n))))
    once = oc("guard", "--window", "2000", stdin=given)
    assert once.out != given
    again = oc("guard", "--window", "2000", "--report", "why.jsonl", stdin=once.raw)
    assert (again.status, again.raw) == (0, once.raw)
    assert [row["action"] for row in report(oc)] == ["gate", "summary"]


def test_the_window_of_the_session_counts(oc):
    key = oc("session", "append", "main", "--create", stdin=lines(user("q"), calling("a"), result("a", "x" * 9000)))
    assert key.status == 0
    store = oc.state / "agents" / "main" / "sessions" / "sessions.json"
    rows = json.loads(store.read_text())
    rows["agent:main:main"]["contextTokens"] = 3000
    store.write_text(json.dumps(rows))
    done = oc("guard", "main", "--report", "why.jsonl")
    assert [len(text) for text in texts(done)] == [3000]
    assert [report(oc)[-1][name] for name in ("windowTokens", "windowOrigin")] == [3000, "session"]


def test_a_model_names_its_window(oc):
    oc.state.mkdir()
    models = {"providers": {"local": {"models": [{"id": "tiny", "contextWindow": 4000}]}}}
    (oc.state / "oc.json").write_text(json.dumps({"models": models}))
    given = lines(result("a", "x" * 9000))
    assert [len(t) for t in texts(oc("guard", "-m", "local/tiny", stdin=given))] == [4000]
    assert [len(t) for t in texts(oc("guard", stdin=given))] == [9000]


def test_counters_differ_in_what_wide_text_weighs(oc):
    given = lines(result("a", "数据库" * 400))
    kept = {
        count: texts(oc("guard", "--window", "3000", "--count", count, stdin=given))[0]
        for count in ("estimate", "chars4", "tiktoken")
    }
    assert kept["chars4"] == "数据库" * 400
    assert len(kept["estimate"]) < len(kept["tiktoken"]) == 1200
    wrong = oc("guard", "--count", "words", stdin=given)
    assert (wrong.status, wrong.out) == (2, "")
    assert wrong.err.startswith("oc: no counter 'words'\n")


def test_more_than_results_can_free_is_a_warning(oc):
    given = lines(user("u" * 8000), result("a", "short"))
    done = oc("guard", "--window", "1000", "--report", "why.jsonl", stdin=given)
    assert (done.status, done.out) == (0, given)
    assert done.err == "oc: warning: 1253 tokens over the budget, with no result left that could give way\n"
    assert [row["action"] for row in report(oc)] == ["over", "summary"]


def test_persist_caps_as_when_stored(oc):
    """The head, the tail that says how it ended, and how to read the rest; other messages stay, however long."""
    long = "head\n" + "x" * 400_000 + "\nTraceback: failed with exit code 3"
    given = lines(user("u" * 400_001), result("a", long, details={"full": "y"}), result("b", "x" * 400_000))
    done = oc("guard", "--persist", "--report", "why.jsonl", stdin=given)
    assert (done.status, done.err) == (0, "")
    before, after = given.splitlines(), done.out.splitlines()
    assert (after[0], after[2]) == (before[0], before[2])
    capped = json.loads(after[1])
    text = capped["content"][0]["text"]
    assert capped["details"] == {"full": "y"}
    assert len(text) <= 400_000
    assert text.startswith("head\nxxx")
    assert "middle content omitted" in text
    assert "Traceback: failed with exit code 3\n\n" in text
    assert "Use offset/limit parameters" in text
    told = report(oc)
    assert [(row["action"], row.get("rule"), row.get("index")) for row in told] == [
        ("truncate", "maxStoredChars", 1), ("summary", None, None),
    ]  # fmt: skip
    assert told[1] == {"stage": "guard", "action": "summary", "messages": 3, "truncated": 1, "maxChars": 400_000}
    again = oc("guard", "--persist", stdin=done.raw)
    assert again.raw == done.raw


@pytest.mark.parametrize("option", [("--window", "9"), ("-m", "x"), ("--count", "chars4")])
def test_persist_knows_no_window(oc, option):
    done = oc("guard", "--persist", *option, stdin="")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("oc: --persist goes by characters")


def test_bad_input_is_named(oc):
    done = oc("guard", stdin="nonsense\n")
    assert (done.status, done.out) == (65, "")
    assert done.err.startswith("oc: stdin:1: no line is a JSON object")
    assert oc("guard", "nobody").status == 66
    assert oc("guard", "--window", "0", stdin="").status == 2


def test_a_report_that_cannot_be_written_comes_before_any_output(oc):
    done = oc("guard", "--report", "no/such/folder/why.jsonl", stdin=lines(user("q")))
    assert (done.status, done.out) == (74, "")


def test_filters_go_together(oc):
    """A real session, washed and guarded, still pairs its calls; what was left alone has its bytes."""
    path = testdata("transcripts", "pi-v1-large.jsonl")
    washed = oc("sanitize", path, "--provider", "anthropic")
    done = oc("guard", "--window", "120000", stdin=washed.raw)
    assert (done.status, done.err) == (0, "")
    before, after = washed.out.splitlines(), done.out.splitlines()
    changed = [json.loads(b)["message"] for a, b in zip(before, after, strict=True) if a != b]
    assert changed
    assert {message["role"] for message in changed} == {"toolResult"}
    assert oc("sanitize", "--provider", "anthropic", "--only", "pairs", stdin=done.raw).raw == done.raw
