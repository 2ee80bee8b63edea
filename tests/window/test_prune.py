"""What pruning does beyond the table: what it spares, what it says, and that it settles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.text import len16, weight16
from oc.base.tokens import ESTIMATE
from oc.message.shapes import texts
from oc.message.size import total_tokens
from oc.window.prune import _size, prune
from oc.window.rules import PruneRules
from tests.shapes import turns

SMALL = PruneRules(
    keep_last_assistants=1, max_chars=200, head_chars=50, tail_chars=40, min_prunable_tool_chars=0, soft_trim_ratio=0.0
)
END = {"role": "assistant", "content": [{"type": "text", "text": "end"}]}


def call(ident="a", tool="read"):
    return {"role": "assistant", "content": [{"type": "toolCall", "id": ident, "name": tool, "arguments": {}}]}


def result(content, ident="a", tool="read", **more):
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {"role": "toolResult", "toolCallId": ident, "toolName": tool, "content": blocks, **more}


def session(*results):
    return [{"role": "user", "content": "q"}, call(), *results, END]


def actions(rows):
    return [(row["action"], row.get("rule")) for row in rows]


def test_images_are_left_alone_unless_asked_for():
    """A result with an image is neither trimmed nor cleared; with `images` its marker stands in its place."""
    image = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
    given = session(result([{"type": "text", "text": "x" * 900}, image]))
    kept, rows = prune(given, window_tokens=100, rules=SMALL)
    assert kept == given
    assert actions(rows)[0] == ("spare", "images")
    gone, rows = prune(given, window_tokens=4000, rules=SMALL._replace(images=True))
    assert gone[2]["content"][0]["text"].startswith("x" * 50 + "\n...\n")
    assert actions(rows)[0] == ("trim", "softTrim.maxChars")


def test_a_short_result_is_not_made_longer():
    """Neither a placeholder nor a trim notice replaces text that is shorter than it."""
    tiny = session(result("abc"))
    assert prune(tiny, window_tokens=1, rules=SMALL._replace(hard_clear_ratio=0.0))[0] == tiny
    barely = session(result("x" * 210))
    rules = SMALL._replace(head_chars=100, tail_chars=90, hard_clear=False)
    assert prune(barely, window_tokens=1, rules=rules)[0] == barely


def test_a_cut_leaves_no_half_character():
    """The reference leaves half an emoji, which no request may hold."""
    given = session(result("x" + "😀日" * 200))
    pruned, _ = prune(given, window_tokens=1, rules=SMALL._replace(hard_clear=False))
    pruned[2]["content"][0]["text"].encode()


def test_wide_text_weighs_what_it_costs():
    """400 Han characters are 400 tokens, not 100: half of a window of 1,000 tokens with 600 of them."""
    rules = SMALL._replace(soft_trim_ratio=0.5)
    given = session(result("日" * 600))
    assert prune(given, window_tokens=1000, rules=rules)[0] != given
    given = session(result("x" * 600))
    assert prune(given, window_tokens=1000, rules=rules)[0] == given


def test_a_string_stays_a_string():
    given = session(result("x" * 900) | {"content": "x" * 900})
    pruned, _ = prune(given, window_tokens=5000, rules=SMALL)
    assert isinstance(pruned[2]["content"], str)


def test_unknown_fields_and_details_stay():
    given = session(result("x" * 900, isError=True, details={"exitCode": 1}, ours=[1]))
    pruned, _ = prune(given, window_tokens=100, rules=SMALL)
    assert {**given[2], "content": pruned[2]["content"]} == pruned[2] != given[2]


def test_the_newest_turns_are_protected():
    """Results after the N-th last user message stay, whatever the assistants' count allows."""
    turn = [{"role": "user", "content": "q"}, call(), result("x" * 900), END]
    rules = SMALL._replace(keep_last_assistants=0, keep_last_turns=2)
    pruned, _ = prune(turn * 4, window_tokens=100, rules=rules)
    assert [pruned[i] == turn[2] for i in (2, 6, 10, 14)] == [False, False, True, True]
    assert actions(prune(turn, window_tokens=100, rules=rules)[1])[0] == ("gate", "keepLastTurns")


def test_text_that_only_ends_like_a_trim_notice_is_trimmed():
    notice = "\n\n[Tool result trimmed: kept first 50 chars and last 40 chars of 900 chars.]"
    given = session(result("x" * 900 + notice))
    pruned, _ = prune(given, window_tokens=100, rules=SMALL._replace(hard_clear=False))
    assert len(pruned[2]["content"][0]["text"]) < 300


def test_smaller_limits_trim_what_was_trimmed():
    """A second run with smaller numbers shortens further."""
    once, _ = prune(session(result("x" * 9000)), window_tokens=5000, rules=SMALL._replace(head_chars=1000))
    twice, _ = prune(once, window_tokens=5000, rules=SMALL)
    assert len(twice[2]["content"][0]["text"]) < 200


