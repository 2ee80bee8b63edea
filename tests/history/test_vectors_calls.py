"""Ids, inputs and pairs of tool calls."""

from oc.history.ids import legal_id, rewrite_ids
from oc.history.inputs import sendable_calls
from oc.message.pairs import MISSING_RESULT, pair
from tests.support import NOW_MS, vectors


@vectors("context-tool-ids")
def test_tool_ids(case):
    given = case.input
    if case.fn == "sanitizeToolCallId":
        assert case.expected == legal_id(given["id"], given["mode"])
    else:
        assert case.expected == rewrite_ids(given["messages"], given["mode"])[0]


def dropped_calls(decisions):
    return [d for d in decisions if d.rule in ("no-arguments", "no-id", "bad-name", "not-allowed")]


def check_inputs(case, allowed):
    messages, decisions = sendable_calls(case.input["messages"], allowed)
    gone = {id(d.before) for d in decisions if d.after is None}
    assert case.expected == {
        "messages": messages,
        "droppedToolCalls": len(dropped_calls(decisions)),
        "droppedAssistantMessages": len(gone),
    }


@vectors("context-tool-inputs")
def test_tool_inputs(case):
    check_inputs(case, case.input.get("allowed"))


@vectors(
    "sessions-repair", fn="dist/reply-Bm8VrLQh.js region src/agents/session-transcript-repair.ts repairToolCallInputs"
)
def test_tool_inputs_of_sessions(case):
    check_inputs(case, case.input["allowedToolNames"])


def repaired(given):
    """What the reference hands back: its input when it counts nothing as changed, so a second result stays there."""
    paired = pair(given, now_ms=NOW_MS)
    return paired, paired.messages if paired.changed else given


@vectors("context-tool-pairs")
def test_tool_pairs(case):
    paired, messages = repaired(case.input["messages"])
    assert case.expected == {
        "messages": messages,
        "addedIds": [message["toolCallId"] for message in paired.added],
        "droppedDuplicateCount": paired.dropped_duplicates,
        "droppedOrphanCount": paired.dropped_orphans,
        "moved": paired.changed,
        "sameArray": not paired.changed,
    }


def masked(messages):
    """The table has a placeholder for the text and the time of a made-up result."""
    return [
        {**m, "content": [{"type": "text", "text": "{{MISSING_TOOL_RESULT}}"}], "timestamp": "$now"}
        if m.get("content") == [{"type": "text", "text": MISSING_RESULT}]
        else m
        for m in messages
    ]


@vectors(
    "sessions-repair",
    fn="dist/reply-Bm8VrLQh.js region src/agents/session-transcript-repair.ts repairToolUseResultPairing",
)
def test_tool_pairs_of_sessions(case):
    paired, messages = repaired(case.input["messages"])
    assert case.expected == {
        "messages": masked(messages),
        "added": masked(paired.added),
        "droppedDuplicateCount": paired.dropped_duplicates,
        "droppedOrphanCount": paired.dropped_orphans,
        "moved": paired.changed,
    }
