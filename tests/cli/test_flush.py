"""`oc flush`: the gate, the note, the row, by the built-in model and by one on loopback."""

import json
import threading

import pytest

from tests.loopback import MODEL_ID, call, cut, fail, say, serving
from tests.warm import Warm, server

KEY = "agent:main:main"
NOTE = "memory/2026-03-16.md"
URL = "postgresql://shop@pg-b.internal:5432/orders"
SMALL = {
    "contextTokens": 4000,
    "compaction": {"reserveTokens": 500, "reserveTokensFloor": 500, "memoryFlush": {"softThresholdTokens": 500}},
}


@pytest.fixture(scope="module")
def forks():
    with server(llm=True) as made:
        yield made


@pytest.fixture
def oc(tmp_path, forks):
    return Warm(tmp_path, forks)


def configure(oc, **defaults):
    oc.state.mkdir(exist_ok=True)
    (oc.state / "oc.json").write_text(json.dumps({"agents": {"defaults": defaults}}))


def talk(oc, *texts, key="main"):
    """Appends what was said, user and assistant in turn."""
    oc("session", "open", key)
    for number, text in enumerate(texts):
        role = "assistant" if number % 2 else "user"
        assert 0 == oc("session", "append", key, "--role", role, text).status


def store(oc):
    return oc.state / "agents" / "main" / "sessions" / "sessions.json"


def row(oc, key=KEY):
    return json.loads(store(oc).read_text())[key]


def transcript(oc):
    return (store(oc).parent / f"{row(oc)['sessionId']}.jsonl").read_bytes()


def note(oc):
    path = oc.workspace / NOTE
    return path.read_text() if path.exists() else None


def files(oc):
    return sorted(str(path.relative_to(oc.state)) for path in oc.state.rglob("*") if path.is_file())


ENGLISH = (
    f"We move the database from pg-a to pg-b, the string is {URL}",
    "Done.",
    "Should the report use GraphQL?",
    "No. The REST API covers it.",
    "And CORS?",
    "Access-Control-Allow-Origin must be https://app.example.com, never a wildcard.",
)
CHINESE = (
    f"数据库从 pg-a 迁移到 pg-b，连接串是 {URL}",
    "好的。",
    "报表要不要用 GraphQL？",
    "不用。REST API 已经覆盖了。",
    "CORS 呢？",
    "Access-Control-Allow-Origin 必须是 https://app.example.com，不能用通配符。",
)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (ENGLISH, ["pg-a", URL, "GraphQL", "the rest api covers it", "https://app.example.com", "wildcard"]),
        (CHINESE, ["pg-a", URL, "GraphQL", "rest api 已经覆盖", "https://app.example.com", "通配符"]),
    ],
    ids=["en", "zh"],
)
def test_the_built_in_model_saves_value_reason_and_rule(oc, said, wanted):
    talk(oc, *said)
    before = transcript(oc)
    ran = oc("flush")
    assert (0, "") == (ran.status, ran.err)
    noted = note(oc)
    assert [] == [part for part in wanted if part.lower() not in noted.lower()]
    lines = noted.splitlines()
    assert [f"{NOTE}#L{n}\t{line}" for n, line in enumerate(lines, 1)] == ran.out.splitlines()
    assert all(line.startswith("- ") for line in lines)
    assert before == transcript(oc)
    ledger = [json.loads(line) for line in (oc.workspace / "memory" / ".oc-writes.jsonl").read_text().splitlines()]
    assert len(lines) == len(ledger)
    assert {("flush", KEY, row(oc)["sessionId"])} == {(one["by"], one["key"], one["session"]) for one in ledger}


def test_it_is_recorded_with_the_count_from_before_the_compaction_and_keeps_the_sessions_age(oc):
    talk(oc, *ENGLISH)
    rows = json.loads(store(oc).read_text())
    rows[KEY] |= {"compactionCount": 3, "updatedAt": 1773651500000, "unknown": {"kept": 1}}
    store(oc).write_text(json.dumps(rows))
    assert 0 == oc("flush").status
    found = row(oc)
    leaf = json.loads(transcript(oc).splitlines()[-1])["id"]
    assert (3, 1773651600000, leaf) == tuple(
        found[name] for name in ("memoryFlushCompactionCount", "memoryFlushAt", "memoryFlushEntryId")
    )
    assert (3, 1773651500000, {"kept": 1}) == (found["compactionCount"], found["updatedAt"], found["unknown"])