@pytest.mark.parametrize(
    ("changes", "window", "gate"),
    [
        ({"soft_trim_ratio": 0.5}, 10_000, "softTrimRatio"),
        ({"hard_clear_ratio": 1.0}, 2000, "hardClearRatio"),
        ({"hard_clear": False}, 50, "hardClear.enabled"),
        ({"min_prunable_tool_chars": 999}, 50, "minPrunableToolChars"),
        ({"keep_last_assistants": 3}, 100, "keepLastAssistants"),
        ({}, None, "window"),
    ],
)
def test_the_gate_that_stopped_it_is_named(changes, window, gate):
    _, rows = prune(session(result("x" * 900)), window_tokens=window, rules=SMALL._replace(**changes))
    assert [row["rule"] for row in rows if row["action"] == "gate"] == [gate]


def test_without_a_user_nothing_is_pruned():
    _, rows = prune([call(), result("x" * 900), END], window_tokens=100, rules=SMALL)
    assert actions(rows)[0] == ("gate", "firstUser")


def test_the_rows_tell_sizes_before_and_after():
    given = session(result("y" * 150), result("x" * 900), result("z" * 900, tool="exec"))
    rules = SMALL._replace(deny=("exec",), hard_clear=False)
    _, rows = prune(given, window_tokens=100, rules=rules)
    assert rows == [
        {
            "action": "trim",
            "index": 3,
            "role": "toolResult",
            "tool": "read",
            "chars_before": 900,
            "chars_after": 171,
            "tokens_before": 225,
            "tokens_after": 43,
            "rule": "softTrim.maxChars",
        },
        {
            "action": "spare",
            "index": 4,
            "role": "toolResult",
            "tool": "exec",
            "chars_before": 900,
            "chars_after": 900,
            "tokens_before": 225,
            "tokens_after": 225,
            "rule": "tools",
        },
        {"action": "gate", "rule": "hardClear.enabled", "tokens_before": 310},
        {"action": "summary", "messages": 6, "trimmed": 1, "cleared": 0, "tokens_before": 492, "tokens_after": 310},
    ]


RULES = st.builds(
    PruneRules,
    keep_last_assistants=st.integers(0, 3),
    keep_last_turns=st.none() | st.integers(0, 3),
    soft_trim_ratio=st.sampled_from([0.0, 0.3, 1.0]),
    hard_clear_ratio=st.sampled_from([0.0, 0.01, 0.5]),
    min_prunable_tool_chars=st.sampled_from([0, 100, 2000]),
    max_chars=st.integers(0, 400),
    head_chars=st.integers(0, 300),
    tail_chars=st.integers(0, 300),
    hard_clear=st.booleans(),
    placeholder=st.sampled_from(["[Old tool result content cleared]", "[已清除]", "-"]),
    deny=st.sampled_from([(), ("exec",), ("*e*",)]),
    images=st.booleans(),
)
WINDOWS = st.sampled_from([1, 50, 400, 4000])


@given(turns(), RULES, WINDOWS)
def test_prune_is_idempotent(messages, rules, window):
    once, _ = prune(messages, window_tokens=window, rules=rules)
    twice, rows = prune(once, window_tokens=window, rules=rules)
    assert once == twice
    assert not {row["action"] for row in rows} & {"trim", "clear"}


@given(turns(), RULES, WINDOWS)
def test_prune_only_shortens_tool_results(messages, rules, window):
    """Other messages are the same objects; a result is the same, or shorter; the input is not changed."""
    before = [dict(message) for message in messages]
    pruned, _ = prune(messages, window_tokens=window, rules=rules)
    assert messages == before
    assert len(messages) == len(pruned)
    for old, new in zip(messages, pruned, strict=True):
        if old.get("role") != "toolResult":
            assert new is old
        elif new is not old:
            assert {**new, "content": None} == {**old, "content": None}
            assert _size(new, weight16) < _size(old, weight16)
            has_image = any(b.get("type") == "image" for b in old["content"] if isinstance(b, dict))
            assert has_image or len16("".join(texts(new))) < len16("".join(texts(old)))


@given(turns(), RULES, WINDOWS)
def test_prune_spares_head_and_tail(messages, rules, window):
    """Nothing before the first user message and nothing from the protected tail on is touched."""
    pruned, _ = prune(messages, window_tokens=window, rules=rules)
    roles = [message["role"] for message in messages]
    first = roles.index("user") if "user" in roles else len(roles)
    last = [i for i, role in enumerate(roles) if role == "assistant"][-rules.keep_last_assistants or len(roles) :]
    tail = last[0] if last else len(roles)
    assert messages[:first] == pruned[:first]
    assert messages[tail:] == pruned[tail:]


@given(turns(), RULES, WINDOWS)
def test_the_report_accounts_for_every_change(messages, rules, window):
    """Exactly the changed messages have a row that says so, and the sums are those of the messages."""
    pruned, rows = prune(messages, window_tokens=window, rules=rules)
    changed = {i for i, (old, new) in enumerate(zip(messages, pruned, strict=True)) if old is not new}
    assert changed == {row["index"] for row in rows if row["action"] in ("trim", "clear")}
    summary = rows[-1]
    assert summary["trimmed"] + summary["cleared"] == len(changed)
    assert summary["tokens_after"] == total_tokens(pruned, ESTIMATE)
    assert sum(row["action"] == "gate" for row in rows) <= 1
