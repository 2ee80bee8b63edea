"""A conversation in parts that fit."""

from hypothesis import given, settings
from hypothesis import strategies as st

from oc.agent.parts import LEAST_TOKENS, split
from oc.base.tokens import CHARS4, ESTIMATE
from oc.message.shapes import calls, text
from oc.message.size import message_tokens


def entry(message):
    return {"type": "message", "id": None, "message": message}


def said(role, words):
    return entry({"role": role, "content": [{"type": "text", "text": words}]})


def called(number, words, argument=""):
    call = {"type": "toolCall", "id": f"c{number}", "name": "read", "arguments": {"path": argument}}
    content = [{"type": "text", "text": words}, call]
    result = {"role": "toolResult", "toolCallId": f"c{number}", "toolName": "read"}
    return [
        entry({"role": "assistant", "content": content}),
        entry({**result, "content": [{"type": "text", "text": words * 3}]}),
    ]


def test_what_fits_is_one_part_and_the_same_entries():
    entries = [said("user", "hello"), *called(1, "x"), said("assistant", "done")]
    assert [entries] == split(entries, 10_000, ESTIMATE)


def test_nothing_has_no_part():
    assert [] == split([], 10_000, ESTIMATE)


def test_a_summary_and_a_command_that_are_too_long_are_read_in_pieces():
    long = "a line of words\n" * 400
    entries = [entry({"role": "compactionSummary", "summary": long}), entry({"role": "bashExecution", "output": long})]
    parts = split(entries, 300, ESTIMATE)
    assert long * 2 == "".join(text(one["message"]) for part in parts for one in part)


def test_a_call_whose_arguments_are_too_long_is_read_as_text():
    parts = split(called(1, "writing", "字" * 2000), 500, ESTIMATE)
    assert 2000 == sum(text(one["message"]).count("字") for part in parts for one in part)
    assert not any(calls(one["message"]) for part in parts for one in part)


WORDS = st.sampled_from(["short", "words and words\n" * 60, "数据库" * 300, "🎉" * 500, "x" * 5000])
TALK = st.lists(
    st.one_of(
        st.builds(lambda role, words: [said(role, words)], st.sampled_from(["user", "assistant"]), WORDS),
        st.builds(called, st.integers(0, 99), WORDS, WORDS),
    ),
    max_size=8,
).map(lambda units: [one for unit in units for one in unit])


@settings(max_examples=100)
@given(TALK, st.integers(0, 3000), st.sampled_from([CHARS4, ESTIMATE]))
def test_every_part_fits_and_all_that_was_said_is_in_one(entries, budget, counter):
    parts = split(entries, budget, counter)
    limit = max(LEAST_TOKENS, budget)
    for part in parts:
        assert part
        assert sum(message_tokens(one["message"], counter) for one in part) <= limit
        assert part[0]["message"]["role"] != "toolResult"
    shown = "".join("".join(text(one["message"]).split()) for part in parts for one in part)
    for one in entries:
        if one["message"]["role"] == "user":
            assert "".join(text(one["message"]).split()) in shown


@settings(max_examples=100)
@given(TALK, st.integers(0, 3000))
def test_a_result_is_in_the_part_of_its_call(entries, budget):
    for part in split(entries, budget, ESTIMATE):
        known = {call["id"] for one in part for call in calls(one["message"])}
        assert all(one["message"]["toolCallId"] in known for one in part if one["message"]["role"] == "toolResult")
