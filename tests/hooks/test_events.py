"""What goes into a hook, what may come out, how answers are merged."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.errors import BadInput
from oc.hooks.events import EVENTS, change_prompt, check_payload, prompt_changes, take_answer

USER = {"role": "user", "content": "hi"}
RESULT = {"role": "toolResult", "toolCallId": "c1", "toolName": "read", "content": [{"type": "text", "text": "x"}]}
PAYLOADS = {
    "session_new": {"sessionId": "s", "sessionFile": "/s.jsonl"},
    "before_prompt_build": {"prompt": "p", "messages": [USER]},
    "before_agent_start": {"prompt": "p", "messages": []},
    "context": {"messages": [USER]},
    "before_message_write": {"message": USER},
    "tool_result_persist": {"message": RESULT},
    "before_compaction": {"entries": [{"id": "e1"}, {"id": "e2"}], "firstKeptEntryId": "e2", "tokensBefore": 10},
    "after_compaction": {"entry": {"type": "compaction"}},
    "agent_end": {"messages": [USER], "success": True},
}


def merged(event, *answers):
    payload = PAYLOADS[event]
    result = {}
    for answer in answers:
        result = EVENTS[event].merge(payload, result, take_answer(event, payload, answer)[0])
    return result


def test_every_event_has_a_payload_here():
    assert list(PAYLOADS) == list(EVENTS)


@pytest.mark.parametrize("event", EVENTS)
def test_a_whole_payload_is_accepted_and_each_field_is_needed(event):
    payload = PAYLOADS[event]
    check_payload(event, payload)
    for field in payload:
        with pytest.raises(BadInput, match=f"the payload of {event}: {field} is missing"):
            check_payload(event, {k: v for k, v in payload.items() if k != field})
        with pytest.raises(BadInput, match=f"the payload of {event}: {field} must be"):
            check_payload(event, {**payload, field: 1.5})
    with pytest.raises(BadInput, match="must be an object"):
        check_payload(event, [payload])


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("answer", [None, {}])
def test_no_answer_is_fine_everywhere(event, answer):
    assert take_answer(event, PAYLOADS[event], answer) == ({}, [])


@pytest.mark.parametrize("event", EVENTS)
def test_null_is_as_absent_and_unknown_fields_are_named(event):
    fields = EVENTS[event].answers
    answer = {**dict.fromkeys(fields), "zebra": 1, "ant": None}
    assert take_answer(event, PAYLOADS[event], answer) == ({}, ["ant", "zebra"])


@pytest.mark.parametrize(
    ("event", "answer", "message"),
    [
        ("agent_end", [], "the answer must be an object"),
        ("context", "text", "the answer must be an object"),
        ("before_prompt_build", {"prependContext": ["a"]}, "prependContext must be a string"),
        ("before_agent_start", {"systemPrompt": 1}, "systemPrompt must be a string"),
        ("context", {"messages": {}}, "messages must be a list of messages"),
        ("context", {"messages": [USER, {"content": "x"}]}, "messages [1] must be a message, an object with a role"),
        ("context", {"messages": [{"role": "user", "content": 5}]}, "must have a string or a list for content"),
        ("context", {"messages": [{"role": "user", "content": ["x"]}]}, "must have objects for content blocks"),
        ("before_message_write", {"block": "yes"}, "block must be true or false"),
        ("before_message_write", {"message": {"role": "assistant"}}, "message must keep the role 'user'"),
        ("before_message_write", {"message": "hi"}, "message must be a message"),
        ("tool_result_persist", {"message": {**RESULT, "toolCallId": "c2"}}, "message must keep the toolCallId"),
        ("tool_result_persist", {"message": USER}, "message must keep the role 'toolResult'"),
        ("before_compaction", {"summary": " \n"}, "summary must be a string that is not blank"),
        ("before_compaction", {"summary": "s", "firstKeptEntryId": "e9"}, "must be the id of one of the entries"),
        ("before_compaction", {"summary": "s", "firstKeptEntryId": ["e1"]}, "must be the id of one of the entries"),
        ("before_compaction", {"firstKeptEntryId": "e1", "details": {}}, "details, firstKeptEntryId without a summary"),
        ("before_compaction", {"summary": "s", "details": "x"}, "details must be an object"),
        ("before_compaction", {"cancel": 1}, "cancel must be true or false"),
    ],
)
def test_what_may_not_come_out(event, answer, message):
    with pytest.raises(BadInput) as error:
        merged(event, answer)
    assert message in error.value.message


def test_texts_are_joined_and_the_later_system_prompt_wins():
    first = {"systemPrompt": "A", "prependContext": "1", "appendSystemContext": ""}
    second = {"systemPrompt": "B", "prependContext": "2", "appendSystemContext": "z"}
    assert merged("before_prompt_build", first, {}, second) == {
        "systemPrompt": "B",
        "prependContext": "1\n\n2",
        "appendSystemContext": "z",
    }


def test_before_prompt_build_has_the_say_over_before_agent_start():
    build, legacy = {"prependContext": "b", "systemPrompt": " "}, {"prependContext": "l", "systemPrompt": "L"}
    changes = prompt_changes(build, legacy)
    assert changes == {"systemPrompt": " ", "prependContext": "b\n\nl"}
    assert change_prompt(changes, "p", "BASE") == ("b\n\nl\n\np", "BASE")
    assert prompt_changes({}, legacy)["systemPrompt"] == "L"


def test_added_system_context_trims_what_it_surrounds():
    assert change_prompt({"appendSystemContext": "\ufeff end \n"}, "p", " BASE\n") == ("p", "BASE\n\nend")
    assert change_prompt({"appendSystemContext": " "}, "p", " BASE\n") == ("p", " BASE\n")


def test_a_message_is_replaced_or_blocked():
    new = {"role": "user", "content": "ho"}
    assert merged("before_message_write", {"message": new}) == {"message": new}
    assert merged("before_message_write", {"message": new}, {"block": False}) == {"message": new}
    assert merged("before_message_write", {"message": new}, {"block": True}) == {"block": True}
    assert merged("before_message_write", {"block": False}) == {}


@pytest.mark.parametrize("event", EVENTS)
def test_a_payload_that_comes_back_is_no_answer(event):
    payload = PAYLOADS[event]
    known, unknown = take_answer(event, payload, payload)
    assert unknown == []
    assert EVENTS[event].merge(payload, {}, known) == {k: v for k, v in known.items() if EVENTS[event].chained == k}
    assert take_answer(event, payload, {**payload, "event": "other"})[1] == ["event"]


def test_a_field_that_cannot_be_answered_is_named_when_it_changed():
    assert take_answer("before_prompt_build", PAYLOADS["before_prompt_build"], {"prompt": "q"}) == ({}, ["prompt"])


def test_a_compaction_is_cancelled_or_summarised():
    assert merged("before_compaction", {"cancel": False}) == {}
    assert merged("before_compaction", {"summary": "s"}) == {"summary": "s", "firstKeptEntryId": "e2"}
    assert merged("before_compaction", {"summary": "s"}, {"summary": "t", "firstKeptEntryId": "e1"}) == {
        "summary": "t",
        "firstKeptEntryId": "e1",
    }
    assert merged("before_compaction", {"summary": "s", "cancel": True}) == {"cancel": True}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "id", "toolCallId"]) | st.text(max_size=3), inner, max_size=3
        )
    ),
    max_leaves=6,
)
FIELD_NAMES = sorted({field for event in EVENTS.values() for field in event.answers})


@given(st.sampled_from(sorted(EVENTS)), st.dictionaries(st.sampled_from(FIELD_NAMES), values, max_size=4) | values)
def test_any_json_is_taken_or_refused_with_a_word(event, answer):
    with suppress(BadInput):
        assert set(merged(event, answer)) <= set(EVENTS[event].answers)


texts = st.fixed_dictionaries({}, optional=dict.fromkeys(EVENTS["before_prompt_build"].answers, st.text(max_size=4)))


@given(texts, texts, texts)
def test_merging_does_not_depend_on_how_answers_are_grouped(first, second, third):
    merge = EVENTS["before_prompt_build"].merge
    left = merge({}, merge({}, first, second), third)
    right = merge({}, first, merge({}, second, third))
    assert left == right
