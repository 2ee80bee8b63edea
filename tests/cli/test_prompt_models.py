"""`oc prompt` with a model that llm serves: what reaches the wire, what is stored, what is told."""

import json
import os
import signal
import subprocess
import threading

import pytest

from tests.loopback import MODEL_ID, call, cut, fail, say, serving
from tests.support import OC
from tests.warm import Warm
from tests.warm import server as warm_server


@pytest.fixture(scope="module")
def server_with_llm():
    with warm_server(llm=True) as made:
        yield made


@pytest.fixture
def oc(tmp_path, server_with_llm):
    return Warm(tmp_path, server_with_llm)


def transcript(oc):
    (path,) = (oc.state / "agents" / "main" / "sessions").glob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def stored(oc):
    return [entry["message"] for entry in transcript(oc)[1:] if entry["type"] == "message"]


def row(oc, key="agent:main:main"):
    return json.loads((oc.state / "agents" / "main" / "sessions" / "sessions.json").read_text())[key]


def ask(oc, server, *args, **settings):
    server.configure(oc.home / "llm", **settings)
    return oc("prompt", "-m", MODEL_ID, *args)


def test_a_plain_turn(oc):
    with serving(say("Hello there.")) as server:
        ran = ask(oc, server, "hi")
    assert (0, "Hello there.\n", "") == (ran.status, ran.out, ran.err)
    user, answer = stored(oc)
    assert {"role": "user", "content": [{"type": "text", "text": "hi"}], "timestamp": 1773651600000} == user
    assert {
        "role": "assistant",
        "content": [{"type": "text", "text": "Hello there."}],
        "api": "openai-completions",
        "provider": "loop",
        "model": "test",
        "usage": {
            "input": 100,
            "output": 20,
            "cacheRead": 0,
            "cacheWrite": 0,
            "totalTokens": 120,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
        },
        "stopReason": "stop",
        "timestamp": 1773651600000,
    } == answer
    system, said = server.requests[0]["messages"]
    assert "system" == system["role"]
    assert "memory_search" in system["content"]
    assert {"role": "user", "content": "hi"} == said
    assert ["memory_search", "memory_get", "memory_add", "read"] == [
        tool["function"]["name"] for tool in server.requests[0]["tools"]
    ]


def test_counters_are_stored_in_the_row(oc):
    with serving(say("ok")) as server:
        ask(oc, server, "hi")
    wanted = {
        "totalTokens": 120,
        "totalTokensFresh": True,
        "inputTokens": 100,
        "outputTokens": 20,
        "contextTokens": 200000,
        "model": "test",
        "modelProvider": "loop",
        "compactionCount": 0,
        "updatedAt": 1773651600000,
        "systemSent": True,
        "abortedLastRun": False,
    }
    assert wanted == {name: row(oc)[name] for name in wanted}


