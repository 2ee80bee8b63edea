"""Sessions of Claude Code as transcripts."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.jsonl import dump
from oc.session.claude_code import convert
from oc.session.context import build_context, context_entries
from oc.session.incoming import read_back
from oc.session.tree import leaf_path
from tests.session.claude_lines import SESSION, Writer, call, session, text


def made(writer):
    return made_of(writer.lines)


def made_of(lines):
    return convert([(n, dump(line), line) for n, line in enumerate(lines, 1)], "x.jsonl", SESSION)


@pytest.fixture(scope="module")
def whole():
    return made(session())


def by_id(incoming):
    return {entry["id"]: entry for entry in incoming.entries}


def path_to(incoming, entry_id=None):
    return [entry["id"] for entry in leaf_path(incoming.entries, entry_id)]


def test_the_header_says_where_and_when(whole):
    assert {
        "type": "session",
        "version": 3,
        "id": SESSION,
        "timestamp": "2026-03-16T09:00:02.000Z",
        "cwd": "/srv/shop",
    } == whole.header


def test_a_response_of_several_lines_is_one_message(whole):
    message = by_id(whole)["a1"]["message"]
    assert [
        {"type": "thinking", "thinking": "look", "thinkingSignature": "sig"},
        {"type": "toolCall", "id": "c1", "name": "Read", "arguments": {"file": "a.log"}},
        {"type": "toolCall", "id": "c2", "name": "Task", "arguments": {"prompt": "find it"}},
    ] == message["content"]
    assert ("claude-x", "toolUse") == (message["model"], message["stopReason"])
    assert {"input": 10, "output": 9, "cacheRead": 100, "cacheWrite": 0, "totalTokens": 119} == {
        name: value for name, value in message["usage"].items() if name != "cost"
    }


def test_results_of_parallel_calls_stand_in_one_chain(whole):
    """Each names its own call's line as parent in the source; the next answer must see both."""
    assert ["u1", "a1", "r1", "r2", "a4"] == path_to(whole, "a4")
    first, second = by_id(whole)["r1"]["message"], by_id(whole)["r2"]["message"]
    assert ("c1", "Read", False, {"lines": 1}) == (
        first["toolCallId"],
        first["toolName"],
        first["isError"],
        first["details"],
    )
    assert ("Task", True) == (second["toolName"], second["isError"])
    assert [
        {"type": "text", "text": "found"},
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
    ] == second["content"]


def test_a_sidechain_is_a_tree_of_its_own(whole):
    assert ["s1", "s2"] == path_to(whole, "s2")
    assert ["s1"] == whole.entries[-1]["data"]["sidechains"]


def test_a_rewind_is_a_branch(whole):
    entries = by_id(whole)
    assert "a4" == entries["u2"]["parentId"] == entries["u3"]["parentId"]


def test_a_compaction_keeps_what_the_model_kept(whole):
    entry = by_id(whole)["k1"]
    assert ("compaction", "They mended the pool.", "b1", 900) == (
        entry["type"],
        entry["summary"],
        entry["firstKeptEntryId"],
        entry["tokensBefore"],
    )
    assert ["u1", "a1", "r1", "r2", "a4", "u3", "a5", "b1", "k1"] == path_to(whole, "k1")
    path = leaf_path(whole.entries)
    assert ["compactionSummary", "assistant"] == [entry["message"]["role"] for entry in context_entries(path)]


def test_the_leaf_is_that_of_the_main_chain_and_the_name_is_kept(whole):
    *_, named, imported = whole.entries
    assert ("session_info", "Mend the shop", "a6") == (named["type"], named["name"], named["parentId"])
    assert ("oc.import", named["id"]) == (imported["customType"], imported["parentId"])


