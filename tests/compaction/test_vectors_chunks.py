"""Chunks of a history as the reference makes them."""

from hypothesis import given
from hypothesis import strategies as st

from oc.base.tokens import CHARS4, ESTIMATE
from oc.compaction.chunks import chunk_by_tokens, chunk_ratio, drop_oldest, history_budget, is_oversized, split_by_share
from oc.message.size import message_tokens, total_tokens
from tests.forms import expand
from tests.shapes import turns
from tests.support import NOW_MS, vectors


def labels(messages):
    return [message["k"] for message in messages]


def answer(name, given):
    """Returns what the function of that case says, in the form of the table."""
    messages = given.get("messages")
    if name.startswith("split"):
        parts = {"parts": given["parts"]} if "parts" in given else {}
        return [labels(chunk) for chunk in split_by_share(messages, CHARS4, **parts)]
    if name.startswith("chunk"):
        return [labels(chunk) for chunk in chunk_by_tokens(messages, CHARS4, max_tokens=given["maxTokens"])]
    if name.startswith("ratio"):
        return chunk_ratio(messages, CHARS4, window_tokens=given["contextWindow"])
    if name.startswith("oversized"):
        return is_oversized(given["message"], CHARS4, window_tokens=given["contextWindow"])
    if name.startswith("tokens"):
        return total_tokens(messages, CHARS4)
    assert name.startswith("prune")
    budget = history_budget(given["maxContextTokens"], given.get("maxHistoryShare", 0.5))
    done = drop_oldest(messages, CHARS4, budget_tokens=budget, now_ms=NOW_MS)
    return {
        "kept": labels(done.kept),
        "dropped": labels(done.dropped),
        "droppedChunks": done.dropped_chunks,
        "droppedMessages": done.dropped_messages,
        "droppedTokens": done.dropped_tokens,
        "keptTokens": done.kept_tokens,
        "budgetTokens": budget,
    }


@vectors("context-compact-chunk")
def test_chunks(case):
    assert case.expected == answer(case.name.partition("/")[2], expand(case.input))


@given(turns(), st.integers(1, 9), st.integers(1, 400))
def test_chunks_are_the_messages_in_order(messages, parts, max_tokens):
    """And only a message that is too large by itself is in a chunk over its limit."""
    shares = split_by_share(messages, ESTIMATE, parts=parts)
    assert messages == [one for chunk in shares for one in chunk]
    assert len(shares) <= parts
    chunks = chunk_by_tokens(messages, ESTIMATE, max_tokens=max_tokens)
    assert messages == [one for chunk in chunks for one in chunk]
    for chunk in [*shares, *chunks]:
        assert chunk
    for chunk in chunks:
        fits = total_tokens(chunk, ESTIMATE) <= max_tokens
        assert fits or max(message_tokens(one, ESTIMATE) for one in chunk) * 1.2 > max_tokens / 2


@given(turns(), st.integers(1, 2000))
def test_dropping_ends_and_loses_no_message_unseen(messages, budget):
    done = drop_oldest(messages, ESTIMATE, budget_tokens=budget, now_ms=NOW_MS)
    assert done.kept_tokens <= budget or len(split_by_share(done.kept, ESTIMATE)) <= 1
    seen = [*done.dropped, *done.kept]
    assert all(one in seen for one in messages if one["role"] != "toolResult")
