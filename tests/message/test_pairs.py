from oc.message.pairs import MISSING_RESULT, distinct, pair, renamed
from tests.support import NOW_MS


def calling(*ids, **extra):
    return {
        "role": "assistant",
        "content": [{"type": "toolCall", "id": call_id, "name": "read", "arguments": {}} for call_id in ids],
        **extra,
    }


def result(call_id, text="r", key="toolCallId"):
    return {"role": "toolResult", key: call_id, "toolName": "read", "content": [{"type": "text", "text": text}]}


USER = {"role": "user", "content": "go on"}


def ids(messages):
    return [m.get("toolCallId") or [b["id"] for b in m["content"]] for m in messages if m["role"] != "user"]


def told(decisions):
    return [(d.action, d.rule) for d in decisions]


def test_a_second_result_is_dropped_also_where_nothing_else_is_wrong():
    """The reference keeps it then, since it hands back its input when it counts no change."""
    first, second = result("a", "one"), result("a", "two")
    paired = pair([calling("a"), first, second], now_ms=NOW_MS)
    assert paired.messages == [calling("a"), first]
    assert told(paired.decisions) == [("drop", "duplicate-result")]
    assert not paired.changed


def test_results_stand_in_call_order():
    paired = pair([calling("a", "b"), result("b"), result("a")], now_ms=NOW_MS)
    assert ids(paired.messages) == [["a", "b"], "a", "b"]
    assert told(paired.decisions) == [("move", "behind-its-call")] * 2


def test_a_result_behind_a_user_message_moves_and_the_user_message_stays_whole():
    paired = pair([calling("a"), USER, result("a")], now_ms=NOW_MS)
    assert paired.messages == [calling("a"), result("a"), USER]
    assert told(paired.decisions) == [("move", "behind-its-call")]


def test_a_missing_result_is_told_with_the_message_that_called():
    paired = pair([calling("a")], now_ms=7)
    assert paired.messages[1]["content"] == [{"type": "text", "text": MISSING_RESULT}]
    assert paired.messages[1]["timestamp"] == 7
    assert paired.decisions[0].cause == calling("a")


def test_calls_of_failed_messages_wait_for_nothing():
    for reason in ("error", "aborted"):
        assert pair([calling("a", stopReason=reason)], now_ms=NOW_MS).decisions == []


def test_nothing_to_do_keeps_the_messages():
    history = [USER, calling("a"), result("a"), USER]
    paired = pair(history, now_ms=NOW_MS)
    assert all(new is old for new, old in zip(paired.messages, history, strict=True))


def test_an_id_used_again_gets_a_name_of_its_own_with_its_result():
    """Some models count their calls anew in every turn."""
    history = [calling("read:0"), result("read:0", "one"), calling("read:0"), result("read:0", "two", "toolUseId")]
    told_apart, decisions = distinct(history)
    assert [m.get("toolCallId") or m.get("toolUseId") for m in told_apart] == [None, "read:0", None, "read:0x2"]
    assert told_apart[2]["content"][0]["id"] == "read:0x2"
    assert told(decisions) == [("change", "id-used-before")] * 2
    assert pair(told_apart, now_ms=NOW_MS).decisions == []


def test_without_it_the_second_call_would_lose_its_result():
    history = [calling("a"), result("a"), calling("a"), result("a")]
    assert ids(pair(history, now_ms=NOW_MS).messages) == [["a"], "a", ["a"]]
    assert ids(pair(distinct(history)[0], now_ms=NOW_MS).messages) == [["a"], "a", ["ax2"], "ax2"]


def test_two_calls_of_one_message_take_their_results_in_order():
    told_apart, _ = distinct([calling("a", "a"), result("a", "one"), result("a", "two"), result("a", "three")])
    assert ids(told_apart) == [["a", "ax2"], "a", "ax2", "ax2"]
    assert ids(pair(told_apart, now_ms=NOW_MS).messages) == [["a", "ax2"], "a", "ax2"]


def test_a_new_name_never_takes_one_that_comes_later():
    told_apart, _ = distinct([calling("a"), calling("a"), calling("ax2"), calling("a")])
    assert ids(told_apart) == [["a"], ["ax3"], ["ax2"], ["ax4"]]


def test_distinct_ids_stay():
    history = [calling("a", "b"), result("a"), calling("c")]
    told_apart, decisions = distinct(history)
    assert all(new is old for new, old in zip(told_apart, history, strict=True))
    assert decisions == []


def test_new_names_have_the_form_of_the_mode():
    assert renamed("call_1|fc_1", 2, None) == "call_1x2|fc_1x2"
    assert renamed("a" * 40, 12, "strict") == "a" * 37 + "x12"
    assert len(renamed("abcdefghi", 2, "strict9")) == 9
    assert renamed("abcdefghi", 2, "strict9") != renamed("abcdefghi", 3, "strict9")


def test_odd_blocks_pass():
    odd = {"role": "assistant", "content": [None, {"type": ["toolCall"]}, {"type": "toolCall", "id": 5}]}
    assert pair([odd], now_ms=NOW_MS).messages == [odd]
    assert distinct([odd, odd])[0] == [odd, odd]


def test_a_made_up_result_has_a_settled_name():
    """A second repair must find nothing to do, also where the call's name has spaces around it."""
    call = {"type": "toolCall", "id": "c1", "name": " exec ", "arguments": {}}
    once = pair([{"role": "assistant", "content": [call]}], now_ms=0).messages
    assert [message.get("toolName") for message in once] == [None, "exec"]
    assert once == pair(once, now_ms=0).messages