def test_an_error_is_an_error(whole):
    message = by_id(whole)["a6"]["message"]
    assert ("error", "API Error") == (message["stopReason"], message["errorMessage"])
    assert "length" == by_id(whole)["a5"]["message"]["stopReason"]
    assert {"type": "thinking", "thinking": "", "thinkingSignature": "zz", "redacted": True} == by_id(whole)["a5"][
        "message"
    ]["content"][0]


def test_everything_left_out_has_a_reason(whole):
    assert [
        (2, "dropped", "a line of type 'file-history-snapshot', which is not part of the conversation"),
        (11, "dropped", "a line of type 'system' 'informational', which no model sees"),
        (14, "dropped", "a content block of type 'document', which a transcript has no form for"),
    ] == whole.notes


def test_it_is_read_back_whole(whole):
    read_back(whole.data(), whole)
    assert {"user": 4, "assistant": 5, "toolResult": 2, "compaction": 1, "custom": 2, "session_info": 1} == whole.roles


def test_a_compaction_without_a_boundary_gets_one():
    w = Writer()
    w.user("u1", "long")
    w.user("k1", [text("short")], isCompactSummary=True)
    incoming = made(w)
    assert ["u1", "k1.0", "k1"] == path_to(incoming, "k1")
    read_back(incoming.data(), incoming)


def test_a_name_of_another_session_is_left_out():
    w = Writer()
    w.user("u1", "hi")
    w.other(type="summary", summary="elsewhere", leafUuid="nowhere")
    w.other(type="custom-title", customTitle="mine", sessionId=SESSION)
    incoming = made(w)
    assert [(2, "dropped", "the name of another session")] == incoming.notes
    assert "mine" == incoming.entries[-2]["name"]


def test_parents_that_come_late_are_waited_for_and_unknown_ones_are_told():
    w = Writer()
    w.user("u2", "second", parent="u1")
    w.user("u1", "first", parent=None)
    w.user("u3", "third", parent="gone")
    w.user("u4", "ring", parent="u5")
    w.user("u5", "ring", parent="u4")
    incoming = made(w)
    assert ["u1", "u2"] == path_to(incoming, "u2")
    assert [(3, "its parent is not in the source; now a root")] == [(n.line, n.reason) for n in incoming.notes][-1:]
    assert 2 == sum(n.reason == "it was its own ancestor; now a root" for n in incoming.notes)
    read_back(incoming.data(), incoming)


def test_a_line_that_is_there_twice_counts_once():
    w = Writer()
    w.user("u1", "hi")
    w.user("u1", "hi", parent=None)
    incoming = made(w)
    assert [(2, "dropped", "a second line with the uuid u1")] == incoming.notes
    assert 1 == incoming.roles["user"]


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "id"]), inner),
    max_leaves=6,
)


@given(st.randoms(use_true_random=False), st.lists(st.tuples(st.integers(0, 17), st.text(max_size=9), ODD), max_size=4))
def test_whatever_stands_in_the_fields_nothing_breaks(order: random.Random, changes):
    """Lines in any order and with any values give a transcript that can be read, and a leaf."""
    lines = [dict(line) for line in session().lines]
    order.shuffle(lines)
    fields = ("message", "parentUuid", "timestamp", "type", "subtype", "compactMetadata", "content", "uuid")
    for index, name, value in changes:
        lines[index][fields[len(name) % len(fields)]] = value
        if isinstance(lines[index].get("message"), dict):
            lines[index]["message"] = {**lines[index]["message"], "content": value}
    incoming = made_of(lines)
    if incoming.entries:
        build_context(incoming.entries)
        read_back(incoming.data(), incoming)


def test_calls_without_arguments_and_results_without_calls():
    w = Writer()
    w.user("u1", "hi")
    w.assistant("a1", "m1", {**call("c1", "List"), "input": None})
    w.result("r1", "other", None)
    incoming = made(w)
    assert {} == by_id(incoming)["a1"]["message"]["content"][0]["arguments"]
    assert "unknown" == by_id(incoming)["r1"]["message"]["toolName"]
    read_back(incoming.data(), incoming)
