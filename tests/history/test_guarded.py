"""Storing where the tables are silent: hooks, the cap, what a history already waits for, and properties."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.history.guarded import Rules, closed, guarded, waiting
from oc.history.provenance import provenance, stamped
from oc.history.report import Trail
from oc.message.cap import MAX_STORED_CHARS
from oc.message.pairs import MISSING_RESULT, open_calls
from oc.message.shapes import result_id, text, texts
from tests.history.histories import HISTORY
from tests.support import NOW_MS

ALL = Rules(synthetic=True)


def call(*ids, name="read", **more):
    content = [{"type": "toolCall", "id": i, "name": name, "arguments": {}} for i in ids]
    return {"role": "assistant", "content": content, **more}


def result(ident, content="ok", name="read"):
    blocks = [{"type": "text", "text": content}]
    return {"role": "toolResult", "toolCallId": ident, "toolName": name, "content": blocks, "isError": False}


def user(content="q"):
    return {"role": "user", "content": content}


def store(*messages, rules=ALL, pending=None):
    return guarded(messages, pending or {}, rules, now_ms=NOW_MS)


def rules_told(stored):
    return [(decision.action, decision.rule) for decision in stored.decisions]


def test_a_history_is_continued_where_it_stands():
    """The calls that the transcript ends with wait, whoever wrote them."""
    history = [user(), call("a"), result("a"), call("b", "c", name="exec"), result("c")]
    pending = waiting(history)
    assert {"b": "exec"} == pending
    stored = store(result("b", name=""), pending=pending)
    assert stored.messages[0]["toolName"] == "exec"
    assert stored.pending == {}
    assert pending == {"b": "exec"}
    assert rules_told(stored) == [("change", "tool-name")]
    assert waiting([call("a", stopReason="aborted")]) == {}


def test_a_missing_result_stands_before_what_ended_the_wait():
    stored = store(user("next"), pending={"b": "exec", "c": None})
    assert [m["role"] for m in stored.messages] == ["toolResult", "toolResult", "user"]
    assert stored.messages[0] == {
        "role": "toolResult",
        "toolCallId": "b",
        "toolName": "exec",
        "content": [{"type": "text", "text": MISSING_RESULT}],
        "isError": True,
        "timestamp": NOW_MS,
    }
    assert stored.messages[1]["toolName"] == "unknown"
    assert rules_told(stored) == [("add", "missing-result")] * 2
    assert stored.decisions[0].cause == user("next")


def test_the_end_of_a_run_answers_or_forgets():
    assert [result_id(m) for m in closed({"a": "read"}, ALL, now_ms=NOW_MS).messages] == ["a"]
    forgotten = closed({"a": "read"}, Rules(synthetic=False), now_ms=NOW_MS)
    assert (forgotten.messages, forgotten.pending) == ([], {})


def test_calls_that_cannot_be_sent_are_not_stored():
    """Names are trimmed, tools that are not allowed go, attachments of spawned sessions are blanked."""
    spawn = {"type": "toolCall", "id": "s", "name": "sessions_spawn", "arguments": {"attachments": [{"content": "x"}]}}
    message = {
        "role": "assistant",
        "content": [*call("a", name=" read ")["content"], *call("b", name="rm")["content"], spawn],
    }
    stored = store(message, rules=Rules(synthetic=True, allowed=("READ", "sessions_spawn")))
    assert [block["name"] for block in stored.messages[0]["content"]] == ["read", "sessions_spawn"]
    assert stored.messages[0]["content"][1]["arguments"] == {"attachments": [{"content": "__OPENCLAW_REDACTED__"}]}
    assert stored.pending == {"a": "read", "s": "sessions_spawn"}


def test_a_message_that_is_dropped_ends_the_wait_all_the_same():
    nothing_left = {"role": "assistant", "content": [{"type": "toolCall", "id": "b", "name": "read"}]}
    stored = store(nothing_left, pending={"a": "read"})
    assert [result_id(m) for m in stored.messages] == ["a"]
    assert rules_told(stored) == [("drop", "no-arguments"), ("add", "missing-result")]
    assert store(nothing_left, rules=Rules(synthetic=False), pending={"a": "read"}).messages == []


def test_results_are_capped():
    stored = store(result("z", "x" * (MAX_STORED_CHARS + 1)))
    assert len(text(stored.messages[0])) == MAX_STORED_CHARS
    assert rules_told(stored) == [("change", "max-stored-chars")]


def test_hooks_see_and_change_what_is_stored():
    seen = []

    def on_result(message, synthetic):
        seen.append((result_id(message), len(text(message)), synthetic))
        return {**message, "content": [{"type": "text", "text": "y" * (MAX_STORED_CHARS + 5)}]}

    rules = Rules(synthetic=True, on_result=on_result)
    stored = store(call("a", "b"), result("a", "x" * (MAX_STORED_CHARS + 1)), user(), rules=rules)
    assert seen == [("a", MAX_STORED_CHARS, False), ("b", len(MISSING_RESULT), True)]
    assert [len(text(m)) for m in stored.messages[1:3]] == [MAX_STORED_CHARS] * 2
    assert text(stored.messages[1]).startswith("yyy")
    assert rules_told(stored)[:3] == [
        ("change", "max-stored-chars"), ("change", "hook-result"), ("change", "max-stored-chars"),
    ]  # fmt: skip


def test_what_a_hook_keeps_out_waits_for_nothing():
    rules = Rules(synthetic=True, on_write=lambda m: None if m["role"] == "assistant" else m)
    stored = store(call("a"), result("a"), user(), rules=rules)
    assert [m["role"] for m in stored.messages] == ["toolResult", "user"]
    assert rules_told(stored) == [("drop", "hook-write")]


def test_the_calls_that_a_hook_leaves_are_those_that_wait():
    rules = Rules(synthetic=True, on_write=lambda m: {**m, "content": m["content"][:1]})
    stored = store(call("a", "b"), rules=rules)
    assert stored.pending == {"a": "read"}
    assert rules_told(stored) == [("change", "hook-write")]


def test_where_a_message_came_from_is_noted_once():
    source = {"kind": "inter_session", "sourceSessionKey": " agent:b:main ", "sourceTool": " ", "x": 1}
    noted = {"kind": "inter_session", "sourceSessionKey": "agent:b:main"}
    own = {**user(), "provenance": {"kind": "external_user"}}
    bad = {**user(), "provenance": {"kind": "?"}}
    stored = store(user(), own, bad, call(), rules=Rules(synthetic=True, source=source))
    assert [m.get("provenance") for m in stored.messages] == [noted, {"kind": "external_user"}, noted, None]
    assert stored.messages[1] is own


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ({"kind": ["external_user"]}, None),
        ({"kind": "internal_system", "originSessionId": 7}, {"kind": "internal_system"}),
        (
            {"kind": "external_user", "sourceChannel": "\ufeff slack"},
            {"kind": "external_user", "sourceChannel": "slack"},
        ),
    ],
)
def test_provenance(value, expected):
    assert expected == provenance(value)
    assert stamped(user(), value).get("provenance") == expected


def test_decisions_can_be_told_of_the_messages_that_were_given():
    given_messages = [call("a"), user("x"), result("zz", name="")]
    stored = store(*given_messages)
    trail = Trail(given_messages)
    trail.follow("store", stored.decisions)
    assert [(row["action"], row["rule"], row["index"], row["tool"]) for row in trail.rows()] == [
        ("add", "missing-result", 1, "read"),
        ("change", "tool-name", 2, ""),
    ]


SYNTHETIC = st.booleans().map(lambda synthetic: Rules(synthetic, source={"kind": "inter_session"}))


@given(HISTORY, SYNTHETIC)
def test_storing_settles(messages, rules):
    """What is stored would be stored as it is; the input stays as it was."""
    before = copy.deepcopy(messages)
    once = store(*messages, rules=rules)
    assert before == messages
    twice = store(*once.messages, rules=rules)
    assert once.messages == twice.messages
    assert (twice.decisions, twice.pending) == ([], once.pending)
    assert all(len(part) <= MAX_STORED_CHARS for message in once.messages for part in texts(message))


@given(HISTORY, st.integers(0, 12), SYNTHETIC)
def test_one_by_one_is_the_same_as_all_at_once(messages, at, rules):
    whole = store(*messages, rules=rules)
    first = store(*messages[:at], rules=rules)
    rest = store(*messages[at:], rules=rules, pending=first.pending)
    assert whole.messages == first.messages + rest.messages
    assert whole.pending == rest.pending == waiting(whole.messages)


@given(HISTORY)
def test_every_call_is_answered_before_the_next_message(messages):
    """With results made up, only the last message's calls may wait."""
    stored = store(*messages)
    left: set = set()
    for message in stored.messages:
        if message.get("role") == "toolResult":
            left.discard(result_id(message))
            continue
        assert left == set()
        left = {block["id"] for block in open_calls(message)}
    assert left == set(stored.pending)
