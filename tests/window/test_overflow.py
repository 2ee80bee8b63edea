"""Shortening stored results where the table is silent: what is repeated, what weighs, and that it settles."""

import copy
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.clock import Ids
from oc.base.text import len16, weight16
from oc.message.shapes import texts
from oc.session import transcript
from oc.session.context import context_entries
from oc.session.entry import new_header
from oc.session.tree import leaf_path
from oc.window.overflow import blames_compaction, is_oversized, observed_tokens, shorten_stored
from tests.shapes import branches

NOW = "2026-03-16T09:00:00.000Z"


def result(text, ident="c1", **more):
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": ident, "toolName": "read", "content": content, "isError": False, **more}


def chain(*parts):
    """Returns entries e0, e1, ... of messages and of entries given as they are."""
    entries = []
    for part in parts:
        entry = {"type": "message", "message": part} if "role" in part else part
        parent = entries[-1]["id"] if entries else None
        entries.append({**entry, "id": f"e{len(entries)}", "parentId": parent, "timestamp": NOW})
    return entries


def shortened(path, window=4000, measure=weight16):
    numbers = count()
    return shorten_stored(path, window_tokens=window, new_id=lambda: f"n{next(numbers)}", measure=measure)


USER = {"role": "user", "content": "q"}
CALL = {"role": "assistant", "content": [{"type": "toolCall", "id": "c1", "name": "read", "arguments": {}}]}
BIG = result("x" * 6000)


def compaction(kept):
    return {"type": "compaction", "summary": "s", "firstKeptEntryId": kept, "tokensBefore": 1}


def test_a_result_that_is_folded_already_is_left_alone():
    """Only what is in the context can make it overflow."""
    folded = chain(USER, CALL, BIG, {"role": "assistant", "content": []}, USER, compaction("e4"))
    assert shortened(folded) is None
    assert shortened(chain(USER, CALL, BIG, compaction("e2"))) is not None
    assert shortened(chain(USER, CALL, BIG, compaction("gone"))) is None


def test_a_new_branch_leaves_before_the_first_one_and_repeats_the_rest():
    note = {"type": "branch_summary", "fromId": "root", "summary": "elsewhere"}
    model = {"type": "model_change", "provider": "p", "modelId": "m"}
    unknown = {"type": "future", "x": 1}
    path = chain(USER, CALL, BIG, note, model, unknown, result("small"), BIG)
    before = copy.deepcopy(path)
    done = shortened(path)
    assert done.parent_id == "e1"
    assert [entry["type"] for entry in done.entries] == [entry["type"] for entry in path[2:]]
    assert [entry["parentId"] for entry in done.entries] == ["e1", "n0", "n1", "n2", "n3", "n4"]
    assert {entry["timestamp"] for entry in done.entries} == {NOW}
    for old, new in zip(path[2:7], done.entries, strict=False):
        assert {**old, "id": 0, "parentId": 0, "message": 0} == {**new, "id": 0, "parentId": 0, "message": 0}
    assert [row["entry_id"] for row in done.rows] == ["e2", "e7"]
    assert done.rows[0] == {
        "action": "truncate",
        "index": 2,
        "entry_id": "e2",
        "role": "toolResult",
        "tool": "read",
        "chars_before": 6000,
        "chars_after": 4797,
        "tokens_before": 1500,
        "tokens_after": 1200,
        "rule": "maxResultShare",
    }
    assert before == path


def test_a_first_result_makes_a_new_root():
    assert shortened(chain(BIG)).parent_id is None


@pytest.mark.parametrize(
    ("kept", "expected"), [("e0", "e0"), ("e2", "n0"), ("e3", "n1"), ("e4", "n1"), ("gone", "gone")]
)
def test_what_a_compaction_kept_stays_kept(kept, expected):
    """The id of an entry before the branch stays, one behind it is the copy's, a label's is that of what follows."""
    label = {"type": "label", "targetId": "e0", "label": "l"}
    path = chain(USER, CALL, BIG, label, USER, compaction(kept), BIG)
    done = shortened(path)
    if kept in ("e0", "e2"):
        assert done.parent_id == "e1"
        assert "label" not in [entry["type"] for entry in done.entries]
        assert next(e for e in done.entries if e["type"] == "compaction")["firstKeptEntryId"] == expected
    else:
        assert done.parent_id == "e5"


def test_a_label_passes_the_cut_on():
    label = {"type": "label", "targetId": "e0", "label": "l"}
    done = shortened(chain(USER, BIG, label, USER, compaction("e1"), compaction("e2"), compaction("e1")))
    assert [e.get("firstKeptEntryId") for e in done.entries] == [None, None, "n0", "n1", "n0"]


