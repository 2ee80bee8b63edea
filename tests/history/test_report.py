"""What a wash tells, and which given message each of its messages comes from."""

import json

import pytest

from oc.history.policy import policy, resolve
from oc.history.report import message_chars
from oc.history.sanitize import STAGES, Wash, limit, sanitize
from tests.history.histories import ALTERNATING, MODELS, faults
from tests.support import NOW_MS, testdata

CALL = {"type": "toolCall", "id": "call_1", "name": "read", "arguments": {"p": "a"}}
HISTORY = [
    {"role": "user", "content": "one"},
    {"role": "user", "content": "two 😀"},
    {"role": "assistant", "content": [CALL], "usage": {"input": 1, "totalTokens": 1}},
    {"role": "toolResult", "toolCallId": "gone", "toolName": "exec", "content": [{"type": "text", "text": "old"}]},
]


def washed(history, provider, **settings):
    return sanitize(history, Wash(policy(resolve(provider)), NOW_MS), **settings)


def told(done):
    keys = ("stage", "action", "index", "role", "tool", "chars_before", "chars_after", "rule")
    return [tuple(row[key] for key in keys) for row in done.trail.rows()]


def test_every_decision_is_a_row():
    done = washed(HISTORY, "anthropic", only=["ids", "pairs", "turns"])
    assert told(done) == [
        ("ids", "change", 2, "assistant", "read", 13, 13, "strict-id"),
        ("pairs", "drop", 3, "toolResult", "exec", 3, 0, "orphan-result"),
        ("pairs", "add", 2, "toolResult", "read", 0, 105, "missing-result"),
        ("turns", "change", 0, "user", None, 3, 9, "merged-with-next"),
        ("turns", "merge", 1, "user", None, 6, 9, "merged-into-previous"),
    ]


def test_origins_follow_changes_merges_and_additions():
    done = washed(HISTORY, "anthropic")
    assert [(m["role"], *done.trail.origin(m)) for m in done.messages] == [
        ("user", 0, False),
        ("assistant", 2, False),
        ("toolResult", 2, True),
    ]


def test_stages_without_use_for_the_policy_are_named():
    assert washed([], "openai").skipped == ["ids", "thinking", "start", "turns"]
    assert washed([], "anthropic").skipped == ["thinking", "reasoning"]
    assert washed([], "anthropic", only=["reasoning", "ids"]).skipped == ["reasoning"]


def test_stages_run_in_their_own_order():
    one = washed(HISTORY, "anthropic", only=["turns", "pairs", "ids"])
    assert one.messages == washed(HISTORY, "anthropic", only=["ids", "pairs", "turns"]).messages


def test_seen_images_go_only_when_asked_for():
    image = {"type": "image", "data": "UklGRg==", "mimeType": "image/webp"}
    history = [{"role": "user", "content": [image]}, {"role": "assistant", "content": [{"type": "text", "text": "a"}]}]
    assert washed(history, "openai").messages[0] is history[0]
    assert washed(history, "openai", only=["seen-images"]).messages[0]["content"][0]["type"] == "text"
    assert STAGES[-1] == "seen-images"


@pytest.mark.parametrize(
    "history",
    [
        # A blank string beside a whole message: merged, it would be a blank block that the next wash drops.
        [{"role": "assistant", "content": "hi"}, {"role": "assistant", "content": "  "}],
        # Usage of after the compaction in a merged message that is dated before it.
        [
            {"role": "compactionSummary", "summary": "s", "timestamp": 20},
            {"role": "assistant", "content": "a", "timestamp": 5},
            {"role": "assistant", "content": "b", "timestamp": 50, "usage": {"input": 5, "output": 1}},
        ],
    ],
)
def test_what_once_took_two_washes_takes_one(history):
    once = washed(history, "anthropic").messages
    assert once == washed(once, "anthropic").messages


def test_turns_that_a_blank_answer_kept_apart_merge_with_their_strings():
    """D24: the reference merges both into an empty message."""
    blank = {"role": "assistant", "content": [{"type": "text", "text": "   "}]}
    done = washed([{"role": "user", "content": "x"}, blank, {"role": "user", "content": "y"}], "anthropic")
    assert done.messages == [
        {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]}
    ]


def test_only_allowed_tools_may_stay():
    history = [{"role": "assistant", "content": [CALL]}, {"role": "toolResult", "toolCallId": "call_1", "content": []}]
    wash = Wash(policy(resolve("openai")), NOW_MS, allowed_tools=["exec"])
    assert sanitize(history, wash).messages == []


def test_what_a_limit_parted_is_paired_anew():
    history = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [CALL]},
        {"role": "user", "content": "b"},
        {"role": "toolResult", "toolCallId": "call_1", "toolName": "read", "content": []},
    ]
    done = limit(history, 1, now_ms=NOW_MS)
    assert done.messages == [history[2]]
    assert [row["stage"] for row in done.trail.rows()] == ["limit", "limit", "pairs"]


def test_sizes_are_those_of_what_is_said():
    assert message_chars({"role": "compactionSummary", "summary": "😀"}) == 2
    assert message_chars({"role": "assistant", "content": [CALL, {"type": "thinking", "thinking": "hm"}, 5]}) == 15
    assert message_chars({"role": "user", "content": [{"type": "image", "data": "abcd"}]}) == 4
    assert message_chars(None) == message_chars({"role": "user"}) == 0


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_real_session_is_legal_for_every_provider(name):
    """1,019 lines as a coding agent wrote them: 22 aborted or failed turns, half-written calls, empty messages."""
    lines = testdata("transcripts", "pi-v1-large.jsonl").read_bytes().splitlines()
    history = [entry["message"] for entry in map(json.loads, lines) if "message" in entry]
    once = sanitize(history, Wash(policy(MODELS[name]), NOW_MS))
    assert list(faults(once.messages, name)) == []
    again = sanitize(once.messages, Wash(policy(MODELS[name]), NOW_MS))
    assert not again.trail.changed
    assert len(once.messages) == (889 if name in ALTERNATING else 899)
