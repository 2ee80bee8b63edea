from oc.history.inputs import REDACTED, sendable_calls, without_half_written


def call(call_id="a", name="read", **extra):
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": {}, **extra}


def failed(*blocks, reason="aborted"):
    return {"role": "assistant", "content": list(blocks), "stopReason": reason}


def result(call_id):
    return {"role": "toolResult", "toolCallId": call_id, "content": []}


SAID = {"type": "text", "text": "I will"}
THOUGHT = {"type": "thinking", "thinking": "hm"}
USER = {"role": "user", "content": "and?"}


def test_calls_of_failed_messages_go_with_their_results():
    for reason in ("error", "aborted"):
        history = [failed(SAID, call("a"), call("b"), reason=reason), result("a"), USER, result("b"), result("other")]
        out, decisions = without_half_written(history)
        assert out == [failed(SAID, reason=reason), USER, result("other")]
        assert [d.rule for d in decisions] == ["half-written-call"] * 2 + ["result-of-half-written-call"] * 2


def test_results_of_the_next_message_stay():
    whole = {"role": "assistant", "content": [call("a")], "stopReason": "toolUse"}
    out, _ = without_half_written([failed(call("a")), whole, result("a")])
    assert out == [whole, result("a")]


def test_a_failed_message_that_says_nothing_goes():
    empty = (failed(), failed(call()), failed(THOUGHT), failed({"type": "text", "text": " "}), failed(None))
    for message in (*empty, {**failed(), "content": "  "}, {"role": "assistant", "stopReason": "error"}):
        out, decisions = without_half_written([USER, message])
        assert out == [USER]
        assert [(d.action, d.rule) for d in decisions] == [("drop", "unfinished-and-empty")]


def test_a_failed_message_that_says_something_stays():
    for message in (failed(SAID), failed(THOUGHT, SAID), {**failed(), "content": "so"}, failed({"type": "image"})):
        assert without_half_written([message]) == ([message], [])


def test_whole_messages_are_left_alone():
    whole = {"role": "assistant", "content": []}
    assert without_half_written([whole, result("a")]) == ([whole, result("a")], [])


def test_attachments_of_a_spawned_session_are_blanked_once():
    files = [{"name": "a", "content": "secret"}, "odd", {"name": "b"}]
    spawn = call(name="Sessions_Spawn", arguments={"attachments": files, "task": "t"}, input={"attachments": "no list"})
    out, decisions = sendable_calls([{"role": "assistant", "content": [spawn]}])
    hidden = [{"name": "a", "content": REDACTED}, "odd", {"name": "b"}]
    assert out[0]["content"][0]["arguments"] == {"attachments": hidden, "task": "t"}
    assert [d.rule for d in decisions] == ["attachments"]
    assert sendable_calls(out) == (out, [])


def test_each_dropped_call_has_its_reason():
    blocks = [
        SAID,
        call(arguments=None),
        call(call_id=5),
        call(name="a.b"),
        call(name=None),
        call(name="x" * 65),
        call(),
    ]
    out, decisions = sendable_calls([{"role": "assistant", "content": blocks}], allowed=["READ"])
    assert out[0]["content"] == [SAID, call()]
    assert [(d.rule, d.tool) for d in decisions] == [
        ("no-arguments", "read"),
        ("no-id", "read"),
        ("bad-name", "a.b"),
        ("bad-name", None),
        ("bad-name", "x" * 65),
    ]


def test_odd_blocks_pass():
    odd = {"role": "assistant", "content": [None, 5, {"type": ["toolCall"]}, call()]}
    assert sendable_calls([odd]) == ([odd], [])
