"""Between the transcript's messages and llm's: both directions, ends and usage as the providers tell them."""

from types import SimpleNamespace

import pytest

from oc.agent.wire import Speaker, blocks_of, finish_of, flat_text, from_wire, usage_of, wire_messages

ME = Speaker("openai-completions", "openai", "gpt")


def event(kind, chunk="", part=0, call=None, metadata=None, **more):
    fields = {"type": kind, "chunk": chunk, "part_index": part, "tool_call_id": call, "provider_metadata": metadata}
    return SimpleNamespace(**fields, server_executed=more.get("server", False))


def ids():
    numbers = iter(range(99))
    return lambda: f"new{next(numbers)}"


@pytest.mark.parametrize(
    ("raw", "finish"),
    [
        ({"finish_reason": "stop"}, "stop"),
        ({"finish_reason": "length"}, "length"),
        ({"choices": [{"finish_reason": "tool_calls"}]}, "tool_calls"),
        ({"stop_reason": "end_turn"}, "end_turn"),
        ({"stop_reason": "tool_use"}, "tool_use"),
        ({"stop_reason": "max_tokens"}, "length"),
        ({"stop_reason": "stop_sequence"}, "stop"),
        ({"stop_reason": None, "id": "x"}, None),
        ({"candidates": [{"finishReason": "STOP"}]}, "stop"),
        ({"candidates": [{"finishReason": "MAX_TOKENS"}]}, "length"),
        ({"candidates": [{"finishReason": "SAFETY"}]}, "safety"),
        ({"done_reason": "stop"}, "stop"),
        ({"status": "completed"}, "stop"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "content_filter"),
        ({"finish_reason": "function_call"}, "tool_calls"),
        ({"content": "half", "usage": {}}, None),
        ({"choices": [None, 3]}, None),
        ({}, None),
        (None, None),
        ("text", None),
    ],
)
def test_ends(raw, finish):
    assert finish == finish_of(raw)


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        ((100, 20, None), (100, 20, 0, 0, 120)),
        ((100, 20, {"prompt_tokens_details": {"cached_tokens": 60}}), (40, 20, 60, 0, 120)),
        ((100, 20, {"input_tokens_details": {"cached_tokens": 60}}), (40, 20, 60, 0, 120)),
        ((10, 20, {"cache_read_input_tokens": 60, "cache_creation_input_tokens": 5}), (10, 20, 60, 5, 95)),
        ((10, None, {"prompt_tokens_details": None}), (10, 0, 0, 0, 10)),
    ],
)
def test_usage(given, numbers):
    found = usage_of(*given)
    assert numbers == tuple(found[k] for k in ("input", "output", "cacheRead", "cacheWrite", "totalTokens"))
    assert {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0} == found["cost"]


def test_no_usage_is_none():
    assert usage_of(None, None, {}) is None


def test_blocks_in_order_of_first_appearance():
    events = [
        event("reasoning", "think", 0, metadata={"anthropic": {"signature": "s"}}),
        event("text", "a", 1),
        event("tool_call_name", "f", 2, "c1"),
        event("text", "b", 1),
        event("tool_call_args", '{"x":', 2, "c1"),
        event("tool_call_args", " 1}", 2, "c1"),
        event("tool_call_name", "search", 3, server=True),
        event("tool_result", "found", 4),
        event("tool_call_name", "g", 5),
        event("reasoning", "", 6),
        event("text", "", 7),
    ]
    expected = [
        {"type": "thinking", "thinking": "think", "providerMetadata": {"anthropic": {"signature": "s"}}},
        {"type": "text", "text": "ab"},
        {"type": "toolCall", "id": "c1", "name": "f", "arguments": {"x": 1}},
        {"type": "toolCall", "id": "new0", "name": "g", "arguments": {}},
    ]
    assert expected == blocks_of(events, ids(), whole=True)
    assert expected[:2] == blocks_of(events, ids(), whole=False)


@pytest.mark.parametrize("raw", ['{"x": 1', "[1]", "5", "nonsense"])
def test_arguments_that_are_no_object(raw):
    (block,) = blocks_of(
        [event("tool_call_name", "f", 0, "c"), event("tool_call_args", raw, 0, "c")], ids(), whole=True
    )
    assert {"_raw": raw} == block["arguments"]


def spoken(**fields):
    blocks = [
        {"type": "thinking", "thinking": "hm", "providerMetadata": {"p": 1}},
        {"type": "text", "text": "a"},
        {"type": "toolUse", "id": "c", "name": "f", "input": {"x": 1}},
    ]
    return {"role": "assistant", "content": blocks, "api": ME.api, "provider": ME.provider, "model": ME.model, **fields}


def test_reasoning_goes_back_to_its_own_model_only():
    (own,) = wire_messages("", [spoken()], ME)
    (other,) = wire_messages("", [spoken(model="gpt-2")], ME)
    assert {"type": "reasoning", "text": "hm", "provider_metadata": {"p": 1}} == own["parts"][0]
    call = {"type": "tool_call", "name": "f", "tool_call_id": "c", "arguments": {"x": 1}}
    assert [{"type": "text", "text": "a"}, call] == other["parts"] == own["parts"][1:]


def test_results_of_one_answer_share_a_message():
    results = [
        {"role": "toolResult", "toolCallId": "c1", "toolName": "f", "content": [{"type": "text", "text": "1"}]},
        {"role": "toolResult", "toolCallId": "c2", "toolName": "g", "content": "2", "isError": True},
    ]
    (message,) = wire_messages("", results, ME)
    assert "tool" == message["role"]
    assert [("c1", "1", None), ("c2", "2", "error")] == [
        (part["tool_call_id"], part["output"], part.get("exception")) for part in message["parts"]
    ]


def test_an_image_in_a_result():
    image = {"type": "image", "mimeType": "image/png", "data": "aGk="}
    result = {"role": "toolResult", "toolCallId": "c", "toolName": "f", "content": [image]}
    (seen,) = wire_messages("", [result], ME, {"image/png"})
    (told,) = wire_messages("", [result], ME)
    assert [{"type": "image/png", "content": "aGk="}] == seen["parts"][0]["attachments"]
    assert "image/png" in told["parts"][0]["output"]


def test_an_answer_without_content_is_left_out():
    assert [] == wire_messages("", [{"role": "assistant", "content": []}], ME)


def test_llm_takes_what_is_made_and_it_reads_back():
    import llm

    messages = [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": [{"type": "toolCall", "id": "c", "name": "f", "arguments": {"x": 1}}]},
        {
            "role": "toolResult",
            "toolCallId": "c",
            "toolName": "f",
            "content": [{"type": "text", "text": "r"}],
            "isError": False,
        },
    ]
    wire = wire_messages("S", messages, ME)
    back = [dict(llm.Message.from_dict(message).to_dict()) for message in wire]
    assert ("S", messages) == from_wire(back)


def test_flat_text():
    only = [{"role": "user", "content": "hi"}]
    assert "hi" == flat_text(only)
    answer = {"role": "assistant", "content": [{"type": "toolCall", "id": "c", "name": "f", "arguments": {"数": 1}}]}
    result = {"role": "toolResult", "toolCallId": "c", "content": "r"}
    assert 'User: hi\n\nAssistant: [calls f({"数": 1})]\n\nTool result: r' == flat_text([*only, answer, result])
