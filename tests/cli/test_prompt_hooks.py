"""The hooks of a turn, at their places, with a model on loopback that is asked what `oc context` shows."""

import json

import pytest

from oc.message.shapes import text
from tests.loopback import MODEL_ID, call, fail, say, serving
from tests.warm import Warm, server

KEY = "agent:main:main"
OTHERS = ("session_new", "before_prompt_build", "before_agent_start", "context", "before_message_write")
EVENTS = (*OTHERS, "tool_result_persist", "before_compaction", "after_compaction", "agent_end")


@pytest.fixture(scope="module")
def forks():
    with server(llm=True) as made:
        yield made


@pytest.fixture
def oc(tmp_path, forks):
    return Warm(tmp_path, forks)


@pytest.fixture
def hook(oc):
    """Makes a hook that notes its payload and prints an answer, if there is one."""

    def write(event, answer=None, then="", name=None):
        path = oc.state / "hooks" / (name or event)
        path.parent.mkdir(parents=True, exist_ok=True)
        said = "" if answer is None else f"cat <<'EOF'\n{json.dumps(answer)}\nEOF\n"
        path.write_text(f'#!/bin/sh\ncat >> "$OC_HOME/told.jsonl"\n{said}{then}\n')
        path.chmod(0o755)

    return write


def told(oc, event=None):
    lines = (oc.state / "told.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, lines) if event in (None, row["event"])]


def entries(oc):
    (path,) = (oc.state / "agents" / "main" / "sessions").glob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


def stored(oc):
    return [(e["message"]["role"], text(e["message"])) for e in entries(oc) if e["type"] == "message"]


def ask(oc, *steps, args=("hello",)):
    """Runs a turn with a model that plays the steps; returns how it ended and what the model was sent."""
    with serving(*steps) as loopback:
        loopback.configure(oc.home / "llm")
        ran = oc("prompt", "-m", MODEL_ID, *args)
    return ran, [request["messages"] for request in loopback.requests]


def test_all_fire_in_their_order(oc, hook):
    for event in EVENTS:
        hook(event)
    oc.workspace.mkdir()
    (oc.workspace / "a.txt").write_text("text of a")
    ran, sent = ask(oc, call(("read", {"path": "a.txt"})), say("read it"))
    assert (0, "read it\n", "") == (ran.status, ran.out, ran.err)
    assert 2 == len(sent)
    written = "before_message_write"
    around = ["session_new", "before_prompt_build", "before_agent_start", written, "context", written]
    expected = [*around, "tool_result_persist", written, "context", written, "agent_end"]
    assert expected == [row["event"] for row in told(oc)]
    made = told(oc, "session_new")[0]
    assert "new" == made["reason"]
    assert {KEY} == {row["sessionKey"] for row in told(oc)}
    assert {made["sessionId"]} == {row["sessionId"] for row in told(oc)}
    (end,) = told(oc, "agent_end")
    assert (True, ["user", "assistant", "toolResult", "assistant"]) == (
        end["success"],
        [message["role"] for message in end["messages"]],
    )
    (result,) = told(oc, "tool_result_persist")
    assert ("read", "call_1") == (result["toolName"], result["toolCallId"])


def test_a_reset_tells_of_the_session_that_ended(oc, hook):
    hook("session_new")
    oc("prompt", "one")
    oc("prompt", "/new", OC_SEED="2")
    first, second = told(oc)
    assert ("new", "reset") == (first["reason"], second["reason"])
    assert second["previousSessionFile"].startswith(first["sessionFile"] + ".reset.")


def test_commands_that_start_a_session_tell_of_it(oc, hook):
    hook("session_new")
    oc("session", "open", "main")
    oc("session", "open", "main")
    oc("session", "open", "main", "--new", OC_SEED="2")
    oc("session", "reset", "main", OC_SEED="3")
    later = str(1773651600000 + 2 * 86_400_000)
    assert 0 == oc("session", "open", "main", OC_SEED="4", OC_NOW=later).status
    assert ["new", "reset", "reset", "stale"] == [row["reason"] for row in told(oc)]


def test_what_hooks_add_to_the_prompt_is_sent_and_stored_and_shown_before(oc, hook):
    hook("before_prompt_build", {"prependContext": "likes tea", "appendSystemContext": "AT THE END"})
    hook("before_agent_start", {"prependContext": "older", "prependSystemContext": "AT THE TOP"})
    ask(oc, say("hi"), args=("one",))
    shown = oc("context", "-m", MODEL_ID, "two").json()
    _, (sent,) = ask(oc, say("hi again"), args=("two",))
    system = sent[0]["content"]
    assert ("AT THE TOP", "AT THE END") == (system.split("\n")[0], system.split("\n")[-1])
    assert system == shown["system"]
    assert "likes tea\n\nolder\n\ntwo" == sent[-1]["content"] == shown["prompt"] == stored(oc)[-2][1]
    assert [message["content"] for message in sent[1:]] == [m["content"][0]["text"] for m in shown["messages"]]
    parts = oc("context", "-m", MODEL_ID, "two", "--breakdown", "--json").json()
    assert parts["tokens"] == sum(part["tokens"] for part in parts["parts"] if part["group"] != "free")
    assert 2 == sum(1 for part in parts["parts"] if part["name"] == "hooks")
    payload = told(oc, "before_prompt_build")[-1]
    assert ("two", ["user", "assistant", "user", "assistant"]) == (
        payload["prompt"],
        [message["role"] for message in payload["messages"]],
    )


def test_a_system_prompt_of_a_hook_takes_the_place_of_ours(oc, hook):
    hook("before_prompt_build", {"systemPrompt": "You are a clock."})
    shown = oc("context", "-m", MODEL_ID, "hello").json()
    _, (sent,) = ask(oc, say("tick"))
    assert "You are a clock." == sent[0]["content"] == shown["system"]


def test_a_view_is_shown_and_never_stored(oc, hook):
    view = [{"role": "user", "content": "something else"}, {"role": "toolResult", "toolCallId": "x", "content": []}]
    hook("context", {"messages": view})
    report = oc.home / "why.jsonl"
    shown = oc("context", "-m", MODEL_ID, "hello", "--report", report).json()
    ran, (sent,) = ask(oc, say("hi"))
    assert (0, "hi\n") == (ran.status, ran.out)
    # A result without its call is no message that a provider takes.
    assert ["something else"] == [message["content"] for message in sent[1:]]
    assert ["something else"] == [message["content"] for message in shown["messages"]]
    assert [("user", "hello"), ("assistant", "hi")] == stored(oc)
    rows = [json.loads(line) for line in report.read_text().splitlines()]
    assert ("context", "summary", "hook") in {(row["stage"], row["action"], row.get("rule")) for row in rows}


def test_a_message_is_written_as_the_hook_has_it(oc, hook):
    hook("before_message_write", {"message": {"role": "assistant", "content": [{"type": "text", "text": "masked"}]}})
    ran, _ = ask(oc, say("secret"))
    # The user's message may not become an assistant's.
    assert "message must keep the role 'user'" in ran.err
    assert [("user", "hello"), ("assistant", "masked")] == stored(oc)


def test_a_blocked_message_is_said_and_not_written(oc, hook):
    hook("before_message_write", {"block": True})
    ran, (sent,) = ask(oc, say("hi"), args=("--jsonl", "hello"))
    assert (0, "") == (ran.status, ran.err)
    assert "hello" == sent[-1]["content"]
    assert [] == entries(oc)
    (end,) = [event for event in ran.jsonl() if event["type"] == "message_end"]
    assert (None, "hi") == (end["entryId"], end["message"]["content"][0]["text"])


def test_a_result_is_stored_and_shown_as_the_hook_has_it(oc, hook):
    oc.workspace.mkdir(parents=True)
    (oc.workspace / "a.txt").write_text("key=123")
    message = {"role": "toolResult", "toolCallId": "call_1", "toolName": "read", "isError": False}
    hook("tool_result_persist", {"message": {**message, "content": [{"type": "text", "text": "key=***"}]}})
    _, sent = ask(oc, call(("read", {"path": "a.txt"})), say("ok"))
    assert "key=***" == sent[1][-1]["content"] == dict(stored(oc))["toolResult"]


def test_a_failed_call_is_told_at_the_end(oc, hook):
    hook("agent_end")
    ran, _ = ask(oc, fail(401, "no"))
    assert 69 == ran.status
    (end,) = told(oc)
    assert not end["success"]
    assert "the key was refused" in end["error"]


@pytest.mark.parametrize("event", [event for event in EVENTS if "compaction" not in event])
def test_a_hook_that_fails_is_a_warning_and_never_a_lost_turn(oc, hook, event):
    hook(event, then="echo broken >&2; exit 3")
    oc.workspace.mkdir()
    (oc.workspace / "a.txt").write_text("text of a")
    ran, _ = ask(oc, call(("read", {"path": "a.txt"})), say("read it"))
    assert (0, "read it\n") == (ran.status, ran.out)
    assert f"hook {oc.state / 'hooks' / event}: " in ran.err
    assert "broken" in ran.err
    assert 4 == len(entries(oc))


SMALL = {
    "contextTokens": 4000,
    "compaction": {
        "reserveTokens": 1000,
        "reserveTokensFloor": 0,
        "memoryFlush": {"enabled": False},
        "keepRecentTokens": 200,
    },
}
BIG = {"prompt_tokens": 3500, "completion_tokens": 20, "total_tokens": 3520}


def fill(oc):
    (oc.state / "oc.json").write_text(json.dumps({"agents": {"defaults": SMALL}}))
    ask(oc, say("first"), args=("word " * 1200,))
    return ask(oc, say("ok", usage=BIG), say("## Goal\n- ship\n"), args=("hello " * 200,))


def test_a_hook_brings_the_summary(oc, hook):
    hook("before_compaction", {"summary": "By hand.", "details": {"by": "me"}})
    hook("after_compaction")
    ran, sent = fill(oc)
    assert (0, "", 1) == (ran.status, ran.err, len(sent))
    entry = entries(oc)[-1]
    assert ("compaction", "By hand.", {"by": "me"}, True) == (
        entry["type"],
        entry["summary"],
        entry["details"],
        entry["fromHook"],
    )
    before, after = told(oc)
    assert entry["firstKeptEntryId"] == before["firstKeptEntryId"]
    assert [e["id"] for e in entries(oc)[:-1]] == [e["id"] for e in before["entries"]]
    assert entry == after["entry"]


def test_a_hook_cancels_a_compaction(oc, hook):
    hook("before_compaction", {"cancel": True})
    ran, sent = fill(oc)
    assert (0, "", 1) == (ran.status, ran.err, len(sent))
    assert {"message"} == {entry["type"] for entry in entries(oc)}


def test_a_failing_hook_leaves_the_summary_to_the_model(oc, hook):
    hook("before_compaction", then="exit 1")
    hook("after_compaction", then="exit 1")
    ran, sent = fill(oc)
    assert (0, 2, 2) == (ran.status, len(sent), ran.err.count("oc: warning: hook "))
    assert "## Goal\n- ship" == entries(oc)[-1]["summary"]


def test_a_prompt_that_would_not_fit_is_preceded_by_a_compaction(oc):
    oc.state.mkdir()
    (oc.state / "oc.json").write_text(json.dumps({"agents": {"defaults": SMALL}}))
    ask(oc, say("first"), args=("word " * 400,))
    used = {"prompt_tokens": 1800, "completion_tokens": 20, "total_tokens": 1820}
    ask(oc, say("second", usage=used), args=("hello " * 200,))
    long = "more " * 1500
    due = oc("context", "-m", MODEL_ID, long)
    assert due.json()["compaction"]["due"]
    assert "a compaction is due" in due.err
    report = oc.home / "why.jsonl"
    ran, sent = ask(oc, say("## Goal\n- ship\n"), say("third"), args=("--report", report, long))
    assert (0, "third\n") == (ran.status, ran.out)
    kinds = [entry["type"] for entry in entries(oc)]
    assert ["message"] * 4 + ["compaction", "message", "message"] == kinds[:7]
    assert "## Goal" in sent[1][1]["content"]
    rows = [json.loads(line) for line in report.read_text().splitlines()]
    stages = [row["stage"] for row in rows]
    assert stages.index("compact") < stages.index("guard")
