"""Models that llm serves, against a real server on loopback."""

import json
import time

import pytest

from oc.agent.answer import Request
from oc.agent.choice import Choice
from oc.agent.model import complete, open_model
from oc.agent.wire import Speaker
from oc.errors import Unavailable
from tests.loopback import MODEL_ID, call, cut, fail, say, serving

SPEAKER = Speaker("openai-completions", "loop", "test")


class Spec:
    name = "memory_search"
    description = "Searches."
    parameters = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}  # noqa: RUF012


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "llm"


def ask(server, home, messages=None, *, system="", tools=(), deadline_s=None, **settings):
    server.configure(home, **settings)
    model = open_model(Choice(MODEL_ID, "flag"))
    ids = iter("abcdef")
    request = Request(system, messages or [{"role": "user", "content": "hi"}], tools)
    stream = model.stream(request, deadline_s=deadline_s, new_id=lambda: next(ids))
    return model, stream, list(stream)


def test_text_streams_and_counts(home):
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 60},
    }
    with serving(say("hello there", usage=usage)) as server:
        model, stream, deltas = ask(server, home, system="Be brief.")
    assert SPEAKER == model.speaker
    assert ["hello", " there"] == [delta.text for delta in deltas]
    assert [{"type": "text", "text": "hello there"}] == stream.blocks()
    assert "stop" == stream.finish
    assert stream.failure is None
    assert (40, 20, 60, 120) == tuple(stream.usage[k] for k in ("input", "output", "cacheRead", "totalTokens"))
    assert [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}] == server.requests[0][
        "messages"
    ]
    assert "tools" not in server.requests[0]


def test_without_streaming(home):
    with serving(call(("memory_search", {"query": "x"}), text="Looking.")) as server:
        _, stream, _ = ask(server, home, tools=(Spec(),), can_stream=False)
    assert "stream" not in server.requests[0] or server.requests[0]["stream"] is False
    expected = [
        {"type": "toolCall", "id": "call_1", "name": "memory_search", "arguments": {"query": "x"}},
        {"type": "text", "text": "Looking."},
    ]
    assert expected == stream.blocks()
    assert "tool_calls" == stream.finish


def test_parallel_calls(home):
    with serving(call(("memory_search", {"query": "a"}), ("memory_search", {"query": "b"}), text="Two.")) as server:
        _, stream, _ = ask(server, home, tools=(Spec(),))
    assert [
        {"type": "text", "text": "Two."},
        {"type": "toolCall", "id": "call_1", "name": "memory_search", "arguments": {"query": "a"}},
        {"type": "toolCall", "id": "call_2", "name": "memory_search", "arguments": {"query": "b"}},
    ] == stream.blocks()
    function = {"name": "memory_search", "description": "Searches.", "parameters": Spec.parameters}
    assert [{"type": "function", "function": function}] == server.requests[0]["tools"]


def test_arguments_that_are_no_json_reach_the_tool(home):
    """The tool answers with an error that the model can read; the call has not failed."""
    with serving(call(("memory_search", '{"query": "x'))) as server:
        _, stream, _ = ask(server, home, tools=(Spec(),))
    assert stream.failure is None
    assert [{"_raw": '{"query": "x'}] == [block["arguments"] for block in stream.blocks()]
    assert 120 == stream.usage["totalTokens"]


def test_history_is_replayed_with_ids(home):
    history = [
        {"role": "user", "content": "find a and b"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "thinkingSignature": "s"},
                {"type": "text", "text": "Looking."},
                {"type": "toolCall", "id": "c1", "name": "memory_search", "arguments": {"query": "a"}},
                {"type": "toolCall", "id": "c2", "name": "memory_search", "arguments": {"query": "b"}},
            ],
        },
        {
            "role": "toolResult",
            "toolCallId": "c1",
            "toolName": "memory_search",
            "content": [{"type": "text", "text": "A"}],
        },
        {
            "role": "toolResult",
            "toolCallId": "c2",
            "toolName": "memory_search",
            "content": [{"type": "text", "text": "B"}],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "Found."}]},
        {"role": "user", "content": [{"type": "text", "text": "thanks"}]},
    ]
    with serving(say("ok")) as server:
        ask(server, home, history, system="S", tools=(Spec(),))
    sent = server.requests[0]["messages"]
    assert ["system", "user", "assistant", "tool", "tool", "assistant", "user"] == [m["role"] for m in sent]
    assert ["c1", "c2"] == [c["id"] for c in sent[2]["tool_calls"]]
    assert ['{"query": "a"}', '{"query": "b"}'] == [c["function"]["arguments"] for c in sent[2]["tool_calls"]]
    assert [("c1", "A"), ("c2", "B")] == [(m["tool_call_id"], m["content"]) for m in sent[3:5]]
    assert "hm" not in json.dumps(sent)


def test_images_where_the_model_takes_them(home):
    message = {
        "role": "user",
        "content": [{"type": "image", "mimeType": "image/png", "data": "aGk="}, {"type": "text", "text": "what?"}],
    }
    with serving(say("ok")) as server:
        ask(server, home, [message], vision=True)
        ask(server, home, [message])
    seen, told = (request["messages"][0]["content"] for request in server.requests)
    assert {"url": "data:image/png;base64,aGk="} == next(p["image_url"] for p in seen if p["type"] == "image_url")
    assert "image/png" in told