def test_what_was_read_is_not_read_again_and_what_comes_after_is(oc):
    talk(oc, *ENGLISH)
    oc("flush")
    again = oc("flush")
    assert (1, "", f"oc: nothing to flush in {KEY}: all of it was read before\n") == (
        again.status,
        again.out,
        again.err,
    )
    oc("session", "append", "main", "--role", "user", "The cache moved to redis-2.internal:6379")
    ran = oc("flush", "--json")
    assert ["- The cache moved to redis-2.internal:6379"] == [one["text"] for one in ran.json()["written"]]
    assert 1 == note(oc).count("redis-2")


def test_the_same_facts_twice_a_day_stand_once(oc):
    talk(oc, *ENGLISH)
    oc("flush")
    before = note(oc)
    oc("session", "reset", "main")
    talk(oc, *ENGLISH)
    ran = oc("flush")
    assert (0, "", f"oc: {KEY}: noted before\n") == (ran.status, ran.out, ran.err)
    assert before == note(oc)


def test_nothing_to_keep_writes_nothing_and_is_recorded(oc):
    talk(oc, "hello", "Hi, how are you?", "fine", "Good.")
    ran = oc("flush")
    assert (0, "", f"oc: {KEY}: nothing worth a note\n") == (ran.status, ran.out, ran.err)
    assert note(oc) is None
    assert 0 == row(oc)["memoryFlushCompactionCount"]


@pytest.mark.parametrize(
    ("zone", "now", "date"),
    [
        ("UTC", "2026-03-16T23:59:59Z", "2026-03-16"),
        ("UTC", "2026-03-17T00:00:00Z", "2026-03-17"),
        ("Asia/Shanghai", "2026-03-16T16:00:00Z", "2026-03-17"),
        ("America/Los_Angeles", "2027-01-01T07:59:00Z", "2026-12-31"),
    ],
)
def test_the_zone_decides_the_day(oc, zone, now, date):
    talk(oc, *ENGLISH)
    assert 0 == oc("flush", "--tz", zone, "--now", now).status
    assert [f"{date}.md"] == [path.name for path in (oc.workspace / "memory").glob("*.md")]


def test_check_asks_and_writes_nothing(oc):
    configure(oc, **SMALL)
    talk(oc, "word " * 1000)
    before = files(oc), store(oc).read_bytes()
    ran = oc("flush", "--check")
    assert (1, "", f"oc: {KEY}: not due: below\n") == (ran.status, ran.out, ran.err)
    oc("session", "append", "main", "--role", "user", "字" * 2000)
    stored = store(oc).read_bytes()
    ran = oc("flush", "--check")
    assert (0, "", f"oc: {KEY}: due: threshold\n") == (ran.status, ran.out, ran.err)
    assert (before[0], stored) == (files(oc), store(oc).read_bytes())


def test_if_due_acts_when_due_and_is_0_either_way(oc):
    configure(oc, **SMALL)
    talk(oc, *ENGLISH)
    assert 0 == oc("flush", "--if-due").status
    assert note(oc) is None
    talk(oc, "字" * 3000)
    assert 0 == oc("flush", "--if-due").status
    assert URL in note(oc)
    ran = oc("flush", "--if-due")
    assert (0, "", f"oc: {KEY}: not due: flushed\n") == (ran.status, ran.out, ran.err)
    assert 1 == oc("flush", "--check").status


def test_explain_tells_every_number_and_writes_nothing(oc):
    configure(oc, **SMALL)
    talk(oc, *ENGLISH)
    before = files(oc)
    ran = oc("flush", "--explain", "--json")
    assert (0, "") == (ran.status, ran.err)
    told = ran.json()
    assert (False, "below", 3000, 3500) == tuple(
        told[n] for n in ("due", "reason", "flushThreshold", "compactionTrigger")
    )
    assert (4000, "agents.defaults.contextTokens", 500, 500, 500) == tuple(
        told[n] for n in ("windowTokens", "windowOrigin", "reserveTokensFloor", "softThresholdTokens", "reserveTokens")
    )
    assert told["tokens"] == told["contextTokens"] == told["unflushedTokens"] > 0
    assert (6, "oc-offline", NOTE) == (told["unflushedMessages"], told["model"], told["path"])
    lines = dict(line.split("\t") for line in oc("flush", "--explain").out.splitlines())
    assert ("false", "below", "3000") == (lines["due"], lines["reason"], lines["flushThreshold"])
    assert before == files(oc)


