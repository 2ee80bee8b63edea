from oc.history.provenance import mark_inter_session
from oc.history.turns import BOOTSTRAP, merge_assistants, merge_users, start_with_user

HI = {"type": "text", "text": "hi"}


def text(value):
    return {"type": "text", "text": value}


def test_merged_turns_keep_string_contents_as_blocks():
    """D24: the reference drops them."""
    users = [{"role": "user", "content": "first"}, {"role": "user", "content": [HI]}, {"role": "user", "content": ""}]
    assert merge_users(users)[0] == [{"role": "user", "content": [text("first"), HI]}]
    assistants = [{"role": "assistant", "content": "one"}, {"role": "assistant", "content": "two"}]
    assert merge_assistants(assistants)[0] == [{"role": "assistant", "content": [text("one"), text("two")]}]


def test_a_string_before_a_user_message_stays():
    """D24: the reference empties it, looking for calls."""
    history = [{"role": "assistant", "content": "plain"}, {"role": "user", "content": "hi"}]
    assert merge_users(history) == (history, [])


def test_other_roles_keep_turns_apart():
    history = [{"role": "user", "content": "a"}, {"role": "custom", "content": "b"}, {"role": "user", "content": "c"}]
    assert merge_users(history) == (history, [])


def test_the_time_of_a_merged_turn_is_the_last_that_is_known():
    merged, _ = merge_users([{"role": "user", "content": "a", "timestamp": 5}, {"role": "user", "content": "b"}])
    assert merged[0]["timestamp"] == 5
    merged, _ = merge_users([{"role": "user", "content": "a"}, {"role": "user", "content": "b", "timestamp": 6}])
    assert merged[0]["timestamp"] == 6


def test_an_ending_with_calls_is_not_taken_for_a_failed_one():
    failed = {"role": "assistant", "content": "half", "stopReason": "aborted"}
    calling = {"role": "assistant", "content": [{"type": "toolCall", "id": "a", "name": "read", "arguments": {}}]}
    assert "stopReason" not in merge_assistants([failed, calling])[0][0]
    assert merge_assistants([failed, {"role": "assistant", "content": "more"}])[0][0]["stopReason"] == "aborted"


def test_a_merge_tells_of_both_messages():
    first, second = {"role": "user", "content": "a"}, {"role": "user", "content": "b"}
    merged, decisions = merge_users([first, second])
    assert [(d.action, d.before, d.after) for d in decisions] == [
        ("change", first, merged[0]),
        ("merge", second, merged[0]),
    ]


def test_a_history_starts_with_the_user():
    assistant = {"role": "assistant", "content": "welcome"}
    out, decisions = start_with_user([assistant], now_ms=3)
    assert out == [{"role": "user", "content": BOOTSTRAP, "timestamp": 3}, assistant]
    assert decisions[0].cause is assistant
    assert start_with_user([], now_ms=3) == ([], [])
    assert start_with_user(out, now_ms=3) == (out, [])


def test_a_marked_message_inside_a_merged_turn_is_not_marked_again():
    """A merged turn has the fields of its last message, also of whom it came from."""
    other = {"role": "user", "content": "from afar", "provenance": {"kind": "inter_session", "sourceTool": "t"}}
    marked, _ = mark_inter_session([{"role": "user", "content": "mine"}, other])
    merged, _ = merge_users(marked)
    assert merged[0]["content"] == [text("mine"), text("[Inter-session message] sourceTool=t\nfrom afar")]
    assert mark_inter_session(merged) == (merged, [])


def test_blank_facts_are_no_facts_and_foreign_content_passes():
    provenance = {"kind": "inter_session", "sourceSessionKey": " ", "sourceChannel": 5}
    marked, decisions = mark_inter_session([{"role": "user", "content": "x", "provenance": provenance}])
    assert marked[0]["content"] == "[Inter-session message]\nx"
    assert decisions[0].rule == "inter-session"
    odd = {"role": "user", "content": None, "provenance": provenance}
    assert mark_inter_session([odd]) == ([odd], [])
