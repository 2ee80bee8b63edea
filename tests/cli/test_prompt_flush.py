"""The silent turn in `oc prompt`: when it is due, and before every compaction of a cycle that has had none."""

import json

import pytest

from tests.loopback import MODEL_ID, call, fail, say, serving
from tests.warm import Warm, server

KEY = "agent:main:main"
NOTE = "memory/2026-03-16.md"
SMALL = {
    "contextTokens": 6000,
    "compaction": {
        "reserveTokens": 1000,
        "reserveTokensFloor": 1000,
        "keepRecentTokens": 200,
        "memoryFlush": {"softThresholdTokens": 1000},
    },
}
FACT = "We moved the orders database to pg-b.internal:5432 because the old disk was full."
FILLER = "some words to fill the window with. "


@pytest.fixture(scope="module")
def forks():
    with server(llm=True) as made:
        yield made


@pytest.fixture
def oc(tmp_path, forks):
    made = Warm(tmp_path, forks)
    configure(made, SMALL)
    return made


def configure(oc, defaults):
    oc.state.mkdir(exist_ok=True)
    (oc.state / "oc.json").write_text(json.dumps({"agents": {"defaults": defaults}}))


def row(oc, key=KEY):
    return json.loads((oc.state / "agents" / "main" / "sessions" / "sessions.json").read_text())[key]


def entries(oc, key=KEY):
    path = oc.state / "agents" / "main" / "sessions" / f"{row(oc, key)['sessionId']}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


def note(oc):
    path = oc.workspace / NOTE
    return path.read_text() if path.exists() else ""


def fill(oc, tokens, key="main"):
    """Appends an answer after which the context has so many tokens."""
    oc("session", "open", key)
    oc("session", "append", key, "--role", "user", FACT)
    usage = {"input": tokens, "output": 10, "totalTokens": tokens + 10}
    said = {"role": "assistant", "content": [{"type": "text", "text": "Noted."}], "usage": usage, "stopReason": "stop"}
    assert 0 == oc("session", "append", key, stdin=json.dumps(said) + "\n").status


def test_the_turn_that_reaches_the_threshold_is_preceded_by_the_flush(oc):
    fill(oc, 3900, "other")
    assert 0 == oc("prompt", "-s", "other", "a short one").status
    assert "" == note(oc)
    fill(oc, 3900)
    ran = oc("prompt", "字" * 150, "--jsonl")
    assert (0, "") == (ran.status, ran.err)
    assert f"- {FACT}\n" in note(oc)
    events = ran.jsonl()
    kinds = [event["type"] for event in events]
    assert ["memory_flush_start", "memory_flush_end", "agent_start"] == kinds[:3]
    end = events[1]
    assert ("threshold", "written", NOTE, [1]) == tuple(end[n] for n in ("reason", "result", "path", "lines"))
    assert 0 == row(oc)["memoryFlushCompactionCount"]


def test_nothing_of_the_flush_is_in_the_transcript_or_on_the_screen(oc):
    fill(oc, 4500)
    before = len(entries(oc))
    ran = oc("prompt", "carry on")
    assert note(oc)
    assert ["user", "assistant"] == [entry["message"]["role"] for entry in entries(oc)[before:]]
    assert "pg-b" not in json.dumps(entries(oc)[before:])
    assert "NO_REPLY" not in ran.out


def test_a_cycle_has_one_flush_and_the_next_cycle_another(oc):
    """The count from before the compaction is stored: users saw a flush in every other cycle only."""
    oc("prompt", FACT)
    compactions = flushes = 0
    for n in range(60):
        ran = oc("prompt", f"Item {n} lives on host-{n}.internal:9000 now. " + FILLER * 20, "--jsonl")
        kinds = [event["type"] for event in ran.jsonl()]
        flushes += kinds.count("memory_flush_end")
        if "auto_compaction_end" in kinds:
            compactions += 1
            assert flushes >= compactions
            counts = row(oc)
            assert (compactions, compactions - 1) == (counts["compactionCount"], counts["memoryFlushCompactionCount"])
        if compactions == 3:
            break
    assert (3, 3) == (compactions, flushes)
    # What came between a flush and its compaction is read by the next flush.
    assert 0 == oc("flush").status
    noted = note(oc)
    assert [1] * (n + 1) == [noted.count(f"host-{item}.internal") for item in range(n + 1)]
    assert 1 == noted.count(FACT)


