"""The working set: pairs whole, half-written calls out, turns limited; what the row remembers."""

from hypothesis import given
from hypothesis import strategies as st

from oc.agent.request import with_seen
from oc.agent.view import View
from oc.history.policy import Model, policy
from oc.history.sanitize import Wash
from oc.message.pairs import MISSING_RESULT
from oc.message.shapes import calls, result_id


def working_set(messages, turns=None, **model):
    entries = [{"type": "message", "id": str(n), "message": message} for n, message in enumerate(messages)]
    return View(Wash(policy(Model(**model)), 1), turns).history(entries).messages


def user(text="hi"):
    return {"role": "user", "content": text}


def answer(*ids, stop="toolUse"):
    blocks = [{"type": "toolCall", "id": i, "name": f"tool-{i}", "arguments": {}} for i in ids]
    return {"role": "assistant", "content": blocks or [{"type": "text", "text": "ok"}], "stopReason": stop}


def result(call_id, text="r"):
    return {"role": "toolResult", "toolCallId": call_id, "toolName": "t", "content": [{"type": "text", "text": text}]}


def test_a_whole_history_is_unchanged_for_a_model_without_demands():
    history = [user(), answer("a", "b"), result("a"), result("b"), answer(stop="stop"), user()]
    assert [(m["role"], m["content"]) for m in history] == [(m["role"], m["content"]) for m in working_set(history)]


def test_a_call_without_result_gets_one_that_says_so():
    """A run that was killed between the call and its result."""
    shown = working_set([user(), answer("a", "b"), result("a"), user("go on")])
    assert ["user", "assistant", "toolResult", "toolResult", "user"] == [m["role"] for m in shown]
    assert (MISSING_RESULT, True, "tool-b") == (
        shown[3]["content"][0]["text"],
        shown[3]["isError"],
        shown[3]["toolName"],
    )


def test_half_written_calls_are_left_out():
    for stop in ("error", "aborted"):
        shown = working_set([user(), answer("a", stop=stop), result("a"), user("again")])
        assert [user(), user("again")] == shown


def test_a_limit_counts_the_users_turns():
    history = [user("1"), answer(stop="stop"), user("2"), answer(stop="stop"), user("3")]
    assert ["2", "3"] == [m["content"] for m in working_set(history, turns=2) if m["role"] == "user"]


def test_a_summary_joins_the_users_message_where_turns_must_alternate():
    summary = {"role": "compactionSummary", "summary": "S", "timestamp": 1}
    (shown,) = working_set([summary, user("go on")], provider="anthropic", api="anthropic-messages")
    assert ["S" in block["text"] or block["text"] for block in shown["content"]] == [True, "go on"]


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
        st.just({"role": "compactionSummary", "summary": "S", "timestamp": 1}),
    ),
    max_size=12,
)


@given(messages, st.sampled_from(["", "anthropic", "google", "openai", "mistral"]))
def test_every_call_has_its_result_right_behind_it(history, provider):
    expected = []
    for message in working_set(history, provider=provider):
        if message["role"] == "toolResult":
            assert expected.pop(0) == result_id(message)
        else:
            assert not expected
            expected = [call["id"] for call in calls(message)]
    assert not expected


def test_signatures_of_truncation_are_remembered_beside_what_else_is_there():
    row = {"systemPromptReport": {"source": "run", "bootstrapTruncation": {"x": 1}}}
    fields = with_seen(row, ("s",))
    assert {"x": 1, "warningSignaturesSeen": ["s"]} == fields["systemPromptReport"]["bootstrapTruncation"]
    assert "run" == fields["systemPromptReport"]["source"]
    assert {} == with_seen({**row, **fields}, ("s",))
    assert {} == with_seen({"systemPromptReport": 3}, ())