@pytest.mark.parametrize(
    ("compaction", "warned"),
    [
        ({"reserveTokens": 50_000}, "a flush is due at 176000 tokens, a compaction at 150000: the flush never comes"),
        ({"reserveTokensFloor": 300_000}, "the window of 200000 tokens is too small for a flush"),
        ({}, None),
    ],
)
def test_explain_warns_of_a_trigger_that_never_comes_first(oc, compaction, warned):
    configure(oc, compaction=compaction)
    talk(oc, "hello")
    ran = oc("flush", "--explain", "--json")
    assert 0 == ran.status
    if warned is None:
        assert (None, "") == (ran.json()["warning"], ran.err)
    else:
        assert ran.json()["warning"].startswith(warned)
        assert f"oc: warning: {warned}" in ran.err


def test_a_dry_run_shows_what_would_be_written_and_writes_nothing(oc):
    talk(oc, *ENGLISH)
    before = files(oc), store(oc).read_bytes()
    ran = oc("flush", "--dry-run")
    assert (0, "") == (ran.status, ran.err)
    assert f"{NOTE}#L1\t- We move the database" in ran.out
    assert before == (files(oc), store(oc).read_bytes())


def test_the_report_names_the_gate_and_each_line(oc, tmp_path):
    talk(oc, *ENGLISH)
    report = tmp_path / "why.jsonl"
    oc("flush", "--report", report)
    rows = [json.loads(line) for line in report.read_text().splitlines()]
    assert ("gate", "below") == (rows[0]["action"], rows[0]["rule"])
    assert note(oc).splitlines() == [one["text"] for one in rows[1:-1]]
    assert ("summary", "written", 6) == tuple(rows[-1][name] for name in ("action", "rule", "messages"))


def test_sessions_that_cannot_be_flushed_are_refused(oc):
    talk(oc, "hello")
    assert 2 == oc("flush", "-").status
    assert 66 == oc("flush", "nobody").status
    assert 2 == oc("flush", "--check", "--if-due").status


def test_a_transcript_without_a_key_is_flushed_but_not_recorded(oc, tmp_path):
    talk(oc, *ENGLISH)
    path = tmp_path / "copy.jsonl"
    path.write_bytes(transcript(oc))
    before = store(oc).read_bytes()
    ran = oc("flush", path)
    assert 0 == ran.status
    assert "no row in which the flush could be recorded" in ran.err
    assert URL in note(oc)
    assert (before, 1) == (store(oc).read_bytes(), oc("flush", "--check", path).status)


# --- with a model


def ask(oc, *steps, args=()):
    with serving(*steps) as loopback:
        loopback.configure(oc.home / "llm")
        ran = oc("flush", "-m", MODEL_ID, *args)
    return ran, loopback


def test_a_model_is_shown_the_conversation_and_one_tool(oc):
    talk(oc, *ENGLISH)
    ran, loopback = ask(oc, call(("memory_append", {"content": "- database: pg-b"})), say("NO_REPLY"))
    assert (0, f"{NOTE}#L1\t- database: pg-b\n", "") == (ran.status, ran.out, ran.err)
    assert "- database: pg-b\n" == note(oc)
    first, second = loopback.requests
    assert ["memory_append"] == [tool["function"]["name"] for tool in first["tools"]]
    roles = [message["role"] for message in first["messages"]]
    assert ["system", *["user", "assistant"] * 3, "user"] == roles
    asked = first["messages"][-1]["content"]
    assert "memory/2026-03-16.md" in json.dumps(asked)
    assert "Current time: Monday, March 16th, 2026" in json.dumps(asked)
    assert ["assistant", "tool"] == [message["role"] for message in second["messages"][-2:]]


def test_a_model_with_nothing_to_say_leaves_no_note(oc):
    talk(oc, *ENGLISH)
    ran, _ = ask(oc, say("NO_REPLY"))
    assert (0, "") == (ran.status, ran.out)
    assert note(oc) is None
    assert 0 == row(oc)["memoryFlushCompactionCount"]


