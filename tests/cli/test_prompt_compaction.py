"""Threshold compaction at the end of a turn, by the built-in model and by one on loopback."""

import json

import pytest

from tests.loopback import MODEL_ID, call, cut, fail, say, serving
from tests.warm import Warm, server

KEY = "agent:main:main"
# Flushes before a compaction have tests of their own (test_prompt_flush.py).
NO_FLUSH = {"memoryFlush": {"enabled": False}}
SMALL = {
    "contextTokens": 4000,
    "compaction": {"reserveTokens": 1000, "reserveTokensFloor": 0, "keepRecentTokens": 200, **NO_FLUSH},
}
BIG = {"prompt_tokens": 3500, "completion_tokens": 20, "total_tokens": 3520}


@pytest.fixture(scope="module")
def forks():
    with server(llm=True) as made:
        yield made


@pytest.fixture
def oc(tmp_path, forks):
    made = Warm(tmp_path, forks)
    made.state.mkdir()
    (made.state / "oc.json").write_text(json.dumps({"agents": {"defaults": SMALL}}))
    return made


def sessions(oc):
    return oc.state / "agents" / "main" / "sessions"


def entries(oc):
    (path,) = sessions(oc).glob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


def row(oc):
    return json.loads((sessions(oc) / "sessions.json").read_text())[KEY]


def two_turns(oc, loopback, *args):
    """A long turn and one that fills what is kept, after which the model counts 3520 tokens."""
    loopback.configure(oc.home / "llm")
    oc("prompt", "-m", MODEL_ID, "word " * 2000)
    return oc("prompt", "-m", MODEL_ID, *args, "hello " * 200)


def test_the_built_in_model_compacts_and_facts_survive(oc):
    oc("prompt", "The release port is 5433 and the owner is Müller.")
    for n in range(12):
        assert 0 == oc("prompt", f"Item {n}: " + "some words to fill the window with. " * 20).status
    compactions = [entry for entry in entries(oc) if entry["type"] == "compaction"]
    assert compactions
    assert "5433" in compactions[-1]["summary"]
    assert "oc-offline" == compactions[-1]["details"]["summariser"]
    assert len(compactions) == row(oc)["compactionCount"]
    shown = oc("session", "show", "main", "--messages").jsonl()
    assert "compactionSummary" == shown[0]["role"]
    assert 0 == oc("session", "check", "main").status


def test_a_model_is_asked_and_what_it_says_is_stored(oc):
    with serving(say("first"), say("ok", usage=BIG), say("## Goal\n- ship\n")) as loopback:
        ran = two_turns(oc, loopback, "--jsonl", "--report", oc.home / "why.jsonl")
    assert (0, "") == (ran.status, ran.err)
    system, asked = loopback.requests[2]["messages"]
    assert ("system", "user") == (system["role"], asked["role"])
    assert "<conversation>" in asked["content"]
    last = entries(oc)[-1]
    assert ("compaction", "## Goal\n- ship", MODEL_ID) == (last["type"], last["summary"], last["details"]["summariser"])
    events = {event["type"]: event for event in ran.jsonl()}
    assert "threshold" == events["auto_compaction_start"]["reason"]
    assert last["id"] == events["auto_compaction_end"]["result"]["id"]
    stored = row(oc)
    assert (1, True) == (stored["compactionCount"], stored["totalTokensFresh"])
    assert stored["totalTokens"] < 3520
    rows = [json.loads(line) for line in (oc.home / "why.jsonl").read_text().splitlines()]
    assert [("compact", "compact", "threshold")] == [
        (r["stage"], r["action"], r["rule"]) for r in rows if r["stage"] == "compact"
    ]


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (cut("## Goal half"), "the summary is not whole: it ended with no finish reason"),
        (say("## Goal half", finish="length"), "the summary is not whole: it ended with length"),
        (say("## Goal half", finish="content_filter"), "the summary is not whole: it ended with content_filter"),
        (say(" "), "the summary is empty"),
        (fail(401, "no"), "the key was refused"),
        (say("long " * 9000), "compaction refused: the context would grow"),
    ],
    ids=["cut", "length", "filter", "empty", "401", "grows"],
)
def test_what_is_no_summary_leaves_nothing(oc, step, reason):
    with serving(say("first"), say("ok", usage=BIG), step) as loopback:
        ran = two_turns(oc, loopback)
    assert (0, "ok\n") == (ran.status, ran.out)
    assert ran.err.startswith("oc: warning: the session stays uncompacted: ")
    assert reason in ran.err
    assert {"message"} == {entry["type"] for entry in entries(oc)}
    assert 0 == row(oc)["compactionCount"]


def test_rules_that_summarise_a_models_words_say_so(oc):
    tree = {"agents": {"defaults": {**SMALL, "compaction": {**SMALL["compaction"], "model": "oc-offline"}}}}
    (oc.state / "oc.json").write_text(json.dumps(tree))
    with serving(say("I decided to use zstd."), say("ok", usage=BIG)) as loopback:
        ran = two_turns(oc, loopback)
    assert "oc: warning: oc-offline summarises by rules what loop/test wrote\n" == ran.err
    assert 2 == len(loopback.requests)
    assert "oc-offline" == entries(oc)[-1]["details"]["summariser"]


