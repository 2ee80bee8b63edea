"""What exports are made of: branches, the size of the window over time, texts without secrets."""

from hypothesis import given
from hypothesis import strategies as st

from oc.base.tokens import counter
from oc.session.outline import as_it_is, limited, pretty, segments, steps, string, without_secrets
from oc.session.window_picture import MAX_BARS, picture
from tests.shapes import branches

CHARS4 = counter("chars4")


def entry(entry_id, parent, role="user", text="x" * 40, kind="message", **fields):
    message = {"role": role, "content": text, **fields}
    return {
        "type": kind,
        "id": entry_id,
        "parentId": parent,
        "timestamp": "2026-03-16T09:00:00.000Z",
        "message": message,
    }


def shape(entries):
    return [("".join(e["id"] for e in s.entries), s.parent, s.depth) for s in segments(entries)]


def test_a_tree_is_runs_of_entries():
    entries = [entry("a", None), entry("b", "a"), entry("c", "b"), entry("d", "b"), entry("e", "d"), entry("f", None)]
    assert [("ab", None, 0), ("c", 0, 1), ("de", 0, 1), ("f", None, 0)] == shape(entries)


def test_missing_parents_are_roots_and_rings_end():
    assert [("a", None, 0), ("bc", None, 0)] == shape([entry("a", "gone"), entry("b", "c"), entry("c", "b")])
    assert [] == shape([])


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 14)), max_size=12))
def test_every_entry_is_in_one_segment(links):
    """Whatever the parents are: doubled ids, rings, parents that are not there."""
    entries = [entry(f"e{n}", f"e{parent}") for n, parent in links]
    found = segments(entries)
    assert sorted(map(id, entries)) == sorted(id(e) for s in found for e in s.entries)
    assert all(s.parent is None or s.parent < place for place, s in enumerate(found))


def test_the_window_is_what_the_provider_reports_else_a_count():
    path = [
        entry("a", None),
        entry("b", "a", "assistant", usage={"totalTokens": 500}),
        entry("c", "b"),
        entry("d", "c", "assistant", usage={"totalTokens": 9}, stopReason="error"),
        {"type": "custom", "id": "p", "parentId": "d", "customType": "openclaw.cache-ttl"},
        {"type": "compaction", "id": "k", "parentId": "p", "summary": "y" * 80, "firstKeptEntryId": "d"},
        entry("e", "k"),
    ]
    found = [(s.kind, s.entry["id"], s.tokens, s.after) for s in steps(path, CHARS4)]
    assert [
        ("turn", "a", 500, 0),
        ("turn", "c", 520, 0),
        ("prune", "p", 520, 0),
        ("compaction", "k", 520, 30),
        ("turn", "e", 40, 0),
    ] == found


@given(branches())
def test_every_turn_has_a_bar_or_shares_one(entries):
    taken = steps(entries, CHARS4)
    users = sum(e["type"] == "message" and e["message"]["role"] == "user" for e in entries)
    assert users <= sum(step.kind == "turn" for step in taken) <= users + 1
    svg = picture(taken, {id(e): n for n, e in enumerate(entries)})
    assert svg.count("<rect") == sum(step.kind == "turn" for step in taken)


def test_thousands_of_turns_share_bars():
    path = [entry(f"e{n}", None) for n in range(3 * MAX_BARS + 1)]
    svg = picture(steps(path, CHARS4), {id(e): n for n, e in enumerate(path)})
    assert MAX_BARS * 3 // 4 == svg.count("<rect") - 1
    assert "turns 1 to 4:" in svg


def test_secrets_are_hidden_and_lines_that_still_seem_to_hold_one_are_left_out():
    key = "sk-abcdefghijklmnop1234567890"
    text = f"use {key}\npostgres://bob:hunter2pass@db/x\nAKIAABCDEFGHIJKLMNOP\nfine"
    shown = without_secrets(text)
    for secret in (key, "hunter2pass", "AKIAABCDEFGHIJKLMNOP"):
        assert secret in text
        assert secret not in shown
    assert 4 == len(shown.split("\n"))
    assert shown.endswith("[a line with a AWS access key left out]\nfine")


def test_controls_and_directions_are_made_visible():
    assert "a\\x1b[2Jb\\u202ec\nd" == as_it_is("a\x1b[2Jb\u202ec\r\nd")
    assert "\ufffd" == as_it_is("\ud83d")


def test_limits_and_odd_values():
    assert "abc" == limited("abc", None) == limited("abc", 3)
    assert "ab\n[1 more characters left out]" == limited("abc", 2)
    assert ("", "a", "7", "[1]") == (string(None), string("a"), string(7), string([1]))
    deep: list = []
    for _ in range(900):
        deep = [deep]
    assert pretty(deep).startswith("[[[")
