"""The tree as it is drawn."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.text import columns
from oc.session.drawing import Gathered, drawn, statistics


def entry(entry_id, parent, said="x", at=None):
    stamp = f"2026-03-16T09:00:{int(at if at is not None else 0):02d}.000Z"
    content = {"role": "user", "content": said}
    return {"type": "message", "id": entry_id, "parentId": parent, "timestamp": stamp, "message": content}


def tree(*entries, leaf=None, labels=None):
    gathered = Gathered()
    for one in entries:
        gathered.add(one, 10)
    gathered.labels |= labels or {}
    return gathered.tree(leaf, "s.jsonl")


def test_a_branch_point_has_its_branches_below_it():
    """Children stand in the order of their times; the leaf, its path and dead entries are told apart."""
    found = tree(entry("a", None), entry("c", "a", at=5), entry("b", "a", at=1), entry("d", "c"))
    assert [
        "| a         user         x",
        "├─  b         user         x",
        "└─| c         user         x",
        "  * d         user         x",
    ] == list(drawn(found, 80))
    assert (1, 2, 1, 1, 10) == tuple(
        statistics(found)[name] for name in ("roots", "leaves", "branchPoints", "deadEntries", "deadBytes")
    )


def test_another_leaf_has_another_path():
    found = tree(entry("a", None), entry("b", "a"), entry("c", "a"), leaf="b")
    assert ["a", "b"] == [node.id for node in found.nodes.values() if node.on_path]


def test_a_long_run_is_its_ends_unless_everything_is_wanted():
    chain = [entry("0", None), *(entry(str(n), str(n - 1)) for n in range(1, 50))]
    found = tree(*chain)
    assert ["| 0", "  ...", "* 49"] == [line[: len(start)] for line, start in zip(
        drawn(found, 80), ("| 0", "  ...", "* 49"), strict=True
    )]  # fmt: skip
    assert 50 == len(list(drawn(found, 80, everything=True)))


@pytest.mark.parametrize("said", ["用" * 60, "a" * 99, "e\u0301" * 90, "👍🏽" * 40, "tab\there\nnext"])
def test_no_line_is_wider_than_it_may_be(said):
    """Wide characters take two columns, combining ones none."""
    for line in drawn(tree(entry("a", None, said)), 40):
        assert columns(line) <= 40
        assert "\n" not in line


def test_labels_kinds_and_odd_entries_are_shown():
    found = tree(
        {"type": "compaction", "id": "a", "parentId": "gone", "timestamp": 7, "summary": "S"},
        {"type": ["odd"], "id": "b", "parentId": "a"},
        {"type": "message", "id": "c", "parentId": "b", "message": {"role": "assistant", "content": [
            {"type": "toolCall", "id": "1", "name": "read", "arguments": {}}]}},
        labels={"a": "start"},
    )  # fmt: skip
    lines = list(drawn(found, 80, everything=True))
    assert lines[0].endswith("S [start]")
    assert lines[2].endswith("assistant    read()")
    assert {"compaction": 1, "['odd']": 1, "assistant": 1} == statistics(found)["kinds"]


ids = st.sampled_from("abcdefg")


@given(st.lists(st.builds(entry, ids, st.one_of(st.none(), ids, st.just("gone"))), max_size=9))
def test_every_entry_is_drawn_once(entries):
    """Cycles, duplicate ids and missing parents included."""
    found = tree(*entries)
    lines = list(drawn(found, 80, everything=True))
    assert len({one["id"] for one in entries}) == len(lines) == len(found.nodes)
    assert sum("* " in line[:20] for line in lines) == bool(entries)
    totals = statistics(found)
    assert totals["deadBytes"] == 10 * totals["deadEntries"] <= totals["bytes"]
    assert all(a != b for a, b in pairwise(found.nodes))


def test_a_deep_tree_is_no_recursion():
    deep = [entry("0", None), *(entry(str(n), str(n - 1)) for n in range(1, 3000))]
    branches = [entry(f"b{n}", str(n)) for n in range(2999)]
    assert 5999 == len(list(drawn(tree(*deep, *branches), 80)))
