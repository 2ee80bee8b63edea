"""Sizes by any counter, over messages of all shapes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.tokens import CHARS4, ESTIMATE, counter
from oc.message.shapes import blocks, call_arguments, calls, image_count, result_id, text, texts
from oc.message.size import IMAGE_CHARS, context_size, message_tokens, total_tokens, usage_tokens
from tests.shapes import JSON, turns

USAGE = {"input": 5, "output": 3, "cacheRead": 2, "cacheWrite": 0, "totalTokens": 0}


@given(turns())
def test_a_context_is_the_sum_of_its_messages(messages):
    for method in (CHARS4, ESTIMATE):
        assert total_tokens(messages, method) == sum(message_tokens(message, method) for message in messages)


@given(turns())
def test_estimate_is_never_below_chars4(messages):
    assert total_tokens(messages, ESTIMATE) >= total_tokens(messages, CHARS4)


@given(st.dictionaries(st.sampled_from(["role", "content", "usage", "stopReason", "x"]), JSON))
def test_any_object_has_a_size(message):
    """Whatever stands where a message should be, counting it does not fail."""
    assert message_tokens(message, ESTIMATE) >= 0
    assert len(texts(message)) <= len(list(blocks(message)))
    assert image_count(message) >= 0
    assert isinstance(calls(message), list)
    result_id(message)


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ({"role": "assistant", "content": "as excerpts have it"}, 5),
        ({"role": "assistant", "content": [{"type": "toolCall", "name": "ls", "input": {"a": 1}}]}, 3),
        ({"role": "assistant", "content": [{"type": "thinking", "thinking": "日本"}]}, 2),
        ({"role": "user", "content": [{"type": "image", "data": "AA"}]}, 0),
        ({"role": "toolResult", "content": [{"type": "image", "data": "AA"}]}, IMAGE_CHARS // 4),
        ({"role": "toolResult", "content": None}, 0),
        ({"role": "custom", "content": [1, None, {"type": "text"}]}, 0),
        ({"role": "bashExecution", "command": "make", "output": None}, 1),
        ({"role": "compactionSummary", "summary": None}, 0),
    ],
)
def test_message_tokens(message, tokens):
    """Strings and lists, arguments under either key, missing fields."""
    assert tokens == message_tokens(message, ESTIMATE)


def test_the_exact_counter_counts_the_same_texts():
    message = {"role": "assistant", "content": [{"type": "text", "text": "hello world"}]}
    assert 2 == message_tokens(message, counter("tiktoken"))


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [(USAGE, 10), ({**USAGE, "totalTokens": 7}, 7), ({}, 0), ({"input": None, "output": 4}, 4)],
)
def test_usage_tokens(usage, tokens):
    assert tokens == usage_tokens(usage)


@pytest.mark.parametrize("stop", ["aborted", "error"])
def test_the_usage_of_a_failed_call_does_not_count(stop):
    answered = {"role": "assistant", "content": "a", "usage": USAGE, "stopReason": "stop"}
    failed = {"role": "assistant", "content": "b", "usage": {"totalTokens": 999}, "stopReason": stop}
    size = context_size([answered, failed], ESTIMATE)
    assert (11, 0) == (size.tokens, size.last_usage_index)


def test_shapes():
    """A string is one text block; blocks that are none are passed over."""
    assert ["a"] == texts({"content": "a"})
    assert "a\nb" == text({"content": [{"type": "text", "text": "a"}, 5, {"type": "text", "text": "b"}]})
    assert {"p": 1} == call_arguments({"input": {"p": 1}, "arguments": None})
    assert "x" == result_id({"toolUseId": "x", "toolCallId": ""})
    assert [] == calls({"role": "user", "content": [{"type": "toolCall"}]})