@pytest.mark.parametrize(
    ("step", "kind", "words"),
    [
        (fail(401, "Incorrect API key provided: sk-abcdefgh12345678."), "key", "the key was refused (401)"),
        (fail(429, "Rate limit reached"), "rate", "too many requests (429)"),
        (fail(500, "oops"), "server", "the provider failed (500)"),
        (fail(400, "too big", "context_length_exceeded"), "overflow", "does not fit"),
        (fail(400, "This model's maximum context length is 8192 tokens."), "overflow", "does not fit"),
        (fail(400, "bad tool schema"), "other", "bad tool schema"),
        (fail(404, "no such model"), "unknown", "does not know the model"),
    ],
)
def test_errors_by_status_and_code(home, step, kind, words):
    with serving(step) as server:
        _, stream, _ = ask(server, home)
    assert (kind, []) == (stream.failure.kind, stream.blocks())
    assert words in stream.failure.message
    assert stream.failure.message.startswith(f"{MODEL_ID}: ")
    assert "sk-abc" not in stream.failure.message


def test_a_cut_stream_is_no_whole_answer(home):
    with serving(cut("half an answer")) as server:
        _, stream, _ = ask(server, home)
    assert "cut" == stream.failure.kind
    assert [{"type": "text", "text": "half an answer"}] == stream.blocks()
    assert stream.finish is None


def test_a_call_cut_in_the_middle_is_dropped(home):
    step = call(("memory_search", {"query": "x"}), text="Looking.")
    step.broken = True
    with serving(step) as server:
        _, stream, _ = ask(server, home, tools=(Spec(),))
    assert [{"type": "text", "text": "Looking."}] == stream.blocks()


def test_length_is_an_end_but_no_normal_one(home):
    with serving(say("half", finish="length")) as server:
        _, stream, _ = ask(server, home)
        assert (None, "length") == (stream.failure, stream.finish)
        assert not complete(MODEL_ID, system="", prompt="x").whole


def test_content_filter_is_a_failure(home):
    with serving(say("I", finish="content_filter")) as server:
        _, stream, _ = ask(server, home)
    assert "filter" == stream.failure.kind


def test_nobody_listens(home):
    with serving(say("x")) as server:
        server.configure(home)
    stream = open_model(Choice(MODEL_ID, "flag")).stream(
        Request("", [{"role": "user", "content": "hi"}]), deadline_s=None, new_id=str
    )
    assert [] == list(stream)
    assert "refused" == stream.failure.kind


def test_time_limit(home):
    import threading

    gate = threading.Event()
    with serving(say("half and half", gate=gate)) as server:
        _, stream, deltas = ask(server, home, deadline_s=time.monotonic() + 1.5)
        gate.set()
    assert "timeout" == stream.failure.kind
    assert len(deltas) <= 1
    assert deltas == [] or [{"type": "text", "text": "half a"}] == stream.blocks()


def test_a_custom_endpoint_never_gets_openais_key(home, monkeypatch):
    """Neither by the environment nor in the error line; the key stored under its own name is sent."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-1")
    with serving(say("ok")) as server:
        _, stream, _ = ask(server, home, api_key_name="corp")
        assert "key" == stream.failure.kind
        assert [] == server.requests
        (home / "keys.json").write_text(json.dumps({"corp": "corp-key-1", "openai": "sk-very-secret-2"}))
        ask(server, home, api_key_name="corp")
        ask(server, home)
    assert ["Bearer corp-key-1", "Bearer DUMMY_KEY"] == [headers["authorization"] for headers in server.headers]
    assert "very-secret" not in json.dumps([server.headers, server.requests])


def test_stored_secrets_are_not_told(home):
    home.mkdir()
    (home / "keys.json").write_text(json.dumps({"corp": "plain-corp-key"}))
    with serving(fail(401, "bad key plain-corp-key")) as server:
        _, stream, _ = ask(server, home, api_key_name="corp")
    assert "bad key ***" in stream.failure.message


def test_complete(home):
    with serving(say("A summary.")) as server:
        server.configure(home)
        done = complete(MODEL_ID, system="Summarise.", prompt="text", timeout_s=20)
    assert ("A summary.", "stop", True) == (done.text, done.finish, done.whole)
    assert ["system", "user"] == [m["role"] for m in server.requests[0]["messages"]]


def test_complete_cut_or_refused(home):
    with serving(cut("half"), fail(401, "no")) as server:
        server.configure(home)
        half = complete(MODEL_ID, system="", prompt="x")
        assert ("half", None, False) == (half.text, half.finish, half.whole)
        with pytest.raises(Unavailable):
            complete(MODEL_ID, system="", prompt="x")


def test_unknown_models_are_69_with_near_names(home):
    with serving(say("x")) as server:
        server.configure(home)
    with pytest.raises(Unavailable) as caught:
        open_model(Choice("loop/tset", "flag"))
    assert "llm has no model 'loop/tset'" == caught.value.message
    assert MODEL_ID in caught.value.hint


def test_default_is_llms_own_only_as_a_flag(home):
    with serving(say("x")) as server:
        server.configure(home)
    (home / "default_model.txt").write_text(MODEL_ID)
    assert "test" == open_model(Choice("default", "flag")).speaker.model
    with pytest.raises(Unavailable):
        open_model(Choice("default", "oc.json"))


def test_names_of_openclaw_find_llms_models():
    assert ("openai", "gpt-4o") == open_model(Choice("openai/gpt-4o", "flag")).speaker[1:]


def test_a_model_without_tools_gets_none_and_says_so(home):
    with serving(say("ok")) as server:
        model, _, _ = ask(server, home, tools=(Spec(),), supports_tools=False)
    assert "tools" not in server.requests[0]
    assert [f"the model {MODEL_ID} takes no tools, so it can neither search nor write memory"] == model.warnings