def test_one_turn_that_fills_the_window_is_not_cut_up(oc):
    with serving(say("ok", usage=BIG)) as loopback:
        loopback.configure(oc.home / "llm")
        ran = oc("prompt", "-m", MODEL_ID, "--jsonl", "word " * 2000)
    (end,) = [event for event in ran.jsonl() if event["type"] == "auto_compaction_end"]
    assert (0, None, 1) == (ran.status, end["result"], len(loopback.requests))


def test_below_the_threshold_nothing_happens(oc):
    with serving(say("ok")) as loopback:
        loopback.configure(oc.home / "llm")
        oc("prompt", "-m", MODEL_ID, "hi")
    assert 1 == len(loopback.requests)
    assert ["message", "message"] == [entry["type"] for entry in entries(oc)]


def overflow():
    return fail(400, "This model's maximum context length is 4000 tokens", "context_length_exceeded")


def test_an_overflow_is_compacted_and_tried_again(oc):
    with serving(say("first"), say("second"), overflow(), say("## Goal\n- ship"), say("third")) as loopback:
        two_turns(oc, loopback)
        ran = oc("prompt", "-m", MODEL_ID, "--jsonl", "--report", oc.home / "why.jsonl", "and now?")
    assert (0, "") == (ran.status, ran.err)
    retried = loopback.requests[-1]["messages"]
    assert "## Goal\n- ship" in retried[1]["content"]
    assert "and now?" in retried[-1]["content"]
    kinds = [entry["type"] for entry in entries(oc)]
    assert ["message"] * 6 + ["compaction", "message"] == kinds
    assert ["error", "stop"] == [e["message"]["stopReason"] for e in entries(oc)[5::2]]
    (end,) = [event for event in ran.jsonl() if event["type"] == "auto_compaction_end"]
    assert ("overflow", True) == (end["reason"], end["willRetry"])
    assert 1 == row(oc)["compactionCount"]
    again = oc("session", "show", "main", "--messages").jsonl()
    assert ["compactionSummary", "third"] == [again[0]["role"], again[-1]["content"][0]["text"]]


def test_an_overflow_that_nothing_helps_is_a_failure_with_a_hint(oc):
    with serving(overflow()) as loopback:
        loopback.configure(oc.home / "llm")
        ran = oc("prompt", "-m", MODEL_ID, "hi")
    assert (69, "", 1) == (ran.status, ran.out, len(loopback.requests))
    assert "does not fit the model's window (400)" in ran.err
    assert "hint: `oc compact` shortens the session" in ran.err


def test_at_most_three_compactions_are_tried(oc):
    def answer(body):
        return say("## Goal\n- ship") if "<conversation>" in body["messages"][-1]["content"] else overflow()

    with serving(say("first"), say("second"), say("third"), answer) as loopback:
        two_turns(oc, loopback)
        oc("prompt", "-m", MODEL_ID, "hello " * 60)
        ran = oc("prompt", "-m", MODEL_ID, "and now?")
    assert 69 == ran.status
    compactions = [entry for entry in entries(oc) if entry["type"] == "compaction"]
    assert 1 <= len(compactions) <= 3
    assert len(compactions) == row(oc)["compactionCount"]
    asked = [request for request in loopback.requests[3:] if "<conversation>" in request["messages"][-1]["content"]]
    assert len(asked) <= 3
    assert oc("prompt", "-m", "oc-offline", "hello").status == 0


def test_a_stored_result_that_is_too_long_is_cut_on_a_branch(oc):
    tree = {"agents": {"defaults": {**SMALL, "compaction": {**SMALL["compaction"], "keepRecentTokens": 1_000_000}}}}
    (oc.state / "oc.json").write_text(json.dumps(tree))
    oc.workspace.mkdir()
    (oc.workspace / "big.txt").write_text("\n".join(f"line {n} of the file" for n in range(1500)))
    with serving(call(("read", {"path": "big.txt"})), overflow(), say("read it")) as loopback:
        loopback.configure(oc.home / "llm")
        ran = oc("prompt", "-m", MODEL_ID, "--report", oc.home / "why.jsonl", "what is in big.txt?")
    assert (0, "read it\n") == (ran.status, ran.out)
    sent = loopback.requests[-1]["messages"]
    assert ["system", "user", "assistant", "tool"] == [message["role"] for message in sent]
    shown = oc("session", "show", "main", "--messages").jsonl()
    (stored,) = [message["content"][0]["text"] for message in shown if message["role"] == "toolResult"]
    assert len(stored) <= 4800
    assert "Content truncated" in stored
    # The guard allows a result a quarter of the window.
    assert len(sent[-1]["content"]) <= 4000
    assert stored.startswith(sent[-1]["content"].partition("\n[truncated")[0])
    whole = [e for e in entries(oc) if len(json.dumps(e)) > 20_000]
    assert 1 == len(whole)
    assert 0 == oc("session", "check", "main").status
    rows = [json.loads(line) for line in (oc.home / "why.jsonl").read_text().splitlines()]
    assert ("store", "truncate", "read") in [(r["stage"], r["action"], r.get("tool")) for r in rows]
