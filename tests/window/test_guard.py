"""What the guard does beyond the table: how it weighs, what it spares, what it says, and that it settles."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from oc.base.text import weight16
from oc.base.tokens import counter
from oc.message.cap import MAX_STORED_CHARS, STORED_SUFFIX
from oc.message.shapes import texts
from oc.window.guard import (
    NOTICE,
    OURS,
    PLACEHOLDER,
    REFERENCE,
    _weight,
    budget_weight,
    cap_each,
    guard,
    is_result,
    ours,
)
from tests.shapes import JSON, turns

IMAGE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}


def result(content, **more):
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {"role": "toolResult", "toolCallId": "a", "toolName": "read", "content": blocks, **more}


def guarded(*messages, window=2000, manner=OURS):
    view = guard(messages, window_tokens=window, manner=manner)
    return view.messages, view.rows()


def told(rows):
    return [(row["action"], row.get("rule"), row.get("index")) for row in rows]


def test_what_fits_is_the_very_same():
    given_messages = [{"role": "user", "content": "q"}, result("small", details={"a": 1})]
    view, rows = guarded(*given_messages)
    assert [id(message) for message in view] == [id(message) for message in given_messages]
    assert told(rows) == [("gate", "contextBudget", None), ("summary", None, None)]


def test_wide_text_weighs_what_it_costs():
    """600 Han characters are 600 tokens, a third of a window of 2,000 alone; the reference lets them pass."""
    wide = result("日" * 600)
    assert guarded(wide, manner=REFERENCE)[0] == [wide]
    (cut,), rows = guarded(wide)
    text = texts(cut)[0]
    assert text == "日" * 489 + "\n" + NOTICE
    assert weight16(text) <= 2000
    assert told(rows)[0] == ("truncate", "singleShare", 0)
    assert rows[0] == {
        "action": "truncate",
        "index": 0,
        "role": "toolResult",
        "tool": "read",
        "chars_before": 600,
        "chars_after": 489 + 1 + len(NOTICE),
        "tokens_before": 1200,
        "tokens_after": 1000,
        "rule": "singleShare",
    }


def test_a_cut_leaves_no_half_character():
    (cut,), _ = guarded(result("x" + "😀" * 900))
    texts(cut)[0].encode()


def test_exact_counts_can_decide():
    """A line of letters is far fewer tokens than characters, so the exact counter keeps more of it."""
    exact = ours(counter("tiktoken"))
    given_result = result("staging cluster " * 400)
    (kept,), _ = guarded(given_result, manner=exact)
    (cut,), _ = guarded(given_result)
    assert len(texts(kept)[0]) > len(texts(cut)[0])
    assert guarded(kept, manner=exact)[0] == [kept]


def test_a_result_is_cut_at_the_end_of_a_line():
    lines = "\n".join(["x" * 99] * 40)
    (cut,), _ = guarded(result(lines))
    assert texts(cut)[0] == "\n".join(["x" * 99] * 19) + "\n" + NOTICE


def test_a_line_that_ends_at_the_cut_stays_whole():
    """1,957 characters of 2,000 are left for text; the line feed is the next one."""
    given_text = "a" * 1800 + "\n" + "b" * 156 + "\n" + "c" * 900
    (cut,), _ = guarded(result(given_text))
    assert texts(cut)[0] == given_text[:1957] + "\n" + NOTICE


def test_details_and_images_go_from_a_heavy_result_and_its_text_stays():
    heavy = result([{"type": "text", "text": "caption"}, IMAGE], details={"path": "x"}, isError=True, ours=1)
    (light,), rows = guarded(heavy)
    assert light == {
        "role": "toolResult", "toolCallId": "a", "toolName": "read",
        "content": [{"type": "text", "text": "caption"}], "isError": True, "ours": 1,
    }  # fmt: skip
    assert told(rows)[0] == ("strip", "singleShare", 0)


def test_a_result_that_would_get_no_lighter_stays():
    """The reference joins the blocks of such a result, and puts a placeholder of 48 characters for 25."""
    blocks = result([{"type": "text", "text": "b" * 600}, {"type": "text", "text": "c" * 600}])
    assert guarded(blocks)[0] == [blocks]
    assert guarded(blocks, manner=REFERENCE)[0] != [blocks]
    short = [{"role": "user", "content": "u" * 9000}, result("t" * 25), result("")]
    view, rows = guarded(*short)
    assert view == short
    assert told(rows) == [("over", "contextBudget", None), ("summary", None, None)]
    assert texts(guarded(*short, manner=REFERENCE)[0][1]) == [PLACEHOLDER]


def test_the_oldest_results_give_way_first():
    history = [result(str(n) * 900) for n in range(5)]
    view, rows = guarded(*history, {"role": "user", "content": "u"})
    assert [texts(message)[0] == PLACEHOLDER for message in view[:5]] == [True, True, False, False, False]
    assert told(rows) == [("clear", "contextBudget", 0), ("clear", "contextBudget", 1), ("summary", None, None)]
    assert rows[-1] == {
        "action": "summary",
        "messages": 6,
        "truncated": 0,
        "stripped": 0,
        "cleared": 2,
        "tokens_before": 2251,
        "tokens_after": 1399,
        "budget_tokens": 1500,
    }


def test_a_string_stays_a_string():
    (cut,), _ = guarded(result("") | {"content": "x" * 9000})
    assert isinstance(cut["content"], str)
    view, _ = guarded(*[result("") | {"content": "x" * 900} for _ in range(5)])
    assert view[0]["content"] == PLACEHOLDER


def test_content_that_is_neither_text_nor_list_is_no_fault():
    odd = [result(None), result([7, None, {"type": "text", "text": 3}, {"type": "file"}]), {"role": "assistant"}]
    assert guarded(*odd)[0] == odd
    assert 2 * (1 + 4 + len('{"type":"text","text":3}') + len('{"type":"file"}')) == _weight(odd[1], OURS)


def test_a_heavy_result_without_text_says_that_it_was_cut():
    (cut,), _ = guarded({"role": "tool", "toolName": "look", "details": {"dump": "x" * 5000}})
    assert cut == {"role": "tool", "toolName": "look", "content": [{"type": "text", "text": NOTICE}]}


def test_strings_summaries_and_commands_count():
    """The reference weighs an assistant's string as nothing and any other role as 256."""
    for message, weight in (
        ({"role": "assistant", "content": "x" * 80}, 80),
        ({"role": "compactionSummary", "summary": "日" * 10}, 40),
        ({"role": "bashExecution", "command": "ls", "output": "a.py\n"}, 7),
        ({"role": "custom", "content": [{"type": "text", "text": "note"}, IMAGE]}, 8004),
    ):
        assert weight == _weight(message, OURS)
    assert [_weight({"role": "custom", "content": "x"}, REFERENCE), _weight({"role": "bashExecution"}, OURS)] == [
        256,
        0,
    ]