def test_three_rounds_of_tools_then_an_answer(oc):
    oc.workspace.mkdir(parents=True)
    (oc.workspace / "a.txt").write_text("alpha")
    (oc.workspace / "b.txt").write_text("beta")
    script = (
        call(("read", {"path": "a.txt"}), ("read", {"path": "b.txt"}), text="Reading both."),
        call(("read", {"path": "nope.txt"}), first=3),
        call(("exec", {"command": "rm -rf /"}), ("read", "{broken"), first=4),
        say("alpha and beta"),
    )
    with serving(*script) as server:
        ran = ask(oc, server, "what is in the files?")
    assert (0, "Reading both.\nalpha and beta\n") == (ran.status, ran.out)
    sent = server.requests[-1]["messages"]
    roles = ["system", "user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "tool", "tool"]
    assert roles == [message["role"] for message in sent]
    assert "Reading both." == sent[2]["content"]
    # This provider's ids must be letters and digits; the transcript keeps them as they came.
    assert ["call1", "call2"] == [c["id"] for c in sent[2]["tool_calls"]] == [m["tool_call_id"] for m in sent[3:5]]
    assert ["call_1", "call_2", "call_3", "call_4", "call_5"] == [
        message["toolCallId"] for message in stored(oc) if message["role"] == "toolResult"
    ]
    assert ["alpha", "beta"] == [message["content"] for message in sent[3:5]]
    assert "read: nope.txt: no such file" == sent[6]["content"]
    assert ["there is no tool 'exec' in this session", "read: the arguments were no valid JSON object"] == [
        message["content"] for message in sent[8:]
    ]
    results = [message for message in stored(oc) if message["role"] == "toolResult"]
    assert [False, False, True, True, True] == [message["isError"] for message in results]
    assert ["toolUse", "toolUse", "toolUse", "stop"] == [
        message["stopReason"] for message in stored(oc) if message["role"] == "assistant"
    ]
    assert (400, 80, 120) == tuple(row(oc)[name] for name in ("inputTokens", "outputTokens", "totalTokens"))


def test_the_next_turn_replays_the_last(oc):
    with serving(say("one"), say("two")) as server:
        ask(oc, server, "first")
        ask(oc, server, "second")
    assert [("user", "first"), ("assistant", "one"), ("user", "second")] == [
        (message["role"], message["content"]) for message in server.requests[1]["messages"][1:]
    ]
    system = [request["messages"][0]["content"] for request in server.requests]
    assert system[0] == system[1]


JOINED = [("user", "first\n\nsecond")]


@pytest.mark.parametrize(
    ("step", "line", "seen"),
    [
        (fail(401, "Incorrect API key: sk-abcdefgh12345678"), "the key was refused (401): Incorrect", JOINED),
        (fail(429, "Rate limit reached"), "too many requests (429): Rate limit reached", JOINED),
        (fail(500, "oops"), "the provider failed (500): oops", JOINED),
        (
            fail(400, "maximum context length is 8 tokens", "context_length_exceeded"),
            "the request does not fit the model's window (400): ",
            JOINED,
        ),
        (
            cut("half an ans"),
            "the answer broke off before its end",
            [("user", "first"), ("assistant", "half an ans"), ("user", "second")],
        ),
    ],
    ids=["401", "429", "500", "overflow", "cut"],
)
def test_a_failed_call_is_stored_and_the_next_turn_goes_on(oc, step, line, seen):
    with serving(step) as server:
        ran = ask(oc, server, "first")
        assert (69, "") == (ran.status, ran.out)
        assert ran.err.startswith(f"oc: {MODEL_ID}: {line}")
        assert "sk-abc" not in ran.err + json.dumps(stored(oc))
        answer = stored(oc)[-1]
        assert ("error", 0) == (answer["stopReason"], answer["usage"]["totalTokens"])
        assert f"oc: {answer['errorMessage']}\n" == ran.err.splitlines(keepends=True)[0]
        server.script = [say("fine")]
        again = ask(oc, server, "second")
    assert (0, "fine\n") == (again.status, again.out)
    assert seen == [(message["role"], message["content"]) for message in server.requests[-1]["messages"][1:]]


def test_what_had_arrived_before_a_cut_is_kept(oc):
    with serving(cut("half an ans")) as server:
        ask(oc, server, "first")
    assert [{"type": "text", "text": "half an ans"}] == stored(oc)[-1]["content"]


def test_the_output_limit_is_told(oc):
    with serving(say("half", finish="length")) as server:
        ran = ask(oc, server, "hi")
    assert (0, "half\n", "oc: warning: the answer was cut at the model's output limit\n") == (
        ran.status,
        ran.out,
        ran.err,
    )
    assert "length" == stored(oc)[-1]["stopReason"]


def test_calls_of_an_answer_that_hit_the_output_limit_are_not_run(oc):
    step = call(("memory_add", {"text": "half a fa"}))
    step.finish = "length"
    with serving(step) as server:
        ran = ask(oc, server, "hi")
    assert 0 == ran.status
    assert [] == stored(oc)[-1]["content"]


def test_max_steps(oc):
    with serving(call(("read", {"path": "x"}))) as server:
        ran = ask(oc, server, "--max-steps", "3", "hi")
    assert (69, 3) == (ran.status, len(server.requests))
    assert "stopped after 3 calls of the model\nhint: --max-steps allows more\n" in ran.err
    assert "toolResult" == stored(oc)[-1]["role"]


def test_time_limit(oc):
    gate = threading.Event()
    with serving(say("half and half", gate=gate)) as server:
        ran = ask(oc, server, "--timeout", "3", "hi")
        gate.set()
    assert (69, "") == (ran.status, ran.out)
    assert ran.err.startswith(f"oc: {MODEL_ID}: no answer in time: the time limit was reached\n")
    assert "error" == stored(oc)[-1]["stopReason"]


def test_no_reply_prints_nothing(oc):
    with serving(say(" NO_REPLY\n"), say("NO_REPLY"), say("NO_REPLY is a word")) as server:
        assert (0, "") == (ask(oc, server, "hi").status, "")
        silent = ask(oc, server, "hi", "--json").json()
        said = ask(oc, server, "hi")
    assert ("", "stop") == (silent["text"], silent["stopReason"])
    assert "NO_REPLY is a word\n" == said.out


def test_json_is_one_document(oc):
    with serving(call(("read", {"path": "x"}), text="Look."), say("Done.")) as server:
        shown = ask(oc, server, "--json", "hi").json()
    assert ["text", "usage", "entryIds", "stopReason", "session", "model", "modelOrigin"] == list(shown)
    assert "Look.\n\nDone." == shown["text"]
    assert {"input": 200, "output": 40, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 240} == shown["usage"]
    assert [entry["id"] for entry in transcript(oc)[1:]] == shown["entryIds"]
    assert ("agent:main:main", True) == (shown["session"]["key"], shown["session"]["isNew"])
    assert (MODEL_ID, "flag", "stop") == (shown["model"], shown["modelOrigin"], shown["stopReason"])


def test_json_of_a_failure_is_the_error_document(oc):
    with serving(fail(401, "no")) as server:
        ran = ask(oc, server, "--json", "hi")
    assert (69, "unavailable") == (ran.json()["error"]["status"], ran.json()["error"]["code"])


def test_jsonl_events(oc):
    with serving(call(("read", {"path": "x"})), say("Done.")) as server:
        events = ask(oc, server, "--jsonl", "hi").jsonl()
    assert [
        "agent_start",
        "message_start",
        "message_end",
        "tool_execution_start",
        "tool_execution_end",
        "message_start",
        "message_update",
        "message_update",
        "message_end",
        "agent_end",
    ] == [event["type"] for event in events]
    ids = {entry["id"] for entry in transcript(oc)}
    assert {event["entryId"] for event in events if "entryId" in event} <= ids
    assert {"type": "text_delta", "delta": "Do"} == events[6]["assistantMessageEvent"]
    assert ("read", {"path": "x"}) == (events[3]["toolName"], events[3]["args"])
    assert (True, "call_1") == (events[4]["isError"], events[4]["toolCallId"])


def test_an_oversized_result_is_capped_before_it_is_stored(oc):
    """The tool has caps of its own; here the stored bytes of a large read are looked at."""
    oc.workspace.mkdir(parents=True)
    (oc.workspace / "big.txt").write_text("\n".join(f"line {n}" for n in range(100_000)))
    with serving(call(("read", {"path": "big.txt"})), say("ok")) as server:
        ask(oc, server, "hi")
    result = stored(oc)[2]
    assert len(result["content"][0]["text"]) < 60_000
    assert "offset=2001" in result["content"][0]["text"]


def test_report(oc):
    with serving(call(("read", {"path": "x"})), say("ok")) as server:
        ask(oc, server, "--report", str(oc.home / "why.jsonl"), "hi")
    rows = [json.loads(line) for line in (oc.home / "why.jsonl").read_text().splitlines()]
    assert {"stage": "prompt", "action": "model", "model": MODEL_ID, "rule": "flag", "windowTokens": 200000} in rows
    assert ("prompt", "summary", 2, 1, 200, 40) == tuple(
        rows[-1][name] for name in ("stage", "action", "answers", "toolCalls", "inputTokens", "outputTokens")
    )


def test_no_tools(oc):
    with serving(say("ok")) as server:
        ask(oc, server, "--no-tools", "hi")
    assert "tools" not in server.requests[0]
    assert "No tools are offered" in server.requests[0]["messages"][0]["content"]


def test_an_unknown_model_changes_nothing(oc):
    ran = oc("prompt", "-m", "no-such-model", "hi")
    assert 69 == ran.status
    assert "oc: llm has no model 'no-such-model'\n" in ran.err
    assert not oc.state.exists()


def test_llms_own_default_is_told_by_its_name(oc):
    with serving(say("ok")) as server:
        server.configure(oc.home / "llm")
        (oc.home / "llm" / "default_model.txt").write_text(MODEL_ID)
        shown = oc("prompt", "-m", "default", "--json", "hi").json()
    assert ("ok", MODEL_ID, "flag") == (shown["text"], shown["model"], shown["modelOrigin"])


def test_the_row_and_the_configuration_choose(oc):
    oc.state.mkdir(parents=True)
    (oc.state / "openclaw.json").write_text(json.dumps({"agents": {"defaults": {"model": {"primary": MODEL_ID}}}}))
    with serving(say("ok")) as server:
        server.configure(oc.home / "llm")
        assert "openclaw.json" == oc("prompt", "--json", "hi").json()["modelOrigin"]
        path = oc.state / "agents" / "main" / "sessions" / "sessions.json"
        rows = json.loads(path.read_text())
        rows["agent:main:main"]["modelOverride"] = "oc-offline"
        path.write_text(json.dumps(rows))
        shown = oc("prompt", "--json", "hi").json()
    assert ("oc-offline", "session", 1) == (shown["model"], shown["modelOrigin"], len(server.requests))


def interrupted(oc, server, gate, *args):
    server.configure(oc.home / "llm")
    process = subprocess.Popen(
        [*OC, "prompt", "-m", MODEL_ID, "--jsonl", *args],
        env=oc.environ,
        cwd=oc.home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    for line in process.stdout:
        if b'"message_update"' in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    gate.set()
    return process.returncode, out, err


def test_interrupt_stores_what_arrived_and_the_next_turn_works(oc):
    gate = threading.Event()
    with serving(say("half and the other half", gate=gate), say("fine")) as server:
        status, out, err = interrupted(oc, server, gate, "hi")
        assert (130, b"") == (status, err)
        assert "aborted" == json.loads(out.splitlines()[0])["message"]["stopReason"]
        answer = stored(oc)[-1]
        assert ("aborted", [{"type": "text", "text": "half and th"}]) == (answer["stopReason"], answer["content"])
        assert row(oc)["abortedLastRun"] is True
        assert not list((oc.state / "agents" / "main" / "sessions").glob("*.lock"))
        again = ask(oc, server, "go on")
    assert (0, "fine\n") == (again.status, again.out)
    assert row(oc)["abortedLastRun"] is False


def test_a_reader_that_goes_away_does_not_stop_the_turn(oc):
    oc.workspace.mkdir(parents=True)
    (oc.workspace / "a.txt").write_text("x" * 200)
    script = (call(("read", {"path": "a.txt"}), text="y" * 100_000), say("z" * 100_000))
    with serving(*script) as server:
        server.configure(oc.home / "llm")
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(
            [*OC, "prompt", "-m", MODEL_ID, "hi"],
            env=oc.environ,
            cwd=oc.home,
            stdin=subprocess.DEVNULL,
            stdout=write,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
        os.close(write)
    assert (141, b"") == (done.returncode, done.stderr)
    assert ["user", "assistant", "toolResult", "assistant"] == [message["role"] for message in stored(oc)]


def test_a_custom_endpoint_never_gets_openais_key(oc):
    with serving(say("ok")) as server:
        server.configure(oc.home / "llm", api_key_name="corp")
        ran = oc("prompt", "-m", MODEL_ID, "hi", OPENAI_API_KEY="sk-very-secret-1")
    assert (69, []) == (ran.status, server.requests)
    assert "very-secret" not in ran.err + json.dumps(stored(oc))
    assert "no key" in ran.err
