"""Staged summaries as the reference makes them, with a summariser that says what it was shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.tokens import CHARS4, ESTIMATE
from oc.compaction.prompts import NO_HISTORY
from oc.compaction.stages import MERGE, Stages, identifier_text
from oc.errors import Unavailable
from tests.forms import expand
from tests.shapes import turns
from tests.support import vectors

FOCUS = "\n\nAdditional focus:\n"


def label(message):
    if "k" in message:
        return message["k"]
    return f"result:{message['toolCallId']}" if message["role"] == "toolResult" else message["role"]


class Stub:
    """Answers as the table's stub does, and keeps what it was asked."""

    def __init__(self, plan=None):
        self.plan = plan or {}
        self.calls = []

    def __call__(self, messages, previous, instructions):
        keys = [label(message) for message in messages]
        self.calls.append((messages, previous, instructions))
        if self.plan.get("failAll") or {*keys} & {*self.plan.get("failIf", [])}:
            raise Unavailable("stub")
        texts = self.plan.get("texts", [])
        number = len(self.calls)
        return texts[number - 1] if number <= len(texts) else f"S{number}[{','.join(keys)}]"

    def told(self, expected):
        """Returns the calls in the form of the table; wordings are our own, so of those only the frame counts."""
        found = []
        for (messages, previous, instructions), wanted in zip(self.calls, expected, strict=True):
            one = {"keys": [label(message) for message in messages], "previous": previous}
            if "contents" in wanted:
                one["contents"] = [message["content"] for message in messages]
                assert MERGE in instructions
            if "focus on TODO" in wanted["instructionsTail"]:
                assert instructions.endswith("\n\nfocus on TODO" if "contents" in wanted else FOCUS + "focus on TODO")
            one["hasInstructions"] = bool(instructions)
            one["hasDetails"] = any("details" in message for message in messages)
            found.append(one)
        return found


def frame(call):
    return {name: value for name, value in call.items() if name not in ("reserveTokens", "instructionsTail")}


@vectors("context-compact-stages")
def test_stages(case):
    given = expand(case.input)
    stub = Stub(given.get("plan"))
    names = {"parts": "parts", "minMessagesForSplit": "min_messages"}
    more = {ours: given[theirs] for theirs, ours in names.items() if theirs in given}
    stages = Stages(stub, CHARS4, given["maxChunkTokens"], given["contextWindow"], **more)
    result = stages.summary(given["messages"], given.get("previousSummary"), given.get("customInstructions"))
    assert case.expected["result"] == result
    assert [frame(call) for call in case.expected["calls"]] == stub.told(case.expected["calls"])


def huge(key="HUGE"):
    return {"role": "user", "content": "x" * 9000, "k": key}


def small(key):
    return {"role": "user", "content": "x" * 40, "k": key}


@pytest.mark.parametrize("messages", [[huge()], [small("a")], [small("a"), huge()]])
def test_a_failure_is_no_summary(messages):
    """The reference makes a text that says that there is none (D12)."""
    with pytest.raises(Unavailable):
        Stages(Stub({"failAll": True}), CHARS4, 90000, 4000).summary(messages)


def test_a_failure_that_no_size_explains_is_not_asked_again():
    stub = Stub({"failIf": ["b"]})
    with pytest.raises(Unavailable):
        Stages(stub, CHARS4, 90000, 4000).summary([small("a"), small("b")])
    assert 1 == len(stub.calls)


def test_the_policy_on_identifiers():
    strict = identifier_text("strict")
    assert "UUIDs" in strict
    assert strict == identifier_text("strict", "own") == identifier_text("custom", "  ")
    assert "own" == identifier_text("custom", " own ")
    assert identifier_text("off", "own") is None


@given(turns(), st.integers(1, 300), st.integers(1, 4))
def test_it_ends_and_shows_every_message_once(messages, max_chunk_tokens, parts):
    stub = Stub()
    result = Stages(stub, ESTIMATE, max_chunk_tokens, 1000, parts=parts).summary(messages, "before")
    shown = [message for asked, _, _ in stub.calls for message in asked]
    own = [one for one in shown if not (one["role"] == "user" and str(one["content"]).startswith("S"))]
    assert [{n: v for n, v in one.items() if n != "details"} for one in messages] == own
    assert result == (f"S{len(stub.calls)}[{','.join(map(label, stub.calls[-1][0]))}]" if messages else "before")


def test_nothing_at_all():
    assert NO_HISTORY == Stages(Stub(), ESTIMATE, 100, 1000).summary([])