def test_wide_text_weighs_what_it_costs():
    """3,200 Han characters are 3,200 tokens, over 30 percent of 8,000; the reference counts 1,000 with the lines."""
    wide = result("日志错误\n" * 800)
    assert not is_oversized(wide, 4000, len16)
    assert is_oversized(wide, 8000)
    done = shortened(chain(CALL, wide), window=8000)
    text = texts(done.entries[0]["message"])[0]
    assert weight16(text) <= 9600
    assert weight16(text) > 9600 // 2


def test_what_is_kept_may_weigh_more_than_what_goes():
    """The wide half stays, so in proportion to the whole it would not be enough."""
    wide_first = result("日" * 9000 + "x" * 9000)
    done = shortened(chain(wide_first), window=20_000)
    assert weight16(texts(done.entries[0]["message"])[0]) <= 24_000


def test_the_least_is_kept_in_a_tiny_window():
    """2,000 characters stay whatever the window, and the second run leaves them."""
    for given_result in (result("日" * 9000), result("") | {"content": "日" * 9000}):
        done = shortened(chain(given_result), window=100)
        assert 2000 < len(texts(done.entries[0]["message"])[0]) < 2300
        assert shortened(chain(done.entries[0]["message"]), window=100) is None


def test_only_results_can_be_too_large():
    assert not is_oversized({"role": "user", "content": "x" * 9999}, 100)
    assert not is_oversized({"role": "toolResult", "content": 7}, 100)


def with_long_results(entries, times):
    for entry in entries:
        content = entry.get("message", {}).get("content")
        if entry["type"] != "message" or entry["message"]["role"] != "toolResult":
            continue
        if isinstance(content, str):
            entry["message"]["content"] = content * times
        else:
            content[0]["text"] *= times
    return entries


LONG = st.builds(with_long_results, branches(20), st.sampled_from([1, 20, 60]))


@given(LONG, st.integers(0, 20), st.integers(0, 20), st.sampled_from([300, 1500, 4000]))
def test_the_context_differs_in_results_only(entries, cut, kept, window):
    """Whatever the branch, the context afterwards is the one before, shortened, and needs it no second time."""
    if cut < len(entries):
        entries[cut:cut] = [{**compaction(f"e{kept}"), "id": "k", "timestamp": NOW}]
        for number, entry in enumerate(entries):
            entry["parentId"] = entries[number - 1]["id"] if number else None
    done = shortened(entries, window)
    if done is None:
        return
    path = leaf_path([*entries, *done.entries])
    before, after = context_entries(entries), context_entries(path)
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        if old["message"].get("role") == "toolResult":
            rest = {key: value for key, value in old["message"].items() if key != "content"}
            assert rest == {key: value for key, value in new["message"].items() if key != "content"}
            assert sum(map(weight16, texts(new["message"]))) <= sum(map(weight16, texts(old["message"])))
        else:
            assert old["message"] == new["message"]
    assert shortened(path, window) is None
    assert len(done.rows) == sum(old["message"] != new["message"] for old, new in zip(before, after, strict=True))


def test_the_branch_is_what_a_transcript_takes(tmp_path):
    """The entries go into a real file, with ids that nobody has, and the file's context is the short one."""
    path = str(tmp_path / "s.jsonl")
    transcript.create(path, new_header("s", NOW, "/w"))
    transcript.append(path, chain(USER, CALL, BIG, USER, compaction("e2"), USER))
    ids = Ids("7")
    read = transcript.read(path)
    taken = {entry["id"] for entry in read.entries}
    done = shorten_stored(leaf_path(read.entries), window_tokens=4000, new_id=lambda: ids.entry(taken))
    transcript.branch(path, done.parent_id, done.entries, ids=ids)
    again = transcript.read(path)
    assert again.entries[:6] == read.entries
    context = [entry["message"] for entry in context_entries(leaf_path(again.entries))]
    assert [m["role"] for m in context] == ["compactionSummary", "toolResult", "user", "user"]
    assert 4700 < len16(texts(context[1])[0]) <= 4800


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("400 Prompt is too long: 213,462 tokens > 200000 maximum", 213462),
        ("you requested 9001 tokens (1 in the messages)", 9001),
        ("However, your messages resulted in 130000 tokens.", 130000),
        ("requested , tokens", None),
        ("too many tokens", None),
    ],
)
def test_the_size_that_a_provider_tells(text, tokens):
    assert tokens == observed_tokens(text)


def test_an_overflow_of_the_compaction_itself():
    assert blames_compaction("Summarization failed: prompt is too long")
    assert not blames_compaction("prompt is too long")