def test_another_file_is_refused_and_the_model_told(oc):
    talk(oc, *ENGLISH)
    steps = (
        call(("memory_append", {"content": "x", "path": "MEMORY.md"}), ("write", {"path": "MEMORY.md"})),
        call(("memory_append", {"content": "- y", "path": f"./{NOTE}"}), first=7),
        say("NO_REPLY"),
    )
    ran, loopback = ask(oc, *steps)
    assert 0 == ran.status
    assert "- y\n" == note(oc)
    assert [NOTE] == [str(path.relative_to(oc.workspace)) for path in oc.workspace.rglob("*.md")]
    told = [message["content"] for message in loopback.requests[1]["messages"] if message["role"] == "tool"]
    assert [f"this turn writes to {NOTE} and to nothing else", "there is no tool 'write' in this session"] == told


BROKEN = [
    (cut("- half a no"), "broke off before its end"),
    (say("text", finish="length"), "ended with length"),
    (say("text", finish="content_filter"), "stopped the answer: content_filter"),
    (fail(401, "no key"), "no key"),
]


@pytest.mark.parametrize("first", [(), (call(("memory_append", {"content": "- a fact"})),)], ids=["at-once", "later"])
@pytest.mark.parametrize(("step", "reason"), BROKEN, ids=["cut", "length", "filter", "401"])
def test_what_ends_in_any_other_way_is_no_note(oc, first, step, reason):
    """Not even what an earlier call of the same flush gave: nothing is written, nothing recorded."""
    talk(oc, *ENGLISH)
    before = files(oc), store(oc).read_bytes(), transcript(oc)
    ran, _ = ask(oc, *first, step)
    assert (69, "") == (ran.status, ran.out)
    assert reason in ran.err
    assert before == ([f for f in files(oc) if "llm" not in f], store(oc).read_bytes(), transcript(oc))


def test_a_cut_call_is_no_note(oc):
    talk(oc, *ENGLISH)
    broken = call(("memory_append", {"content": "- a fact"}))
    broken.broken = True
    ran, _ = ask(oc, broken)
    assert (69, None) == (ran.status, note(oc))


def test_a_conversation_larger_than_the_window_is_read_in_parts(oc):
    configure(oc, **{**SMALL, "contextTokens": 3000})
    talk(oc, *("数据" * 700, "好的" * 300) * 3)
    ran, loopback = ask(oc, say("NO_REPLY"))
    assert 0 == ran.status
    assert len(loopback.requests) >= 3
    shown = json.dumps([request["messages"][1:] for request in loopback.requests], ensure_ascii=False)
    assert 3 * 700 == shown.count("数据")
    for request in loopback.requests:
        assert sum(1 for c in json.dumps(request["messages"], ensure_ascii=False) if "一" <= c <= "鿿") < 2500


def test_a_second_flush_waits_and_finds_nothing_left(oc):
    talk(oc, *ENGLISH)
    gate = threading.Event()
    step = call(("memory_append", {"content": "- once"}), text="thinking")
    step.gate = gate
    with serving(step, say("NO_REPLY")) as loopback:
        loopback.configure(oc.home / "llm")
        first = oc.popen("flush", "-m", MODEL_ID)
        while not loopback.requests:
            assert first.poll() is None
        busy = oc("flush", "--lock-timeout", "50")
        gate.set()
        assert 0 == first.wait(60)
    assert 75 == busy.status
    assert 1 == oc("flush").status
    assert "- once\n" == note(oc)


@pytest.mark.parametrize("form", ["--json", "--jsonl"])
def test_every_form_of_a_flush_prints_one_document_when_nothing_is_written(oc, form):
    configure(oc, **SMALL)
    talk(oc, "hello")
    told = {"session": KEY, "due": False, "reason": "below"}
    ran = oc(form, "flush", "--check")
    assert (1, told) == (ran.status, json.loads(ran.out))
    ran = oc(form, "flush", "--if-due")
    assert (0, {"written": [], "result": "not-due", "path": None, **told}) == (ran.status, json.loads(ran.out))
    ran = oc(form, "flush")
    assert (0, "nothing") == (ran.status, json.loads(ran.out)["result"])
    ran = oc(form, "flush")
    assert (1, "unread") == (ran.status, json.loads(ran.out)["result"])


@pytest.mark.parametrize("form", ["--json", "--jsonl"])
def test_a_check_that_finds_a_flush_due_prints_a_document(oc, form):
    configure(oc, **SMALL)
    talk(oc, "字" * 3000)
    ran = oc(form, "flush", "--check")
    assert (0, {"session": KEY, "due": True, "reason": "threshold"}) == (ran.status, json.loads(ran.out))