def test_an_overflow_is_preceded_by_the_flush_too(oc):
    """D25: the reference flushes before a turn only, so what grows inside one is compacted unflushed."""
    steps = (
        say("first"),
        say("second", usage={"prompt_tokens": 300, "completion_tokens": 2, "total_tokens": 302}),
        fail(400, "This model's maximum context length is 6000 tokens", "context_length_exceeded"),
        call(("memory_append", {"content": f"- {FACT}"}), first=3),
        say("NO_REPLY"),
        say("## Goal\n- go on\n"),
        say("answered"),
    )
    with serving(*steps) as loopback:
        loopback.configure(oc.home / "llm")
        oc("prompt", "-m", MODEL_ID, FACT + " word" * 1000)
        oc("prompt", "-m", MODEL_ID, "hello " * 200)
        ran = oc("prompt", "-m", MODEL_ID, "and now?", "--jsonl")
    assert 0 == ran.status, ran.err
    wanted = ("auto_compaction_start", "memory_flush_start", "memory_flush_end", "auto_compaction_end")
    assert list(wanted) == [event["type"] for event in ran.jsonl() if event["type"] in wanted]
    assert f"- {FACT}\n" == note(oc)
    assert (1, 0) == (row(oc)["compactionCount"], row(oc)["memoryFlushCompactionCount"])


def test_a_flush_that_fails_is_a_warning_and_tried_again(oc):
    fill(oc, 4500)
    with serving(fail(401, "no key"), say("answer"), say("NO_REPLY"), say("second answer")) as loopback:
        loopback.configure(oc.home / "llm")
        ran = oc("prompt", "-m", MODEL_ID, "go on")
        assert (0, "answer\n") == (ran.status, ran.out)
        assert "oc: warning: facts were not saved before the compaction: " in ran.err
        assert "memoryFlushAt" not in row(oc)
        fill(oc, 4500)
        again = oc("prompt", "-m", MODEL_ID, "go on")
    assert (0, "second answer\n") == (again.status, again.out)
    assert 0 == row(oc)["memoryFlushCompactionCount"]


def test_what_a_failed_flush_did_not_read_is_read_after_the_compaction(oc):
    """Users lost what was compacted while the flush could not run: the next one saw the summary only."""
    fill(oc, 4500)
    oc("session", "append", "main", "--role", "user", FILLER * 200)
    oc("compact", "--no-flush", "--keep-recent-tokens", "0", "--force")
    assert 1 == row(oc)["compactionCount"]
    assert 0 == oc("flush").status
    assert f"- {FACT}\n" in note(oc)


@pytest.mark.parametrize(
    ("key", "changed"),
    [
        ("agent:main:cron:nightly", {}),
        ("main", {"enabled": False}),
    ],
)
def test_cron_runs_and_switched_off_flushes_are_left_alone(oc, key, changed):
    compaction = {**SMALL["compaction"], "memoryFlush": {**SMALL["compaction"]["memoryFlush"], **changed}}
    configure(oc, {**SMALL, "compaction": compaction})
    fill(oc, 4500, key)
    assert 0 == oc("prompt", "-s", key, "go on").status
    assert "" == note(oc)


def test_a_transcript_that_is_large_is_flushed_whatever_its_tokens(oc):
    flush = {**SMALL["compaction"]["memoryFlush"], "forceFlushTranscriptBytes": "1kb"}
    configure(oc, {**SMALL, "compaction": {**SMALL["compaction"], "memoryFlush": flush}})
    fill(oc, 50)
    oc("session", "append", "main", "--role", "user", FILLER * 40)
    ran = oc("prompt", "go on", "--jsonl")
    assert "transcript-bytes" == ran.jsonl()[0]["reason"]
    assert FACT in note(oc)


def test_the_report_tells_of_it(oc, tmp_path):
    fill(oc, 4500)
    report = tmp_path / "why.jsonl"
    ran = oc("prompt", "-v", "go on", "--report", report)
    rows = [json.loads(line) for line in report.read_text().splitlines()]
    (flushed,) = [one for one in rows if one["stage"] == "flush"]
    assert ("written", "threshold", NOTE, [1]) == tuple(flushed[n] for n in ("action", "rule", "path", "lines"))
    assert f"saved: {NOTE}#L1" in ran.err


def test_the_report_tells_why_there_was_none(oc, tmp_path):
    fill(oc, 100)
    report = tmp_path / "why.jsonl"
    oc("prompt", "go on", "--report", report)
    gates = [row for line in report.read_text().splitlines() if (row := json.loads(line))["stage"] == "flush"]
    assert [("gate", "below", 4000)] == [(one["action"], one["rule"], one["threshold"]) for one in gates]
    assert 100 < gates[0]["tokensBefore"] < 4000
