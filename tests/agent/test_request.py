"""The working set: pairs whole, failed answers out, nothing invented."""

from hypothesis import given
from hypothesis import strategies as st

from oc.agent.request import UNANSWERED, with_seen, working_set
from oc.message.shapes import calls, result_id


def user(text="hi"):
    return {"role": "user", "content": text}


def answer(*ids, stop="toolUse"):
    blocks = [{"type": "toolCall", "id": i, "name": f"tool-{i}", "arguments": {}} for i in ids]
    return {"role": "assistant", "content": blocks or [{"type": "text", "text": "ok"}], "stopReason": stop}


def result(call_id, text="r"):
    return {"role": "toolResult", "toolCallId": call_id, "toolName": "t", "content": [{"type": "text", "text": text}]}


def test_a_whole_history_is_unchanged():
    history = [user(), answer("a", "b"), result("a"), result("b"), answer(stop="stop"), user()]
    assert history == working_set(history)


def test_results_follow_the_order_of_the_calls():
    said = user("meanwhile")
    assert [answer("a", "b"), result("a"), result("b"), said] == working_set(
        [answer("a", "b"), result("b"), said, result("a")]
    )


def test_a_call_without_result_gets_one_that_says_so():
    """A run that was killed between the call and its result."""
    shown = working_set([user(), answer("a", "b"), result("a"), user("go on")])
    assert ["user", "assistant", "toolResult", "toolResult", "user"] == [m["role"] for m in shown]
    assert (UNANSWERED, True, "tool-b") == (shown[3]["content"][0]["text"], shown[3]["isError"], shown[3]["toolName"])


def test_failed_answers_and_their_calls_are_left_out():
    for stop in ("error", "aborted"):
        assert [user(), user("again")] == working_set([user(), answer("a", stop=stop), result("a"), user("again")])


def test_orphans_and_second_results_are_left_out():
    assert [answer("a"), result("a", "1")] == working_set(
        [result("x"), answer("a"), result("a", "1"), result("a", "2")]
    )


def test_derived_messages_are_shown_as_the_users():
    summary = {"role": "compactionSummary", "summary": "S", "timestamp": 1}
    (shown,) = working_set([summary])
    assert "user" == shown["role"]
    assert "S" in shown["content"][0]["text"]


messages = st.lists(
    st.one_of(
        st.just(user()),
        st.builds(
            answer,
            st.sampled_from("abc"),
            st.sampled_from("def"),
            stop=st.sampled_from(["toolUse", "error", "aborted", "stop"]),
        ),
        st.builds(result, st.sampled_from("abcdefx")),
    ),
    max_size=12,
)


@given(messages)
def test_every_call_has_its_result_right_behind_it_and_it_is_stable(history):
    shown = working_set(history)
    assert shown == working_set(shown)
    expected = []
    for message in shown:
        if message["role"] == "toolResult":
            assert expected.pop(0) == result_id(message)
        else:
            assert not expected
            expected = [call["id"] for call in calls(message)]
    assert not expected
    assert [m for m in history if m["role"] == "user"] == [m for m in shown if m["role"] == "user"]


def test_signatures_of_truncation_are_remembered_beside_what_else_is_there():
    row = {"systemPromptReport": {"source": "run", "bootstrapTruncation": {"x": 1}}}
    fields = with_seen(row, ("s",))
    assert {"x": 1, "warningSignaturesSeen": ["s"]} == fields["systemPromptReport"]["bootstrapTruncation"]
    assert "run" == fields["systemPromptReport"]["source"]
    assert {} == with_seen({**row, **fields}, ("s",))
    assert {} == with_seen({"systemPromptReport": 3}, ())