def test_each_result_is_capped_as_it_would_be_stored():
    large = "x" * (MAX_STORED_CHARS - 8) + "\nTotal: 7"
    history = [{"role": "user", "content": "u" * 500_000}, result(large), result("small")]
    view, rows = cap_each(history)
    assert view[0] is history[0]
    assert view[2] is history[2]
    assert len(texts(view[1])[0]) == MAX_STORED_CHARS
    assert texts(view[1])[0].endswith("\nTotal: 7" + STORED_SUFFIX)
    assert told(rows) == [("truncate", "maxStoredChars", 1), ("summary", None, None)]
    assert rows[-1] == {"action": "summary", "messages": 3, "truncated": 1, "max_chars": MAX_STORED_CHARS}


def with_long_results(messages, times):
    for message in messages:
        if is_result(message) and isinstance(message["content"], str):
            message["content"] *= times
        elif is_result(message):
            message["content"][0]["text"] *= times
    return messages


HISTORIES = st.builds(with_long_results, turns(20), st.sampled_from([1, 10]))


def test_exactly_the_budget_is_within_it():
    """A window of 1,001 has a budget of 750 and 3/4 tokens: 3,003 characters."""
    within, over = (guard([{"role": "user", "content": "u" * size}], window_tokens=1001) for size in (3003, 3004))
    assert [(view.over_tokens, view.rows()[0]["action"]) for view in (within, over)] == [(0, "gate"), (1, "over")]


WINDOWS = st.sampled_from([1, 200, 1000, 2000, 9000, 40_000])
MANNERS = st.sampled_from([OURS, ours(counter("chars4")), REFERENCE])


@given(HISTORIES, WINDOWS, MANNERS)
def test_guarding_settles_and_touches_results_only(messages, window, manner):
    before = copy.deepcopy(messages)
    once, rows = guarded(*messages, window=window, manner=manner)
    assert before == messages
    assert len(once) == len(messages)
    assert all(new is old or is_result(old) for new, old in zip(once, messages, strict=True))
    twice, again = guarded(*once, window=window, manner=manner)
    assert twice == once
    assert (once, rows) == guarded(*messages, window=window, manner=manner)
    if manner.settled:
        assert [row["action"] for row in again[:-1]] in ([], ["gate"], ["over"])
        assert all(new is old for new, old in zip(twice, once, strict=True))


@given(HISTORIES, WINDOWS)
def test_within_the_budget_or_nothing_left_to_free(messages, window):
    """No message gets heavier; either all fit by the counter, or no result is heavier than a placeholder."""
    view, _ = guarded(*messages, window=window)
    weights = [(_weight(old, OURS), _weight(new, OURS)) for old, new in zip(messages, view, strict=True)]
    assert all(after <= before for before, after in weights)
    least = _weight(result(PLACEHOLDER), OURS)
    left = [after for message, (_, after) in zip(view, weights, strict=True) if is_result(message)]
    fits = sum(after for _, after in weights) <= budget_weight(window)
    assert fits or all(after <= least for after in left)


@given(HISTORIES)
def test_rows_add_up(messages):
    """The tokens of the rows and of the sum are those of the messages."""
    view, rows = guarded(*messages, window=6000)
    changed = [n for n, (old, new) in enumerate(zip(messages, view, strict=True)) if new is not old]
    assert changed == [row["index"] for row in rows if "index" in row]
    assert -(-sum(_weight(m, OURS) for m in view) // 4) == rows[-1]["tokens_after"]
    assert sum(rows[-1][name] for name in ("truncated", "stripped", "cleared")) == len(changed)


ODD = st.builds(
    lambda role, content, details, name: {"role": role, "content": content, "details": details, "toolName": name},
    st.sampled_from(["toolResult", "tool", "user", "assistant", "custom", ["toolResult"], None]),
    JSON | st.lists(st.fixed_dictionaries({"type": st.sampled_from(["text", "image", "toolCall"]), "text": JSON})),
    JSON,
    JSON,
)


@given(st.lists(ODD, max_size=6), st.sampled_from([1, 300]), MANNERS)
def test_no_message_is_too_odd(messages, window, manner):
    view, _ = guarded(*messages, window=window, manner=manner)
    assert len(view) == len(messages)
    assert view == guarded(*view, window=window, manner=manner)[0]
    assert cap_each(messages)[0] == messages


def test_a_lone_surrogate_is_weighed_and_cut():
    """Half a character as some writers leave it goes through every counter."""
    for manner in (OURS, REFERENCE, ours(counter("tiktoken"))):
        (cut,), _ = guarded(result("\ud83d line\n" * 4000), manner=manner)
        assert texts(cut)[0].endswith(NOTICE)
